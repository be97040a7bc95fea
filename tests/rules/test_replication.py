"""What the rules of replication say, and when their advice can be taken."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from rule_cases import Case, context_of_case, found, replica

from advisor.core.model import Confidence
from rules import find_rule
from rules.core.context import MissingFact

if TYPE_CHECKING:
    from pathlib import Path


MEMBER = "plugin_load_add = group_replication.so\ngroup_replication_group_name = aaaaaaaa-aaaa-aaaa-aaaa-aaaaaaaaaaaa\n"
MANY = "binlog_ignore_db = a\nbinlog_ignore_db = b\nbinlog_ignore_db = c\nbinlog_ignore_db = {}"
PLUGIN = "plugin_load_add = semisync_source.so\nrpl_semi_sync_source_enabled = 1\n"
BOOTS = "plugin_load_add = group_replication.so\ngroup_replication_bootstrap_group = ON"
UNCERTIFIED = "wsrep_on = ON\nwsrep_provider = /usr/lib/galera/libgalera_smm.so\nwsrep_certify_nonPK = OFF"
AT_A_POSITION = {"Replica_SQL_Running": "Yes", "Auto_Position": "0"}


@pytest.mark.parametrize(
    ("case", "says"),
    [
        (Case("filter-list-in-one-name", "", "mysql-9.7.4", "binlog_do_db = a,b,c"), "none of the 3"),
        (
            Case("filtered-binary-log", "", "mysql-9.7.4", "binlog_do_db = a\nbinlog_do_db = b"),
            "only changes of a, b; other changes reach no replica",
        ),
        (
            Case("filtered-binary-log", "", "mysql-9.7.4", "binlog_ignore_db = a\nbinlog_do_db = b"),
            "only changes of b;",
        ),
        (
            Case("filtered-binary-log", "", "mysql-9.7.4", MANY.format(4)),
            "no changes of a, b, c, 4; these reach no replica",
        ),
        (Case("filtered-binary-log", "", "mysql-9.7.4", MANY.format("4\nbinlog_ignore_db = 5")), "a and 4 other"),
        (
            Case("short-binary-log", "", "mysql-9.7.4", "binlog_expire_logs_seconds = 43200"),
            "after 12 h: a replica that is disconnected",
        ),
        (
            Case("short-binary-log", "", "mariadb-11.8", "log_bin\nexpire_logs_days = 0.5"),
            "after 12 h while 1 replica is connected: another one that is disconnected",
        ),
        (
            Case("short-binary-log", "", "mariadb-10.11", "log_bin\nexpire_logs_days = 0.5"),
            "after 12 h: a replica that is disconnected",
        ),
        (
            Case("lost-commits", "", "mysql-9.7.4", "innodb_flush_log_at_trx_commit = 2\nread_only = ON"),
            "The replica's binary log may keep their GTIDs, and the source then does not send them again.",
        ),
        (
            Case("lost-commits", "", "mysql-5.7.22", "innodb_flush_log_at_trx_commit = 2\nread_only = ON"),
            "The replica's position, kept in a file, may be beyond them: the source does not send them again.",
        ),
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
            "The group has 1 member:",
        ),
        (
            Case("group-that-survives-nothing", "", "mysql-9.7.4", "", server={"replication": {"group_members": 2}}),
            "The group has 2 members.",
        ),
        (
            Case("stopped-replica", "", "mysql-9.7.4", "", server=replica(Replica_IO_Running="No")),
            "nothing more arrives",
        ),
        (
            Case("stopped-replica", "", "mysql-9.7.4", "", server=replica(Replica_IO_Running="Connecting")),
            "tries to connect, without an error yet",
        ),
        (
            Case("stopped-replica", "", "mysql-5.7.22", "", server=replica(Slave_SQL_Running="No")),
            "nothing more is applied",
        ),
        (
            Case("stopped-replica", "", "mysql-5.7.22", "", server=replica(Slave_SQL_Running="No")),
            "is stopped, without an error",
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
        (Case("group-needs-unmet", "", "mysql-8.0.25", MEMBER + "log_slave_updates = OFF"), "log_slave_updates is OFF"),
        (
            Case("group-needs-unmet", "", "mysql-8.0.26", MEMBER + "log_replica_updates = OFF"),
            "log_replica_updates is OFF",
        ),
        (Case("group-founds-itself-anew", "", "mysql-9.7.4", BOOTS), "The next start bootstraps"),
        (
            Case("group-founds-itself-anew", "", "mysql-9.7.4", BOOTS + "\ngroup_replication_start_on_boot = OFF"),
            "The next START GROUP_REPLICATION bootstraps",
        ),
        (Case("galera-without-certification-keys", "", "mariadb-10.11", UNCERTIFIED), "fail with error 1213"),
        (Case("galera-locks-auto-increment", "", "mariadb-11.4", "wsrep_on = ON"), "Galera's developers require 2"),
    ],
)
def test_in_words(case: Case, says: str, tmp_path: Path) -> None:
    """One and many, and what stands still, are said as they are."""
    assert says in found(case.rule, case.target, tmp_path, case.file, case.server)[0].message


@pytest.mark.parametrize(
    ("rule", "status", "plain", "own"),
    [
        (
            "galera-non-primary",
            {"wsrep_cluster_status": "non-Primary", "wsrep_connected": "ON"},
            "SET GLOBAL wsrep_provider_options = 'pc.bootstrap=YES';",
            "SET GLOBAL wsrep_provider_pc_bootstrap = ON;",
        ),
        (
            "galera-node-outweighs-others",
            {"wsrep_cluster_status": "Primary", "wsrep_cluster_size": 3, "wsrep_cluster_weight": 4},
            "SET GLOBAL wsrep_provider_options = 'pc.weight=1';",
            "SET GLOBAL wsrep_provider_pc_weight = 1;",
        ),
    ],
)
def test_an_option_of_the_provider_is_set_by_its_variable_where_there_is_one(
    rule: str, status: dict[str, object], plain: str, own: str, tmp_path: Path
) -> None:
    """MariaDB 11.4 and 11.8 refuse to set wsrep_provider_options, and have a variable for each option of it."""
    node = {"wsrep_on": "ON", "wsrep_provider": "/usr/lib/x.so", "wsrep_provider_options": "pc.weight = 2"}
    variables = {"wsrep_provider_pc_bootstrap": "OFF", "wsrep_provider_pc_weight": "2"}
    for more, statement in (({}, plain), (variables, own)):
        server = {"variables": node | more, "status": status}
        assert found(rule, "mariadb-11.8.9", tmp_path, "", server)[0].actions[0].statement == statement


def test_one_worker_is_no_workers(tmp_path: Path) -> None:
    """A single worker is spoken of as one."""
    file = "slave_parallel_workers = 1\nslave_preserve_commit_order = ON"
    assert "with 1 worker it" in found("unsupported-commit-order", "mysql-5.7.22", tmp_path, file)[0].message


@pytest.mark.parametrize(
    ("status", "says"),
    [({"status": "OFF", "clients": "2"}, "status is OFF"), ({"status": "ON", "clients": "0"}, "no replica takes part")],
)
def test_why_no_replica_confirms(status: dict[str, str], says: str, tmp_path: Path) -> None:
    """A source that gave up waiting and one without replicas are told apart."""
    renamed = {f"rpl_semi_sync_master_{name}": value for name, value in status.items()}
    server = {"variables": {"rpl_semi_sync_master_enabled": "ON"}, "status": renamed}
    assert says in found("semi-sync-not-in-force", "mariadb-10.11", tmp_path, server=server)[0].message


def test_both_threads_and_every_channel(tmp_path: Path) -> None:
    """Threads of one channel that were stopped without an error are one finding; each channel has its own."""
    rows = [{"Slave_IO_Running": "No", "Slave_SQL_Running": "No"}, {"Slave_IO_Running": "No"}]
    findings = found("stopped-replica", "mysql-5.7.22", tmp_path, server={"replication": {"replica_rows": rows}})
    assert len(findings) == 2


def test_every_filter_with_commas_but_one_word_of_the_rest(tmp_path: Path) -> None:
    """Each line that names no database is reported; what a filter of a database applies to is reported once."""
    file = "replicate_do_db = a,b\nreplicate_do_db = c,d"
    assert len(found("filter-list-in-one-name", "mariadb-11.8", tmp_path, file)) == 2
    assert found("filter-by-default-database", "mariadb-11.8", tmp_path, file) == []
    named = f"{file}\nreplicate_do_db = e\nreplicate_do_db = f"
    assert len(found("filter-by-default-database", "mariadb-11.8", tmp_path, named)) == 1


OUT_OF_REACH = {"group_members": 3, "group_state": "ONLINE", "group_states": {"UNREACHABLE": 1, "ONLINE": 2}}


def test_members_by_state(tmp_path: Path) -> None:
    """Members are reported by their states, and the majority by those that can be reached."""
    finding = found("group-that-survives-nothing", "mysql-9.7.4", tmp_path, server={"replication": OUT_OF_REACH})[0]
    assert (
        finding.message == "The group has 3 members (2 ONLINE, 1 UNREACHABLE). The loss of one more stops all writes."
    )
    lost = OUT_OF_REACH | {"group_states": {"UNREACHABLE": 2, "ONLINE": 1}}
    finding = found("group-that-survives-nothing", "mysql-9.7.4", tmp_path, server={"replication": lost})[0]
    assert "has lost its majority: 3 members (1 ONLINE, 2 UNREACHABLE). Writes on this member wait." in finding.message


@pytest.mark.parametrize(("super_read_only", "says"), [("OFF", "it accepts writes"), ("ON", "it accepts no writes")])
def test_what_a_member_outside_takes(super_read_only: str, says: str, tmp_path: Path) -> None:
    """Whether a server outside its group accepts writes is reported."""
    outside: dict[str, Any] = {"replication": {"group_state": "OFFLINE", "group_states": {"OFFLINE": 1}}}
    server = outside | {"variables": {"super_read_only": super_read_only}}
    assert says in found("member-outside-its-group", "mysql-9.7.4", tmp_path, server=server)[0].message


def test_administrators_that_still_write(tmp_path: Path) -> None:
    """The privilege that bypasses read_only is named by version, and undoing the advice restores both variables."""
    follows = replica(Slave_SQL_Running="Yes")
    findings = [
        found("writable-replica", target, tmp_path, server=follows | {"variables": {"read_only": value}})[0]
        for target, value in (("mysql-5.7.22", "ON"), ("mysql-8.0.15", "ON"), ("mysql-8.0.15", "OFF"))
    ]
    assert findings[0].message.endswith("super_read_only is OFF, so accounts with SUPER can write.")
    assert findings[1].message.endswith("so accounts with CONNECTION_ADMIN or SUPER can write.")
    assert [finding.actions[0].statement for finding in findings] == ["SET GLOBAL super_read_only = ON;"] * 3
    assert [finding.actions[0].undo for finding in findings] == [
        "SET GLOBAL super_read_only = OFF;", "SET GLOBAL super_read_only = OFF;", "SET GLOBAL read_only = OFF;",
    ]  # fmt: skip


OWN = {"read_only": "OFF", "server_id": "3", "gtid_binlog_pos": "0-3-105", "gtid_slave_pos": "0-1-104"}


@pytest.mark.parametrize(
    ("more", "says"),
    [
        (
            {},
            (
                "read_only is OFF. Transaction 0-3-105 was written here; transactions from its source were applied up "
                "to 0-1-104."
            ),
        ),
        (
            {"gtid_strict_mode": "ON", "log_slave_updates": "ON"},
            "so the next transaction from its source stops the applier.",
        ),
        ({"gtid_strict_mode": "ON", "log_slave_updates": "OFF"}, "applied up to 0-1-104."),
        ({"read_only": "ON"}, "is read-only, but an administrator's account or an event wrote to it. Transaction 0-3-"),
    ],
)
def test_what_a_replica_of_mariadb_wrote_itself(more: dict[str, str], says: str, tmp_path: Path) -> None:
    """The replica's own transaction is named beside the position that it has reached, with what it will cause."""
    server = replica(Slave_SQL_Running="Yes", Using_Gtid="Slave_Pos") | {"variables": OWN | more}
    message = found("writable-replica", "mariadb-10.11", tmp_path, server=server)[0].message
    assert says in message
    assert message.endswith(says) or more.get("read_only")


