"""The ticket of an audit, as forges render it."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import Any

import pytest
from audit_samples import HOSTILE, audited, many, nasty_audit, recorded
from hostile_findings import GOLDEN, SECRET
from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from markdown_it.token import Token
from msgspec.structs import replace

from advisor import __version__
from advisor.__main__ import main
from advisor.analysis.audited import AuditResult
from advisor.core.model import Action, Confidence, Edit, Finding, Fix, Location, Severity
from advisor.facts import Unavailable
from advisor.report import Page
from advisor.report.audit.fitting import Room, fit_findings
from advisor.report.audit.ticket import TICKET
from advisor.report.audit.ticket import in_markdown as report
from advisor.report.document import Paragraph
from advisor.report.finding import Lengths, headline
from advisor.report.formats import names, render_audit
from advisor.report.render.markdown import length, words_markdown
from rules.core.areas import all_evidence

READER = MarkdownIt("commonmark").enable(["table", "strikethrough"])
OURS = {"text", "code_inline", "strong_open", "strong_close", "link_open", "link_close", "softbreak"}
BLOCKS = {"heading_open", "paragraph_open", "bullet_list_open", "ordered_list_open", "list_item_open", "html_block"}
TEXT = st.text(st.characters(exclude_categories=[]) | st.sampled_from("|`\\*_[]()<>!#@{}&~$:\n\t -+=1."), max_size=40)
FINDINGS = st.builds(
    Finding,
    st.sampled_from(["TST001", "OPT001"]),
    TEXT,
    st.sampled_from(list(Severity)),
    st.sampled_from(list(Confidence)),
    TEXT,
    help=TEXT,
    option=st.none() | TEXT,
    value=st.none() | TEXT,
    evidence=st.lists(TEXT, max_size=1).map(tuple),
    location=st.none() | st.builds(Location, TEXT, st.integers(0, 9)),
    actions=st.lists(
        st.builds(Action, st.none() | TEXT, st.none() | TEXT, TEXT, st.booleans(), st.none() | TEXT, st.none() | TEXT),
        max_size=2,
    ).map(tuple),
)


def units(text: str) -> int:
    """The length as trackers count it."""
    return len(text.encode("utf-16-le")) // 2


def inline(tokens: list[Token]) -> Iterator[Token]:
    """The tokens within paragraphs, headings and items."""
    for token in tokens:
        yield from token.children or ()


def headings(text: str) -> list[tuple[int, str]]:
    """The level and the words of each heading as a reader sees them."""
    tokens = READER.parse(text)
    return [
        (int(token.tag[1]), "".join(child.content for child in words.children or ()))
        for token, words in pairwise(tokens)
        if token.type == "heading_open"
    ]


def checked(audit: AuditResult) -> str:
    """The ticket, which fits and holds no markup but ours and no link but those of the evidence."""
    text = report(audit, Page())
    text.encode()
    assert units(text) <= TICKET
    tokens = READER.parse(text)
    assert {token.type for token in inline(tokens)} <= OURS
    assert {t.type for t in tokens if t.type.endswith(("_open", "_block", "fence"))} <= BLOCKS
    folds = [t.content for t in tokens if t.type == "html_block"]
    assert folds == ["<details>\n<summary>Facts</summary>\n", "</details>\n"]
    known = {e.url for e in all_evidence().values()}
    assert {str(t.attrs["href"]) for t in inline(tokens) if t.type == "link_open"} <= known
    return text


@pytest.mark.parametrize(("name", "audit"), [("nasty", nasty_audit), ("nothing", audited)])
def test_golden(name: str, audit: Callable[[], AuditResult]) -> None:
    """The ticket is the reviewed one; the version of mycnf is left out."""
    made = report(audit(), Page()).replace(f"mycnf {__version__} ", "mycnf 0 ").encode()
    golden = GOLDEN / f"{name}.ticket"
    if os.environ.get("MYCNF_WRITE_GOLDEN"):
        golden.write_bytes(made)
    assert made == golden.read_bytes()


def test_hostile_words_do_nothing() -> None:
    """Nothing that a server, a file or a user says becomes markup, HTML, a link or a mention; all of it is shown."""
    text = checked(nasty_audit())
    assert "\x1b" not in text
    assert "\u202e" not in text
    words = [token.content for token in inline(READER.parse(text)) if token.type == "text"]
    assert not [w for w in words for acting in ("@team", "#12", "://", "<b>") if acting in w]


def test_no_secret() -> None:
    """A secret in any text of a finding, or in the reason to put one aside, is masked."""
    assert SECRET not in report(nasty_audit(), Page())
    secret_words = f"identified by '{SECRET}', http://u:{SECRET}@h/"
    finding = Finding(
        "TST001",
        "planted",
        Severity.ERROR,
        Confidence.CERTAIN,
        secret_words,
        help=secret_words,
        option="master_password",
        value=SECRET,
        location=Location(f"mysql://u:{SECRET}@h/my.cnf", 1),
        actions=(
            Action(
                f"wsrep_sst_auth = root:{SECRET}",
                f"SET PASSWORD = '{SECRET}'",
                secret_words,
                undo=secret_words,
                watch=secret_words,
            ),
            Action("init_connect = SET PASSWORD = '" + SECRET + "'", f"ALTER USER u IDENTIFIED BY '{SECRET}';"),
        ),
    )
    facts = recorded()
    lost = replace(facts, lost=secret_words, server=replace(facts.server, version_comment=secret_words))
    text = checked(audited(finding, facts=lost)._replace(suppressed=((finding, secret_words),)))
    assert SECRET not in text
    assert "********" in text


def printed(capsys: pytest.CaptureFixture[str], form: str) -> str:
    """The audit of the demo's recording in that format; it has an error, which fails it."""
    assert main(["audit", "--isolated", "--demo", "--format", form]) == 1
    return capsys.readouterr().out


