"""Allocators: loaded into the server's process and into none that should not have them, or refused by name."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from probe_environment import ground_of, prepared

from probes.experiment import ProbeError, ProbeRequest, Turn, Variant
from probes.registry import load
from probes.sandbox import Binary
from probes.server_probes import malloc
from probes.server_probes.malloc import (
    ALLOCATOR_USED,
    ARENA_MAX,
    GLIBC,
    LIBRARIES,
    PRECONDITIONS,
    PRELOAD,
    SPANS,
    MallocBench,
    allocator_variables,
    linked_allocator,
    uses_allocator,
)
from probes.server_probes.mechanism import BlockActivity, check_preconditions
from probes.stop import StopSignal

SMALL = {"threads": "4", "driver": "mycnf"}
TCMALLOC = "mysql-9.7"  # Debian's is linked with it
installed = pytest.mark.skipif(
    not all(
        any(os.path.exists(f"{folder}/{name}") for folder in malloc.library_folders() for name in library.files)
        for library in LIBRARIES.values()
    ),
    reason="libjemalloc2 or libtcmalloc-minimal4 is not installed",
)


@installed
@pytest.mark.servers("mysql-9.7", "mariadb-10.11", whole="mysql-5.7 mysql-8.0 mariadb-11.8")
def test_each_block_runs_with_its_allocator(binary: Binary, templates: Path, tmp_path: Path) -> None:
    """A new process with the library mapped for each block; a process without it makes the block invalid."""
    ground, malloc = ground_of(templates, tmp_path, binary), load("malloc")
    plan = malloc.plan(ground, ProbeRequest(str(tmp_path), choices=SMALL))
    own = "tcmalloc" if binary.name == TCMALLOC else GLIBC
    assert (linked_allocator(binary), plan.baseline) == (own, own)
    pids = []
    with prepared(malloc, ground, tmp_path, StopSignal(), **SMALL) as (bench, _):
        assert isinstance(bench, MallocBench)
        blocks = {}
        for place, variant in enumerate(plan.variants):
            blocks[variant.name] = bench.measure(variant, Turn(1, 1, 1, place), StopSignal())
            pids.append(bench.server.sandbox.pid)
            assert uses_allocator(pids[-1], variant.settings, own)
        bench.server.restart_with = lambda variables: None  # type: ignore[method-assign]  # noqa: ARG005
        stale = bench.measure(plan.variants[0], Turn(2, 1, 2, 20), StopSignal())
    assert {name: block.invalid for name, block in blocks.items() if block.invalid} == {}
    assert len(set(pids)) == len(plan.variants)
    assert stale.invalid.startswith(ALLOCATOR_USED)
    for block in blocks.values():
        assert 0 < block.metrics["growth"] < block.metrics["resident"] <= block.metrics["peak"]
        assert block.metrics["tps"] > 0
        assert block.metrics["p99"] > 0
    assert list(tmp_path.iterdir()) == []


@installed
@pytest.mark.servers(TCMALLOC)
def test_a_server_with_an_allocator_of_its_own_has_no_glibc_to_compare(binary: Binary, tmp_path: Path) -> None:
    """By default the variants of glibc are left out, with the reason; by name they are refused."""
    ground, malloc = ground_of(tmp_path, tmp_path, binary), load("malloc")
    plan = malloc.plan(ground, ProbeRequest(str(tmp_path)))
    assert [variant.name for variant in plan.variants] == ["tcmalloc", "jemalloc"]
    assert plan.variants[0].settings == {}
    assert "linked with tcmalloc" in plan.notes[0]
    with pytest.raises(ProbeError, match="linked with tcmalloc"):
        malloc.plan(ground, ProbeRequest(str(tmp_path), choices={"allocators": "glibc,jemalloc"}))


@pytest.mark.servers("mysql-8.0")
def test_a_library_that_is_not_installed_is_named(
    binary: Binary, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One line with the file, the package and the way without it."""
    monkeypatch.setattr(malloc, "library_folders", lambda: (str(tmp_path),))
    ground = ground_of(tmp_path, tmp_path, binary)
    with pytest.raises(
        ProbeError, match=r"libjemalloc\.so\.2 is not installed: apt-get install libjemalloc2 .*"
    ) as caught:
        load("malloc").plan(ground, ProbeRequest(str(tmp_path)))
    assert "\n" not in str(caught.value)
    with pytest.raises(ProbeError, match="libtcmalloc-minimal4"):
        allocator_variables("tcmalloc", GLIBC)
    (tmp_path / "libtcmalloc_minimal.so.4").touch()
    assert allocator_variables("tcmalloc", GLIBC) == {PRELOAD: f"{tmp_path}/libtcmalloc_minimal.so.4"}
    assert (allocator_variables(GLIBC, GLIBC), allocator_variables("glibc-2-arenas", GLIBC)) == ({}, {ARENA_MAX: "2"})


@pytest.mark.parametrize(
    ("counters", "taken", "message"),
    [
        ({"Sort_scan": 300, "Created_tmp_tables": 300}, 1, ""),
        ({"Sort_range": 300, "Created_tmp_tables": 300}, 1, ""),
        ({"Sort_range": 300, "Created_tmp_tables": 300}, 0, ALLOCATOR_USED),
        ({"Sort_range": 200, "Created_tmp_tables": 300}, 1, "sorts/transaction 2"),
        ({"Sort_range": 300, "Created_tmp_tables": 200}, 1, "temporary tables/transaction 2"),
    ],
)
def test_what_makes_a_block_invalid(counters: dict[str, int], taken: int, message: str) -> None:
    """Each condition separately: the allocator, the sorts, the temporary tables."""
    assert len(SPANS) == 3
    seen = BlockActivity(1.0, 100, 0, 1, counters, {ALLOCATOR_USED: taken})
    invalid = check_preconditions(PRECONDITIONS, Variant("glibc", {}), seen).invalid
    assert invalid.startswith(message)
    assert bool(invalid) == bool(message)
