"""What suppressions leave of the findings, and what is said about suppressions themselves."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from advisor.analysis import run_rules, select_rules
from advisor.analysis.suppress import FileFindings, SuppressionResult, suppress
from advisor.catalog import load
from advisor.catalog.targets import parse_target
from advisor.optionfile import resolve
from advisor.verdict import judge_file
from advisor.verdict.settings import Settings
from rules import all_rules, file_rules
from rules.core.context import MissingFact, RuleContext

if TYPE_CHECKING:
    from collections.abc import Iterable

REASON = "measured on 2026-03-02"
SUP = frozenset({"SUP001", "SUP002", "SUP003", "SUP004"})


def reading(
    files: dict[str, str], target: str = "mysql-5.7", select: list[str] | None = None, silent: Iterable[str] = ()
) -> FileFindings:
    """What the rules find in files of which the first is the one named."""
    version = parse_target(target)
    texts = {name: text.encode() for name, text in files.items()}
    resolved = resolve(
        [next(iter(files))], flavour=version.flavour, version=version.version, loader=lambda path: texts[path]
    )
    verdict = judge_file(resolved, load(version))
    rules = select_rules(select, None) if select else file_rules()
    known = RuleContext(version, load(version), Settings.from_file(verdict), verdict)
    done = run_rules(known, rules)
    ran = {r.code for r in rules if r.concerns(version)} - {s.code for s in done.skipped}
    return FileFindings(resolved, version, done.findings, frozenset(ran), frozenset(silent))


def of(text: str, **words: object) -> SuppressionResult:
    """What is left of one file."""
    (done,) = suppress([reading({"x.cnf": f"[mysqld]\n{text}"}, **words)])
    return done


def codes(done: SuppressionResult) -> list[str]:
    """The codes of the findings that are shown."""
    return [f.code for f in done.kept]


@pytest.mark.parametrize("word", ["BUF001", "buf001", "oversized-read-buffer", "BUF", "buf", "SEC001,BUF001"])
@pytest.mark.parametrize(
    "text", ["read_buffer_size = 8M # mycnf: ignore[{}] {}", "; mycnf: ignore[{}] {}\nread_buffer_size=8M"]
)
def test_a_finding_is_suppressed(word: str, text: str) -> None:
    """A code, a name or a family in either case hides the finding of the line, and keeps it for who asks."""
    done = of(text.format(word, REASON))
    assert [f.code for f in done.hidden] == ["BUF001"]
    assert [f.code for f in done.kept if f.code not in SUP] == []


def test_refusals_may_be_suppressed() -> None:
    """An error is hidden like anything else."""
    done = of(f"no_such_option = 1 # mycnf: ignore[unknown-option] {REASON}")
    assert codes(done) == []
    assert [f.severity for f in done.hidden] == ["error"]


def test_other_lines_and_rules_stay() -> None:
    """A suppression is about its own line and the rules that it names."""
    done = of(f"read_buffer_size = 8M # mycnf: ignore[BUF001] {REASON}\nsort_buffer_size = 64M\nno_such_option = 1")
    assert {"OPT001", "BUF003"} <= set(codes(done))


def test_for_a_file() -> None:
    """ignore-file hides every finding of the rule in its file, those without a line too."""
    done = of(f"# mycnf: ignore-file[OPT001] {REASON}\nno_such = 1\n\nnor_this = 2")
    assert codes(done) == []
    assert [f.code for f in done.hidden] == ["OPT001", "OPT001"]


def test_in_an_included_file() -> None:
    """The comment is in the file of the finding; one in the file around it is about that file."""
    included = {
        "a.cnf": "[mysqld]\n# mycnf: ignore-file[OPT001] x\n!include /b.cnf\n",
        "/b.cnf": "[mysqld]\nno_such = 1\n",
    }
    (done,) = suppress([reading(included)])
    assert sorted(codes(done)) == ["OPT001", "SUP001"]
    own = {**included, "/b.cnf": "[mysqld]\nno_such = 1 # mycnf: ignore[OPT001] x\n", "a.cnf": "!include /b.cnf\n"}
    (done,) = suppress([reading(own)])
    assert codes(done) == []


def test_unused() -> None:
    """A suppression of a rule that looked and found nothing is a note, at its place."""
    done = of(f"# mycnf: ignore[BUF001,SEC] {REASON}\nport = 3306\n\n# mycnf: ignore[BUF] {REASON}")
    assert [(f.code, f.severity, f.location.line) for f in done.kept if f.code == "SUP001"] == [
        ("SUP001", "note", 2),
        ("SUP001", "note", 2),
        ("SUP001", "note", 5),
    ]
    messages = [f.message for f in done.kept]
    assert messages[0].startswith("BUF001 reports nothing about line 3,")
    assert "no line follows" in messages[2]


def test_unused_is_judged_for_rules_that_looked() -> None:
    """With other rules selected, for rules of other targets, and for rules that need a host, nothing is unused."""
    assert codes(of(f"port = 1 # mycnf: ignore[BUF001] {REASON}", select=["SEC", "SUP"])) == []
    assert codes(of(f"port = 1 # mycnf: ignore[BUF] {REASON}", select=["BUF001"])) == []
    only_old = next(r for r in all_rules() if not r.needs and not r.concerns(parse_target("mysql-9.7")))
    assert codes(of(f"port = 1 # mycnf: ignore[{only_old.code}] {REASON}", target="mysql-9.7")) == []
    assert codes(of(f"port = 1 # mycnf: ignore[MEM] {REASON}")) == []


def test_unused_over_several_readings() -> None:
    """What hides a finding for one target, or in one of two files read together, is used."""
    text = {"x.cnf": f"[mysqld]\nquery_cache_size = 0 # mycnf: ignore[removed-option,deprecated-option] {REASON}\n"}
    done = suppress([reading(text, "mysql-5.7"), reading(text, "mysql-8.4")])
    assert [codes(d) for d in done] == [[], []]
    assert [len(d.hidden) for d in done] == [1, 1]
    assert codes(suppress([reading(text, "mysql-5.7")])[0]) == ["SUP001"]


def test_findings_about_a_file_are_in_its_own_reading() -> None:
    """A suppression in a file that is read twice is reported once, where the file itself was named."""
    part = "[mysqld]\nport = 1 # mycnf: ignore[BUF001] x\n"
    whole = {"a.cnf": "!include /b.cnf\n", "/b.cnf": part}
    done = suppress([reading(whole), reading({"/b.cnf": part})])
    assert [codes(d) for d in done] == [[], ["SUP001"]]


def test_misspelt() -> None:
    """A word that names no rule is a warning with the name that was meant; the finding is shown."""
    done = of(f"read_buffer_size = 8M # mycnf: ignore[oversized-read-bufer] {REASON}")
    found = next(f for f in done.kept if f.code == "SUP002")
    assert (found.severity, found.help) == ("warning", "did you mean oversized-read-buffer?")
    assert "BUF001" in codes(done)
    assert next(f.help for f in of("port # mycnf: ignore[qqqqq] x").kept if f.code == "SUP002").startswith(
        "`mycnf rules`"
    )


def test_malformed() -> None:
    """A suppression that can't be understood is a warning, and hides nothing."""
    done = of("read_buffer_size = 8M # mycnf: ignore BUF001")
    assert sorted(codes(done)) == ["BUF001", "SUP002"]


