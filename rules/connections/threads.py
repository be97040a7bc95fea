"""CON: rules about the thread cache and about MariaDB's thread pool."""

from __future__ import annotations

from advisor.core.model import Confidence, Severity
from rules.core import MOST, Docs, Span, rule
from rules.core.advice import advise, connection_limit, default_number, help_line, present
from rules.core.subject import variable_subject

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from advisor.core.model import Finding
    from rules.core.context import RuleContext

MARIADB = (Span("mariadb"),)
PERCONA = Span("mysql", build="percona")
MOST_THREADS = 256  # MariaDB's default thread_cache_size
AMPLE_THREADS = 500  # threads; it is rare that so many sessions wait at once
MOST_OF_POOL = "thread_pool_max_threads"
POOLED = "POOL-OF-THREADS"
OF_THE_POOL = (
    "thread_pool_size",
    MOST_OF_POOL,
    "thread_pool_stall_limit",
    "thread_pool_oversubscribe",
    "thread_pool_idle_timeout",
    "thread_pool_prio_kickup_timer",
    "thread_pool_dedicated_listener",
)


def uses_thread_pool(context: RuleContext) -> bool:
    """Whether connections share a thread pool instead of having one thread each."""
    return context.text("thread_handling") == POOLED


@rule(
    "CON003",
    "thread-cache-off",
    severity=Severity.NOTE,
    confidence=Confidence.OPINION,
    summary="thread_cache_size is 0, so a thread is created and destroyed for each connection.",
    options=("thread_cache_size",),
    quiet={"thread_cache_size": (1, MOST)},
    evidence=("CONN-01", "CONA-25"),
    probe="connections",
    docs=Docs(
        why="With thread_cache_size = 0 the server creates a thread for each connection. MySQL's default follows "
        "max_connections and is 9 for 151 connections; MariaDB keeps up to 256 threads, each for five minutes. With "
        "0, a connection took 0.3 to 0.4 milliseconds more of processor time on a busy machine with two processors, "
        "which matters where clients connect for each request.",
        fix="Remove the line.",
        risk="The stacks of the cached threads, of which the kernel keeps the touched pages.",
        exceptions="Clients that stay connected, and servers with a thread pool, which does not use the cache.",
        reconsider_when="A rate of Threads_created near zero.",
        disagree="MySQLTuner starts at 4 and raises the cache by a ratio of counters since the start.",
    ),
)
def thread_cache_off(context: RuleContext) -> Iterator[Finding]:
    """Report thread_cache_size = 0 on a server with one thread per connection."""
    if (
        context.number("thread_cache_size") == 0
        and context.is_set("thread_cache_size")
        and not uses_thread_pool(context)
    ):
        action = advise(
            context, "thread_cache_size", advised_thread_cache(context), watch="Threads_created",
            risk="memory for the stacks of the cached threads",
        )  # fmt: skip
        yield thread_cache_off.finding(
            "The server creates a thread for each connection and destroys it afterwards: none is cached.",
            variable_subject(context, "thread_cache_size"),
            help=help_line(action),
            actions=present(action),
        )


def advised_thread_cache(context: RuleContext) -> int:
    """The thread_cache_size to advise: the version's default or the connection peak, whichever is larger.

    The peak counts up to 256, MariaDB's default. The result never exceeds max_connections.
    """
    usual = default_number(context, "thread_cache_size") or 0
    peak = context.server.counter("max_used_connections") if context.has("server") else None
    return min(max(usual, min(peak or 0, MOST_THREADS)), context.number("max_connections") or MOST_THREADS)


@rule(
    "CON009",
    "unused-thread-pool",
    summary="Thread pool options are set, but connections don't use the pool.",
    targets=(*MARIADB, PERCONA),
    options=OF_THE_POOL,
    evidence=("CONA-06", "CONV-03", "CONV-06"),
    docs=Docs(
        why="MariaDB and Percona Server use their thread pool only with thread_handling = pool-of-threads; on Unix the "
        "default is one thread per connection. A MariaDB server with thread_pool_size alone showed no thread in the "
        "pool.",
        fix="Set thread_handling = pool-of-threads to use the pool, otherwise remove the lines.",
        risk="The pool holds short statements back while many long ones run.",
        restart=True,
        exceptions="Windows, where the pool is the default.",
        reconsider_when="Threadpool_threads above zero.",
    ),
)
def unused_thread_pool(context: RuleContext) -> Iterator[Finding]:
    """Report thread pool options on a server that does not use the thread pool."""
    sized = [name for name in OF_THE_POOL if context.is_set(name)]
    if context.target.platform == "windows" and not context.is_set("thread_handling"):
        return  # the default is the pool
    if sized and context.text("thread_handling") is not None and not uses_thread_pool(context):
        yield unused_thread_pool.finding(
            f"{' and '.join(sized)} {'have' if len(sized) > 1 else 'has'} no effect: thread_handling is "
            f"{str(context.text('thread_handling')).lower()}, so there is no thread pool.",
            variable_subject(context, sized[0]),
            help=f"set thread_handling = pool-of-threads{_enough_threads(context)}, or remove the line",
        )


def _enough_threads(context: RuleContext) -> str:
    """What else a pool needs that may have fewer threads than connections, which starved-thread-pool reports."""
    threads, connections = context.number(MOST_OF_POOL), connection_limit(context)
    if not context.target.is_mariadb or not context.is_set(MOST_OF_POOL) or not threads or not connections:
        return ""
    return f" and {MOST_OF_POOL} = {connections}" if threads < connections else ""


@rule(
    "CON010",
    "starved-thread-pool",
    summary="The thread pool may have fewer threads than connections, so waiting sessions can block all others.",
    targets=MARIADB,
    options=("thread_pool_max_threads",),
    evidence=("CONA-07", "CONV-03"),
    docs=Docs(
        why="A session that waits for a lock keeps its thread. Where the pool may create no more, the session that "
        "holds the lock gets no thread to release it. With 4 threads and 8 sessions waiting for a table, UNLOCK TABLES "
        "hung until the waits timed out, on 10.11 and 11.8.",
        fix="Allow as many threads as connections, or remove the line.",
        risk="Memory for the threads, while so many sessions wait.",
        exceptions="Pools of 500 threads or more: so many sessions rarely wait at once, so there the finding is a "
        "note. The threshold is our choice.",
        reconsider_when="An extra_port through which the holder of a lock can be killed.",
    ),
)
def starved_thread_pool(context: RuleContext) -> Iterator[Finding]:
    """Report thread_pool_max_threads below max_connections: sessions that wait for locks can use up all threads."""
    threads, connections = context.number("thread_pool_max_threads"), connection_limit(context)
    if not uses_thread_pool(context) or not threads or not connections or not context.is_set("thread_pool_max_threads"):
        return
    if threads < connections:
        action = advise(
            context, "thread_pool_max_threads", connections, watch="Threadpool_threads",
            risk="memory for the threads while so many sessions wait",
        )  # fmt: skip
        yield starved_thread_pool.finding(
            f"The thread pool may create {threads:,} thread{'s' if threads > 1 else ''} for {connections:,} "
            "connections: once as many sessions as threads wait for a lock, its holder gets no thread to release it.",
            variable_subject(context, "thread_pool_max_threads"),
            severity=Severity.NOTE if threads >= AMPLE_THREADS else None,
            help=help_line(action),
            actions=present(action),
        )
