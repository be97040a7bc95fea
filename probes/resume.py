"""Going on with a kept run: the one of the same parameters, and what is left of what is asked for."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from advisor import __version__
from advisor.facts.probes import PROBE_SCHEMA, Arm, ProbeResult
from probes.host_identity import place_of
from probes.pooling import differs
from probes.results import of_host, shelf

if TYPE_CHECKING:
    from probes.experiment import Environment, Experiment, ProbeRequest, RunPlan
    from probes.results import KeptResult


def matching(
    experiment: Experiment, ground: Environment, wanted: ProbeRequest, plan: RunPlan
) -> tuple[KeptResult | None, str]:
    """The newest kept run of this host that differs from this one in its time alone; without any None, and why."""
    blank = _blank(experiment, ground, wanted, plan)
    known = [k for k in of_host(shelf().kept, ground.host_id) if k.result.probe == experiment.name]
    reasons = [differs(kept.result, blank) for kept in known]
    same = next((kept for kept, reason in zip(known, reasons, strict=True) if not reason), None)
    why = f"the latest one differs in {reasons[0]}" if reasons else "none is kept"
    return same, "" if same else why


def remaining(wanted: ProbeRequest, plan: RunPlan, earlier: ProbeResult) -> ProbeRequest | None:
    """The wishes less what the earlier run did, its order of variants not repeated; None where nothing is left."""
    seconds, rounds = wanted.seconds, wanted.rounds
    if seconds is not None:
        seconds -= earlier.seconds
        if seconds < (plan.shortest + plan.overhead) * len(plan.variants):
            return None
    if rounds is not None or seconds is None:
        rounds = (rounds or plan.rounds) - earlier.rounds
        if rounds < 1:
            return None
    return replace(wanted, seconds=seconds, rounds=rounds, seed=wanted.seed + earlier.rounds)


def _blank(experiment: Experiment, ground: Environment, wanted: ProbeRequest, plan: RunPlan) -> ProbeResult:
    """What the run would be with no round in it."""
    return ProbeResult(
        schema=PROBE_SCHEMA,
        tool=__version__,
        probe=experiment.name,
        began_at="",
        seconds=0.0,
        ended="",
        place=place_of(ground, wanted.directory),
        metrics=plan.metrics,
        arms=tuple(Arm(v.name, v.settings, (), v.point, v.group) for v in plan.variants),
        baseline=plan.baseline,
        server=plan.server,
        driver=plan.driver,
        parameters=plan.parameters,
    )