def test_demo(capsys: pytest.CaptureFixture[str]) -> None:
    """Title with host, server, time and counts; what to do; every finding; what was skipped; facts; rules that ran."""
    report = json.loads(printed(capsys, "json"))
    text = printed(capsys, "markdown")
    lines = headings(text)
    severities = [f["severity"] for f in report["findings"]]
    assert units(text) <= 12_288
    assert len(report["findings"]) >= 30
    assert "omitted" not in text
    counts = f"1 error, {severities.count('warning')} warnings, {severities.count('note')} notes"
    assert lines[0] == (2, f"mycnf audit of db1 · MariaDB 10.11.19 · 2026-11-21 05:01 UTC · {counts}")
    fine = "Passed checks"
    assert [words for level, words in lines if level == 3] == ["Do first", "Then", fine, "Skipped"]
    assert ", ".join(one["part"] for one in report["fine"]) in text
    found = sorted(f"{f['severity']} {f['code']}, {f['confidence']}" for f in report["findings"])
    shown_as = re.findall(r"^(?:#### |\d+\. \*\*)(\w+)(?::|\*\*) .*\((\w+, \w+)\)", text, re.MULTILINE)
    assert sorted(map(" ".join, shown_as)) == found
    for finding in report["findings"]:
        for action in finding["actions"]:
            assert not action["statement"] or f"`{action['statement']}`" in text
            assert not action["undo"] or f"`{action['undo']}`" in text
            assert not action["watch"] or f"Watch `{action['watch']}`" in text
        assert all(f"`{identity}`" in text for identity in finding["evidence"][:1])
    unlooked = text.partition("### Skipped")[2].partition("<details>")[0]
    ranges = re.sub(r"([A-Z]{3})(\d{3}) to [A-Z]{3}(\d{3})", spelt_out, unlooked)
    assert all(skip["code"] in ranges for skip in report["skipped"])
    assert text.index("<summary>Facts</summary>") < text.index("- **Storage:** `/var/lib/mysql` ext4 ← vda")
    assert text.splitlines()[-1].startswith(f"mycnf {__version__} · mycnf explain CODE")


def spelt_out(codes: re.Match[str]) -> str:
    """Every code of a range such as ERR001 to ERR017."""
    return " ".join(f"{codes[1]}{number:03}" for number in range(int(codes[2]), int(codes[3]) + 1))


