"""The size of the buffer pool: small ones are full, read and evict; one that holds all data reads nothing."""

from __future__ import annotations

from pathlib import Path

import pytest
from probe_environment import ground_of, prepared

from probes.experiment import ProbeError, ProbeRequest, Turn, Variant
from probes.registry import load
from probes.sandbox import Binary
from probes.server_probes.buffer_pool_instances import EVICTED_PAGES
from probes.server_probes.mechanism import PAGES_READ, BlockActivity, check_preconditions
from probes.server_probes.pool_size import FREE_PAGES, LRU_DEPTH, preconditions
from probes.stop import StopSignal

SMALL = {"sizes": "16M,128M", "data": "32M", "access": "uniform", "threads": "2", "driver": "mycnf"}


@pytest.mark.servers("mysql-8.0", "mariadb-11.8", whole="mysql-5.7 mysql-9.7 mariadb-10.11")
def test_a_small_pool_reads_and_a_large_one_does_not(binary: Binary, templates: Path, tmp_path: Path) -> None:
    """Each size is in force and does what it should; a block that runs with the other size is invalid."""
    ground, experiment = ground_of(templates, tmp_path, binary), load("pool-size")
    plan = experiment.plan(ground, ProbeRequest(str(tmp_path), choices=SMALL))
    with prepared(experiment, ground, tmp_path, StopSignal(), **SMALL) as (bench, _):
        served = bench.server  # type: ignore[attr-defined]
        small, large = (bench.measure(v, Turn(1, 1, 1, n), StopSignal()) for n, v in enumerate(plan.variants))
        change = served.apply_settings
        served.apply_settings = lambda _settings: False
        kept_large = bench.measure(plan.variants[0], Turn(2, 1, 2, 20), StopSignal())
        change(plan.variants[0].settings)
        kept_small = bench.measure(plan.variants[1], Turn(2, 1, 2, 30), StopSignal())
    assert (small.invalid, large.invalid) == ("", "")
    assert small.metrics["misses"] > 1 > large.metrics["misses"]
    assert kept_large.invalid.startswith(PAGES_READ)
    assert kept_small.invalid.startswith(PAGES_READ)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("grown", "after", "reason"),
    [
        ({}, {}, ""),
        ({"Innodb_buffer_pool_reads": 0}, {}, PAGES_READ),
        ({}, {"Innodb_buffer_pool_pages_free": 900}, FREE_PAGES),
        ({"Innodb_buffer_pool_pages_data": 5000}, {}, EVICTED_PAGES),
    ],
)  # fmt: skip
def test_a_small_pool_that_is_not_full_is_invalid(grown: dict[str, int], after: dict[str, int], reason: str) -> None:
    """It reads, has few free pages, and evicts as many pages as it reads; else the block says what is missing."""
    reading = {
        "Innodb_buffer_pool_reads": 5000,
        "Innodb_pages_read": 5000,
        "Innodb_pages_created": 0,
        "Innodb_buffer_pool_pages_data": 0,
    }
    seen = BlockActivity(10.0, 1000, 0, 4, reading | grown, {"Innodb_buffer_pool_pages_free": 100} | after)
    small = Variant("small", {LRU_DEPTH: "100"}, float(32 << 20))
    assert check_preconditions(preconditions(200 << 20), small, seen).invalid.startswith(reason)
    assert bool(check_preconditions(preconditions(200 << 20), small, seen).invalid) == bool(reason)


def test_a_pool_of_about_the_size_of_the_data_may_read_or_not() -> None:
    """The server's own tables and the ends of files decide that; one that is clearly larger must not read."""
    seen = BlockActivity(10.0, 1000, 0, 4, {"Innodb_buffer_pool_reads": 5000}, {})
    about, larger = (Variant("", {LRU_DEPTH: "100"}, float(size << 20)) for size in (205, 256))
    assert not check_preconditions(preconditions(200 << 20), about, seen).invalid
    assert check_preconditions(preconditions(200 << 20), larger, seen).invalid.startswith(PAGES_READ)


@pytest.mark.servers("mysql-8.0")
def test_pools_that_all_hold_the_data_are_refused(binary: Binary, tmp_path: Path) -> None:
    """The message names a size that would do."""
    with pytest.raises(ProbeError, match="choose a size below"):
        load("pool-size").plan(ground_of(tmp_path, tmp_path, binary), ProbeRequest("/", choices={"sizes": "256M"}))


@pytest.mark.servers("mysql-8.0")
def test_each_kind_of_access_has_its_own_curve(binary: Binary, tmp_path: Path) -> None:
    """Sizes are compared within equal access, and each keeps the same share of its pages free."""
    wanted = ProbeRequest("/", choices={"sizes": "32M,128M"})
    plan = load("pool-size").plan(ground_of(tmp_path, tmp_path, binary), wanted)
    assert [variant.group for variant in plan.variants] == ["pareto", "pareto", "uniform", "uniform"]
    assert [variant.settings[LRU_DEPTH] for variant in plan.variants[:2]] == ["100", "256"]
