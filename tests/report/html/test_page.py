"""The page of an audit in a real browser: it opens, filters, sorts, prints, and passes an outside judge."""

from __future__ import annotations

import base64
import json
import re
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from audit_samples import audited, many, recorded
from browser import ASKED, Tab
from local_results import scans
from msgspec.structs import replace

from advisor.analysis import select_rules
from advisor.commands.judge_facts import AuditRequest, judge_facts
from advisor.facts.storage import SpaceReading
from advisor.facts.workload import BusyHour, Sample, SampledHours
from advisor.report import Page
from advisor.report.audit.ticket import in_html as report
from advisor.report.formats import render_audit
from advisor.report.render.svg_chart import FAINT, GRID, LOCALS, OTHERS
from rules.core.areas import Area

LARGEST = 400_000  # bytes
SHOWN = "[...document.querySelectorAll('#list > li')].filter(one => one.checkVisibility())"


@cache
def full() -> str:
    """The page of a whole audit, with what an experiment on its host showed."""
    kept = scans({"16K": 1.0, "128K": 0.99, "2M": 1.4, "8M": 1.5})
    wanted = AuditRequest(_Arguments(), select_rules(None, None), None)
    return report(judge_facts(replace(recorded(), probes=(kept,)), wanted), Page())


class _Arguments:
    ram = cpus = disk = host_tar = None


@pytest.fixture
def page(tab: Tab, tmp_path: Path) -> Tab:
    """The whole audit, open in the browser."""
    path = tmp_path / "audit.html"
    path.write_text(full(), encoding="utf-8")
    tab.open(path)
    return tab


def shown(tab: Tab, what: str) -> list[str]:
    """The text of each visible finding, in the order of the page."""
    found: list[str] = tab.run(f"{SHOWN}.map(one => one.dataset.{what})")
    return found


def choose_order(tab: Tab, order: str) -> None:
    """Pick how findings are sorted, as a user does."""
    tab.run(f"document.getElementById('order').value = '{order}'")
    tab.run("document.getElementById('order').dispatchEvent(new Event('change'))")


def search(tab: Tab, words: str) -> None:
    """Type into the field that filters."""
    tab.run(f"document.getElementById('words').value = {json.dumps(words)}")
    tab.run("document.getElementById('words').dispatchEvent(new Event('input'))")


def test_opens_without_a_network(page: Tab) -> None:
    """The page asks for nothing but itself, says nothing on the console, and is small; curves are drawn in it."""
    assert [url for url in page.asked if not url.startswith("data:")] == [page.run("location.href")]
    assert page.messages == []
    assert len(full().encode()) < LARGEST
    assert page.run("document.querySelectorAll('.chart svg polyline').length") > 3
    assert page.run("document.querySelectorAll('#measured svg').length") == 1


@pytest.mark.parametrize(
    ("scheme", "width", "media"),
    [("light", 1280, ""), ("dark", 320, ""), ("light", 390, ""), ("light", 1280, "print")],
)
def test_everybody_can_use_it(page: Tab, axe: str, scheme: str, width: int, media: str) -> None:
    """axe-core finds nothing against it at any width, nor against its colours in the dark, nor in print; it fits."""
    features = [{"name": "prefers-color-scheme", "value": scheme}]
    page.call("Emulation.setEmulatedMedia", media=media, features=features)
    page.call("Emulation.setDeviceMetricsOverride", width=width, height=900, deviceScaleFactor=1, mobile=width < 500)
    try:
        if not media:
            page.run("document.querySelectorAll('details').forEach(one => { one.open = true })")
        assert page.run("document.documentElement.scrollWidth <= innerWidth")
        page.run(f"{axe}; 0")
        found: dict[str, Any] = page.run(
            f"axe.run({ASKED[scheme]}).then(done => ({{violations: done.violations, passes: done.passes.length}}))"
        )
        violations = [(one["id"], [node["html"] for node in one["nodes"]]) for one in found["violations"]]
        assert violations == []
        assert found["passes"] > (20 if scheme == "light" else 0)
    finally:
        page.call("Emulation.clearDeviceMetricsOverride")


def test_summary_says_what_the_server_is(page: Tab) -> None:
    """The cards count risks by area, each leading to its worst finding, and draw memory against its limit."""
    cards = page.run("Object.fromEntries([...document.querySelectorAll('.cards section')].map(one => "
                     "[one.querySelector('h2').textContent, one.textContent]))")  # fmt: skip
    assert list(cards) == ["Risks", "Server", "Memory", "Storage", "Redo log", "Connections"]
    areas = page.run("[...document.querySelectorAll('#list > li')].map(one => one.dataset.area)")
    for area in set(areas):
        assert Area(area).in_words(areas.count(area)) in cards["Risks"]
    places = page.run("[...document.querySelectorAll('.cards a')].map(one => one.getAttribute('href'))")
    assert all(page.run(f"document.getElementById({json.dumps(place[1:])}) !== null") for place in places)
    assert "MariaDB 10.11.19" in cards["Server"]
    assert all(words in cards["Memory"] for words in ("buffer pool 256M", "worst case", "23.5G"))
    assert page.run("document.querySelectorAll('.cards .bar svg .limit').length") == 3


