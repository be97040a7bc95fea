"""What the rules about InnoDB report and advise to the exact value, where a case shows no difference."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from rule_cases import Case, context_of_case

from advisor.analysis import run_rules
from rules import all_rules, find_rule
from rules.core.advice import advise

if TYPE_CHECKING:
    from pathlib import Path

    from advisor.core.model import Finding

NAMES = ("buffer_pool", "flushing", "io_capacity", "redo_log", "startup", "tablespaces", "transactions")
MODULES = {f"rules.innodb.{name}" for name in NAMES}
OURS = [r for r in all_rules() if r.function.__module__ in MODULES]
AT_START = {
    "few-buffer-pool-instances",
    "forced-recovery",
    "many-buffer-pool-instances",
    "overridden-redo-size",
    "overruled-dedicated-server",
    "pointless-buffer-pool-instances",
    "rounded-up-buffer-pool",
    "small-doublewrite-batches",
    "system-tablespace-with-an-end",
    "table-locked-auto-increment",
    "undo-truncation-without-tablespaces",
}
FULL = {"innodb_checkpoint_age": 8350, "innodb_checkpoint_max_age": 10000}
FLUSHED = {"rises": {"innodb_buffer_pool_pages_flushed": 200000}}


def first(rule: str, target: str, tmp_path: Path, **words: object) -> Finding:
    """The first finding of a rule in a small case."""
    found = find_rule(rule)
    assert found is not None
    return next(iter(found.check(context_of_case(Case(rule, "", target, **words), tmp_path))))


def lines(finding: Finding) -> list[str | None]:
    """The lines that a finding advises."""
    return [action.option_line for action in finding.actions]


@pytest.mark.parametrize(
    ("rule", "target", "file", "line"),
    [
        ("scans-displace-the-pool", "mysql-9.7.4", "innodb_old_blocks_time = 0", "innodb_old_blocks_time = 1000"),
        ("shutdown-like-a-crash", "mariadb-11.8", "innodb_fast_shutdown = 2", "innodb_fast_shutdown = 1"),
        ("table-locked-auto-increment", "mysql-5.7.22", "innodb_autoinc_lock_mode = 0", "innodb_autoinc_lock_mode = 1"),
        (
            "narrow-write-ahead",
            "mysql-9.7.4",
            "innodb_log_write_ahead_size = 512",
            "innodb_log_write_ahead_size = 8192",
        ),
        (
            "dirty-reads",
            "mariadb-10.11",
            "transaction_isolation = READ-UNCOMMITTED",
            "transaction_isolation = READ-COMMITTED",
        ),
    ],
)
def test_advised_lines(rule: str, target: str, file: str, line: str, tmp_path: Path) -> None:
    """Each of these advises the value that its words name."""
    assert lines(first(rule, target, tmp_path, file=file)) == [line]


@pytest.mark.parametrize(
    ("size", "advised"),
    [("64M", ["innodb_log_buffer_size = 128M"]), ("65M", []), ("16M", ["innodb_log_buffer_size = 32M"])],
)
def test_log_buffers_are_doubled(size: str, advised: list[str], tmp_path: Path) -> None:
    """A buffer is doubled up to 128M; above, the device is to be looked at."""
    work = {"rises": {"innodb_log_waits": 500}}
    found = first(
        "log-buffer-waits",
        "mysql-9.7.4",
        tmp_path,
        file=f"innodb_log_buffer_size = {size}",
        server={},
        workload=work,
    )
    assert lines(found) == advised
    assert ("device" in found.help) is not bool(advised)


@pytest.mark.parametrize(
    ("target", "seconds", "line"),
    [
        ("mysql-5.7.22", 1000.0, "innodb_log_file_size = 192M"),
        ("mysql-8.0.29", 1000.0, "innodb_log_file_size = 192M"),
        ("mysql-8.0.30", 1000.0, "innodb_redo_log_capacity = 384M"),
        ("mariadb-11.8", 1000.0, "innodb_log_file_size = 384M"),
        ("mysql-9.7.4", 6.0, "innodb_redo_log_capacity = 16G"),
    ],
)
def test_an_hour_of_redo(target: str, seconds: float, line: str, tmp_path: Path) -> None:
    """An hour of 100M in a thousand seconds takes 384M, in two files before 8.0.30; never more than 16G."""
    work = {"redo": 104857600, "seconds": seconds}
    found = first("small-redo-log", target, tmp_path, server={}, workload=work)
    assert lines(found) == [line]


def test_instances_by_gigabytes(tmp_path: Path) -> None:
    """A pool gets as many instances as it has gigabytes, and the message says what one holds."""
    file = "innodb_buffer_pool_size = 4G\ninnodb_buffer_pool_instances = 16"
    found = first("many-buffer-pool-instances", "mysql-8.0.15", tmp_path, file=file)
    assert lines(found) == ["innodb_buffer_pool_instances = 4"]
    assert found.message.startswith("16 instances of 256M each")


@pytest.mark.parametrize(("memory", "instances"), [(16, 8), (8, 6)])
def test_instances_of_a_pool_that_has_to_shrink(memory: int, instances: int, tmp_path: Path) -> None:
    """Where MEM001 takes a part of the pool away, they are those of what it leaves."""
    line = f"innodb_buffer_pool_instances = {instances}"
    file = "innodb_buffer_pool_size = 7800M\ninnodb_buffer_pool_instances = 16"
    host = {"memory": {"total": memory << 30}}
    assert lines(first("many-buffer-pool-instances", "mysql-5.7.44", tmp_path, file=file, host=host)) == [line]


@pytest.mark.parametrize(("count", "says"), [(1, "in 1 instance,"), (2, "in 2 instances,")])
def test_one_instance_or_more(count: int, says: str, tmp_path: Path) -> None:
    """One instance is no plural."""
    file = f"innodb_buffer_pool_size = 16G\ninnodb_buffer_pool_instances = {count}"
    assert says in first("few-buffer-pool-instances", "mysql-8.0.15", tmp_path, file=file).message


def test_larger_batches_are_those_of_later_versions(tmp_path: Path) -> None:
    """A server of 8.0 is advised what 8.4 does by default."""
    found = first(
        "small-doublewrite-batches",
        "mysql-8.0.43",
        tmp_path,
        server={},
        workload={"rises": {"innodb_dblwr_pages_written": 5940}},
    )
    assert lines(found) == ["innodb_doublewrite_pages = 128"]
    assert "594 pages a second" in found.message
    assert "in batches of 4" in found.message


@pytest.mark.parametrize(
    ("capacity", "most", "advised"),
    [
        (100, 150, ["innodb_io_capacity_max = 400", "innodb_io_capacity = 200"]),
        (100, 200, ["innodb_io_capacity_max = 400", "innodb_io_capacity = 200"]),
        (100, 20000, ["innodb_io_capacity = 200"]),
        (10000, 20000, ["innodb_io_capacity = 20000"]),
    ],
)
def test_the_maximum_is_raised_before_what_it_bounds(
    capacity: int, most: int, advised: list[str], tmp_path: Path
) -> None:
    """The capacity is doubled up to what the manual advises, and its maximum with it where it would be in the way."""
    file = f"innodb_io_capacity = {capacity}\ninnodb_io_capacity_max = {most}"
    found = first("starved-flushing", "mariadb-11.8", tmp_path, file=file, server={"status": FULL}, workload=FLUSHED)
    assert lines(found) == advised
    assert "was 83 % full" in found.message


@pytest.mark.parametrize(
    ("written", "advised"),
    [
        (32000, ["innodb_io_capacity_max = 8000", "innodb_io_capacity = 2000"]),
        (31999, ["innodb_io_capacity = 2000"]),
    ],
)
def test_a_maximum_that_is_nearly_reached_is_raised(written: int, advised: list[str], tmp_path: Path) -> None:
    """From four fifths of the maximum on it is doubled, since it alone bounds what the age of the redo asks for."""
    file = "innodb_io_capacity = 1000\ninnodb_io_capacity_max = 4000"
    workload = {"rises": {"innodb_buffer_pool_pages_flushed": written}}
    assert (
        lines(
            first("starved-flushing", "mariadb-11.8", tmp_path, file=file, server={"status": FULL}, workload=workload)
        )
        == advised
    )


@pytest.mark.parametrize(("capacity", "advised"), [(200, "2000"), (1000, "2000"), (1001, "2002")])
def test_solid_state_disks_begin_at_two_thousand(capacity: int, advised: str, tmp_path: Path) -> None:
    """On disks that are known to be solid-state the capacity is at least 2000, else twice as much."""
    host = {"disks": [{"kernel_name": "nvme0n1", "transport": "nvme"}]}
    file = f"innodb_io_capacity = {capacity}\ninnodb_io_capacity_max = 40000"
    workload = {"rises": {"innodb_buffer_pool_pages_flushed": 20000}}
    known = {"file": file, "server": {"status": FULL}, "workload": workload, "host": host}
    assert lines(first("starved-flushing", "mariadb-11.8", tmp_path, **known)) == [f"innodb_io_capacity = {advised}"]


def test_the_limit_ends_where_the_manual_does(tmp_path: Path) -> None:
    """A capacity whose double is beyond 20,000 is never doubled."""
    rule = find_rule("starved-flushing")
    assert rule is not None
    file = "innodb_io_capacity = 10001\ninnodb_io_capacity_max = 40000"
    case = Case("", "", "mariadb-11.8", file, server={"status": FULL}, workload=FLUSHED)
    assert list(rule.check(context_of_case(case, tmp_path))) == []


def test_share_of_the_hash_index(tmp_path: Path) -> None:
    """The share is reported in percent of all lookups."""
    rises = {"innodb_adaptive_hash_hash_searches": 1990, "innodb_adaptive_hash_non_hash_searches": 8010}
    file = "innodb_adaptive_hash_index = ON"
    found = first(
        "fruitless-adaptive-hash-index", "mariadb-10.11", tmp_path, file=file, server={}, workload={"rises": rises}
    )
    assert found.message.startswith("19 % of 10,000 lookups")


@pytest.mark.parametrize(("timeout", "lost"), [(1, "up to a second of commits"), (10, "up to 10 s of commits")])
def test_what_a_crash_loses(timeout: int, lost: str, tmp_path: Path) -> None:
    """Both rules about commits that aren't synced count by the same clock."""
    file = f"innodb_flush_log_at_trx_commit = 2\ninnodb_flush_log_at_timeout = {timeout}"
    assert lost in first("lost-commits", "mysql-9.7.4", tmp_path, file=file).message
    delayed = find_rule("delayed-log-flush")
    assert delayed is not None
    found = list(delayed.check(context_of_case(Case("", "", "mysql-9.7.4", file), tmp_path)))
    assert ["every 10 s; a crash of the system can lose" in f.message for f in found] == [True] * (timeout > 1)


