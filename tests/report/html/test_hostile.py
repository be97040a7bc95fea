"""Any text of a server, a file or a user is shown on a page as words; no secret is among them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from audit_samples import audited, nasty_audit
from browser import Tab
from hostile_findings import SECRET
from hypothesis import given, settings
from hypothesis import strategies as st
from mycnf_command import CHECKOUT

from advisor.__main__ import main
from advisor.core.errors import CONNECTION
from advisor.core.model import Action, Confidence, Finding, LocalResult, Location, Severity
from advisor.report import Page
from advisor.report.audit.ticket import in_html as report
from advisor.report.render.html import escape_markup, tag

SNAPSHOT = CHECKOUT / "examples" / "snapshots" / "mariadb-10.11.json"
PLANTED = (
    """</title></style></script><script>window.planted=1</script>]]>"onload="window.planted=2" """
    """'><img src=x onerror=window.planted=3>"""
)
OURS = {
    *(
        "nav",
        "pre",
        "html",
        "head",
        "meta",
        "link",
        "title",
        "style",
        "body",
        "header",
        "main",
        "footer",
        "section",
        "script",
    ),
    *("a", "h1", "h2", "h3", "h4", "p", "span", "strong", "code", "ul", "ol", "li", "dl", "dt", "dd", "div", "details"),
    *("summary", "figure", "article", "label", "select", "option", "input", "button", "fieldset", "legend", "table"),
    *("caption", "thead", "tbody", "tr", "th", "td", "svg", "desc", "rect", "text", "line", "polyline", "path"),
    *("circle", "polygon"),
}
ATTRIBUTES = """[...document.querySelectorAll('*')].flatMap(one => [...one.attributes].map(a => a.name))"""
ELEMENTS = """[...new Set([...document.querySelectorAll('*')].map(one => one.tagName.toLowerCase()))]"""
# Where a secret may be, and what a hand-made snapshot has there.
SECRETS = {
    "wsrep_sst_auth": f"root:{SECRET}",
    "master_password": SECRET,
    "report_password": SECRET,
    "init_connect": f"INSERT INTO t.log VALUES ('{SECRET}')",  # noqa: S608 - what an option holds
    "init_slave": f"SET PASSWORD = PASSWORD('{SECRET}')",
    "ssl_passphrase": SECRET,
    "wsrep_cluster_address": f"gcomm://u:{SECRET}@10.0.0.1",
}


def inert(tab: Tab, made: str, path: Path) -> None:
    """The page holds no element or attribute that isn't ours, and nothing planted has run."""
    path.write_text(made, encoding="utf-8")
    tab.open(path)
    assert tab.run("window.planted") is None
    assert set(tab.run(ELEMENTS)) <= OURS
    assert not [name for name in tab.run(ATTRIBUTES) if name.startswith("on") or name in {"srcdoc", "style"}]
    assert tab.run("document.querySelectorAll('script, style').length") == 2
    assert tab.messages == []
    links = tab.run("[...document.querySelectorAll('[href]')].map(one => one.getAttribute('href'))")
    assert all(link.startswith(("#", "https://", "http://", "data:,")) for link in links)


def hostile_snapshot(tmp_path: Path) -> Path:
    """The recorded server with markup in its names and values, and with secrets that were not removed."""
    found = json.loads(SNAPSHOT.read_text(encoding="utf-8"))
    variables = found["server"]["variables"]
    variables.update(SECRETS)
    variables.update(hostname=PLANTED, version_comment=PLANTED, tmpdir=PLANTED, log_error=PLANTED, datadir=PLANTED)
    found["lost"] = PLANTED
    found["unavailable"] = [{"part": "service", "reason": PLANTED}]
    lines = "\n".join(f"{name} = {value}" for name, value in SECRETS.items())
    markup = f"socket = {PLANTED}\nno_such_option = {PLANTED}\nsql_mode = {PLANTED}\nread_only = {PLANTED}"
    more = f"\n[client]\npassword = {SECRET}\n[mysqld]\n{lines}\n{markup}\n"
    for copy in found["files"]["files"]:
        if copy.get("text"):
            copy["text"] += more
    found["files"]["command_line"] = ["mariadbd", f"--report-password={SECRET}"]
    path = tmp_path / "hostile.json"
    path.write_text(json.dumps(found), encoding="utf-8")
    return path


def test_markup_of_a_snapshot_stays_text(tab: Tab, tmp_path: Path) -> None:
    """Scripts, handlers and ends of sections in names, values and reasons are words on the page."""
    out = tmp_path / "page.html"
    lost = main(["report", str(hostile_snapshot(tmp_path)), "--isolated", "--format", "html", "-o", str(out)])
    assert lost == CONNECTION
    made = out.read_text(encoding="utf-8")
    assert "window.planted=1" in made
    inert(tab, made, out)
    assert PLANTED in tab.run("document.querySelector('h1').textContent")


def test_hostile_findings_stay_text(tab: Tab, tmp_path: Path) -> None:
    """So are the words of rules, files and users, controls and marks that turn text among them."""
    made = report(nasty_audit(), Page())
    assert "\x1b" not in made
    assert "\u202e" not in made
    inert(tab, made, tmp_path / "page.html")


@pytest.mark.parametrize("form", ["html", "prometheus"])
def test_no_secret_of_a_snapshot(tmp_path: Path, form: str) -> None:
    """Passwords of option files, init_connect, wsrep_sst_auth, master_password and the command line don't come out."""
    out = tmp_path / "made"
    main(["report", str(hostile_snapshot(tmp_path)), "--isolated", "--format", form, "-o", str(out)])
    made = out.read_text(encoding="utf-8")
    assert SECRET not in made
    assert len(made) > 1000


def test_no_secret_of_a_finding() -> None:
    """A secret in any text of a finding, or in the reason to put one aside, is masked."""
    assert SECRET not in report(nasty_audit(), Page())
    text = f"identified by '{SECRET}', http://u:{SECRET}@h/"
    base = Finding(
        "TST001", "planted", Severity.ERROR, Confidence.CERTAIN, text, help=text, location=Location("/my.cnf", 1)
    )
    found = [
        base._replace(
            option=option,
            value=value,
            message=f"{text}: {value}",
            actions=(
                Action(
                    f"{option} = {value}",
                    f"SET GLOBAL {option} = '{value}';",
                    value,
                    undo=f"{option}: {value}",
                    watch=value,
                ),
            ),
            local=LocalResult("scan", "2026-11-21", "worse", f"{text} {value}"),
        )
        for option, value in SECRETS.items()
    ]
    made = report(audited(*found)._replace(suppressed=((base, text),)), Page())
    assert SECRET not in made
    assert made.count("********") > len(found)


@given(st.text(), st.text())
@settings(max_examples=200)
def test_any_text(words: str, value: str) -> None:
    """No text leaves its element or its attribute."""
    made = tag("p", words, title=value)
    assert made.count("<") == made.count(">") == 2
    assert made.removeprefix("<p").split(">")[0].count('"') == 2
    made.encode()


def test_text_is_escaped_once() -> None:
    """Markup is not escaped again, text is."""
    assert tag("b", escape_markup("a & b"), "<") == "<b>a &amp; b&lt;</b>"
