"""Blocks count only where the server's own counters show that they exercised what they measure."""

from __future__ import annotations

from pathlib import Path

import pytest
from probe_environment import ground_of, prepared, served
from real_servers import Binaries

from probes.experiment import ProbeRequest, Turn, Variant
from probes.registry import load
from probes.sandbox import Binary
from probes.server_probes import buffer_pool_instances, file_system, read_ahead
from probes.server_probes.cache_fit import Layout, _preconditions
from probes.server_probes.commit import FLUSH, PRECONDITIONS, SYNC
from probes.server_probes.mechanism import (
    BlockActivity,
    Bounds,
    Precondition,
    check_preconditions,
    fixed_bounds,
    log_syncs_per_transaction,
    page_read_precondition,
    row_preconditions,
)
from probes.server_probes.under_load import WorkloadBench
from probes.server_probes.variant_server import BINLOG_SYNCS
from probes.stop import StopSignal
from probes.workload.load import OLTP, Access, Task
from probes.workload.tables import TableShape, fill_tables

UPDATES = OLTP["oltp_update_non_index"]
SOME = BlockActivity(seconds=10.0, transactions=1000, repeated=0, threads=4, grown={}, after={})
ANY = Variant("any", {})


def activity(**grown: int) -> BlockActivity:
    """A thousand transactions in ten seconds, and counters that grew by so much."""
    return SOME._replace(grown=grown)


@pytest.mark.parametrize(
    ("updated", "repeated", "valid"),
    [
        (1000, 0, True),
        (1020, 0, True),
        (980, 0, True),
        (979, 0, False),
        (1021, 0, False),
        (1100, 100, True),
        (300, 0, False),
    ],
)
def test_every_update_must_change_a_row(updated: int, repeated: int, valid: bool) -> None:
    """Within 2 %, and with room for transactions that a deadlock sent twice."""
    made = check_preconditions(
        row_preconditions(UPDATES), ANY, activity(Handler_update=updated)._replace(repeated=repeated)
    )
    assert (not made.invalid) is valid
    assert made.counters == {"rows updated/transaction": updated / 1000}


def test_a_workload_expects_as_many_changed_rows_as_it_sends_updates() -> None:
    """Two of oltp_read_write's statements are updates; readers have none to check."""
    assert OLTP["oltp_read_write"].updates == 2
    assert row_preconditions(OLTP["oltp_read_only"]) == ()


def test_what_no_counter_reports_is_not_checked_and_not_kept() -> None:
    """A server without the counter can't fail by it; one that did nothing at all is invalid anyhow."""
    pages = (page_read_precondition(fixed_bounds(1.0)),)
    assert check_preconditions(pages, ANY, activity()) == ({}, "")
    assert check_preconditions(pages, ANY, SOME._replace(transactions=0)).invalid == "no transaction completed"


def test_the_reason_names_value_and_bounds() -> None:
    """The first precondition that fails is reported, with what was needed; all values are kept."""
    pages = (
        page_read_precondition(fixed_bounds(1.0)),
        Precondition("redo log syncs/transaction", log_syncs_per_transaction, fixed_bounds(high=0.1)),
    )
    made = check_preconditions(pages, ANY, activity(Innodb_buffer_pool_reads=30, Innodb_os_log_fsyncs=900))
    assert made.invalid == "pages read from disk/transaction 0.03, required: at least 1"
    assert made.counters == {"pages read from disk/transaction": 0.03, "redo log syncs/transaction": 0.9}


@pytest.mark.parametrize(
    ("bounds", "words"), [(Bounds(2), "at least 2"), (Bounds(high=0.5), "at most 0.5"), (Bounds(1, 2), "1 to 2")]
)
def test_bounds_in_words(bounds: Bounds, words: str) -> None:
    """Only the ends that there are."""
    assert str(bounds) == words


