"""Resume a saved run: find the one with the same parameters, and compute what remains of the request."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from advisor import __version__
from advisor.facts.probes import PROBE_SCHEMA, Arm, ProbeResult
from probes.host_identity import run_place
from probes.pooling import difference_between
from probes.results import read_all, results_of_host

if TYPE_CHECKING:
    from probes.experiment import Environment, Experiment, ProbeRequest, RunPlan
    from probes.results import KeptResult


def find_matching_run(
    experiment: Experiment, environment: Environment, request: ProbeRequest, plan: RunPlan
) -> tuple[KeptResult | None, str]:
    """The newest saved run of this host with the same parameters; otherwise None and the reason."""
    blank = _empty_result(experiment, environment, request, plan)
    known = [k for k in results_of_host(read_all().kept, environment.host_id) if k.result.probe == experiment.name]
    reasons = [difference_between(kept.result, blank) for kept in known]
    same = next((kept for kept, reason in zip(known, reasons, strict=True) if not reason), None)
    why = f"the latest run differs in {reasons[0]}" if reasons else "no earlier run is saved"
    return same, "" if same else why


def remaining_request(request: ProbeRequest, plan: RunPlan, earlier: ProbeResult) -> ProbeRequest | None:
    """The request minus what the earlier run measured, with another order of variants; None if nothing remains."""
    seconds, rounds = request.seconds, request.rounds
    if seconds is not None:
        seconds -= earlier.seconds
        if seconds < (plan.shortest + plan.overhead) * len(plan.variants):
            return None
    if rounds is not None or seconds is None:
        rounds = (rounds or plan.rounds) - earlier.rounds
        if rounds < 1:
            return None
    return replace(request, seconds=seconds, rounds=rounds, seed=request.seed + earlier.rounds)


def _empty_result(
    experiment: Experiment, environment: Environment, request: ProbeRequest, plan: RunPlan
) -> ProbeResult:
    """The result of the run without any rounds."""
    return ProbeResult(
        schema=PROBE_SCHEMA,
        tool=__version__,
        probe=experiment.name,
        began_at="",
        seconds=0.0,
        ended="",
        place=run_place(environment, request.directory),
        metrics=plan.metrics,
        arms=tuple(Arm(v.name, v.settings, (), v.point, v.group) for v in plan.variants),
        baseline=plan.baseline,
        server=plan.server,
        driver=plan.driver,
        parameters=plan.parameters,
    )
