"""Memory: what the server takes, may take and could take, against what there is."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from advisor.core.sizes import about, percent
from advisor.tui.bars import bar
from rules.sizing.memory import budget

if TYPE_CHECKING:
    from advisor.facts import Host
    from advisor.report.audited import Audited

MOST = 10  # times the whole; from there on percents say nothing


class Amount(NamedTuple):
    """One bar: its name, the bytes, and what they are in words."""

    name: str
    size: int
    words: str


def amounts(audited: Audited) -> list[Amount]:
    """What the server takes, the smallest first; none where a size that they rest on isn't known."""
    host, estimate = audited.facts.host, budget(audited.known)
    if estimate is None:
        return []
    resident = host is not None and host.process is not None and host.process.resident
    found = [
        Amount("measured", estimate.measured or 0, "resident now" if resident else "by the server's own account"),
        Amount("likely", estimate.likely or 0, "shared buffers, and sessions as at their peak"),
        Amount(
            "ceiling",
            estimate.ceiling,
            f"{estimate.connections:,} connections, {about(estimate.per_session)} each: no server reaches it",
        ),
    ]
    return [amount for amount in found if amount.size]


def whole(host: Host | None) -> tuple[int, str] | None:
    """Bytes that the server may use, and whose number that is; None where the host wasn't read."""
    size = host.usable_memory if host else None
    if not host or not size:
        return None
    limited = host.memory is None or size < host.memory.total
    return size, "the control group's limit" if limited else "the machine's memory"


def drawn(amount: Amount, there_is: int | None) -> str:
    """`███······  33.0G   18 %`; without a whole, the number alone."""
    if there_is is None:
        return about(amount.size)
    share = amount.size / there_is
    told = percent(share) if share < MOST else f"{share:,.0f} times"
    return f"{bar(amount.size, there_is)} {about(amount.size):>6} {told:>6}"
