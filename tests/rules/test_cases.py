"""Each rule reports what its table expects, with that severity, and is silent elsewhere."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from rule_cases import Case, all_cases, case_difference, cases_by_rule, context_of_case

from rules import all_rules, find_rule
from rules.core.context import MissingFact

if TYPE_CHECKING:
    from rules.core import Rule

CASES = all_cases()
BY_RULE = cases_by_rule(CASES)
# These report on what the other rules found: tests/suppress runs them.
AFTER_ALL = "findings"


def case_id(name: str) -> str:
    """Code and name of a rule, so that `pytest -k` finds its cases by either."""
    rule = find_rule(name)
    return f"{rule.code}-{rule.name}" if rule else f"no-rule-{name}"


@pytest.mark.parametrize("code", BY_RULE, ids=case_id)
def test_the_rule_finds_what_its_cases_say(code: str, tmp_path: Path) -> None:
    """The rule yields findings of the severity that each case names, about the option that it names, or none."""
    rule = find_rule(code)
    assert rule is not None, f"no rule is called {code}"
    for number, case in enumerate(BY_RULE[code]):
        folder = tmp_path / str(number)
        folder.mkdir()
        known = context_of_case(case, folder)
        found = list(rule.check(known)) if rule.concerns(known.target) else []
        assert case_difference(case, found) == ""
        for f in found:
            assert f.message.endswith("."), (str(case), f.message)


@pytest.mark.parametrize("rule", [r for r in all_rules() if AFTER_ALL in r.needs], ids=lambda r: r.code)
def test_a_rule_about_findings_waits_for_the_others(rule: Rule, tmp_path: Path) -> None:
    """Run like the others, a rule about findings reports that it lacks them, and finds nothing."""
    known = context_of_case(Case(rule.code, "", "mysql-8.4", file="port = 1 # mycnf: ignore[BUF001]"), tmp_path)
    with pytest.raises(MissingFact):
        list(rule.check(known))
    assert list(rule.function(known)) == []


def test_every_rule_has_its_cases() -> None:
    """Each rule has at least two firing and two silent cases."""
    firing = Counter(c.rule for c in CASES if c.finds)
    silent = Counter(c.rule for c in CASES if not c.finds)
    missing = {
        r.name: (firing[r.name], silent[r.name])
        for r in all_rules()
        if AFTER_ALL not in r.needs and (firing[r.name] < 2 or silent[r.name] < 2)
    }
    assert not missing
