"""Run server probes with identical variants, and count their false claims.

Every variant of a probe is replaced by a copy of its group's baseline, so that each claimed difference is false. In
addition, an effect of the detectable size is multiplied into the samples of one copy, to count how many runs find it.
Prints a line for each probe: valid blocks, runs that claimed a difference, runs that found the effect.

Probes that compare servers have no copies. The one of file systems uses two directories of one file system, each with
its own server. For range-scan give --beside the same server: its program is then started under two names.

With --keep, each run is saved as JSON when it ends; --read counts the runs that were saved in a folder.
With --shuffle N, each of them is also read N times with the blocks of equal variants exchanged at random within their
rounds. The noise is the measured one, so this shows how often it is mistaken for a difference; effects of the order in
which variants are measured show in the runs themselves.

Examples:
  python tools/figures/alike.py --server mysql-8.0 --runs 10 --time 60s --keep runs ab commit
  python tools/figures/alike.py --read runs --shuffle 100
"""

from __future__ import annotations

import argparse
import dataclasses
import math
import os
import random
import shlex
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import NamedTuple

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path[:0] = [TOP, os.path.join(TOP, "tests", "plugins")]

from msgspec.structs import replace
from real_servers import provisioned

from advisor.collect.host import open_root, read_host
from advisor.facts.probes import ProbeResult
from probes.conclusion import conclude
from probes.experiment import (
    Bench,
    BlockMeasurement,
    Environment,
    Experiment,
    ProbeError,
    ProbeRequest,
    RunPlan,
    Turn,
    Variant,
    parse_duration,
)
from probes.registry import load, load_all
from probes.results import read_result, result_json
from probes.rounds import run_experiment
from probes.sandbox import Binary
from probes.stats import VariantComparison
from probes.stop import StopSignal

AGAIN = ", again"
LARGEST = 100.0  # relative; if only larger differences are detectable, there were too few rounds
CHANGE = "innodb_flush_neighbors=0,1"  # for ab; the second value is never applied
OWN_SERVERS = ("file-system", "range-scan")  # each variant has a server of its own
APART = ("cache-fit",)  # its layouts have servers of their own, and so have the copies


class Alike:
    """A probe whose variants are the baseline of each group and a copy of it."""

    def __init__(self, experiment: Experiment) -> None:
        self._experiment = experiment
        self.name, self.title, self.question = experiment.name, experiment.title, experiment.question
        self.kind, self.evidence, self.choices = experiment.kind, experiment.evidence, experiment.choices

    def plan(self, ground: Environment, wanted: ProbeRequest) -> RunPlan:
        """The probe's plan with these variants."""
        plan = self._experiment.plan(ground, wanted)
        groups: dict[str, Variant] = {}
        for variant in plan.variants:
            if variant.name == plan.baseline:
                groups[variant.group] = variant
            else:
                groups.setdefault(variant.group, variant)
        copies = [(first, first._replace(name=first.name + AGAIN)) for first in groups.values()]
        return dataclasses.replace(plan, variants=tuple(variant for pair in copies for variant in pair))

    @contextmanager
    def prepare(self, ground: Environment, wanted: ProbeRequest, _plan: RunPlan, stop: StopSignal) -> Iterator[Copying]:
        """The probe's own preparation, a second one for the copies where they have servers of their own."""
        plan = self._experiment.plan(ground, wanted)
        originals = {variant.name: variant for variant in plan.variants}
        with ExitStack() as stack:
            bench = stack.enter_context(self._experiment.prepare(ground, wanted, plan, stop))
            apart = self.name in APART
            second = stack.enter_context(self._experiment.prepare(ground, wanted, plan, stop)) if apart else bench
            yield Copying(bench, second, originals)


class Copying:
    """A bench that measures the original for each copy; `second` is the bench of the copies."""

    def __init__(self, bench: Bench, second: Bench, originals: dict[str, Variant]) -> None:
        self._bench, self._second, self._originals = bench, second, originals

    def measure(self, variant: Variant, turn: Turn, stop: StopSignal) -> BlockMeasurement:
        """Measure one block of the original."""
        bench = self._second if variant.name.endswith(AGAIN) else self._bench
        return bench.measure(self._originals[variant.name.removesuffix(AGAIN)], turn, stop)

    def facts(self) -> dict[str, float | str]:
        """Empty, because the facts are about variants that were not measured."""
        return {}

    def notes(self) -> tuple[str, ...]:
        """The notes of the bench."""
        return self._bench.notes()