def test_steps_come_in_the_order_of_need() -> None:
    """Errors lead, then what can be carried out as it stands and is sure; notes are no steps."""

    def one(code: str, severity: Severity, confidence: Confidence, action: Action | None = None) -> Finding:
        return Finding(code, "x", severity, confidence, "m", "do it", actions=(action,) if action else ())

    ready = Action("a = 1", "SET GLOBAL a = 1;")
    text = checked(
        audited(
            one("TST001", Severity.NOTE, Confidence.CERTAIN, ready),
            one("TST002", Severity.WARNING, Confidence.CERTAIN),
            one("TST003", Severity.WARNING, Confidence.LIKELY, ready),
            one("TST004", Severity.WARNING, Confidence.CERTAIN, ready._replace(restart=True)),
            one("TST005", Severity.WARNING, Confidence.CERTAIN, ready),
            one("TST006", Severity.ERROR, Confidence.OPINION),
        )
    )
    assert re.findall(r"^\d+\. .*\((\w+), ", text, re.MULTILINE) == ["TST006", "TST005", "TST004", "TST003", "TST002"]
    assert re.findall(r"^#### .*\((\w+), ", text, re.MULTILINE) == ["TST001"]


@pytest.mark.parametrize(("finding", "line"), [
    ({"actions": (Action("b = 2"), Action("a = 1"))}, "`a` 7 → `1`"),
    ({"actions": (Action(argument="--a=1"),)}, "`a` 7 → `1`"),
    ({"actions": (Action(None, "SET PERSIST a = 1;"),)}, "`a` 7 → `1`"),
    ({"actions": (Action("b = 2"),)}, "`a` 7 → `b = 2`"),
    ({"help": "write 1 or 2", "fix": Fix("unsafe", (Edit(1, 1, 1, 6, "a = 1"),))},
     "`a` 7: write 1 or 2"),
    ({}, "`a` 7"),
])  # fmt: skip
def test_a_finding_on_one_line(finding: dict[str, Any], line: str) -> None:
    """The advice is the value that actions set for the option itself; a correction is one of several in words."""
    f = Finding("TST001", "x", Severity.ERROR, Confidence.CERTAIN, "m", option="a", value="7")
    assert words_markdown(headline(f._replace(**finding))) == line


def test_two_actions_keep_their_order() -> None:
    """The actions of one finding are in their order."""
    actions = (Action("b = 1", "SET GLOBAL b = 1;"), Action("a = 1", None, restart=True))
    text = checked(audited(Finding("TST001", "x", Severity.ERROR, Confidence.CERTAIN, "m", actions=actions)))
    first, second = text.index("- `SET GLOBAL b = 1;`"), text.index("- `a = 1` in")
    assert first < second


def test_a_way_back_for_the_file() -> None:
    """A line that takes another's place names the one to put back; one of another option is taken out again."""
    own = Finding(
        "TST001",
        "x",
        Severity.ERROR,
        Confidence.CERTAIN,
        "m",
        option="loose_a",
        canonical="a",
        value="",
        location=Location("/my.cnf", 3),
        actions=(
            Action("a = 1", place=Location("/my.cnf", 3), replaces="loose_a ="),
            Action("b = 1", place=Location("/my.cnf", 0)),
        ),
    )
    text = checked(audited(own))
    assert "- `a = 1` in place of `my.cnf:3`" in text
    assert "Undo: put `loose_a =` back" in text
    assert "- `b = 1` in `my.cnf`" in text
    assert "Undo: remove the line again" in text


def test_a_statement_is_whole_or_counted() -> None:
    """Half a statement is no statement: one that is too long is counted and left out."""
    statement = f"SET GLOBAL init_connect = '{'x' * 10_000}';"
    action = Action(None, statement)
    text = checked(audited(Finding("TST001", "x", Severity.ERROR, Confidence.CERTAIN, "m", actions=(action,))))
    assert "xxx" not in text
    assert f"- {len(statement):,} characters, too long for a ticket" in text


