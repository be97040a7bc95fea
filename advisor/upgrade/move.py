"""All changes of a move: defaults, behaviours, and the lines that the new server takes differently."""

from __future__ import annotations

from typing import TYPE_CHECKING

from advisor.core.model import Confidence, Severity
from advisor.optionfile.lines import LineKind, PlacedLine
from advisor.redaction import redact_text, redact_value
from advisor.upgrade.behaviours import GONE, OTHER_GTIDS, behaviour_changes
from advisor.upgrade.change import Area, LineChange, LineEffect, Support, UpgradeChanges, path_between
from advisor.upgrade.defaults import (
    CHARSET,
    COLLATION,
    by_weight,
    changed_collation,
    changed_defaults,
    consequence_of,
    default_value,
    needs_binlog,
    root,
    writes_binlog,
)
from advisor.upgrade.keep import (
    file_notation,
    is_equivalent,
    replacement_words,
    shortened_line,
    successor,
    unknown_members,
)
from advisor.verdict import REFUSED, Outcome
from advisor.verdict.number import parse_digits
from advisor.verdict.special import is_plugin
from advisor.verdict.words import charset_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from advisor.core.model import Target
    from advisor.upgrade.change import DefaultChange, UpgradePath
    from advisor.verdict import FileVerdict, LineVerdict

    Place = tuple[str, int, int]


SEVERITIES = {
    LineEffect.VALUE: Severity.WARNING,
    LineEffect.ADJUSTED: Severity.WARNING,
    LineEffect.IGNORED: Severity.WARNING,
    LineEffect.NEWLY_READ: Severity.NOTE,
    LineEffect.NOT_EXAMINED: Severity.NOTE,
    LineEffect.NOW_ACCEPTED: Severity.NOTE,
    LineEffect.DEPRECATED: Severity.NOTE,
}

REPOSITORIES = frozenset({"master_info_repository", "relay_log_info_repository"})
POSITION_LOST = (
    "A replica's position in files is not read: stop replication on the old server and set both repositories to TABLE "
    "with SET GLOBAL first."
)
# Options whose removal has a consequence if a line switches them on, with the word for it, by the new flavour.
LOST = {"mysql": {"mysql_native_password": GONE}, "mariadb": {"gtid_mode": OTHER_GTIDS}}
SWITCHED_ON = ("ON", "TRUE", "FORCE", "FORCE_PLUS_PERMANENT", "ON_PERMISSIVE")
TABLES_UNREAD = (
    "A replica's position in tables is not read: stop replication on the old server and set both repositories to FILE "
    "with SET GLOBAL first."
)
UNCLEAN = (
    "Run SET GLOBAL innodb_fast_shutdown = 1 on the old server before its last shutdown: with 2, which the file sets, "
    "the new server does not start on its data."
)
# MySQL's --verbose --help prints only the start of the value.
CUT_IN_HELP = frozenset({"performance_schema_instrument"})
ROUNDING = 1.3
ACCEPTED = (Outcome.ACCEPTED, Outcome.ADJUSTED)


def compare_verdicts(old: FileVerdict, new: FileVerdict, paths: tuple[str, ...]) -> UpgradeChanges:
    """Return all changes of the move; `old` and `new` are the servers' verdicts on the files at `paths`."""
    collation = changed_collation(old, new)
    lines = changed_lines(old, new, paths)
    defaults = [*changed_defaults(old, new), *behaviour_changes(old, new), *([collation] if collation else [])]
    written = _written_options(lines, new)
    defaults = [change for change in defaults if root(change.option, new.catalog) not in written]
    if not writes_binlog(new):
        defaults = [_without_binlog(change) if needs_binlog(change.option) else change for change in defaults]
    return UpgradeChanges(
        before=old.catalog.target,
        after=new.catalog.target,
        paths=paths,
        lines_read=max(len(old.lines), len(new.lines)),
        lines=tuple(lines),
        defaults=tuple(by_weight(defaults)),
        problems=new.resolved.problems,
        path=_path_of_files(old, new),
    )


