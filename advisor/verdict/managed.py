"""Judges the parameters of managed services: parameter groups, database flags, server parameters.

A parameter is judged by its variable, since parameter groups hold session variables too. What the provider's own list
refuses is an error. What its documents or a server of the same version say is likely, because the service has builds
and checks of its own.
"""

from __future__ import annotations

import re

from advisor.catalog import Catalog, Option, load
from advisor.catalog.managed import AT_CREATION, OWN_NAMES, SESSION_VARIABLES, PlatformParameters, platform_parameters
from advisor.catalog.presence import find_presence, nearest_name, nearest_option, vendor_of_option
from advisor.catalog.targets import newest_target
from advisor.core import NamedTuple
from advisor.core.model import BUILDS, Confidence, Severity, Target
from advisor.optionfile import normalise
from advisor.optionfile.lines import Line, LineKind, OptionFile, PlacedLine, ResolvedFiles
from advisor.redaction import quote_value, redact_name, redact_value
from advisor.verdict import judge_file
from advisor.verdict.declared import (
    NUMERIC,
    DeclaredOption,
    DeclaredSet,
    FormulaError,
    Instance,
    ParameterProblem,
    ProviderParameter,
    evaluate_formula,
    is_allowed,
    is_formula,
    noun,
    shorten_text,
    valid_values,
)
from advisor.verdict.names import NOT_LOADED, is_component_option
from advisor.verdict.number import SUFFIXES
from advisor.verdict.outcome import REFUSED, FileVerdict, LineVerdict, Outcome
from advisor.verdict.unknown import explain_elsewhere

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

UNKNOWN = "unknown-parameter"
UNCHANGEABLE = "unchangeable-parameter"
VALUE = "refused-parameter-value"
IMMEDIATE = "immediate-static-parameter"
WITHOUT_EFFECT = "parameter-without-effect"
LEVEL = "parameter-at-wrong-level"
# Values that Amazon RDS adds to those of the server.
OWN_VALUES = {"innodb_doublewrite": ("auto",)}
LONGEST_REASON = 300
LONGEST_NAME = 80  # characters compared with other names; no variable has as many
NUMBERS = ("int", "uint", "double")
# Session variables that MySQL 8.0.3 removed, with what replaces them.
REMOVED_IN_8 = {"tx_isolation": "transaction_isolation", "tx_read_only": "transaction_read_only"}
_SUFFIXED = re.compile(r"(\d{1,20})([KMGTPE])B?", re.IGNORECASE)


class ManagedVerdict(NamedTuple):
    """How a service takes a set of parameters.

    `file` has the parameters that the server has an option for, as if they were lines of an option file. Those whose
    value is unknown, refused or without effect have no value there.
    """

    file: FileVerdict
    problems: tuple[ParameterProblem, ...]


class _Context(NamedTuple):
    """What all parameters of a set are judged by; `catalog` is that of the flavour's own server."""

    target: Target
    catalog: Catalog
    platform: PlatformParameters
    listed: Mapping[str, ProviderParameter]
    instance: Instance
    scope: str = ""
    own_list: bool = False


class _Complaint(NamedTuple):
    """A problem before it has a line; `stands` means that the value applies nevertheless."""

    rule: str
    severity: Severity
    message: str
    help: str = ""
    stands: bool = False


class _JudgedParameter(NamedTuple):
    """A parameter, the server's option for it if there is one, what the provider has against it, and its line."""

    declared: DeclaredOption
    option: Option | None
    complaints: list[_Complaint]
    placed: PlacedLine


