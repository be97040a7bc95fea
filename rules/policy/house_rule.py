"""A house rule: what the owner of many servers asks of one option, and whether a value keeps to it."""

from typing import TYPE_CHECKING, NamedTuple

from advisor.core.model import Severity
from advisor.verdict import REFUSED, take
from advisor.verdict.names import find
from advisor.verdict.number import SUFFIXES, leading_digits

if TYPE_CHECKING:
    from collections.abc import Iterable

    from advisor.catalog.load import Catalog, Option
    from advisor.core.model import Target
    from rules.core.context import RuleContext

WHOLE = ("int", "uint")
NUMBERS = (*WHOLE, "double")
SWITCH = {"TRUE": "ON", "1": "ON", "FALSE": "OFF", "0": "OFF"}
NOTHING = "(No default value)"  # how help prints an option that is off, or a text that is empty


class HouseRule(NamedTuple):
    """What is asked of one option, as the configuration says it.

    `option` is lower case with underscores. `targets` are flavours with the beginning of a version, none for all.
    Bounds and allowed values are texts as an option file would hold them. `message` is the house's own sentence.
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

    def concerns(self, target: "Target") -> bool:
        """Whether the rule is meant for that version."""
        named = ((flavour, version) for flavour, version in self.targets if flavour == target.flavour)
        return not self.targets or any(target.version[: len(version)] == version for _, version in named)

    def words(self) -> str:
        """What the rule asks of a value, such as `at least 1M, at most 64M`."""
        parts = [f"at least {self.minimum}"] if self.minimum is not None else []
        parts += [f"at most {self.maximum}"] if self.maximum is not None else []
        parts += [" or ".join(self.allowed)] if self.allowed else []
        parts += ["set"] if self.required and not parts else []
        return ", ".join([*parts, *(["not set"] if self.forbidden else [])])


class Ruled(NamedTuple):
    """An option of the target with all the house rules for it."""

    option: "Option"
    rules: tuple[HouseRule, ...]


def ruled(known: "RuleContext") -> dict[str, Ruled]:
    """The options that house rules speak of, by the name that all their aliases share; what the target lacks is not."""
    found: dict[str, Ruled] = {}
    for rule in known.house:
        option = find_option(rule.option, known.catalog) if rule.concerns(known.target) else None
        if option is not None:
            before = found.get(root(option), Ruled(option, ()))
            found[root(option)] = Ruled(before.option, (*before.rules, rule))
    return found


def find_option(name: str, catalog: "Catalog") -> "Option | None":
    """The option of that name, alias or loose_ included; None for what the target lacks, and behind skip_ and such."""
    led = find(name, catalog, has_value=True, short=False)
    return catalog.get(led.canonical) if led.canonical and not led.prefix else None


def root(option: "Option") -> str:
    """The name that an option and its aliases share."""
    return option.alias_of or option.name


def number(text: str, kind: str) -> float | None:
    """A bound or a value as a number: whole with a suffix such as 128K, or with a fraction; None for anything else."""
    if kind not in WHOLE:
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


def below(rule: HouseRule, option: "Option", value: str) -> bool:
    """Whether the value is a number under the rule's minimum."""
    bound, given = number(rule.minimum or "", option.kind), number(value, option.kind)
    return bound is not None and given is not None and given < bound


def above(rule: HouseRule, option: "Option", value: str) -> bool:
    """Whether the value is a number over the rule's maximum."""
    bound, given = number(rule.maximum or "", option.kind), number(value, option.kind)
    return bound is not None and given is not None and given > bound


def outside(rule: HouseRule, option: "Option", values: "Iterable[str]", catalog: "Catalog") -> bool:
    """Whether the rule allows certain values only, and none of these notations of one value is among them."""
    if not rule.allowed:
        return False
    allowed = {_plain(option, made) for said in rule.allowed if (made := _taken(option, said, catalog)) is not None}
    return allowed.isdisjoint(_plain(option, value) for value in values)


def keeps(rules: "Iterable[HouseRule]", option: "Option", said: str, catalog: "Catalog") -> bool:
    """Whether a value, written so, would be taken by the server and keep to all of the rules."""
    made = _taken(option, said, catalog)
    return made is not None and not any(
        r.forbidden or below(r, option, made) or above(r, option, made) or outside(r, option, (made,), catalog)
        for r in rules
    )


def _taken(option: "Option", said: str, catalog: "Catalog") -> str | None:
    """A value in the words of the target's help; None where the target refuses it."""
    verdict = take(option.name, said, catalog)
    return None if verdict.outcome in REFUSED else verdict.value if verdict.value is not None else said


def _plain(option: "Option", value: str) -> str:
    """A value in a notation that equal ones share."""
    if option.kind in NUMBERS:
        given = number(value, option.kind)
        return value if given is None else str(float(given) if option.kind == "double" else given)
    if value == NOTHING:
        return ""
    word = value.upper()
    if option.kind == "bool":
        return SWITCH.get(word, word)
    return value if "/" in value else word
