"""Tables for load are what they were asked to be, on every series."""

from __future__ import annotations

from pathlib import Path

import pytest
from grounds import served

from probes.sandbox import Binary
from probes.stopping import Stop
from probes.workload import scans
from probes.workload.tables import SEEDS, Shape, fill


@pytest.mark.servers("all")
def test_tables_are_filled_whole(binary: Binary, templates: Path, tmp_path: Path) -> None:
    """Every row has a key and texts of the right shape, k has its index, and nothing else is left behind."""
    with served(binary, templates, tmp_path, binary_log=True) as it:
        flush = it.variable("innodb_flush_log_at_trx_commit")
        before = it.query("SHOW BINARY LOGS")
        fill(it.connection(), Shape(SEEDS + 500, tables=2), Stop())
        counted = it.query("SELECT COUNT(*), MIN(id), MAX(id), MIN(k) > 0, MIN(LENGTH(c)) FROM sbtest.sbtest2")
        assert counted == ((SEEDS + 500, 1, SEEDS + 500, 1, 119),)
        assert it.query("SHOW INDEX FROM sbtest.sbtest2 WHERE Key_name = 'k_2'")
        assert it.query("SHOW TABLES FROM sbtest") == (("sbtest1",), ("sbtest2",))
        assert it.variable("innodb_flush_log_at_trx_commit") == flush
        assert it.query("SHOW BINARY LOGS") == before


@pytest.mark.servers("mysql-9.7", "mariadb-11.4")
def test_compressed_pages_are_smaller(binary: Binary, templates: Path, tmp_path: Path) -> None:
    """Constant texts in compressed pages of 4K take far less than in plain ones."""
    with served(binary, templates, tmp_path) as it:
        for database, engine in (("plain", "InnoDB"), ("packed", "InnoDB ROW_FORMAT=COMPRESSED KEY_BLOCK_SIZE=4")):
            fill(it.connection(), Shape(SEEDS, 1, engine, "constant", key_on_k=False, database=database), Stop())
        sizes = {name: (Path(it.sandbox.datadir) / name / "sbtest1.ibd").stat().st_size for name in ("plain", "packed")}
    assert sizes["packed"] < sizes["plain"] / 2


@pytest.mark.servers("mysql-8.0", "mariadb-10.11")
def test_a_stop_ends_the_filling(binary: Binary, templates: Path, tmp_path: Path) -> None:
    """Told to stop, it makes no further rows."""
    stop = Stop()
    stop.say("cancelled")
    with served(binary, templates, tmp_path) as it:
        fill(it.connection(), Shape(10_000_000), stop)
        assert it.query("SELECT COUNT(*) FROM sbtest.sbtest1") == ((0,),)
        scans.make(it.connection(), scans.Scan(1 << 30), stop)
        assert it.query("SELECT COUNT(*) FROM scans.scan") == ((0,),)


@pytest.mark.servers("mysql", "mariadb-11.8")
@pytest.mark.parametrize("length", [57, 700])
def test_rows_to_scan_are_as_long_as_asked(binary: Binary, templates: Path, tmp_path: Path, length: int) -> None:
    """The file with the rows is their number times their length; no index is there to read instead."""
    with served(binary, templates, tmp_path) as it:
        for engine in ("MyISAM", "Aria") if binary.target.is_mariadb else ("MyISAM",):
            scan = scans.Scan(3 << 20, length, engine)
            scans.make(it.connection(), scan, Stop())
            size = (Path(it.sandbox.datadir) / scan.file).stat().st_size
            assert it.query("SELECT COUNT(*) FROM scans.scan") == ((scan.rows,),)
            assert it.query("SHOW INDEX FROM scans.scan") == ()
            assert it.query(scan.query) == ((0,),)
            assert it.query("SHOW TABLES FROM scans") == (("scan",),)
            assert scan.rows * length <= size <= scan.rows * (length + 1) + 64 * 1024


@pytest.mark.servers("mysql-5.7", "mysql-9.7", "mariadb-10.11")
def test_broken_rows_are_in_pieces(binary: Binary, templates: Path, tmp_path: Path) -> None:
    """Rows that grew are as long as the others, and the server's own check counts more pieces than rows."""
    scan = scans.Scan(1 << 20, 100, fragmented=30)
    with served(binary, templates, tmp_path) as it:
        scans.make(it.connection(), scan, Stop())
        assert it.query("SELECT DISTINCT LENGTH(pad) FROM scans.scan") == ((95,),)
        whole = scans.Scan(1 << 20, 100, fragmented=1)
        pieces = (Path(it.sandbox.datadir) / scan.file).stat().st_size
        scans.make(it.connection(), whole, Stop())
        fewer = (Path(it.sandbox.datadir) / whole.file).stat().st_size
    assert pieces > fewer
