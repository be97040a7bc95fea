"""BUF: rules about the query cache, which is protected by a single lock."""

from __future__ import annotations

from advisor.core.model import Confidence, format_size
from rules.core import Docs, Span, rule
from rules.core.advice import advise, set_default
from rules.core.context import REMOVE_LINE
from rules.core.subject import variable_subject

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from advisor.core.model import Action, Finding
    from rules.core.context import RuleContext

QUERY_CACHE_DOCS = Docs(
    why="One lock guards the whole cache, and every change to a table removes its results. MySQL switched it off by "
    "default in 5.6 and removed it in 8.0 because it doesn't scale with processors; MariaDB keeps it, off. On a "
    "machine with two processors it made point selects faster and a mixed load slower.",
    fix="Set query_cache_type to OFF and query_cache_size to 0.",
    risk="Switching it off waits for the cache's lock, which can stall statements for a moment on a busy server; "
    "queries that it answered read the tables again.",
    exceptions="Read-only servers with few processors and the same statements again and again.",
    reconsider_when="Qcache_hits far above the sum of Qcache_inserts and Qcache_not_cached on this server, and a test "
    "without it that is slower.",
    disagree="phpMyAdmin and tuning-primer recommend enabling it; older versions of MySQLTuner enlarge it, newer ones "
    "recommend to disable it.",
)


@rule(
    "BUF008",
    "query-cache",
    confidence=Confidence.LIKELY,
    summary="The query cache is on, and all sessions contend for its single lock.",
    targets=(Span("mysql", before=(8, 0)), Span("mariadb")),
    options=("query_cache_type", "query_cache_size"),
    evidence=("QC-01", "ASK-05"),
    docs=QUERY_CACHE_DOCS,
)
def query_cache(context: RuleContext) -> Iterator[Finding]:
    """Report an enabled query cache with a size above 0."""
    kind = context.text("query_cache_type") or ""
    size = context.number("query_cache_size")
    if (
        kind not in {"ON", "1", "DEMAND", "2"}
        or not size
        or not context.is_set("query_cache_type")
        or _is_rearmed(context)
    ):
        return
    yield query_cache.finding(
        f"The query cache is {kind} with {format_size(size)}: all sessions share one lock, and every change to a table "
        "removes its results.",
        variable_subject(context, "query_cache_type"),
        help=_disable_help(context),
        actions=_disable_actions(context),
    )


def _disable_help(context: RuleContext) -> str:
    """MySQL 5.7 deprecates both lines with any value, and has the cache off by default."""
    if context.target.since("mysql", 5, 7, 20):
        also = " and that of its size" if context.is_set("query_cache_size") else ""
        return f"{REMOVE_LINE}{also}: the cache is off by default"
    return "write query_cache_type = OFF and query_cache_size = 0"


def _disable_actions(context: RuleContext) -> tuple[Action, ...]:
    stall = "can stall statements for a moment while it waits for the cache's lock"
    kind = advise(context, "query_cache_type", "OFF", risk=stall, watch="Qcache_hits")
    size = advise(context, "query_cache_size", 0, risk=stall)
    return (
        *set_default(context, "query_cache_type", "OFF", kind)[1],
        *set_default(context, "query_cache_size", "0", size)[1],
    )


@rule(
    "BUF009",
    "rearmed-query-cache",
    summary="query_cache_type is off, but the size that is set with it turns the query cache on.",
    targets=(Span("mariadb"),),
    options=("query_cache_type", "query_cache_size"),
    evidence=("ASK-05", "QC-01"),
    docs=QUERY_CACHE_DOCS._replace(
        why="MariaDB turns the query cache on at start-up when query_cache_size is set to anything but 0, even to its "
        "default of 1M, and query_cache_type is left off, even where it is written as 0. Without a line for the size "
        "it stays off.",
        fix="Set query_cache_size to 0.",
    ),
)
def rearmed_query_cache(context: RuleContext) -> Iterator[Finding]:
    """Report query_cache_size in a file that leaves query_cache_type off: on MariaDB the size enables the cache."""
    if _is_rearmed(context):
        size = context.number("query_cache_size") or 0
        yield rearmed_query_cache.finding(
            f"MariaDB turns the query cache on because query_cache_size is set to {format_size(size)}, although "
            "query_cache_type is off.",
            variable_subject(context, "query_cache_size"),
            help="write query_cache_size = 0",
            actions=_disable_actions(context),
        )


def _is_rearmed(context: RuleContext) -> bool:
    """Whether MariaDB enables the query cache only because of its size."""
    size, kind = (context.file_verdict.effective.get(f"query_cache_{end}") for end in ("size", "type"))
    if not context.target.is_mariadb or size is None or size.value in {None, "0"}:
        return False
    return kind is None or (kind.placed.line.value or "").upper() in {"OFF", "0"}
