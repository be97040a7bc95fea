"""Error logs as they are handed over: behind the time stamps of journals and containers, in pieces, after a crash."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from advisor.collect.error_log import is_error_log, read_log_lines
from advisor.collect.error_log_messages import CAUSES, killed_by
from advisor.collect.pasted import facts_of_texts
from advisor.facts.server import ErrorLog
from rules.errorlog.ends import KILLED_FOR_MEMORY, START_REMEDIES

if TYPE_CHECKING:
    from pathlib import Path

MYSQL = """\
2026-11-25T14:22:01.832006Z 0 [System] [MY-010116] [Server] /usr/sbin/mysqld (mysqld 8.4.6) starting as process 259
2026-11-25T14:22:02.622984Z 0 [System] [MY-010931] [Server] /usr/sbin/mysqld: ready for connections. Version: '8.4.6'
"""
MARIADB = """\
2026-11-25  9:22:00 0 [Note] Starting MariaDB 11.8.9-MariaDB-4 source revision bf91 server_uid fX= as process 259
2026-11-25  9:22:01 0 [Note] /usr/sbin/mariadbd: ready for connections.
"""
ABORT = "2026-11-25T14:24:32.8Z 0 [ERROR] [MY-010119] [Server] Aborting\n"
STOP = "2026-11-25T15:00:00.1Z 0 [System] [MY-010910] [Server] mysqld: Shutdown complete (mysqld 8.4.6)  MySQL.\n"
STARTING = MYSQL.splitlines(keepends=True)[0]


def log_of(text: str) -> ErrorLog:
    """What was counted in a log."""
    return read_log_lines(text.split("\n"), "text").log


def events(text: str) -> dict[str, tuple[int, tuple[str, ...]]]:
    """The counts and details in a log, by kind."""
    return {event.kind: (event.count, event.details) for event in log_of(text).events}


def given(tmp_path: Path, *logs: bytes) -> ErrorLog:
    """What an audit reads from logs that are given as files."""
    paths = []
    for number, log in enumerate(logs):
        path = tmp_path / f"error.log.{number}"
        path.write_bytes(log)
        paths.append(str(path))
    log_read = facts_of_texts(paths).server.error_log
    assert log_read is not None
    return log_read


PREFIXES = (
    "2026-11-25T14:22:01+0000 db1 mysqld[77]: ",  # journalctl -o short-iso
    "2026-11-25T14:22:01.123456+0000 db1 mysqld[77]: ",  # journalctl -o short-iso-precise
    "2026-11-25T14:22:01.123456+00:00 db1 mysqld[77]: ",  # rsyslog of Debian 12 and Ubuntu 24.04
    "Wed 2026-11-25 14:22:01 UTC db1 mysqld[77]: ",  # journalctl -o short-full
    "2026-11-25T14:22:01.123456789Z ",  # docker logs -t, kubectl logs --timestamps
    "2026-11-25T14:22:01.123456789Z stderr F ",  # a file of containerd
    "2026-11-25T14:22:01.123456789+01:00 stdout F ",
    "db-1  | 2026-11-25T14:22:01.123456789Z ",  # docker compose logs -t
)


@pytest.mark.parametrize("prefix", PREFIXES)
@pytest.mark.parametrize("start", [MYSQL, MARIADB])
def test_time_stamps_of_journals_and_containers(prefix: str, start: str) -> None:
    """The server's own time stamp counts, whatever another program put before it."""
    bare = "14:23:02 UTC - mysqld got signal 11 ;\n"
    for text in (start * 2, start + bare + start):
        prefixed = "".join(f"{prefix}{line}\n" for line in text.splitlines())
        assert is_error_log(prefixed)
        plain, behind = log_of(text), log_of(prefixed)
        assert {event.kind for event in behind.events} == {event.kind for event in plain.events} != set()
        assert (behind.since, behind.until, behind.zone, behind.last_start) == (
            *(plain.since, plain.until, plain.zone, plain.last_start),
        )


