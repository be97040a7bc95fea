"""Rows of names and values that nothing parts: which are variables, which counters, and where another answer begins."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, NamedTuple

from advisor.catalog.load import load
from advisor.catalog.targets import SERIES, parse_target
from advisor.verdict.formats import MARIADB, MYSQL, WITHOUT_OPTION

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator

Row = tuple[str, str]
Table = dict[str, str]

CERTAIN = 3  # rows in a row of another kind, where a name alone doesn't tell
# The first words of counters of all versions: what has none of them is some other table.
_STEMS = frozenset({
    "aborted", "access", "acl", "aria", "audit", "aurora", "binlog", "busy", "bytes", "caching", "column", "com",
    "compression", "connection", "connections", "count", "cpu", "created", "current", "delayed", "delete",
    "deprecated", "empty", "error", "executed", "feature", "flush", "global", "handler", "innodb", "key", "last",
    "locked", "master", "max", "memory", "mysqlx", "ndb", "not", "ongoing", "open", "opened", "optimizer",
    "performance", "prepared", "qcache", "queries", "query", "questions", "replica", "resource", "resultset",
    "rocksdb", "rows", "rpl", "rsa", "secondary", "select", "server", "slave", "slaves", "slow", "sort", "ssl",
    "stack", "subquery", "syncs", "table", "tc", "telemetry", "temptable", "threadpool", "threads", "tls", "tmp",
    "tokudb", "transactions", "update", "uptime", "wsrep", "xtradb",
})  # fmt: skip
_SMALL = ("wsrep", "option_tracker_usage")  # counters without a capital: Galera's, and those of MySQL's features


class ServerAnswer(NamedTuple):
    """What a server answered to one question: names as printed with their values, counters or variables.

    `begun` says whether it is known to begin here: what isn't may be the rest of an answer that something broke.
    """

    rows: Table
    counters: bool
    begun: bool = True


def complete_answer(rows: Table) -> ServerAnswer:
    """An answer of which it is known where it begins and ends.

    Servers print names of counters with a capital, and those of variables without; the tables of information_schema
    have capitals alone, so there the names tell.
    """
    names = [name for name in rows if not name.startswith(_SMALL)]
    if not names or all(name.isupper() for name in names):
        names = list(rows)
        return ServerAnswer(rows, 2 * sum(_is_variable(name) for name in names) < len(names))
    return ServerAnswer(rows, 2 * sum(name[:1].isupper() for name in names) > len(names))


def split_answers(rows: Iterable[Row], *, headed: bool) -> Iterator[ServerAnswer]:
    """The answers in rows that stand together, of which only those are held that aren't told yet.

    A name that comes again begins another answer. Those without a heading must have names that servers have.
    """
    open_answers: dict[bool, ServerAnswer] = {}
    for kind, (name, value) in _label_rows(rows, headed=headed):
        before = open_answers.get(kind)
        if before is None or name in before.rows:
            open_answers[kind] = ServerAnswer({}, kind, headed or before is not None)
            if before is not None:
                yield from _answer_if_known(before, headed=headed)
        open_answers[kind].rows[name] = value
    for one in open_answers.values():
        yield from _answer_if_known(one, headed=headed)


def _label_rows(rows: Iterable[Row], *, headed: bool) -> Iterator[tuple[bool, Row]]:
    """Each row, and whether it is a counter: what a name leaves open goes with the rows around it.

    Below a heading capitals leave all open, so that most of the names decide.
    """
    now: bool | None = None
    began = False
    waiting: list[Row] = []
    seen = {True: 0, False: 0}  # among those that wait
    for row in rows:
        kind = None if headed and row[0].isupper() else _is_counter(row[0])
        waiting.append(row)
        if kind is not None:
            seen[kind] += 1
        if kind is not None and kind != now and (_is_certain(row[0]) or seen[kind] >= CERTAIN):
            now = kind
        elif now is None or (seen[not now] and kind != now):
            continue
        for one in waiting:  # the first ones had nothing around them yet
            yield (now if began or _is_counter(one[0]) is not False else False), one
        began = True
        waiting.clear()
        seen = {True: 0, False: 0}
    if now is None:
        now = complete_answer(dict(waiting)).counters
    elif all(name.islower() and _is_counter(name) is False for name, _ in waiting):
        now = False  # the end leaves no more to come
    yield from ((now, one) for one in waiting)


def _answer_if_known(one: ServerAnswer, *, headed: bool) -> Iterator[ServerAnswer]:
    known = sum(_has_stem(name) if one.counters else _is_variable(name) for name in one.rows)
    if headed or 2 * known >= len(one.rows):
        yield one


def join_answers(parts: Iterable[ServerAnswer]) -> Iterator[ServerAnswer]:
    """The answers, those that something broke in one: a rest names nothing that its beginning named."""
    held: dict[bool, ServerAnswer] = {}
    for one in parts:
        before = held.get(one.counters)
        if before is not None and not one.begun and before.rows.keys().isdisjoint(one.rows):
            before.rows.update(one.rows)
            continue
        if before is not None:
            yield before
        held[one.counters] = one
    yield from held.values()


def _is_certain(name: str) -> bool:
    """Whether the case of its letters makes a name that of a counter."""
    return name[:1].isupper() and not name.isupper()


def _is_counter(name: str) -> bool | None:
    """Whether it is a counter's name; None where that can't be told, as of those that both have."""
    if _is_certain(name):
        return True
    if _is_variable(name) or name.startswith("mysqlx_"):
        return None if name.isupper() and name.lower() in _BOTH else False
    if name.startswith(_SMALL):
        return True
    return True if name.isupper() and _has_stem(name) and not name.startswith("MYSQLX") else None


# Names that versions have for a variable and for a counter.
_BOTH = frozenset({
    "innodb_page_size", "mysqlx_port", "mysqlx_socket", "mysqlx_ssl_cipher", "ssl_cipher", "ssl_session_cache_mode",
    "ssl_session_cache_timeout",
})  # fmt: skip


def is_known(name: str) -> bool:
    """Whether some version has a variable of that name, or may have such a counter."""
    return _is_variable(name) or (name[:1].isupper() and "_" in name and _has_stem(name))


def _has_stem(name: str) -> bool:
    return name.lower().partition("_")[0] in _STEMS


def _is_variable(name: str) -> bool:
    """Whether some version has a variable of that name."""
    return name.lower() in _variables()


@cache
def _variables() -> Collection[str]:
    catalogs = [
        load(parse_target(f"{flavour}-{'.'.join(map(str, series))}"))
        for flavour in SERIES
        for series in SERIES[flavour]
    ]
    set_by_options = {raw["variable"] for one in catalogs for raw in one.options.values() if "variable" in raw}
    return frozenset((*set_by_options, *f"{WITHOUT_OPTION} {MYSQL} {MARIADB}".split()))