def judge_managed(
    declared: DeclaredSet,
    catalog: Catalog,
    parameters: Mapping[str, ProviderParameter] | None = None,
    instance: Instance | None = None,
) -> ManagedVerdict:
    """Judge the parameters of a managed target, whose `catalog` this is.

    `parameters` is a provider's list from another document, by name; the set's own list precedes it. `instance`
    evaluates formulas, whose results are unknown without it. Values in the set's own list that the user did not set are
    not judged.
    """
    context = _context_of(declared, catalog.target, parameters, instance)
    judged = [_judge(option, context) for option in declared.options if _is_set(option, context)]
    read = tuple(parameter.placed for parameter in judged if parameter.option is not None)
    verdict = judge_file(ResolvedFiles(_files(read), read, ()), context.catalog)
    by_place = {_key(line.placed): line for line in verdict.lines}
    problems: list[ParameterProblem] = []
    accepted: dict[int, LineVerdict] = {}
    for parameter in judged:
        line = by_place.get(_key(parameter.placed)) or _unread_line(parameter.placed)
        accepted[id(line)] = own = _without_refusal(_with_name(line, parameter.declared.name), parameter.option)
        complaints = parameter.complaints or _server_complaints(parameter, line, context)
        problems += [_problem(complaint, own, context) for complaint in complaints]
    return ManagedVerdict(_with_lines(verdict, accepted), tuple(problems))


def _context_of(
    declared: DeclaredSet, target: Target, parameters: Mapping[str, ProviderParameter] | None, instance: Instance | None
) -> _Context:
    listed = {normalise(name): row for name, row in (declared.ranges or parameters or {}).items()}
    return _Context(
        target, load(target.base), platform_parameters(target), listed, instance or Instance(), declared.scope,
        bool(declared.ranges),
    )  # fmt: skip


def _judge(declared: DeclaredOption, context: _Context) -> _JudgedParameter:
    """Judge a parameter by the provider's list and documents alone."""
    option, complaints = _option_of(declared.name, context.catalog), _complaints(declared, context)
    line = PlacedLine(declared.name_place.path, _line(declared, option, complaints, context))
    return _JudgedParameter(declared, option, complaints, line)


def _with_lines(verdict: FileVerdict, lines: Mapping[int, LineVerdict]) -> FileVerdict:
    """Return the verdict with other lines, which are given by the `id` of those that they replace."""
    effective = {name: lines.get(id(line), line) for name, line in verdict.effective.items()}
    overridden = {n: tuple(lines.get(id(at), at) for at in earlier) for n, earlier in verdict.overridden.items()}
    replaced = tuple(lines.get(id(line), line) for line in verdict.lines)
    return verdict._replace(lines=replaced, effective=effective, overridden=overridden)


def _is_set(declared: DeclaredOption, context: _Context) -> bool:
    """Whether a user set the parameter; a provider's list shows all others too."""
    row = context.listed.get(normalise(declared.name)) if context.own_list else None
    return row is None or row.is_set_by_user is not False


def _option_of(name: str, catalog: Catalog) -> Option | None:
    key = normalise(name)
    return catalog.find_variable(key) or catalog.get(key)


def _complaints(declared: DeclaredOption, context: _Context) -> list[_Complaint]:
    """Return what the provider's list and documents say against a parameter."""
    name = normalise(declared.name)
    unknown = _unknown_complaint(declared, name, context)
    if unknown is not None:
        return [unknown]
    fixed = _unchangeable(declared, name, context)
    complaints = [
        fixed,
        None if fixed else _wrong_level(declared, name, context),
        _immediate(declared, name, context),
        _refused_value(declared, name, context),
    ]
    return [complaint for complaint in complaints if complaint is not None]


def _unknown_complaint(declared: DeclaredOption, name: str, context: _Context) -> _Complaint | None:
    written, label = _written_name(declared), noun(context.target)
    if context.listed:
        if name in context.listed:
            return None
        meant = nearest_name(name[:LONGEST_NAME], context.listed)
        words = f"did you mean {context.listed[meant].name}?" if meant else f"remove {written}"
        message = f"Unknown {label} {written}: it is not in the list of {_service(context)}."
        return _Complaint(UNKNOWN, Severity.ERROR, message, words)
    if name in context.platform.absent:
        message = f"{context.target.label} has no {written}, according to its manual."
        known = _option_of(name, context.catalog) is not None  # the manual may be older than this family
        return _Complaint(UNKNOWN, Severity.NOTE if known else Severity.WARNING, message, f"remove {written}")
    return None if _is_known(name, context) else _unknown_to_all(written, name, context)


