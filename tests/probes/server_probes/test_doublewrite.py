"""Modes of the doublewrite buffer: in force, seen in the server's counters, and OFF never recommended."""

from __future__ import annotations

from pathlib import Path

import pytest
from probe_environment import ground_of, prepared

from advisor.catalog.targets import parse_target
from probes.experiment import ProbeError, ProbeRequest, Turn, Variant
from probes.registry import load
from probes.sandbox import Binary
from probes.server_probes.doublewrite import (
    COPIED,
    COPIED_KIB,
    COPY_BYTES,
    DETECT,
    MODES,
    OPTION,
    PRECONDITIONS,
    RATE,
    UNSAFE_LIMIT,
)
from probes.server_probes.mechanism import PAGES_READ, BlockActivity, check_preconditions
from probes.server_probes.under_load import PAGES_FLUSHED
from probes.stop import StopSignal

MODES_OF = {
    "mysql-5.7": ["ON", "OFF"],
    "mysql-8.0": ["ON", "OFF"],  # 8.0.15; DETECT_ONLY came with 8.0.30
    "mysql-9.7": ["ON", "DETECT_ONLY", "OFF"],
    "mariadb-10.11": ["ON", "OFF"],
    "mariadb-11.8": ["ON", "fast", "OFF"],
}
SMALL = {"pool": "16M", "data": "300", "threads": "2", "driver": "mycnf"}


@pytest.mark.servers("mysql-9.7", "mariadb-10.11", whole="mysql-5.7 mysql-8.0 mariadb-11.8")
def test_each_mode_writes_what_it_should(binary: Binary, templates: Path, tmp_path: Path) -> None:
    """The server counts copies of pages with every mode but OFF; a block that runs in another mode is invalid."""
    ground, experiment = ground_of(templates, tmp_path, binary), load("doublewrite")
    plan = experiment.plan(ground, ProbeRequest(str(tmp_path), choices=SMALL))
    assert [variant.name for variant in plan.variants] == MODES_OF[binary.name]
    with prepared(experiment, ground, tmp_path, StopSignal(), **SMALL) as (bench, _):
        served = bench.server  # type: ignore[attr-defined]
        for number, variant in enumerate(plan.variants):
            block = bench.measure(variant, Turn(1, 2, 1, number), StopSignal())
            assert block.invalid == ""
            assert served.variable(OPTION) == variant.settings[OPTION]
            assert bool(block.counters[COPIED]) == (variant.name != "OFF")
        served.apply_settings = lambda _settings: False
        off_instead = bench.measure(plan.variants[0], Turn(2, 2, 2, 20), StopSignal())
    assert off_instead.invalid.startswith(COPIED)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("mode", "changed", "reason"),
    [
        ("ON", {}, ""),
        ("ON", {PAGES_FLUSHED: 10}, RATE),
        ("ON", {"Innodb_buffer_pool_reads": 0}, PAGES_READ),
        ("ON", {COPY_BYTES: 1000 << 7}, COPIED_KIB),
        (DETECT, {COPY_BYTES: 1000 << 7}, ""),
        (DETECT, {}, COPIED_KIB),
        ("OFF", {}, COPIED),
        ("OFF", {"Innodb_dblwr_pages_written": 0, COPY_BYTES: 0}, ""),
    ],
)  # fmt: skip
def test_a_block_that_does_otherwise_is_invalid(mode: str, changed: dict[str, int], reason: str) -> None:
    """Few pages flushed, data that were cached, or copies that don't fit the mode: each says what it was."""
    grown = {
        PAGES_FLUSHED: 1000,
        "Innodb_dblwr_pages_written": 1000,
        "Innodb_buffer_pool_reads": 1000,
        COPY_BYTES: 1000 << 14,
    }
    seen = BlockActivity(10.0, 1000, 0, 4, grown | changed, {})
    invalid = check_preconditions(PRECONDITIONS, Variant(mode, {OPTION: mode}), seen).invalid
    assert invalid.startswith(reason)
    assert bool(invalid) == bool(reason)


@pytest.mark.parametrize(
    ("target", "there"),
    [
        ("mysql-8.0.29", ["ON", "OFF"]),
        ("mysql-8.0.30", ["ON", "DETECT_ONLY", "OFF"]),
        ("mysql-8.4", ["ON", "DETECT_ONLY", "OFF"]),
        ("mariadb-11.4", ["ON", "fast", "OFF"]),
    ],
)  # fmt: skip
def test_modes_are_those_of_the_version(target: str, there: list[str], tmp_path: Path) -> None:
    """All by default; one that the server lacks is refused with those that it has."""
    binary = Binary(target, "/nowhere/server", parse_target(target), "1")
    ground, experiment = ground_of(tmp_path, tmp_path, binary), load("doublewrite")
    plan = experiment.plan(ground, ProbeRequest("/"))
    assert [variant.name for variant in plan.variants] == there
    assert UNSAFE_LIMIT in plan.limits
    for missing in set(MODES) - set(there):
        with pytest.raises(ProbeError, match=f"use {', '.join(there)}"):
            experiment.plan(ground, ProbeRequest("/", choices={"modes": f"ON,{missing}"}))
    with pytest.raises(ProbeError, match="150 percent"):
        experiment.plan(ground, ProbeRequest("/", choices={"data": "100"}))