def test_other_programs_in_a_syslog() -> None:
    """An error number in the line of another program is not the server's."""
    prefix = "2026-11-25T14:22:01.123456+00:00 db1 mysqld[77]: "
    other = "2026-11-25T14:22:09.123456+00:00 db1 backup[78]: rsync: write failed with error 28\n"
    assert events("".join(f"{prefix}{line}\n" for line in MYSQL.splitlines()) + other) == {}


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "utf-16-le", "utf-16-be"])
def test_logs_of_windows(encoding: str, tmp_path: Path) -> None:
    """Lines that end with a carriage return, and the encoding of PowerShell, hide no event."""
    text = (MYSQL + MYSQL + STARTING + ABORT).replace("\n", "\r\n")
    log = given(tmp_path, text.encode(encoding))
    assert {event.kind: event.count for event in log.events} == {"unclean": 1, "failed_start": 1}


def test_null_bytes_after_a_crash_of_the_host(tmp_path: Path) -> None:
    """After a power failure a block of null bytes stands before the next start."""
    log = given(tmp_path, MYSQL.encode() + bytes(5000) + MYSQL.encode())
    assert [event.kind for event in log.events] == ["unclean"]


def test_starts_that_never_become_ready() -> None:
    """Starts that follow each other without a message between failed, and the log ends without a running server."""
    log = log_of(MYSQL + STARTING * 3)
    assert [(event.kind, event.count) for event in log.events] == [("failed_start", 2)]
    assert not log.running
    assert events(STARTING + MYSQL) == {}  # the first start was that of an initialization
    assert log_of(MYSQL).running


def test_a_damaged_file_of_a_wrong_option_is_no_corruption() -> None:
    """Data files look damaged to a server with another page size, also if no later start succeeds."""
    page_size = (
        "2026-11-25T14:22:11.52Z 1 [ERROR] [MY-012222] [InnoDB] Data file './ibdata1' uses page size 16384, but the\n"
        "2026-11-25T14:22:11.57Z 1 [ERROR] [MY-012237] [InnoDB] Corrupted page [page id: space=0, page number=0] of\n"
    )
    assert events(STARTING + page_size + ABORT) == {"failed_start": (1, ("wrong option",))}


def test_a_later_log_without_starts_leaves_the_server_running(tmp_path: Path) -> None:
    """After a rotation the new log has no start; the server that the old log shows still runs."""
    denied = "2026-11-26T14:22:03Z 1 [Note] [MY-010926] [Server] Access denied for user 'a'@'b'\n" * 3
    failed = STARTING + ABORT + STOP
    assert given(tmp_path, (failed + MYSQL).encode(), denied.encode()).running
    assert not given(tmp_path, (failed + MYSQL).encode(), (denied + STOP.replace("-25T", "-26T")).encode()).running
    assert given(tmp_path, (MYSQL + MYSQL).encode(), MYSQL.replace("-25T", "-26T").encode()).events[0].count == 1


JOURNAL = "Nov 25 14:30:00 db1 "
FOR_MEMORY = (
    "kernel: Out of memory: Killed process 259 (mysqld) total-vm:9kB, anon-rss:8kB, file-rss:0kB, UID:27",
    "kernel: Memory cgroup out of memory: Killed process 259 (mariadbd) total-vm:9kB, anon-rss:8kB",
    "kernel: [77.1] Killed process 259, UID 27, (mysqld) total-vm:9kB",
    "systemd[1]: mysql.service: A process of this unit has been killed by the OOM killer.",
    "systemd[1]: mariadb@2.service: Failed with result 'oom-kill'.",
)


@pytest.mark.parametrize("line", FOR_MEMORY)
def test_the_kernel_killed_the_server(line: str) -> None:
    """A journal shows why the server ended, with a start after it or without."""
    for prefix in (JOURNAL, "2026-11-25T14:30:00.123456+00:00 db1 ", "2026-11-25T14:30:00+0000 db1 "):
        assert events(f"{MYSQL}{prefix}{line}\n{MYSQL}") == {"unclean": (1, (KILLED_FOR_MEMORY,))}
        log = log_of(f"{MYSQL}{prefix}{line}\n")
        assert [(event.kind, event.details) for event in log.events] == [("unclean", (KILLED_FOR_MEMORY,))]
        assert not log.running
        other = line.replace("(mysqld)", "(java)").replace("(mariadbd)", "(java)")
        other = other.replace("mysql.service", "java.service").replace("mariadb@2.service", "java.service")
        assert events(f"{MYSQL}{prefix}{other}\n") == {}


