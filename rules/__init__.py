"""The rules of mycnf: one module a family, the evidence beside them."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rules.registry import Rule

# Another distribution installs a package of this name: advisor.belonging compares this before it trusts the import.
PRODUCT = "mycnf-advisor"

# Families with rules that files alone can answer, and modules of rules that all need a host or a running server.
FAMILIES = ("opt", "optfile", "buf", "bufcache", "inn", "log", "dur", "durdata", "bin", "sec")
ON_HOSTS = ("mem", "innlay", "sys", "ver")
# Rules that speak only where somebody wrote something for mycnf itself: suppressions, house rules.
ON_REQUEST = ("sup", "house")


def all_rules() -> list[Rule]:
    """Every rule, by code."""
    return _registered(FAMILIES + ON_HOSTS + ON_REQUEST)


def file_rules(*, house: bool = False) -> list[Rule]:
    """The rules that need nothing but option files, by code; those that need more are not even imported.

    `house` says that there are house rules too.
    """
    modules = (*FAMILIES, "house") if house else FAMILIES
    return [rule for rule in _registered(modules) if not rule.needs or (house and rule.needs == ("house",))]


def find(word: str) -> Rule | None:
    """The rule of that code or name, in either case; None where there is none."""
    wanted = word.strip().lower().replace("_", "-")
    return next((r for r in all_rules() if wanted in (r.code.lower(), r.name)), None)


def _registered(modules: tuple[str, ...]) -> list[Rule]:
    for module in modules:
        __import__(f"rules.{module}")
    from rules.registry import RULES

    return sorted(RULES)
