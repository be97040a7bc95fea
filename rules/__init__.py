"""The rules of mycnf: one subpackage per subject, and the evidence store in `rules/evidence`."""

from __future__ import annotations

from rules._index import ANY_OPTION, BEYOND_FILES, BY_OPTION, QUIET, SILENT

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from advisor.core.model import Target
    from advisor.verdict import LineVerdict
    from rules.core import QuietValues, Rule

# Another distribution may install a package named `rules`: advisor.cli compares this before it trusts the
# import.
PRODUCT = "mycnf-advisor"

# Imported only if the user's configuration has house rules.
HOUSE_RULES = "rules.policy.rules"
# Imported only for documents and targets of managed services.
PARAMETER_RULES = "rules.optionfile.parameters"
DIGITS = 20  # of any 64-bit number


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


def rule_modules_for(lines: Mapping[str, LineVerdict], target: Target) -> tuple[str, ...]:
    """The modules of BY_OPTION with rules that one of these lines, by option, may concern on the target's flavour."""
    return tuple([name for name in BY_OPTION if _is_concerned(name, lines, SILENT[target.flavour].get(name, ()))])


def _is_concerned(module: str, lines: Mapping[str, LineVerdict], silent: tuple[str, ...]) -> bool:
    for option in BY_OPTION[module]:
        if option in lines and option not in silent:
            quiet = QUIET[module].get(option) if module in QUIET else None
            if quiet is None or not _is_quiet(lines[option], quiet):
                return True
    return False


def _is_quiet(line: LineVerdict, quiet: QuietValues) -> bool:
    """Whether the value of the line is one with which it causes no finding."""
    text = line.value if line.running is None else line.running
    if text is None:
        return False
    least = quiet[0]
    if isinstance(least, str):
        return text.upper() in quiet
    return text.isdigit() and len(text) <= DIGITS and least <= int(text) <= int(quiet[1])


def find_rule(word: str) -> Rule | None:
    """The rule with this code or name, ignoring case; None if there is none."""
    wanted = word.strip().lower().replace("_", "-")
    return next((r for r in all_rules() if wanted in (r.code.lower(), r.name)), None)


def _load_rules(modules: tuple[str, ...]) -> list[Rule]:
    for module in modules:
        __import__(module)
    from rules.core import RULES

    return sorted(RULES)
