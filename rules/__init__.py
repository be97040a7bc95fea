"""The rules of mycnf: one subpackage per subject, and the evidence store in `rules/evidence`."""

from __future__ import annotations

from rules._index import ANY_OPTION, BEYOND_FILES, BY_OPTION

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Container

    from rules.core.rule import Rule

# Another distribution may install a package named `rules`: advisor.cli compares this before it trusts the
# import.
PRODUCT = "mycnf-advisor"

# Imported only if the user's configuration has house rules.
HOUSE_RULES = "rules.policy.rules"
# Imported only for documents and targets of managed services.
PARAMETER_RULES = "rules.optionfile.parameters"


def all_rules() -> list[Rule]:
    """All rules, sorted by code."""
    return _load_rules((*ANY_OPTION, *BY_OPTION, *BEYOND_FILES))


def file_rules(*, house: bool = False, modules: tuple[str, ...] | None = None) -> list[Rule]:
    """The rules that need only option files, sorted by code; modules whose rules all need more are not imported.

    `house` includes the house rules. `modules` is the result of `rule_modules_for`; None means all modules of
    BY_OPTION.
    """
    bound = tuple(BY_OPTION) if modules is None else modules
    wanted = (*ANY_OPTION, *bound, *((HOUSE_RULES,) if house else ()))
    return [rule for rule in _load_rules(wanted) if not rule.needs or (house and rule.needs == ("house",))]


def parameter_rules() -> list[Rule]:
    """The rules about parameters of managed services, sorted by code."""
    return [rule for rule in _load_rules((PARAMETER_RULES,)) if rule.needs == ("parameters",)]


def rule_modules_for(options: Container[str]) -> tuple[str, ...]:
    """The modules of BY_OPTION with rules that check one of these options."""
    return tuple(name for name, about in BY_OPTION.items() if any(option in options for option in about))


def find_rule(word: str) -> Rule | None:
    """The rule with this code or name, ignoring case; None if there is none."""
    wanted = word.strip().lower().replace("_", "-")
    return next((r for r in all_rules() if wanted in (r.code.lower(), r.name)), None)


def _load_rules(modules: tuple[str, ...]) -> list[Rule]:
    for module in modules:
        __import__(module)
    from rules.core.rule import RULES

    return sorted(RULES)
