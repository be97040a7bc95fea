"""The reports of a fleet by hand: hostile names and words, many hosts, and none."""

from __future__ import annotations

import json

import pytest
from audit_samples import HOSTILE
from hostile_findings import SECRET
from markdown_it import MarkdownIt

from advisor.core.model import Action, Confidence, Finding, Severity, SkippedCheck, Target
from advisor.fleet.outliers import AbsentVariables, Difference, MemberValue, Outlier, PeerGroup
from advisor.fleet.run_directory import HostRow, Status
from advisor.report import formats
from advisor.report.document import Document
from advisor.report.fleet import as_json, document
from advisor.report.fleet import fixes as fix_table
from advisor.report.fleet_survey import (
    MOST_FIXES,
    Advice,
    Fixes,
    JudgedServer,
    Survey,
    by_rule,
    by_series,
    common_fixes,
    count_advice,
    most_common,
)
from advisor.report.output import Paper
from advisor.report.render.text import write

NOW = "2026-11-21T20:00:00"
TARGET = Target("mysql", (8, 0, 36))


def render(fleet: Survey, form: str) -> str:
    """The fleet's report in that format."""
    return formats.render("fleet", form, Paper(), lambda: document(fleet), {"json": lambda: as_json(fleet)})


def judged(name: str, *codes: str, target: Target = TARGET, reason: str = "") -> JudgedServer:
    """A server with a warning of each code."""
    found = tuple(Finding(code, "made-up", Severity.WARNING, Confidence.LIKELY, HOSTILE) for code in codes)
    row = HostRow(name=name, status=Status.AUDITED, snapshot="snapshots/x.json", reason=reason, host=reason)
    return JudgedServer(row, target, "MySQL", name, found, (SkippedCheck("TST009", HOSTILE),))


def survey(*servers: JudgedServer, absent: tuple[HostRow, ...] = ()) -> Survey:
    """A fleet of these."""
    return Survey("/run", NOW, servers, absent, (), ())


def hostile() -> Survey:
    """A fleet all of whose words are hostile."""
    lonely = Outlier(
        HOSTILE, HOSTILE, "init_connect", HOSTILE, 3, ((HOSTILE, MemberValue(HOSTILE, True, HOSTILE)),), True
    )
    secret = Outlier("db", "", "wsrep_sst_auth", SECRET, 3, (("db1", MemberValue(SECRET, True, "")),), is_set=True)
    apart = Difference("init_connect", ((HOSTILE, (HOSTILE,)), (f"SET PASSWORD = '{SECRET}'", ("b",))), is_set=True)
    lacking = AbsentVariables((HOSTILE,), (HOSTILE,))
    alike = PeerGroup("galera", HOSTILE, (HOSTILE, "b"), ("MySQL 8.0.36",), (apart,), (lacking,))
    absent = HostRow(name=HOSTILE, status=Status.FAILED, reason=HOSTILE)
    made = survey(judged(HOSTILE, "TST001", reason=HOSTILE), absent=(absent,))
    return made._replace(folder=HOSTILE, outliers=(lonely, secret), equals=(alike,))


def test_hostile_text() -> None:
    """Nothing that moves a cursor or turns text reaches the terminal, and no line is made by others."""
    text = render(hostile(), "text")
    assert "\x1b" not in text
    assert "\u202e" not in text
    assert text.replace("\n", "").isprintable()
    assert "\n# c" not in text
    assert SECRET not in text


def test_hostile_markdown() -> None:
    """Markdown that is made of hostile words has no HTML, link or mention, and all its tables are tables."""
    text = render(hostile(), "markdown")
    tokens = MarkdownIt("gfm-like").parse(text)
    inline = [child for token in tokens for child in token.children or ()]
    assert not [t.type for t in [*tokens, *inline] if t.type in ("html_block", "html_inline", "link_open", "image")]
    assert len([t for t in tokens if t.type == "table_open"]) == 4
    assert SECRET not in text


