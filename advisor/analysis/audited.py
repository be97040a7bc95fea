"""The result of one audit, from which every report format is rendered."""

from __future__ import annotations

from advisor.core import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from advisor.core.model import Finding, SkippedCheck
    from advisor.facts import Facts
    from rules.core.context import RuleContext
    from rules.core.passed import PassedCheck


TIMES = 2.0  # loads that differ by this factor are not comparable
IDLE = 1.0  # statements a second; less counts as no load


class Load(NamedTuple):
    """Statements a second before and after, each over the window, or since the start without one."""

    before: float
    after: float

    @property
    def differs(self) -> bool:
        """Whether a finding based on counters may have appeared or disappeared because of the load alone."""
        low, high = sorted((max(self.before, IDLE), max(self.after, IDLE)))
        return high >= TIMES * low

    @property
    def words(self) -> str:
        """`1,200.0 → 0.3 statements a second`."""
        return f"{self.before:,.1f} → {self.after:,.1f} statements a second"


class Setting(NamedTuple):
    """A variable with its values before and after; None if it did not exist."""

    name: str
    before: str | None
    after: str | None


class Counter(NamedTuple):
    """A status counter that advice recommends watching: rates a second before and after, and the codes of the rules."""

    name: str
    before: float
    after: float
    codes: tuple[str, ...]


class AuditComparison(NamedTuple):
    """The comparison with an earlier audit of `taken_at`; `other` lists differences that suggest another server.

    `gone` are findings that were checked again and not found; `unjudged` are findings whose rules were skipped this
    time, with the reason; `idle` are findings not found, but based on a load that differs now; `load` is in statements
    a second. `unseen` are the new findings whose rules were skipped in the earlier audit.
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


class AuditResult(NamedTuple):
    """The facts, the rules' view of them, the findings worst first, and the skipped rules.

    `rule_codes` are the codes of all selected rules that apply. `suppressed` are suppressed findings with the reason;
    they are not counted, and reports mention that they are left out. `passed` are the passed checks, `since` is the
    comparison with an earlier audit. `commented` are findings that comments in the server's files suppress.
    """

    facts: Facts
    context: RuleContext
    findings: tuple[Finding, ...]
    skipped: tuple[SkippedCheck, ...]
    rule_codes: tuple[str, ...] = ()
    suppressed: tuple[tuple[Finding, str], ...] = ()
    passed: tuple[PassedCheck, ...] = ()
    since: AuditComparison | None = None
    commented: tuple[Finding, ...] = ()

    @property
    def rules_run(self) -> frozenset[str]:
        """The codes of the rules that ran: those that apply and had all the facts that they need."""
        return frozenset(self.rule_codes) - {skip.code for skip in self.skipped}
