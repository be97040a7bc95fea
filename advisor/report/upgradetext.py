"""A move between servers for people: what stops the server, what fares differently, then what merely changes."""

from __future__ import annotations

from functools import lru_cache
from itertools import groupby
from typing import TYPE_CHECKING

from advisor.model import Confidence, Severity
from advisor.redact import clean, redact_name, redact_text
from advisor.report.words import bold, painted, plural, wrap
from advisor.upgrade.change import WEIGHTY, Area, Kind
from rules.evidence_store import load

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from advisor.upgrade.change import DefaultChange, LineChange, Move

WIDTH = 80
SCOPE = "configuration only: schema and data are not checked"
NAMES = 34  # room for the names in the table of smaller changes
SHOWN = 60
_STOPS = frozenset({Kind.SYNTAX, Kind.REMOVED, Kind.RENAMED, Kind.REFUSED})
_OTHERWISE = frozenset(Kind) - _STOPS - {Kind.STILL_REFUSED}


def report(move: Move, *, every: bool = False, colour: bool = False) -> str:
    """The comparison; `every` also tells the defaults that change little, and gives each the line that keeps it."""
    mark = _mark(move)
    move = move._replace(lines=_groups_once(move.lines))
    heavy = [c for c in move.defaults if c.area in WEIGHTY]
    light = [c for c in move.defaults if c.area not in WEIGHTY]
    blocks = [_head(move, heavy, light)]
    blocks += [_lines(move, kinds, mark, colour) for kinds in (_STOPS, _OTHERWISE)]
    already = [_line(c, move, mark, colour) for c in move.lines if c.kind is Kind.STILL_REFUSED]
    blocks.append(_section(f"Refused by {move.before.label} already", already, colour))
    told = [_default(c, mark, colour) for c in heavy]
    blocks.append(_section("Options not set here whose default changes data, accounts or replicas", told, colour))
    notes = [_note(c, move, mark) for c in move.lines if c.severity is Severity.NOTE]
    blocks.append(_section("Lines that still work, or work anew", notes, colour))
    blocks += list(_light(light, mark, every=every, colour=colour))
    blocks.append(_paste([c for c in move.defaults if every or c.area is not Area.REST]))
    blocks += [_foot(move)] if _told(move) == {Confidence.LIKELY} else []
    return "\n\n".join(block for block in blocks if block) + "\n"


def _groups_once(lines: Iterable[LineChange]) -> tuple[LineChange, ...]:
    """The lines; that a group goes unread, or is read anew, is said at its first line in a file."""
    heard: set[tuple[str, str]] = set()
    told = []
    for change in lines:
        said = change.placed.path, change.message
        told.append(change._replace(message="") if said in heard else change)
        if change.kind in {Kind.NOT_READ, Kind.NEWLY_READ}:
            heard.add(said)
    return tuple(told)


def _head(move: Move, heavy: list[DefaultChange], light: list[DefaultChange]) -> str:
    files = clean(", ".join(move.paths))
    first = f"{move.before.label} → {move.after.label} · {files}, {plural(move.read, 'option')}"
    stops = sum(c.severity is Severity.ERROR for c in move.lines)
    already = sum(c.kind is Kind.STILL_REFUSED for c in move.lines)
    other = sum(c.severity is Severity.WARNING for c in move.lines)
    lines = [
        f"{plural(stops, 'line stops', 'lines stop')} the server" if stops else "no line of the files stops the server",
        f"{already:,} of them the old one too" if already else "",
        f"{plural(other, 'line is', 'lines are')} taken otherwise" if other else "",
    ]
    little = sum(c.area is Area.REST for c in light)
    told = [
        f"{len(heavy):,} for data, accounts or replicas" if heavy else "",
        f"{len(light) - little:,} for memory and speed" if len(light) > little else "",
        f"{little:,} of little weight" if little else "",
    ]
    defaults = ", ".join(part for part in told if part)
    change = f"changed defaults: {defaults}" if defaults else "no default changes"
    path = [wrap(move.path.words, "  "), *_pages(move)] if move.path.words else []
    return "\n".join([SCOPE, wrap(first), *path, wrap(", ".join(p for p in lines if p), "  "), wrap(change, "  ")])


def _pages(move: Move) -> Iterator[str]:
    """The manuals' pages that the words about the path rest on."""
    for identity in move.path.evidence:
        entry = load(identity)
        if entry is not None:
            yield wrap(f"why: {identity}, {entry.author}: {entry.title}", "  ", "    ")


def _section(title: str, parts: list[str], colour: bool) -> str:
    return "\n".join([bold(title, colour), *parts]) if parts else ""


def _mark(move: Move) -> str:
    """What marks a likely one; nothing where all are, which is then said once at the end."""
    return "  (likely)" if Confidence.CERTAIN in _told(move) else ""


def _told(move: Move) -> set[Confidence]:
    """How sure the things are that are told."""
    lines = {c.confidence for c in move.lines if c.kind is not Kind.SYNTAX}
    return lines | {c.confidence for c in move.defaults}


def _paste(changes: list[DefaultChange]) -> str:
    kept = sum(bool(c.keep) for c in changes)
    lines = plural(kept, "line that keeps an old default", "lines that keep old defaults")
    return wrap(f"--keep-lines prints the {lines} as a [mysqld] group to paste.") if kept else ""


def _foot(move: Move) -> str:
    return wrap(
        f"All this is likely, not certain: no running {move.before.label} and {move.after.label} were asked, only "
        "other patches of them, their sources and their documents."
    )


def _sure(change: LineChange | DefaultChange, mark: str) -> str:
    return "" if change.confidence is Confidence.CERTAIN else mark


def _source(change: LineChange) -> str:
    return _shown(change.placed.line.text)


