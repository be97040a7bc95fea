"""Checks the options in compose files, ConfigMaps, units and persisted variables, each set for its own server."""

from __future__ import annotations

import re

from advisor.analysis import run_rules, sort_by_place
from advisor.carriers.images import UNVERSIONED
from advisor.catalog import load
from advisor.catalog.targets import is_too_old, newest_target, too_old_note
from advisor.commands.carrier_texts import in_argument_terms, in_document_terms, place_reading, resolved_of
from advisor.commands.guess_target import guess_target
from advisor.core.errors import print_notice
from advisor.core.model import AbsentPart, Confidence, Origin, Severity
from advisor.redaction import redact_value
from advisor.report import CheckedFile
from advisor.verdict import judge_file
from advisor.verdict.settings import Settings
from rules.core.context import NO_HOUSE, RuleContext
from rules.core.subject import Subject, find_source_in_lines

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from advisor.carriers.document import Carrier, NonOption, OptionSet, SetReading
    from advisor.core.model import Edit, Finding, Target
    from advisor.facts import Host
    from advisor.optionfile.lines import Line
    from advisor.verdict.declared import ProviderParameter
    from rules.core import Rule
    from rules.policy.house_rule import HouseRule

GROUP = "mysqld"  # group assigned to options without one, so that they are judged like others
# Rules whose errors another version of the server does not have, or an operator that adds a group to the text.
BY_SERVER = ("removed-option", "invalid-value", "refused-start", "option-outside-group")
# Rules about an option that the entrypoint of an image sets from a variable, by the variable.
BY_ENVIRONMENT = {"galera-founds-itself-anew": "MARIADB_GALERA_CLUSTER_ADDRESS"}
BY_COMBINATION = "refused-start"  # what other options, which are missing or in another file, decide
_PLAIN = r"[\w./:,@%+-]*"  # text that needs no quoting in YAML, JSON, a shell or a unit


def check_carrier(
    carrier: Carrier,
    targets: Sequence[Target],
    rules: Sequence[Rule],
    host: Host | AbsentPart,
    house: tuple[HouseRule, ...] | AbsentPart = NO_HOUSE,
    *,
    parameters: Mapping[str, ProviderParameter] | None = None,
) -> list[CheckedFile]:
    """Return the findings in a document, one entry per target; without `targets` each set uses the server it names.

    `parameters` is a provider's list, for the sets of managed services that have none of their own.

    Empty, with a notice on stderr, if the document has no options of a server.
    """
    if not carrier.sets:
        print_notice(f"{carrier.document.path}: {carrier.empty or 'it has no options of a MySQL or MariaDB server'}")
    by_target: dict[Target, list[Finding]] = {target: [] for target in targets} if carrier.sets else {}
    for option_set in carrier.sets:
        if not targets and option_set.hint is not None and is_too_old(option_set.hint):
            print_notice(
                f"{carrier.document.path}: {option_set.label}: "
                f"not checked: {too_old_note(option_set.hint)} ({option_set.why})"
            )
            continue
        for target in targets or [target_of(carrier, option_set)]:
            own = _limited_host(host, option_set.memory) if option_set.memory else host
            more = _findings(carrier, option_set, target, rules, own, house=house, parameters=parameters)
            guessed = not targets and (option_set.hint is None or UNVERSIONED in option_set.why)
            by_target.setdefault(target, []).extend([_of_guess(f) for f in more] if guessed else more)
    path = carrier.document.path
    return [
        CheckedFile(path, target, tuple(sort_by_place(dict.fromkeys(findings))), _sources(carrier, findings))
        for target, findings in by_target.items()
    ]


def _limited_host(host: Host | AbsentPart, memory: int) -> Host:
    """Return the host with the memory limit of a container, in bytes."""
    from msgspec.structs import replace

    from advisor.collect.host.host import host_from_options
    from advisor.facts.host import Cgroup

    if isinstance(host, AbsentPart):
        host = host_from_options(ram=None, cpus=None, disk=None, tar=None)
    return replace(host, cgroup=Cgroup(version=2, path="", limit=memory))


def _of_guess(finding: Finding) -> Finding:
    """Return a finding about a server that nothing names: what depends on the server is no error."""
    if finding.severity is not Severity.ERROR or finding.name not in BY_SERVER:
        return finding
    return _as_likely(finding)