@pytest.mark.parametrize(
    ("readers", "says"),
    [
        (1, "A server reads the log: unless that is this replica's source, it misses everything applied here."),
        (2, "at least one of them is not a source of this replica: it misses everything applied here."),
    ],
)
def test_replicas_that_get_nothing(readers: int, says: str, tmp_path: Path) -> None:
    """Replicas that read a log without the applied changes are reported, with what is known of them."""
    server = {
        "variables": {"log_bin": "ON", "log_slave_updates": "OFF"},
        "replication": {"replica_rows": [{"Slave_SQL_Running": "Yes"}], "replicas_connected": readers},
    }
    (finding,) = found("replica-updates-not-logged", "mariadb-10.11", tmp_path, server=server)
    assert finding.message.endswith(says)
    assert ("rebuild the replicas" in finding.help) is (readers > 1)


def test_where_the_error_of_a_worker_is(tmp_path: Path) -> None:
    """A worker's error is in a table of performance_schema, or where that is off in the error log alone."""
    row = {"Slave_SQL_Running": "No", "Last_SQL_Errno": "1062", "Last_SQL_Error": "Coordinator stopped because ..."}
    part = {"replica_rows": [row], "applier_times": [{"channel": "", "failed_table": "a.t"}]}
    findings = [
        found(
            "stopped-replica",
            "mysql-5.7.22",
            tmp_path,
            server={"variables": {"performance_schema": value}, "replication": part},
        )[0]
        for value in ("ON", "OFF")
    ]
    assert "error 1062 at table a.t" in findings[0].message
    assert "performance_schema.replication_applier_status_by_worker" in findings[0].help
    assert findings[1].help.endswith("details are in the replica's error log")


