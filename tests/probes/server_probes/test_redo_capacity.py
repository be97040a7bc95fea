"""The size of the redo log: in force, written round at least once, and full where it is small."""

from __future__ import annotations

from pathlib import Path

import pytest
from probe_environment import ground_of, prepared

from probes.experiment import ProbeError, ProbeRequest, Turn, Variant
from probes.registry import load
from probes.sandbox import Binary
from probes.server_probes.mechanism import BlockActivity, check_preconditions
from probes.server_probes.redo_capacity import AGE, CAPACITY, FILE_SIZE, LSN, parse_redo_state, preconditions
from probes.stop import StopSignal

SMALL = {"pool": "32M", "threads": "4"}


@pytest.mark.servers("mysql-5.7", "mariadb-11.8", whole="mysql-8.0 mysql-9.7 mariadb-10.11")
def test_a_redo_log_that_was_not_written_round_says_nothing(binary: Binary, templates: Path, tmp_path: Path) -> None:
    """Each variant runs with its size; a block that writes less than a whole log is invalid and says how much."""
    ground, experiment = ground_of(templates, tmp_path, binary), load("redo-capacity")
    choices = {**SMALL, "sizes": "16M,512M"}
    plan = experiment.plan(ground, ProbeRequest(str(tmp_path), choices=choices))
    with prepared(experiment, ground, tmp_path, StopSignal(), **choices) as (bench, _):
        for variant in plan.variants:
            block = bench.measure(variant, Turn(1, 1), StopSignal())
            for option, value in variant.settings.items():
                assert bench.server.variable(option) == value  # type: ignore[attr-defined]
            assert 0 < block.counters["redo written/capacity"] < 1
            assert block.invalid.startswith("redo written/capacity")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.servers("mysql-9.7", "mariadb-11.8", whole="mysql-5.7")
def test_a_small_redo_log_fills_up(binary: Binary, templates: Path, tmp_path: Path) -> None:
    """Enough writes go round the log and keep it filled: the block counts, with how even it was."""
    ground, experiment = ground_of(templates, tmp_path, binary), load("redo-capacity")
    choices = {**SMALL, "sizes": "16M", "threads": "8"}
    plan = experiment.plan(ground, ProbeRequest(str(tmp_path), choices=choices))
    with prepared(experiment, ground, tmp_path, StopSignal(), **choices) as (bench, _):
        # How long it takes is the host's to say: each block lasts twice as long as the one before.
        for seconds in (2, 4, 8, 16, 32, 64, 128, 256):
            block = bench.measure(plan.variants[0], Turn(1, seconds), StopSignal())
            if not block.invalid:
                break
    assert not block.invalid
    assert block.counters["redo written/capacity"] > 1
    assert {"p99", "worst", "tps", "variation", "stalled"} <= set(block.metrics)
    assert block.metrics["worst"] == max(block.series["p99"]) > 0


def test_a_smallest_log_that_stays_empty_is_invalid() -> None:
    """Flushing that keeps up with the load shows no stall; larger logs may be as empty as they like."""
    seen = BlockActivity(10.0, 1000, 0, 4, {LSN: 2 << 30}, {AGE: 1 << 20, CAPACITY: 1 << 30})
    small, large = Variant("small", {}, 1.0), Variant("large", {}, 2.0)
    assert check_preconditions(preconditions(1.0), small, seen).invalid.startswith("checkpoint age/capacity 0.000977")
    assert not check_preconditions(preconditions(1.0), large, seen).invalid


@pytest.mark.servers("mysql-5.7", "mariadb-11.8")
def test_sizes_are_of_the_whole_log(binary: Binary, templates: Path, tmp_path: Path) -> None:
    """Two files of MySQL 5.7 share the size, MariaDB has one; less than the servers take is refused."""
    ground, experiment = ground_of(templates, tmp_path, binary), load("redo-capacity")
    plan = experiment.plan(ground, ProbeRequest(str(tmp_path), choices={"sizes": "64M"}))
    assert plan.variants[0].settings == {FILE_SIZE: str((64 << 20) // (2 if binary.target.is_mysql else 1))}
    with pytest.raises(ProbeError, match="minimum 16M"):
        experiment.plan(ground, ProbeRequest(str(tmp_path), choices={"sizes": "1M"}))


def test_the_checkpoint_age_is_read_from_innodb_status() -> None:
    """The newest sequence number less that of the checkpoint; nothing where InnoDB says nothing."""
    redo = parse_redo_state(
        "---\nLOG\n---\nLog sequence number          900\nLog flushed up to 890\nLast checkpoint at  400\n"
    )
    assert redo is not None
    assert (redo.newest, redo.age) == (900, 500)
    assert parse_redo_state("") is None
