"""A run whose blocks did not do what they measure prints no number, in any format, and says why."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

import pytest

from advisor.core.errors import MycnfError
from advisor.facts.host import Host
from advisor.facts.probes import Metric, ProbeResult
from advisor.report.output import Paper
from advisor.report.probe.result import render
from probes.conclusion import conclude
from probes.experiment import BlockMeasurement, Choice, Cost, Environment, ProbeRequest, RunPlan, Turn, Variant
from probes.rounds import run_experiment
from probes.stop import StopSignal

WHY = "pages read from disk/transaction 0, required at least 1"
GROUPS = {"": ("a", "b"), "grouped": ("1, a", "1, b", "8, a", "8, b")}
FORCED = frozenset({"busy", "little", "full", "neighbour"})


@dataclass
class Checked:
    """An experiment whose blocks of these variants and rounds are invalid; all others measure 4,711 and some more."""

    invalid: frozenset[tuple[str, int]]
    names: tuple[str, ...]
    now: float = 0.0
    facts_asked: list[str] = field(default_factory=list)

    name = title = question = "checked"
    kind = "server"
    evidence: tuple[str, ...] = ()
    choices: tuple[Choice, ...] = ()

    def plan(self, _ground: Environment, _wanted: ProbeRequest) -> RunPlan:
        """Ten rounds; what stands before a comma is the group."""
        variants = tuple(
            Variant(name, {}, group=name.partition(", ")[0] if ", " in name else "") for name in self.names
        )
        metrics = (Metric("tps", "transactions/s"), Metric("p95", "ms", "less"))
        return RunPlan(variants, self.names[0], metrics, Cost(0, 0, 0.0, ()), 100.0, 10)

    @contextmanager
    def prepare(
        self, _ground: Environment, _wanted: ProbeRequest, _plan: RunPlan, _stop: StopSignal
    ) -> Iterator[Checked]:
        """Itself."""
        yield self

    def measure(self, variant: Variant, turn: Turn, _stop: StopSignal) -> BlockMeasurement:
        """A block as it is checked by counters: an invalid one may carry figures all the same."""
        self.now += turn.seconds
        value = 4711.0 + turn.round
        why = WHY if (variant.name, turn.round) in self.invalid else ""
        return BlockMeasurement(
            {"tps": value, "p95": value}, {"tps": (value,)}, {"pages read from disk/transaction": 0.0}, why
        )

    def facts(self) -> dict[str, float | str]:
        """A finding based on the blocks."""
        return {"answer": "4,712 transactions/s were reached.", "most": 4712.0}

    def notes(self) -> tuple[str, ...]:
        """Nothing."""
        return ()


def ran(names: tuple[str, ...], *invalid: tuple[str, int]) -> ProbeResult:
    """Ten rounds with these blocks invalid."""
    checked = Checked(frozenset(invalid), names)
    return run_experiment(
        checked,
        Environment(Host(), "here"),
        ProbeRequest("/", rounds=10, force=FORCED),
        StopSignal(),
        clock=lambda: checked.now,
    )


@pytest.mark.parametrize("names", GROUPS.values(), ids=["plain", "grouped"])
@pytest.mark.parametrize("form", ["text", "markdown", "json"])
def test_too_many_invalid_blocks_leave_no_number(names: tuple[str, ...], form: str) -> None:
    """All blocks of one variant, or more than one in twenty: the reason is printed, and no figure that was measured."""
    count = len(names)
    for invalid in ({(names[-1], n) for n in range(1, 11)}, {(names[n % count], n) for n in range(1, 2 + count)}):
        result = ran(names, *invalid)
        assert result.is_void
        assert result.facts == {}
        assert all(not block.metrics and not block.series for arm in result.arms for block in arm.blocks)
        assert conclude(result).verdict == "unknown"
        assert conclude(result).comparisons == ()
        page = " ".join(render(result, form, Paper(80)).split())
        assert f"No result: {len(invalid)} of {10 * count} blocks are invalid" in page
        assert WHY in page
        assert not any(number in page for number in ("4711", "4712", "4,71", "471", "transactions/s were"))
    with pytest.raises(MycnfError):
        render(result, "svg", Paper(80))


def test_what_all_groups_say_alike_is_said_once() -> None:
    """One round is conclusive for no group."""
    checked = Checked(frozenset(), GROUPS["grouped"])
    wish = ProbeRequest("/", rounds=1, force=FORCED)
    found = conclude(
        run_experiment(checked, Environment(Host(), "here"), wish, StopSignal(), clock=lambda: checked.now)
    ).sentences[0]
    assert found.count("Only one round finished") == 1
    assert found.startswith("Only one round")


def test_a_single_invalid_block_is_left_out_and_named() -> None:
    """The run has its result from the others, and the report says which block is missing and why."""
    result = ran(("a", "b"), ("b", 3))
    assert not result.is_void
    blocks = {arm.name: [block.metrics for block in arm.blocks] for arm in result.arms}
    assert blocks["b"][2] == {}
    assert all(metrics for name, row in blocks.items() for n, metrics in enumerate(row) if (name, n) != ("b", 2))
    assert f"b: the block of round 3 is invalid and excluded: {WHY}." in conclude(result).limits