class Count(NamedTuple):
    """The results of runs of one probe.

    `claiming` and `uneven` count runs, by the first metric and by its variation.
    """

    runs: int
    blocks: int
    valid: int
    void: int
    claiming: int
    uneven: int
    found: int
    detectable: float

    def line(self, name: str) -> str:
        """The counts as one line."""
        share = self.valid / max(1, self.blocks)
        parts = (
            f"{name:<22} {self.runs} runs",
            f"{share:.1%} of {self.blocks} blocks valid",
            f"{self.void} runs without a result",
            f"claimed: {self.claiming}",
            f"claimed of variation: {self.uneven}",
            f"detectable {self.detectable:.1%}, found {self.found}" if self.detectable < LARGEST else "noise unknown",
        )
        return "; ".join(parts)


def main() -> int:
    """Run the requested probes, with a line for each."""
    asked = _arguments()
    if asked.read:
        return _count_saved(asked.read, asked.shuffle)
    names = asked.probes or [probe.name for probe in load_all() if probe.kind == "server"]
    print(f"{asked.server}, {asked.runs} runs of {asked.time or 'the default time'} each", flush=True)
    for name in names:
        try:
            results = [_measure_run(name, asked, seed) for seed in range(asked.seed, asked.seed + asked.runs)]
        except ProbeError as error:
            print(f"{name:<22} {error}", flush=True)
            continue
        print(count_claims(results).line(name), flush=True)
    return 0


def _count_saved(folder: str, times: int) -> int:
    """Print a line for each probe and server with results in the folder, and one for their shuffled copies."""
    runs: dict[str, list[ProbeResult]] = {}
    for name in sorted(os.listdir(folder)):
        result = read_result(os.path.join(folder, name))
        runs.setdefault(f"{result.probe} {result.server}", []).append(result)
    for name, results in runs.items():
        print(count_claims(results).line(name))
        if times:
            draws = random.Random(name)  # noqa: S311 - a simulation, no secret
            copies = [shuffle(result, draws) for result in results for _ in range(times)]
            print(f"{'':<22} {claiming_share(copies):.1%} of {len(copies)} shuffled copies claim a difference")
    return 0


def shuffle(result: ProbeResult, draws: random.Random) -> ProbeResult:
    """The result with the blocks of each group's variants exchanged at random within every round."""
    arms = []
    for group in dict.fromkeys(arm.group for arm in result.arms):
        members = [arm for arm in result.arms if arm.group == group]
        rounds = [draws.sample(blocks, len(blocks)) for blocks in zip(*(a.blocks for a in members), strict=True)]
        arms += [replace(arm, blocks=tuple(blocks[i] for blocks in rounds)) for i, arm in enumerate(members)]
    return replace(result, arms=tuple(arms))


def claiming_share(results: Sequence[ProbeResult]) -> float:
    """The share of results in which some difference is claimed; those without a result claim none."""
    claims = [not result.is_void and _claims(conclude(result).comparisons) for result in results]
    return sum(claims) / max(1, len(claims))


def _claims(comparisons: Sequence[VariantComparison]) -> bool:
    return any(comparison.claim != "none" for comparison in comparisons)


def _arguments() -> argparse.Namespace:
    form = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(prog="alike", description=__doc__, formatter_class=form)
    parser.add_argument("probes", nargs="*", metavar="PROBE", help="default: all probes of servers")
    source = parser.add_mutually_exclusive_group(required=True)
    source.add_argument("--server", help="a provisioned server, such as mysql-8.0")
    source.add_argument("--read", metavar="FOLDER", help="count the runs that --keep saved there")
    parser.add_argument("--shuffle", type=int, default=0, metavar="N", help="with --read: N shuffled copies of each")
    parser.add_argument("--beside", help="the other server of probes that compare two (range-scan)")
    parser.add_argument("--runs", type=int, default=10)
    parser.add_argument("--time", help="of each run, such as 60s (default: each probe's own)")
    parser.add_argument("--seed", type=int, default=1, help="of the first run")
    parser.add_argument("--option", action="append", default=[], metavar="NAME=VALUE", help="a choice of the probes")
    parser.add_argument("--force", action="append", default=[], metavar="REFUSAL")
    parser.add_argument("--keep", metavar="FOLDER", help="write each result there as JSON")
    return parser.parse_args()