@pytest.mark.parametrize(
    ("settings", "syncs", "binlog_syncs", "valid"),
    [
        ({"flush": "3"}, 2.0, 1.0, True),  # MariaDB's, which syncs in both phases
        ({"flush": "3"}, 0.01, 1.0, False),
        ({"flush": "2"}, 0.9, 1.0, False),
        ({"sync": "2"}, 1.0, 0.5, True),
        ({"sync": "2"}, 1.0, 0.9, False),
        ({"sync": "100"}, 1.0, 0.01, True),
        ({"sync": "0"}, 1.0, 0.5, False),
    ],
)
def test_syncs_of_commits_by_value(settings: dict[str, str], syncs: float, binlog_syncs: float, valid: bool) -> None:
    """One connection: 1 and 3 sync each commit, a sync_binlog of N every Nth, other values hardly ever."""
    variant = Variant("any", {FLUSH: settings.get("flush", "1"), SYNC: settings.get("sync", "1")})
    grown = {"Innodb_os_log_fsyncs": int(1000 * syncs), BINLOG_SYNCS: int(1000 * binlog_syncs)}
    seen = SOME._replace(threads=1, grown=grown)
    assert (check_preconditions(PRECONDITIONS, variant, seen).invalid == "") is valid


@pytest.mark.servers("mysql-9.7", "mariadb-10.11", whole="mysql-5.7 mysql-8.0 mariadb-11.8")
def test_new_draws_in_each_block_change_every_row_and_repeated_ones_do_not(
    binary: Binary, templates: Path, tmp_path: Path
) -> None:
    """On one server: blocks with draws of their own update a row a transaction; a repeated block finds it done."""
    rows = 300
    with served(binary, templates, tmp_path) as it:
        fill_tables(it.connection(), TableShape(rows, key_on_k=False), StopSignal())

        def task_of(_: Variant) -> Task:
            return Task(it.sandbox.socket, it.scratch_folder, UPDATES, Access(), 1, rows)

        bench = WorkloadBench(it, "mycnf", task_of, warm_seconds=0)
        turns = [Turn(number, 1, round_seed=7, block_seed=100 + number) for number in (1, 2, 3)]
        blocks = [bench.measure(ANY, turn, StopSignal()) for turn in turns]
        shared = WorkloadBench(it, "mycnf", lambda v: task_of(v)._replace(rows=rows * 1000), warm_seconds=0)
        missing = shared.measure(ANY, turns[0], StopSignal())
    assert [block.counters["rows updated/transaction"] for block in blocks] == pytest.approx([1, 1, 1], abs=0.02)
    assert not any(block.invalid for block in blocks)
    assert "rows updated/transaction" in missing.invalid  # almost none of the rows that it asks for is there


@pytest.mark.servers("mysql-8.0", whole="mariadb-11.4")
def test_a_setting_that_is_not_in_force_makes_blocks_of_commit_invalid(
    binary: Binary, templates: Path, tmp_path: Path
) -> None:
    """Where commits are flushed although the variant says they aren't, and the other way round."""
    ground, commit = ground_of(templates, tmp_path, binary), load("commit")
    choices = {"flush": "1,2", "sync": "0", "threads": "1", "rows": "500", "driver": "mycnf"}
    plan = commit.plan(ground, ProbeRequest(str(tmp_path), choices=choices))
    with prepared(commit, ground, tmp_path, StopSignal(), **choices) as (bench, _):
        right = [bench.measure(v, Turn(1, 1, 1, place), StopSignal()) for place, v in enumerate(plan.variants)]
        bench.server.apply_settings(plan.variants[1].settings)  # type: ignore[attr-defined]
        bench.server.apply_settings = lambda _settings: False  # type: ignore[attr-defined]
        wrong = bench.measure(plan.variants[0], Turn(2, 1, 2, 20), StopSignal())
    assert [block.invalid for block in right] == ["", ""]
    assert "redo log syncs/transaction" in wrong.invalid