@lru_cache(maxsize=1)
def _shown(line: str) -> str:
    """A line fit to be shown: that of a unit's command may hold thousands of options, each of which shows it."""
    text = clean(" ".join(redact_text(line).text.split()))
    return text if len(text) <= SHOWN else text[: SHOWN - 1] + "…"


def _place(change: LineChange, move: Move) -> str:
    path = "" if len(move.paths) == 1 and change.placed.path == move.paths[0] else f"{change.placed.path}:"
    return clean(f"{path}{change.placed.line.number}" if path else f"line {change.placed.line.number}")


def _lines(move: Move, kinds: frozenset[Kind], mark: str, colour: bool) -> str:
    wanted = (c for c in move.lines if c.kind in kinds and c.severity is not Severity.NOTE)
    return "\n".join(_line(c, move, mark, colour) for c in wanted)


def _line(change: LineChange, move: Move, mark: str, colour: bool) -> str:
    """What becomes of a line, beside it where there is room."""
    lead = f"{change.severity.value}  {_place(change, move)}  {_source(change)}"
    words = _said(change, move)
    said = clean(words + _sure(change, mark)) if words else ""
    severity = painted(change.severity.value, change.severity, colour)
    head = f"{severity}  {_place(change, move)}  {bold(_source(change), colour)}"
    lines = [f"{head}  {said}".rstrip()] if len(lead) + 2 + len(said) <= WIDTH or not said else [head, wrap(said, "  ")]
    if change.write:
        lines.append(clean(f"  write:  {change.write}"))
    return "\n".join(lines)


def _said(change: LineChange, move: Move) -> str:
    """The message without the option's name where it begins with it, and without what the report says beside it."""
    said = change.message.partition(" Use ")[0] if change.write else change.message
    said = said.removesuffix(f" {move.before.label} refuses it too.")
    written = redact_name(change.placed.line.name or "").lower().replace("-", "_")
    names = [written, *(verdict.canonical for verdict in (change.after, change.before) if verdict)]
    opening = next((f"{name} was " for name in names if said.startswith(f"{name} was ")), "")
    return said.removeprefix(opening)


def _note(change: LineChange, move: Move, mark: str) -> str:
    write = f" Write {change.write}" if change.write else ""
    message = f": {change.message}{write}{_sure(change, mark)}" if change.message else ""
    said = f"{_place(change, move)}: {_source(change)}{message}"
    return wrap(clean(said), "  ", "    ")


def _default(change: DefaultChange, mark: str, colour: bool) -> str:
    formerly = f" (was {change.formerly})" if change.formerly else ""
    head = f"  {bold(change.option, colour)}{formerly}"
    values = values_of(change)
    joined = f"{head}  {values}{_sure(change, mark)}"
    lines = [joined] if len(joined) <= WIDTH + 8 * colour else [head, wrap(values + _sure(change, mark), "    ")]
    if change.message:
        lines.append(wrap(change.message, "    "))
    lines.append(f"    keep:  {change.keep}" if change.keep else wrap(f"can't be kept: {change.lost}", "    "))
    return "\n".join(lines)


def values_of(change: DefaultChange) -> str:
    """Old and new value; of switches which ones turn, of long lists what goes and what comes."""
    was, is_now = change.before.split(","), change.after.split(",")
    if all("=" in part for part in (*was, *is_now)):
        return _turned(was, is_now)
    if len(was) == len(is_now) == 1 or len(change.before + change.after) < SHOWN:
        return f"{change.before or '(none)'} → {change.after or '(none)'}"
    gone = [m for m in was if m not in is_now]
    come = [m for m in is_now if m not in was]
    parts = [f"loses {', '.join(gone)}" if gone else "", f"gains {', '.join(come)}" if come else ""]
    return "; ".join(part for part in parts if part)


def _turned(was: list[str], is_now: list[str]) -> str:
    """`mrr, mrr_cost_based: on → off`, for each way that switches turn."""
    before, after = (dict(part.split("=", 1) for part in parts) for parts in (was, is_now))
    ways: dict[str, list[str]] = {}
    for flag, setting in before.items():
        ways.setdefault(f"{setting} → {after.get(flag, '(none)')}", []).append(flag)
    return "; ".join(f"{', '.join(flags)}: {way}" for way, flags in ways.items())


def _light(light: list[DefaultChange], mark: str, *, every: bool, colour: bool) -> Iterator[str]:
    """Smaller changes as a table by area; those of little weight only where all are wanted."""
    if every:
        for area, changes in groupby(light, key=lambda c: c.area):
            yield _section(f"Defaults: {area.value}", [_default(c, mark, colour) for c in changes], colour)
        return
    rows = []
    for area, changes in groupby([c for c in light if c.area is not Area.REST], key=lambda c: c.area):
        rows += [_row(c, area.value if first else "", mark) for first, c in _firsts(changes)]
    yield _section("Defaults that change memory and speed", rows, colour)
    little = sum(c.area is Area.REST for c in light)
    if light:
        more = f"{plural(little, 'more default changes', 'more defaults change')} little. " if little else ""
        yield wrap(f"{more}--all tells what each does, and the line that keeps it.")


def _firsts(changes: Iterable[DefaultChange]) -> Iterator[tuple[bool, DefaultChange]]:
    return ((at == 0, change) for at, change in enumerate(changes))


def _row(change: DefaultChange, area: str, mark: str) -> str:
    lead, values = f"  {area:<10}{change.option:<{NAMES}}", values_of(change) + _sure(change, mark)
    if lead.endswith(" ") and len(lead + values) <= WIDTH:
        return lead + values
    return "\n".join([lead.rstrip(), wrap(values, " " * 14)])
