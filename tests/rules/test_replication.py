"""What the rules of replication say, and when their advice can be taken."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from rule_cases import Case, known_of

from advisor.model import Confidence
from rules import find

if TYPE_CHECKING:
    from pathlib import Path

    from advisor.model import Finding

MEMBER = "plugin_load_add = group_replication.so\ngroup_replication_group_name = aaaaaaaa-aaaa-aaaa-aaaa-aaaaaaaaaaaa\n"
MANY = "binlog_ignore_db = a\nbinlog_ignore_db = b\nbinlog_ignore_db = c\nbinlog_ignore_db = {}"
PLUGIN = "plugin_load_add = semisync_source.so\nrpl_semi_sync_source_enabled = 1\n"
SERIAL = {"variables": {"slave_parallel_workers": "1"}}


def found(rule: str, target: str, folder: Path, file: str = "", server: dict[str, Any] | None = None) -> list[Finding]:
    """What the rule of that name finds in a small case."""
    looked = find(rule)
    assert looked is not None
    return list(looked.check(known_of(Case(rule, "", target, file, server=server), folder)))


def replica(**row: str) -> dict[str, Any]:
    """A server that follows one source."""
    return {"replication": {"replica_rows": [row]}}


@pytest.mark.parametrize(
    ("case", "says"),
    [
        (Case("filter-list-in-one-name", "", "mysql-9.7.4", "binlog_do_db = a,b,c"), "none of the 3"),
        (Case("filtered-binary-log", "", "mysql-9.7.4", "binlog_do_db = a\nbinlog_do_db = b"), "only changes of a, b;"),
        (Case("filtered-binary-log", "", "mysql-9.7.4", "binlog_ignore_db = a\nbinlog_do_db = b"), "no changes of a;"),
        (Case("filtered-binary-log", "", "mysql-9.7.4", MANY.format(4)), "no changes of a, b, c, 4;"),
        (Case("filtered-binary-log", "", "mysql-9.7.4", MANY.format("4\nbinlog_ignore_db = 5")), "a and 4 other"),
        (Case("unsupported-commit-order", "", "mysql-8.0.43", "slave_parallel_type = DATABASE"), "with 4 workers it"),
        (
            Case("commit-order-tracking", "", "mysql-8.0.15", "", server={"replication": {"replicas_connected": 1}}),
            "1 replica reads",
        ),
        (
            Case("commit-order-tracking", "", "mysql-8.0.15", "", server={"replication": {"replicas_connected": 2}}),
            "2 replicas read ",
        ),
        (
            Case("group-that-survives-nothing", "", "mysql-9.7.4", "", server={"replication": {"group_members": 1}}),
            "1 member:",
        ),
        (
            Case("group-that-survives-nothing", "", "mysql-9.7.4", "", server={"replication": {"group_members": 2}}),
            "2 members:",
        ),
        (
            Case("stopped-replica", "", "mysql-9.7.4", "", server=replica(Replica_IO_Running="No")),
            "nothing more arrives",
        ),
        (
            Case("stopped-replica", "", "mysql-9.7.4", "", server=replica(Replica_IO_Running="Connecting")),
            "still tries to connect",
        ),
        (
            Case("stopped-replica", "", "mysql-5.7.22", "", server=replica(Slave_SQL_Running="No")),
            "nothing more is applied",
        ),
        (
            Case("stopped-replica", "", "mysql-5.7.22", "", server=replica(Slave_SQL_Running="No")),
            "doesn't run, without an error",
        ),
        (
            Case(
                "stopped-replica", "", "mysql-5.7.22", "", server=replica(Slave_SQL_Running="No", Channel_Name="east")
            ),
            "channel east",
        ),
        (
            Case(
                "stopped-replica", "", "mariadb-11.8", "", server=replica(Slave_SQL_Running="No", Connection_name="w")
            ),
            "channel w",
        ),
        (Case("group-needs-unmet", "", "mysql-8.0.25", MEMBER + "log_slave_updates = OFF"), "log_slave_updates = ON"),
        (
            Case("group-needs-unmet", "", "mysql-8.0.26", MEMBER + "log_replica_updates = OFF"),
            "log_replica_updates = ON",
        ),
    ],
)
def test_in_words(case: Case, says: str, tmp_path: Path) -> None:
    """One and many, and what stands still, are said as they are."""
    assert says in found(case.rule, case.target, tmp_path, case.file, case.server)[0].message


def test_one_worker_is_no_workers(tmp_path: Path) -> None:
    """A single worker is spoken of as one."""
    file = "slave_parallel_workers = 1\nslave_preserve_commit_order = ON"
    assert "with 1 worker it" in found("unsupported-commit-order", "mysql-5.7.22", tmp_path, file)[0].message


@pytest.mark.parametrize(
    ("status", "says"),
    [({"status": "OFF", "clients": "2"}, "status is OFF"), ({"status": "ON", "clients": "0"}, "no replica takes part")],
)
def test_why_no_replica_confirms(status: dict[str, str], says: str, tmp_path: Path) -> None:
    """A source that gave up waiting and one that nobody follows are told apart."""
    told = {f"rpl_semi_sync_master_{name}": value for name, value in status.items()}
    server = {"variables": {"rpl_semi_sync_master_enabled": "ON"}, "status": told}
    assert says in found("semi-sync-not-in-force", "mariadb-10.11", tmp_path, server=server)[0].message


def test_both_threads_and_every_channel(tmp_path: Path) -> None:
    """Each thread that stands still is told, of each channel."""
    rows = [{"Slave_IO_Running": "No", "Slave_SQL_Running": "No"}, {"Slave_IO_Running": "No"}]
    told = found("stopped-replica", "mysql-5.7.22", tmp_path, server={"replication": {"replica_rows": rows}})
    assert len(told) == 3


def test_every_filter_with_commas_but_one_word_of_the_rest(tmp_path: Path) -> None:
    """Each line that names no database is told; what a filter goes by is told once."""
    file = "replicate_do_db = a,b\nreplicate_do_db = c,d"
    assert len(found("filter-list-in-one-name", "mariadb-11.8", tmp_path, file)) == 2
    assert len(found("filter-by-default-database", "mariadb-11.8", tmp_path, file)) == 1


@pytest.mark.parametrize(
    ("rule", "target", "file", "server"),
    [
        ("unordered-parallel-replica", "mysql-9.7.4", "replica_preserve_commit_order = OFF", {}),
        ("parallel-by-database", "mysql-8.0.15", "slave_parallel_workers = 4\nslave_parallel_type = DATABASE", {}),
        ("replica-position-in-files", "mysql-8.0.15", "relay_log_info_repository = FILE", {}),
        ("lagging-serial-replica", "mysql-8.0.15", "", SERIAL | replica(Seconds_Behind_Master="600")),
    ],
)
def test_what_a_running_replica_refuses(
    rule: str, target: str, file: str, server: dict[str, Any], tmp_path: Path
) -> None:
    """What can't be set while a replica applies changes is advised as a line, not as a statement."""
    (action,) = found(rule, target, tmp_path, file, server)[0].actions
    assert action.statement is None
    assert action.restart
    assert "stop the replica's threads" in action.risk