def _path_of_files(old: FileVerdict, new: FileVerdict) -> UpgradePath:
    """Return the path, with what the old server has to do first if a line makes it end as in a crash."""
    before, after = old.catalog.target, new.catalog.target
    path, line = path_between(before, after), old.effective.get("innodb_fast_shutdown")
    older = before.is_mysql and not before.since("mysql", 8) and before.series != after.series
    takes_data = path.support in (Support.IN_PLACE, Support.STEPS)
    unclean = line is not None and line.value == "2" and older and takes_data
    return path._replace(words=f"{path.words} {UNCLEAN}") if unclean else path


def _written_options(lines: list[LineChange], new: FileVerdict) -> frozenset[str]:
    """Return the options that the lines to write set: with these their defaults do not matter."""
    texts = [change.write for change in lines if change.write and change.kind is not LineEffect.STILL_REFUSED]
    return frozenset(root(text.partition("=")[0].strip(), new.catalog) for text in texts)


def _without_binlog(change: DefaultChange) -> DefaultChange:
    """Downgrade a change that has no effect on a server without a binary log."""
    return change._replace(area=Area.REST, severity=Severity.NOTE)


def changed_lines(old: FileVerdict, new: FileVerdict, paths: tuple[str, ...]) -> list[LineChange]:
    """Return the lines that change, worst severity first, then in reading order."""
    before, after = _by_place(old), _by_place(new)
    changes = list(_syntax_errors(new, paths))
    for place in [*before, *(p for p in after if p not in before)]:
        change = _line_change(before.get(place), after.get(place), old, new)
        if change is not None:
            changes.append(change)
    severities = list(Severity)
    return sorted(changes, key=lambda c: severities.index(c.severity))


def _by_place(verdict: FileVerdict) -> dict[Place, LineVerdict]:
    return {(v.placed.path, v.placed.line.number, v.placed.line.column): v for v in verdict.lines}


def _syntax_errors(new: FileVerdict, paths: tuple[str, ...]) -> Iterator[LineChange]:
    """Yield lines at which both servers stop reading; in an included file they skip only the rest of that file."""
    for file in new.resolved.files:
        for line in file.lines if file.path in paths else ():
            stray = line.kind is LineKind.OPTION and line.group is None
            if stray or line.kind is LineKind.REJECTED:
                why = (
                    "It is before any [group]: programs stop reading here." if stray else f"{line.value or ''}".strip()
                )
                yield LineChange(
                    LineEffect.SYNTAX, Severity.ERROR, Confidence.CERTAIN, PlacedLine(file.path, line), None, None,
                    why or "The option file parser rejects it.",
                )  # fmt: skip


def _line_change(
    before: LineVerdict | None, after: LineVerdict | None, old: FileVerdict, new: FileVerdict
) -> LineChange | None:
    if after is None:
        return None if before is None or _stops(before) else _not_read(before, new)
    if before is None:
        return _newly_read(after, old.catalog.target)
    if _stops(after):
        return _refused_change(before, after, old, new)
    if _stops(before) and after.outcome is Outcome.UNEXAMINED:
        why = f"{old.catalog.target.label} refuses it. {after.reason}"
        return _change(LineEffect.NOT_EXAMINED, before, after, why)
    if _stops(before):
        why = f"{old.catalog.target.label} refuses it, {new.catalog.target.label} accepts it."
        return _change(LineEffect.NOW_ACCEPTED, before, after, why)
    return _accepted_change(before, after, old, new)


def _stops(line: LineVerdict) -> bool:
    return line.outcome in REFUSED and not line.loose


def _change(
    kind: LineEffect, before: LineVerdict | None, after: LineVerdict | None, message: str, write: str | None = None
) -> LineChange:
    line = after or before
    assert line is not None  # noqa: S101 - one of the two servers read it
    sure = all(verdict.certain for verdict in (after, before if kind is LineEffect.VALUE else None) if verdict)
    return LineChange(
        kind=kind,
        severity=SEVERITIES.get(kind, Severity.ERROR),
        confidence=Confidence.CERTAIN if sure else Confidence.LIKELY,
        placed=line.placed,
        before=before,
        after=after,
        message=redact_value("", message),
        write=None if write is None else redact_text(write).text,
    )


