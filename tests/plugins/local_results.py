"""Saved probe results of a host, whose blocks are drawn by a simulated run through the production code."""

from __future__ import annotations

from typing import NamedTuple

from msgspec.structs import replace
from rule_cases import Case, facts_of
from simulated_experiment import METRIC, Noise, Simulated, simulate

from advisor.analysis import RuleRun, run_rules
from advisor.analysis.context import build_context
from advisor.catalog.targets import parse_target
from advisor.facts.probes import Arm, Block, Metric, ProbeResult, RunPlace
from rules import all_rules

CALM = Noise(spread=0.005, seconds=0.01, stalls=0, drift=0)
LOUD = Noise(spread=0.3, seconds=0.3, stalls=0, drift=0)
BEYOND = Metric("beyond_cache", "s/scan", "less")
TPS = Metric("tps", "transactions/s", "more")
DISK = {"kernel_name": "sda", "transport": "sata", "rotational": True}
HOST = {"disks": [DISK], "fs_type": "ext4"}
PLACE = RunPlace("here", file_system="ext4", device="sda")
BEGAN = "2026-11-20T04:00:00Z"


class Variant(NamedTuple):
    """A variant: its settings, its true ratio to the first one, and its point on the axis."""

    name: str
    settings: dict[str, str]
    effect: float = 1.0
    point: float | None = None


def measured(
    probe: str, metric: Metric, variants: list[Variant], *, noise: Noise = CALM, rounds: int = 7, **more: object
) -> ProbeResult:
    """A result with these true effects and this noise."""
    effects = {place: variant.effect for place, variant in enumerate(variants)}
    ran = simulate(Simulated(noise, 7, len(variants), rounds, effects=effects))
    arms = tuple(
        Arm(v.name, v.settings, tuple(_named(block, metric) for block in arm.blocks), v.point)
        for v, arm in zip(variants, ran.arms, strict=True)
    )
    made = replace(
        ran, probe=probe, metrics=(metric,), arms=arms, baseline=variants[0].name, began_at=BEGAN, place=PLACE
    )
    return replace(made, **more)


def _named(block: Block, metric: Metric) -> Block:
    return replace(block, metrics={metric.name: block.metrics[METRIC.name]}, series={})


def scans(effects: dict[str, float], server: str | None = "mariadb-10.11.19", **more: object) -> ProbeResult:
    """A read-buffer result: the scan time with each size divided by that with the first."""
    sizes = {"16K": 1 << 14, "128K": 1 << 17, "2M": 1 << 21, "8M": 1 << 23}
    variants = [
        Variant(name, {"read_buffer_size": str(sizes[name])}, effect, float(sizes[name]))
        for name, effect in effects.items()
    ]
    return measured("read-buffer", BEYOND, variants, server=server, axis="read_buffer_size", **more)  # type: ignore[arg-type]


def host_result(probe: str, facts: dict[str, float | str], **more: object) -> ProbeResult:
    """A result of a host probe with these facts."""
    return measured(probe, Metric("rate", "1/s"), [Variant("a", {}), Variant("b", {})], facts=facts, **more)  # type: ignore[arg-type]


def audited(
    target: str, file: str, *results: ProbeResult, host: dict[str, object] | None = None, **server: object
) -> RuleRun:
    """An audit of a server with this file on such a host, with these saved results."""
    case = Case("", "", target, file=file, host=HOST if host is None else host, server=dict(server))
    facts = facts_of(case, parse_target(target))
    return run_rules(build_context(replace(facts, probes=results)), all_rules())
