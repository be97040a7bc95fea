"""The window between the first and the last sample of counters in texts."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

from advisor.collect.asking import number
from advisor.collect.workload import sample_at
from advisor.facts.workload import Workload

if TYPE_CHECKING:
    from collections.abc import Sequence

Sample = dict[str, str]
ONE = "needs two samples of the status counters, some time apart (mysqladmin extended-status -i 10 -c 2, or pt-stalk)"
FELL = (
    "needs samples whose Uptime rises, the earlier first: the server restarted in between, or they are differences "
    "(mysqladmin -r) of some counters alone"
)


def whole(samples: Sequence[Sample]) -> Sequence[Sample]:
    """The samples that tell the server's clock, where any does: the last of a text may be cut off before it."""
    return [sample for sample in samples if number(sample.get("uptime")) is not None] or samples


def with_next(kept: tuple[Sample, ...], one: Sample) -> tuple[Sample, ...]:
    """The samples with one more, as far as a window needs them: the ends, and two between which the uptime fell.

    Once a sample tells the server's clock those that don't are left out.
    """
    now = number(one.get("uptime"))
    before = [number(sample.get("uptime")) for sample in kept]
    if now is None:
        return (*kept[:1], one) if None in before or not kept else kept
    known = [at for at in before if at is not None]
    if not known:
        return (one,)
    fell = [later < earlier for earlier, later in pairwise([*known, now])]
    needed = len(known) == 1 or fell[-2] or (fell[-1] and not any(fell[:-1]))
    return (*(kept if needed else kept[:-1]), one)


def workload_of(samples: Sequence[Sample]) -> tuple[Workload | None, str]:
    """The workload between the first and the last sample, else None and the reason."""
    uptimes = [number(sample.get("uptime")) for sample in samples]
    known = [at for at in uptimes if at is not None]
    if len(known) < 2 or min(known) == max(known):  # noqa: PLR2004 - two ends
        return None, ONE
    if any(later < earlier for earlier, later in pairwise(known)):
        return None, FELL
    return Workload(sample_at(samples[0], float(known[0])), sample_at(samples[-1], float(known[-1]))), ""
