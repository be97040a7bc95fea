"""Check by the server's counters that a block exercised the mechanism that it measures.

A load that updates rows to the values that they have writes no redo; one that reads what is cached asks no disk. Both
give numbers about nothing. So an experiment names the preconditions of its mechanism, and every block is checked.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from probes.experiment import Variant
    from probes.workload.statements import StatementMix

TOLERANCE = 0.02  # of the rows that a transaction changes
ROWS_UPDATED = "rows updated/transaction"
LOG_SYNCS = "redo log syncs/transaction"
PAGES_READ = "pages read from disk/transaction"
FEW_SYNCS, FEW_SYNCS_PER_SECOND = 0.1, 30.0  # a transaction, and a second


class BlockActivity(NamedTuple):
    """What a block did: its load, and the server's status counters, by how much they grew and as they are after it.

    `repeated` transactions met a deadlock or a lock wait and count in no rate, though the server did their work.
    """

    seconds: float
    transactions: int
    repeated: int
    threads: int
    grown: dict[str, int]
    after: dict[str, int]

    def per_transaction(self, counter: str) -> float | None:
        """The growth of a counter a transaction; None where the server has no such counter, or nothing went through."""
        if counter not in self.grown or not self.transactions:
            return None
        return self.grown[counter] / self.transactions

    def per_second(self, counter: str) -> float | None:
        """The growth of a counter a second; None where the server has no such counter."""
        return self.grown[counter] / self.seconds if counter in self.grown else None


class Bounds(NamedTuple):
    """From where to where a value shows that the mechanism was exercised."""

    low: float = 0.0
    high: float = math.inf

    def __str__(self) -> str:
        if math.isinf(self.high):
            return f"at least {self.low:.3g}"
        return f"{self.low:.3g} to {self.high:.3g}" if self.low else f"at most {self.high:.3g}"


class Precondition(NamedTuple):
    """A value of each block by its name with the unit, and between which bounds it must lie.

    `value` gives None where the server doesn't count it; `bounds` None for variants that it says nothing about.
    """

    name: str
    value: Callable[[BlockActivity], float | None]
    bounds: Callable[[Variant, BlockActivity], Bounds | None]


class MechanismCheck(NamedTuple):
    """The values that were looked at, and why the block is invalid, empty where it isn't."""

    counters: dict[str, float]
    invalid: str = ""


def check_preconditions(
    preconditions: Iterable[Precondition], variant: Variant, activity: BlockActivity
) -> MechanismCheck:
    """Look at all preconditions of a block; the first one that fails is the reason."""
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
    """The same bounds for each variant."""
    return lambda _variant, _activity: Bounds(low, high)


def row_preconditions(workload: StatementMix) -> tuple[Precondition, ...]:
    """That each UPDATE of the workload changes its row; nothing to check for workloads without any."""
    expected = workload.updates
    if not expected:
        return ()

    def bounds(_variant: Variant, activity: BlockActivity) -> Bounds:
        again = activity.repeated / max(1, activity.transactions)
        return Bounds(expected * (1 - TOLERANCE), expected * (1 + TOLERANCE + again))

    return (Precondition(ROWS_UPDATED, lambda activity: activity.per_transaction("Handler_update"), bounds),)


def log_syncs_per_transaction(activity: BlockActivity) -> float | None:
    """Syncs of the redo log a transaction; MariaDB counts those of all data files with them."""
    of_log = activity.per_transaction("Innodb_os_log_fsyncs")
    return activity.per_transaction("Innodb_data_fsyncs") if of_log is None else of_log


def sync_bounds(option: str, when: str, least: float = 0.9) -> Callable[[Variant, BlockActivity], Bounds | None]:
    """That each group of commits is synced where `option` is `when`, and hardly any where it is something else.

    A group holds as many commits as there are connections at most. Checkpoints and the flush of each second remain
    where commits aren't synced.
    """

    def bounds(variant: Variant, activity: BlockActivity) -> Bounds:
        if variant.settings.get(option, when) == when:
            return Bounds(least / activity.threads)
        return Bounds(0.0, max(FEW_SYNCS, FEW_SYNCS_PER_SECOND * activity.seconds / max(1, activity.transactions)))

    return bounds


def page_read_precondition(bounds: Callable[[Variant, BlockActivity], Bounds | None]) -> Precondition:
    """How many pages came from the disk: on MySQL those that statements waited for, on MariaDB those read ahead too."""
    return Precondition(PAGES_READ, lambda activity: activity.per_transaction("Innodb_buffer_pool_reads"), bounds)


SYNCS_LOG = Precondition(
    LOG_SYNCS, log_syncs_per_transaction, lambda _variant, activity: Bounds(0.9 / activity.threads)
)
# What every block of a load is kept with, whether or not its numbers depend on it.
RECORDED = (
    page_read_precondition(lambda _variant, _activity: None),
    Precondition(LOG_SYNCS, log_syncs_per_transaction, lambda _variant, _activity: None),
    Precondition(
        "temporary tables on disk/transaction",
        lambda activity: activity.per_transaction("Created_tmp_disk_tables"),
        lambda _variant, _activity: None,
    ),
)
