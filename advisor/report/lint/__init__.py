"""The report of lint for people: the line, the place in it, what is wrong and what to do; deprecations as a block."""

from __future__ import annotations

from advisor.catalog import load
from advisor.catalog.targets import EXAMINED, SERIES
from advisor.core import NamedTuple
from advisor.core.model import Confidence, Severity, Target
from advisor.redaction import escape_text
from advisor.report import WIDTH, bold_text, count_findings, paint_severity, plural, wrap

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from advisor.core.model import Finding, Location
    from advisor.report import CheckedFile, Page


RULE = "OPT008"
FEWEST = 3  # fewer stand better at their own places


class OutdatedLine(NamedTuple):
    """One deprecated line: the finding, and the first supported series that refuses it, None where none does."""

    finding: Finding
    refused_by: Target | None

    @property
    def when(self) -> str:
        """The series that refuses it, for people, such as `MySQL 8.4`."""
        return _label(self.refused_by) if self.refused_by else "none yet"


def outdated_options(checked: CheckedFile) -> list[OutdatedLine]:
    """The deprecated lines of a file, those first that the nearest series refuses; none where they are few."""
    findings = [f for f in checked.findings if f.code == RULE and f.severity is Severity.NOTE and f.canonical]
    if len(findings) < FEWEST:
        return []
    newer = [Target(checked.target.flavour, patch) for patch in sorted(SERIES[checked.target.flavour].values())]
    newer = [target for target in newer if target.version > checked.target.version]
    made = [OutdatedLine(f, _refusing(f.canonical or "", newer)) for f in findings]
    return sorted(made, key=lambda one: (one.refused_by is None, one.refused_by or checked.target, _line(one.finding)))


def _refusing(name: str, newer: Sequence[Target]) -> Target | None:
    return next((target for target in newer if name not in load(target).options), None)


def _line(finding: Finding) -> int:
    return finding.location.line if finding.location else 0


def heading(options: Sequence[OutdatedLine]) -> str:
    """How many options, and which series refuses the first of them."""
    first = options[0].refused_by
    if first is None:
        return f"{len(options)} options are deprecated; no known series refuses them yet."
    count = sum(one.refused_by == first for one in options)
    some = "one" if count == 1 else str(count)
    return f"{len(options)} options are deprecated; {_label(first)} is the first to refuse {some} of them."


def _label(target: Target) -> str:
    return f"{target.label.rpartition(' ')[0]} {target.series}"


def rows(options: Sequence[OutdatedLine], path: str) -> list[tuple[str, str, str, str]]:
    """Place, option, the series that refuses it, and what to do with the fix, for each line."""
    made = []
    for option in options:
        f = option.finding
        place = str(_line(f))
        if f.location is not None and f.location.path != path:
            place = f"{f.location.path}:{place}"
        fix = f" (fix: {f.fix.applicability})" if f.fix else ""
        made.append((escape_text(place), escape_text(f.option or ""), option.when, escape_text(f.help) + fix))
    return made


SHOWN = 66
VERDICTS = "OPT"  # the family about the server's own reading of a line
INFERRED = "No server of {} itself was examined, so the OPT findings are likely, not certain."


def report(files: Sequence[CheckedFile], page: Page) -> str:
    """Every finding with its source line, and a summary that says what was checked; counts alone with statistics."""
    if page.statistics:
        return statistics(files)
    several = len({c.target for c in files}) > 1
    blocks = [block for c in files for block in _file(c, colour=page.colour, several=several)]
    return "\n\n".join([*blocks, summary(files)]) + "\n"


def _file(c: CheckedFile, *, colour: bool, several: bool) -> list[str]:
    """The findings of a file, its deprecated options in one block at the end where they are many."""
    old = outdated_options(c)
    known = {id(one.finding) for one in old}
    rest = (f for f in c.findings if id(f) not in known)
    last = [_deprecated_block(old, c, colour=colour, several=several)] if old else []
    return [*(_block(f, c, colour=colour, several=several) for f in rest), *last]


def _deprecated_block(old: Sequence[OutdatedLine], c: CheckedFile, *, colour: bool, several: bool) -> str:
    """The block of the deprecated options: the first to go first, and where each stands."""
    first = old[0].finding
    severity = paint_severity(first.severity.value, first.severity, colour)
    aside = f"  ({c.target.label})" if several else ""
    lines = [f"{escape_text(c.path)}  {severity}  {bold_text(escape_text(first.name), colour)} {first.code}{aside}"]
    lines.append(wrap(heading(old), "  "))
    for place, option, when, words in rows(old, c.path):
        refused = "not refused yet" if when == "none yet" else f"refused by {when}"
        lines.append(wrap(f"{option}: {refused}; {words}", f"  {place:>5} │ "))
    lines.append(wrap(f"{', '.join(first.evidence)} · mycnf explain {first.code}", "  why:  "))
    return "\n".join(lines)


def concise(files: Sequence[CheckedFile], page: Page) -> str:
    """One line a finding, for editors and grep."""
    if page.statistics:
        return statistics(files)
    lines = [f"{_place(f, c)}: {f.code} {_subject(f)}: {hedged_message(f)}" for c in files for f in c.findings]
    return "".join(escape_text(line) + "\n" for line in lines)


def statistics(files: Sequence[CheckedFile]) -> str:
    """How often each rule spoke, most often first."""
    counts: dict[str, int] = {}
    for name in (f"{f.code} {f.name}" for c in files for f in c.findings):
        counts[name] = counts.get(name, 0) + 1
    return "".join(f"{n:6,}  {escape_text(name)}\n" for name, n in sorted(counts.items(), key=lambda x: (-x[1], x[0])))


