"""CON: rules about connection limits, thread stacks and the host cache, checked in option files."""

from __future__ import annotations

from advisor.core.model import Confidence, Severity, format_size
from advisor.verdict import REFUSED
from rules.connections.threads import MARIADB, uses_thread_pool
from rules.core import Docs, Span, rule
from rules.core.advice import advise, default_number, help_line, kernel_setting_help, present
from rules.core.network import is_in_other_container, listens_to_other_hosts
from rules.core.subject import variable_subject, verdict_subject

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from advisor.core.model import Finding
    from rules.core.context import RuleContext
    from rules.core.subject import Subject


OLD_STACK = 192 << 10  # thread_stack default of old versions
ENOUGH_STACK = 256 << 10
OFFLINE = "offline_mode"
ERRORS = "max_connect_errors"
FEW_ERRORS = 10  # broken handshakes, of which health checks make many


@rule(
    "CON001",
    "user-limit-without-effect",
    summary="The connection limit of one account is no lower than the limit for all accounts.",
    options=("max_user_connections",),
    evidence=("CONA-01",),
    docs=Docs(
        why="max_user_connections prevents one account from using every connection. Where it is as high as "
        "max_connections, it prevents nothing: with both at 12, the servers that we tested refused the next account "
        "with error 1040. MariaDB does not limit administrators by it.",
        fix="Set max_user_connections below max_connections by as many connections as the others need.",
        risk="An account that opens more is refused with error 1203.",
        exceptions="Servers with a single account, which need no such limit at all.",
        reconsider_when="Limits of single accounts, set with MAX_USER_CONNECTIONS.",
    ),
)
def user_limit_without_effect(context: RuleContext) -> Iterator[Finding]:
    """Report max_user_connections that is not below max_connections, and so limits nothing."""
    each, together = context.number("max_user_connections"), context.number("max_connections")
    if each and together and each >= together and context.is_set("max_user_connections"):
        yield user_limit_without_effect.finding(
            f"One account may open {each:,} connections and all accounts together {together:,}: one account can use "
            "them all.",
            variable_subject(context, "max_user_connections"),
            help="set it below max_connections by as many as other accounts need",
        )


@rule(
    "CON002",
    "small-thread-stack",
    confidence=Confidence.LIKELY,
    summary="The thread stack is smaller than this version needs, so nested statements fail.",
    options=("thread_stack",),
    evidence=("CONA-02", "CONA-15"),
    docs=Docs(
        why="Each version requires a part of the stack to be free before it runs a statement, 112 to 160 kB on the "
        "servers that we tested. With 192K, procedures that call each other failed with error 1436 at a depth of three "
        "to thirteen levels, with 256K at twelve to 24, and with 128K at the first call or soon after; MySQL then also "
        "refused views of sys. The line usually comes from files of old versions, whose default was 192K. Up to 192K "
        "the finding is a warning, up to 256K a note; more is enough for ordinary statements.",
        fix="Remove the line, or write the default of this version.",
        risk="Address space for each connection; the kernel allocates memory only for pages that are touched.",
        restart=True,
        exceptions="Ubuntu's package of MySQL 5.7, whose own option file sets 192K: there the finding is a note.",
        reconsider_when="A version whose default is no larger.",
    ),
)
def small_thread_stack(context: RuleContext) -> Iterator[Finding]:
    """Report thread_stack of 256K or less that is below the version's default."""
    stack, usual = context.number("thread_stack"), default_number(context, "thread_stack")
    if not stack or not usual or not context.is_set("thread_stack") or stack >= usual or stack > ENOUGH_STACK:
        return
    action = advise(context, "thread_stack", usual, size=True, risk="address space for each connection")
    packed = stack == OLD_STACK and context.target.is_mysql and not context.target.since("mysql", 8, 0)
    yield small_thread_stack.finding(
        f"Threads get {format_size(stack)} of stack; the default of this version is {format_size(usual)}. Deeply "
        "nested statements fail with error 1436.",
        variable_subject(context, "thread_stack"),
        severity=Severity.NOTE if packed or stack > OLD_STACK else None,
        help=help_line(action),
        actions=present(action),
    )


