"""A move between servers as a document, as lines that keep old defaults, and as JSON.

The field names of the JSON are a contract, published in schemas/upgrade.schema.json.
"""

from __future__ import annotations

from functools import lru_cache
from itertools import groupby

from advisor.catalog.targets import EXAMINED, catalog_for
from advisor.core.model import Confidence, Severity
from advisor.redaction import escape_text, redact_name, redact_text, redact_value
from advisor.report import plural, wrap
from advisor.report.document import Code, Document, Entry, Items, Paragraph, Section, Table
from advisor.report.findings_json import dumps
from advisor.upgrade.change import WARNING_AREAS, Area, LineEffect
from rules.core.areas import find_evidence

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import Any

    from advisor.report.document import Block, Words
    from advisor.upgrade.change import DefaultChange, LineChange, UpgradeChanges
    from advisor.verdict import LineVerdict


SCOPE = "configuration only: schema and data are not checked"
AREAS, NAMES = 9, 31  # columns of the table of smaller changes
SHOWN = 60
_STOPS = frozenset({LineEffect.SYNTAX, LineEffect.REMOVED, LineEffect.RENAMED, LineEffect.REFUSED})
_OTHERWISE = frozenset(LineEffect) - _STOPS - {LineEffect.STILL_REFUSED}
COMMENT = "# "
AMAZON = ("rds", "aurora")
VERSION = 1


def document(move: UpgradeChanges, *, every: bool = False) -> Document:
    """The comparison; `every` also lists the defaults that change little, and gives each the line that keeps it."""
    mark = _mark(move)
    move = move._replace(lines=_groups_once(move.lines))
    heavy = [c for c in move.defaults if c.area in WARNING_AREAS]
    light = [c for c in move.defaults if c.area not in WARNING_AREAS]
    minor = [c for c in move.lines if c.severity is Severity.NOTE]
    notes = tuple(_note(c, move, mark) for c in minor if c.kind is not LineEffect.NOT_EXAMINED)
    unknown = tuple(_note(c, move, mark) for c in minor if c.kind is LineEffect.NOT_EXAMINED)
    already = tuple(_line(c, move, mark) for c in move.lines if c.kind is LineEffect.STILL_REFUSED)
    noun = "Parameters" if move.after.is_managed else "Options"
    blocks: list[Block] = [_head(move, heavy, light)]
    blocks += [Section("", tuple(_lines(move, kinds, mark))) for kinds in (_STOPS, _OTHERWISE)]
    blocks += [
        Section(f"Refused by {move.before.label} already", already),
        Section(
            f"{noun} not set here whose default changes data, accounts or replicas",
            tuple(_default(c, mark) for c in heavy),
        ),
        Section("Lines that still work, or work now", (Items(notes),)),
        Section("Lines that mycnf cannot judge", (Items(unknown),)),
        *_light(light, mark, every=every),
        _paste([c for c in move.defaults if every or c.area is not Area.REST], managed=move.after.is_managed),
    ]
    blocks += [_foot(move)] if _confidences(move) == {Confidence.LIKELY} else []
    moved = f"{move.before.label} → {move.after.label}"
    return Document(("mycnf upgrade", moved, ", ".join(move.paths), plural(move.lines_read, "option")), tuple(blocks))


def _groups_once(lines: Iterable[LineChange]) -> tuple[LineChange, ...]:
    """The lines; that a group is no longer read, or newly read, is said at its first line in a file."""
    seen: set[tuple[str, str]] = set()
    kept = []
    for change in lines:
        key = change.placed.path, change.message
        kept.append(change._replace(message="") if key in seen else change)
        if change.kind in {LineEffect.NOT_READ, LineEffect.NEWLY_READ}:
            seen.add(key)
    return tuple(kept)