def test_hostile_json() -> None:
    """JSON keeps the words as they are, secrets aside."""
    text = render(hostile(), "json")
    report = json.loads(text)
    assert [host["host"] for host in report["hosts"]] == [HOSTILE, HOSTILE]
    assert SECRET not in text


def test_rules_are_counted_by_server() -> None:
    """A rule with two findings on one server is on one server; the worst severity and the most servers come first."""
    worse = judged("c", "TST003")
    worse = worse._replace(findings=(worse.findings[0]._replace(severity=Severity.ERROR),))
    seen = by_rule([judged("a", "TST001", "TST001"), judged("b", "TST001", "TST002"), worse])
    assert [(one.code, one.hosts) for one in seen] == [("TST003", ("c",)), ("TST001", ("a", "b")), ("TST002", ("b",))]


def advised(name: str, *settings: str, severity: Severity = Severity.WARNING) -> JudgedServer:
    """A server with a finding for each advised option line."""
    found = tuple(
        Finding("DUR002", "x", severity, Confidence.LIKELY, "m", option=line.partition(" ")[0], actions=(Action(line),))
        for line in settings
    )
    return judged(name)._replace(findings=found)


def test_common_fixes() -> None:
    """What most servers need comes first; notes are no fixes, and different values are counted."""
    notes = advised("c", "a = 1", severity=Severity.NOTE)
    fixes = common_fixes([advised("a", "b = 1", "a = 1"), advised("b", "a = 2"), notes])
    assert [(fix.option, fix.settings, fix.hosts) for fix in fixes] == [
        ("a", ("a = 1", "a = 2"), ("a", "b")),
        ("b", ("b = 1",), ("a",)),
    ]
    text = render(survey(advised("a", "a = 1"), advised("b", "a = 2")), "text")
    assert "2 of 2   DUR002  a, b   a: 2 different values, see each server" in text


def test_advice_in_words_names_its_option() -> None:
    """What is to be removed or corrected is named before the advice, unless the advice names it."""
    (server,) = [advised("a", "b", "c", "d")]
    words = ("remove the line", "did you mean cd?", "write d = 1 or d = 2")
    told = zip(server.findings, words, strict=True)
    server = server._replace(findings=tuple(f._replace(actions=(), help=text) for f, text in told))
    text = write(Document(("x",), (fix_table(common_fixes([server]), 1),)), Paper())
    assert [line[26:].strip() for line in text.splitlines() if "DUR002" in line] == [
        "b: remove the line",
        "c: did you mean cd?",
        "write d = 1 or d = 2",
    ]


def test_fixes_of_many_servers_stay_small() -> None:
    """Of any number of servers and options, as many are kept as a report names, and every server is counted."""
    fixes: Fixes = {}
    for number in range(3000):
        own = Advice("DUR002", Severity.WARNING, "a", f"a = {number}", "", False)
        others = (own._replace(option=f"o{number}_{at}") for at in range(10))
        count_advice(fixes, f"db{number}", (own, own, None, *others), 10)
    first = most_common(fixes)[0]
    assert len(fixes) == MOST_FIXES
    assert (first.option, first.servers, len(first.hosts), len(first.settings)) == ("a", 3000, 10, 10)
    text = write(Document(("x",), (fix_table([first], 3000),)), Paper())
    assert "3,000 of 3,000" in text
    assert "db0, db1, db2 and 2,997 more" in " ".join(text.split())
    assert "a: many different values, see each server" in " ".join(text.split())


def test_advice_about_two_options_is_one_value() -> None:
    """A finding that also sets another option advises one value of its own, not two different ones."""
    one = advised("a", "query_cache_size = 0")
    both = (Action("query_cache_type = OFF"), Action("query_cache_size = 0"))
    (fix,) = common_fixes([one._replace(findings=(one.findings[0]._replace(actions=both),))])
    assert (fix.option, fix.settings) == ("query_cache_size", ("query_cache_size = 0",))


