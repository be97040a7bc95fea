"""Events of error logs: the formats of every flavour, ends of servers, healthy servers, and hostile logs."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from advisor.collect.error_log import is_error_log, read_log_lines
from advisor.collect.logs import read_error_file, read_log_file
from advisor.collect.pasted import facts_of_texts
from advisor.facts.server import ErrorLog
from advisor.facts.snapshot import encode_snapshot

if TYPE_CHECKING:
    from pathlib import Path

    from advisor.facts import Unavailable

MYSQL_8 = """\
2026-11-25T14:22:01.832006Z 0 [System] [MY-010116] [Server] /usr/sbin/mysqld (mysqld 8.4.6) starting as process 259
2026-11-25T14:22:02.622984Z 0 [System] [MY-010931] [Server] /usr/sbin/mysqld: ready for connections. Version: '8.4.6'  \
socket: '/run/s'  port: 3306  MySQL.
"""
MYSQL_57 = """\
2026-11-25T14:22:01.832006Z 0 [Note] /usr/sbin/mysqld (mysqld 5.7.44) starting as process 259 ...
2026-11-25T14:22:02.622984Z 0 [Note] /usr/sbin/mysqld: ready for connections.
Version: '5.7.44'  socket: '/run/s'  port: 3306  MySQL Community Server (GPL)
"""
MARIADB = """\
2026-11-25  9:22:00 0 [Note] Starting MariaDB 11.8.9-MariaDB-4 source revision bf91 server_uid fX= as process 259
2026-11-25  9:22:01 0 [Note] /usr/sbin/mariadbd: ready for connections.
Version: '11.8.9-MariaDB-4 from Debian'  socket: '/run/s'  port: 3306
"""
STOP_8 = "2026-11-25T15:00:00.1Z 0 [System] [MY-010910] [Server] mysqld: Shutdown complete (mysqld 8.4.6)  MySQL.\n"


def events(text: str) -> dict[str, tuple[int, tuple[str, ...]]]:
    """The counts and details in a log, by kind."""
    return {event.kind: (event.count, event.details) for event in read_log_lines(text.split("\n"), "text").log.events}


@pytest.mark.parametrize(
    ("start", "report"),
    [
        (MYSQL_8, "2026-11-25T14:23:02Z UTC - mysqld got signal 11 ;\n"),
        (MYSQL_8, "14:23:02 UTC - mysqld got signal 11 ;\n"),
        (MYSQL_57, "14:23:02 UTC - mysqld got signal 11 ;\n"),
        (MARIADB, "261125 14:23:01 [ERROR] /usr/sbin/mariadbd got signal 11 ;\n"),
        (MARIADB, "261125  9:23:01 [ERROR] mysqld got signal 11 ;\n"),
    ],
)
def test_a_crash_is_counted_once(start: str, report: str) -> None:
    """A crash report ends the server, and the next start finds no unclean shutdown besides."""
    assert events(start + report + "stack_bottom = 0 thread_stack 0x100000\n" + start) == {"crash": (1, ("signal 11",))}


def test_a_crash_report_without_a_date_is_dated_by_the_next_message() -> None:
    """MySQL 5.7 and early 8.0 report a crash with the time of day alone: it is the last one before the next start."""
    for at, day in (("14:23:02", "27"), ("08:59:59", "28")):
        for start in (MYSQL_57, MYSQL_8):
            later = start.replace("2026-11-25T14:22", "2026-11-28T09:00")
            report = f"{at} UTC - mysqld got signal 11 ;\n{at} UTC - mysqld got signal 6 ;\n"
            (crash,) = read_log_lines((start + report + later).split("\n"), "text").log.events
            assert (crash.count, crash.first, crash.last) == (1, f"2026-11-{day} {at}", f"2026-11-{day} {at}")
        (crash,) = read_log_lines((start + report).split("\n"), "text").log.events
        assert crash.last == "2026-11-25 14:22:02"  # nothing shows when it was


def test_the_copy_of_a_crash_report_is_not_a_second_crash() -> None:
    """MySQL 9.7 copies the report with time stamps at the next start."""
    crash = "2026-11-25T14:23:02Z UTC - mysqld got signal 6 ;"
    copied = f"2026-11-25T14:23:02.1Z 0 [System] [MY-013951] [Server] {crash}\n"
    assert events(f"{MYSQL_8}{crash}\n{copied}{MYSQL_8}") == {"crash": (1, ("signal 6",))}


@pytest.mark.parametrize("start", [MYSQL_8, MYSQL_57, MARIADB])
def test_a_start_without_a_shutdown_before(start: str) -> None:
    """A second successful start without a shutdown or a crash report between is an unclean shutdown."""
    assert events(start + start) == {"unclean": (1, ())}


def test_a_shutdown_is_clean() -> None:
    """Starts with shutdowns between have no events."""
    assert events((MYSQL_8 + STOP_8) * 3) == {}


@pytest.mark.parametrize("program", [r"C:\Program Files\MySQL\MySQL Server 8.4\bin\mysqld.exe", "/opt/my sql/mysqld"])
def test_the_path_of_the_program_may_contain_blanks(program: str) -> None:
    """Starts, shutdowns and a program's messages about itself are found below any path, such as that of Windows."""
    start, stop = MYSQL_8.replace("/usr/sbin/mysqld", program), STOP_8.replace("mysqld:", f"{program}:")
    aborted = f"{start.splitlines()[0]}\n2026-11-25T14:24:32.8Z 0 [ERROR] [MY-010119] [Server] Aborting\n"
    assert events(start + start) == {"unclean": (1, ())}
    assert events((start + stop) * 2) == {}
    log = read_log_lines((aborted + start).split("\n"), "text").log
    assert (log.running, [event.kind for event in log.events]) == (True, ["failed_start"])
    closed = f"2026-11-25 14:30:00 0 [Note] {program} (initiated by: root[root] @ h []): Normal shutdown\n"
    assert events(start + closed + start) == {"unclean": (1, ("while it was shutting down",))}