def _head(move: UpgradeChanges, heavy: list[DefaultChange], light: list[DefaultChange]) -> Section:
    """What the report covers, the support for the way, and how much changes."""
    if move.after.is_managed:
        return Section("", (Paragraph(SCOPE, indent=2), *_service_counts(move, heavy, light)))
    stops = sum(c.severity is Severity.ERROR for c in move.lines)
    already = sum(c.kind is LineEffect.STILL_REFUSED for c in move.lines)
    other = sum(c.severity is Severity.WARNING for c in move.lines)
    unjudged = sum(c.kind is LineEffect.NOT_EXAMINED for c in move.lines)
    none = f"no line of the files {'is known to stop' if unjudged else 'stops'} the server"
    lines = [
        f"{plural(stops, 'line stops', 'lines stop')} the server" if stops else none,
        f"{already:,} of them the old one too" if already else "",
        f"{plural(other, 'line is', 'lines are')} treated differently" if other else "",
        f"{plural(unjudged, 'line')} cannot be judged" if unjudged else "",
    ]
    change = _changed_defaults(heavy, light)
    change += "".join(f"; what {label} changed is not known" for label in unread_versions(move))
    counts = (Paragraph(", ".join(p for p in lines if p), indent=2), Paragraph(change, indent=2))
    path = (Paragraph(move.path.words, indent=2), Items(tuple(_pages(move))))
    return Section("", (Paragraph(SCOPE, indent=2), *path, *counts))


def _service_counts(
    move: UpgradeChanges, heavy: list[DefaultChange], light: list[DefaultChange]
) -> Iterator[Paragraph]:
    """How much changes for a managed service, whose group of the new family takes the parameters or refuses them."""
    family = "the new family" if move.after.build in AMAZON else "the new version"
    refused = sum(c.kind in _STOPS for c in move.lines)
    other = sum(c.severity is Severity.WARNING and c.kind not in _STOPS for c in move.lines)
    lines = [
        f"{plural(refused, 'parameter is', 'parameters are')} not valid in {family}"
        if refused
        else f"mycnf knows no parameter here that is not valid in {family}",
        f"{plural(other, 'parameter works', 'parameters work')} differently" if other else "",
    ]
    yield Paragraph(", ".join(part for part in lines if part), indent=2)
    yield Paragraph(
        f"{_changed_defaults(heavy, light)}; they are the server's: compare the service's default groups", indent=2
    )


def _changed_defaults(heavy: list[DefaultChange], light: list[DefaultChange]) -> str:
    little = sum(c.area is Area.REST for c in light)
    parts = [
        f"{len(heavy):,} for data, accounts or replicas" if heavy else "",
        f"{len(light) - little:,} for memory and speed" if len(light) > little else "",
        f"{little:,} of little weight" if little else "",
    ]
    defaults = ", ".join(part for part in parts if part)
    return f"changed defaults: {defaults}" if defaults else "no default changes"


def unread_versions(move: UpgradeChanges) -> list[str]:
    """The versions that are read as a lower one, so that their own defaults are not known."""
    return [t.label for t in (move.before, move.after) if catalog_for(t).version < t.version]


def _pages(move: UpgradeChanges) -> Iterator[Words]:
    """The manuals' pages that the words about the path are based on."""
    for identity in move.path.evidence:
        entry = find_evidence(identity)
        if entry is not None:
            yield f"why: {identity}, {entry.author}: {entry.title}"


def _mark(move: UpgradeChanges) -> str:
    """What marks a likely one; nothing where all are, which is then said once at the end."""
    return "  (likely)" if Confidence.CERTAIN in _confidences(move) else ""


def _confidences(move: UpgradeChanges) -> set[Confidence]:
    """How certain the lines and the changed defaults are."""
    lines = {c.confidence for c in move.lines if c.kind is not LineEffect.SYNTAX}
    return lines | {c.confidence for c in move.defaults}


def _paste(changes: list[DefaultChange], *, managed: bool) -> Paragraph:
    kept = sum(bool(c.keep) for c in changes)
    lines = plural(kept, "line that keeps an old default", "lines that keep old defaults")
    form = "names and values for the service" if managed else "a [mysqld] group to paste"
    return Paragraph(f"--keep-lines prints the {lines} as {form}." if kept else "")


def _foot(move: UpgradeChanges) -> Paragraph:
    unexamined = [t.label for t in (move.before, move.after) if t not in EXAMINED]
    reason = f": no running {' or '.join(unexamined)} was examined, only other versions, their sources and documents"
    return Paragraph(f"All this is likely, not certain{reason if unexamined else ''}.")


def _confidence_mark(change: LineChange | DefaultChange, mark: str) -> str:
    return "" if change.confidence is Confidence.CERTAIN else mark


def _source(change: LineChange) -> Code:
    return Code(_shown_line(change.placed.line.text))