def summary(files: Sequence[CheckedFile]) -> str:
    """`2 files checked for MySQL 8.4.8: 1 error.` for each target, and how many findings can be fixed."""
    lines = []
    for target in dict.fromkeys(c.target for c in files):
        own = [c for c in files if c.target == target]
        paths = plural(len({c.path for c in own}), "file")
        lines.append(f"{paths} checked for {target.label}: {count_new(own)}.")
    mended = fixable(files)
    if mended:
        lines = [f"{lines[0]} {mended}"] if len(lines) == 1 else [*lines, mended]
    for target in dict.fromkeys(c.target for c in files if any(is_inferred(f, c) for f in c.findings)):
        lines.append(INFERRED.format(target.label))
    return "\n".join(wrap(line) for line in lines)


def count_new(files: Sequence[CheckedFile]) -> str:
    """`1 error, 2 warnings`, `nothing found`, or beside a baseline `nothing new, 4 in the baseline`."""
    counts, known = count_findings(f for c in files for f in c.findings), sum(len(c.baselined) for c in files)
    if not known:
        return counts
    return f"{counts if any(c.findings for c in files) else 'nothing new'}, {known:,} in the baseline"


def fixable(files: Sequence[CheckedFile]) -> str:
    """`2 can be fixed (--fix: 1, --unsafe-fixes: 1 more).`; a fix for several targets counts once."""
    mended = {(f.location, f.fix) for c in files for f in c.findings if f.fix}
    safe = sum(fix.applicability == "safe" for _, fix in mended)
    unsafe = len(mended) - safe
    ways = [f"--fix: {safe:,}"] if safe else []
    ways += [f"--unsafe-fixes: {unsafe:,}{' more' if safe else ''}"] if unsafe else []
    return f"{len(mended):,} can be fixed ({', '.join(ways)})." if mended else ""


def is_inferred(f: Finding, c: CheckedFile) -> bool:
    """Whether a verdict is only likely because no server of the target's very version was examined: said once."""
    return f.code.startswith(VERDICTS) and f.confidence is Confidence.LIKELY and c.target not in EXAMINED


def hedged_message(f: Finding) -> str:
    """The message for formats that show no confidence, which follows it unless the finding is certain."""
    return f.message if f.confidence is Confidence.CERTAIN else f"{f.message} ({f.confidence.value})"


def _place(f: Finding, c: CheckedFile) -> str:
    if f.location is None:
        return c.path
    path, line, column = f.location[:3]
    return f"{path}:{line}:{column}" if line else path


def _subject(f: Finding) -> str:
    return f"{f.name} {f.option}" if f.option else f.name


def _block(f: Finding, c: CheckedFile, *, colour: bool, several: bool) -> str:
    severity = paint_severity(f.severity.value, f.severity, colour)
    option = f": {escape_text(f.option)}" if f.option else ""
    name = bold_text(escape_text(f.name), colour)
    head = f"{escape_text(_place(f, c))}  {severity}  {name} {escape_text(f.code)}{option}"
    aside = [c.target.label] if several else []
    aside += [f.confidence.value] if f.confidence.value != "certain" and not is_inferred(f, c) else []
    lines = [f"{head}  ({', '.join(aside)})" if aside else head]
    if f.location and (f.location.path, f.location.line) in c.sources:
        source = c.sources[f.location.path, f.location.line]
        lines += source_lines(source, wrong_token(source, f))
    lines.append(wrap(escape_text(f.message), "  "))
    if f.help or f.fix:
        lines.append(_help(f))
    if f.evidence:
        lines.append(wrap(escape_text(f"{', '.join(f.evidence)} · mycnf explain {f.code}"), "  why:  "))
    return "\n".join(lines)


def _help(f: Finding) -> str:
    """What to do, and at the right edge of the page whether mycnf can do it."""
    text = wrap(escape_text(f.help), "  help: ") if f.help else ""
    if f.fix is None:
        return text
    mark = f"[fix: {f.fix.applicability}]"
    room = WIDTH - len(text.rpartition("\n")[2]) - len(mark)
    return f"{text}{' ' * room}{mark}" if room > 1 else f"{text}\n{mark:>{WIDTH}}"


# Rules about the name of an option. Others are about its value, where it has one.
NAME_RULES = frozenset(
    (
        *("unknown-option", "ambiguous-option", "removed-option", "deprecated-option", "ignored-option"),
        *("duplicate-option", "option-outside-group", "server-option-in-client-group", "forbidden-house-option"),
    )
)


def wrong_token(source: str, f: Finding) -> Location:
    """The place to underline: the name of the option or its value, whichever the finding is about."""
    place = f.location
    assert place is not None, f  # noqa: S101 - only findings in a file have a source line
    text = source[place.column - 1 : place.end_column - 1]
    name, equals, value = text.partition("=")
    if not equals or place.end_line not in (0, place.line) or not name.strip() or not value.strip():
        return place
    if f.name in NAME_RULES:
        return place._replace(end_column=place.column + len(name.rstrip()))
    return place._replace(column=place.column + len(text) - len(value.lstrip()))


def source_lines(source: str, place: Location) -> list[str]:
    """The line with its number, and carets under the place; a long line is cut so that the place stays in view."""
    text = source.rstrip("\r\n")
    start, end = max(0, place.column - 1), max(place.column, place.end_column - 1)
    skip = max(0, min(start - 20, len(text) - SHOWN)) if len(text) > SHOWN else 0
    # Cut before it is cleaned: there may be thousands of places on one line.
    shown = escape_text("…" + text[skip + 1 : skip + SHOWN] if skip else text[:SHOWN])[:SHOWN]
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