@pytest.mark.servers("mysql-9.7", whole="mysql-5.7")
def test_a_binary_log_that_is_not_synced_as_set_makes_blocks_of_commit_invalid(
    binary: Binary, templates: Path, tmp_path: Path
) -> None:
    """Where each commit should sync it and none does, and the other way round."""
    ground, commit = ground_of(templates, tmp_path, binary), load("commit")
    choices = {"flush": "2", "sync": "1,0", "threads": "1", "rows": "500", "driver": "mycnf"}
    plan = commit.plan(ground, ProbeRequest(str(tmp_path), choices=choices))
    with prepared(commit, ground, tmp_path, StopSignal(), **choices) as (bench, _):
        right = [bench.measure(v, Turn(1, 1, 1, place), StopSignal()) for place, v in enumerate(plan.variants)]
        served, wrong = bench.server, []  # type: ignore[attr-defined]
        for place, variant in enumerate(plan.variants):
            served.query(f"SET GLOBAL sync_binlog = {1 - int(variant.settings['sync_binlog'])}")
            served.apply_settings, kept = (lambda _settings: False), served.apply_settings
            wrong.append(bench.measure(variant, Turn(2, 1, 2, 20 + place), StopSignal()))
            served.apply_settings = kept
    assert [block.invalid for block in right] == ["", ""]
    assert all("binary log syncs/transaction" in block.invalid for block in wrong)


def test_ranges_that_are_not_in_memory_say_nothing_of_batches(
    binaries: Binaries, templates: Path, tmp_path: Path
) -> None:
    """After a restart within a round the pool is cold: the blocks that read it from disk are invalid."""
    both = (binaries("mysql-5.7"), binaries("mysql-9.7"))
    ground, experiment = ground_of(templates, tmp_path, *both), load("range-scan")
    choices = {"servers": "mysql-5.7,mysql-9.7", "ranges": "1,1000", "rows": "200000", "driver": "mycnf"}
    plan = experiment.plan(ground, ProbeRequest(str(tmp_path), choices=choices))
    with prepared(experiment, ground, tmp_path, StopSignal(), **choices) as (bench, _):
        right = [bench.measure(variant, Turn(1, 1), StopSignal()) for variant in plan.variants[:2]]
        for variant in plan.variants[:2]:
            bench._benches[variant.name].server.restart()  # type: ignore[attr-defined]
        wrong = [bench.measure(variant, Turn(1, 1), StopSignal()) for variant in plan.variants[:2]]
    assert [block.invalid for block in right] == ["", ""]
    assert all("pages read from disk/transaction" in block.invalid for block in wrong)


@pytest.mark.servers("mysql-5.7", whole="mariadb-10.11")
def test_scans_that_read_nothing_ahead_are_invalid(binary: Binary, templates: Path, tmp_path: Path) -> None:
    """With read-ahead on, long scans must read pages ahead; where it is off by hand, the block is none."""
    ground, experiment = ground_of(templates, tmp_path, binary), load("read-ahead")
    choices = {"pool": "16M", "data": "200", "threads": "1", "driver": "mycnf"}
    plan = experiment.plan(ground, ProbeRequest(str(tmp_path), choices=choices))
    scans = {variant.name: variant for variant in plan.variants if variant.group == "long scans"}
    linear, off = scans["long scans, linear (56)"], scans["long scans, off (0)"]
    with prepared(experiment, ground, tmp_path, StopSignal(), **choices) as (bench, _):
        right = [
            bench.measure(variant, Turn(1, 2, 1, place), StopSignal()) for place, variant in enumerate((linear, off))
        ]
        bench.server.apply_settings = lambda _settings: False  # type: ignore[attr-defined]
        wrong = bench.measure(linear, Turn(2, 2, 2, 20), StopSignal())
    assert [block.invalid for block in right] == ["", ""]
    assert "pages read ahead/transaction" in wrong.invalid


@pytest.mark.servers("mariadb-10.11")
def test_data_that_fit_the_pool_say_nothing_of_a_file_system(binary: Binary, templates: Path, tmp_path: Path) -> None:
    """A block that asks the disk for no page is invalid."""
    ground, experiment = ground_of(templates, tmp_path, binary), load("file-system")
    first, second = tmp_path / "first", tmp_path / "second"
    first.mkdir()
    second.mkdir()
    choices = {"against": str(second), "pool": "16M", "data": "20", "threads": "2", "driver": "mycnf"}
    plan = experiment.plan(ground, ProbeRequest(str(first), choices=choices))
    with prepared(experiment, ground, first, StopSignal(), **choices) as (bench, _):
        block = bench.measure(plan.variants[0], Turn(1, 1), StopSignal())
    assert "pages read from disk/transaction" in block.invalid