def test_a_deep_link_opens_a_finding(page: Tab) -> None:
    """`#CODE` opens the finding of that rule, the second one with its number."""
    for code in ("BUF001", "OPT006-2"):
        page.run(f"location.hash = '#{code}'")
        opened = f"document.getElementById('{code}').firstElementChild.open"
        assert page.run(f"new Promise(done => setTimeout(() => done({opened}), 200))")


def test_copies(page: Tab) -> None:
    """A statement is copied by its button, and all statements by that of their list."""
    page.call("Browser.grantPermissions", permissions=["clipboardReadWrite", "clipboardSanitizedWrite"])
    page.run("navigator.clipboard.writeText = text => { window.copied = text; return Promise.resolve() }; 0")
    page.run("document.querySelector('#BUF001 .copier').click()")
    assert page.run("window.copied") == "SET GLOBAL read_buffer_size = 131072;"
    page.run("document.querySelector('#first details .copier').click()")
    copied = page.run("window.copied").splitlines()
    assert "SET GLOBAL read_buffer_size = 131072;" in copied
    assert all(line.startswith("SET ") for line in copied)


def test_filters_by_keyboard(page: Tab) -> None:
    """Areas are chosen and words removed without a mouse; every control can be reached."""
    page.run("document.getElementById('area').focus()")
    page.call("Input.dispatchKeyEvent", type="keyDown", key="s", text="s")
    page.call("Input.dispatchKeyEvent", type="keyUp", key="s")
    page.run("document.getElementById('area').dispatchEvent(new Event('change'))")
    assert set(shown(page, "area")) == {"security"}
    page.run("const area = document.getElementById('area'); area.value = ''; area.dispatchEvent(new Event('change'))")
    search(page, "no such words")
    page.run("document.getElementById('words').focus()")
    page.call("Input.dispatchKeyEvent", type="keyDown", key="Escape")
    assert len(shown(page, "code")) > 20
    unreachable = "[...document.querySelectorAll('button, input, select, summary, a')].filter(one => one.tabIndex < 0)"
    assert page.run(f"{unreachable}.length") == 0


def test_sessions_are_those_that_the_memory_estimate_expects() -> None:
    """A process that is larger than expected adds nothing to the sessions of the bar: what it holds is not known."""
    facts = recorded()
    assert facts.host is not None
    assert facts.host.process is not None
    grown = replace(facts.host, process=replace(facts.host.process, resident=20 << 30, peak_resident=20 << 30))
    pages = [report(audited(facts=known), Page()) for known in (facts, replace(facts, host=grown))]
    sessions = [re.findall(r"sessions, likely <strong>[^<]+", page) for page in pages]
    assert sessions[0] == sessions[1] != []


def test_charts_of_samples() -> None:
    """Sampled hours and readings of the space on disks become charts over time whose axes begin at zero."""
    samples = tuple(Sample(600.0 * n, {"threads_connected": 50 + n}, lsn=n * n << 20) for n in range(1, 8))
    hours = tuple(
        BusyHour(of, "2026-11-20T14:00:00Z", "2026-11-20T15:00:00Z", samples) for of in ("redo", "connections")
    )
    spaces = tuple(SpaceReading("/data", 86400 * n, 100 << 30, (90 - n) << 30) for n in range(9))
    sampled = SampledHours("2026-11-20T14:00:00Z", "2026-11-20T15:00:00Z", 7, hours)
    made = report(audited(facts=replace(recorded(), sampled=sampled, spaces=spaces)), Page())
    assert made.count("<title>Busiest hour for ") == 2
    assert "<title>Space in use on /data</title><desc>18 % of 100G in use</desc>" in made
    assert "14:10" in made
    assert "the axis starts at" not in made
    assert "Charts need samples" not in made
    assert "Charts need samples" in report(audited(), Page())


def test_filters(page: Tab) -> None:
    """Severities and words leave the findings that fit, and the page says how many these are."""
    everything = shown(page, "severity")
    page.run("document.querySelector('input[value=note]').click()")
    assert shown(page, "severity") == [severity for severity in everything if severity != "note"]
    page.run("document.querySelector('input[value=note]').click()")
    search(page, "READ_BUFFER 8m")
    assert shown(page, "option") == ["read_buffer_size"]
    assert page.run("document.getElementById('shown').textContent") == f"1 of {len(everything)} shown"
    search(page, "no such words")
    assert shown(page, "code") == []


def test_sorts(page: Tab) -> None:
    """Findings come by code, by option or by how sure they are, and by weight again."""
    weight = shown(page, "code")
    choose_order(page, "code")
    assert shown(page, "code") == sorted(weight) != weight
    choose_order(page, "confidence")
    assert shown(page, "confidence") == sorted(shown(page, "confidence"))
    choose_order(page, "option")
    named = [option for option in shown(page, "option") if option]
    assert named == sorted(named)
    choose_order(page, "")
    assert shown(page, "code") == weight