def _unknown_to_all(written: str, name: str, context: _Context) -> _Complaint:
    if name in REMOVED_IN_8:
        return _Complaint(UNKNOWN, Severity.WARNING, f"{written} was removed in 8.0.3.", f"use {REMOVED_IN_8[name]}")
    presence = find_presence(name)
    if presence is not None:
        reason = explain_elsewhere(presence, context.catalog).reason
        return _Complaint(UNKNOWN, Severity.WARNING, reason, f"remove {written}")
    other = vendor_of_option(name, context.catalog.target)
    if other is not None:
        return _Complaint(UNKNOWN, Severity.NOTE, other.sentence(written, context.catalog.read_as))
    short, others = name[:LONGEST_NAME], [*context.platform.names, *SESSION_VARIABLES]
    near = nearest_option(short, context.catalog) or nearest_name(short, others)
    label, server = noun(context.target), context.catalog.read_as.label
    words = f"did you mean {near}?" if near else f"compare with the provider's list of {label}s"
    return _Complaint(UNKNOWN, Severity.WARNING, f"Unknown {label} {written}: {server} has no such variable.", words)


def _is_known(name: str, context: _Context) -> bool:
    if _option_of(name, context.catalog) or name in context.platform.names or name.startswith(OWN_NAMES):
        return True
    if name in REMOVED_IN_8 and context.target.since("mysql", 8, 0, 3):
        return False
    if name in SESSION_VARIABLES or is_component_option(name, context.catalog.target):
        return True
    presence = find_presence(name)
    span = presence.span(context.target.flavour) if presence else None
    if span is None:
        return False
    series = context.target.version[:2]
    return _version(span.first)[:2] <= series <= _version(span.last)[:2]


def _version(text: str) -> tuple[int, ...]:
    return tuple(int(part) for part in text.split("."))


def _unchangeable(declared: DeclaredOption, name: str, context: _Context) -> _Complaint | None:
    written, service = _written_name(declared), _service(context)
    if not declared.value:
        return None
    row = context.listed.get(name)
    if row is not None and row.modifiable is False:
        message = f"{service} does not let you change {written}: its list marks it as not modifiable."
        own = declared.value in (row.default, row.value)
        return None if own else _Complaint(UNCHANGEABLE, Severity.ERROR, message, f"remove {written}")
    reason = _fixed_by_manual(name, written, context) if row is None else ""
    if reason:
        first, severity = name in AT_CREATION, Severity.NOTE if name in AT_CREATION else Severity.WARNING
        words = "keep the value that the server was created with" if first else f"remove {written}"
        return _Complaint(UNCHANGEABLE, severity, f"{reason}, according to its manual.", words)
    if name in context.platform.without_effect:
        message = f"{written} has no effect: it does not apply to {service}, according to its manual."
        return _Complaint(WITHOUT_EFFECT, Severity.WARNING, message, f"remove {written}")
    return None


def _fixed_by_manual(name: str, written: str, context: _Context) -> str:
    """Say why the provider's manual keeps users from setting a parameter that the server has; empty if it does not."""
    platform, service, label = context.platform, _service(context), noun(context.target)
    if name in platform.fixed:
        return f"{service} does not let you change {written}{AT_CREATION.get(name, '')}"
    if name in platform.by_statement:
        return f"{service} has no {label} {written}: only SET GLOBAL changes it, until the next restart"
    if platform.refuses_others and name not in platform.names and not name.startswith(OWN_NAMES):
        return f"{service} does not support the {label} {written}"
    return ""


def _wrong_level(declared: DeclaredOption, name: str, context: _Context) -> _Complaint | None:
    if context.scope != "instance" or not declared.value or name not in context.platform.cluster:
        return None
    written = _written_name(declared)
    message = f"{written} is a cluster-level parameter: the parameter group of an instance does not have it."
    return _Complaint(LEVEL, Severity.WARNING, message, f"set {written} in the DB cluster parameter group")


