"""The results of the rules' cases, and which of them detect a mutant."""

from __future__ import annotations

import signal
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from enum import IntEnum
from types import CodeType
from typing import TYPE_CHECKING, NamedTuple

from changes import Mutant, apply_mutant
from modules import Module, carried_out, compile_tree, concerned_modules, in_order
from rule_cases import Case, case_difference

if TYPE_CHECKING:
    from advisor.core.model import Finding
    from rules.core import Rule
    from rules.core.context import RuleContext

SECONDS = 2.0  # of CPU time for all cases of a mutant; a hundredth of that is usual


class FindingParts(NamedTuple):
    """The relevant parts of a finding: severity, confidence, option, line, and the advised lines and statements."""

    severity: str
    confidence: str
    option: str | None
    line: int | None
    advice: tuple[tuple[str | None, str | None], ...]


class PosedCase(NamedTuple):
    """A case with its rule context, and the findings of its rule without any change."""

    case: Case
    known: RuleContext
    found: tuple[FindingParts, ...]


class Detection(IntEnum):
    """How a mutant is detected: by a case's table, by another option or advice, or not at all."""

    BY_TABLE = 0
    BY_ADVICE = 1
    NOT_AT_ALL = 2


class TooLong(BaseException):
    """A mutant takes longer than any rule; not an Exception, so that no rule catches it."""


def pose_cases(cases: Sequence[tuple[Case, RuleContext]], modules: Mapping[str, Module]) -> list[PosedCase]:
    """The cases for the rules of these modules with their findings; raises ValueError if one differs from its table."""
    with carried_out(_codes(in_order(modules, modules), modules)) as rules:
        asked = [(case, known, _find_findings(rules[case.rule], known)) for case, known in cases if case.rule in rules]
    wrong = [difference for case, _, findings in asked if (difference := case_difference(case, findings))]
    if wrong:
        raise ValueError(f"the tests must pass before anything is changed: {'; '.join(wrong)}")
    return [PosedCase(case, known, _parts(findings)) for case, known, findings in asked]


def notice_change(
    mutant: Mutant, module: Module, modules: Mapping[str, Module], cases: Sequence[PosedCase]
) -> Detection:
    """Whether the cases of the module's rules, and of all rules that depend on it, detect the change."""
    with apply_mutant(mutant):
        code = compile_tree(module.tree, module.path)
    codes = {**_codes(concerned_modules(module.name, modules), modules), module.name: code}
    try:
        with _time_limit(), carried_out(codes) as rules:
            return min((_case_answers(p, rules) for p in cases if p.case.rule in rules), default=Detection.NOT_AT_ALL)
    except (Exception, TooLong):  # noqa: BLE001 - whatever it raises, a test would fail
        return Detection.BY_TABLE


def _codes(names: Sequence[str], modules: Mapping[str, Module]) -> dict[str, CodeType]:
    return {name: modules[name].code for name in names}


def _case_answers(posed: PosedCase, rules: Mapping[str, Rule]) -> Detection:
    findings = _find_findings(rules[posed.case.rule], posed.known)
    if case_difference(posed.case, findings):
        return Detection.BY_TABLE
    return Detection.NOT_AT_ALL if _parts(findings) == posed.found else Detection.BY_ADVICE


def _find_findings(rule: Rule, known: RuleContext) -> list[Finding]:
    return list(rule.check(known)) if rule.concerns(known.target) else []


def _parts(findings: Iterable[Finding]) -> tuple[FindingParts, ...]:
    return tuple(
        FindingParts(
            f.severity.value,
            f.confidence.value,
            f.option,
            f.location.line if f.location else None,
            tuple((a.option_line, a.statement) for a in f.actions),
        )
        for f in findings
    )


@contextmanager
def _time_limit() -> Iterator[None]:
    """Raise TooLong after SECONDS."""

    def stop(*_: object) -> None:
        raise TooLong

    before = signal.signal(signal.SIGVTALRM, stop)
    signal.setitimer(signal.ITIMER_VIRTUAL, SECONDS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)
