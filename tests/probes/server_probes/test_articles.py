"""The experiments of the founding articles on pool instances, read-ahead, file systems and ranges, on real servers."""

from __future__ import annotations

import math
import os
from pathlib import Path

import pytest
from probe_environment import children, ground_of, prepared
from real_servers import Binaries

from probes.experiment import ProbeError, ProbeRequest, Turn
from probes.registry import load
from probes.sandbox import Binary
from probes.server_probes.buffer_pool_instances import LEAST_DEPTH, LIMITS, SHORT_RUN, _variant, evenness_metrics
from probes.server_probes.range_scan import gains_over_control
from probes.stop import StopSignal


@pytest.mark.servers("mysql-9.7")
def test_pool_instances_are_in_force_while_they_are_measured(binary: Binary, templates: Path, tmp_path: Path) -> None:
    """Each variant runs with its number of instances, and reports how even its seconds were."""
    ground, experiment = ground_of(templates, tmp_path, binary), load("buffer-pool-instances")
    choices = {"data": "1", "instances": "1,4", "threads": "2", "driver": "mycnf"}
    plan = experiment.plan(ground, ProbeRequest(str(tmp_path), choices=choices))
    with prepared(experiment, ground, tmp_path, StopSignal(), **choices) as (bench, _):
        for variant in plan.variants:
            metrics = bench.measure(variant, Turn(1, 1), StopSignal()).metrics
            assert {"variation", "stalled", "tps", "p95"} <= set(metrics)
            assert bench.server.variable("innodb_buffer_pool_instances") == variant.name  # type: ignore[attr-defined]
        assert not bench.facts()
    assert list(tmp_path.iterdir()) == []


@pytest.mark.servers("mysql-8.0", "mariadb-11.4")
def test_pool_instances_are_refused_where_they_can_not_be(binary: Binary, templates: Path, tmp_path: Path) -> None:
    """A pool below 1G has one instance, and MariaDB none to choose; short runs say what they can't show."""
    ground, experiment = ground_of(templates, tmp_path, binary), load("buffer-pool-instances")
    small = ProbeRequest(str(tmp_path), choices={"pool": "512M"})
    with pytest.raises(ProbeError, match="ignores the option" if binary.target.is_mariadb else "smaller pools"):
        experiment.plan(ground, small)
    if binary.target.is_mysql:
        assert SHORT_RUN in experiment.plan(ground, ProbeRequest(str(tmp_path))).limits
        assert experiment.plan(ground, ProbeRequest(str(tmp_path), seconds=4 * 3600.0)).limits == LIMITS[1:]


def test_all_numbers_of_instances_keep_as_many_pages_free() -> None:
    """innodb_lru_scan_depth is per instance: 64 instances with that of one kept three quarters of the pool free."""
    kept = {count: int(_variant(count, 64).settings["innodb_lru_scan_depth"]) * count for count in (1, 8, 64)}
    assert set(kept.values()) == {LEAST_DEPTH * 64}


@pytest.mark.parametrize(
    ("tps", "variation", "stalled"),
    [
        ((100.0,) * 10, 0.0, 0.0),
        ((100.0,) * 9 + (5.0,), 31.5, 10.0),
        ((0.0, 0.0), 0.0, 0.0),
        ((50.0, 150.0), 50.0, 0.0),
    ],
)
def test_evenness_of_seconds(tps: tuple[float, ...], variation: float, stalled: float) -> None:
    """The standard deviation in percent of the mean, and the seconds below a tenth of the usual one."""
    found = evenness_metrics(tps)
    assert found["variation"] == pytest.approx(variation, abs=0.1)
    assert found["stalled"] == pytest.approx(stalled)