def test_starts_of_older_mariadb_servers() -> None:
    """MariaDB 10.6.11 and older begin with `server`, and with the version that an option gives beside their own."""
    for version in ("10.6.9-MariaDB", "10.6.9-MariaDB as 10.6.9-custom"):
        first, rest = MARIADB.split("\n", 1)
        first = f"{first.partition('Starting')[0]}/usr/sbin/mariadbd (server {version}) starting as process 1 ..."
        start = f"{first}\n{rest}".replace("11.8.9-MariaDB-4 from Debian", "10.6.9-MariaDB")
        assert events(start * 2) == {"unclean": (1, ())}
        assert read_log_lines(start.split("\n"), "text").log.version == "10.6.9-MariaDB"


@pytest.mark.parametrize("prefix", ["Nov 25 14:22:01 db1 mysqld[77]: ", "2026-11-25T14:22:01.000Z ", "mysql-1  | "])
def test_prefixes_of_journals_and_containers(prefix: str) -> None:
    """What journald, docker or compose puts before each line changes nothing."""
    text = "".join(f"{prefix}{line}\n" for line in (MYSQL_8 + MYSQL_8).splitlines())
    assert is_error_log(text)
    assert events(text) == {"unclean": (1, ())}


PAGE_SIZE = """\
2026-11-25T14:22:11.52Z 1 [ERROR] [MY-012222] [InnoDB] Data file './ibdata1' uses page size 16384, but the \
innodb_page_size start-up parameter is 4096
2026-11-25T14:22:11.57Z 1 [ERROR] [MY-012237] [InnoDB] Corrupted page [page id: space=0, page number=0] of datafile \
'./ibdata1' could not be found in the doublewrite buffer.
2026-11-25T14:22:12.07Z 0 [ERROR] [MY-010119] [Server] Aborting
"""


def test_a_wrong_option_is_no_corruption() -> None:
    """What a failed start logs explains the failure if a later start succeeds; otherwise it counts as well."""
    starting = MYSQL_8.splitlines(keepends=True)[0]
    assert events(starting + PAGE_SIZE + STOP_8 + MYSQL_8) == {"failed_start": (1, ("wrong option",))}
    corrupt = PAGE_SIZE.split("\n", 1)[1]
    assert events(starting + corrupt) == {"failed_start": (1, ("corrupted data",)), "corruption": (1, ())}