def test_the_place_of_what_was_applied(tmp_path: Path) -> None:
    """Of two places in files only the applier's is moved to a table; the message says that this is the default."""
    finding = found("replica-position-in-files", "mysql-5.7.22", tmp_path, "slave_parallel_workers = 4")[0]
    assert finding.message.startswith("relay_log_info_repository is FILE by default:")
    assert [action.option_line for action in finding.actions] == ["relay_log_info_repository = TABLE"]


@pytest.mark.parametrize(
    ("more", "says"),
    [
        ({}, "only every 10,000 events: after a crash it receives changes again and applies them twice."),
        ({"sync_source_info": "0", "sync_master_info": "0"}, "saves its receiver's position only when it stops:"),
        ({"sync_source_info": "1", "sync_master_info": "1"}, "trusts relay logs that a crash may have truncated."),
    ],
)
def test_how_seldom_the_receivers_position_is_saved(tmp_path: Path, more: dict[str, str], says: str) -> None:
    """A replica with file positions applies changes twice after a crash, unless its receiver's is saved each time."""
    replica = {"variables": {"relay_log_recovery": "OFF", **more}, "replication": {"replica_rows": [AT_A_POSITION]}}
    (finding,) = found("relay-logs-not-recovered", "mysql-8.0.43", tmp_path, server=replica)
    assert says in finding.message


