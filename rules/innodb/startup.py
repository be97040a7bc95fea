"""INN: rules about startup, recovery and shutdown."""

from __future__ import annotations

from advisor.core.model import Severity
from rules.core import Docs, Span, rule
from rules.core.advice import advise, help_line, present
from rules.core.subject import variable_subject

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from advisor.core.model import Finding, Target
    from rules.core.context import RuleContext

GIB = 1 << 30
POOL = "innodb_buffer_pool_size"
LIKE_A_CRASH = 2
READ_ONLY_LEVEL = 4  # from this level on MySQL keeps InnoDB read-only
SIZES = (POOL, "innodb_redo_log_capacity", "innodb_log_file_size")


@rule(
    "INN020",
    "shutdown-like-a-crash",
    summary="Each shutdown leaves the data files as after a crash, so the next start runs crash recovery.",
    options=("innodb_fast_shutdown",),
    evidence=("INNV-05", "INNV-01", "INNA-44"),
    docs=Docs(
        why="With innodb_fast_shutdown = 2 the server writes its redo log and ends, without writing changed pages. No "
        "committed transaction is lost, but the next start is a crash recovery, and a copy of the data files or an "
        "upgrade to another version finds them unclean. MariaDB's documentation calls it extremely fast in "
        "emergencies, and says that it risks corruption.",
        fix="Remove the line; the default is 1.",
        risk="A shutdown takes as long as writing the changed pages.",
        exceptions="An emergency, set by hand right before it.",
        reconsider_when="Nothing.",
    ),
)
def shutdown_like_a_crash(context: RuleContext) -> Iterator[Finding]:
    """Report innodb_fast_shutdown = 2."""
    name = "innodb_fast_shutdown"
    if context.is_set(name) and context.number(name) == LIKE_A_CRASH:
        action = advise(context, name, 1, risk="a shutdown takes as long as writing the changed pages")
        yield shutdown_like_a_crash.finding(
            "The server ends without writing changed pages, so every start is a crash recovery.",
            variable_subject(context, name),
            help=help_line(action),
            actions=present(action),
        )


@rule(
    "INN022",
    "overruled-dedicated-server",
    severity=Severity.NOTE,
    summary="innodb_dedicated_server does not size what the option file sets explicitly.",
    targets=(Span("mysql", since=(8, 0)),),
    options=("innodb_dedicated_server",),
    evidence=("INNA-04", "BP-03"),
    docs=Docs(
        why="innodb_dedicated_server sizes the buffer pool by the machine's memory, and the redo log by the memory "
        "(before 8.4) or by the processors (8.4 and later). Before 8.4 it also sets innodb_flush_method to "
        "O_DIRECT_NO_FSYNC. It leaves alone what the option file sets explicitly, with a warning in the error log.",
        fix="Keep one of the two: the sizes, or innodb_dedicated_server.",
        risk="Without the sizes the server takes half to three quarters of memory for the pool, or 128M below 1 GB of "
        "memory.",
        restart=True,
        exceptions="A file that deliberately sizes one of them and leaves the other to the server.",
        reconsider_when="A server of this version that ignores the size.",
    ),
)
def overruled_dedicated_server(context: RuleContext) -> Iterator[Finding]:
    """Report explicit sizes that override innodb_dedicated_server."""
    name = "innodb_dedicated_server"
    sizes = [size for size in SIZES if context.is_set(size)]
    if sizes and context.explicit_switch(name):
        yield overruled_dedicated_server.finding(
            f"innodb_dedicated_server does not size what is set explicitly: {', '.join(sizes)}.",
            variable_subject(context, name),
            help="keep either the sizes or innodb_dedicated_server",
        )


@rule(
    "INN014",
    "forced-recovery",
    severity=Severity.ERROR,
    summary="innodb_force_recovery is on, which is for recovering data and not for production.",
    options=("innodb_force_recovery",),
    evidence=("ASK-10",),
    docs=Docs(
        why="Values from 1 on skip parts of recovery and of checking; from 4 on they can destroy data. MySQL refuses "
        "to change rows from 1 on, MariaDB from 5 on. It is meant for dumping tables of a damaged server.",
        fix="Remove the line once the data is rescued.",
        risk="A server that is still damaged may not start without it.",
        restart=True,
        exceptions="While data is being rescued.",
        reconsider_when="Nothing.",
    ),
)
def forced_recovery(context: RuleContext) -> Iterator[Finding]:
    """Report innodb_force_recovery above 0."""
    value = context.number("innodb_force_recovery")
    if value and context.is_set("innodb_force_recovery"):
        yield forced_recovery.finding(
            f"Recovery is forced at level {value}: {_recovery_effect(context.target, value)}",
            variable_subject(context, "innodb_force_recovery"),
            help="remove the line once the data is rescued",
        )


def _recovery_effect(target: Target, level: int) -> str:
    if target.is_mariadb and level <= READ_ONLY_LEVEL:
        return "checks are skipped, but rows can still be changed, so damage can spread."
    return (
        "InnoDB is read-only." if level >= READ_ONLY_LEVEL else "checks are skipped, and changes of rows are refused."
    )
