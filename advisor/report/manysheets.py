"""Many snapshots as tables, which text, Markdown and pages share."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from advisor.model import Severity
from advisor.report.words import plural

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from advisor.report.manytally import Tally


class Sheet(NamedTuple):
    """One table: its title, the heads of its columns, the rows as text, and what they leave out.

    The last `numbers` columns are numbers.
    """

    title: str
    heads: tuple[str, ...]
    rows: Sequence[tuple[str, ...]]
    more: str = ""
    numbers: int = 0


def title(tally: Tally) -> str:
    """`mycnf report of 10,000 snapshots`."""
    return f"mycnf report of {plural(tally.read + tally.broken, 'snapshot')}"


def summary(tally: Tally) -> str:
    """`9,998 read, 2 broken; 12 errors, 30 warnings; nothing found on 7`."""
    broken = f", {tally.broken:,} broken" if tally.broken else ""
    found = [plural(tally.severities[s.value], s.value) for s in Severity if tally.severities[s.value]]
    clean = [f"nothing found on {plural(tally.clean, 'server')}"] if tally.clean else []
    return "; ".join([f"{tally.read:,} read{broken}", *([", ".join(found)] if found else []), *clean])


def sheets(tally: Tally) -> Iterator[Sheet]:
    """By rule, by server, by version, and what could not be read; a table without rows is left out."""
    for sheet in (by_rule(tally), by_server(tally), by_version(tally), unread(tally)):
        if sheet.rows:
            yield sheet


def by_rule(tally: Tally) -> Sheet:
    """How many servers each rule speaks of."""
    rows = [(r.severity, r.code, r.name, f"{r.servers:,}", f"{r.findings:,}") for r in tally.rules]
    return Sheet("By rule", ("severity", "code", "rule", "servers", "findings"), rows, numbers=2)


def by_server(tally: Tally) -> Sheet:
    """The servers that need most."""
    shown = tally.worst
    rows = [(s.server, s.target, s.path, f"{s.errors:,}", f"{s.warnings:,}", f"{s.notes:,}") for s in shown]
    left = tally.read - tally.clean - len(shown)
    more = f"{plural(left, 'more server')} with findings; --format jsonl and parquet have all" if left > 0 else ""
    heads = ("server", "target", "snapshot", "errors", "warnings", "notes")
    return Sheet("Servers that need most", heads, rows, more, 3)


def by_version(tally: Tally) -> Sheet:
    """How many servers run each version."""
    rows = [(target, f"{count:,}") for target, count in sorted(tally.versions.items(), key=lambda v: (-v[1], v[0]))]
    return Sheet("Versions", ("target", "servers"), rows, numbers=1)


def unread(tally: Tally) -> Sheet:
    """What could not be read, and why."""
    left = tally.broken - len(tally.reasons)
    more = f"{left:,} more; stderr and --format jsonl name all" if left else ""
    return Sheet("Could not be read", ("snapshot", "why"), list(tally.reasons), more)
