"""What every screen is given: one audit with its origin, frozen; a new one replaces it as a whole."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from advisor.core.model import Finding
    from advisor.facts import Sample
    from advisor.report.audited import Audited


class Aside(NamedTuple):
    """What the user put aside: findings seen, and findings suppressed with the reason, by key (see `key_of`)."""

    seen: frozenset[str] = frozenset()
    suppressed: tuple[tuple[str, str], ...] = ()

    def reason(self, finding: Finding) -> str | None:
        """Why a finding is suppressed; None where it isn't."""
        return dict(self.suppressed).get(key_of(finding))


class View(NamedTuple):
    """One audit as all screens see it.

    `origin` is live, snapshot or demo; `place` the socket, address or file in words; `taken` the seconds since 1970
    at which it was read. `samples` are the counters of the running server, the oldest first, None for a snapshot.
    """

    audited: Audited
    origin: str
    place: str
    taken: float
    aside: Aside = Aside()
    samples: tuple[Sample, ...] | None = None

    @property
    def live(self) -> bool:
        """Whether there is a server to ask again."""
        return self.origin == "live"

    @property
    def open_findings(self) -> tuple[Finding, ...]:
        """The findings that nobody suppressed."""
        return tuple(f for f in self.audited.findings if self.aside.reason(f) is None)

    @property
    def hidden(self) -> tuple[tuple[Finding, str], ...]:
        """The findings that were put aside, each with the reason: those that a baseline knows, and the user's."""
        reasons = dict(self.aside.suppressed)
        own = ((f, reasons[key]) for f in self.audited.findings if (key := key_of(f)) in reasons)
        return (*self.audited.aside, *own)

    def known(self, finding: Finding) -> str | None:
        """Why a baseline hides a finding; None where none does."""
        return next((reason for f, reason in self.audited.aside if f is finding), None)

    def reason(self, finding: Finding) -> str | None:
        """Why a finding is hidden; None where it isn't."""
        known = self.known(finding)
        return self.aside.reason(finding) if known is None else known


def key_of(finding: Finding) -> str:
    """What makes a finding the same one in the next audit: rule, option and file, not its value or line."""
    path = finding.location.path if finding.location else ""
    return f"{finding.code} {finding.canonical or finding.option or ''} {path}".strip()