def test_without_a_reason() -> None:
    """A suppression without a reason hides what it names, and is noted."""
    done = of("read_buffer_size = 8M # mycnf: ignore[BUF001]")
    assert codes(done) == ["SUP003"]


def test_findings_about_suppressions_may_be_suppressed() -> None:
    """The rules about suppressions can be named like all others, and are never unused themselves."""
    assert codes(of("# mycnf: ignore-file[SUP] generated\nport = 1 # mycnf: ignore[BUF001]")) == []
    assert codes(of("port = 1 # mycnf: ignore[BUF001,unused-suppression] for 8.0")) == []
    assert codes(of("# mycnf: ignore-file[SUP] generated\nport = 1")) == []


def test_rules_about_suppressions_say_nothing_by_themselves() -> None:
    """They need the other rules' findings, so nothing asks them alone, and a run without comments skips nothing."""
    version = parse_target("mysql-8.4")
    verdict = judge_file(
        resolve(["x.cnf"], loader=lambda _: b"[mysqld]\nport = 1 # mycnf: ignore[BUF001]\n"), load(version)
    )
    known = RuleContext(version, load(version), Settings.from_file(verdict), verdict)
    rules = select_rules(["SUP"], None)
    assert run_rules(known, rules) == ((), ())
    assert [list(rule.function(known)) for rule in rules] == [[] for _ in rules]
    for rule in rules:
        with pytest.raises(MissingFact):
            list(rule.check(known))


