"""The report of lint for people: the line, the place in it, what is wrong, what to do."""

from __future__ import annotations

from typing import TYPE_CHECKING

from advisor.redact import clean
from advisor.report.words import bold, counted, painted, plural, wrap

if TYPE_CHECKING:
    from collections.abc import Sequence

    from advisor.model import Finding, Location
    from advisor.report import Checked

SHOWN = 66


def lint_report(files: Sequence[Checked], colour: bool) -> str:
    """Every finding with its source line, and a summary that says what was checked."""
    blocks = [_block(f, c, colour) for c in files for f in c.findings]
    return "\n\n".join([*blocks, summary(files)]) + "\n"


def concise_report(files: Sequence[Checked]) -> str:
    """One line a finding, for editors and grep."""
    lines = [f"{_place(f, c)}: {f.code} {f.name} {f.option or ''}: {f.message}" for c in files for f in c.findings]
    return "".join(clean(line.replace(" : ", ": ")) + "\n" for line in lines)


def statistics(files: Sequence[Checked]) -> str:
    """How often each rule spoke, most often first."""
    counts: dict[str, int] = {}
    for name in (f"{f.code} {f.name}" for c in files for f in c.findings):
        counts[name] = counts.get(name, 0) + 1
    return "".join(f"{n:6,}  {name}\n" for name, n in sorted(counts.items(), key=lambda x: (-x[1], x[0])))


def summary(files: Sequence[Checked]) -> str:
    """`2 files checked for MySQL 8.4.8: 1 error.`"""
    targets = list(dict.fromkeys(c.target.label for c in files))
    paths = len({c.path for c in files})
    found = counted(f for c in files for f in c.findings)
    return wrap(f"{plural(paths, 'file')} checked for {', '.join(targets)}: {found}.")


def _place(f: Finding, c: Checked) -> str:
    return f"{f.location.path}:{f.location.line}:{f.location.column}" if f.location else c.path


def _block(f: Finding, c: Checked, colour: bool) -> str:
    head = f"{clean(_place(f, c))}  {painted(f.severity.value, f.severity, colour)}  {bold(f.name, colour)} {f.code}"
    lines = [head if f.confidence.value == "certain" else f"{head}  ({f.confidence.value})"]
    if f.location and (f.location.path, f.location.line) in c.sources:
        lines += source_lines(c.sources[f.location.path, f.location.line], f.location)
    lines.append(wrap(clean(f.message), "  "))
    if f.help:
        lines.append(wrap(clean(f.help), "  help: "))
    if f.evidence:
        lines.append(wrap(f"{', '.join(f.evidence)} · mycnf explain {f.code}", "  why:  "))
    return "\n".join(lines)


def source_lines(source: str, place: Location) -> list[str]:
    """The line with its number, and carets under the place; a long line is cut so that the place stays in view."""
    text = clean(source.rstrip("\r\n"))
    start, end = max(0, place.column - 1), max(place.column, place.end_column - 1)
    skip = max(0, min(start - 20, len(text) - SHOWN)) if len(text) > SHOWN else 0
    shown = ("…" + text[skip + 1 :] if skip else text)[:SHOWN]
    lines = [f"{place.line:3} │ {shown.expandtabs(1)}".rstrip()]
    under = columns(shown[start - skip : min(end - skip, SHOWN)])
    if under:
        lines.append(f"    │ {' ' * columns(shown[: start - skip])}{'^' * under}")
    return lines


def columns(text: str) -> int:
    """How many columns of a terminal the text takes."""
    if text.isascii():
        return len(text)
    import unicodedata

    return sum(0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in text)
