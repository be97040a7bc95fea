"""Counters of one round after another, as mysqladmin prints them with -i: with -r only the first are whole."""

from __future__ import annotations

import re

from advisor.collect.asking import number

Counters = dict[str, str]

_NEVER_ZERO = "innodb_page_size"
_TEXTS = re.compile(
    r"(?:ssl|tls|current_tls|mysqlx|wsrep|rsa|caching|rpl|telemetry|innodb_have|innodb_redo_log)_.*|compression.*"
    r"|.*_(?:status|supported|incomplete)|slave_running|binlog_snapshot_file|max_used_connections_time"
)
NO_FIRST = "these are differences (mysqladmin -r) without the round before them: give the text from its beginning"


class Rounds:
    """Adds the differences of later rounds to the first one. `no_first` says that there was no first one."""

    def __init__(self) -> None:
        self.no_first = False
        self.added = False
        self._sum: Counters = {}

    def taken(self, found: Counters) -> Counters | None:
        """What the counters were at this round; None where only differences are known."""
        if found.get(_NEVER_ZERO) != "0":
            self._sum = found
            return found
        if self._sum.get(_NEVER_ZERO, "0") == "0":
            self.no_first = True
            return None
        self.added = True
        self._sum = self._sum | {name: _plus(self._sum.get(name), value) for name, value in found.items()}
        return self._sum

    def told(self, sample: Counters) -> Counters:
        """A sample without what -r spoils: it prints a zero for texts, too."""
        if not self.added:
            return sample
        return {name: value for name, value in sample.items() if value != "0" or not _TEXTS.fullmatch(name)}


def _plus(before: str | None, difference: str) -> str:
    first, more = number(before), number(difference)
    return difference if first is None or more is None else str(first + more)
