"""The page of many snapshots in a real browser."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from browser import ASKED, Tab

from advisor.report.bulk.counts import Brief, SnapshotSummary, Tally
from advisor.report.bulk.tables import page as document
from advisor.report.output import Paper
from advisor.report.render.html import write

PLANTED = """<script>window.planted=1</script>"onload="x" ]]>"""
SEVERITIES = ("error", "warning", "note")


def report(tally: Tally) -> str:
    """The page."""
    return write(document(tally), Paper())


def counted(servers: int) -> Tally:
    """That many servers with hostile names, 120 rules with findings on some of them, and snapshots that are none."""
    tally = Tally()
    for number in range(servers):
        found = [
            Brief(f"TST{rule:03}", "a-rule", SEVERITIES[rule % 3], f"max_connections = {PLANTED}")
            for rule in range(120)
            if (rule + 1) % (1 + number % 5) == 0
        ]
        tally.take(
            SnapshotSummary(
                f"/snap/{number}.json", "", f"db{number} {PLANTED}", f"mysql-8.0.{number % 9}", tuple(found)
            )
        )
        tally.take(SnapshotSummary(f"/snap/{number}-{PLANTED}", f"cut off {PLANTED}"))
    return tally


@pytest.fixture(scope="module")
def made() -> str:
    """The page of a hundred and fifty servers."""
    return report(counted(150))


@pytest.fixture
def page(tab: Tab, tmp_path: Path, made: str) -> Tab:
    """The same, open in the browser."""
    path = tmp_path / "many.html"
    path.write_text(made, encoding="utf-8")
    tab.open(path)
    return tab


def test_opens(page: Tab, made: str) -> None:
    """It is small, asks for nothing, complains of nothing, and runs nothing that a server says."""
    assert len(made.encode()) < 1_000_000
    assert [url for url in page.asked if url.startswith("http")] == []
    assert page.messages == []
    assert page.run("window.planted") is None
    assert page.run("document.querySelectorAll('script').length") == 1


# Both schemes have one markup; their colours are all that differs, and each look takes seven seconds of a processor.
@pytest.mark.parametrize("scheme", [pytest.param("light", marks=pytest.mark.whole), "dark"])
def test_everybody_can_use_it(page: Tab, axe: str, scheme: str) -> None:
    """axe-core finds no findings against it."""
    page.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
    page.run("document.querySelectorAll('details').forEach((one, place) => { one.open = place < 5 })")
    page.run(f"{axe}; 0")
    found: dict[str, Any] = page.run(
        f"axe.run({ASKED[scheme]}).then(done => ({{violations: done.violations.map(one => [one.id, one.nodes[0].html]),"
        " passes: done.passes.length}))"
    )
    assert found["violations"] == []
    assert found["passes"] > 0


@pytest.mark.parametrize("width", [390, 1280])
def test_fits(page: Tab, width: int) -> None:
    """On a phone as on a desk nothing sticks out of the page, and numbers and the heads above them stay in one line."""
    page.call("Emulation.setDeviceMetricsOverride", width=width, height=900, deviceScaleFactor=1, mobile=width < 500)
    try:
        assert page.run("document.documentElement.scrollWidth <= innerWidth")
        lines = page.run(
            "[...document.querySelectorAll('.sheet .number')].map(one => { const text = document.createRange();"
            " text.selectNodeContents(one); return text.getClientRects().length })"
        )
        assert set(lines) == {1}
        assert page.run("getComputedStyle(document.querySelector('.sheet th.number')).textAlign") == "right"
    finally:
        page.call("Emulation.clearDeviceMetricsOverride")


def test_sorts_by_servers(page: Tab) -> None:
    """Rules are ordered by how many servers they concern, where that is requested."""
    page.run(
        "const aim = document.getElementById('order'); aim.value = 'servers'; aim.dispatchEvent(new Event('change'))"
    )
    counts = page.run("[...document.querySelectorAll('#list > li')].map(one => Number(one.dataset.servers))")
    assert counts == sorted(counts, reverse=True)
    assert counts[0] > counts[-1]


def test_size_does_not_grow() -> None:
    """Three times as many servers make no larger page, but for digits."""
    assert len(report(counted(450))) < len(report(counted(150))) * 1.02
