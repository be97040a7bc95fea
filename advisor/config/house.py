"""House rules as the configuration gives them: names looked up in the catalogs, contradictions told."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from advisor.catalog.load import load
from advisor.catalog.presence import nearest_option
from advisor.catalog.targets import SERIES
from advisor.config.shape import Fault
from advisor.core.model import Severity, Target
from advisor.verdict import REFUSED, judge_value
from advisor.verdict.names import find_name
from rules.policy.house_rule import NUMBER_KINDS, HouseRule, find_option, meets_rules, parse_number, root_name

if TYPE_CHECKING:
    from collections.abc import Iterator

    from advisor.catalog.load import Catalog, Option
    from advisor.config.shape import Keys

LARGEST = 1 << 64  # no option holds a number beyond it
NamedRule = tuple["Keys", HouseRule]


def parse_house_rules(table: dict[str, Any]) -> tuple[HouseRule, ...]:
    """The rules of a `house` table that has the right shape."""
    return tuple(rule for _, rule in _named_rules(table))


def find_house_faults(table: dict[str, Any]) -> Iterator[Fault]:
    """What is wrong with such a table: options that no series knows, values that none takes, contradictions."""
    named = list(_named_rules(table))
    clear = True
    for keys, rule in named:
        for fault in _name_faults(keys, rule) or _value_faults(keys, rule):
            clear = False
            yield fault
    if clear:
        yield from _contradictions(named)


def _named_rules(table: dict[str, Any]) -> Iterator[NamedRule]:
    for name, given in table.items():
        for entry in given if isinstance(given, list) else [given]:
            yield ("house", name), _rule(name, entry)


def _rule(name: str, given: dict[str, Any]) -> HouseRule:
    targets = given.get("targets", [])
    return HouseRule(
        option=name.strip().lower().replace("-", "_"),
        required=given.get("required", False),
        forbidden=given.get("forbidden", False),
        minimum=_text(given["minimum"]) if "minimum" in given else None,
        maximum=_text(given["maximum"]) if "maximum" in given else None,
        allowed=tuple(map(_text, given.get("allowed", ()))),
        message=given.get("message", "").strip(),
        severity=Severity(given.get("severity", Severity.WARNING)),
        targets=tuple(map(_span, [targets] if isinstance(targets, str) else targets)),
    )


def _text(value: str | bool | float) -> str:
    """A value of TOML as an option file would hold it."""
    if isinstance(value, bool):
        return "ON" if value else "OFF"
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return str(value).strip()


def _span(text: str) -> tuple[str, tuple[int, ...]]:
    flavour, _, version = text.strip().partition("-")
    return flavour, tuple(int(part) for part in version.split(".")) if version else ()


def _catalogs(rule: HouseRule) -> Iterator[Catalog]:
    """The catalogs of the versions that a rule is meant for, the newest series of each flavour first."""
    for flavour, series in SERIES.items():
        for name, patch in sorted(series.items(), reverse=True):
            exact = [v for f, v in rule.targets if f == flavour and v[:2] == name and len(v) > len(name)]
            targets = [Target(flavour, v) for v in exact] or [Target(flavour, patch)]
            yield from (load(t) for t in targets if rule.concerns(t))


def _options_in_catalogs(rule: HouseRule) -> Iterator[tuple[Option, Catalog]]:
    """The option in each catalog that has it; loaded one by one, for the first is mostly enough."""
    for catalog in _catalogs(rule):
        option = find_option(rule.option, catalog)
        if option is not None:
            yield option, catalog


def _name_faults(keys: Keys, rule: HouseRule) -> list[Fault]:
    """Why no catalog leads from the name to an option; empty where one does."""
    if next(_options_in_catalogs(rule), None) is not None:
        return []
    catalogs = list(_catalogs(rule))
    if not catalogs:
        return [Fault((*keys, "targets"), "none of the targets is a supported series")]
    for catalog in catalogs:
        led = find_name(rule.option, catalog, has_value=True, short=False)
        if led.canonical and led.prefix:
            why = f"{rule.option} sets {led.canonical}; write the rule for that option and its values"
            return [Fault(keys, why)]
    meant = next((near for catalog in catalogs if (near := nearest_option(rule.option, catalog))), None)
    scope = "of its targets " if rule.targets else ""
    hint = f"; did you mean {meant}?" if meant else ""
    return [Fault(keys, f"no supported series {scope}has an option {rule.option}{hint}")]


def _value_faults(keys: Keys, rule: HouseRule) -> list[Fault]:
    """Bounds that are no number to the option, and values that no version takes."""
    found = []
    for key, bound in (("minimum", rule.minimum), ("maximum", rule.maximum)):
        if bound is not None and not any(_is_number(bound, option.kind) for option, _ in _options_in_catalogs(rule)):
            why = "it is not numeric" if not _holds_number(rule) else f"{bound} is not a number that it accepts"
            found.append(Fault((*keys, key), f"{rule.option} can't have this {key}: {why}"))
    strange = [given for given in rule.allowed if not _is_accepted(given, rule)]
    why = f"for {rule.option}{_accepted_values_hint(rule)}" if strange else ""
    return found + [Fault((*keys, "allowed"), f"no supported server accepts {given!r} {why}") for given in strange]


def _is_accepted(given: str, rule: HouseRule) -> bool:
    """Whether some version takes the value; those that list what they take outweigh those that believe everything.

    A series of which no server was examined does not count, because nothing is refused there.
    """
    knowing = list(_options_in_catalogs(rule))
    listing = [(option, catalog) for option, catalog in knowing if option.values and catalog.whole] or knowing
    return any(judge_value(option.name, given, catalog).outcome not in REFUSED for option, catalog in listing)


def _holds_number(rule: HouseRule) -> bool:
    return any(option.kind in NUMBER_KINDS for option, _ in _options_in_catalogs(rule))


def _is_number(text: str, kind: str) -> bool:
    given = parse_number(text, kind) if kind in NUMBER_KINDS else None
    return given is not None and abs(given) <= LARGEST


def _accepted_values_hint(rule: HouseRule) -> str:
    values = next((option.values for option, _ in _options_in_catalogs(rule) if option.values), ())
    return f"; valid values: {', '.join(values)}" if values else ""


def _contradictions(named: list[NamedRule]) -> Iterator[Fault]:
    """Rules that no value could keep to on some series, told once each."""
    roots = {rule: root_name(option) for _, rule in named for option, _ in [next(_options_in_catalogs(rule))]}
    reported: set[str] = set()
    for target in (Target(flavour, patch) for flavour, series in SERIES.items() for patch in series.values()):
        together: dict[str, list[NamedRule]] = {}
        for keys, rule in named:
            if rule.concerns(target):
                together.setdefault(roots[rule], []).append((keys, rule))
        for name, several in together.items():
            why = _contradiction([rule for _, rule in several]) if name not in reported else ""
            if why:
                reported.add(name)
                yield Fault(several[-1][0], why)


def _contradiction(rules: list[HouseRule]) -> str:
    """What contradicts what, empty where a value can keep to all of the rules."""
    if any(r.forbidden for r in rules):
        asks = any(r.required or r.minimum or r.maximum or r.allowed for r in rules)
        return "it is forbidden, and another rule sets a condition for it" if asks else ""
    kind = next(_options_in_catalogs(rules[0]))[0].kind
    low = max((r.minimum for r in rules if r.minimum), key=lambda text: parse_number(text, kind) or 0, default=None)
    high = min((r.maximum for r in rules if r.maximum), key=lambda text: parse_number(text, kind) or 0, default=None)
    if low and high and (parse_number(low, kind) or 0) > (parse_number(high, kind) or 0):
        return f"the minimum {low} is above the maximum {high}"
    named = [value for r in rules for value in r.allowed]
    if named and not any(meets_rules(rules, o, value, c) for o, c in _options_in_catalogs(rules[0]) for value in named):
        return f"none of the allowed values ({', '.join(named)}) satisfies all rules"
    return ""
