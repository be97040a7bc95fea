"""Tell which kept run is gone on with."""

from __future__ import annotations

from typing import TYPE_CHECKING

from advisor.core.console import narrate
from probes.resuming import matching

if TYPE_CHECKING:
    from probes.experiment import Experiment, Ground, Plan, Wanted
    from probes.results import Kept


def earlier_run(experiment: Experiment, ground: Ground, wanted: Wanted, plan: Plan) -> Kept | None:
    """The kept run that this one can go on with; None, said why, where there is none."""
    kept, why = matching(experiment, ground, wanted, plan)
    if kept is not None:
        narrate(f"going on with the run of {kept.result.began_at}, {kept.result.rounds} rounds so far")
    else:
        narrate(f"no run of {experiment.name} to go on with: {why}; a new one begins")
    return kept
