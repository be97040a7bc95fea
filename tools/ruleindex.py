"""Write rules/_index.py: the rule modules that lint imports for each option; --check reports whether it is current.

usage: ruleindex.py [--check]

Every module below `rules` that registers a rule is listed, with the options that its option file rules name.
"""

from __future__ import annotations

import importlib
import pkgutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rules.core.rule import Rule

TOP = Path(__file__).resolve().parents[1]
INDEX = TOP / "rules" / "_index.py"
HEAD = '''"""Modules of rules, by what a file must set before lint imports them; `make docs` writes this."""

# A rule of these may concern any option of a file.
ANY_OPTION = (
{any})
# Rules of these concern files that set one of the options.
BY_OPTION = {{
{some}}}
# All rules of these need more than option files.
BEYOND_FILES = (
{none})
'''


def main() -> int:
    """Write the index, or check it: exit code 1 if it is not current."""
    sys.path.insert(0, str(TOP))
    wanted = index()
    if sys.argv[1:] == ["--check"]:
        stale = INDEX.read_text("utf-8") != wanted
        if stale:
            print("rules/_index.py does not list what the decorators say: make docs")
        return int(stale)
    INDEX.write_text(wanted, "utf-8")
    return 0


def index() -> str:
    """The text of the index."""
    unbound, bound, beyond = [], {}, []
    for name, rules in rules_by_module().items():
        of_files = [rule for rule in rules if not rule.needs]
        if not of_files:
            beyond.append(name)
        elif all(rule.options for rule in of_files):
            bound[name] = sorted({option for rule in of_files for option in (*rule.options, *rule.triggers)})
        else:
            unbound.append(name)
    return HEAD.format(
        any="".join(f'    "{name}",\n' for name in unbound),
        some="".join(_entry(name, options) for name, options in bound.items()),
        none="".join(f'    "{name}",\n' for name in beyond),
    )


def rules_by_module() -> dict[str, list[Rule]]:
    """The rules that each module below `rules` registers when imported; modules are in alphabetical order."""
    import rules
    from rules.core.rule import RULES

    for module in pkgutil.walk_packages(rules.__path__, "rules."):
        importlib.import_module(module.name)
    made: dict[str, list[Rule]] = {}
    for rule in sorted(RULES, key=lambda rule: rule.function.__module__):
        made.setdefault(rule.function.__module__, []).append(rule)
    return made


def _entry(name: str, options: list[str]) -> str:
    if len(options) == 1:  # the format of ruff
        return f'    "{name}": ("{options[0]}",),\n'
    return f'    "{name}": (\n' + "".join(f'        "{option}",\n' for option in options) + "    ),\n"


if __name__ == "__main__":
    sys.exit(main())
