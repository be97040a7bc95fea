"""Claims of rules that a probe can check: one value of an option performs worse than another."""

from __future__ import annotations

from advisor.core import NamedTuple
from advisor.verdict.settings import SWITCHES
from rules.core.advice import default_number

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from rules.core.context import RuleContext
    from rules.measured.answers import LocalAnswer

GIB = 1 << 30
POOL = "innodb_buffer_pool_size"
COMMIT = "innodb_flush_log_at_trx_commit"
READ_ONLY = ("oltp_read_only", "oltp_point_select", "simple_ranges")
HOUR = 3600.0
DIGITS = 20  # of the largest number that a server variable holds

# Kinds of claims: the value performs worse; it has no effect; or the cost of its safe alternative, which never changes
# the advice.
WORSE, NO_EFFECT, COST = "worse", "idle", "cost"


class Claim(NamedTuple):
    """A value of an option that a rule reports, compared with the value that the rule advises.

    `example` is a reported value and the advised one. `instead` returns the advised value for a given server, None if
    there is none. `wish` are the probe parameters that compare the two. `along` are options that the probe sets
    together with each value, so that nothing else differs. Each of `metrics` counts by itself. `fits` says whether a
    result was measured under conditions like the server's. `hours` is the minimum measuring time per value in seconds;
    a result without a difference is not conclusive below it. `besides` is the part of the advice that holds even if
    the value makes no difference.
    """

    option: str
    example: tuple[str, str]
    instead: Callable[[RuleContext], str | None]
    wish: Callable[[RuleContext, str, str], dict[str, str]]
    metrics: tuple[str, ...]
    kind: str = WORSE
    fits: Callable[[RuleContext, LocalAnswer], bool] = lambda _context, _answer: True
    hours: float = 0.0
    besides: str = ""
    along: tuple[str, ...] = ()


def _default_value(option: str) -> Callable[[RuleContext], str | None]:
    def instead(context: RuleContext) -> str | None:
        default = default_number(context, option)
        return None if default is None else str(default)

    return instead


def _ab_choices(option: str) -> Callable[[RuleContext, str, str], dict[str, str]]:
    return lambda _context, before, after: {"set": f"{option}={after},{before}"}


def _scan_choices(_context: RuleContext, before: str, after: str) -> dict[str, str]:
    return {"sizes": f"{after},{before}"}


def _instance_choices(context: RuleContext, before: str, after: str) -> dict[str, str]:
    return {"instances": f"{after},{before}", "pool": str(max(GIB, context.number(POOL) or GIB))}


def _one_per_gigabyte(context: RuleContext) -> str | None:
    pool = context.number(POOL)
    return None if pool is None or pool < GIB else str(pool // GIB)


def _is_similar_pool(context: RuleContext, answer: LocalAnswer) -> bool:
    """Whether the probe's pool was at least half as large as the server's; results with smaller pools do not apply."""
    pool, measured = context.number(POOL), answer.parameters.get("pool", "")
    return pool is not None and measured.isdecimal() and len(measured) <= DIGITS and int(measured) * 2 >= pool


def _is_write_workload(_context: RuleContext, answer: LocalAnswer) -> bool:
    return answer.parameters.get("workload") not in READ_ONLY


def _writes_binary_log(context: RuleContext, _answer: LocalAnswer) -> bool:
    from rules.durability import writes_binary_log

    return writes_binary_log(context)


def _flush_choices(context: RuleContext, before: str, after: str) -> dict[str, str]:
    return {"flush": f"{after},{before}", "sync": str(min(1, context.number("sync_binlog") or 0))}


def _sync_choices(context: RuleContext, before: str, after: str) -> dict[str, str]:
    flush = context.number(COMMIT)
    return {"flush": str(1 if flush is None else flush), "sync": f"{after},{before}"}


def _delay_choices(context: RuleContext, before: str, after: str) -> dict[str, str]:
    flush, sync = context.number(COMMIT), context.number("sync_binlog")
    return {
        "flush": str(1 if flush is None else flush),
        "sync": str(1 if sync is None else min(1, sync)),
        "delay": f"{after},{before}",
    }


def _thread_cache_choices(_context: RuleContext, before: str, after: str) -> dict[str, str]:
    return {"compare": "thread-cache", "cache": f"{after},{before}"}


def _advised_thread_cache(context: RuleContext) -> str:
    from rules.connections.threads import advised_thread_cache

    return str(advised_thread_cache(context))


def _doublewrite_choices(_context: RuleContext, before: str, after: str) -> dict[str, str]:
    return {"modes": f"{SWITCHES.get(after.upper(), after)},{SWITCHES.get(before.upper(), before)}"}


SCANS = Claim(
    "read_buffer_size",
    ("8M", "128K"),
    _default_value("read_buffer_size"),
    _scan_choices,
    ("beyond_cache", "cached"),
    besides="the smaller buffer takes less memory",
)
INSTANCES = Claim(
    "innodb_buffer_pool_instances",
    ("1", "8"),
    lambda _: "8",
    _instance_choices,
    ("variation", "tps"),
    fits=_is_similar_pool,
    hours=HOUR,
    along=("innodb_lru_scan_depth",),
)

CLAIMS = {
    "oversized-read-buffer": SCANS,
    "pointless-read-buffer": SCANS._replace(kind=NO_EFFECT),
    "few-buffer-pool-instances": INSTANCES,
    "many-buffer-pool-instances": INSTANCES._replace(example=("8", "1"), instead=_one_per_gigabyte),
    "random-read-ahead": Claim("innodb_random_read_ahead", ("ON", "OFF"), lambda _: "OFF", lambda *_: {}, ("tps",)),
    "flush-neighbors-on-ssd": Claim(
        "innodb_flush_neighbors",
        ("1", "0"),
        lambda _: "0",
        _ab_choices("innodb_flush_neighbors"),
        ("tps",),
        fits=_is_write_workload,
    ),
    "lost-commits": Claim(COMMIT, ("2", "1"), lambda _: "1", _flush_choices, ("tps",), COST, fits=_writes_binary_log),
    "unsynced-binary-log": Claim(
        "sync_binlog", ("0", "1"), lambda _: "1", _sync_choices, ("tps",), COST, fits=_writes_binary_log
    ),
    "delayed-commits": Claim(
        "binlog_group_commit_sync_delay",
        ("10000", "0"),
        lambda _: "0",
        _delay_choices,
        ("tps",),
        fits=_writes_binary_log,
    ),
    "thread-cache-off": Claim("thread_cache_size", ("0", "9"), _advised_thread_cache, _thread_cache_choices, ("tps",)),
    "no-doublewrite": Claim(
        "innodb_doublewrite",
        ("OFF", "ON"),
        lambda _: "ON",
        _doublewrite_choices,
        ("tps",),
        COST,
        fits=_is_write_workload,
    ),
}
# The metrics of the probes that a claim uses.
COMPARED = frozenset(metric for claim in CLAIMS.values() for metric in claim.metrics)