def test_what_a_running_replica_takes(tmp_path: Path) -> None:
    """The mode of applying can be set while a replica applies changes, under the name that the file has or not."""
    (action,) = found("idempotent-replica", "mysql-9.7.4", tmp_path, "slave_exec_mode = IDEMPOTENT", {})[0].actions
    assert action.statement == "SET GLOBAL replica_exec_mode = 'STRICT';"


def test_no_order_where_it_keeps_the_replica_from_starting(tmp_path: Path) -> None:
    """The order of commits isn't advised by itself where something else is lacking for it."""
    lacking = found("unordered-parallel-replica", "mysql-8.0.15", tmp_path, "slave_parallel_workers = 4")[0]
    assert not lacking.actions
    assert "LOGICAL_CLOCK" in lacking.help


@pytest.mark.parametrize(
    ("target", "sure"), [("mysql-8.0.18", Confidence.CERTAIN), ("mysql-8.0.19", Confidence.LIKELY)]
)
def test_sure_of_what_was_asked(target: str, sure: Confidence, tmp_path: Path) -> None:
    """Of versions that were not asked the missing clock is called likely."""
    file = "slave_parallel_type = DATABASE\nslave_parallel_workers = 4\nslave_preserve_commit_order = ON"
    assert found("unsupported-commit-order", target, tmp_path, file)[0].confidence is sure


@pytest.mark.parametrize(
    ("rule", "target", "file", "says"),
    [
        (
            "semi-sync-after-commit",
            "mysql-9.7.4",
            PLUGIN + "rpl_semi_sync_source_wait_point = AFTER_COMMIT",
            "AFTER_SYNC",
        ),
        ("galera-local-schema-changes", "mariadb-11.4", "wsrep_on = ON\nwsrep_OSU_method = RSU", "remove the line"),
        (
            "galera-local-schema-changes",
            "mariadb-11.8",
            "wsrep_on = ON\nwsrep_OSU_method = RSU",
            "write wsrep_osu_method",
        ),
        ("unordered-parallel-replica", "mysql-9.7.4", "replica_preserve_commit_order = OFF", "write replica_preserve"),
    ],
)
def test_help_where_nothing_can_be_advised(rule: str, target: str, file: str, says: str, tmp_path: Path) -> None:
    """An option of a plugin, or one whose name minds its capitals, is helped with in words."""
    assert says in found(rule, target, tmp_path, file)[0].help