@pytest.mark.parametrize("count", [1, 30, 200, 3000])
def test_any_number_fits(count: int) -> None:
    """The first findings are shown whole, and what is left out is counted."""
    text = checked(many(count))
    shown = re.findall(r"^(?:#### \w+:|\d+\. ).*\((TST\d{4}), likely\)", text, re.MULTILINE)
    left = re.search(r"([\d,]+) findings? omitted \(`(TST\d{4})`", text)
    assert shown == [f"TST{number:04}" for number in range(len(shown))]
    assert len(shown) + (int(left[1].replace(",", "")) if left else 0) == count
    assert left is None or left[2] == f"TST{len(shown):04}"
    assert len(shown) >= min(count, 20)
    assert ("Shortened to fit a ticket" in text) == (len(shown) < count)
    assert text.count("\n1. ") == 1


@pytest.mark.parametrize("left", [-500, 0, 1, 2_000])
def test_no_room(left: int) -> None:
    """Where other parts of a report leave no room, no finding is shown; each is counted once, however it is shown."""
    fitted = fit_findings(many(30).findings, left, Room("a page", length, TICKET, 0, Lengths(120, 80)))
    assert sum(map(length, fitted.entries)) <= max(left, 0)
    assert len(fitted.entries) + fitted.without == 30
    assert fitted.named + fitted.brief <= len(fitted.entries)
    assert (fitted.without == 30) == (left < 2_000)


def test_length_counts_as_trackers_do() -> None:
    """A character beyond the first plane has two units; two line ends follow a block."""
    written = words_markdown("a\U0001f42c b")
    assert length(Paragraph("a\U0001f42c b")) == units(written) + 2 == len(written) + 3


def test_grants_are_sql_to_copy() -> None:
    """What would let the account see more is a block of SQL in a ticket and on a page, and lines in text."""
    facts = recorded()
    server = replace(facts.server, link=replace(facts.server.link, user="mon`@team@%"), innodb_status="")
    lacking = tuple(Unavailable(part, f"needs {part}") for part in ("PROCESS", "SLAVE MONITOR"))
    audit = audited(facts=replace(facts, server=server, unavailable=lacking))
    text = report(audit, Page())
    (fence,) = [token for token in READER.parse(text) if token.type == "fence"]
    statements = [line for line in fence.content.splitlines() if not line.startswith("  -- ")]
    assert [line.partition(" ON ")[0] for line in statements] == ["GRANT PROCESS", "GRANT SLAVE MONITOR"]
    assert fence.info == "sql"
    assert f"\n  {statements[0]}\n    -- " in render_audit("text", audit, Page())
    assert render_audit("html", audit, Page()).count("<pre>") == 1
    with_status = replace(audit.facts, server=replace(server, innodb_status="LOG"))
    assert "GRANT PROCESS" not in report(audited(facts=with_status), Page())


def test_nothing_to_say() -> None:
    """Without findings there is neither a step nor a list, and the ticket says that it looked."""
    text = checked(audited())
    assert headings(text)[0][1].endswith("nothing found")
    assert "No findings: every check that could run passed." in text
    assert "### Findings" not in text
    assert "Do first" not in text


def test_what_happens_now_comes_first() -> None:
    """Among findings of a severity, blocked sessions come before settings, and risks to data before other settings."""
    change = (Action("a = 1", "SET GLOBAL a = 1;"),)
    found = [
        Finding(code, "x", severity, Confidence.CERTAIN, f"m {code}", option=option, value="0", actions=change)
        for code, severity, option in (
            ("BUF004", Severity.WARNING, "a"),
            ("DUR002", Severity.WARNING, "a"),
            ("BLK001", Severity.WARNING, None),
            ("OPT003", Severity.ERROR, "a"),
        )
    ]
    steps = re.findall(r"^\d+\. .*?\((\w+), certain\)", checked(audited(*found)), re.MULTILINE)
    assert steps == ["OPT003", "BLK001", "DUR002", "BUF004"]


def test_a_long_message_is_printed_once() -> None:
    """The title of a finding without an option is its first sentence, or its name; the message is not repeated."""
    first, rest = "Four sessions wait behind connection 7.", f"Its transaction {'has been open for long ' * 6}indeed."
    text = checked(audited(Finding("TST001", "x-y", Severity.WARNING, Confidence.LIKELY, f"{first} {rest}", "do it")))
    assert f"{first} (TST001, likely): {rest}" in text
    assert text.count(first) == 1
    text = checked(audited(Finding("TST001", "x-y", Severity.WARNING, Confidence.LIKELY, rest, "do it")))
    assert f"x-y (TST001, likely): {rest}" in text


