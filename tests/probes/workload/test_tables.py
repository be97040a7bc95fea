"""Tables for load are what they were asked to be, on every series."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from probe_environment import served
from real_servers import Binaries

from probes.server_probes.variant_server import VariantServer
from probes.stop import StopSignal
from probes.workload import tables
from probes.workload.tables import SEED_ROWS, TableShape, fill_tables


@pytest.fixture(scope="module")
def running(
    server_name: str, binaries: Binaries, templates: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[VariantServer]:
    """A server for the tables of all tests, one test after the other."""
    with served(binaries(server_name), templates, tmp_path_factory.mktemp("tables"), binary_log=True) as it:
        yield it


@pytest.fixture
def it(running: VariantServer) -> Iterator[VariantServer]:
    """The server as it was before it had any table of ours."""
    yield running
    for database in ("sbtest", "scans", "plain", "packed"):
        running.query(f"DROP DATABASE IF EXISTS {database}")


def test_tables_are_filled_whole(it: VariantServer) -> None:
    """Every row has a key and texts of the right shape, k has its index, and nothing else is left behind."""
    flush = it.variable("innodb_flush_log_at_trx_commit")
    before = it.query("SHOW BINARY LOGS")
    fill_tables(it.connection(), TableShape(SEED_ROWS + 500, tables=2), StopSignal())
    counted = it.query("SELECT COUNT(*), MIN(id), MAX(id), MIN(k) > 0, MIN(LENGTH(c)) FROM sbtest.sbtest2")
    assert counted == ((SEED_ROWS + 500, 1, SEED_ROWS + 500, 1, 119),)
    assert it.query("SHOW INDEX FROM sbtest.sbtest2 WHERE Key_name = 'k_2'")
    assert it.query("SHOW TABLES FROM sbtest") == (("sbtest1",), ("sbtest2",))
    assert it.variable("innodb_flush_log_at_trx_commit") == flush
    assert it.query("SHOW BINARY LOGS") == before


@pytest.mark.servers("mysql-9.7", "mariadb-11.4")
def test_compressed_pages_are_smaller(it: VariantServer) -> None:
    """Constant texts in compressed pages of 4K take far less than in plain ones."""
    for database, engine in (("plain", "InnoDB"), ("packed", "InnoDB ROW_FORMAT=COMPRESSED KEY_BLOCK_SIZE=4")):
        fill_tables(
            it.connection(),
            TableShape(SEED_ROWS, 1, engine, "constant", key_on_k=False, database=database),
            StopSignal(),
        )
    sizes = {name: (Path(it.sandbox.datadir) / name / "sbtest1.ibd").stat().st_size for name in ("plain", "packed")}
    assert sizes["packed"] < sizes["plain"] / 2


@pytest.mark.servers("mysql-8.0", "mariadb-10.11")
def test_a_stop_ends_the_filling(it: VariantServer) -> None:
    """Told to stop, it makes no further rows."""
    stop = StopSignal()
    stop.say("cancelled")
    fill_tables(it.connection(), TableShape(10_000_000), stop)
    assert it.query("SELECT COUNT(*) FROM sbtest.sbtest1") == ((0,),)
    tables.create_table(it.connection(), tables.ScanTable(1 << 30), stop)
    assert it.query("SELECT COUNT(*) FROM scans.scan") == ((0,),)


@pytest.mark.servers("mysql", "mariadb-11.8")
@pytest.mark.parametrize("length", [57, 700])
def test_rows_to_scan_are_as_long_as_asked(it: VariantServer, length: int) -> None:
    """The file with the rows is their number times their length; no index is there to read instead."""
    for engine in ("MyISAM", "Aria") if it.target.is_mariadb else ("MyISAM",):
        scan = tables.ScanTable(3 << 20, length, engine)
        tables.create_table(it.connection(), scan, StopSignal())
        size = (Path(it.sandbox.datadir) / scan.file).stat().st_size
        assert it.query("SELECT COUNT(*) FROM scans.scan") == ((scan.rows,),)
        assert it.query("SHOW INDEX FROM scans.scan") == ()
        assert it.query(scan.query) == ((0,),)
        assert it.query("SHOW TABLES FROM scans") == (("scan",),)
        assert scan.rows * length <= size <= scan.rows * (length + 1) + 64 * 1024


@pytest.mark.servers("mysql-5.7", "mysql-9.7", "mariadb-10.11")
def test_broken_rows_are_in_pieces(it: VariantServer) -> None:
    """Rows that grew are as long as the others, and the server's own check counts more pieces than rows."""
    scan = tables.ScanTable(1 << 20, 100, fragmented=30)
    tables.create_table(it.connection(), scan, StopSignal())
    assert it.query("SELECT DISTINCT LENGTH(pad) FROM scans.scan") == ((95,),)
    whole = tables.ScanTable(1 << 20, 100, fragmented=1)
    pieces = (Path(it.sandbox.datadir) / scan.file).stat().st_size
    tables.create_table(it.connection(), whole, StopSignal())
    fewer = (Path(it.sandbox.datadir) / whole.file).stat().st_size
    assert pieces > fewer
