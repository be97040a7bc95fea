"""Each rule that says it can fix does so, to the byte, and is content afterwards."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from pathlib import Path

import pytest
from fix_text import findings, fixed, judged, values

from rules import all_rules, find_rule


@dataclass(frozen=True)
class Case:
    """One row of the table."""

    rule: str
    says: str
    target: str
    before: str
    after: str
    unsafe: bool = False
    config: str = ""

    def __str__(self) -> str:
        return f"{self.rule}: {self.says}"

    @staticmethod
    def whole(text: str) -> bytes:
        """The text as a file."""
        return text.encode() if "[" in text else f"[mysqld]\n{text}".encode()


TABLE = tomllib.loads((Path(__file__).parent / "cases.toml").read_text("utf-8"))
CASES = [Case(rule, **row) for rule, rows in TABLE.items() for row in rows]


@pytest.fixture
def config(case: Case, tmp_path: Path) -> str | None:
    """The configuration file that the case needs."""
    if not case.config:
        return None
    file = tmp_path / "mycnf.toml"
    file.write_text(case.config, "utf-8")
    return str(file)


def fixes(case: Case, text: str, config: str | None) -> list[str]:
    """The applicability of each fix that the case's rule offers for a text."""
    rule = find_rule(case.rule)
    assert rule is not None
    return [kind for code, kind in findings(case.whole(text), case.target, config) if code == rule.code and kind != "-"]


@pytest.mark.parametrize("case", CASES, ids=str)
def test_the_fix_is_what_the_case_says(case: Case, config: str | None) -> None:
    """The file is the expected one to the byte; the rule offered the fix, and has nothing more to fix."""
    after = fixed(case.whole(case.before), case.target, unsafe=case.unsafe, config=config)
    assert after.decode() == case.whole(case.after).decode()
    rule = find_rule(case.rule)
    assert rule is not None
    offered = fixes(case, case.before, config)
    assert ("unsafe" in offered) if case.unsafe else (set(offered) == {"safe"})
    assert rule.fix == "safe" or "safe" not in offered
    assert fixes(case, case.after, config) == []


@pytest.mark.parametrize("case", CASES, ids=str)
def test_safe_ones_alone_change_no_value(case: Case, config: str | None) -> None:
    """Without --unsafe-fixes an unsafe fix is not made, and every fix that is made keeps the server's values."""
    before = case.whole(case.before)
    after = fixed(before, case.target, config=config)
    assert (after == case.whole(case.after)) is not case.unsafe
    assert values(judged(after, case.target)) == values(judged(before, case.target))


@pytest.mark.parametrize("case", CASES, ids=str)
def test_a_second_run_changes_nothing(case: Case, config: str | None) -> None:
    """What was fixed is not changed again."""
    after = case.whole(case.after)
    assert fixed(after, case.target, unsafe=case.unsafe, config=config) == after


def test_every_rule_that_can_fix_has_a_case() -> None:
    """The registry's promise, `fix`, is kept by every rule that makes it, and by no other."""
    promised = {rule.name: rule.fix for rule in all_rules() if rule.fix}
    assert promised.keys() == TABLE.keys()
    safe = {case.rule for case in CASES if not case.unsafe}
    assert {name for name, kind in promised.items() if kind == "safe"} == safe