def test_colours(page: Tab) -> None:
    """The page follows the system until the reader chooses, and drawings follow the page."""
    back = "getComputedStyle(document.body).backgroundColor"
    chart = "getComputedStyle(document.querySelector('.chart rect')).fill"
    colours = {}
    for scheme in ("light", "dark"):
        page.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
        colours[scheme] = page.run(back)
        assert page.run(chart) == colours[scheme]
    assert colours["light"] == "rgb(255, 255, 255)" != colours["dark"]
    page.run(
        "const aim = document.getElementById('theme'); aim.value = 'light'; aim.dispatchEvent(new Event('change'))"
    )
    assert page.run(back) == colours["light"]
    page.run("localStorage.clear()")


def test_every_ink_of_drawings_has_a_dark_form() -> None:
    """The style names each colour that a drawing may have."""
    style = full().partition("<style>")[2].partition("</style>")[0]
    for ink in ("#ffffff", FAINT, GRID, *LOCALS, *(colour for colour, _ in OTHERS)):
        assert f'="{ink}"]' in style


def test_prints_in_few_pages(page: Tab) -> None:
    """On paper there is the summary, a line a finding, and what the reader unfolded; no dark colours, no controls."""
    folded = "[...document.querySelectorAll('#list details')].filter(one => !one.open).length"
    before = page.run(folded)
    assert before > 10
    features = [{"name": "prefers-color-scheme", "value": "dark"}]
    page.call("Emulation.setEmulatedMedia", media="print", features=features)
    assert page.run(folded) == before
    assert page.run("document.querySelector('.controls').checkVisibility()") is False
    assert page.run("getComputedStyle(document.body).color") == "rgb(31, 41, 51)"
    assert len(pages(page)) <= 5
    page.run("document.querySelectorAll('#list > li > details').forEach(one => { one.open = true })")
    assert len(pages(page)) <= 8


def pages(tab: Tab) -> list[bytes]:
    """The pages of the PDF that the browser prints, on A4."""
    data = base64.b64decode(tab.call("Page.printToPDF", paperWidth=8.27, paperHeight=11.69)["data"])
    return re.findall(rb"/Type\s*/Page\b", data)


def test_a_link_unfolds_what_it_leads_to(page: Tab) -> None:
    """Evidence that is cited once more is a link to its first place, which unfolds."""
    target = "document.querySelector('a[href^=\"#evidence\"]')"
    page.run(f"{target}.click()")
    place = page.run(f"{target}.getAttribute('href').slice(1)")
    assert page.run(
        f"new Promise(done => setTimeout(() => done(document.getElementById('{place}').checkVisibility()), 200))"
    )


def test_without_a_script(tab: Tab, tmp_path: Path) -> None:
    """Where scripts are switched off, all findings are there and no control that would do nothing."""
    path = tmp_path / "audit.html"
    path.write_text(full(), encoding="utf-8")
    tab.call("Emulation.setScriptExecutionDisabled", value=True)
    try:
        tab.open(path)
        assert tab.run("document.querySelector('.controls').hidden") is True
        assert len(shown(tab, "code")) == full().count('<li class="finding')
    finally:
        tab.call("Emulation.setScriptExecutionDisabled", value=False)


def test_nothing_else_may_run(page: Tab) -> None:
    """The policy refuses a script, a style and a picture that are not the page's own."""
    planted = "<img src='https://example.org/x.png' onerror='window.planted = 1'><style>body { color: red }</style>"
    page.run(f"document.body.insertAdjacentHTML('beforeend', {json.dumps(planted)})")
    page.run("document.querySelector('#facts').setAttribute('onclick', 'window.planted = 2')")
    page.run("document.querySelector('#facts').click()")
    assert page.run("window.planted") is None
    assert page.run("getComputedStyle(document.body).color") == "rgb(31, 41, 51)"
    assert not [url for url in page.asked if url.startswith("http")]
    assert any("Content Security Policy" in words for words in page.messages)


@pytest.mark.parametrize("count", [1, 200, 5000])
def test_stays_small(count: int) -> None:
    """However many findings there are, the page is below 400 KB, has the first of them, and says what it leaves out."""
    made = report(many(count), Page())
    assert len(made.encode()) < LARGEST
    assert made.count('<li class="finding') >= min(count, 400)
    assert ("Shortened to fit a page" in made) == (count > 200)


def test_nothing_found() -> None:
    """A clean server has a page that says that it was looked at."""
    made = report(audited(), Page())
    assert "No findings: every check that could run passed." in made
    assert 'id="list"' not in made


def test_is_the_format_of_that_name() -> None:
    """`--format html` is this page."""
    assert render_audit("html", many(3), Page()) == report(many(3), Page())
