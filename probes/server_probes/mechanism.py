"""Check by the server's counters that a block exercised the mechanism that it measures.

A load whose updates do not change rows writes no redo log; a load that reads cached pages does not use the disk. Both
produce meaningless numbers. So each probe declares preconditions of its mechanism, and every block is checked.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from probes.experiment import Variant
    from probes.workload.load import StatementMix

TOLERANCE = 0.02  # of the rows that a transaction changes
ROWS_UPDATED = "rows updated/transaction"
LOG_SYNCS = "redo log syncs/transaction"
PAGES_READ = "pages read from disk/transaction"
FEW_SYNCS, FEW_SYNCS_PER_SECOND = 0.1, 30.0  # per transaction, and per second
LEAST_SYNCED = 0.9  # syncs per group of commits


class BlockActivity(NamedTuple):
    """The activity of a block: its load, and the growth and the final values of the server's status counters.

    `repeated` transactions failed with a deadlock or lock wait timeout and count in no rate, although the server
    worked.
    """

    seconds: float
    transactions: int
    repeated: int
    threads: int
    grown: dict[str, int]
    after: dict[str, int]

    def per_transaction(self, counter: str) -> float | None:
        """The growth of a counter per transaction; None if the server lacks it or no transaction succeeded."""
        if counter not in self.grown or not self.transactions:
            return None
        return self.grown[counter] / self.transactions

    def per_second(self, counter: str) -> float | None:
        """The growth of a counter per second; None if the server lacks it."""
        return self.grown[counter] / self.seconds if counter in self.grown else None


class Bounds(NamedTuple):
    """The range of values that shows that the mechanism was exercised."""

    low: float = 0.0
    high: float = math.inf

    def __str__(self) -> str:
        if math.isinf(self.high):
            return f"at least {self.low:.3g}"
        return f"{self.low:.3g} to {self.high:.3g}" if self.low else f"at most {self.high:.3g}"


class Precondition(NamedTuple):
    """A value that must lie within bounds in each block; `name` includes the unit.

    `value` returns None if the server does not count it; `bounds` returns None for variants without a requirement.
    """

    name: str
    value: Callable[[BlockActivity], float | None]
    bounds: Callable[[Variant, BlockActivity], Bounds | None]


class MechanismCheck(NamedTuple):
    """The checked values, and the reason why the block is invalid, or an empty string."""

    counters: dict[str, float]
    invalid: str = ""


def check_preconditions(
    preconditions: Iterable[Precondition], variant: Variant, activity: BlockActivity
) -> MechanismCheck:
    """Check all preconditions of a block; the first one that fails is the reason."""
    counters, invalid = {}, ""
    for precondition in preconditions:
        value = precondition.value(activity)
        if value is None:
            continue
        counters[precondition.name] = round(value, 4)
        bounds = precondition.bounds(variant, activity)
        if not invalid and bounds is not None and not bounds.low <= value <= bounds.high:
            invalid = f"{precondition.name} {value:.3g}, required: {bounds}"
    if not activity.transactions:
        invalid = invalid or "no transaction completed"
    return MechanismCheck(counters, invalid)


def fixed_bounds(low: float = 0.0, high: float = math.inf) -> Callable[[Variant, BlockActivity], Bounds | None]:
    """The same bounds for all variants."""
    return lambda _variant, _activity: Bounds(low, high)


def row_preconditions(workload: StatementMix) -> tuple[Precondition, ...]:
    """The precondition that each UPDATE of the workload changes its row; empty for workloads without UPDATE."""
    expected = workload.updates
    if not expected:
        return ()

    def bounds(_variant: Variant, activity: BlockActivity) -> Bounds:
        again = activity.repeated / max(1, activity.transactions)
        return Bounds(expected * (1 - TOLERANCE), expected * (1 + TOLERANCE + again))

    return (Precondition(ROWS_UPDATED, lambda activity: activity.per_transaction("Handler_update"), bounds),)


def log_syncs_per_transaction(activity: BlockActivity) -> float | None:
    """Syncs of the redo log per transaction; MariaDB counts them together with the syncs of data files."""
    of_log = activity.per_transaction("Innodb_os_log_fsyncs")
    return activity.per_transaction("Innodb_data_fsyncs") if of_log is None else of_log


def sync_bounds(
    option: str, each: tuple[str, ...], *, counts: bool = False
) -> Callable[[Variant, BlockActivity], Bounds | None]:
    """Bounds: each commit group is synced if `option` has one of the values `each`, and hardly any otherwise.

    A group holds at most as many commits as there are connections. If commits are not synced, checkpoints and the
    flush once per second still sync. If the option `counts`, a larger value syncs once in so many groups.
    """

    def bounds(variant: Variant, activity: BlockActivity) -> Bounds:
        value = variant.settings.get(option, each[0])
        if value in each:
            return Bounds(LEAST_SYNCED / activity.threads)
        few = max(FEW_SYNCS, FEW_SYNCS_PER_SECOND * activity.seconds / max(1, activity.transactions))
        return Bounds(0.0, few + (1 / int(value) if counts and int(value) > 1 else 0.0))

    return bounds


def page_read_precondition(bounds: Callable[[Variant, BlockActivity], Bounds | None]) -> Precondition:
    """Pages read from disk per transaction: on MySQL those that statements waited for, on MariaDB also read-ahead."""
    return Precondition(PAGES_READ, lambda activity: activity.per_transaction("Innodb_buffer_pool_reads"), bounds)


SYNCS_LOG = Precondition(
    LOG_SYNCS, log_syncs_per_transaction, lambda _variant, activity: Bounds(LEAST_SYNCED / activity.threads)
)
# Recorded with every block of a load, whether or not its result depends on them.
RECORDED = (
    page_read_precondition(lambda _variant, _activity: None),
    Precondition(LOG_SYNCS, log_syncs_per_transaction, lambda _variant, _activity: None),
    Precondition(
        "temporary tables on disk/transaction",
        lambda activity: activity.per_transaction("Created_tmp_disk_tables"),
        lambda _variant, _activity: None,
    ),
)