def _measure_run(name: str, asked: argparse.Namespace, seed: int) -> ProbeResult:
    probe = load(name)
    with tempfile.TemporaryDirectory(prefix="alike-") as base:
        place, other = (os.path.join(base, part) for part in ("first", "second"))
        os.mkdir(place)
        os.mkdir(other)
        binaries = _binaries(asked, base)
        ground = Environment(read_host(open_root("/"), datadir=place), "here", tuple(binaries), report=lambda _: None)
        wanted = ProbeRequest(
            place,
            parse_duration(asked.time) if asked.time else None,
            choices=_choices(probe, binaries, other) | dict(option.split("=", 1) for option in asked.option),
            force=frozenset(asked.force),
            seed=seed,
        )
        result = run_experiment(probe if name in OWN_SERVERS else Alike(probe), ground, wanted, StopSignal())
    if asked.keep:
        os.makedirs(asked.keep, exist_ok=True)
        file = os.path.join(asked.keep, f"{name}-{asked.server}-{seed}-{int(time.time())}.json")
        with open(file, "w", encoding="ascii") as text:
            text.write(result_json(result))
    print(f"{name} {seed}: {conclude(result).sentences[0]}", file=sys.stderr, flush=True)
    return result


def _binaries(asked: argparse.Namespace, folder: str) -> list[Binary]:
    """The requested servers; one that is requested twice has another name the second time."""
    first = provisioned(asked.server)
    if not asked.beside:
        return [first]
    if asked.beside != asked.server:
        return [first, provisioned(asked.beside)]
    program = os.path.join(folder, "again")
    with open(program, "w", encoding="utf-8") as script:  # a link would not do: some programs look beside themselves
        script.write(f'#!/bin/sh\nexec {shlex.quote(first.program)} "$@"\n')
    os.chmod(program, 0o700)
    return [first, dataclasses.replace(first, name=first.name + AGAIN.replace(", ", "-"), program=program)]


def _choices(probe: Experiment, binaries: Sequence[Binary], other: str) -> dict[str, str]:
    """The options that a probe requires."""
    given = {
        "set": CHANGE,
        "against": other,
        "servers": ",".join(binary.name for binary in binaries),
        "server": binaries[0].name,
    }
    return {choice.name: given[choice.name] for choice in probe.choices if choice.name in given}


def count_claims(results: Sequence[ProbeResult]) -> Count:
    """Count valid blocks and claims of runs."""
    blocks = [block for result in results for arm in result.arms for block in arm.blocks]
    conclusions = [conclude(result) for result in results if not result.is_void]
    sizes = [c.detectable for conclusion in conclusions for c in conclusion.comparisons]
    detectable = statistics.median(sizes) if sizes else float("inf")
    return Count(
        runs=len(results),
        blocks=len(blocks),
        valid=sum(not block.invalid for block in blocks),
        void=len(results) - len(conclusions),
        claiming=sum(_claims(conclusion.comparisons) for conclusion in conclusions),
        uneven=sum(_claims(conclusion.varied) for conclusion in conclusions),
        found=sum(_finds(result, 1 + detectable) for result in results if not result.is_void),
        detectable=detectable,
    )


def _finds(result: ProbeResult, times: float) -> bool:
    """Whether the run finds that its first copy has that many times as much of the first metric."""
    comparisons, metric = conclude(result).comparisons, result.metrics[0].name
    if not comparisons or not math.isfinite(times):
        return False
    name, arms = comparisons[0].arm, []
    for arm in result.arms:
        blocks = arm.blocks
        if arm.name == name:
            blocks = tuple(
                replace(b, metrics=b.metrics | {metric: b.metrics[metric] * times}) for b in blocks if not b.invalid
            )
        arms.append(replace(arm, blocks=blocks))
    found = conclude(replace(result, arms=tuple(arms))).of(name)
    return found is not None and found.claim == "more"


if __name__ == "__main__":
    sys.exit(main())