def test_write_sets_need_the_order_of_commits(tmp_path: Path) -> None:
    """The advice of write sets names what replicas before 8.0.27 lack by default."""
    source = {"replication": {"replicas_connected": 1}}
    finding = found("commit-order-tracking", "mysql-8.0.15", tmp_path, server=source)[0]
    assert "keeps the commit order (before 8.0.27 the default is OFF)" in finding.help
    assert "replica_preserve_commit_order = ON first" in finding.actions[0].risk


def test_no_order_where_it_keeps_the_replica_from_starting(tmp_path: Path) -> None:
    """The order of commits isn't advised alone where something else is lacking for it."""
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
        (
            "galera-local-schema-changes",
            "mariadb-11.4",
            "wsrep_on = ON\nwsrep_OSU_method = RSU",
            "write wsrep_OSU_method",
        ),
        (
            "galera-local-schema-changes",
            "mariadb-11.8",
            "wsrep_on = ON\nwsrep_OSU_method = RSU",
            "write wsrep_OSU_method",
        ),
        ("unordered-parallel-replica", "mysql-9.7.4", "replica_preserve_commit_order = OFF", "write replica_preserve"),
    ],
)
def test_help_where_nothing_can_be_advised(rule: str, target: str, file: str, says: str, tmp_path: Path) -> None:
    """An option of a plugin is helped with in words, and one whose name has capitals keeps them."""
    assert says in found(rule, target, tmp_path, file)[0].help


def test_the_whole_remedy_of_a_log_that_grows(tmp_path: Path) -> None:
    """All that prevents the purge of a binary log is reported: expiry, purge, and replicas that it waits for."""
    file = "log_bin = b\nbinlog_expire_logs_seconds = 0\n"
    waits = {"status": {"slaves_connected": 0}, "replication": {}}
    for target, more, lines in (
        ("mysql-9.7.4", "binlog_expire_logs_auto_purge = OFF", ["binlog_expire_logs_auto_purge = ON"]),
        ("mariadb-11.8", "", ["slave_connections_needed_for_purge = 0"]),
        ("mariadb-10.11", "", []),
    ):
        finding = found("binary-log-never-expires", target, tmp_path, file + more, waits)[0]
        assert [action.option_line for action in finding.actions] == ["binlog_expire_logs_seconds = 2592000", *lines]


