"""The rules of mycnf: one module a family, the evidence beside them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rules._index import ANY_OPTION, BEYOND_FILES, BY_OPTION

if TYPE_CHECKING:
    from collections.abc import Container

    from rules.core.rule import Rule

# Another distribution installs a package of this name: advisor.cli.parser compares this before it trusts the import.
PRODUCT = "mycnf-advisor"

# Its rules are those that the user's configuration asks for.
HOUSE_RULES = "rules.policy.rules"


def all_rules() -> list[Rule]:
    """Every rule, by code."""
    return _load_rules((*ANY_OPTION, *BY_OPTION, *BEYOND_FILES))


def file_rules(*, house: bool = False, modules: tuple[str, ...] | None = None) -> list[Rule]:
    """The rules that need nothing but option files, by code; those that need more are not even imported.

    `house` adds house rules; `modules` are those of `rule_modules_for`, all where it is None.
    """
    bound = tuple(BY_OPTION) if modules is None else modules
    wanted = (*ANY_OPTION, *bound, *((HOUSE_RULES,) if house else ()))
    return [rule for rule in _load_rules(wanted) if not rule.needs or (house and rule.needs == ("house",))]


def rule_modules_for(options: Container[str]) -> tuple[str, ...]:
    """The modules of BY_OPTION with rules that concern one of the options."""
    return tuple(name for name, about in BY_OPTION.items() if any(option in options for option in about))


def find_rule(word: str) -> Rule | None:
    """The rule of that code or name, in either case; None where there is none."""
    wanted = word.strip().lower().replace("_", "-")
    return next((r for r in all_rules() if wanted in (r.code.lower(), r.name)), None)


def _load_rules(modules: tuple[str, ...]) -> list[Rule]:
    for module in modules:
        __import__(module)
    from rules.core.rule import RULES

    return sorted(RULES)
