"""Pool several runs of one configuration into one result, without the runs that scatter far more than the others."""

from __future__ import annotations

import math
import statistics
from datetime import datetime, timedelta
from functools import reduce
from typing import TYPE_CHECKING

from msgspec.structs import replace

from probes.experiment import ProbeError
from probes.stats import compare_in_groups
from probes.stats.estimate import t_quantile, variance_ratio_p

if TYPE_CHECKING:
    from collections.abc import Sequence

    from advisor.facts.probes import Arm, ProbeResult


# A run is left out if equally noisy runs would differ so much in scatter with this probability. With more, runs of
# three rounds were often left out by chance, which made the rest look more certain than it was.
CHANCE_OF_SCATTER = 0.001
LONG_RUN_ROUNDS = 10  # a run with at least so many rounds has a reliable scatter of its own
CLEARLY_NARROWER = 1.25  # times; with less, the narrower of two intervals is often narrow by chance
MAXIMUM_AGE = timedelta(days=180)  # before the newest run; by then the host may have changed in unrecorded ways


def pool_runs(runs: Sequence[ProbeResult]) -> ProbeResult:
    """Pool the runs of one configuration, that of the newest run, which comes first.

    Left out are runs of another configuration (host, server, driver, metrics, schema of the samples), much older runs,
    runs without a result, and runs that scatter more than the quietest one beyond chance. A long run is used alone if
    the pooled runs have a clearly wider interval; among short runs some look quiet only by chance. The facts are those
    of the longest pooled run, the date is that of the newest.
    """
    newest = next((run for run in runs if not run.is_void), runs[0])
    alike = [run for run in runs if run is newest or (not run.is_void and _is_same_configuration(run, newest))]
    scatters = [scatter(run) for run in alike]
    quietest = scatters.index(min(scatters))
    chosen = [run for place, run in enumerate(alike) if _scatters_alike(alike, scatters, place, quietest)]
    longest = max(reversed(chosen), key=lambda run: run.rounds)  # the first of several equally long runs
    if len(chosen) == 1:
        return longest
    whole = replace(reduce(merge_runs, reversed(chosen)), began_at=chosen[0].began_at, facts=longest.facts)
    if whole.is_void:  # invalid blocks that each run alone may have
        return longest
    narrower = interval_width(longest) * CLEARLY_NARROWER < interval_width(whole)
    return longest if narrower and longest.rounds >= LONG_RUN_ROUNDS else whole


def interval_width(run: ProbeResult) -> float:
    """The width of the median comparison's interval, as a logarithm; infinite for one round."""
    found = compare_in_groups(run.arms, run.metrics[0], run.baseline)
    widths = [math.log(c.high / c.low) if 0 < c.low <= c.high < math.inf else math.inf for c in found]
    return statistics.median(widths) if widths else math.inf


def scatter(run: ProbeResult) -> float:
    """The standard deviation of a round in the median comparison, as a logarithm; infinite for one round."""
    half = interval_width(run) / 2
    return half * math.sqrt(run.rounds) / t_quantile(0.05, run.rounds - 1) if math.isfinite(half) else math.inf


def _scatters_alike(runs: Sequence[ProbeResult], scatters: Sequence[float], place: int, quietest: int) -> bool:
    """Whether a run's scatter is no larger than the quietest run's, apart from chance."""
    if place == quietest:
        return True
    seen, least = scatters[place], scatters[quietest]
    if not math.isfinite(seen):
        return False
    if not least:
        return not seen
    freedom, of_quietest = (runs[number].rounds - 1 for number in (place, quietest))
    return variance_ratio_p((seen / least) ** 2, freedom, of_quietest) > CHANCE_OF_SCATTER


def _is_same_configuration(run: ProbeResult, newest: ProbeResult) -> bool:
    """Whether a run has the newest one's configuration and is not much older."""
    same = run.place == newest.place and not difference_between(run, newest)
    return same and _start_time(newest) - _start_time(run) <= MAXIMUM_AGE


def _start_time(run: ProbeResult) -> datetime:
    try:
        return datetime.fromisoformat(run.began_at)
    except ValueError:
        return datetime.fromisoformat("1970-01-01T00:00:00Z")


def difference_between(earlier: ProbeResult, later: ProbeResult) -> str:
    """What prevents two runs from being pooled, in a few words; empty if nothing does."""
    for words, earlier_value, later_value in (
        ("the experiment", earlier.probe, later.probe),
        ("the host", earlier.place.host, later.place.host),
        ("the processors", (earlier.place.cpu, earlier.place.cpus), (later.place.cpu, later.place.cpus)),
        ("the kernel", earlier.place.kernel, later.place.kernel),
        ("the directory", earlier.place.path, later.place.path),
        ("the disk or file system", _storage(earlier), _storage(later)),
        ("the server", earlier.server, later.server),
        ("the driver", earlier.driver, later.driver),
        ("the parameters", earlier.parameters, later.parameters),
        ("the metrics", earlier.metrics, later.metrics),
        ("the format of the samples", earlier.schema, later.schema),
        ("the baseline", earlier.baseline, later.baseline),
        ("the variants", _variant_fields(earlier), _variant_fields(later)),
    ):
        if earlier_value != later_value:
            return words
    return ""


def merge_runs(earlier: ProbeResult, later: ProbeResult) -> ProbeResult:
    """Merge two runs of the same parameters, the later run's rounds after the earlier run's.

    The facts are those of the longer run, because benches find them besides the samples. Raises ProbeError if the runs
    differ in more than their time.
    """
    if what := difference_between(earlier, later):
        raise ProbeError(f"the runs of {earlier.began_at} and {later.began_at} cannot be combined: {what} changed")
    runs = f"Measured in several runs; the last one began {later.began_at}."
    earlier_notes = tuple(note for note in earlier.notes if not note.startswith("Measured in several runs"))
    return replace(
        later,
        began_at=earlier.began_at,
        seconds=round(earlier.seconds + later.seconds, 3),
        arms=tuple(_append_blocks(a, b, earlier.seconds) for a, b in zip(earlier.arms, later.arms, strict=True)),
        notes=tuple(dict.fromkeys((*earlier_notes, *later.notes, runs))),
        limits=tuple(dict.fromkeys((*earlier.limits, *later.limits))),
        facts=earlier.facts if not later.facts or (earlier.facts and earlier.rounds > later.rounds) else later.facts,
    )


def _append_blocks(earlier: Arm, later: Arm, after: float) -> Arm:
    rounds = len(earlier.blocks)
    moved = (replace(b, round=b.round + rounds, began=round(b.began + after, 3)) for b in later.blocks)
    return replace(later, blocks=(*earlier.blocks, *moved))


def _storage(result: ProbeResult) -> tuple[str | None, str | None]:
    return result.place.file_system, result.place.device


def _variant_fields(result: ProbeResult) -> list[tuple[str, dict[str, str], float | None, str]]:
    return [(arm.name, arm.settings, arm.point, arm.group) for arm in result.arms]
