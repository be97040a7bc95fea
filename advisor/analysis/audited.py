"""One audit, done: what every format of it is made from."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from advisor.analysis.since import Since
    from advisor.core.model import Finding, Skipped
    from advisor.facts import Facts
    from rules.core.context import RuleContext
    from rules.core.passed import PassedCheck


class Audited(NamedTuple):
    """The facts, what the rules could read of them, the findings worst first, and the rules that had to be skipped.

    `asked` are the codes of all rules that were asked of this target. `aside` are findings that the user put aside,
    each with the reason: they are in no count, and reports tell that they are left out. `fine` is what was looked
    at and is as it should be, `since` what came of an earlier audit.
    """

    facts: Facts
    known: RuleContext
    findings: tuple[Finding, ...]
    skipped: tuple[Skipped, ...]
    asked: tuple[str, ...] = ()
    aside: tuple[tuple[Finding, str], ...] = ()
    fine: tuple[PassedCheck, ...] = ()
    since: Since | None = None
