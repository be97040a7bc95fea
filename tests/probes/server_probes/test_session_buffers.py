"""Sort, join and temporary-table buffers: exceeded where they are small, sufficient where large, by counters."""

from __future__ import annotations

from pathlib import Path

import pytest
from probe_environment import ground_of, prepared

from advisor.catalog.targets import parse_target
from probes.experiment import ProbeError, ProbeRequest, Turn
from probes.registry import load
from probes.sandbox import Binary
from probes.server_probes.session_buffers import KINDS, SORT, SPILLED_NAME, TABLE
from probes.stop import StopSignal

SMALL = {"rows": "5000", "sizes": "64K,4M", "threads": "2", "driver": "mycnf"}


@pytest.mark.servers("mysql-9.7", "mariadb-11.8", whole="mysql-5.7 mysql-8.0 mariadb-10.11")
@pytest.mark.parametrize("buffer", KINDS)
def test_small_buffers_are_exceeded_and_large_ones_suffice(
    buffer: str, binary: Binary, templates: Path, tmp_path: Path
) -> None:
    """Each size is in force and does what it should; a block that runs with the other size is invalid."""
    ground, experiment = ground_of(templates, tmp_path, binary), load("session-buffers")
    choices = {**SMALL, "buffer": buffer}
    if buffer == TABLE and binary.name == "mysql-8.0":
        pytest.skip("tmp_table_size limits no table of 8.0.15")
    plan = experiment.plan(ground, ProbeRequest(str(tmp_path), choices=choices))
    with prepared(experiment, ground, tmp_path, StopSignal(), **choices) as (bench, _):
        served = bench.server  # type: ignore[attr-defined]
        small, large = (bench.measure(v, Turn(1, 1, 1, n), StopSignal()) for n, v in enumerate(plan.variants))
        served.apply_settings = lambda _settings: False
        kept_large = bench.measure(plan.variants[0], Turn(2, 1, 2, 20), StopSignal())
        for name, value in plan.variants[0].settings.items():
            served.query(f"SET GLOBAL {name} = {value}")
        kept_small = bench.measure(plan.variants[1], Turn(2, 1, 2, 30), StopSignal())
    assert (small.invalid, large.invalid) == ("", "")
    assert small.metrics[SPILLED_NAME] > large.metrics[SPILLED_NAME]
    metric = plan.metrics[-1].unit
    assert kept_large.invalid.startswith(metric)
    assert kept_small.invalid.startswith(metric)
    assert list(tmp_path.iterdir()) == []


def test_a_variant_for_each_size_rows_and_sessions(tmp_path: Path) -> None:
    """Sizes are compared within equal rows and sessions; MariaDB's and 5.7's second limits go with them."""
    binary = Binary("mariadb-10.11", "/nowhere/server", parse_target("mariadb-10.11"), "10.11.9")
    choices = {"buffer": TABLE, "sizes": "1M,16M", "rows": "100,1000", "threads": "1,4"}
    plan = load("session-buffers").plan(
        ground_of(tmp_path, tmp_path, binary), ProbeRequest(str(tmp_path), choices=choices)
    )
    assert len(plan.variants) == 8
    assert [v.group for v in plan.variants[::2]] == [
        "100 rows, 1 session",
        "100 rows, 4 sessions",
        "1000 rows, 1 session",
        "1000 rows, 4 sessions",
    ]
    assert plan.variants[0].settings == {"tmp_table_size": "1048576", "max_heap_table_size": "1048576"}


@pytest.mark.servers("mysql-8.0")
def test_a_server_whose_option_limits_no_table_is_refused(binary: Binary, tmp_path: Path) -> None:
    """MySQL 8.0.15 is one."""
    ground = ground_of(tmp_path, tmp_path, binary)
    with pytest.raises(ProbeError, match=r"before 8\.0\.28"):
        load("session-buffers").plan(ground, ProbeRequest(str(tmp_path), choices={**SMALL, "buffer": TABLE}))


@pytest.mark.servers("mysql-8.0")
def test_another_buffer_is_refused(binary: Binary, tmp_path: Path) -> None:
    """The message names the three that there are."""
    ground = ground_of(tmp_path, tmp_path, binary)
    with pytest.raises(ProbeError, match=SORT):
        load("session-buffers").plan(ground, ProbeRequest(str(tmp_path), choices={"buffer": "key_buffer_size"}))
