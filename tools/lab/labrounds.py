"""Before and after the advice in interleaved rounds, with the probes' own rounds, drivers and statistics."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator

from labfolder import Lab
from labserver import FILE, OptionFileServer, task_of

from advisor.collect.host import open_root, read_host
from advisor.facts.probes import Metric, ProbeResult
from probes.experiment import BlockMeasurement, Choice, Cost, Environment, ProbeRequest, RunPlan, Turn, Variant
from probes.rounds import Progress, run_experiment
from probes.server_probes import variant_server
from probes.server_probes.under_load import METRICS, WorkloadBench
from probes.stop import StopSignal
from probes.workload.own_driver import run_load

BEFORE, AFTER = "before", "after"
OVERHEAD = 8.0  # seconds for a shutdown and a start
NEVER = 1e6  # seconds; the number of rounds ends the run, not the time


class FixedBench(WorkloadBench):
    """A bench whose blocks warm up and measure as long as the lab defines, whatever time is left."""

    def __init__(self, lab: Lab, served: OptionFileServer, driver: str, seed: int) -> None:
        super().__init__(served, driver, lambda _: task_of(lab, served, seed), warm_seconds=0)
        self._lab = lab
        self._load = task_of(lab, served, seed + 1)  # another random sequence than in the measurement

    def measure(self, variant: Variant, turn: Turn, stop: StopSignal) -> BlockMeasurement:
        """Measure one block of the lab's length, after a restart and the lab's warm-up."""
        with self.server.explain_errors():
            self.server.apply_settings(variant.settings)
            run_load(self.driver, self._load, self._lab.warm, stop)
            return self._run(variant, turn._replace(seconds=self._lab.seconds), stop)


class BeforeAfter:
    """The probe: one server, two option files."""

    name = "lab"
    title = "A misconfigured server before and after the advice"
    question = "Does the advice, all of it and nothing else, help?"
    kind = "server"
    evidence: tuple[str, ...] = ()
    choices: tuple[Choice, ...] = ()

    def __init__(self, lab: Lab, served: OptionFileServer, driver: str, files: tuple[str, str]) -> None:
        self._lab, self._served, self._driver = lab, served, driver
        self._files = dict(zip((BEFORE, AFTER), files, strict=True))

    def plan(self, ground: Environment, wanted: ProbeRequest) -> RunPlan:  # noqa: ARG002 - the folder says it all
        """Two variants, the lab's metric first."""
        lab = self._lab
        return RunPlan(
            variants=tuple(Variant(name, {FILE: path}) for name, path in self._files.items()),
            baseline=BEFORE,
            metrics=_metrics(lab.metric),
            cost=Cost(disk=variant_server.FRESH_DATADIR, memory=variant_server.PROCESS_MEMORY, prepare=0.0, creates=()),
            seconds=NEVER,
            rounds=lab.rounds,
            overhead=OVERHEAD + lab.warm,
            driver=self._driver,
            server=str(self._served.target),
            parameters={"workload": lab.workload.name, "threads": str(lab.threads), "access": lab.access},
        )

    @contextlib.contextmanager
    def prepare(
        self,
        ground: Environment,  # noqa: ARG002 - an experiment's signature
        wanted: ProbeRequest,
        plan: RunPlan,  # noqa: ARG002
        stop: StopSignal,  # noqa: ARG002
    ) -> Iterator[FixedBench]:
        """The server exists already: it has just been audited."""
        yield FixedBench(self._lab, self._served, self._driver, wanted.seed + 1)


def measure_rounds(lab: Lab, served: OptionFileServer, driver: str, files: tuple[str, str], seed: int) -> ProbeResult:
    """The samples of all rounds; `files` are the original option file and the advised one.

    Raises ProbeError if the server or the driver fails before the first round is complete.
    """
    directory = os.path.dirname(served.sandbox.directory)
    ground = Environment(read_host(open_root("/"), datadir=directory), "here", (served.sandbox.binary,))
    # The measured server is running already, and would be taken for another server that must not slow down.
    wanted = ProbeRequest(directory, rounds=lab.rounds, force=frozenset({"busy", "neighbour"}), seed=seed)
    return run_experiment(BeforeAfter(lab, served, driver, files), ground, wanted, StopSignal(), _print_progress)


def length(lab: Lab) -> float:
    """The approximate seconds for the rounds of a lab."""
    return 2 * lab.rounds * (OVERHEAD + lab.warm + lab.seconds)


def _metrics(first: Metric) -> tuple[Metric, ...]:
    return (first, *(metric for metric in METRICS if metric.name != first.name))


def _print_progress(progress: Progress) -> None:
    if progress.latest:
        value = ", ".join(f"{name} {number:,.4g}" for name, number in progress.latest.metrics.items())
        print(f"  round {progress.round} of {progress.rounds}, {progress.variant}: {value}", flush=True)
