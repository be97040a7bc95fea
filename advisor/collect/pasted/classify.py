"""Classify rows of names and values as variables or counters; definitions that all table formats share."""

from __future__ import annotations

from collections import deque
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

from advisor.catalog import load
from advisor.catalog.targets import SERIES, parse_target
from advisor.verdict.formats import MARIADB, MYSQL, WITHOUT_OPTION

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator


Row = tuple[str, str]
Table = dict[str, str]
CERTAIN = 3  # consecutive rows of the other kind, if the names alone are not conclusive

# First words of all versions' counters; a table without any of them is not a table of counters.
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
_SMALL = ("wsrep", "option_tracker_usage")  # lower-case counters: Galera's, and those of MySQL's features
VALUE = r"(?:variable_)?value"
"""The heading of the second column, ignoring case; the first one is always variable_name."""
WORD = r"[A-Za-z_][\w.-]*"
NAME = r"[A-Za-z_](?:[\w.: -]*\w)?"  # MySQL 9.7 has counters with blanks in their names
MOST_LINES = 1000  # maximum lines of one value; anything longer is not a row


class ServerAnswer(NamedTuple):
    """A server's answer to one statement: names as printed with their values, counters or variables.

    `begun` is whether the answer is known to begin here; otherwise it may continue an interrupted one.
    """

    rows: Table
    counters: bool
    begun: bool = True


def complete_answer(rows: Table) -> ServerAnswer:
    """An answer whose beginning and end are known.

    Servers print counter names with an initial capital and variable names in lower case; tables of information_schema
    have upper case only, and then the names decide.
    """
    names = [name for name in rows if not name.startswith(_SMALL)]
    if not names or all(name.isupper() for name in names):
        names = list(rows)
        return ServerAnswer(rows, 2 * sum(_is_variable(name) for name in names) < len(names))
    return ServerAnswer(rows, 2 * sum(name[:1].isupper() for name in names) > len(names))


def split_answers(rows: Iterable[Row], *, headed: bool) -> Iterator[ServerAnswer]:
    """Split consecutive rows into answers; only answers that are not yet complete are held in memory.

    A repeated name begins a new answer. Rows without a heading must have names that servers have.
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
    """Each row with whether it is a counter; ambiguous names are classified like the rows around them.

    Below a heading, upper-case names are ambiguous, and the majority of all names decides.
    """
    now: bool | None = None
    began = False
    waiting: list[Row] = []
    seen = {True: 0, False: 0}  # counts of the waiting rows
    for row in rows:
        kind = None if headed and row[0].isupper() else _is_counter(row[0])
        waiting.append(row)
        if kind is not None:
            seen[kind] += 1
        if kind is not None and kind != now and (_is_certain(row[0]) or seen[kind] >= CERTAIN):
            now = kind
        elif now is None or (seen[not now] and kind != now):
            continue
        for one in waiting:  # the first rows had no classified rows before them
            yield (now if began or _is_counter(one[0]) is not False else False), one
        began = True
        waiting.clear()
        seen = {True: 0, False: 0}
    if now is None:
        now = complete_answer(dict(waiting)).counters
    elif all(name.islower() and _is_counter(name) is False for name, _ in waiting):
        now = False  # at the end no further rows can change this
    yield from ((now, one) for one in waiting)


def _answer_if_known(answer: ServerAnswer, *, headed: bool) -> Iterator[ServerAnswer]:
    known = sum(_has_stem(name) if answer.counters else _is_variable(name) for name in answer.rows)
    if headed or 2 * known >= len(answer.rows):
        yield answer


def join_answers(parts: Iterable[ServerAnswer]) -> Iterator[ServerAnswer]:
    """Join interrupted answers: a continuation has no name in common with the beginning."""
    held: dict[bool, ServerAnswer] = {}
    for answer in parts:
        before = held.get(answer.counters)
        if before is not None and not answer.begun and before.rows.keys().isdisjoint(answer.rows):
            before.rows.update(answer.rows)
            continue
        if before is not None:
            yield before
        held[answer.counters] = answer
    yield from held.values()


def _is_certain(name: str) -> bool:
    """Whether the capitalization of a name shows that it is a counter."""
    return name[:1].isupper() and not name.isupper()


def _is_counter(name: str) -> bool | None:
    """Whether a name is a counter's; None if ambiguous, for example for names of both kinds."""
    if _is_certain(name):
        return True
    if _is_variable(name) or name.startswith("mysqlx_"):
        return None if name.isupper() and name.lower() in _BOTH else False
    if name.startswith(_SMALL):
        return True
    return True if name.isupper() and _has_stem(name) and not name.startswith("MYSQLX") else None


# Names that are both a variable and a counter, in some versions.
_BOTH = frozenset({
    "innodb_page_size", "mysqlx_port", "mysqlx_socket", "mysqlx_ssl_cipher", "ssl_cipher", "ssl_session_cache_mode",
    "ssl_session_cache_timeout",
})  # fmt: skip


def is_known(name: str) -> bool:
    """Whether some version has a variable with that name, or may have such a counter."""
    return _is_variable(name) or (name[:1].isupper() and "_" in name and _has_stem(name))


def _has_stem(name: str) -> bool:
    return name.lower().partition("_")[0] in _STEMS


def _is_variable(name: str) -> bool:
    """Whether some version has a variable with that name."""
    return name.lower() in _variables()


@cache
def _variables() -> Collection[str]:
    catalogs = [
        load(parse_target(f"{flavour}-{'.'.join(map(str, series))}"))
        for flavour in SERIES
        for series in SERIES[flavour]
    ]
    set_by_options = {variable for one in catalogs for _, variable in one.options.texts("variable")}
    return frozenset((*set_by_options, *f"{WITHOUT_OPTION} {MYSQL} {MARIADB}".split()))


def is_last(ahead: Ahead, by: int = 0) -> bool:
    """Whether the text ends with this line without a line end, so that it may be truncated."""
    return ahead.peek(by + 1) is None


class Ahead:
    """Lines with lookahead, for a text that may be larger than memory; only lines peeked at but not taken are held.

    `taken` is the number of lines taken.
    """

    def __init__(self, lines: Iterable[str]) -> None:
        self._lines = iter(lines)
        self._seen: deque[str] = deque()
        self.taken = 0

    def peek(self, by: int = 0) -> str | None:
        """The line `by` lines after the next one; None beyond the end of the text."""
        while len(self._seen) <= by:
            line = next(self._lines, None)
            if line is None:
                return None
            self._seen.append(line)
        return self._seen[by]

    def take(self) -> str:
        """The next line, which must exist."""
        if not self._seen:
            self._seen.append(next(self._lines))
        self.taken += 1
        return self._seen.popleft()
