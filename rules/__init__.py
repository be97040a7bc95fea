"""The rules of mycnf: one module a family, the evidence beside them."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rules.registry import Rule

# Another distribution installs a package of this name: advisor.cli compares this before it trusts the import.
PRODUCT = "mycnf-advisor"

FAMILIES = ("opt", "optfile", "buf", "mem", "inn", "innlay", "log", "dur", "bin", "sys", "sec", "ver")


def all_rules() -> list[Rule]:
    """Every rule, by code."""
    for family in FAMILIES:
        import_module(f"rules.{family}")
    from rules.registry import RULES

    return sorted(RULES)


def find(word: str) -> Rule | None:
    """The rule of that code or name, in either case; None where there is none."""
    wanted = word.strip().lower().replace("_", "-")
    return next((r for r in all_rules() if wanted in (r.code.lower(), r.name)), None)