def test_systemd_ends_what_takes_too_long() -> None:
    """The time-outs of systemd for a stop and for a start are named."""
    stop = f"{JOURNAL}systemd[1]: mysql.service: State 'stop-sigterm' timed out. Killing.\n"
    assert events(MYSQL + stop + MYSQL) == {"unclean": (1, ("killed at systemd's stop time-out",))}
    start = f"{JOURNAL}systemd[1]: mysql.service: start operation timed out. Terminating.\n"
    failed = (1, ("ended at systemd's start time-out",))
    assert events(MYSQL + STOP + STARTING + start + MYSQL) == {"failed_start": failed}
    assert events(MYSQL + STOP + STARTING + start) == {"failed_start": failed}


def test_a_client_writes_no_line_of_systemd() -> None:
    """What a message quotes is not taken for a line of the kernel or of systemd."""
    quoted = "2026-11-25T14:30:00.1Z 8 [Note] [MY-010926] [Server] Access denied for user ' systemd[1]: mysql.service: "
    assert events(f"{MYSQL}{quoted}Failed with result 'oom-kill''@'b'\n{MYSQL}")["unclean"] == (1, ())


LINES = (
    ("files", "", "0 [ERROR] Error in accept: Too many open files"),
    ("files", "", "0 [ERROR] [MY-010283] [Server] Error in accept: Too many open files"),
    ("files", "", "9 [ERROR] mysqld: Can't open file: './d/t.frm' (errno: 24 \"Too many open files\")"),
    ("io_error", "", "9 [ERROR] [MY-012592] [InnoDB] Operating system error number 5 in a file operation."),
    ("io_error", "", "9 [ERROR] mariadbd: Error reading file './d/t.MYD' (Errcode: 5 \"Input/output error\")"),
    (
        "corruption",
        "d/t",
        (
            "9 [ERROR] [MY-012153] [InnoDB] Trying to access page number 7 in space 2, space name d/t, which is "
            "outside the tablespace bounds. Byte offset 0, len 16384, i/o type read."
        ),
    ),
    ("corruption", "d/t", "5 [ERROR] InnoDB: Trying to read 64 bytes at 1 outside the bounds of the file: ./d/t.ibd"),
    (
        "corruption",
        "d/t",
        (
            "0 [ERROR] [MY-011971] [InnoDB] Tablespace 'd/t' Page [page id: space=2, page number=2] log sequence "
            "number 20609255 is in the future! Current system log sequence number 19458145."
        ),
    ),
    (
        "corruption",
        "",
        "0 [ERROR] InnoDB: Page [page id: space=8, page number=0] log sequence number 1107167 is in the future!",
    ),
    ("corruption", "d/t", "4 [ERROR] InnoDB: The first page of file ./d/t.ibd is corrupted"),
    ("majority", "Inconsistency detected", "1 [ERROR] WSREP: Inconsistency detected: Inconsistent by consensus on a:1"),
    (
        "majority",
        "contains transactions not present in the group",
        (
            "0 [ERROR] [MY-011522] [Repl] Plugin group_replication reported: 'The member contains transactions not "
            "present in the group. The member will now exit the group.'"
        ),
    ),
    ("table_full", "m", "3 [ERROR] /usr/sbin/mysqld: The table 'm' is full"),
    ("table_full", "m", "8 [ERROR] [MY-013132] [Server] The table 'm' is full!"),
    ("table_full", "(temporary)", "6 [ERROR] mariadbd: The table '(temporary)' is full"),
    (
        "plugin",
        "foo.so",
        (
            "0 [ERROR] mariadbd: Can't open shared library '/usr/lib/mysql/plugin/foo.so' (errno: 2, cannot open "
            "shared object file: No such file or directory)"
        ),
    ),
    ("plugin", "foo.so", "0 [ERROR] [MY-010736] [Server] Couldn't load plugin named 'foo' with soname 'foo.so'."),
    ("plugin", "foo.so", "0 [ERROR] Couldn't load plugin 'foo' from 'foo.so'."),
    ("plugin", "foo.so", "0 [ERROR] Couldn't load plugins from 'foo.so'."),
    (
        "system_tables",
        "mysql.roles_mapping",
        "0 [ERROR] Missing system table mysql.roles_mapping; please run mysql_upgrade to create it",
    ),
    (
        "system_tables",
        "mysql.event",
        "0 [ERROR] Column count of mysql.event is wrong. Expected 22, found 21. The table is probably corrupted",
    ),
    (
        "system_tables",
        "mysql.tables_priv",
        "0 [ERROR] mariadbd: Cannot load from mysql.tables_priv. The table is probably corrupted",
    ),
    (
        "system_tables",
        "mysql.servers",
        "0 [ERROR] Can't open and lock privilege tables: Table 'mysql.servers' doesn't exist",
    ),
    ("log_off", "", "9 [ERROR] Could not use ./bin for logging (error 28). Turning logging off for the whole duration"),
    (
        "replication",
        "2061",
        (
            "5 [ERROR] [MY-010584] [Repl] Replica I/O for channel '': Error connecting to source 'r@h:3306'. Message: "
            "Authentication plugin 'caching_sha2_password' reported error: Authentication requires secure connection. "
            "Error_code: MY-002061"
        ),
    ),
)