def test_notes_alone() -> None:
    """Notes have their steps with them, and nothing is to be done first."""
    text = checked(audited(Finding("TST001", "x", Severity.NOTE, Confidence.LIKELY, "m", "do it")))
    assert "Do first" not in text
    assert "#### note: m (TST001, likely)\n\n- Do: do it" in text


def test_a_lost_server_is_reported() -> None:
    """A server that was lost during the audit is named above everything else."""
    text = checked(audited(facts=replace(recorded(), lost="Lost connection to server during query")))
    assert text.split("\n\n")[1].startswith("**The server was lost during the audit:** Lost connection")


def test_what_was_suppressed_is_listed() -> None:
    """Suppressed findings are left out of the counts, and listed where a format has room for them."""
    hidden = Finding("TST009", "hidden-one", Severity.WARNING, Confidence.LIKELY, "the message", canonical="a_b")
    audit = audited()._replace(suppressed=((hidden, "measured in <b>March</b>"),))
    text = checked(audit)
    assert "Left out: 1 finding suppressed, see below." in text
    assert "### Suppressed\n\n- `TST009` `a_b`: measured in `<b>March</b>`" in text
    made = {name: render_audit(name, audit, Page()) for name in names("audit")}
    assert all("the message" not in made[name] for name in names("audit") if name != "sarif")
    assert "1 suppressed" in made["text"]
    assert "suppressed\n  TST009 a_b: measured in <b>March</b>\n" in made["text"]
    assert {"code": "TST009", "reason": "suppressed: measured in <b>March</b>"} in json.loads(made["json"])["skipped"]
    (result,) = json.loads(made["sarif"])["runs"][0]["results"]
    assert result["suppressions"] == [{"kind": "external"}]


def _items(text: str) -> int:
    """The numbered steps."""
    opened = [token for token in READER.parse(text) if token.type == "list_item_open"]
    return sum(token.info != "" for token in opened)


@given(st.lists(FINDINGS, max_size=3), TEXT)
@settings(max_examples=60)
def test_any_words(findings: list[Finding], host: str) -> None:
    """For any words, a finding is one heading, and nothing is markup but ours."""
    facts = recorded()
    server = replace(facts.server, variables={**facts.server.variables, "hostname": host})
    text = checked(audited(*findings, facts=replace(facts, server=server)))
    steps = sum(token.type == "ordered_list_open" for token in READER.parse(text))
    assert sum(level == 4 for level, _ in headings(text)) + _items(text) == len(findings)
    assert steps <= 1


def test_hostile_material_is_hostile() -> None:
    """The words that the golden is made of would do something if they stood as they are."""
    assert {token.type for token in inline(READER.parse(HOSTILE))} - {"text", "code_inline"}


@pytest.mark.parametrize("word", ["|", "`", "a_b ", "\U0001f42c", "\x1b"])
def test_any_length_fits(word: str) -> None:
    """Texts of 10,000 characters that grow as Markdown are cut, on a server whose every part is missing."""
    long = word * 10_000
    action = Action(long, long, long, restart=True, undo=long, watch=long)
    finding = Finding(
        "TST001",
        long,
        Severity.ERROR,
        Confidence.CERTAIN,
        long,
        help=long,
        option=long,
        value=long,
        location=Location(long, 1),
        actions=(action, action),
        evidence=(long,),
    )
    facts = recorded()
    server = replace(facts.server, version_comment=long, variables={**facts.server.variables, "hostname": long})
    parts = tuple(Unavailable(f"part{number}", f"{number}{long}") for number in range(90))
    audit = audited(*[finding] * 20, facts=replace(facts, server=server, lost=long, unavailable=parts))
    text = checked(audit._replace(suppressed=((finding, long),) * 90))
    assert "Shortened to fit a ticket" in text
    assert text.splitlines()[-1].startswith("mycnf ")
