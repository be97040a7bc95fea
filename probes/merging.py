"""Several runs of the same parameters as one longer run."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from probes.experiment import ProbeError

if TYPE_CHECKING:
    from advisor.facts.probes import Arm, ProbeResult


def differs(earlier: ProbeResult, later: ProbeResult) -> str:
    """What keeps two runs from being one longer run, in a word or two; empty where nothing does."""
    for words, one, other in (
        ("the experiment", earlier.probe, later.probe),
        ("the host", earlier.place.host, later.place.host),
        ("the directory", earlier.place.path, later.place.path),
        ("the server", earlier.server, later.server),
        ("who makes the load", earlier.driver, later.driver),
        ("the parameters", earlier.parameters, later.parameters),
        ("what is measured", earlier.metrics, later.metrics),
        ("the baseline", earlier.baseline, later.baseline),
        ("the variants", _variants(earlier), _variants(later)),
    ):
        if one != other:
            return words
    return ""


def merged(earlier: ProbeResult, later: ProbeResult) -> ProbeResult:
    """Two runs of the same parameters as one, the later one's rounds after the earlier one's.

    Raises ProbeError where they differ in more than their time.
    """
    if what := differs(earlier, later):
        raise ProbeError(f"the runs of {earlier.began_at} and {later.began_at} can't be made one: {what} changed")
    runs = f"Measured in several runs; the last one began {later.began_at}."
    earlier_notes = tuple(note for note in earlier.notes if not note.startswith("Measured in several runs"))
    return replace(
        later,
        began_at=earlier.began_at,
        seconds=round(earlier.seconds + later.seconds, 3),
        arms=tuple(_joined(a, b, earlier.seconds) for a, b in zip(earlier.arms, later.arms, strict=True)),
        notes=tuple(dict.fromkeys((*earlier_notes, *later.notes, runs))),
        limits=tuple(dict.fromkeys((*earlier.limits, *later.limits))),
    )


def _joined(earlier: Arm, later: Arm, after: float) -> Arm:
    rounds = len(earlier.blocks)
    moved = (replace(b, round=b.round + rounds, began=round(b.began + after, 3)) for b in later.blocks)
    return replace(later, blocks=(*earlier.blocks, *moved))


def _variants(result: ProbeResult) -> list[tuple[str, dict[str, str], float | None, str]]:
    return [(arm.name, arm.settings, arm.point, arm.group) for arm in result.arms]