@pytest.mark.parametrize(("level", "says"), [(3, "refused"), (4, "read-only")])
def test_levels_of_forced_recovery(level: int, says: str, tmp_path: Path) -> None:
    """From level 4 on MySQL is read-only, below it refuses changes of rows."""
    assert says in first("forced-recovery", "mysql-9.7.4", tmp_path, file=f"innodb_force_recovery = {level}").message


def test_a_rounded_pool_is_reported_to_the_byte(tmp_path: Path) -> None:
    """The sizes of a rounded pool are written so that an option file takes them."""
    file = "innodb_buffer_pool_size = 959M\ninnodb_buffer_pool_chunk_size = 176M"
    found = first("rounded-up-buffer-pool", "mysql-8.0.15", tmp_path, file=file)
    assert "959M runs as 1056M" in found.message
    assert "innodb_buffer_pool_size = 880M, or 1056M if" in found.help


def test_versions() -> None:
    """The rules that hold for some versions alone hold from, and up to, these."""
    spans = {r.name: [str(span) for span in r.targets] for r in OURS if any(s.since or s.before for s in r.targets)}
    assert spans == {
        "few-buffer-pool-instances": ["mysql < 8.4"],
        "overridden-redo-size": ["mysql >= 8.0.30 < 9.0"],
        "overruled-dedicated-server": ["mysql >= 8.0"],
        "tables-in-the-system-tablespace": ["mysql", "mariadb < 11.0"],
        "undo-truncation-without-tablespaces": ["mysql < 8.0", "mariadb"],
        "growing-undo-files": ["mysql >= 8.0"],
        "statistics-on-metadata-queries": ["mysql < 8.0", "mariadb"],
        "corrupting-change-buffer": ["mariadb < 11.0"],
        "late-flushing": ["mariadb >= 10.6"],
        "small-doublewrite-batches": ["mysql >= 8.0.20"],
    }