def _as_likely(finding: Finding) -> Finding:
    severity = Severity.WARNING if finding.severity is Severity.ERROR else finding.severity
    return finding._replace(severity=severity, confidence=Confidence.LIKELY)


def target_of(carrier: Carrier, option_set: OptionSet) -> Target:
    """Return the server of a set, with a notice on stderr: as named by the document, else guessed from its options."""
    target, why = (
        (option_set.hint, option_set.why)
        if option_set.hint
        else guess_target(resolved_of(carrier, option_set, newest_target("mysql")))
    )
    print_notice(
        f"{carrier.document.path}: {option_set.label}: no --target given, so it is checked for {target.label} ({why})"
    )
    return target


def _findings(
    carrier: Carrier,
    option_set: OptionSet,
    target: Target,
    rules: Sequence[Rule],
    host: Host | AbsentPart,
    *,
    house: tuple[HouseRule, ...] | AbsentPart,
    parameters: Mapping[str, ProviderParameter] | None,
) -> list[Finding]:
    if option_set.declared is not None and target.is_managed:
        from advisor.commands.managed import managed_findings

        return managed_findings(option_set.declared, target, rules, host, house, parameters=parameters)
    catalog = load(target)
    reading = option_set.read(catalog)
    read = place_reading(carrier, reading.within.reading if reading.within else reading)
    verdict = judge_file(read, catalog)
    find_source = find_source_in_lines(verdict, option_set.origin)
    settings = Settings.from_file(verdict)
    settings = settings.without_defaults() if option_set.partial else settings
    known = RuleContext(target, catalog, settings, verdict, host=host, house=house, find_source=find_source)
    findings = [_adapt_finding(f, option_set, reading, carrier.document.path) for f in run_rules(known, rules).findings]
    if option_set.declared is None and option_set.origin is Origin.FILE:  # other files may be read with it
        findings = [_as_likely(f) if f.name == BY_COMBINATION else f for f in findings]
    findings = [f for f in findings if BY_ENVIRONMENT.get(f.name, "\0") not in carrier.document.text]
    if option_set.declared is not None:
        findings = [in_document_terms(finding, option_set.declared) for finding in findings]
    elif option_set.origin is Origin.COMMAND_LINE:
        findings = [in_argument_terms(finding) for finding in findings]
    return [*findings, *_non_option_findings(reading.strays, rules, certain=catalog.exact)]


def _adapt_finding(finding: Finding, option_set: OptionSet, reading: SetReading, path: str) -> Finding:
    """Adapt a finding to the document: a command line has no groups, and fixes need text that is verbatim in it."""
    if option_set.groupless:
        message = finding.message.replace(f"The group [{GROUP}]", option_set.groupless)
        finding = finding._replace(group=None, message=message.replace(f"[{GROUP}]", option_set.groupless))
    place, within = finding.location, reading.within
    if within and place and place.line:
        message = f"{finding.message} (Line {place.line} of {within.called}.)"
        return finding._replace(message=message, location=within.place, fix=None)
    own = place is not None and place.path == path
    if finding.fix and not (own and all(_is_editable(edit, option_set, reading) for edit in finding.fix.edits)):
        finding = finding._replace(fix=None)
    return finding


def _is_editable(edit: Edit, option_set: OptionSet, reading: SetReading) -> bool:
    if edit.column == edit.end_column == 1 and not edit.text:
        return set(range(edit.line, edit.end_line)) <= reading.whole
    plain = re.fullmatch(_PLAIN, edit.text) is not None or (not option_set.groupless and "\n" not in edit.text)
    return plain and edit.line == edit.end_line and any(_within(edit, line, reading) for line in reading.order)


def _within(edit: Edit, line: Line, reading: SetReading) -> bool:
    inside = line.column <= edit.column and edit.end_column <= line.end_column
    return inside and edit.line == line.number and (line.number, line.column) in reading.editable


def _non_option_findings(strays: Iterable[NonOption], rules: Iterable[Rule], *, certain: bool) -> list[Finding]:
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
    return {place: redact_value("", document.masked_line(document.number(*place))) for place in places}
