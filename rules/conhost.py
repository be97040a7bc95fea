"""CON: limits of connections and threads beside those of the host."""

from __future__ import annotations

from typing import TYPE_CHECKING

from advisor.model import Confidence, Severity
from rules.advice import advise, these, words
from rules.conpool import MARIADB, pooled
from rules.registry import Docs, Span, rule
from rules.subject import of_variable

if TYPE_CHECKING:
    from collections.abc import Iterator

    from advisor.model import Finding
    from rules.known import Known

TIMES_THE_CPUS = 2
CROWD = 64  # threads inside InnoDB up to which throughput was seen to rise (CONN-02)


@rule(
    "CON025",
    "backlog-cut-by-kernel",
    summary="The kernel lets fewer connections wait for the server than back_log asks for.",
    needs=("host",),
    options=("back_log", "max_connections"),
    evidence=("CONA-13", "CONN-01"),
    docs=Docs(
        why="back_log is how many connections may wait until the server takes them, and the kernel cuts it to "
        "net.core.somaxconn without a word: with back_log = 5000 under a somaxconn of 4096 every server "
        "that was asked listened with 4096, while it showed 5000. Where no line sets back_log it follows "
        "max_connections (MySQL 8.0 takes all of them, MySQL 5.7 and MariaDB 50 and a fifth, up to 900); cutting "
        "that is a note.",
        fix="Raise net.core.somaxconn in /etc/sysctl.d and restart the server, or lower back_log to it.",
        risk="None known; each waiting connection takes a little of the kernel's memory.",
        restart=True,
        exceptions="Servers that are reached by other ways than TCP and sockets.",
        mind="The server's own line in ss -ltn, whose Send-Q is what it really got.",
    ),
)
def backlog_cut_by_kernel(known: Known) -> Iterator[Finding]:
    """A queue that is longer than the kernel allows, by its own line or by that of the connections."""
    wanted = known.number("back_log")
    most = known.host.os.listen_backlog_max if known.host.os else None
    own = known.chosen("back_log")
    if not wanted or not most or wanted <= most or not (own or _follows(known)):
        return
    asks = "back_log asks" if own else "back_log follows max_connections and asks"
    yield backlog_cut_by_kernel.finding(
        f"{asks} for {wanted:,} waiting connections, the kernel allows {most:,} (net.core.somaxconn).",
        of_variable(known, "back_log" if own else "max_connections"),
        severity=None if own else Severity.NOTE,
        help=f"set net.core.somaxconn = {wanted} in /etc/sysctl.d" + (f", or back_log = {most}" if own else ""),
    )


def _follows(known: Known) -> bool:
    """Whether the queue has the length that the server makes of a max_connections that was set."""
    return known.has("server") and known.chosen("max_connections") and not known.target.since("mysql", 9, 0)


@rule(
    "CON026",
    "thread-pool-unlike-processors",
    severity=Severity.NOTE,
    confidence=Confidence.OPINION,
    summary="The pool runs far more statements at once than there are processors, or far fewer.",
    needs=("host",),
    targets=MARIADB,
    options=("thread_pool_size",),
    evidence=("CONV-03", "TP-01"),
    docs=Docs(
        why="thread_pool_size is about how many statements run at once, and MariaDB takes the number of "
        "processors by default: one running thread for each is what the pool is for. More than twice as "
        "many let threads compete as without a pool, less than half leaves processors idle until a group "
        "is found to stall. Twice and half are opinions.",
        fix="Take the line out.",
        risk="Statements wait longer for a thread while long ones run.",
        exceptions="Statements that wait for slow disks most of the time.",
        mind="A run with sysbench on this host that is faster with the other size.",
    ),
)
def thread_pool_unlike_processors(known: Known) -> Iterator[Finding]:
    """A size beyond twice the processors, or below half of them."""
    size, cpus = known.number("thread_pool_size"), known.host.usable_cpus
    if not size or not cpus or not pooled(known) or not known.chosen("thread_pool_size"):
        return
    if size > cpus * TIMES_THE_CPUS or size * TIMES_THE_CPUS < cpus:
        action = advise(
            known, "thread_pool_size", max(1, round(cpus)), watch="Threadpool_threads",
            risk="statements wait longer for a thread while long ones run",
        )  # fmt: skip
        yield thread_pool_unlike_processors.finding(
            f"The pool runs about {size:,} statement{'s' if size > 1 else ''} at once, on {cpus:g} "
            f"processor{'' if cpus == 1 else 's'}.",
            of_variable(known, "thread_pool_size"),
            help=words(action),
            actions=these(action),
        )


@rule(
    "CON027",
    "idle-processors-by-limit",
    confidence=Confidence.LIKELY,
    summary="InnoDB lets fewer threads in than there are processors, so some stay idle while statements wait.",
    needs=("host",),
    targets=(Span("mysql"),),
    options=("innodb_thread_concurrency",),
    evidence=("CONV-05", "TC-01"),
    docs=Docs(
        why="innodb_thread_concurrency is how many threads may be inside InnoDB; others sleep and try again. "
        "The value is often carried over from old hosts: 8 was once the default. MySQL says that most work "
        "runs well without a limit. Half of the processors or more is a note, for half of those that the kernel "
        "counts may be second threads of a core; 64 or more is a limit for a crowd, and left alone.",
        fix="Set 0, which is no limit and the default.",
        risk="More threads compete inside InnoDB where many sessions run at once.",
        exceptions="Servers that leave processors to other programs on purpose.",
        mind="A run on this host that is no slower with the limit.",
        disagree="An old advice starts at twice the cores, which this rule leaves alone.",
    ),
)
def idle_processors_by_limit(known: Known) -> Iterator[Finding]:
    """A limit below the processors."""
    threads, cpus = known.number("innodb_thread_concurrency"), known.host.usable_cpus
    limited = threads and cpus and threads < min(cpus, CROWD)
    if threads and cpus and limited and known.chosen("innodb_thread_concurrency"):
        action = advise(
            known, "innodb_thread_concurrency", 0, watch="Threads_running",
            risk="more threads compete inside InnoDB where many sessions run at once",
        )  # fmt: skip
        yield idle_processors_by_limit.finding(
            f"InnoDB lets {threads:,} thread{'s' if threads > 1 else ''} in at once, on {cpus:g} processors.",
            of_variable(known, "innodb_thread_concurrency"),
            severity=Severity.NOTE if threads * 2 >= cpus else None,
            help=words(action),
            actions=these(action),
        )