@pytest.mark.servers("mysql-9.7", "mariadb-11.8", whole="mysql-5.7")
def test_keys_that_are_no_rows_or_no_compressed_pages_say_nothing_of_a_pool(
    binary: Binary, templates: Path, tmp_path: Path
) -> None:
    """Blocks of cache-fit that find the fewest keys cold, look up no rows or uncompress nothing are invalid."""
    ground, experiment = ground_of(templates, tmp_path, binary), load("cache-fit")
    choices = {"pool": "8M", "table": "32M", "steps": "14", "driver": "mycnf", "layouts": "16K,compressed"}
    plan = experiment.plan(ground, ProbeRequest(str(tmp_path), choices=choices))
    few, many = plan.variants[0], plan.variants[-1]
    with prepared(experiment, ground, tmp_path, StopSignal(), **choices) as (bench, _):
        right = [bench.measure(variant, Turn(1, 1), StopSignal()) for variant in (few, many)]
        layouts = bench._layouts  # type: ignore[attr-defined]
        layouts["compressed"], kept = layouts["compressed"]._replace(database="sbtest"), layouts["compressed"]
        uncompressed = bench.measure(many, Turn(1, 1), StopSignal())
        # The pool keeps most of a compressed table in pages of 4K; of one in pages of 16K it holds a quarter.
        layouts["compressed"], layouts["16K"] = kept, layouts["16K"]._replace(fitting=1 << 30)
        cold = bench.measure(plan.variants[-2], Turn(1, 1), StopSignal())
    assert [block.invalid for block in right] == ["", ""]
    assert "pages uncompressed/page read" in uncompressed.invalid
    assert "pages read from disk/transaction" in cold.invalid
    assert uncompressed.metrics == cold.metrics == {}


def test_a_query_that_looks_no_row_up_is_none_of_a_key() -> None:
    """Half of the lookups that were sent: the rest met nothing."""
    layout = Layout("16K", None, "sbtest", 512)
    counted = {"Innodb_buffer_pool_reads": 0, "pages uncompressed": 0}
    made = check_preconditions(_preconditions(layout, fits=True), ANY, activity(Handler_read_key=500, **counted))
    assert "rows looked up/query" in made.invalid
    assert (
        check_preconditions(_preconditions(layout, fits=True), ANY, activity(Handler_read_key=1001, **counted)).invalid
        == ""
    )


@pytest.mark.servers("mysql-5.7", "mariadb-11.8", whole="mysql-9.7")
def test_scans_that_read_from_elsewhere_than_they_should_are_invalid(
    binary: Binary, templates: Path, tmp_path: Path
) -> None:
    """Tables of fixed and of varying rows: cached scans beyond the cache, cold ones within it, and too few rows."""
    ground, experiment = ground_of(templates, tmp_path, binary), load("read-buffer")
    choices = {"table": "4M", "sizes": "128K", "rows": "fixed,varying"}
    plan = experiment.plan(ground, ProbeRequest(str(tmp_path), choices=choices))
    if plan.metrics[0].name != "beyond_cache":
        pytest.skip("needs temporary files on a device")
    with prepared(experiment, ground, tmp_path, StopSignal(), **choices) as (bench, _):
        right = [bench.measure(variant, Turn(1, 0.2), StopSignal()) for variant in plan.variants]
        fixed, varying = bench._kinds.values()  # type: ignore[attr-defined]
        fixed.evict, varying.read_into_cache = lambda: 0.0, varying.evict
        warm, cold = (bench.measure(variant, Turn(2, 0.2), StopSignal()) for variant in plan.variants)
        sizes = fixed.file_size, varying.file_size
        fixed.scan = fixed.scan._replace(bytes=8 << 20)
        few = bench.measure(plan.variants[0], Turn(3, 0.2), StopSignal())
    assert [block.invalid for block in right] == ["", ""]
    assert "share read from the device, beyond the cache" in warm.invalid
    assert "share read from the device, cached" in cold.invalid
    assert "rows read/scan" in few.invalid
    assert warm.metrics == cold.metrics == few.metrics == {}
    assert sizes[0] != sizes[1]