def _immediate(declared: DeclaredOption, name: str, context: _Context) -> _Complaint | None:
    if declared.apply_method != "immediate" or not declared.value:
        return None
    row, option = context.listed.get(name), _option_of(name, context.catalog)
    if row is not None and row.apply_type:
        static, sure = row.apply_type == "static", True
    else:
        static, sure = option is not None and option.variable is not None and _is_static(option, context), False
    if not static:
        return None
    written = _written_name(declared)
    why = "the provider's list calls it static" if sure else f"{context.catalog.read_as.label} reads it only at start"
    return _Complaint(
        IMMEDIATE,
        Severity.ERROR if sure else Severity.WARNING,
        f"{written} cannot be applied immediately: {why}, and Amazon RDS refuses the change.",
        "apply it with pending-reboot; it takes effect at the next reboot",
        stands=True,
    )


def _is_static(option: Option, context: _Context) -> bool:
    """Whether the server reads the option only at start; unclear if a later one does not, since patches change it."""
    later = load(newest_target(context.target.flavour)).find_variable(option.variable or option.name)
    return option.dynamic is False and (later is None or later.dynamic is False)


def _refused_value(declared: DeclaredOption, name: str, context: _Context) -> _Complaint | None:
    if not declared.value:
        return None
    row, option = context.listed.get(name), _option_of(name, context.catalog)
    if is_formula(declared.value):
        return _bad_formula(declared, name, context)
    if "{" in declared.value:
        return None
    numeric = row.data_type in NUMERIC if row and row.data_type else bool(option and option.kind in NUMBERS)
    suffixed = _SUFFIXED.fullmatch(declared.value.strip()) if numeric else None
    if suffixed:
        number = int(suffixed[1]) << SUFFIXES[suffixed[2].lower()]
        return _Complaint(
            VALUE,
            Severity.ERROR if row and row.allowed else Severity.WARNING,
            f"{_service(context)} accepts no suffix after a number, but {_written_name(declared)} is {suffixed[0]}.",
            f"write {number}",
        )
    return _not_allowed(declared, name, row, context)


def _not_allowed(
    declared: DeclaredOption, name: str, row: ProviderParameter | None, context: _Context
) -> _Complaint | None:
    """Complain about a value that the provider's list excludes, or its manual where there is no list."""
    if row is not None:
        if not row.allowed or is_allowed(declared.value or "", row):
            return None
        sure = not context.own_list or row.data_type in NUMERIC  # the service has accepted what its own list shows
        severity = Severity.ERROR if sure else Severity.WARNING
        message = f"{_service(context)} does not allow {_shown_name(declared)} for {_written_name(declared)}."
        return _Complaint(VALUE, severity, message, f"the provider's list allows {shorten_text(row.allowed)}")
    allowed = context.platform.allowed.get(name, "")
    if not allowed or is_allowed(declared.value or "", ProviderParameter(name, allowed=allowed, data_type="integer")):
        return None
    written = _written_name(declared)
    message = f"{_service(context)} does not support {_shown_name(declared)} for {written}, according to its manual."
    return _Complaint(VALUE, Severity.WARNING, message, f"valid: {allowed}")


def _bad_formula(declared: DeclaredOption, name: str, context: _Context) -> _Complaint | None:
    text, written = declared.value or "", _written_name(declared)
    if context.target.build not in ("rds", "aurora"):
        message = f"{written} is a formula, but only the parameter groups of Amazon RDS and Aurora accept formulas."
        return _Complaint(VALUE, Severity.WARNING, message, "write a number")
    if name == "innodb_log_file_size":
        message = "innodb_log_file_size must be a whole number: Amazon RDS accepts no formula for it."
        return _Complaint(VALUE, Severity.ERROR, message, "write a number of bytes")
    try:
        evaluate_formula(text, context.instance)
    except FormulaError as error:
        return _Complaint(
            VALUE,
            Severity.WARNING,
            f"The formula of {written} is invalid: {error}.",
            "write a number, or a formula such as {DBInstanceClassMemory*3/4}",
        )
    return None


