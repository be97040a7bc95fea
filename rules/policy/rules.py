"""HOU: the rules that report violations of the house rules in the configuration, which outrank built-in advice."""

from __future__ import annotations

from advisor.core import NamedTuple
from advisor.core.model import Location, Severity, exact_size
from advisor.optionfile import groups_read
from advisor.optionfile.lines import LineKind
from advisor.redaction import redact_value
from advisor.verdict.settings import SWITCHES, as_variable
from rules.core import Docs, rule
from rules.core.advice import advise, help_line, present
from rules.core.subject import (
    UNSAFE,
    Subject,
    line_location,
    remove_line,
    replace_value,
    variable_subject,
    verdict_subject,
)
from rules.policy.house_rule import (
    INTEGER_KINDS,
    REQUIRED,
    house_rules_by_option,
    is_above_maximum,
    is_below_minimum,
    is_not_allowed,
    meets_rules,
    parse_number,
    root_name,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from advisor.catalog import Option
    from advisor.core.model import Action, Finding
    from advisor.verdict import LineVerdict
    from rules.core import Rule
    from rules.core.context import RuleContext
    from rules.policy.house_rule import HouseRule, OptionHouseRules


HOUSE = ("house",)
BINARY_LOG = "log_bin"
# Whether the binary log is to be on, and how an option file says so.
BINARY_LOG_HELP = {
    True: "give log_bin a file name such as binlog, and remove skip_log_bin and disable_log_bin",
    False: "write skip_log_bin",
}
USER_RULE_WHY = (
    "This is a house rule, which a table [house.OPTION] of the configuration file defines. If the table has a message, "
    "the finding ends with it."
)
EXCEPTIONS = (
    "A server that may differ: `targets` limits the rule to flavours and versions, a suppression with a reason exempts "
    "a line."
)


class HouseRuleValue(NamedTuple):
    """The value of an option: the text to compare bounds with, and all its notations, including the running one."""

    about: Subject
    text: str
    notations: tuple[str, ...]
    line: LineVerdict | None


@rule(
    "HOU001",
    "missing-house-option",
    summary="An option that the house rules require is not set.",
    needs=HOUSE,
    docs=Docs(
        why=f"A default may change with the next version; an explicit value does not. {USER_RULE_WHY}",
        fix="Set the option in a group that the server reads, such as [mysqld].",
        risk="That of any change to the option.",
        restart=True,
        exceptions="A file that is one of several that the server reads: lint the file that includes the others, or "
        "disable this rule for the parts with per-file-ignores.",
        reconsider_when="A change of the house rules.",
    ),
)
def missing_house_option(context: RuleContext) -> Iterator[Finding]:
    """Report required options that are not set."""
    for name, asked in house_rules_by_option(context.house, context.catalog).items():
        required = [r for r in asked.rules if r.required]
        if required and not _lines(context, name) and not context.is_set(asked.option.variable or name):
            action = _advice(context, asked)
            yield _house_message(
                missing_house_option,
                required[0],
                f"{asked.option.name} is not set, and the house rules require it.",
                _is_unset(context, asked.option),
                help=help_line(action) or _help_without_action(asked, required[0]),
                action=action,
            )


@rule(
    "HOU002",
    "forbidden-house-option",
    summary="An option is set that the house rules forbid.",
    needs=HOUSE,
    fix=UNSAFE,
    docs=Docs(
        why=USER_RULE_WHY,
        fix="Remove the line.",
        risk="The option goes back to its default at the next start: mycnf explain OPTION shows it.",
        restart=True,
        exceptions=EXCEPTIONS,
        reconsider_when="A change of the house rules.",
    ),
)
def forbidden_house_option(context: RuleContext) -> Iterator[Finding]:
    """Report forbidden options that are set, with every line of them."""
    for name, asked in house_rules_by_option(context.house, context.catalog).items():
        forbidding = next((r for r in asked.rules if r.forbidden), None)
        if forbidding is None:
            continue
        message = f"The house rules forbid {asked.option.name}."
        lines = _lines(context, name)
        for line in lines:
            fix = remove_line(line.placed.line, UNSAFE)
            finding = _house_message(
                forbidden_house_option, forbidding, message, verdict_subject(line), help="remove the line"
            )
            yield finding._replace(fix=fix)
        if not lines and context.is_set(asked.option.variable or name):
            about = variable_subject(context, asked.option.variable or name)
            yield _house_message(forbidden_house_option, forbidding, message, about, help="reset it to its default")


@rule(
    "HOU003",
    "below-house-minimum",
    summary="A value is lower than the house rules allow.",
    needs=HOUSE,
    fix=UNSAFE,
    docs=Docs(
        why=f"Values are compared as the server interprets them, so 128K and 131072 are one. {USER_RULE_WHY}",
        fix="Raise the value to the minimum.",
        risk="That of any change to the option: mycnf explain OPTION shows whether it needs a restart.",
        exceptions=EXCEPTIONS,
        reconsider_when="A change of the house rules.",
    ),
)
def below_house_minimum(context: RuleContext) -> Iterator[Finding]:
    """Report numbers below the house rules' minimum."""
    for asked, r, value in _values_of_lines(context):
        if is_below_minimum(r, asked.option, value.text):
            limit = f"the minimum of the house rules is {r.minimum}"
            advice = _advice(context, asked, r.minimum)
            yield _violation(below_house_minimum, asked, r, value, limit, advice=advice)


@rule(
    "HOU004",
    "above-house-maximum",
    summary="A value is higher than the house rules allow.",
    needs=HOUSE,
    fix=UNSAFE,
    docs=Docs(
        why=f"Values are compared as the server interprets them, so 128K and 131072 are one. {USER_RULE_WHY}",
        fix="Lower the value to the maximum.",
        risk="That of any change to the option: mycnf explain OPTION shows whether it needs a restart.",
        exceptions=EXCEPTIONS,
        reconsider_when="A change of the house rules.",
    ),
)
def above_house_maximum(context: RuleContext) -> Iterator[Finding]:
    """Report numbers above the house rules' maximum."""
    for asked, r, value in _values_of_lines(context):
        if is_above_maximum(r, asked.option, value.text):
            limit = f"the maximum of the house rules is {r.maximum}"
            advice = _advice(context, asked, r.maximum)
            yield _violation(above_house_maximum, asked, r, value, limit, advice=advice)


@rule(
    "HOU005",
    "value-outside-house-rules",
    summary="A value is not one of those that the house rules allow.",
    needs=HOUSE,
    fix=UNSAFE,
    docs=Docs(
        why="Values are compared as the server interprets them, so ON and 1 are one, and so are O_DIRECT and its "
        f"number. {USER_RULE_WHY}",
        fix="Write one of the allowed values.",
        risk="That of any change to the option: mycnf explain OPTION shows whether it needs a restart.",
        exceptions=EXCEPTIONS,
        reconsider_when="A change of the house rules.",
    ),
)
def value_outside_house_rules(context: RuleContext) -> Iterator[Finding]:
    """Report values that the house rules do not list."""
    for asked, r, value in _values_of_lines(context):
        if is_not_allowed(r, asked.option, value.notations, context.catalog):
            limit = f"the house rules allow {', '.join(redact_value(r.option, one) for one in r.allowed)}"
            yield _violation(value_outside_house_rules, asked, r, value, limit, advice=_advice(context, asked))


def _lines(context: RuleContext, name: str) -> list[LineVerdict]:
    """The lines of an option under any of its names."""
    return [line for line in context.file_verdict.lines if line.option is not None and root_name(line.option) == name]


def _values_of_lines(context: RuleContext) -> Iterator[tuple[OptionHouseRules, HouseRule, HouseRuleValue]]:
    """Each house rule for an option whose value is known, with that value."""
    for asked in house_rules_by_option(context.house, context.catalog).values():
        value = _value(context, asked.option)
        if value is not None:
            yield from ((asked, r, value) for r in asked.rules)


def _value(context: RuleContext, option: Option) -> HouseRuleValue | None:
    """The option's value, on the running server if there is one, else in the file; None if it is unknown."""
    variable = option.variable or option.name
    lines = [
        x for x in context.file_verdict.effective.values() if x.option and root_name(x.option) == root_name(option)
    ]
    if context.has("server"):
        text = context.settings.text(variable)
        return None if text is None else HouseRuleValue(variable_subject(context, variable), text, (text,), None)
    if not lines or lines[-1].placed.line.templated:
        return None
    line = lines[-1]
    text = line.value if line.value is not None else line.placed.line.value
    if text is None:
        return None
    return HouseRuleValue(
        verdict_subject(line), text, (text, *([line.running] if line.running is not None else ())), line
    )


def _violation(
    reporter: Rule,
    asked: OptionHouseRules,
    broken: HouseRule,
    value: HouseRuleValue,
    limit: str,
    *,
    advice: Action | None,
) -> Finding:
    name = value.about.canonical or broken.option
    shown = redact_value(name, _as_written(asked.option, broken, as_variable(asked.option, value.text))) or "not set"
    message = f"{name} is {shown}, and {limit}."
    todo = help_line(advice) or _help_without_action(asked, broken)
    finding = _house_message(reporter, broken, message, value.about, help=todo, action=advice)
    new = (advice.option_line or "").partition(" = ")[2] if advice else ""
    return finding._replace(fix=replace_value(value.line.placed.line, new, UNSAFE)) if value.line and new else finding


def _as_written(option: Option, broken: HouseRule, text: str | None) -> str:
    """The value as text; a number of bytes has a unit if the house rule's values have one."""
    bounds = (broken.minimum, broken.maximum, *broken.allowed)
    sized = option.kind in INTEGER_KINDS and any(
        bound and bound[:-1].isdecimal() and bound[-1].isalpha() for bound in bounds
    )
    return exact_size(int(text)) if text and text.isdecimal() and sized else text or ""


def _help_without_action(asked: OptionHouseRules, broken: HouseRule) -> str:
    """What to do where no single option line meets the house rules."""
    name = asked.option.name
    if name == BINARY_LOG and broken.allowed:
        return BINARY_LOG_HELP[SWITCHES.get(broken.allowed[0].upper(), broken.allowed[0].upper()) != "OFF"]
    requirement = broken.requirement()
    return f"set {name}" if requirement == REQUIRED else f"set {name} to what the house rules allow: {requirement}"


def _house_message(
    reporter: Rule,
    broken: HouseRule,
    message: str,
    about: Subject,
    *,
    help: str,  # noqa: A002 - the field of Finding
    action: Action | None = None,
) -> Finding:
    end = "" if broken.message.endswith(("!", "?")) else "."
    text = f"{message} {broken.message.rstrip('.')}{end}" if broken.message else message
    return reporter.finding(text, about, severity=broken.severity, help=help, actions=present(action))


def _advice(context: RuleContext, asked: OptionHouseRules, broken: str | None = None) -> Action | None:
    """An action with the first value from the house rules that meets all of them; None if there is none or a secret.

    The bound that is `broken` precedes the others: a value above the maximum is not lowered to the minimum.
    """
    named = [
        v for v in (broken, *(v for r in asked.rules for v in (*r.allowed, r.minimum, r.maximum))) if v is not None
    ]
    good = next((v for v in named if meets_rules(asked.rules, asked.option, v, context.catalog)), None)
    if good is None or redact_value(asked.option.name, good) != good:
        return None
    if asked.option.name == BINARY_LOG and good.upper() in (*SWITCHES, *SWITCHES.values()):
        return None  # what the running server shows; in an option file it would be the name of the files
    name, kind = asked.option.variable or asked.option.name, asked.option.kind
    if kind in INTEGER_KINDS:
        return advise(context, name, int(parse_number(good, kind) or 0), size=not good.isdigit())
    return advise(context, name, SWITCHES.get(good.upper(), good) if kind == "bool" else good)


def _is_unset(context: RuleContext, option: Option) -> Subject:
    """The location for an option that is not set: the server's first group, else the top of the first file."""
    if context.has("server"):
        return variable_subject(context, option.variable or option.name)
    file = context.file_verdict.resolved.files[0]
    groups = [x for x in file.lines if x.kind is LineKind.GROUP and x.name in groups_read(context.target)]
    line = next((x for x in groups if x.name == "mysqld"), groups[0] if groups else None)
    if line is None:
        return Subject(option.name, option.name, None, None, Location(file.path, 1))
    place = line_location(file.path, line)
    return Subject(option.name, option.name, None, line.name, place)


FAMILY = "HOU"


def defer_to_house_rules(context: RuleContext, findings: Iterable[Finding]) -> list[Finding]:
    """The findings without advice that a house rule forbids.

    Findings about refused lines keep their advice, because the server would not start otherwise.
    """
    house = house_rules_by_option(context.house, context.catalog)
    return [_without_forbidden_advice(f, _rules_for(f, context, house), context) for f in findings]


def _rules_for(finding: Finding, context: RuleContext, house: dict[str, OptionHouseRules]) -> OptionHouseRules | None:
    option = context.catalog.get(finding.canonical) if finding.canonical else None
    return house.get(root_name(option)) if option else None


def _without_forbidden_advice(finding: Finding, asked: OptionHouseRules | None, context: RuleContext) -> Finding:
    if asked is None or finding.code.startswith(FAMILY) or finding.severity is Severity.ERROR:
        return finding
    if not _removes_required(finding, asked, context) and all(
        meets_rules(asked.rules, asked.option, value, context.catalog) for value in _advised_values(finding, context)
    ):
        return finding
    asks = "; ".join(r.requirement() for r in asked.rules)
    return finding._replace(help=f"the house rules for {asked.option.name} apply: {asks}", fix=None, actions=())


def _advised_values(finding: Finding, context: RuleContext) -> set[str]:
    """The values that the finding's fix and actions would set for its own option."""
    edits = finding.fix.edits if finding.fix else ()
    texts = {e.text for e in edits if e.text.strip() and "\n" not in e.text and e.text not in context.catalog.options}
    return texts.union(*(_action_values(action, finding.canonical or "") for action in finding.actions))


def _action_values(action: Action, option: str) -> set[str]:
    """The values that an action sets the option to, by its option line, its argument or its statement."""
    settings = [
        (action.option_line or "").partition(" = "),
        (action.argument or "").removeprefix("--").partition("="),
        (action.statement or "").removesuffix(";").split(" ", 2)[-1].partition(" = "),
    ]
    return {value.strip("'") for name, _, value in settings if name.replace("-", "_").lower() == option}


def _removes_required(finding: Finding, asked: OptionHouseRules, context: RuleContext) -> bool:
    """Whether the advice is to remove the effective line of an option that the house rules require."""
    counts = context.file_verdict.effective.get(finding.canonical or "")
    here = counts is not None and finding.location is not None and counts.placed.line.number == finding.location.line
    removes = "remove the line" in finding.help or any(not e.text for e in (finding.fix.edits if finding.fix else ()))
    return here and removes and any(r.required for r in asked.rules)
