"""What an experiment would do here, found out without touching anything."""

from __future__ import annotations

from typing import TYPE_CHECKING

from advisor.core.errors import MycnfError
from advisor.report.probelist import Entry
from probes.experiment import Wanted
from probes.safety import objections

if TYPE_CHECKING:
    from advisor.commands.probing.where import Spot
    from probes.experiment import Experiment, Ground, Plan


def outlook(experiment: Experiment, ground: Ground, place: Spot, wanted: Wanted | None = None) -> Entry:
    """The plan of a run, or why there is none; with `wanted` also what would be refused, after a second of looking."""
    wish = wanted or Wanted(place.path)
    try:
        plan = experiment.plan(ground, wish)
    except MycnfError as error:
        return Entry(experiment, place.path, place.why, None, (str(error),))
    refused = _objections(ground, wish, plan) if wanted else ()
    return Entry(experiment, place.path, place.why, plan, refused)


def _objections(ground: Ground, wanted: Wanted, plan: Plan) -> tuple[str, ...]:
    found = objections(ground, wanted, plan.cost)
    return tuple(str(o) for o in found if o.final or o.name not in wanted.force)