def _refused_change(before: LineVerdict, after: LineVerdict, old: FileVerdict, new: FileVerdict) -> LineChange:
    gone = unknown_members(after)
    why = f"{new.catalog.target.label} has no {', '.join(gone)}." if gone else after.reason
    also = f" {old.catalog.target.label} refuses it too." if _stops(before) else ""
    if after.outcome not in (Outcome.REMOVED, Outcome.UNKNOWN):
        kind = LineEffect.STILL_REFUSED if also else LineEffect.REFUSED
        needs = "" if also else _charset_needed(after, new)
        return _change(kind, before, after, f"{why}{also}{needs}", shortened_line(after, new))
    if not also and (lost := _lost_with(before, new.catalog.target)):
        return _change(LineEffect.REMOVED, before, after, f"{why} {lost}")
    change = _replaced_change(LineEffect.REMOVED, before, after, f"{why}{also}", (old, new))
    if also:
        return change._replace(kind=LineEffect.STILL_REFUSED)
    return change._replace(kind=LineEffect.RENAMED) if change.write else change


def _charset_needed(after: LineVerdict, new: FileVerdict) -> str:
    """Return the line that a collation needs whose character set was the old server's default; empty for the rest."""
    charset = charset_of(after.placed.line.value or "")
    if after.canonical != COLLATION or CHARSET in new.effective or not charset:
        return ""
    return f" Add {CHARSET} = {charset}, which was the default."


def _lost_with(before: LineVerdict, target: Target) -> str:
    """Return what a removed line did that nothing does on the new server; empty for most."""
    name = before.canonical or ""
    if name in REPOSITORIES:
        return POSITION_LOST if before.value == "FILE" and target.is_mysql else ""
    after = LOST[target.flavour].get(name)
    return consequence_of(name, after)[1] if after and before.value in SWITCHED_ON else ""


def _replaced_change(
    kind: LineEffect, before: LineVerdict, after: LineVerdict, why: str, files: tuple[FileVerdict, FileVerdict]
) -> LineChange:
    """Return a change with the line that replaces it, or else with the words of what does."""
    write = successor(before, after, *files)
    words = "" if write else replacement_words(before, after, *files)
    reason, use, name = why.rpartition(" Use ")
    why = reason if use and name.rstrip(".") in words else why
    return _change(kind, before, after, f"{why} {words[0].upper()}{words[1:]}." if words else why, write)


def _not_read(before: LineVerdict, new: FileVerdict) -> LineChange:
    group = before.placed.line.group
    change = _change(
        LineEffect.NOT_READ, before, None, f"{new.catalog.target.label} does not read the group [{group}]."
    )
    # A group with a version in its name is meant for that version.
    versioned = any(letter.isdecimal() for letter in group or "")
    return change._replace(
        severity=Severity.NOTE if versioned else Severity.WARNING,
        confidence=Confidence.CERTAIN if new.catalog.exact else Confidence.LIKELY,
    )


def _newly_read(after: LineVerdict, target: Target) -> LineChange:
    group = after.placed.line.group
    if _stops(after):
        return _change(
            LineEffect.REFUSED, None, after, f"{after.reason} {target.label} does not read the group [{group}]."
        )
    return _change(
        LineEffect.NEWLY_READ, None, after, f"{target.label} does not read the group [{group}]; this one does."
    )


