"""Check what compose files, ConfigMaps, units and persisted variables carry: each set of options for its own server."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from advisor.carriers.sets import Reading
from advisor.catalog.load import load
from advisor.catalog.targets import newest
from advisor.engine import by_place
from advisor.engine import run as run_rules
from advisor.exits import MycnfError
from advisor.model import Confidence, Severity
from advisor.optionfile.lines import Kind, Line, OptionFile, Placed, Resolved
from advisor.redact import redact_value
from advisor.report import Checked
from advisor.verdict import judge_file
from advisor.verdict.settings import Settings
from rules.known import NO_HOUSE, Known
from rules.subject import Subject

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from advisor.carriers.document import Document
    from advisor.carriers.sets import Carrier, OptionSet, Stray
    from advisor.facts import Host
    from advisor.model import Absent, Edit, Finding, Target
    from rules.houserule import HouseRule
    from rules.registry import Rule

SPEAKS = "mycnf:"  # how a comment begins that asks to leave a finding out
GROUP = "mysqld"  # the one that stands for options without a group, so that they are judged like others
_PLAIN = r"[\w./:,@%+-]*"  # text that needs no quotes in YAML, JSON, a shell or a unit


def check_carrier(
    carrier: Carrier,
    targets: Sequence[Target],
    rules: Sequence[Rule],
    host: Host | Absent,
    house: tuple[HouseRule, ...] | Absent = NO_HOUSE,
) -> list[Checked]:
    """The findings in a document, one entry for each target; without `targets` each set is for the server it names.

    None at all where the document holds no option of a server, which is told on stderr.
    """
    if not carrier.sets:
        from advisor.narration import narrate

        narrate(f"{carrier.document.path}: no options of a MySQL or MariaDB server in it")
    found: dict[Target, list[Finding]] = {target: [] for target in targets} if carrier.sets else {}
    for one in carrier.sets:
        for target in targets or [target_of(carrier, one)]:
            found.setdefault(target, []).extend(_findings(carrier, one, target, rules, host, house=house))
    path = carrier.document.path
    return [
        Checked(path, target, tuple(by_place(dict.fromkeys(findings))), _sources(carrier, findings))
        for target, findings in found.items()
    ]


def resolved_of(carrier: Carrier, one: OptionSet, target: Target) -> Resolved:
    """A set as if it were an option file of the document's name."""
    return _resolved(carrier, one.read(load(target)))


def resolved_of_one(carrier: Carrier, target: Target) -> Resolved:
    """The one set of a document; MycnfError where it holds several, or none."""
    path = carrier.document.path
    if not carrier.sets:
        raise MycnfError(f"{path}: no options of a MySQL or MariaDB server in it; name another file")
    if len(carrier.sets) > 1:
        labels = ", ".join(one.label for one in carrier.sets)
        raise MycnfError(f"{path}: options of several servers or files ({labels}), which lint reads; name one file")
    return resolved_of(carrier, carrier.sets[0], target)


def together(parts: Iterable[Resolved]) -> Resolved:
    """What was read one after another, as one."""
    parts = list(parts)
    return Resolved(
        tuple(file for part in parts for file in part.files),
        tuple(option for part in parts for option in part.options),
        tuple(problem for part in parts for problem in part.problems),
    )


def hint_of(carriers: Iterable[Carrier]) -> tuple[Target, str] | None:
    """The server that documents name, and how."""
    hints = [(one.hint, one.why) for carrier in carriers for one in carrier.sets if one.hint is not None]
    return hints[0] if hints else None


def target_of(carrier: Carrier, one: OptionSet) -> Target:
    """The server that a set is for, told on stderr: the one that the document names, else a guess by its options."""
    from advisor.commands.assume import guess
    from advisor.narration import narrate

    target, why = (one.hint, one.why) if one.hint else guess(resolved_of(carrier, one, newest("mysql")))
    narrate(f"{carrier.document.path}: {one.label}: no --target given, so it is judged for {target.label} ({why})")
    return target