def test_a_second_server_on_the_same_data() -> None:
    """Its failed start and its own shutdown do not end the server that runs."""
    starting = MYSQL_8.splitlines(keepends=True)[0]
    lock = "2026-11-25T14:22:52.7Z 1 [ERROR] [MY-012574] [InnoDB] Unable to lock ./ibdata1 error: 11\n" * 9
    abort = "2026-11-25T14:24:32.8Z 0 [ERROR] [MY-010119] [Server] Aborting\n"
    text = MYSQL_8 + starting + lock + abort + STOP_8
    assert events(text) == {"failed_start": (1, ("data directory, socket or port in use",))}
    assert read_log_lines(text.split("\n"), "text").log.running


LINES = (
    ("memory", "", "0 [ERROR] mysqld: Out of memory (Needed 129568 bytes)"),
    ("memory", "", "0 [ERROR] InnoDB: Cannot allocate 34359738368 bytes of memory after 60 retries over 60 seconds."),
    ("memory", "", "0 [ERROR] InnoDB: Cannot allocate memory for the buffer pool"),
    ("threads", "", "0 [ERROR] [MY-010249] [Server] Can't create thread to handle new connection(errno= 11)"),
    ("semaphore", "", "0 [Warning] InnoDB: A long semaphore wait:"),
    ("corruption", "", "0 [ERROR] InnoDB: Database page corruption on disk or a failed file read of page [page id: s"),
    (
        "corruption",
        "d/t",
        ("0 [ERROR] InnoDB: Failed to read page 5 from file './d/t.ibd': Page read from tablespace is corrupted."),
    ),
    ("crashed_table", "d/m", "7 [ERROR] mysqld: Table './d/m' is marked as crashed and should be repaired"),
    ("crashed_table", "d/m", "7 [ERROR] mysqld: Incorrect key file for table './d/m.MYI'; try to repair it"),
    (
        "crashed_table",
        "d/a",
        ("7 [ERROR] mariadbd: Got error '145 \"Table was marked as crashed and should be repaired\"' for './d/a'"),
    ),
    (
        "missing",
        "d/gone",
        ("1 [Warning] [MY-012351] [InnoDB] Tablespace 3, name 'd/gone', file './d/gone.ibd' is missing!"),
    ),
    ("missing", "d/gone", "0 [ERROR] InnoDB: Could not find a valid tablespace file for d/gone. Please refer to"),
    ("disk_full", "", "3 [ERROR] InnoDB: preallocating 230686720 bytes for file ./d/r.ibd failed with error 28"),
    ("disk_full", "", "3 [ERROR] mysqld: Error writing file '/tmp/MLx' (Errcode: 28 \"No space left on device\")"),
    ("disk_full", "", "3 [ERROR] [MY-000035] [Server] Disk is full writing './d/m.MYD' (OS errno 28 - No space left)."),
    ("read_only", "", "5 [ERROR] [MY-012592] [InnoDB] Operating system error number 30 in a file operation."),
    ("read_only", "", "0 [ERROR] mariadbd: Can't create/write to file './ddl' (Errcode: 30 \"Read-only file system\")"),
    ("redo", "", "0 [ERROR] InnoDB: The age of the last checkpoint is 9120, which exceeds the log group capacity 9060"),
    ("denied", "", "12 [Warning] Access denied for user 'app'@'10.0.0.7' (using password: YES)"),
    (
        "aborted",
        "Got timeout reading communication packets",
        (
            "43 [Warning] Aborted connection 43 to db: 'd' user: 'u' "
            "host: 'h' (Got timeout reading communication packets)"
        ),
    ),
    (
        "connections",
        "",
        (
            "0 [Warning] Aborted connection 0 to db: 'unconnected' user: 'unauthenticated' host: "
            "'connecting host' (Too many connections)"
        ),
    ),
    (
        "replication",
        "1062",
        (
            "12 [ERROR] [MY-010584] [Repl] Replica SQL for channel '': Could not execute Write_rows "
            "event on table d.t; Duplicate entry '1' for key 't.PRIMARY', Error_code: MY-001062"
        ),
    ),
    (
        "replication",
        "1236",
        (
            "8 [ERROR] Master 'us': Slave I/O: Got fatal error 1236 from master when reading data from binary log: "
            "'Binary log is not open', Internal MariaDB error code: 1236"
        ),
    ),
    (
        "majority",
        "",
        (
            "0 [ERROR] [MY-011505] [Repl] Plugin group_replication reported: 'Member was expelled from the "
            "group due to network failures, changing member status to ERROR.'"
        ),
    ),
)