def _accepted_change(before: LineVerdict, after: LineVerdict, old: FileVerdict, new: FileVerdict) -> LineChange | None:
    """Return the change of a line that both servers accept."""
    if after.outcome in (Outcome.UNEXAMINED, Outcome.IGNORED) and before.outcome is not Outcome.IGNORED:
        kind = LineEffect.NOT_EXAMINED if after.outcome is Outcome.UNEXAMINED else LineEffect.IGNORED
        tables = before.canonical in REPOSITORIES and before.value == "TABLE" and _keeps_data(old, new)
        why = f"{after.reason} {TABLES_UNREAD}" if tables else after.reason
        return _replaced_change(kind, before, after, why, (old, new))
    if after.outcome in REFUSED and before.outcome not in REFUSED:
        lost = _lost_with(before, new.catalog.target)
        why = f"{after.reason} Its loose prefix lets the server start without it. {lost}".rstrip()
        return _change(LineEffect.IGNORED, before, after, why)
    differs = _differs(before, after, old, new)
    if after.outcome is Outcome.ADJUSTED and (before.outcome is not Outcome.ADJUSTED or differs):
        return _change(LineEffect.ADJUSTED, before, after, after.reason)
    if differs:
        change = _change(LineEffect.VALUE, before, after, _value_message(before, after, old, new))
        return change._replace(severity=Severity.NOTE) if _is_rounding(before, after) else change
    if after.outcome in ACCEPTED and _is_deprecated(after, new.catalog.target):
        option = after.option
        documented = option is not None and "deprecated" in option.documented
        why = f"Deprecated since {option.deprecated}." if option and documented else "Deprecated."
        return _replaced_change(LineEffect.DEPRECATED, before, after, why, (old, new))
    return None


def _keeps_data(old: FileVerdict, new: FileVerdict) -> bool:
    """Whether the new server is MariaDB and can take over the old one's data directory."""
    return new.catalog.target.is_mariadb and not old.catalog.target.since("mysql", 8)


def _differs(before: LineVerdict, after: LineVerdict, old: FileVerdict, new: FileVerdict) -> bool:
    """Whether the line is effective on both servers with different values, or on the new one alone."""
    if before.outcome is Outcome.IGNORED:
        return _takes_effect(after, new)
    if before.option is None or after.option is None or before.outcome not in ACCEPTED or after.outcome not in ACCEPTED:
        return False
    counts = all(line is v.effective.get(line.canonical or "") for line, v in ((before, old), (after, new)))
    was, is_now = _value(before), _value(after)
    if not counts or was is None or is_now is None or "(host name)" in was + is_now:
        return False
    if "flagset" in (before.option.kind, after.option.kind):
        return False  # both take the flags in the line alike; the other flags are defaults
    if is_plugin(before.option) or after.canonical in CUT_IN_HELP:
        return False
    return not is_equivalent(was, is_now, before.option, after.option)


def _takes_effect(line: LineVerdict, file: FileVerdict) -> bool:
    """Whether the line gives its option another value than the default."""
    if line.option is None or line.outcome not in ACCEPTED or line is not file.effective.get(line.canonical or ""):
        return False
    value, default = _value(line), default_value(line.option)
    return value is not None and (default is None or not is_equivalent(value, default, line.option, line.option))


def _is_rounding(before: LineVerdict, after: LineVerdict) -> bool:
    """Whether two numbers differ only by rounding."""
    if before.outcome is Outcome.IGNORED:
        return False
    was, is_now = (parse_digits(_value(line)) or 0 for line in (before, after))
    return min(was, is_now) > 0 and max(was, is_now) <= min(was, is_now) * ROUNDING


def _value(line: LineVerdict) -> str | None:
    return line.running if line.running is not None else line.value


def _value_message(before: LineVerdict, after: LineVerdict, old: FileVerdict, new: FileVerdict) -> str:
    here, there = old.catalog.target.label, new.catalog.target.label
    if before.outcome is Outcome.IGNORED:
        return f"{here} ignores the line, {there} does not."
    values = [
        (v.canonical or "", file_notation(_value(v) or "", v.option) if v.option else "") for v in (before, after)
    ]
    was, is_now = [redact_value(name, value) for name, value in values]
    return f"{here} runs with {was or 'no value'}, {there} with {is_now or 'no value'}."


def _is_deprecated(line: LineVerdict, target: Target) -> bool:
    """Whether the target's version deprecates the option; True if the version is unknown."""
    since = line.option.deprecated if line.option else None
    if not line.deprecated:
        return False
    return since is None or tuple(int(n) for n in since.split(".") if n.isdecimal()) <= target.version