def whole_text(carrier: Carrier) -> Resolved:
    """The document's lines as those of option files without options, for comments that speak to mycnf.

    Where none does, the first line of each file stands for all: thousands of them take as much memory as all the rest.
    """
    document = carrier.document
    wanted = range(1, document.lines + 1) if SPEAKS in document.text else document.firsts
    return _resolved(carrier, Reading(tuple(_bare(document, number) for number in wanted), ()))


def _bare(document: Document, number: int) -> Line:
    text = document.line(number)
    kind = Kind.COMMENT if text.lstrip()[:1] in ("#", ";") else Kind.OPTION if text.strip() else Kind.BLANK
    return Line(kind, number, f"{text}\n", name=text.strip() if kind is Kind.OPTION else None)


def _resolved(carrier: Carrier, reading: Reading) -> Resolved:
    document = carrier.document
    files: dict[str, list[Line]] = {document.path: []}
    for line in reading.lines:
        path, number = document.home(line.number)
        files.setdefault(path, []).append(line._replace(number=number))
    options = []
    for line in reading.order:
        path, number = document.home(line.number)
        options.append(Placed(path, line._replace(number=number)))
    read = tuple(OptionFile(path, tuple(lines)) for path, lines in files.items())
    return Resolved(read, tuple(options), reading.problems)


def _findings(
    carrier: Carrier,
    one: OptionSet,
    target: Target,
    rules: Sequence[Rule],
    host: Host | Absent,
    *,
    house: tuple[HouseRule, ...] | Absent,
) -> list[Finding]:
    catalog = load(target)
    reading = one.read(catalog)
    resolved = _resolved(carrier, reading.within.reading if reading.within else reading)
    verdict = judge_file(resolved, catalog)
    known = Known(target, catalog, Settings.from_file(verdict), verdict, host=host, house=house)
    findings = [_here(f, one, reading, carrier.document.path) for f in run_rules(known, rules).findings]
    return [*findings, *_strays(reading.strays, rules, certain=catalog.exact)]


def _here(finding: Finding, one: OptionSet, reading: Reading, path: str) -> Finding:
    """A finding as it is true here: a command line has no groups, and edits need the text to be the document's own."""
    if one.groupless:
        finding = finding._replace(group=None, message=finding.message.replace(f"[{GROUP}]", one.groupless))
    place, within = finding.location, reading.within
    if within and place and place.line:
        message = f"{finding.message} (Line {place.line} of {within.called}.)"
        return finding._replace(message=message, location=within.place, fix=None)
    own = place is not None and place.path == path
    if finding.fix and not (own and all(_possible(edit, one, reading) for edit in finding.fix.edits)):
        finding = finding._replace(fix=None)
    return finding


def _possible(edit: Edit, one: OptionSet, reading: Reading) -> bool:
    if edit.column == edit.end_column == 1 and not edit.text:
        return set(range(edit.line, edit.end_line)) <= reading.whole
    plain = re.fullmatch(_PLAIN, edit.text) is not None or (not one.groupless and "\n" not in edit.text)
    return plain and edit.line == edit.end_line and any(_within(edit, line, reading) for line in reading.order)


def _within(edit: Edit, line: Line, reading: Reading) -> bool:
    inside = line.column <= edit.column and edit.end_column <= line.end_column
    return inside and edit.line == line.number and (line.number, line.column) in reading.editable


def _strays(strays: Iterable[Stray], rules: Iterable[Rule], *, certain: bool) -> list[Finding]:
    by_name = {rule.name: rule for rule in rules}
    return [
        by_name[stray.name].finding(
            stray.message,
            Subject(stray.option, None, None, None, stray.location),
            severity=Severity.ERROR if stray.fatal else Severity.WARNING,
            confidence=Confidence.CERTAIN if certain else Confidence.LIKELY,
            help=stray.help,
        )
        for stray in strays
        if stray.name in by_name
    ]


def _sources(carrier: Carrier, findings: Iterable[Finding]) -> dict[tuple[str, int], str]:
    document = carrier.document
    places = {(f.location.path, f.location.line) for f in findings if f.location and f.location.line}
    return {place: redact_value("", document.shown(document.number(*place))) for place in places}