@pytest.mark.parametrize(("kind", "detail", "line"), LINES)
def test_kinds_of_messages(kind: str, detail: str, line: str) -> None:
    """The texts of real servers have their kind, and a detail if they contain one."""
    assert events(f"2026-11-25 14:22:03 {line}") == {kind: (1, (detail,) if detail else ())}


HEALTHY = (
    "0 [Note] InnoDB: Starting crash recovery from checkpoint LSN=45093",
    "0 [Note] InnoDB: File './ibtmp1' size is now 12.000MiB.",
    "0 [Note] InnoDB: Buffer pool(s) load completed at 261125 14:22:00",
    "0 [Warning] Could not increase number of max_open_files to more than 20000 (request: 32184)",
    "0 [Warning] [MY-010068] [Server] CA certificate ca.pem is self signed.",
    "0 [Note] InnoDB: page_cleaner: 1000ms intended loop took 4028ms.",
    "0 [Note] Event Scheduler: Loaded 28 events",
    (
        "4 [ERROR] [MY-010584] [Repl] Replica I/O for channel '': Error reconnecting to source 'r@h:3306': Can't "
        "connect to MySQL server on 'h:3306' (111), Error_code: MY-002003"
    ),
    "0 [Note] WSREP: Shifting JOINED -> SYNCED (TO: 281)",
    "9 [Note] Aborted connection 9 to db: 'error 28' user: 'got signal 11 ;' host: 'h' (error 28)",
)


def test_healthy_servers_log_no_events() -> None:
    """Usual messages, a source that restarts and words in names of clients are not events, except aborted ones."""
    text = MARIADB + "".join(f"2026-11-25 14:22:03 {line}\n" for line in HEALTHY)
    assert events(text) == {"aborted": (1, ())}


LEFT = "2026-11-25 14:30:00 0 [Note] WSREP: Shifting SYNCED -> OPEN (TO: 3)\n"
SHUT = "2026-11-25 14:29:59 0 [Note] /usr/sbin/mariadbd (initiated by: root[root] @ localhost []): Normal shutdown\n"
DOWN = "2026-11-25 14:30:01 0 [Note] /usr/sbin/mariadbd: Shutdown complete\n"


def test_a_node_that_is_shut_down_leaves_its_cluster() -> None:
    """Galera's state without a primary component counts, except during a shutdown."""
    assert events(MARIADB + LEFT) == {"majority": (1, ())}
    assert events(MARIADB + SHUT + LEFT + DOWN + MARIADB) == {}


def test_a_shutdown_that_does_not_end() -> None:
    """A server that was killed while it was shutting down is found with that detail."""
    assert events(MARIADB + SHUT + MARIADB) == {"unclean": (1, ("while it was shutting down",))}


def test_times_are_utc_or_the_servers_own() -> None:
    """Offsets are converted, MariaDB's times stay as logged, and the peak is the most within an hour."""
    local = MYSQL_8.replace("Z 0", "+02:00 0")
    assert read_log_lines(local.split("\n"), "text").log.since == "2026-11-25 12:22:01"
    log = read_log_lines(MARIADB.split("\n"), "text").log
    assert (log.zone, log.last_start, log.version) == ("", "2026-11-25 09:22:01", "11.8.9-MariaDB-4")
    denied = [f"2026-11-25T{hour}:22:01Z 1 [Note] Access denied for user 'a'@'b'" for hour in (10, 11, 11)]
    (event,) = read_log_lines(denied, "text").log.events
    assert (event.count, event.peak, event.first, event.last) == (
        3,
        2,
        "2026-11-25 10:22:01",
        "2026-11-25 11:22:01",
    )