@rule(
    "CON004",
    "uncached-host-names",
    confidence=Confidence.LIKELY,
    summary="The host cache is off: each connection needs a DNS lookup.",
    options=("host_cache_size", "skip_host_cache"),
    evidence=("CONV-01", "CONA-24", "CONA-26"),
    docs=Docs(
        why="While names are resolved, a TCP connection from another host waits for two lookups, from address to name "
        "and back. With the host cache only the first connection of a host waits; without it every connection waits "
        "for the name server. While the name server does not answer, each connection of a host that is not cached "
        "waits until the lookup times out, and then only accounts of addresses and wildcards can log in from it.",
        fix="Remove the line, or set skip_name_resolve = ON if no account is defined by host name.",
        risk="With skip_name_resolve, accounts that are defined by a host name cannot log in, and those of localhost "
        "only through the socket: a client that connects to 127.0.0.1 needs an account of 127.0.0.1.",
        exceptions="Servers that listen on the network but have no clients on other hosts.",
        reconsider_when="A name server that runs on this host.",
    ),
)
def uncached_host_names(context: RuleContext) -> Iterator[Finding]:
    """Report a disabled host cache on a server that resolves the host names of remote clients."""
    about_it = _disabled_host_cache(context)
    if (
        about_it is not None
        and context.settings.on("skip_name_resolve") is not True
        and listens_to_other_hosts(context)
    ):
        yield uncached_host_names.finding(
            "Each TCP connection from another host waits for the name server, because no answer is cached.",
            about_it,
            help="remove the line, or set skip_name_resolve = ON if no account is defined by host name and no client "
            "of an account of localhost connects through TCP",
        )


def _disabled_host_cache(context: RuleContext) -> Subject | None:
    """The setting that disables the host cache; None if the cache is enabled."""
    line = context.file_verdict.effective.get("skip_host_cache")
    if line is not None and line.outcome not in REFUSED:
        return verdict_subject(line)
    off = context.number("host_cache_size") == 0 and context.is_set("host_cache_size")
    return variable_subject(context, "host_cache_size") if off else None


@rule(
    "CON005",
    "uncounted-connect-errors",
    severity=Severity.NOTE,
    summary="max_connect_errors has no effect, because errors are counted in the host cache, which is off.",
    options=("max_connect_errors",),
    evidence=("CONA-03", "CONV-01"),
    docs=Docs(
        why="Broken connections are counted in the host cache. With host_cache_size = 0 or with skip_name_resolve, the "
        "servers that we tested never blocked a host; with the cache they blocked it after max_connect_errors.",
        fix="Remove the line. To block hosts, the host cache and name resolution must be on.",
        risk="None: the line has no effect.",
        exceptions="A file that is also used on hosts with other settings.",
        reconsider_when="A host that this server blocks with error 1129.",
    ),
)
def uncounted_connect_errors(context: RuleContext) -> Iterator[Finding]:
    """Report max_connect_errors if the server does not count errors.

    It counts none with skip_name_resolve or a disabled host cache.
    """
    unresolved = context.settings.on("skip_name_resolve") is True
    if context.is_set("max_connect_errors") and (unresolved or _disabled_host_cache(context) is not None):
        why = "skip_name_resolve is on" if unresolved else "the host cache is off"
        yield uncounted_connect_errors.finding(
            f"max_connect_errors has no effect while {why}: broken connections are counted in the host cache.",
            variable_subject(context, "max_connect_errors"),
            help="remove the line",
        )


