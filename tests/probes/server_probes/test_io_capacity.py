"""innodb_io_capacity: in force with its maximum, and pages flushed by what it limits."""

from __future__ import annotations

from pathlib import Path

import pytest
from probe_environment import ground_of, prepared

from probes.experiment import ProbeError, ProbeRequest, Turn, Variant
from probes.registry import load
from probes.sandbox import Binary
from probes.server_probes.io_capacity import RATE, WITHIN_RATE, preconditions
from probes.server_probes.mechanism import BlockActivity, check_preconditions
from probes.server_probes.under_load import (
    CAPACITY,
    CAPACITY_MAX,
    LIMITED_BATCHES,
    LOW_WATER,
    PAGES_DIRTY,
    PAGES_FLUSHED,
    SYNC_BATCHES,
)
from probes.stop import StopSignal

SECONDS = 60  # on a busy host the server may flush nothing for some of them
SMALL = {"pool": "32M", "redo": "16M", "threads": "4", "driver": "mycnf"}


@pytest.mark.servers("mysql-5.7", "mariadb-11.8", whole="mysql-8.0 mysql-9.7 mariadb-10.11")
def test_each_value_is_in_force_with_its_maximum(binary: Binary, templates: Path, tmp_path: Path) -> None:
    """Up and down: servers take no maximum below the value in force. Blocks flush, and say what is left to flush."""
    ground, experiment = ground_of(templates, tmp_path, binary), load("io-capacity")
    choices = {**SMALL, "values": "100,5000"}
    plan = experiment.plan(ground, ProbeRequest(str(tmp_path), choices=choices))
    few, many = plan.variants
    with prepared(experiment, ground, tmp_path, StopSignal(), **choices) as (bench, _):
        variable = bench.server.variable  # type: ignore[attr-defined]
        before = variable(LOW_WATER)
        for number, variant in enumerate((few, many, few)):
            blocks = (bench.measure(variant, Turn(1, 1, 1, number), StopSignal()) for _ in range(SECONDS))
            block = next(block for block in blocks if not block.invalid.startswith(RATE))
            assert block.invalid == ""
            assert {"tps", "p99", "worst", "dirty", "age", "flushed"} <= set(block.metrics)
            assert {option: variable(option) for option in variant.settings} == variant.settings
        assert variable(LOW_WATER) == before
        assert float(before) == 10
    assert list(tmp_path.iterdir()) == []


@pytest.mark.servers("mysql-9.7", "mariadb-11.8", whole="mysql-5.7")
def test_a_load_that_flushes_no_more_than_none_is_invalid(binary: Binary, templates: Path, tmp_path: Path) -> None:
    """The rate without a load is what a block must exceed; where all values allow more, the notes say so."""
    ground, experiment = ground_of(templates, tmp_path, binary), load("io-capacity")
    choices = {**SMALL, "redo": "512M", "lwm": "70", "values": "20000"}
    plan = experiment.plan(ground, ProbeRequest(str(tmp_path), choices=choices))
    with prepared(experiment, ground, tmp_path, StopSignal(), **choices) as (bench, _):
        bench._preconditions = preconditions(20000.0, idle=1e6)  # type: ignore[attr-defined]
        block = bench.measure(plan.variants[0], Turn(1, 1), StopSignal())
        idle, notes = bench.facts()["pages flushed a second without a load"], bench.notes()
    assert block.invalid.startswith(RATE)
    assert 0 <= float(idle) < 20000
    assert [note for note in notes if note.startswith("No value matters here")]


@pytest.mark.parametrize(
    ("grown", "reason"),
    [
        ({PAGES_FLUSHED: 5000, LIMITED_BATCHES[0]: 4000, LIMITED_BATCHES[1]: 100, SYNC_BATCHES: 0}, ""),
        ({PAGES_FLUSHED: 100, LIMITED_BATCHES[0]: 4000, LIMITED_BATCHES[1]: 100, SYNC_BATCHES: 0}, RATE),
        ({PAGES_FLUSHED: 5000, LIMITED_BATCHES[0]: 0, LIMITED_BATCHES[1]: 0, SYNC_BATCHES: 5000}, WITHIN_RATE),
    ],
)  # fmt: skip
def test_the_largest_value_must_be_used(grown: dict[str, int], reason: str) -> None:
    """A small value may leave all flushing to checkpoints; with the largest the background must have done some."""
    seen = BlockActivity(10.0, 1000, 0, 4, grown, {})
    small, large = Variant("100", {}, 100.0), Variant("10000", {}, 10000.0)
    checked = check_preconditions(preconditions(10000.0, idle=5.0), large, seen).invalid
    assert checked.startswith(reason)
    assert bool(checked) == bool(reason)
    assert bool(check_preconditions(preconditions(10000.0, idle=5.0), small, seen).invalid) == (reason == RATE)


@pytest.mark.parametrize(("start", "end", "valid"), [(16, 4000, True), (400, 400, True), (4000, 6000, False)])
def test_a_block_that_begins_with_dirty_pages_is_invalid(start: int, end: int, valid: bool) -> None:
    """What a disk could not write in time belongs to another value, and would be flushed in this block."""
    grown = {PAGES_FLUSHED: 5000, LIMITED_BATCHES[0]: 4000, LIMITED_BATCHES[1]: 100, PAGES_DIRTY: end - start}
    after = {PAGES_DIRTY: end, "Innodb_buffer_pool_pages_total": 8000}
    seen = BlockActivity(10.0, 1000, 0, 4, grown, after)
    checked = check_preconditions(preconditions(10000.0, idle=5.0), Variant("100", {}, 100.0), seen)
    assert checked.counters["dirty pages at the start, %"] == start / 80
    assert checked.invalid == ("" if valid else "dirty pages at the start, % 50, required: at most 5")


@pytest.mark.servers("mysql-5.7", "mysql-9.7", "mariadb-11.8")
def test_the_plan_names_the_maximum_and_the_low_water_mark(binary: Binary, tmp_path: Path) -> None:
    """The maximum follows each value; where the mark is not the server's default, the limits say so."""
    ground = ground_of(tmp_path, tmp_path, binary)
    plan = load("io-capacity").plan(ground, ProbeRequest("/", choices={"values": "200,400", "max": "3"}))
    assert [v.settings for v in plan.variants] == [
        {CAPACITY_MAX: "600", CAPACITY: "200"},
        {CAPACITY_MAX: "1200", CAPACITY: "400"},
    ]
    assert any(LOW_WATER in limit for limit in plan.limits) == (binary.name != "mysql-9.7")
    with pytest.raises(ProbeError, match="minimum 100"):
        load("io-capacity").plan(ground, ProbeRequest("/", choices={"values": "50"}))
