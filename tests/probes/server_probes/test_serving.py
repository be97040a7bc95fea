"""A served server takes on the options of one variant after the other, and puts back what the next doesn't name."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from probe_environment import ground_of, served

from advisor.core.model import Target
from advisor.facts.host import Host
from probes.disk.files import evict, has_device, resident_share
from probes.experiment import Environment, ProbeError
from probes.sandbox import Binary
from probes.server_probes.choices import choose_binary
from probes.server_probes.read_buffer import read_counters
from probes.server_probes.under_load import warm_up
from probes.stop import StopSignal


@pytest.mark.servers("mysql-5.7", "mysql-9.7", "mariadb-10.11", "mariadb-11.8")
def test_options_come_into_force_and_go_back(binary: Binary, templates: Path, tmp_path: Path) -> None:
    """Dynamic options need no restart, others one; both go back when the next variant names them no more."""
    with served(binary, templates, tmp_path) as it:
        pid, original = it.sandbox.pid, it.variable("sort_buffer_size")
        assert not it.apply_settings({"sort_buffer_size": "64K", "innodb_flush_log_at_trx_commit": "2"})
        assert (it.variable("sort_buffer_size"), it.variable("innodb_flush_log_at_trx_commit")) == ("65536", "2")
        assert it.sandbox.pid == pid
        assert not it.apply_settings({"innodb_flush_log_at_trx_commit": "0", "flush": "true"})
        assert it.variable("flush") == "ON"
        assert it.variable("sort_buffer_size") == original
        assert it.apply_settings({"innodb_buffer_pool_size": "64M", "sort_buffer_size": "128K", "back_log": "71"})
        assert it.sandbox.pid != pid
        assert (it.variable("innodb_buffer_pool_size"), it.variable("back_log")) == (str(64 << 20), "71")
        assert (it.variable("sort_buffer_size"), it.variable("innodb_flush_log_at_trx_commit")) == ("131072", "1")
        assert it.apply_settings({})
        assert (it.variable("innodb_buffer_pool_size"), it.variable("sort_buffer_size")) == (str(32 << 20), original)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.servers("mysql-8.0", "mariadb-10.11")
def test_a_value_that_the_server_changed_is_reported(binary: Binary, templates: Path, tmp_path: Path) -> None:
    """Another notation is the same value; a rounded one is not."""
    with served(binary, templates, tmp_path) as it:
        it.apply_settings({"read_buffer_size": "8200", "sort_buffer_size": "1M", "innodb_buffer_pool_size": "64M"})
        assert it.differing_value("read_buffer_size", "8200") == "8192"
        assert it.differing_value("sort_buffer_size", "1M") is None
        assert it.differing_value("innodb_buffer_pool_size", "64M") is None


@pytest.mark.servers("mysql-8.0", "mariadb-10.11")
def test_what_the_server_refuses_is_one_line(binary: Binary, templates: Path, tmp_path: Path) -> None:
    """A refused statement and a refused start are reported in the server's words, and nothing is left."""
    with pytest.raises(ProbeError, match="refused") as refused, served(binary, templates, tmp_path) as it:
        it.apply_settings({"default_storage_engine": "NONE"})
    assert "\n" not in str(refused.value)
    with pytest.raises(ProbeError), served(binary, templates, tmp_path) as it:
        it.apply_settings({"innodb_page_size": "5000"})
    assert list(tmp_path.iterdir()) == []


def binary(name: str, flavour: str, *version: int) -> Binary:
    """A server program that is never started."""
    return Binary(name, f"/opt/{name}/mysqld", Target(flavour, version), ".".join(map(str, version)))


def test_a_server_is_chosen_by_name_target_or_path() -> None:
    """A name, a flavour, a series, a version and a path each mean their program; no word means the first that fits."""
    one, two = binary("one", "mysql", 8, 0, 36), binary("two", "mariadb", 10, 11, 9)
    ground = Environment(Host(), "here", (one, two))
    assert choose_binary(ground, "") is one
    for word in ("two", "mariadb", "mariadb-10.11", "mariadb-10.11.9", "/opt/two/mysqld"):
        assert choose_binary(ground, word) is two
    assert choose_binary(ground, "", lambda b: b.target.is_mariadb) is two


def test_a_server_that_is_not_there_is_refused_with_those_that_are() -> None:
    """The refusals name what is here, and why it doesn't fit; a part of a number is no series."""
    ground = Environment(Host(), "here", (binary("one", "mysql", 8, 0, 36),))
    with pytest.raises(ProbeError, match="available: one"):
        choose_binary(ground, "mysql-8.4")
    with pytest.raises(ProbeError, match="available: one"):
        choose_binary(ground, "mysql-8.0.3")
    with pytest.raises(ProbeError, match="one: none has Aria"):
        choose_binary(ground, "", lambda b: b.target.is_mariadb, "has Aria")
    with pytest.raises(ProbeError, match="install one"):
        choose_binary(Environment(Host(), "here"), "")


def test_eviction_drops_our_file_and_no_other(templates: Path, tmp_path: Path) -> None:
    """The pages of one file leave the page cache, those of its neighbour stay."""
    if not has_device(ground_of(templates, tmp_path).host):
        pytest.skip("the directory for temporary files is in memory")
    ours, others = tmp_path / "ours", tmp_path / "others"
    for path in (ours, others):
        path.write_bytes(b"page" * (1 << 20))
    assert resident_share(str(ours)) == resident_share(str(others)) == 1.0
    evict([str(ours), str(others)])
    others.read_bytes()
    evict([str(ours), str(tmp_path / "gone")])
    assert resident_share(str(ours)) == 0.0
    assert resident_share(str(others)) == 1.0
    (tmp_path / "empty").touch()
    assert resident_share(str(tmp_path / "empty")) == 0.0


def test_reads_are_counted_by_call(tmp_path: Path) -> None:
    """Ten reads of 4K are ten calls of 4K, as the kernel counts them; a process that isn't there yields nothing."""
    (tmp_path / "file").write_bytes(bytes(40960))
    handle = os.open(tmp_path / "file", os.O_RDONLY)
    before = read_counters(os.getpid())
    for _ in range(10):
        os.read(handle, 4096)
    after = read_counters(os.getpid())
    os.close(handle)
    assert before is not None
    assert after is not None
    counted = after.since(before)
    assert counted.calls >= 10
    assert counted.bytes >= 40960
    assert read_counters(2**22 + 1) is None


def test_a_warm_up_ends_when_two_blocks_agree() -> None:
    """Rates within a tenth of each other are warm; without time, or stopped, it ends without agreement."""
    rates = iter([100.0, 200.0, 210.0, 500.0])
    assert warm_up(lambda: next(rates), 1e9, StopSignal()).agreed
    assert next(rates) == 500.0
    assert not warm_up(iter([100.0, 200.0, 400.0]).__next__, 0.0, StopSignal()).agreed
    assert not warm_up(lambda: None, 1e9, StopSignal()).agreed
    stop = StopSignal()
    stop.set()
    assert not warm_up(lambda: 1.0, 1e9, stop).agreed