@rule(
    "CON008",
    "spare-port-without-address",
    summary="Administrative connections are configured, but their port is not open.",
    targets=(Span("mysql", since=(8, 0, 14)), Span("mariadb")),
    options=("create_admin_listener_thread", "admin_port", "extra_max_connections"),
    evidence=("CONA-05", "CONA-27"),
    docs=Docs(
        why="MySQL opens its administrative port only where admin_address names an address, MariaDB its extra port "
        "only where extra_port names a port. Without that the other options of the port have no effect, and when "
        "max_connections is reached, one more connection is left for all administrators together.",
        fix="Set admin_address = 127.0.0.1 on MySQL, whose port asks for SERVICE_CONNECTION_ADMIN, or a free "
        "extra_port on MariaDB, which accepts every account. Or remove the line.",
        risk="One more port to protect: restrict it to the addresses of administrators.",
        restart=True,
        exceptions="None.",
        reconsider_when="A server that listens there (ss -ltn).",
    ),
)
def spare_port_without_address(context: RuleContext) -> Iterator[Finding]:
    """Report options of an administrative or extra port that is not open."""
    closed = {
        "create_admin_listener_thread": context.settings.on("create_admin_listener_thread") is True
        and not context.text("admin_address"),
        "admin_port": context.number("admin_port") is not None and not context.text("admin_address"),
        "extra_max_connections": context.number("extra_port") == 0,
    }
    for name, without in closed.items():
        if without and context.is_set(name):
            missing = "extra_port" if name == "extra_max_connections" else "admin_address"
            yield spare_port_without_address.finding(
                f"{name} has no effect: no port is opened for it, because {missing} is not set.",
                variable_subject(context, name),
                help=f"set {missing}, or remove the line",
            )


TIMES_THE_CPUS = 2
CONNECTION_BURST = 64  # threads inside InnoDB up to which throughput was seen to rise (CONN-02)


@rule(
    "CON025",
    "backlog-cut-by-kernel",
    summary="The kernel's limit on waiting connections is lower than back_log.",
    needs=("host",),
    options=("back_log", "max_connections"),
    evidence=("CONA-13", "CONN-01"),
    docs=Docs(
        why="back_log is how many connections may wait until the server accepts them, and the kernel silently limits "
        "it to net.core.somaxconn: with back_log = 5000 and a somaxconn of 4096, every server that we tested listened "
        "with 4096 but showed 5000. Where no line sets back_log, it follows max_connections (the same number on MySQL "
        "8.0 and 8.4; 50 plus a fifth of it, up to 900, on MySQL 5.7 and MariaDB); a limit below that is a note. The "
        "default of MySQL 9.7, 10,000, is not reported.",
        fix="Write net.core.somaxconn to a file in /etc/sysctl.d, load it with sysctl -p FILE, and restart the server: "
        "the length of the queue is fixed when the server begins to listen. For a container, give --sysctl to the "
        "runtime. Or lower back_log to the kernel's limit.",
        risk="None known; each waiting connection takes a little of the kernel's memory.",
        restart=True,
        exceptions="Servers whose clients keep their connections: the queue fills only while many connect at once. "
        "Each network namespace has its own limit: for a server in a container, mycnf on the host reads the host's "
        "limit.",
        reconsider_when="The server's line in ss -ltn: its Send-Q is the effective length.",
    ),
)
def backlog_cut_by_kernel(context: RuleContext) -> Iterator[Finding]:
    """Report back_log, set or derived from max_connections, above the kernel's limit."""
    wanted = context.number("back_log")
    most = context.host.os.listen_backlog_max if context.host.os else None
    own = context.is_set("back_log")
    if not wanted or not most or wanted <= most or not (own or _is_derived_backlog(context)):
        return
    if is_in_other_container(context):
        from rules.core.context import MissingFact

        raise MissingFact("needs net.core.somaxconn of the server's container (mycnf runs outside of it)")
    asks = "back_log asks" if own else "back_log follows max_connections and asks"
    yield backlog_cut_by_kernel.finding(
        f"{asks} for {wanted:,} waiting connections, but the kernel allows {most:,} (net.core.somaxconn).",
        variable_subject(context, "back_log" if own else "max_connections"),
        severity=None if own else Severity.NOTE,
        help=f"{kernel_setting_help(context, 'net.core.somaxconn', wanted)}, and restart the server"
        + (f"; or set back_log = {most}" if own else ""),
    )


def _is_derived_backlog(context: RuleContext) -> bool:
    """Whether the server derived back_log from an explicitly configured max_connections."""
    return context.has("server") and context.is_set("max_connections") and not context.target.since("mysql", 9, 0)