@pytest.mark.parametrize(("target", "words"), [("mysql-5.7.22", ""), ("mysql-8.0.15", "STOP SLAVE; ")])
def test_rows_are_logged_while_the_replica_is_stopped(target: str, words: str, tmp_path: Path) -> None:
    """MySQL 8.0 refuses another format of its log while a replica applies changes; 5.7 takes it."""
    file = "log_bin = b\nserver_id = 1\nbinlog_format = STATEMENT"
    (action,) = found("statement-based-log", target, tmp_path, file, replica(Slave_SQL_Running="Yes"))[0].actions
    assert (action.statement or "").startswith(f"{words}SET GLOBAL binlog_format")


def test_a_donor_whose_accounts_are_not_all_known(tmp_path: Path) -> None:
    """Where more accounts exist than are read by name, the rule about the donor's account is skipped, not passed."""
    provider = {"wsrep_on": "ON", "wsrep_provider": "/usr/lib/galera/libgalera_smm.so", "wsrep_sst_auth": ""}
    accounts = {"plugin": "mysql_native_password", "reach": "here", "count": 4, "names": "a@localhost"}
    kind = dict.fromkeys(("anonymous", "passwordless", "supreme"), False) | accounts
    node = {"variables": provider | {"wsrep_sst_method": "mariabackup"}, "accounts": [kind]}
    node["status"] = {"wsrep_cluster_status": "Primary"}
    file = "wsrep_on = ON\nwsrep_provider = /usr/lib/galera/libgalera_smm.so"
    name = "galera-transfer-without-account"
    case = Case(name, "", "mariadb-10.11", file, server=node, host={"process": {"uid": 999}})
    rule = find_rule(name)
    assert rule is not None
    with pytest.raises(MissingFact, match="three of each kind"):
        list(rule.check(context_of_case(case, tmp_path)))


def test_sets_that_the_server_cut_off_are_not_compared(tmp_path: Path) -> None:
    """The end of a long set is missing, so that the numbers at its cut are none of the server's."""
    rule = find_rule("errant-transactions")
    assert rule is not None
    uuid = "00000001-e8dd-11f1-af45-02fc00000001"
    for cut in (0, 1):
        servers = [{"executed": f"{uuid}:1-123", "sources": [1]}, {"executed": f"{uuid}:1-12"}]
        servers[cut]["cut"] = True
        server = {"replication": {"replica_rows": [{"Channel_Name": ""}]}, "chain": {"servers": servers}}
        with pytest.raises(MissingFact, match="the whole gtid_executed"):
            list(rule.check(context_of_case(Case(rule.name, "", "mysql-9.7.4", server=server), tmp_path)))


@pytest.mark.parametrize(
    ("variables", "says"),
    [
        ({"rpl_semi_sync_master_wait_no_slave": "ON"}, "no replica takes part: the next commit waits for the whole"),
        ({"rpl_semi_sync_master_wait_no_slave": "OFF"}, "no replica takes part: commits wait for none."),
    ],
)
def test_who_waits_for_no_replica(variables: dict[str, str], says: str, tmp_path: Path) -> None:
    """MariaDB's status is ON without a replica; whether a commit waits then depends on wait_no_slave."""
    status = {"rpl_semi_sync_master_status": "ON", "rpl_semi_sync_master_clients": "0"}
    source = {"variables": {"rpl_semi_sync_master_enabled": "ON"} | variables, "status": status}
    (finding,) = found("semi-sync-not-in-force", "mariadb-11.4", tmp_path, server=source)
    assert says in finding.message


@pytest.mark.parametrize(
    ("target", "database", "pattern"),
    [("mysql-8.0.15", "db1", "eu:database.%"), ("mysql-5.7.22", "eu:db1", "pattern database.%")],
)
def test_a_filter_of_one_channel(target: str, database: str, pattern: str, tmp_path: Path) -> None:
    """From 8.0 on a name before a colon is the channel, which the better filter needs too; before, it is the name."""
    (finding,) = found("filter-by-default-database", target, tmp_path, "replicate_do_db = eu:db1")
    assert f"changes a table of {database} from a session" in finding.message
    assert pattern in finding.help