@pytest.mark.parametrize(("kind", "detail", "line"), LINES)
def test_kinds_of_messages(kind: str, detail: str, line: str) -> None:
    """The texts of real servers have their kind, and a detail if they contain one."""
    assert events(f"2026-11-25 14:22:03 {line}") == {kind: (1, (detail,) if detail else ())}


def test_plugins_of_earlier_starts_do_not_count() -> None:
    """A plugin that could not be loaded counts until a start without the message."""
    lost = "2026-11-25T14:22:01.9Z 0 [ERROR] [MY-010736] [Server] Couldn't load plugin named 'f' with soname 'f.so'.\n"
    begun, ready = MYSQL.splitlines(keepends=True)[0], "".join(MYSQL.splitlines(keepends=True)[1:])
    assert events(begun + lost + ready) == {"plugin": (1, ("f.so",))}
    assert events(begun + lost + ready + STOP + begun + lost + ready) == {"plugin": (1, ("f.so",))}
    assert events(begun + lost + ready + STOP + MYSQL) == {}


def test_a_plugin_of_innodb_is_no_cause() -> None:
    """Every failed start of InnoDB logs that its plugin failed: that is no plugin to install."""
    assert events("2026-11-25 14:22:03 0 [ERROR] Plugin 'InnoDB' registration as a STORAGE ENGINE failed.") == {}
    failed = "2026-11-25 14:22:03 0 [ERROR] Plugin 'FILE_KEY' init function returned error."
    assert events(failed) == {"plugin": (1, ("FILE_KEY",))}


def test_retried_transactions_are_no_errors() -> None:
    """A lock wait of a replica's applier counts only if the replica gives up."""
    waited = "2026-11-25 14:22:03 5 [ERROR] Slave SQL: Could not execute Update_rows_v1 event on table d.t; Lock wait "
    waited += "timeout exceeded; try restarting transaction, Error_code: 1205; handler error HA_ERR_LOCK_WAIT_TIMEOUT"
    assert events(waited) == {}
    gave_up = (
        "2026-11-25 14:22:04 5 [ERROR] Slave SQL thread retried transaction 1 time(s) in vain, giving up. Consider "
    )
    assert events(f"{waited}\n{gave_up}raising the value") == {"replication": (1, ())}
    worker = "2026-11-25T14:22:04Z 9 [ERROR] [MY-010584] [Repl] Replica SQL for channel '': worker thread retried "
    worker += "transaction 1 time(s) in vain, giving up. Consider raising the value. Error_code: MY-001205"
    assert events(worker) == {"replication": (1, ("1205",))}