@rule(
    "CON026",
    "thread-pool-unlike-processors",
    severity=Severity.NOTE,
    confidence=Confidence.OPINION,
    summary="The thread pool runs far more statements at once than there are processors, or far fewer.",
    needs=("host",),
    targets=MARIADB,
    options=("thread_pool_size",),
    evidence=("CONV-03", "TP-01"),
    docs=Docs(
        why="thread_pool_size is about how many statements run at once, and its default on MariaDB is the number of "
        "processors: the pool is designed for one running thread per processor. With more than twice as many, threads "
        "compete as without a pool; with less than half, processors stay idle until the pool detects a stalled group. "
        "The limits, twice and half, are our choice.",
        fix="Remove the line.",
        risk="Statements wait longer for a thread while long ones run.",
        exceptions="Statements that wait for slow disks most of the time.",
        reconsider_when="A run with sysbench on this host that is faster with the other size.",
    ),
)
def thread_pool_unlike_processors(context: RuleContext) -> Iterator[Finding]:
    """Report thread_pool_size above twice the number of processors or below half of it."""
    size, cpus = context.number("thread_pool_size"), context.host.usable_cpus
    if not size or not cpus or not uses_thread_pool(context) or not context.is_set("thread_pool_size"):
        return
    enough = max(1, round(cpus))
    if size != enough and (size > cpus * TIMES_THE_CPUS or size * TIMES_THE_CPUS < cpus):
        action = advise(
            context, "thread_pool_size", enough, watch="Threadpool_threads",
            risk="statements wait longer for a thread while long ones run",
        )  # fmt: skip
        yield thread_pool_unlike_processors.finding(
            f"The thread pool runs about {size:,} statement{'s' if size > 1 else ''} at once, on {cpus:g} "
            f"processor{'' if cpus == 1 else 's'}.",
            variable_subject(context, "thread_pool_size"),
            help=help_line(action),
            actions=present(action),
        )


@rule(
    "CON027",
    "idle-processors-by-limit",
    confidence=Confidence.LIKELY,
    summary="innodb_thread_concurrency is lower than the number of processors: some stay idle while statements wait.",
    needs=("host",),
    targets=(Span("mysql"),),
    options=("innodb_thread_concurrency",),
    evidence=("CONV-05", "TC-01"),
    docs=Docs(
        why="innodb_thread_concurrency is how many threads may be inside InnoDB; others sleep and try again. The value "
        "is often carried over from old hosts: 8 was once the default. According to MySQL, most workloads run well "
        "without a limit. A limit of half of the processors or more is a note, because half of the processors that the "
        "kernel counts may be hyper-threads. A limit of 64 or more affects only very many sessions, and is not "
        "reported.",
        fix="Set 0, which is no limit and the default.",
        risk="More threads compete inside InnoDB where many sessions run at once.",
        exceptions="Servers that leave processors to other programs on purpose.",
        reconsider_when="A run on this host that is no slower with the limit.",
        disagree="An article about MySQL 5.5 advises a limit, starting at twice the number of cores. Such a limit has "
        "no finding.",
    ),
)
def idle_processors_by_limit(context: RuleContext) -> Iterator[Finding]:
    """Report innodb_thread_concurrency below the number of processors."""
    threads, cpus = context.number("innodb_thread_concurrency"), context.host.usable_cpus
    limited = threads and cpus and threads < min(cpus, CONNECTION_BURST)
    if threads and cpus and limited and context.is_set("innodb_thread_concurrency"):
        action = advise(
            context, "innodb_thread_concurrency", 0, watch="Threads_running",
            risk="more threads compete inside InnoDB where many sessions run at once",
        )  # fmt: skip
        yield idle_processors_by_limit.finding(
            f"InnoDB lets {threads:,} thread{'s' if threads > 1 else ''} in at once, on {cpus:g} processors.",
            variable_subject(context, "innodb_thread_concurrency"),
            severity=Severity.NOTE if threads * 2 >= cpus else None,
            help=help_line(action),
            actions=present(action),
        )


