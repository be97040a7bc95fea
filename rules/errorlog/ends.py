"""ERR: rules about crashes, unclean shutdowns, failed and incomplete starts, and the causes of these."""

from __future__ import annotations

from advisor.core.model import Confidence, Severity
from rules.core import Docs, rule
from rules.errorlog import event_finding, how_often, in_brackets, messages, recent_event

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from advisor.core.model import Finding
    from rules.core.context import RuleContext

MANY = 3  # unclean shutdowns that are no accident any more
KILLED_FOR_MEMORY = "killed by the kernel for lack of memory"  # a cause that the error log of an audit has
LESS_MEMORY = "lower what the server may use (mycnf explain MEM001), or raise the memory limit of its unit or container"
FIND_THE_END = (
    "look for the OOM killer, a power loss or a stop time-out at that time: journalctl -k, journalctl -u of the service"
)
READ_THE_ERROR = (
    "read the first [ERROR] after that start in the error log; check option files with mycnf lint before a restart"
)
# By the cause that the server logged.
START_REMEDIES = {
    "wrong option": READ_THE_ERROR,
    "data of another version": "start the version that wrote the data, shut it down cleanly, and upgrade from there",
    "encryption key missing": "make the keyring, or the file with the keys, available to the server before it starts",
    "permission denied": "check owner and mode of the path in the first [ERROR], and SELinux or AppArmor in dmesg",
    "data directory, socket or port in use": "see which process holds them: ss -ltnp, fuser -v on ibdata1",
    "disk full": "free space for the data directory, tmpdir and the binary logs before the next start",
    "other nodes of the cluster not reached": "start the other nodes first, or see whether the network reaches them",
    "not safe to bootstrap": "start the node that left last first: the one with safe_to_bootstrap: 1 or the highest "
    "seqno in grastate.dat",
    "state transfer failed": "read the donor's error log at that time, and the messages of WSREP_SST in this one",
    "ended at systemd's start time-out": "let recovery finish: raise TimeoutStartSec of the unit",
    KILLED_FOR_MEMORY: LESS_MEMORY,
}


@rule(
    "ERR001",
    "server-crashed",
    needs=("server",),
    evidence=("ASK-ERR-01", "ASK-ERR-15", "VENDOR-ERR-01"),
    summary="The error log contains crashes of the server.",
    docs=Docs(
        why="The server wrote a crash report (such as got signal 11 or 6; exception on Windows) or InnoDB stopped it. "
        "All sessions were lost, and the next start ran crash recovery. The brackets contain the signal, and what the "
        "server logged just before: a failed assertion, a full disk, no memory, corrupted pages.",
        fix="Remove the logged cause first. Otherwise search the bug lists for the functions in the stack trace, and "
        "install the newest patch release of the series. Test the memory of the host if the traces differ.",
        risk="None in reading the report. An upgrade needs its usual tests.",
        exceptions="A signal that was sent on purpose (kill -ABRT for a core file).",
        reconsider_when="The crash has a known cause that was removed. The finding becomes a note after a week, and "
        "ends after 90 days.",
    ),
)
def server_crashed(context: RuleContext) -> Iterator[Finding]:
    """Report crash reports in the error log."""
    event = recent_event(context, "crash")
    if event:
        yield event_finding(
            context,
            server_crashed,
            event,
            f"The server crashed {how_often(event)}{in_brackets(event)}",
            "read the crash report in the error log at that time; remove the cause that is logged before it, or look "
            "for its functions in the release notes of newer patch releases",
        )


@rule(
    "ERR002",
    "unclean-shutdown",
    severity=Severity.NOTE,
    needs=("server",),
    evidence=("ASK-ERR-02",),
    summary="The server ended without a shutdown and without a crash report.",
    docs=Docs(
        why="A start in the error log has no shutdown before it and no crash report. The process was killed (kill -9, "
        "the kernel's OOM killer, a container or systemd after its stop time-out), or the host lost power. InnoDB "
        "recovers; MyISAM tables may be damaged, and commits may be lost where durability is relaxed. From three times "
        "on, or if a journal shows that the kernel killed it for lack of memory, the finding is a warning.",
        fix="Look in the kernel's log at that time: journalctl -k | grep -i 'out of memory'; if the host was started "
        "since, journalctl -k -b -1. Raise TimeoutStopSec or the container's stop time-out if a shutdown takes longer "
        "than these allow.",
        risk="None.",
        exceptions="Tests, hosts that were reset on purpose, and a given text that mixes the logs of several servers.",
        reconsider_when="The error log misses the messages of starts and stops: log_error_verbosity below 3 in MySQL "
        "5.7, silent_startup in MariaDB.",
    ),
)
def unclean_shutdown(context: RuleContext) -> Iterator[Finding]:
    """Report starts after neither a shutdown nor a crash report, and ends that systemd or the kernel logged."""
    event, log = recent_event(context, "unclean"), context.server.error_log
    if event and log:
        for_memory = KILLED_FOR_MEMORY in event.details
        is_down = bool(log.last_start) and not log.running and event.last >= log.last_start
        yield event_finding(
            context,
            unclean_shutdown,
            event,
            f"The server ended {how_often(event)} without shutdown and crash report{in_brackets(event)}"
            + ("" if is_down else ", found at the next start"),
            LESS_MEMORY if for_memory else FIND_THE_END,
            Severity.WARNING if event.count >= MANY or for_memory else None,
        )