@lru_cache(maxsize=1)
def _shown_line(line: str) -> str:
    """A line fit to be shown: that of a unit's command may hold thousands of options, each of which shows it."""
    text = escape_text(" ".join(redact_text(line).text.split()))
    return text if len(text) <= SHOWN else text[: SHOWN - 1] + "…"


def _place(change: LineChange, move: UpgradeChanges) -> str:
    path = "" if len(move.paths) == 1 and change.placed.path == move.paths[0] else f"{change.placed.path}:"
    return f"{path}{change.placed.line.number}" if path else f"line {change.placed.line.number}"


def _lines(move: UpgradeChanges, kinds: frozenset[LineEffect], mark: str) -> Iterator[Entry]:
    return (_line(c, move, mark) for c in move.lines if c.kind in kinds and c.severity is not Severity.NOTE)


def _line(change: LineChange, move: UpgradeChanges, mark: str) -> Entry:
    """What becomes of a line, and what to write instead."""
    words = _short_message(change, move)
    paragraph = Paragraph(f"{words}{_confidence_mark(change, mark)}" if words else "")
    write = Paragraph(("write:  ", Code(change.write)) if change.write else "")
    where = _place(change, move)
    return Entry(change.severity.value, change.severity, _source(change), (paragraph, write), where=where, beside=True)


def _short_message(change: LineChange, move: UpgradeChanges) -> str:
    """The message without the option's name where it begins with it, and without what the report says beside it."""
    text = change.message.partition(" Use ")[0] if change.write else change.message
    text = text.removesuffix(f" {move.before.label} refuses it too.")
    written = redact_name(change.placed.line.name or "").lower().replace("-", "_")
    names = [written, *(verdict.canonical for verdict in (change.after, change.before) if verdict)]
    opening = next((f"{name} was " for name in names if text.startswith(f"{name} was ")), "")
    return text.removeprefix(opening)


def _note(change: LineChange, move: UpgradeChanges, mark: str) -> Words:
    write = f" Write {change.write}" if change.write else ""
    message = f": {change.message}{write}{_confidence_mark(change, mark)}" if change.message else ""
    return f"{_place(change, move)}: ", _source(change), message


def _default(change: DefaultChange, mark: str) -> Section:
    title = (Code(change.option), f" (was {change.formerly})") if change.formerly else Code(change.option)
    keep = ("keep:  ", Code(change.keep)) if change.keep else f"can't be kept: {change.lost}"
    return Section(
        title, (Paragraph(change.message), Paragraph(keep)), remark=values_of(change) + _confidence_mark(change, mark)
    )


def values_of(change: DefaultChange) -> str:
    """Old and new value; of switches which ones turn, of long lists what goes and what comes."""
    was, is_now = change.before.split(","), change.after.split(",")
    if all("=" in part for part in (*was, *is_now)):
        return _turned_switches(was, is_now)
    if len(was) == len(is_now) == 1 or len(change.before + change.after) < SHOWN:
        return f"{change.before or '(none)'} → {change.after or '(none)'}"
    gone = [m for m in was if m not in is_now]
    come = [m for m in is_now if m not in was]
    parts = [f"loses {', '.join(gone)}" if gone else "", f"gains {', '.join(come)}" if come else ""]
    return "; ".join(part for part in parts if part)


def _turned_switches(was: list[str], is_now: list[str]) -> str:
    """`mrr, mrr_cost_based: on → off`, for each way that switches turn."""
    before, after = (dict(part.split("=", 1) for part in parts) for parts in (was, is_now))
    ways: dict[str, list[str]] = {}
    for flag, setting in before.items():
        ways.setdefault(f"{setting} → {after.get(flag, '(none)')}", []).append(flag)
    return "; ".join(f"{', '.join(flags)}: {way}" for way, flags in ways.items())


def _light(light: list[DefaultChange], mark: str, *, every: bool) -> Iterator[Block]:
    """Smaller changes as a table by area; those of little weight only where all are wanted."""
    if every:
        for area, changes in groupby(light, key=lambda c: c.area):
            yield Section(f"Defaults: {area.value}", tuple(_default(c, mark) for c in changes))
        return
    rows: list[tuple[Words, ...]] = []
    for area, changes in groupby([c for c in light if c.area is not Area.REST], key=lambda c: c.area):
        found = [(Code(c.option), values_of(c) + _confidence_mark(c, mark)) for c in changes]
        rows += [("" if at else area.value, *row) for at, row in enumerate(found)]
    table = Table(("area", "default of", "change"), tuple(rows), widths=(AREAS, NAMES), headed=False)
    yield Section("Defaults that change memory and speed", (table,))
    little = sum(c.area is Area.REST for c in light)
    more = f"{plural(little, 'more default changes', 'more defaults change')} little. " if little else ""
    yield Paragraph(f"{more}--all shows what each does, and the line that keeps it." if light else "")