def _server_complaints(parameter: _JudgedParameter, line: LineVerdict, context: _Context) -> list[_Complaint]:
    """Return how a server of this version takes a value that the provider's list and manual do not judge."""
    declared, option, _, _ = parameter
    name = normalise(declared.name)
    row = context.listed.get(name)
    judged = name in context.platform.allowed if row is None else bool(row.allowed)
    if option is None or line.placed.line.templated or judged:
        return []
    plugin = NOT_LOADED in line.reason  # the service decides which plugins are loaded
    if plugin or (declared.value or "").lower() in OWN_VALUES.get(name, ()):
        return []
    reason = shorten_text(line.reason, LONGEST_REASON)
    valid = valid_values(option) or f"correct the value, or remove {_written_name(declared)}"
    if line.outcome is Outcome.ADJUSTED:
        return [_Complaint(VALUE, Severity.WARNING, reason, valid, stands=True)]
    if line.outcome in REFUSED and line.outcome is not Outcome.STOPS:
        message = f"{reason} {context.catalog.read_as.label} does not start with it."
        return [_Complaint(VALUE, Severity.WARNING, message, valid)]
    return []


def _written_name(declared: DeclaredOption) -> str:
    return shorten_text(redact_name(declared.name), LONGEST_NAME)


def _shown_name(declared: DeclaredOption) -> str:
    return quote_value(shorten_text(redact_value(declared.name, declared.value or "")))


def _service(context: _Context) -> str:
    target = context.target
    return BUILDS.get(target.build, target.label)


def _line(declared: DeclaredOption, option: Option | None, complaints: Sequence[_Complaint], context: _Context) -> Line:
    """Return the option line that stands for a parameter: without a value if this is unknown or does not apply."""
    place, value = declared.name_place, _value(declared, context)
    if any(not complaint.stands for complaint in complaints):
        value = None
    at = declared.value_place
    return Line(
        LineKind.OPTION, place.line, "", "mysqld", option.name if option else declared.name, declared.value, value,
        place.column, place.end_column, at.column, at.end_column, templated=value is None,
    )  # fmt: skip


def _value(declared: DeclaredOption, context: _Context) -> str | None:
    if not declared.value:
        return None
    if is_formula(declared.value):
        try:
            result = evaluate_formula(declared.value, context.instance)
        except FormulaError:
            return None
        return None if result is None else str(result)
    return None if "{" in declared.value else declared.value


def _files(placed: Sequence[PlacedLine]) -> tuple[OptionFile, ...]:
    paths = dict.fromkeys(at.path for at in placed)
    return tuple(OptionFile(path, tuple(at.line for at in placed if at.path == path)) for path in paths)


def _key(at: PlacedLine) -> tuple[str, int, int, str | None]:
    return at.path, at.line.number, at.line.column, at.line.name


def _unread_line(at: PlacedLine) -> LineVerdict:
    """Return the verdict for a parameter that the server has no option for."""
    return LineVerdict(at, Outcome.ACCEPTED, None, None, None, None, False, None, False, False, "", ())


def _with_name(line: LineVerdict, name: str) -> LineVerdict:
    placed = line.placed
    return line._replace(placed=placed._replace(line=placed.line._replace(name=name)))


def _without_refusal(line: LineVerdict, option: Option | None) -> LineVerdict:
    """Return the line without a refusal, which is reported as a problem of the parameter."""
    if option is None or line.outcome is Outcome.ACCEPTED:
        return line
    value = None if line.outcome in REFUSED and line.outcome is not Outcome.STOPS else line.value
    return line._replace(outcome=Outcome.ACCEPTED, value=value, reason="")


def _problem(complaint: _Complaint, line: LineVerdict, context: _Context) -> ParameterProblem:
    sure = complaint.severity is Severity.ERROR and bool(context.listed)
    confidence = Confidence.CERTAIN if sure else Confidence.LIKELY
    return ParameterProblem(complaint.rule, complaint.severity, confidence, complaint.message, complaint.help, line)
