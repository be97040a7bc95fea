"""When a run knows enough: by how narrow its intervals are, never by what they say."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from advisor.facts.probes import baselines
from probes.stats.comparing import compare_in_groups, differences_of, relative
from probes.stats.estimate import estimates
from probes.stats.table import table_of

if TYPE_CHECKING:
    from advisor.facts.probes import Arm, Metric

ENOUGH = 0.02  # relative; who tunes a server cares about no less
# Degrees of freedom of the noise. With fewer, intervals are often narrow by chance: of two variants without a
# difference 9 % of the runs that ended so early claimed one, simulated in tests/probes/stats/test_simulated.py.
FREEDOM = 6


def settled(arms: tuple[Arm, ...], metric: Metric, baseline: str) -> bool:
    """Whether further rounds would add nothing worth the time: differences of 2 % could be seen in every variant.

    It must have been so a round earlier too. Stopping at the first narrow interval would prefer runs that are
    narrow by luck. Where the interval lies plays no part, for stopping at a difference would find one always.
    """
    return (
        _knows_noise(arms, metric, baseline)
        and _narrow(arms, metric, baseline, 0)
        and _narrow(arms, metric, baseline, 1)
    )


def _knows_noise(arms: tuple[Arm, ...], metric: Metric, baseline: str) -> bool:
    """Whether there are rounds enough to know how much the differences scatter; a single variant has none."""
    for group, first in baselines(arms, baseline).items():
        table = table_of([arm for arm in arms if arm.group == group], metric.name, first)
        differences = differences_of(table, first) if table and table.rounds > 1 else []
        if any(estimate.freedom < FREEDOM for estimate in (estimates(differences) if differences else ())):
            return False
    return True


def _narrow(arms: tuple[Arm, ...], metric: Metric, baseline: str, less: int) -> bool:
    shortened = tuple(_shortened(arm, less) for arm in arms)
    if len(arms) == 1:  # nothing to compare with: its own mean is the answer
        table = table_of(shortened, metric.name, baseline)
        rows = [[value - table.rows[0][0] for value in table.rows[0]]] if table else []
        return bool(table and all(relative(e.detectable(1), table.logs) <= ENOUGH for e in estimates(rows)))
    found = compare_in_groups(shortened, metric, baseline)
    whole = len(found) == len(arms) - len(baselines(arms, baseline))
    return whole and all(comparison.detectable <= ENOUGH for comparison in found)


def _shortened(arm: Arm, less: int) -> Arm:
    return replace(arm, blocks=arm.blocks[: len(arm.blocks) - less]) if less else arm