@rule(
    "CON029",
    "offline-mode",
    confidence=Confidence.CERTAIN,
    summary="The server is in offline mode and refuses ordinary accounts.",
    options=(OFFLINE,),
    targets=(Span("mysql"),),
    evidence=("CONA-17",),
    docs=Docs(
        why="With offline_mode = ON only accounts with SUPER, or CONNECTION_ADMIN on MySQL 8.0 and later, can "
        "connect. Sessions of all others are ended, and new ones get error 3032. Replicas of this server are refused "
        "too, unless their account has that privilege. The mode is meant for maintenance and easily left on "
        "afterwards. A group member that fails sets it with group_replication_exit_state_action = OFFLINE_MODE.",
        fix="SET GLOBAL offline_mode = OFF, for which MySQL 8.0 and later ask for CONNECTION_ADMIN and "
        "SYSTEM_VARIABLES_ADMIN, or SUPER; and remove the line from the option file.",
        risk="Applications connect again at once.",
        exceptions="Maintenance. A member that left its group: let it rejoin first.",
        reconsider_when="Maintenance that is still in progress.",
    ),
)
def offline_mode(context: RuleContext) -> Iterator[Finding]:
    """Report offline_mode = ON, on a running server from any source."""
    if context.settings.on(OFFLINE) and (context.has("server") or context.is_set(OFFLINE)):
        group = context.server.replication.group_state if context.has("server") and context.server.replication else ""
        outside = group in {"OFFLINE", "ERROR"}  # a member that left its group may set it itself
        action = None if outside else advise(context, OFFLINE, "OFF", risk="applications connect again at once")
        privilege = "CONNECTION_ADMIN or SUPER" if context.target.since("mysql", 8) else "SUPER"
        yield offline_mode.finding(
            f"The server is in offline mode: it refuses all accounts without {privilege} with error 3032.",
            variable_subject(context, OFFLINE),
            help="let this member rejoin its group first: its data is not current" if outside else help_line(action),
            actions=present(action),
        )


@rule(
    "CON031",
    "hosts-blocked-early",
    confidence=Confidence.LIKELY,
    summary="A few connections that break off in the handshake block their host until the host cache is flushed.",
    options=(ERRORS,),
    evidence=("CONA-19", "CONA-03"),
    docs=Docs(
        why="A host is blocked with error 1129 after max_connect_errors broken handshakes in a row. A port scan, a "
        "health check that opens the port and closes it again, or a client that is ended in its login can cause one. "
        "With 1, the servers that we tested refused all further connections of a host after the first broken "
        "handshake, until the host cache was flushed (FLUSH HOSTS; from MySQL 8.4 on TRUNCATE TABLE "
        "performance_schema.host_cache). Wrong passwords do not count. The default is 100. That fewer than 10 are too "
        "few is our choice.",
        fix="Remove the line.",
        risk="None known: the limit is no protection against guessed passwords.",
        exceptions="Servers without load balancer checks, if a few blocked hosts do no harm.",
        reconsider_when="SUM_CONNECT_ERRORS in performance_schema.host_cache that stays 0 for all hosts. MariaDB "
        "shows the table empty with performance_schema = OFF, its default.",
    ),
)
def hosts_blocked_early(context: RuleContext) -> Iterator[Finding]:
    """Report a small max_connect_errors on a server that counts errors."""
    most, usual = context.number(ERRORS), default_number(context, ERRORS)
    if most is None or most >= FEW_ERRORS or not usual or not context.is_set(ERRORS):
        return
    if context.settings.on("skip_name_resolve") is True or _disabled_host_cache(context) is not None:
        return
    action = advise(context, ERRORS, usual, risk="none known", watch="Aborted_connects")
    after = "the first broken handshake" if most <= 1 else f"{most} broken handshakes in a row"
    yield hosts_blocked_early.finding(
        f"A host is blocked after {after}, such as a port check by a load balancer, until the host cache is flushed.",
        variable_subject(context, ERRORS),
        help=help_line(action),
        actions=present(action),
    )