def fragment(move: UpgradeChanges, *, every: bool = False) -> str:
    """A group [mysqld] with a line for each changed default, its reason above it; `every` adds those of little weight.

    What no line keeps is a comment. For a managed service the lines have no group.
    """
    wanted = [c for c in move.defaults if every or c.area is not Area.REST]
    way = f"{move.before.label} → {move.after.label}"
    if not wanted:
        unknown = "".join(f" What {label} changed is not known." for label in unread_versions(move))
        return f"{_comment(SCOPE)}\n{_comment(f'{way}: no default changes.{unknown}')}\n"
    managed = move.after.is_managed
    how = (
        "and set them with the other parameters" if managed else "and let the server read them after the existing lines"
    )
    head = f"{way}: lines that keep old defaults. Use only those that you need, {how}."
    blocks = [f"{_comment(SCOPE)}\n{_comment(head)}" + ("" if managed else "\n[mysqld]")]
    for area, changes in groupby(wanted, key=lambda c: c.area):
        blocks += [f"# --- {area.value} ---", *("\n".join(_fragment_lines(change)) for change in changes)]
    return "\n\n".join(blocks) + "\n"


def _fragment_lines(change: DefaultChange) -> Iterator[str]:
    yield _comment(f"{change.option}: {values_of(change)}")
    if change.message:
        yield _comment(change.message)
    yield change.keep or _comment(f"Can't be kept: {change.lost}")


def _comment(text: str) -> str:
    return wrap(escape_text(text), COMMENT, COMMENT)


def as_json(move: UpgradeChanges) -> str:
    """The whole comparison, lines worst first and defaults most consequential first."""
    return dumps(
        {
            "version": VERSION,
            "from": str(move.before),
            "to": str(move.after),
            "scope": SCOPE,
            "path": _path_fields(move),
            "files": list(move.paths),
            "options_read": move.lines_read,
            "lines": [_line_fields(c) for c in move.lines],
            "defaults": [_default_fields(c) for c in move.defaults],
            "problems": [p._asdict() for p in move.problems],
        }
    )


def _path_fields(move: UpgradeChanges) -> dict[str, Any]:
    path = move.path
    return {
        "support": path.support.value,
        "steps": list(path.steps),
        "message": path.words or None,
        "evidence": [
            {"id": entry.id, "title": f"{entry.author}: {entry.title}", "url": entry.url}
            for entry in map(find_evidence, path.evidence)
            if entry is not None
        ],
    }


def _line_fields(change: LineChange) -> dict[str, Any]:
    line, place = change.placed.line, change.location
    name = redact_name(line.name or "").lower().replace("-", "_") or None
    canonical = next((v.canonical for v in (change.after, change.before) if v and v.canonical), None)
    return {
        "change": change.kind.value,
        "severity": change.severity.value,
        "confidence": change.confidence.value,
        "path": place.path,
        "line": place.line,
        "column": place.column,
        "end_line": place.end_line,
        "end_column": place.end_column,
        "group": line.group,
        "option": name,
        "canonical": canonical,
        "raw": None if line.raw is None else redact_value(canonical or name or "", redact_value(name or "", line.raw)),
        "from": _verdict_fields(change.before),
        "to": _verdict_fields(change.after),
        "message": change.message,
        "write": change.write,
    }


def _verdict_fields(verdict: LineVerdict | None) -> dict[str, Any] | None:
    if verdict is None:
        return None
    name = verdict.canonical or ""
    values = [None if v is None else redact_value(name, v) for v in (verdict.value, verdict.running)]
    return {"outcome": verdict.outcome.value, "value": values[0], "running": values[1]}


def _default_fields(change: DefaultChange) -> dict[str, Any]:
    return {
        "option": change.option,
        "formerly": change.formerly,
        "area": change.area.value,
        "severity": change.severity.value,
        "confidence": change.confidence.value,
        "from": change.before,
        "to": change.after,
        "message": change.message,
        "keep": change.keep,
        "lost": change.lost or None,
    }
