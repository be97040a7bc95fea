"""HouseRule: a user's requirement for one option, and the functions that check a value against it."""

from __future__ import annotations

from advisor.core import NamedTuple
from advisor.core.model import Severity
from advisor.redaction import redact_value
from advisor.verdict import REFUSED, judge_value
from advisor.verdict.names import find_name
from advisor.verdict.number import SUFFIXES, leading_digits
from advisor.verdict.settings import NO_DEFAULT, SWITCHES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from advisor.catalog import Catalog, Option
    from advisor.core.model import Target

INTEGER_KINDS = ("int", "uint")
NUMBER_KINDS = (*INTEGER_KINDS, "double")
REQUIRED = "set"  # the requirement of a rule without bounds and values


class HouseRule(NamedTuple):
    """A requirement for one option from the configuration.

    `option` is lower case with underscores. `targets` are flavours with a version prefix, empty for all. Bounds and
    allowed values are texts as in an option file. `message` is the user's own text.
    """

    option: str
    required: bool = False
    forbidden: bool = False
    minimum: str | None = None
    maximum: str | None = None
    allowed: tuple[str, ...] = ()
    message: str = ""
    severity: Severity = Severity.WARNING
    targets: tuple[tuple[str, tuple[int, ...]], ...] = ()

    def concerns(self, target: Target) -> bool:
        """Whether the rule applies to that version."""
        named = ((flavour, version) for flavour, version in self.targets if flavour == target.flavour)
        return not self.targets or any(target.version[: len(version)] == version for _, version in named)

    def requirement(self) -> str:
        """The requirement as text, such as `at least 1M, at most 64M`."""
        parts = [f"at least {self.minimum}"] if self.minimum is not None else []
        parts += [f"at most {self.maximum}"] if self.maximum is not None else []
        parts += [" or ".join(redact_value(self.option, one) for one in self.allowed)] if self.allowed else []
        parts += [REQUIRED] if self.required and not parts else []
        return ", ".join([*parts, *(["not set"] if self.forbidden else [])])


class OptionHouseRules(NamedTuple):
    """An option of the target with all its house rules."""

    option: Option
    rules: tuple[HouseRule, ...]


def house_rules_by_option(rules: Iterable[HouseRule], catalog: Catalog) -> dict[str, OptionHouseRules]:
    """The options with house rules, by the name that all aliases share; options that the target lacks are left out."""
    rules_by_option: dict[str, OptionHouseRules] = {}
    for rule in rules:
        option = find_option(rule.option, catalog) if rule.concerns(catalog.target) else None
        if option is not None:
            before = rules_by_option.get(root_name(option), OptionHouseRules(option, ()))
            rules_by_option[root_name(option)] = OptionHouseRules(before.option, (*before.rules, rule))
    return rules_by_option


def find_option(name: str, catalog: Catalog) -> Option | None:
    """The option with that name, alias or `loose_` prefix.

    None if the target lacks it, or for prefixes such as skip_.
    """
    led = find_name(name, catalog, has_value=True, short=False)
    return catalog.get(led.canonical) if led.canonical and not led.prefix else None


def root_name(option: Option) -> str:
    """The name that an option and its aliases share."""
    return option.alias_of or option.name


def parse_number(text: str, kind: str) -> float | None:
    """A bound or value as a number, whole with a suffix such as 128K or fractional; None for anything else."""
    if kind not in INTEGER_KINDS:
        try:
            return float(text)
        except ValueError:
            return None
    digits, rest = leading_digits(text)
    if not text.strip() or rest == text:
        return None
    if rest.startswith("."):
        return None if rest.strip(".0") else digits
    return digits << SUFFIXES[rest.lower()] if rest.lower() in SUFFIXES else None if rest else digits


def is_below_minimum(rule: HouseRule, option: Option, value: str) -> bool:
    """Whether the value is a number below the rule's minimum."""
    bound, given = parse_number(rule.minimum or "", option.kind), parse_number(value, option.kind)
    return bound is not None and given is not None and given < bound


def is_above_maximum(rule: HouseRule, option: Option, value: str) -> bool:
    """Whether the value is a number above the rule's maximum."""
    bound, given = parse_number(rule.maximum or "", option.kind), parse_number(value, option.kind)
    return bound is not None and given is not None and given > bound


def is_not_allowed(rule: HouseRule, option: Option, values: Iterable[str], catalog: Catalog) -> bool:
    """Whether the rule has a list of allowed values that contains none of these notations of a value."""
    if not rule.allowed:
        return False
    allowed = {
        _normalized_value(option, made)
        for value in rule.allowed
        if (made := _accepted_value(option, value, catalog)) is not None
    }
    return allowed.isdisjoint(_normalized_value(option, value) for value in values)


def meets_rules(rules: Iterable[HouseRule], option: Option, value: str, catalog: Catalog) -> bool:
    """Whether the server would accept this value and it meets all of the rules."""
    made = _accepted_value(option, value, catalog)
    return made is not None and not any(
        r.forbidden
        or is_below_minimum(r, option, made)
        or is_above_maximum(r, option, made)
        or is_not_allowed(r, option, (made,), catalog)
        for r in rules
    )


def _accepted_value(option: Option, value: str, catalog: Catalog) -> str | None:
    """The value as the server prints it; None if the target refuses it."""
    verdict = judge_value(option.name, value, catalog)
    return None if verdict.outcome in REFUSED else verdict.value if verdict.value is not None else value


def _normalized_value(option: Option, value: str) -> str:
    """The value in a notation that is the same for equal values."""
    if option.kind in NUMBER_KINDS:
        given = parse_number(value, option.kind)
        return value if given is None else str(float(given) if option.kind == "double" else given)
    if value == NO_DEFAULT:
        return ""
    word = value.upper()
    if option.kind == "bool":
        return SWITCHES.get(word, word)
    return value if "/" in value else word