@pytest.mark.servers("mysql-9.7")
def test_a_pool_that_is_not_full_says_nothing_of_its_instances(binary: Binary, templates: Path, tmp_path: Path) -> None:
    """Data that leave the pool half empty evict nothing, and the block says so."""
    ground, experiment = ground_of(templates, tmp_path, binary), load("buffer-pool-instances")
    choices = {"data": "1", "instances": "1", "threads": "2", "driver": "mycnf"}
    plan = experiment.plan(ground, ProbeRequest(str(tmp_path), choices=choices))
    with prepared(experiment, ground, tmp_path, StopSignal(), **choices) as (bench, _):
        block = bench.measure(plan.variants[0], Turn(1, 1), StopSignal())
    assert "free pages of the pool" in block.invalid


ON = {"innodb_read_ahead_threshold": "56", "innodb_random_read_ahead": "OFF"}
OFF = {**ON, "innodb_read_ahead_threshold": "0"}
READ = {"Innodb_pages_read": 500_000, read_ahead.READ_AHEAD: 200_000, read_ahead.RANDOM_READ_AHEAD: 0}


@pytest.mark.parametrize(
    ("settings", "group", "changed", "reason"),
    [
        (ON, read_ahead.LONG_SCANS, {}, ""),
        (ON, read_ahead.LONG_SCANS, {"Innodb_pages_read": 100_000}, "pages read/transaction"),
        (ON, read_ahead.LONG_SCANS, {read_ahead.READ_AHEAD: 50_000}, "pages read ahead/transaction"),
        (ON, read_ahead.LONG_SCANS, {read_ahead.RANDOM_READ_AHEAD: 5}, "pages read ahead at random/transaction"),
        (OFF, read_ahead.LONG_SCANS, {read_ahead.READ_AHEAD: 5}, "pages read ahead/transaction"),
        (OFF, read_ahead.POINTS, {"Innodb_pages_read": 900, read_ahead.READ_AHEAD: 0}, "pages read/transaction"),
    ],
)
def test_each_counter_of_read_ahead_can_make_a_block_invalid(
    settings: dict[str, str], group: str, changed: dict[str, int], reason: str
) -> None:
    """Too few pages read or read ahead, and pages read ahead where that is off."""
    variant = Variant("any", settings, group=group)
    made = check_preconditions(read_ahead._preconditions(60_000), variant, activity(**READ | changed))
    assert made.invalid.startswith(reason)
    assert bool(made.invalid) is bool(reason)


@pytest.mark.parametrize(
    ("free", "read", "reason"),
    [(100, 9_000, ""), (201, 9_000, "free pages"), (100, 1_900, "pages evicted/transaction")],
)
def test_pools_of_instances_must_be_full_and_evict(free: int, read: int, reason: str) -> None:
    """A thousand pages became resident: what was read beyond them took the place of others."""
    grown = {"Innodb_pages_read": read, "Innodb_pages_created": 0, "Innodb_buffer_pool_pages_data": 1_000}
    seen = activity(**grown)._replace(after={"Innodb_buffer_pool_pages_free": free})
    made = check_preconditions(buffer_pool_instances._preconditions(100), ANY, seen)
    assert made.invalid.startswith(reason)
    assert bool(made.invalid) is bool(reason)


@pytest.mark.parametrize(
    ("changed", "reason"),
    [
        ({}, ""),
        ({"Innodb_buffer_pool_reads": 900}, "pages read from disk/transaction"),
        ({"Innodb_os_log_fsyncs": 200}, "redo log syncs/transaction"),
    ],
)
def test_file_systems_must_be_read_from_and_synced(changed: dict[str, int], reason: str) -> None:
    """A transaction reads a page at least, and four connections sync a group of four."""
    seen = activity(**{"Innodb_buffer_pool_reads": 1_000, "Innodb_os_log_fsyncs": 225} | changed)
    made = check_preconditions(file_system.PRECONDITIONS, ANY, seen)
    assert made.invalid.startswith(reason)
    assert bool(made.invalid) is bool(reason)