@rule(
    "ERR003",
    "failed-start",
    severity=Severity.NOTE,
    needs=("server",),
    evidence=("ASK-ERR-03", "ASK-ERR-20", "ASK-ERR-22"),
    summary="Starts of the server failed.",
    docs=Docs(
        why="The server logged Aborting, or another start followed before it was ready. If the server runs now, a "
        "later start succeeded. What a failed start logged about corruption, memory or disks counts only as its cause, "
        "because a wrong option produces the same messages. The finding is an error if a given text ends without a "
        "running server.",
        fix="Remove the cause. mycnf lint FILE --target VERSION finds options that the version does not know before a "
        "restart.",
        risk="None.",
        exceptions="Starts with wrong options that were corrected, and a second server on the same data by mistake.",
        reconsider_when="Nothing: the finding ends by itself after 90 days.",
    ),
)
def failed_start(context: RuleContext) -> Iterator[Finding]:
    """Report failed starts with the causes that they logged."""
    event, log = recent_event(context, "failed_start"), context.server.error_log
    if event and log:
        down = log.read_from == "text" and not log.running
        yield event_finding(
            context,
            failed_start,
            event,
            f"The server failed to start {how_often(event)}{in_brackets(event)}",
            _start_remedy(event.details),
            Severity.ERROR if down else None,
        )


def _start_remedy(causes: tuple[str, ...]) -> str:
    """What to do about the most frequent cause that has a remedy of its own."""
    return next((START_REMEDIES[cause] for cause in causes if cause in START_REMEDIES), READ_THE_ERROR)


@rule(
    "ERR004",
    "out-of-memory-logged",
    needs=("server",),
    evidence=("ASK-ERR-04",),
    summary="The server could not allocate memory.",
    docs=Docs(
        why="The server or InnoDB asked for memory and did not get it: a limit of the process (ulimit -v, LimitAS of "
        "the unit), vm.overcommit_memory=2, vm.max_map_count, or a request larger than the memory and swap of the "
        "host. The limit of a control group (MemoryMax, a container's limit) refuses no request: at that limit the "
        "kernel kills the server, which is ERR002 or MEM006. The statement fails; InnoDB may end the server.",
        fix="Find the limit in /proc/PID/limits, vm.overcommit_memory and vm.max_map_count. Then lower what the "
        "server uses (MEM rules), or raise the limit.",
        risk="A smaller buffer pool reads more from disk.",
        exceptions="A single statement with a huge session buffer, set by the session itself.",
        reconsider_when="The limit was raised since.",
    ),
)
def out_of_memory_logged(context: RuleContext) -> Iterator[Finding]:
    """Report failed allocations of memory."""
    event = recent_event(context, "memory")
    if event:
        yield event_finding(
            context,
            out_of_memory_logged,
            event,
            f"The server could not allocate memory, {messages(event)}",
            "compare the memory limit of the process (ulimit -v, LimitAS, vm.overcommit_memory) with what the server "
            "may use, mycnf explain MEM001",
        )


@rule(
    "ERR005",
    "threads-not-created",
    needs=("server",),
    evidence=("ASK-ERR-04",),
    summary="The server could not create a thread for a connection.",
    docs=Docs(
        why="Error 11 or 12 of the operating system: a limit of processes and threads (TasksMax of the unit, pids.max "
        "of the control group, ulimit -u), or no memory for the thread's stack. The client's connection fails, "
        "although max_connections is not reached.",
        fix="Compare TasksMax, pids.max and ulimit -u of the server's account with max_connections plus the server's "
        "own threads: at least fifty, more with many I/O and purge threads or replication workers. kernel.threads-max "
        "and vm.max_map_count limit the whole host and each process.",
        risk="None.",
        exceptions="None.",
        reconsider_when="The limit was raised since.",
    ),
)
def threads_not_created(context: RuleContext) -> Iterator[Finding]:
    """Report connections that failed because no thread could be created."""
    event = recent_event(context, "threads")
    if event:
        yield event_finding(
            context,
            threads_not_created,
            event,
            f"The server could not create threads for connections, {messages(event)}",
            "raise the limit of threads: TasksMax of the unit, pids.max of the container, ulimit -u of the account; "
            "or the memory limit",
        )