def test_the_json_sink() -> None:
    """MySQL's JSON lines have the same events."""
    crash = (
        '{ "log_type" : 1, "err_code" : 13951, "prio" : 0, "msg" : "2026-11-25T14:25:52Z UTC - mysqld got signal 11 ;"'
        ', "time" : "2026-11-25T14:25:52.446996Z", "label" : "System" }'
    )
    ready = (
        '{ "prio" : 0, "err_code" : 10931, "msg" : "/usr/sbin/mysqld: ready for connections. Version: \'9.7.4\'", '
        '"time" : "2026-11-25T14:25:55.768491Z", "label" : "System" }'
    )
    assert is_error_log(f"{crash}\n{ready}\n")
    assert events(f"{crash}\n{ready}\n") == {"crash": (1, ("signal 11",))}


def test_only_the_last_part_of_a_large_file_is_read(tmp_path: Path) -> None:
    """The newest events are found within the budget, and the log says from when on it was read."""
    noise = "2026-11-20T14:22:03Z 1 [Note] Access denied for user 'a'@'b' (using password: YES)\n" * 40_000
    file = tmp_path / "error.log"
    file.write_text(noise + (MYSQL_8 + MYSQL_8), "utf-8")
    log = read_log_file(str(file), max_bytes=1 << 20, max_seconds=600)
    assert isinstance(log, ErrorLog)
    assert {event.kind for event in log.events} == {"denied", "unclean"}
    assert log.cut.startswith("the error log has ")
    whole = read_log_file(str(file), max_seconds=600)
    assert isinstance(whole, ErrorLog)
    assert not whole.cut
    assert {event.kind: event.count for event in whole.events} == {"denied": 40_000, "unclean": 1}


def test_no_time_is_left(tmp_path: Path) -> None:
    """Without time nothing is read, and the log says so."""
    file = tmp_path / "error.log"
    file.write_text(MYSQL_8 * 2, "utf-8")
    log = read_log_file(str(file), max_seconds=-1)
    assert isinstance(log, ErrorLog)
    assert log.events == ()
    assert log.cut


def test_what_is_not_a_file_is_not_read(tmp_path: Path) -> None:
    """A FIFO does not hang, a device is not read, and the reason names the remedy."""
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    for place in (str(fifo), "/dev/null", "/dev/zero"):
        notes: list[Unavailable] = []
        assert read_error_file({"log_error": place, "datadir": "/var/lib/mysql"}, 1, notes, tabled=None) is None
        (note,) = notes
        assert note.part == "server.error_log"
        assert "journalctl" in note.reason
    notes = []
    assert read_error_file({"log_error": str(tmp_path / "none")}, 1, notes, tabled=None) is None
    assert "can't be read" in notes[0].reason


def test_the_rotated_file_is_read_too(tmp_path: Path) -> None:
    """The log before the last rotation belongs to the server's log, and a running server needs no start in the new."""
    file = tmp_path / "error.log"
    file.write_text(MYSQL_8, "utf-8")
    (tmp_path / "error.log.1").write_text(MYSQL_8, "utf-8")
    notes: list[Unavailable] = []
    log = read_error_file({"log_error": str(file)}, 1, notes, tabled=None)
    assert log is not None
    assert [event.kind for event in log.events] == ["unclean"]
    assert notes == []
    alone = read_log_file(str(file))
    assert isinstance(alone, ErrorLog)
    assert alone.events == ()


def test_the_table_is_used_if_it_begins_earlier(tmp_path: Path) -> None:
    """An empty file after a rotation does not hide what the table still has."""
    file = tmp_path / "error.log"
    file.write_text("", "utf-8")
    tabled = ErrorLog("table", zone="UTC", since="2026-11-20 10:00:00")
    assert read_error_file({"log_error": str(file)}, 1, [], tabled=tabled) is tabled
    file.write_text(MYSQL_8, "utf-8")
    assert read_error_file({"log_error": str(file)}, 1, [], tabled=tabled) is tabled
    later = ErrorLog("table", zone="UTC", since="2026-11-26 10:00:00")
    log = read_error_file({"log_error": str(file)}, 1, [], tabled=later)
    assert log is not None
    assert log.read_from == "file"


