"""One audit, done: what every format of it is made from."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from advisor.core.model import Finding, Skipped
    from advisor.facts import Facts
    from rules.core.context import RuleContext
    from rules.core.passed import PassedCheck


TIMES = 2.0  # a load twice or half the other is another one
IDLE = 1.0  # statements a second; below that there is no load


class Load(NamedTuple):
    """Statements a second then and now, each over the window, or since the start where there was none."""

    before: float
    after: float

    @property
    def differs(self) -> bool:
        """Whether a finding about counters could be gone, or new, because of the load alone."""
        low, high = sorted((max(self.before, IDLE), max(self.after, IDLE)))
        return high >= TIMES * low

    @property
    def words(self) -> str:
        """`1,200.0 → 0.3 statements a second`."""
        return f"{self.before:,.1f} → {self.after:,.1f} statements a second"


class Setting(NamedTuple):
    """A variable with its values then and now; one that wasn't there is None."""

    name: str
    before: str | None
    after: str | None


class Counter(NamedTuple):
    """A status counter that advice asked to watch, as rates a second then and now, and the rules that asked."""

    name: str
    before: float
    after: float
    codes: tuple[str, ...]


class Since(NamedTuple):
    """This audit compared with an earlier one of `taken_at`; `other` says in what the server is another one.

    `gone` was judged again and is not found; `unjudged` are findings whose rules were skipped this time, and why;
    `idle` are not found where the load that they rest on is another one, `load` in statements a second. `unseen` are
    those of the new ones whose rules were not judged then.
    """

    taken_at: str
    gone: tuple[Finding, ...]
    new: tuple[Finding, ...]
    kept: tuple[Finding, ...]
    settings: tuple[Setting, ...]
    counters: tuple[Counter, ...]
    other: tuple[str, ...] = ()
    unjudged: tuple[tuple[Finding, str], ...] = ()
    idle: tuple[Finding, ...] = ()
    load: Load | None = None
    unseen: tuple[Finding, ...] = ()


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