@rule(
    "ERR006",
    "long-semaphore-waits",
    confidence=Confidence.LIKELY,
    needs=("server",),
    evidence=("ASK-ERR-05",),
    summary="Threads of InnoDB waited for minutes for a latch.",
    docs=Docs(
        why="MySQL warns if a thread of InnoDB waits longer than 240 seconds for a latch, and ends the server after "
        "600. The messages of MariaDB 10.11 to 11.8 name only the latch of the data dictionary and the flush of the "
        "doublewrite buffer; it ends the server if a wait for that latch reaches "
        "innodb_fatal_semaphore_wait_threshold, by default 600 seconds. Usually the disk did not answer (a snapshot, "
        "a controller, a network volume, a full disk); seldom it is a bug or one huge operation: DROP of a large "
        "table, the adaptive hash index, DDL.",
        fix="Compare the time with the latency of the disk and with backups and snapshots. If the disk answered, "
        "look for the named source lines in the release notes of newer patch releases.",
        risk="None in looking. On MariaDB a higher innodb_fatal_semaphore_wait_threshold only delays the end.",
        exceptions="The host or virtual machine was suspended.",
        reconsider_when="The disk was replaced or the freeze is explained.",
    ),
)
def long_semaphore_waits(context: RuleContext) -> Iterator[Finding]:
    """Report long semaphore waits."""
    event = recent_event(context, "semaphore")
    if event:
        yield event_finding(
            context,
            long_semaphore_waits,
            event,
            f"Threads of InnoDB waited for minutes for a latch, {messages(event)}",
            "compare the time with disk latency, snapshots, backups and large DDL",
        )


@rule(
    "ERR020",
    "too-many-open-files-logged",
    needs=("server",),
    evidence=("ASK-ERR-18",),
    summary="The server reached its limit of open files.",
    docs=Docs(
        why="Error 24 (EMFILE): the process has as many files and connections open as its limit allows. New "
        "connections get no answer or are closed, and statements fail on tables that have to be opened.",
        fix="Raise the limit of the process (LimitNOFILE of the unit, ulimit -n), and open_files_limit with it. See "
        "whether max_connections and table_open_cache together need more than the limit.",
        risk="None: the kernel needs memory only for files that are open.",
        exceptions="None.",
        reconsider_when="The limit was raised since.",
    ),
)
def too_many_open_files_logged(context: RuleContext) -> Iterator[Finding]:
    """Report messages about the limit of open files."""
    event = recent_event(context, "files")
    if event:
        yield event_finding(
            context,
            too_many_open_files_logged,
            event,
            f"The server reached its limit of open files, {messages(event)}",
            "raise LimitNOFILE of the unit or ulimit -n, and open_files_limit; see /proc/PID/limits of the server",
        )


@rule(
    "ERR022",
    "plugin-not-loaded",
    needs=("server",),
    evidence=("ASK-ERR-24",),
    summary="The server started without a plugin that it should load.",
    docs=Docs(
        why="The library is missing or cannot be opened, or the plugin failed to initialize. The server starts "
        "without it and only logs an error: accounts of an authentication plugin cannot log in, an audit log is not "
        "written, semi-synchronous replication is off, passwords are not validated. With an option of the plugin "
        "without loose_ the server does not start at all.",
        fix="Install the library for this version in plugin_dir. If the plugin is not needed, remove its line "
        "(plugin_load_add, plugin_load) or its row in mysql.plugin. MariaDB: UNINSTALL PLUGIN name. MySQL answers "
        "that with error 1305 where the library is missing: DELETE FROM mysql.plugin WHERE name = '...', and restart.",
        risk="A plugin that is loaded takes effect: test what it does.",
        exceptions="None.",
        reconsider_when="The server was started again without the message: the finding ends then.",
    ),
)
def plugin_not_loaded(context: RuleContext) -> Iterator[Finding]:
    """Report plugins that the last start could not load."""
    event = recent_event(context, "plugin")
    if event:
        yield event_finding(
            context,
            plugin_not_loaded,
            event,
            f"The server could not load plugins or libraries{in_brackets(event)}, {messages(event)}",
            "install the library for this version in plugin_dir, or remove the plugin's line or its row in "
            "mysql.plugin, and restart",
        )


@rule(
    "ERR023",
    "system-tables-not-upgraded",
    needs=("server",),
    evidence=("ASK-ERR-25",),
    summary="System tables are missing, or have the columns of another version.",
    docs=Docs(
        why="After an upgrade the tables in the schema mysql must be upgraded too. The server starts without that, "
        "but CREATE USER, GRANT, roles, stored routines and table statistics may fail, and the event scheduler may "
        "stay off.",
        fix="MariaDB: run mariadb-upgrade. MySQL before 8.0.16: run mysql_upgrade and restart. Later releases upgrade "
        "the tables when they start, with upgrade = FORCE if they are damaged.",
        risk="Take a backup of the schema mysql before. The tools do not write to the binary log unless "
        "--write-binlog is given: run them on each replica and node.",
        exceptions="None.",
        reconsider_when="The tables were upgraded, and the server was started again: the finding ends then.",
    ),
)
def system_tables_not_upgraded(context: RuleContext) -> Iterator[Finding]:
    """Report system tables that do not belong to the server's version."""
    event = recent_event(context, "system_tables")
    if event:
        upgrades_itself = context.target.since("mysql", 8, 0, 16)
        tool = "mariadb-upgrade" if context.target.is_mariadb else "mysql_upgrade"
        yield event_finding(
            context,
            system_tables_not_upgraded,
            event,
            f"System tables are missing or of another version{in_brackets(event)}, {messages(event)}",
            "back up the schema mysql, and restart once with upgrade = FORCE"
            if upgrades_itself
            else f"back up the schema mysql, run {tool}, and restart",
        )
