"""The tool that changes rules in small ways reports the changes that no case notices."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import pytest
from changes import mutants
from modules import read, rule_modules
from mycnf_command import CHECKOUT
from outcomes import Detection, notice_change, pose_cases
from rule_cases import Case, all_cases, context_of_case

from rules.core import RULES

if TYPE_CHECKING:
    from pathlib import Path

NAME = "rules.madeup"
RULE = '''"""A made-up rule."""

from rules.core import Docs, Span, rule
from rules.core.subject import variable_subject

LEAST = 100


@rule(
    "MAD001",
    "few-connections",
    summary="Few.",
    targets=(Span("mysql"),),
    docs=Docs(why="Few.", fix="More.", risk="None.", exceptions="None.", reconsider_when="More.", restart=True),
)
def few_connections(known):
    given = known.number("max_connections")
    if given is not None and given < LEAST:
        about = variable_subject(known, "max_connections")
        yield few_connections.finding(f"{given * 2} is few.", about, help="write 200")
'''
BELOW = Case("few-connections", "below", "mysql-9.7.4", "max_connections = 50", "warning")
ABOVE = Case("few-connections", "above", "mysql-9.7.4", "max_connections = 500")
JUST_ENOUGH = Case("few-connections", "just enough", "mysql-9.7.4", "max_connections = 100")
ONE_TOO_FEW = Case("few-connections", "one too few", "mysql-9.7.4", "max_connections = 99", "warning")


def tried(folder: Path, *cases: Case, text: str = RULE) -> dict[str, Detection]:
    """Each change of a made-up module, as `line: change`, and how far present cases notice it."""
    path = folder / "madeup.py"
    path.write_text(text, "utf-8")
    module = read(NAME, str(path))
    modules = {NAME: module}
    kept = pose_cases([(case, context_of_case(case, folder)) for case in cases], modules)
    return {f"{m.line}: {m.change}": notice_change(m, module, modules, kept) for m in mutants(module.tree)}


def test_a_comparison_that_no_case_tries_at_its_limit_survives(tmp_path: Path) -> None:
    """Cases far from the limit notice neither a limit one off nor an equal value; cases at the limit notice both."""
    far = tried(tmp_path, BELOW, ABOVE)
    survivors = {change for change, how in far.items() if how is Detection.NOT_AT_ALL}
    assert survivors == {"6: 100 made 101", "18: Lt made LtE"}
    assert set(tried(tmp_path, BELOW, ABOVE, JUST_ENOUGH, ONE_TOO_FEW).values()) == {Detection.BY_TABLE}


def test_words_and_declarations_are_unchanged(tmp_path: Path) -> None:
    """The sum in a message and the restart of the docs are no conditions, so nothing is changed there."""
    assert {int(change.partition(":")[0]) for change in tried(tmp_path, BELOW)} == {6, 18}


def test_a_mutant_that_never_ends_is_noticed(tmp_path: Path) -> None:
    """A change that makes a rule loop without end counts as noticed, and the tool continues."""
    endless = RULE.replace("    if given is", "    while given == 7:\n        pass\n    if given is")
    assert tried(tmp_path, BELOW, text=endless)["18: Eq made NotEq"] is Detection.BY_TABLE


def test_another_piece_of_advice_is_told_apart(tmp_path: Path) -> None:
    """A change of what is advised alone is noticed, though the table holds no advice."""
    advising = RULE.replace(
        "from rules.core.subject", "from rules.core.advice import advise, present\nfrom rules.core.subject"
    ).replace('help="write 200"', 'actions=present(advise(known, "max_connections", 200))')
    assert tried(tmp_path, BELOW, text=advising)["21: 200 made 201"] is Detection.BY_ADVICE


def test_the_list_of_rules_is_unchanged(tmp_path: Path) -> None:
    """Carried out again, a module lists no rule and leaves nothing behind to import."""
    before = list(RULES)
    tried(tmp_path, BELOW)
    assert before == RULES
    assert NAME not in sys.modules


def test_cases_that_fail_already_are_reported(tmp_path: Path) -> None:
    """Nothing is judged by cases that the rules as they are don't pass."""
    with pytest.raises(ValueError, match="few-connections: above"):
        tried(tmp_path, Case("few-connections", "above", "mysql-9.7.4", "max_connections = 500", "warning"))


def test_executed_again_the_rules_find_what_their_cases_say(tmp_path: Path) -> None:
    """The rules whose modules are executed next to the real ones find the same, so that differences are changes."""
    firing = {case.rule: case for case in all_cases() if case.finds}
    cases = [(case, context_of_case(case, _folder(tmp_path, name))) for name, case in firing.items()]
    assert len(pose_cases(cases, rule_modules(str(CHECKOUT)))) > 300


def _folder(base: Path, name: str) -> Path:
    folder = base / name
    folder.mkdir()
    return folder
