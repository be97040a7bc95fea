"""Applies the fixes of one file in passes; each is tried on all readings before it is kept."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

from advisor.fixing.texts import Candidate, lines_of, read_targets, templated_lines, why_not_editable
from advisor.optionfile.lines import apply_edits
from advisor.verdict import LISTS, REFUSED, Outcome

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from advisor.catalog import Option
    from advisor.core.model import Edit, Finding
    from advisor.fixing.texts import Identity, ReadTargets, TargetReading, Texts
    from advisor.verdict import FileVerdict, LineVerdict


MAX_TRIES = 200  # our limit: each judges the file again, and thousands of a file's fixes may not be applicable
MAX_PASSES = 20  # our limit: two rules that undo each other's fixes must terminate
LineEffect = tuple[str | None, ...]


class FixedFiles(NamedTuple):
    """A file and its includes after the fixes: the fixes in order, and why others were not applied."""

    texts: Texts
    applied: tuple[Candidate, ...]
    unapplied: tuple[str, ...]


class _State(NamedTuple):
    texts: Texts
    readings: Sequence[TargetReading]


def fix_file(path: str, look: ReadTargets, texts: Texts, *, unsafe: bool) -> FixedFiles:
    """Apply all safe fixes of a file, then with `unsafe` the others, until nothing changes.

    A safe fix is applied if the server's behaviour stays the same in every reading; an unsafe one if it does in the
    readings that did not ask for it. Raises OptionFileError if the file cannot be read.
    """
    readings, texts = read_targets(path, look, texts.with_file(path))
    now = _State(texts, readings)
    made: list[Candidate] = []
    left: dict[str, None] = {}
    for _ in range(MAX_PASSES):
        left.clear()
        now, more = _run_pass(path, look, now, left, unsafe=unsafe)
        if not more:
            break
        made += more
    return FixedFiles(now.texts, tuple(made), tuple(left))


def _run_pass(
    path: str, look: ReadTargets, now: _State, left: dict[str, None], *, unsafe: bool
) -> tuple[_State, list[Candidate]]:
    """Run one pass: the safe fixes if any can be applied, else the unsafe ones."""
    asked = [c for c in find_candidates(now.readings) if c.path in now.texts.names]
    kinds = [[c for c in asked if c.fix.applicability == SAFE]]
    kinds += [[c for c in asked if c.fix.applicability != SAFE]] if unsafe else []
    for kind in kinds:
        wanted = list(without_overlaps(_allowed_fixes(path, now, kind, left)))
        now, made = _make_fixes(path, look, now, wanted, left) if wanted else (now, [])
        if made:
            return now, made
    return now, []


def _allowed_fixes(path: str, now: _State, asked: list[Candidate], left: dict[str, None]) -> Iterator[Candidate]:
    """Yield the fixes that are permitted; for a file with two names only those under the first one."""
    first: dict[Identity, str] = {}
    templated: dict[str, frozenset[int]] = {}
    for candidate in asked:
        name = candidate.path
        if name not in templated:
            reading = now.readings[min(candidate.readings)]
            templated[name] = templated_lines(name, reading)
            reason = why_not_editable(name, path, now.texts, reading)
            if reason:
                left[f"{name}: its fixes are left to you: {reason}"] = None
            else:
                first.setdefault(now.texts.names[name], name)
        if first.get(now.texts.names[name]) != name:
            continue
        if any(templated[name].intersection(lines_of(edit)) for edit in candidate.fix.edits):
            left[f"{_place(candidate)}: its fix is left to you: a template has yet to fill in the line"] = None
        else:
            yield candidate


def _make_fixes(
    path: str, look: ReadTargets, now: _State, wanted: list[Candidate], left: dict[str, None]
) -> tuple[_State, list[Candidate]]:
    """Apply all fixes at once; if that changes behaviour, find by bisection those that do not."""
    state = now
    made: list[Candidate] = []
    parts = [wanted]
    for _ in range(MAX_TRIES):
        if not parts:
            break
        part = parts.pop()
        # Edits refer to positions in the original text, so each try starts from it.
        after, why = _try(path, look, now, [*made, *part])
        if after is not None:
            state, made = after, [*made, *part]
        elif len(part) == 1:
            left[f"{_place(part[0])}: its fix is left to you: {why}"] = None
        else:
            parts += [part[len(part) // 2 :], part[: len(part) // 2]]
    if parts:
        left[f"{path}: {sum(map(len, parts)):,} fixes are left to you: too many other fixes cannot be made"] = None
    return state, made


def _try(path: str, look: ReadTargets, now: _State, wanted: list[Candidate]) -> tuple[_State | None, str]:
    """Return the state with these fixes applied; None, with the reason, if a reading forbids them."""
    texts = now.texts
    edits: dict[str, list[Edit]] = {}
    for candidate in wanted:
        edits.setdefault(candidate.path, []).extend(candidate.fix.edits)
    for name, own in edits.items():
        texts = texts.with_text(name, apply_edits(now.texts.text(name), own))
    readings, texts = read_targets(path, look, texts)
    if len(readings) != len(now.readings):
        return None, "it would remove everything that one server reads"
    # If a file is read under two names, findings of one line apply to the other: a line is its own duplicate.
    read = {file.path for reading in readings for file in reading.verdict.resolved.files}
    twice = any(texts.names_among(name, read) > 1 for name in edits)
    for at, (before, after) in enumerate(zip(now.readings, readings, strict=True)):
        why = _find_objection(at, before, after, wanted, twice=twice)
        if why:
            return None, why
    return _State(texts, readings), ""


def _find_objection(
    at: int, before: TargetReading, after: TargetReading, wanted: list[Candidate], *, twice: bool
) -> str:
    """Return the reason against the fixes in one reading, empty if there is none."""
    unsafe = [c for c in wanted if c.fix.applicability != SAFE]
    if twice or not (unsafe and (before.witness or all(at in c.readings for c in unsafe))):
        moved = first_difference(before.verdict, after.verdict)
        if moved:
            named = " (--target names the one server that matters)" if before.witness else ""
            return f"{before.target.label} would treat {moved} differently{named}"
    mended = Counter(kind for c in wanted if at in c.readings for kind in {_finding_kind(f) for f in c.findings})
    gone = Counter(map(_finding_kind, before.findings))
    gone.subtract(map(_finding_kind, after.findings))
    return "" if all(gone[kind] >= count for kind, count in mended.items()) else "the finding would remain"


def _finding_kind(finding: Finding) -> tuple[str, str | None, str | None]:
    """Return the parts of a finding that do not change when lines move."""
    return finding.code, finding.option, finding.location.path if finding.location else None


def _place(candidate: Candidate) -> str:
    return f"{candidate.path}:{candidate.fix.edits[0].line} ({candidate.findings[0].code})"


SAFE = "safe"
Key = tuple[str, tuple["Edit", ...]]


def find_candidates(readings: Sequence[TargetReading]) -> list[Candidate]:
    """Return every fix that a reading asks for, once, sorted by file and line.

    If several readings ask for a fix, it is only as safe as in the least safe one.
    """
    asked: dict[Key, list[tuple[int, Finding]]] = {}
    for at, reading in enumerate(readings):
        for finding in reading.findings:
            if finding.fix is not None and finding.location is not None:
                asked.setdefault((finding.location.path, finding.fix.edits), []).append((at, finding))
    made = [_build_candidate(path, by) for (path, _), by in asked.items()]
    return sorted(made, key=lambda c: (c.path, c.fix.edits[0].line, c.findings[0].code))


def _build_candidate(path: str, by: list[tuple[int, Finding]]) -> Candidate:
    fixes = [finding.fix for _, finding in by if finding.fix]
    worst = next((fix for fix in fixes if fix.applicability != SAFE), fixes[0])
    return Candidate(path, worst, tuple(finding for _, finding in by), frozenset(at for at, _ in by))


def without_overlaps(wanted: Iterable[Candidate]) -> Iterator[Candidate]:
    """Yield fixes that touch no line of an earlier one; the others follow in a later pass."""
    taken: set[tuple[str, int]] = set()
    for candidate in wanted:
        touched = {(candidate.path, line) for edit in candidate.fix.edits for line in lines_of(edit)}
        if not touched & taken:
            taken |= touched
            yield candidate


def first_difference(before: FileVerdict, after: FileVerdict) -> str | None:
    """Return the first option that the server takes differently or newly refuses; None if nothing changes.

    Options that the server accepts without effect do not count; two names of one variable count as one.
    """
    was, now = _effective(before), _effective(after)
    for name in (*now, *was):
        if was.get(name) != now.get(name):
            return name
    more = _refused_options(after) - _refused_options(before)
    return next(iter(more))[0] if more else None


def _effective(verdict: FileVerdict) -> dict[str, tuple[LineEffect, ...]]:
    effects: dict[str, tuple[LineEffect, ...]] = {
        _variable_of(line.option, name): (_line_effect(line),)
        for name, line in verdict.effective.items()
        if _has_effect(line)
    }
    for name in LISTS & effects.keys():
        effects[name] = tuple(_line_effect(line) for line in verdict.lines if line.canonical == name)
    for line in verdict.lines:
        if line.canonical and _prints_no_value(line):
            effects[line.placed.line.name or ""] = ((line.placed.line.value,),)
    return effects


def _has_effect(line: LineVerdict) -> bool:
    return line.outcome is not Outcome.IGNORED and not (line.option and line.option.ignored)


def _variable_of(option: Option | None, name: str) -> str:
    return (option.alias_of if option else None) or name


def _line_effect(line: LineVerdict) -> LineEffect:
    """Return the resulting values of the line; its text only if they are unknown or it adds to a list."""
    text = line.placed.line.value if line.value is None or line.canonical in LISTS else None
    return line.value, line.running, text


def _prints_no_value(line: LineVerdict) -> bool:
    """Whether it is a maximum- or named key cache option, whose value `--verbose --help` does not print."""
    name = (line.placed.line.name or "").lower()
    return "maximum" in name or "." in name


def _refused_options(verdict: FileVerdict) -> Counter[tuple[str, Outcome]]:
    lines = [line for line in verdict.lines if line.outcome in REFUSED and not line.loose]
    return Counter((line.placed.line.name or "", line.outcome) for line in lines)
