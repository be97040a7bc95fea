"""Write the complete rounds of a running probe to the state directory, and resume a run that was saved."""

from __future__ import annotations

import dataclasses
import time
from typing import TYPE_CHECKING

from msgspec.structs import replace

from advisor import __version__
from advisor.core.errors import MycnfError
from advisor.facts.probes import PROBE_SCHEMA, Arm, ProbeResult
from probes import results
from probes.host_identity import run_place
from probes.pooling import difference_between, merge_runs
from probes.results import read_all, results_of_host

if TYPE_CHECKING:
    from collections.abc import Callable

    from probes.experiment import Environment, Experiment, ProbeRequest, RunPlan
    from probes.results import KeptResult


CHECKPOINT_SECONDS = 60.0  # seconds between two checkpoints of a run, which may be killed


class ResultWriter:
    """Writes results to the state directory; a failed write is reported but does not lose the result.

    `say` prints a line for the user; `earlier` is the saved run that this one continues.
    """

    def __init__(self, say: Callable[[str], None], earlier: KeptResult | None = None) -> None:
        self._say = say
        self._earlier = earlier
        self._path = earlier.path if earlier else None
        self._latest: ProbeResult | None = None
        self._noted = time.monotonic()

    def checkpoint(self, so_far: ProbeResult) -> None:
        """Keep the complete rounds, and write them if the last checkpoint is old enough."""
        self._latest = replace(so_far, ended="cancelled")
        if time.monotonic() - self._noted >= CHECKPOINT_SECONDS and not self._spoils_earlier(self._latest):
            self._write(self._with_earlier_rounds(self._latest))
            self._noted = time.monotonic()

    def write_checkpoint(self) -> None:
        """Write the latest complete rounds of a run that was terminated."""
        if self._latest is not None:
            whole = self._settle(self._latest)
            if self._write(whole):
                self._say(f"{whole.rounds} complete rounds are saved; continue with --resume")

    def write_final(self, result: ProbeResult) -> ProbeResult:
        """Write the result, together with the rounds of the earlier run, and report its id."""
        whole = self._settle(result)
        if self._write(whole) and self._path:
            self._say(f"saved: mycnf probe results {results.result_id(self._path)}")
        return whole

    def _with_earlier_rounds(self, result: ProbeResult) -> ProbeResult:
        return merge_runs(self._earlier.result, result) if self._earlier else result

    def _settle(self, result: ProbeResult) -> ProbeResult:
        """The result with the earlier rounds; alone, for a file of its own, if together they would have no result."""
        if self._earlier is None or not self._spoils_earlier(result):
            return self._with_earlier_rounds(result)
        self._write(self._earlier.result)  # a checkpoint may have added valid rounds to it
        self._path = None
        self._say("too many blocks are invalid to add the new rounds to the earlier run: they are saved separately")
        return result

    def _spoils_earlier(self, result: ProbeResult) -> bool:
        return self._earlier is not None and (result.is_void or self._with_earlier_rounds(result).is_void)

    def _write(self, result: ProbeResult) -> bool:
        try:
            self._path = results.write_result(result, self._path)
        except MycnfError as error:
            self._say(str(error))
            return False
        return True


def find_matching_run(
    experiment: Experiment, environment: Environment, request: ProbeRequest, plan: RunPlan
) -> tuple[KeptResult | None, str]:
    """The newest saved run of this host with the same parameters; otherwise None and the reason."""
    blank = _empty_result(experiment, environment, request, plan)
    known = [k for k in results_of_host(read_all().kept, environment.host_id) if k.result.probe == experiment.name]
    reasons = [_obstacle(kept.result, blank) for kept in known]
    same = next((kept for kept, reason in zip(known, reasons, strict=True) if not reason), None)
    why = f"the latest run {reasons[0]}" if reasons else "no earlier run is saved"
    return same, "" if same else why


def _obstacle(earlier: ProbeResult, blank: ProbeResult) -> str:
    """Why a saved run cannot be resumed; empty if it can."""
    if what := difference_between(earlier, blank):
        return f"differs in {what}"
    return "has no valid result" if earlier.is_void else ""


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
    return dataclasses.replace(request, seconds=seconds, rounds=rounds, seed=request.seed + earlier.rounds)


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