def test_what_takes_a_restart() -> None:
    """A rule says that its cure takes a restart where the option is read at start-up alone."""
    assert {r.name for r in OURS if r.docs.restart} == AT_START


def test_no_more_pages_are_evicted_unread_than_were_read_ahead(tmp_path: Path) -> None:
    """Pages that were read before the window count as evicted in it, but the share ends at 100 percent."""
    rises = {"innodb_buffer_pool_read_ahead": 1000, "innodb_buffer_pool_read_ahead_evicted": 3000}
    found = first("wasted-read-ahead", "mysql-9.7.4", tmp_path, server={}, workload={"rises": rises})
    assert found.message.startswith("100 % of 1,000 pages read ahead were evicted unread")


@pytest.mark.parametrize(("size", "works"), [("2G", False), ("3G", True)])
def test_a_pool_of_less_than_its_chunks_needs_a_restart(size: str, works: bool, tmp_path: Path) -> None:
    """MySQL rounds SET GLOBAL up to a chunk in each instance, so only a start takes less."""
    variables = {"innodb_buffer_pool_size": str(8 << 30), "innodb_buffer_pool_chunk_size": str(3 << 30)}
    server = {"variables": variables | {"innodb_buffer_pool_instances": "1"}}
    context = context_of_case(Case("", "", "mysql-9.7.4", server=server), tmp_path)
    action = advise(context, "innodb_buffer_pool_size", int(size[0]) << 30, size=True)
    assert action is not None
    assert ((action.statement is not None), action.restart) == (works, not works)
    assert ("only multiples of 3G" in action.risk) is not works


def test_a_persisted_value_has_no_line_to_remove(tmp_path: Path) -> None:
    """The help beside SET PERSIST names RESET PERSIST for an option whose line would be removed."""
    names = {"log_bin_trust_function_creators": "ON", "binlog_format": "STATEMENT"}
    origins = dict.fromkeys(names, "PERSISTED")
    server = {"variables": names, "origins": origins, "persisted": names}
    known = context_of_case(Case("", "", "mysql-9.7.4", server=server), tmp_path)
    helps = [f.help for f in run_rules(known, all_rules()).findings if f.code == "BIN011"]
    assert helps == ["run RESET PERSIST log_bin_trust_function_creators, OFF is the default"]