def test_error_numbers_that_only_begin_alike() -> None:
    """A number is an error number as a whole."""
    for line in ("Operating system error number 55 in a file operation.", "Got error (errno: 245)", "failed: errno 50"):
        assert events(f"2026-11-25T14:22:03Z 9 [ERROR] [MY-012592] [InnoDB] {line}") == {}


def test_the_log_that_pt_stalk_saves(tmp_path: Path) -> None:
    """The part of the error log in a directory of pt-stalk counts once, also beside the whole log."""
    stalked = tmp_path / "stalked"
    stalked.mkdir()
    (stalked / "2026_11_25_14_30_00-variables").write_text("Variable_name\tValue\nversion\t8.4.6\nport\t3306\n")
    (stalked / "2026_11_25_14_30_00-log_error").write_text(MYSQL + MYSQL)
    whole = tmp_path / "error.log"
    whole.write_text(ABORT.replace("-25T", "-20T") + MYSQL + MYSQL)
    for texts in ([str(stalked)], [str(stalked), str(whole)], [str(whole), str(stalked), str(whole)]):
        log = facts_of_texts(texts).server.error_log
        assert log is not None
        assert {event.kind: event.count for event in log.events}["unclean"] == 1
        assert log.read_from == "text"
    (stalked / "2026_11_25_14_30_00-log_error").write_text("")
    assert facts_of_texts([str(stalked)]).server.error_log is None


def test_remedies_belong_to_causes_that_are_logged() -> None:
    """Each cause that has a remedy of its own is one that the logs can have."""
    late = killed_by("mysql.service: start operation timed out. Terminating.")
    assert START_REMEDIES.keys() <= {*CAUSES.values(), KILLED_FOR_MEMORY, late}


CAUSES_OF_STARTS = (
    ("data directory, socket or port in use", "[ERROR] Do you already have another server running on port: 44581 ?"),
    (
        "data of another version",
        "[ERROR] InnoDB: Unsupported redo log format. The redo log was created with MySQL 8.0.",
    ),
    (
        "data of another version",
        "[ERROR] [MY-012526] [InnoDB] Upgrade after a crash is not supported. This redo log was created with 5.7.",
    ),
    (
        "data of another version",
        "[ERROR] [MY-013171] [InnoDB] Cannot boot server version 80015 on data directory built by version 90704.",
    ),
)


@pytest.mark.parametrize(("cause", "line"), CAUSES_OF_STARTS)
def test_causes_of_failed_starts(cause: str, line: str) -> None:
    """What a start logs before it fails is its cause, and what it says of files that it cannot read does not count."""
    missing = (
        "2026-11-25 14:24:02 0 [ERROR] InnoDB: Could not find a valid tablespace file for `mysql/help_category`.\n"
    )
    text = f"{STARTING}2026-11-25 14:24:01 0 {line}\n{missing}{ABORT}"
    assert events(text) == {"failed_start": (1, (cause,))}


def test_a_node_that_finds_no_cluster() -> None:
    """A Galera node alone does not start, and does not make a cluster of data that may be old."""
    for cause, line in (
        ("not safe to bootstrap", "[ERROR] WSREP: It may not be safe to bootstrap the cluster from this node. It was"),
        (
            "other nodes of the cluster not reached",
            "[ERROR] WSREP: failed to open gcomm backend connection: 110: failed",
        ),
    ):
        assert events(f"{STARTING}2026-11-25 14:24:01 0 {line}\n{ABORT}") == {"failed_start": (1, (cause,))}


def test_causes_of_crashes() -> None:
    """A disk that returns errors, the limit of open files and a binary log that cannot be written end a server."""
    signal = "2026-11-25T14:25:02Z UTC - mysqld got signal 6 ;\n"
    for cause, line in (
        ("input/output error", "[ERROR] [FATAL] InnoDB: fdatasync() returned 5"),
        ("too many open files", "[ERROR] [MY-012592] [InnoDB] Operating system error number 24 in a file operation."),
        ("binary log could not be written", "[ERROR] [MY-011072] [Server] Binary logging not possible. Message: x"),
    ):
        crash = events(f"{MYSQL}2026-11-25T14:25:01Z 9 {line}\n{signal}")["crash"]
        assert crash == (1, ("signal 6", cause))
