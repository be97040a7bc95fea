"""The history of a server, and the list of servers, for people."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, NamedTuple

from advisor.redact import clean, redact_value
from advisor.report.words import bold, plural, wrap

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from advisor.history.shelf import Kept
    from advisor.model import Finding
    from advisor.report.history import Change, Moved

NONE = (
    "No snapshot is kept here; mycnf audit --keep and mycnf collect --keep keep one, mycnf history add SNAP another.\n"
)
LABEL = 9


class Told(NamedTuple):
    """A server with its target, the times of its first and last snapshot, and its changes, the newest first.

    `more` is how many changes are older than those.
    """

    kept: Kept
    target: str
    first: str
    last: str
    changes: tuple[Change, ...]
    more: int = 0


def one(told: Told, colour: bool) -> str:
    """The whole history of a server, the newest change first."""
    head = f"{told.kept.name} · {told.target} · {plural(len(told.kept.paths), 'snapshot')} · id {told.kept.id}"
    parts = [bold(wrap(clean(head), rest="  "), colour), *(_block(change) for change in told.changes)]
    if not told.changes:
        parts.append(f"  one snapshot of {minute(told.last)} UTC, so nothing to compare with yet")
    if told.more:
        parts.append(f"  {plural(told.more, 'older change')}: --last {told.more + len(told.changes)} shows all")
    return "\n\n".join(parts) + "\n"


def listing(all_of_them: Sequence[Told], colour: bool) -> str:
    """Each server with its snapshots and what changed in the last of them."""
    blocks = []
    for told in all_of_them:
        span = f"{minute(told.first)} to {minute(told.last)} UTC" if told.changes else f"{minute(told.last)} UTC"
        head = f"{told.kept.name} · {told.target} · id {told.kept.id}"
        lines = [bold(wrap(clean(head), rest="  "), colour), f"  {plural(len(told.kept.paths), 'snapshot')}, {span}"]
        lines += [f"  since {minute(change.before)}: {_summary(change)}" for change in told.changes[:1]]
        blocks.append("\n".join(lines))
    return "\n".join(f"{block}\n" for block in blocks) or NONE


def _summary(change: Change) -> str:
    counts = [plural(len(change.settings), "variable") + " changed"] if change.settings else []
    counts += [f"{len(found)} {name}" for name, found in _findings(change) if found]
    counts += ["restarted"] if change.restarted else []
    return ", ".join(counts) or "nothing has changed"


def _block(change: Change) -> str:
    lines = [f"{minute(change.at)} UTC, since {minute(change.before)}"]
    if change.restarted:
        lines.append(_row("started", "the server was started in between"))
    lines += [_row("set", _moved(moved)) for moved in change.settings]
    lines += [_row(name, _named(finding)) for name, found in _findings(change) for finding in found]
    lines += [_row("measured", f"{result.probe} on {result.began_at[:10]}") for result in change.probes]
    if change.still:
        lines.append(_row("still", f"{plural(change.still, 'finding')} as before"))
    if change.is_empty:
        lines.insert(1, "  nothing has changed")
    return "\n".join(lines)


def _row(name: str, words: str) -> str:
    return wrap(clean(words), f"  {name:<{LABEL}}  ", " " * (LABEL + 4))


def _findings(change: Change) -> Iterator[tuple[str, tuple[Finding, ...]]]:
    yield "new", change.new
    yield "back", change.back
    yield "gone", change.gone


def _moved(moved: Moved) -> str:
    source = f" ({moved.source})" if moved.source else ""
    return f"{moved.name} {_value(moved.name, moved.before)} → {_value(moved.name, moved.after)}{source}"


def _value(name: str, value: str | None) -> str:
    return "absent" if value is None else redact_value(name, value) or "empty"


def _named(finding: Finding) -> str:
    option = finding.canonical or finding.option
    return f"{finding.severity.value} {finding.code} {finding.name}" + (f" ({option})" if option else "")


def minute(time: str) -> str:
    """`2026-11-21 05:01`, in UTC."""
    try:
        return f"{datetime.fromisoformat(time).astimezone(UTC):%Y-%m-%d %H:%M}"
    except (ValueError, OverflowError):
        return "an unknown time"