def test_servers_by_area() -> None:
    """The table counts errors and warnings of each area, and notes where there is nothing worse."""
    worse = judged("b", "SEC003", "DUR002", "DUR002")
    worst = worse.findings[0]._replace(severity=Severity.ERROR)
    noted = judged("a", "SEC003")
    noted = noted._replace(findings=(noted.findings[0]._replace(severity=Severity.NOTE),))
    text = render(survey(noted, worse._replace(findings=(worst, *worse.findings[1:]))), "text")
    assert "  server  data  security\n  b         2W        1E\n  a          ·        1N\n" in text
    page = render(survey(noted), "html")
    assert '<td class="number note">1N</td>' in page


def test_outliers_by_host() -> None:
    """Each host that differs has its variables with the usual values; a variable in which many differ stands alone."""
    values = {name: MemberValue("0", True, "my.cnf:3") for name in "abcd"}
    few = Outlier("db", "MySQL 8.0", "sync_binlog", "1", 12, (("a", values["a"]),), is_set=True)
    many = few._replace(variable="max_connections", others=tuple(values.items()))
    text = render(survey(judged("a"))._replace(outliers=(few, many)), "text")
    assert "  a  differs from its siblings in 1 variable\n" in text
    assert "    sync_binlog 0 (my.cnf:3), 1 on the other 11 of 12 in db (MySQL 8.0)\n" in text
    assert "  max_connections\n    a 0\n    b 0\n" in text


@pytest.mark.parametrize(("version", "now", "ends", "ended"), [
    ((8, 0, 36), "2026-04-30T23:59:59", "2026-04-30", False),
    ((8, 0, 36), "2026-05-01T00:00:00", "2026-04-30", True),
    ((5, 7, 44), "2023-10-31T23:59:59", "2023-10", False),
    ((5, 7, 44), "2023-11-01T00:00:00", "2023-10", True),
    ((9, 9, 0), NOW, "", False),
])  # fmt: skip
def test_end_of_support(version: tuple[int, ...], now: str, ends: str, ended: bool) -> None:
    """Support lasts to the end of the day, or of the month where only that is known."""
    (one,) = by_series([judged("a", target=Target("mysql", version))], now)
    (managed,) = by_series([judged("a", target=Target("mysql", version, "rds"))], now)
    assert (managed.ends, managed.ended) == ("", False)  # services support a series for longer
    assert (one.ends, one.ended) == (ends, ended)


def test_peers_of_two_versions() -> None:
    """Unset values of servers of two versions may be defaults; variables that a peer lacks are a difference too."""
    values = (("1", ("a",)), ("2", ("b",)))
    unset, chosen = Difference("innodb_io_capacity", values, False), Difference("sync_binlog", values, is_set=True)
    lacking = AbsentVariables(("semi_a", "semi_b"), ("b",))
    group = PeerGroup("replicas", "s:3306", ("a", "b"), ("MySQL 8.0.36", "MySQL 8.4.8"), (chosen, unset), (lacking,))
    text = render(survey(judged("a"))._replace(equals=(group,)), "text")
    assert "  not on b: semi_a, semi_b\n" in text
    words = "defaults of their versions, or sized by the servers themselves: innodb_io_capacity"
    assert words in " ".join(text.split())
    alone = group._replace(versions=("MySQL 8.0.36",), differences=())
    text = render(survey(judged("a"))._replace(equals=(alone,)), "text")
    assert "no unexpected differences" not in text
    assert "no unexpected differences" in render(
        survey(judged("a"))._replace(equals=(alone._replace(absent=()),)), "text"
    )


def test_many_hosts() -> None:
    """Of thousands the text shows what can be read, and says how much more there is."""
    text = render(survey(*(judged(f"db{n}", "TST001") for n in range(3000))), "text")
    assert len(text.splitlines()) < 150
    assert "2,960 more" in text
    assert "3,000 of 3,000" in text


def test_no_answer() -> None:
    """A fleet without any answer is reported without empty sections."""
    text = render(survey(absent=(HostRow(name="db1"),)), "text")
    assert "unasked; continue with --resume" in text
    assert "by rule" not in text
    assert render(survey(absent=(HostRow(name="db1"),)), "markdown").count("### ") == 1