@pytest.mark.servers("mariadb-10.11")
def test_two_file_systems_each_have_a_server(binary: Binary, templates: Path, tmp_path: Path) -> None:
    """Both directories are measured, and nothing stays in either; one file system twice is called a control.

    A server runs only during its own blocks: of two equal servers, one can be faster for a whole run.
    """
    ground, experiment = ground_of(templates, tmp_path, binary), load("file-system")
    first, second = tmp_path / "first", tmp_path / "second"
    first.mkdir()
    second.mkdir()
    choices = {"against": str(second), "pool": "16M", "data": "300", "threads": "2", "driver": "mycnf"}
    plan = experiment.plan(ground, ProbeRequest(str(first), choices=choices))
    assert [variant.name for variant in plan.variants] == [str(first), str(second)]
    assert "control" in plan.notes[0]
    with prepared(experiment, ground, first, StopSignal(), **choices) as (bench, _):
        assert list(first.iterdir())
        assert list(second.iterdir())
        for variant in plan.variants:
            block = bench.measure(variant, Turn(1, 1), StopSignal())
            assert block.metrics["tps"] > 0
            assert not block.invalid
            assert not [words for words in children().values() if str(tmp_path) in words]
    assert [*first.iterdir(), *second.iterdir()] == []


@pytest.mark.servers("mysql-8.0")
@pytest.mark.parametrize(
    ("against", "message"), [("", "no second directory"), ("/none", "is not a directory"), (".", "twice")]
)
def test_a_second_directory_is_needed(
    binary: Binary, templates: Path, tmp_path: Path, against: str, message: str
) -> None:
    """Without another directory there is nothing to compare."""
    ground, experiment = ground_of(templates, tmp_path, binary), load("file-system")
    with pytest.raises(ProbeError, match=message):
        experiment.plan(
            ground, ProbeRequest(str(tmp_path), choices={"against": against and os.path.join(tmp_path, against)})
        )


def test_ranges_are_compared_between_two_servers(binaries: Binaries, templates: Path, tmp_path: Path) -> None:
    """Every length of range is measured on both, with equal character set, logs and Performance Schema.

    Each round has new servers: one process for a whole run may be faster than another of the same version.
    """
    both = (binaries("mysql-5.7"), binaries("mysql-8.0"))
    ground, experiment = ground_of(templates, tmp_path, *both), load("range-scan")
    choices = {"ranges": "1,1000", "rows": "20000", "driver": "mycnf"}
    plan = experiment.plan(ground, ProbeRequest(str(tmp_path), choices=choices))
    assert [variant.group for variant in plan.variants] == ["ranges of 1000"] * 2 + ["ranges of 1"] * 2
    seen: list[int] = []
    with prepared(experiment, ground, tmp_path, StopSignal(), **choices) as (bench, _):
        for number in (1, 2):
            blocks = [bench.measure(variant, Turn(number, 1, number), StopSignal()) for variant in plan.variants]
            seen += [pid for pid, words in children().items() if str(tmp_path) in words]
            assert not any(block.invalid for block in blocks)
            assert blocks[2].metrics["qps"] > blocks[0].metrics["qps"] > 0
        gains = bench.facts()
    assert len(set(seen)) == len(both) * 2
    assert set(gains) == {"ranges of 1000, gain beyond the control's"}
    assert list(tmp_path.iterdir()) == []


def test_gains_beyond_the_control_have_an_interval_over_the_rounds() -> None:
    """What all lengths gain alike is no gain of batches; rounds are compared with themselves."""
    control = {number: 0.1 * number for number in range(1, 7)}
    longer = {number: value + math.log(1.2) + 0.01 * (-1) ** number for number, value in control.items()}
    found = gains_over_control({(1000, 1): longer, (10, 1): control, (1, 1): control})
    assert set(found) == {"ranges of 1000, gain beyond the control's", "ranges of 10, gain beyond the control's"}
    assert str(found["ranges of 1000, gain beyond the control's"]).startswith("1.2 times (95 %: 1.1")
    assert str(found["ranges of 10, gain beyond the control's"]).startswith("1 times")


@pytest.mark.servers("mysql-8.0")
@pytest.mark.parametrize(
    ("choices", "message"),
    [
        ({"servers": "mysql-8.0"}, "two servers are compared"),
        ({"servers": "mysql-8.0,mysql", "ranges": "100"}, "no control"),
        ({"servers": "mysql-8.0,mysql"}, "are the same program"),
        ({"servers": "mysql-8.0,oracle"}, "no server 'oracle' found"),
    ],
)
def test_ranges_need_two_servers_and_a_control(
    binary: Binary, templates: Path, tmp_path: Path, choices: dict[str, str], message: str
) -> None:
    """What the comparison is based on has to be there."""
    with pytest.raises(ProbeError, match=message):
        load("range-scan").plan(ground_of(templates, tmp_path, binary), ProbeRequest(str(tmp_path), choices=choices))
