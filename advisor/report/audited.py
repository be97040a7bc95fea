"""One audit, done: what every format of it is made from."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from advisor.facts import Facts
    from advisor.model import Finding, Skipped
    from rules.known import Known


class Audited(NamedTuple):
    """The facts, what the rules could read of them, the findings worst first, and the rules that had to be skipped."""

    facts: Facts
    known: Known
    findings: tuple[Finding, ...]
    skipped: tuple[Skipped, ...]