def test_hostile_logs_take_no_memory(tmp_path: Path) -> None:
    """Long lines, bytes that are no text and thousands of names end in bounded facts without control characters."""
    names = "".join(
        f"2026-11-25T14:22:03Z 1 [ERROR] mysqld: Table './d/\x1b[31m{i}' is marked as crashed and\n"
        for i in range(5000)
    )
    file = tmp_path / "error.log"
    file.write_bytes(b"\xff\xfe\0" * 100_000 + b"\n" + names.encode() + b"2026-" * 300_000)
    log = read_log_file(str(file), max_seconds=600)
    assert isinstance(log, ErrorLog)
    (event,) = log.events
    assert event.count == 5000
    assert len(event.details) == 3
    assert all(detail.isprintable() for detail in event.details)


def test_an_error_log_alone_is_audited(tmp_path: Path) -> None:
    """The version comes from the log; everything else is listed as not read."""
    file = tmp_path / "error.log"
    file.write_text(MARIADB * 2, "utf-8")
    facts = facts_of_texts([str(file)])
    assert (facts.server.flavour, facts.server.version) == ("mariadb", "11.8.9")
    assert facts.server.error_log is not None
    assert [event.kind for event in facts.server.error_log.events] == ["unclean"]
    assert "server.error_log" not in {gap.part for gap in facts.unavailable}


def test_no_text_of_a_message_is_kept(tmp_path: Path) -> None:
    """Statements, accounts, hosts and passwords that the log quotes are in none of the facts."""
    quoting = (
        "261125 14:23:01 [ERROR] /usr/sbin/mariadbd got signal 11 ;\n"
        "Query (0x7f2c): CREATE USER hidden IDENTIFIED BY 'Hidden-Pass1'\n"
        "2026-11-25 14:24:00 7 [Warning] Access denied for user 'hidden'@'hidden.example' (using password: YES)\n"
        "2026-11-25 14:24:00 7 [Warning] Aborted connection 7 to db: 'hidden' user: 'hidden' host: 'hidden' (hidden)\n"
        "2026-11-25 14:24:00 7 [ERROR] Slave SQL: Error 'x' on query. Query: 'SET x = hidden', Error_code: 1064\n"
    )
    file = tmp_path / "error.log"
    file.write_text(MARIADB + quoting, "utf-8")
    facts = facts_of_texts([str(file)])
    assert facts.server.error_log is not None
    assert {event.kind for event in facts.server.error_log.events} == {"crash", "denied", "aborted", "replication"}
    assert "hidden" not in encode_snapshot(facts).decode().lower()


def test_several_files_are_one_log(tmp_path: Path) -> None:
    """Rotated files in any order are counted together, and the newest one has the version."""
    old, new = tmp_path / "error.log.1", tmp_path / "error.log"
    old.write_text(MYSQL_8 * 2, "utf-8")
    new.write_text((MYSQL_8 * 2).replace("2026-11-25", "2026-11-26").replace("8.4.6", "8.4.7"), "utf-8")
    facts = facts_of_texts([str(new), str(old)])
    assert facts.server.version == "8.4.7"
    assert facts.server.error_log is not None
    (event,) = facts.server.error_log.events
    assert (event.count, event.first, event.last) == (2, "2026-11-25 14:22:01", "2026-11-26 14:22:01")
    assert facts.server.error_log.since == "2026-11-25 14:22:01"


def test_other_texts_are_not_taken_for_an_error_log() -> None:
    """A ticket with variables stays what it is, even if it quotes a log."""
    assert not is_error_log("Variable_name\tValue\nversion\t8.4.6\n" + MYSQL_8)
    assert not is_error_log("[mysqld]\nport=3306\n")
    assert is_error_log(MYSQL_57)