def test_silent_rules() -> None:
    """Who leaves out a rule about suppressions doesn't hear of it."""
    assert codes(of("port = 1 # mycnf: ignore[BUF001]", silent=["SUP001"])) == ["SUP003"]


def test_many_suppressions_and_findings_are_quickly_told_apart() -> None:
    """Thousands of comments and findings are no trouble: each finding is looked up by its place."""
    text = "".join(f"no_such_{n} = 1 # mycnf: ignore[OPT001] x\n# mycnf: ignore-file[OPT001] x\n" for n in range(2000))
    done = of(text, select=["OPT001", "SUP"])
    assert codes(done) == []
    assert len(done.hidden) == 2000


TODAY = "2027-02-01"


def on_day(comment: str, today: str = TODAY) -> SuppressionResult:
    """What is left of a line with a finding and this comment on a day."""
    (done,) = suppress([reading({"x.cnf": f"[mysqld]\nread_buffer_size = 8M # mycnf: {comment}"})], today)
    return done


@pytest.mark.parametrize(
    ("comment", "expected"),
    [
        ("ignore[BUF001] until 2027-02-02 OPS-1234", []),
        ("ignore[BUF001] until 2027-02-01 OPS-1234", []),
        ("ignore[BUF001]: Until 2027-02-01, OPS-1234", []),
        ("ignore[BUF001] until 2027-01-31 OPS-1234", ["BUF001", "SUP004"]),
        ("ignore-file[BUF001] until=2027-01-31: OPS-1234", ["BUF001", "SUP004"]),
        ("ignore[BUF001, BUF002] until 2027-01-31", ["BUF001", "SUP003", "SUP004"]),
        ("ignore[BUF001] until 2027-03-01", ["SUP003"]),
    ],
)
def test_suppressions_end(comment: str, expected: list[str]) -> None:
    """A last day counts itself; after it the finding is back, with a note that says why and none that it is unused."""
    assert sorted(codes(on_day(comment))) == expected


def test_an_end_is_explained() -> None:
    """The note names the day; without a date of today, as in a library's call, nothing ends."""
    (note,) = [f for f in on_day("ignore[BUF001] until 2027-01-31 OPS-1234").kept if f.code == "SUP004"]
    assert (note.severity, note.message) == (
        "note",
        "This suppression ended on 2027-01-31: what it hid about this line is reported again.",
    )
    assert codes(on_day("ignore[BUF001] until 2027-01-31 OPS-1234", today="")) == []


@pytest.mark.parametrize(
    ("written", "quoted"),
    [
        ("31.01.2027 x", "31.01.2027"),
        ("2027-02-30 x", "2027-02-30"),
        ("2027-2-3 x", "2027-2-3"),
        ("2027/03/01 x", "2027/03/01"),
        ("03/01/27 x", "03/01/27"),
        ("March 2027, x", "March 2027"),
        ("31 March 2027 x", "31 March 2027"),
        ("2027 x", "2027"),
    ],
)
def test_a_wrong_day_suppresses_nothing(written: str, quoted: str) -> None:
    """What is meant as a date and is none is one line, and the finding shows: it must not be hidden for ever."""
    done = on_day(f"ignore[BUF001] until {written}")
    assert sorted(codes(done)) == ["BUF001", "SUP002"]
    (fault,) = [f for f in done.kept if f.code == "SUP002"]
    assert fault.message == f"This suppression has no effect: {quoted!r} is not a date."
    assert fault.help == "write until 2027-01-31, year first"


@pytest.mark.parametrize(
    "reason",
    [
        "until 8.4",
        "until 8.0.36 is out",
        "until the move",
        "until 2048 connections",
        "untilx 2027",
        "not until 2020-01-01",
    ],
)
def test_until_anything_else_is_a_reason(reason: str) -> None:
    """A version, a number or words after until, and a date that does not begin the reason, are part of the reason."""
    assert codes(on_day(f"ignore[BUF001] {reason}")) == []
