"""Converts saved probe results into answers that rules can read: those that apply to the server, with conclusions."""

from __future__ import annotations

from probes.conclusion import conclude
from probes.host_identity import file_system_of
from probes.stats import compare
from rules.core.context import OUT_OF_RANGE
from rules.measured.answers import LocalAnswer, LocalArm, LocalPair
from rules.measured.claims import COMPARED

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from advisor.core.model import Target
    from advisor.facts import Facts
    from advisor.facts.host import Host
    from advisor.facts.probes import Arm, Metric, ProbeResult

RANKED = ("more", "less")
MAX_RESULTS = 64  # variants that are compared pairwise; no probe of a claim has as many


def answers_for(facts: Facts, target: Target) -> tuple[LocalAnswer, ...]:
    """Return results of the server's series, measured on the disks of its data and on its processors, newest first."""
    storage = file_system_of(facts.host.storage if facts.host else None)
    here = (r for r in facts.probes if _is_on_storage(r, storage) and _is_on_processors(r, facts.host))
    return answers(r for r in here if _is_of_series(r, target))


def answers(results: Iterable[ProbeResult]) -> tuple[LocalAnswer, ...]:
    """Return one answer per result and rankable metric, newest first."""
    usable = (result for result in results if result.metrics and result.arms and not result.is_void)
    whole = [result for result in usable if _has_valid_numbers(result)]
    newest = sorted(whole, key=lambda r: r.began_at, reverse=True)
    return tuple(answer for result in newest for answer in _answers(result))


def _has_valid_numbers(result: ProbeResult) -> bool:
    """Whether its samples are plausible: a snapshot may come from anywhere."""
    blocks = [block for arm in result.arms for block in arm.blocks]
    return all(0 <= value < OUT_OF_RANGE for b in blocks for value in (b.seconds, *b.metrics.values()))  # nan is not


def _is_of_series(result: ProbeResult, target: Target) -> bool:
    """Whether it started no server, or one of the same flavour and series."""
    return result.server is None or f"{result.server}.".startswith(f"{target.flavour}-{target.series}.")


def _is_on_storage(result: ProbeResult, storage: tuple[str | None, str | None]) -> bool:
    """Whether it was measured on the same disks and type of file system; unknown counts as different."""
    return None not in storage and (result.place.file_system, result.place.device) == storage


def _is_on_processors(result: ProbeResult, host: Host | None) -> bool:
    """Whether the host still has as many processors; a machine can be resized. True if unknown."""
    online = host.cpu.online if host and host.cpu else ()
    return result.place.cpus is None or not online or result.place.cpus == len(online)


def _answers(result: ProbeResult) -> Iterator[LocalAnswer]:
    concluded = conclude(result)
    arms = tuple(LocalArm(a.name, a.settings, a.point, _measured_seconds(a)) for a in result.arms)
    for metric in [m for m in result.metrics if m.better in RANKED] or result.metrics[:1]:
        yield LocalAnswer(
            probe=result.probe,
            metric=metric.name,
            better=metric.better,
            verdict=concluded.verdict,
            best=concluded.best,
            within=concluded.within,
            began_at=result.began_at,
            server=result.server,
            rounds=result.rounds,
            axis=result.axis,
            arms=arms,
            pairs=tuple(_pairs(result, metric)) if metric.name in COMPARED and metric.better in RANKED else (),
            facts=result.facts,
            parameters=result.parameters,
        )


def _measured_seconds(arm: Arm) -> float:
    return sum(block.seconds for block in arm.blocks if not block.invalid)


def _pairs(result: ProbeResult, metric: Metric) -> Iterator[LocalPair]:
    family = _family(result)
    for against in result.arms if len(result.arms) <= MAX_RESULTS else ():
        own = tuple(arm for arm in result.arms if arm.group == against.group)
        for c in compare(own, metric, against.name, family):
            yield LocalPair(c.arm, against.name, c.ratio, c.low, c.high, c.bound, c.claim)


def _family(result: ProbeResult) -> int:
    """The comparisons of a run that a rule can read; one false claim among all of them would decide a finding.

    Each group has its own, and so has each metric.
    """
    compared = sum(metric.name in COMPARED and metric.better in RANKED for metric in result.metrics)
    return max(1, compared * (len(result.arms) - len({arm.group for arm in result.arms})))
