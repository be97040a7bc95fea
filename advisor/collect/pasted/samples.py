"""The window between the first and the last sample of counters in texts."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import TYPE_CHECKING

from advisor.collect.connection.session import whole_number
from advisor.collect.server.server import without_sql
from advisor.collect.server.workload import sample_at
from advisor.facts.workload import Workload

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence


Sample = dict[str, str]
ONE_SAMPLE = (
    "needs two samples of the status counters, some time apart (mysqladmin extended-status -i 10 -c 2, or pt-stalk)"
)
UPTIME_FELL = (
    "needs samples whose Uptime rises, the earlier first: the server restarted in between, or they are differences "
    "(mysqladmin -r) of some counters alone"
)


def complete_samples(samples: Sequence[Sample]) -> Sequence[Sample]:
    """The samples with the server's uptime, if any has it: the last one in a text may be truncated before it."""
    return [sample for sample in samples if whole_number(sample.get("uptime")) is not None] or samples


def add_sample(kept: tuple[Sample, ...], newest: Sample) -> tuple[Sample, ...]:
    """Add a sample, and keep only those that a window needs: both ends, and two between which the uptime fell.

    Once a sample has the uptime, samples without it are dropped.
    """
    now = whole_number(newest.get("uptime"))
    before = [whole_number(sample.get("uptime")) for sample in kept]
    if now is None:
        return (*kept[:1], newest) if None in before or not kept else kept
    known = [at for at in before if at is not None]
    if not known:
        return (newest,)
    fell = [later < earlier for earlier, later in pairwise([*known, now])]
    needed = len(known) == 1 or fell[-2] or (fell[-1] and not any(fell[:-1]))
    return (*(kept if needed else kept[:-1]), newest)


def workload_of(samples: Sequence[Sample]) -> tuple[Workload | None, str]:
    """The workload between the first and the last sample; otherwise None and the reason."""
    uptimes = [whole_number(sample.get("uptime")) for sample in samples]
    known = [at for at in uptimes if at is not None]
    if len(known) < 2 or min(known) == max(known):  # noqa: PLR2004 - two ends
        return None, ONE_SAMPLE
    if any(later < earlier for earlier, later in pairwise(known)):
        return None, UPTIME_FELL
    return Workload(sample_at(samples[0], float(known[0])), sample_at(samples[-1], float(known[-1]))), ""


Counters = dict[str, str]

_NEVER_ZERO = "innodb_page_size"
_TEXTS = re.compile(
    r"(?:ssl|tls|current_tls|mysqlx|wsrep|rsa|caching|rpl|telemetry|innodb_have|innodb_redo_log)_.*|compression.*"
    r"|.*_(?:status|supported|incomplete)|slave_running|binlog_snapshot_file|max_used_connections_time"
)
NO_FIRST = "these are differences (mysqladmin -r) without the round before: give the text from its beginning"


class DifferenceRounds:
    """Adds up the differences of mysqladmin -r, starting from the first round; `no_first` is set if that is missing."""

    def __init__(self) -> None:
        self.no_first = False
        self.added = False
        self._sum: Counters = {}

    def take_round(self, counters: Counters) -> Counters | None:
        """The absolute counters at this round; None if only differences are known."""
        if counters.get(_NEVER_ZERO) != "0":
            self._sum = counters
            return counters
        if self._sum.get(_NEVER_ZERO, "0") == "0":
            self.no_first = True
            return None
        self.added = True
        self._sum = self._sum | {name: _add_difference(self._sum.get(name), value) for name, value in counters.items()}
        return self._sum

    def known_values(self, sample: Counters) -> Counters:
        """A sample without the values that -r makes invalid: it prints text values as zero."""
        if not self.added:
            return sample
        return {name: value for name, value in sample.items() if value != "0" or not _TEXTS.fullmatch(name)}


def _add_difference(before: str | None, difference: str) -> str:
    first, more = whole_number(before), whole_number(difference)
    return difference if first is None or more is None else str(first + more)


LONGEST = 4 << 20  # characters; servers print at most one megabyte
_MONITOR = "INNODB MONITOR OUTPUT"
_END = f"END OF {_MONITOR}"


class InnodbStatusReader:
    """Keeps the last complete InnoDB status from the lines that pass."""

    def __init__(self) -> None:
        self._open: list[str] = []
        self._size = 0
        self._last = ""

    def watch(self, lines: Iterable[str]) -> Iterator[str]:
        """Yield the lines unchanged."""
        for line in lines:
            if self._open or _MONITOR in line:
                self._take(line)
            yield line

    @property
    def text(self) -> str:
        """The sections with numbers only; empty without a status."""
        return without_sql(re.sub(r"\\n", "\n", self._last)) if self._last else ""

    def _take(self, line: str) -> None:
        end = line.rfind(_END)
        begin = line.rfind(_MONITOR, 0, end if end >= 0 else None)
        if begin >= 0:
            self._open, self._size = [line[begin:]], 0
        elif self._open:
            self._open.append(line)
        self._size += len(line) + 1
        if self._open and end >= 0:
            self._last = "\n".join(self._open)
        if end >= 0 or self._size > LONGEST:
            self._open = []


def innodb_text(lines: Iterable[str]) -> str:
    """The last InnoDB status in these lines."""
    monitor = InnodbStatusReader()
    for _ in monitor.watch(lines):
        pass
    return monitor.text
