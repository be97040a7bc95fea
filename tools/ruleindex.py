"""Write rules/_index.py, which rule modules lint imports for which options; --check says whether it is current.

usage: ruleindex.py [--check]

Every module below `rules` that has a rule's decorator is listed; its options are those that its rules of files name.
"""

from __future__ import annotations

import importlib
import pkgutil
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rules.registry import Rule

TOP = Path(__file__).resolve().parents[1]
INDEX = TOP / "rules" / "_index.py"
DECORATED = re.compile(r"^@rule\(", re.MULTILINE)
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
    """Write the index, or say whether it is current: exit code 1 where it is not."""
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
    for name in modules():
        of_files = [rule for rule in _rules_of(name) if not rule.needs]
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


def modules() -> list[str]:
    """The dotted names of all modules with rules, in alphabetical order."""
    import rules

    found = []
    for module in pkgutil.walk_packages(rules.__path__, "rules."):
        path = TOP / (module.name.replace(".", "/") + ".py")
        if path.is_file() and DECORATED.search(path.read_text("utf-8")):
            found.append(module.name)
    return sorted(found)


def _rules_of(name: str) -> list[Rule]:
    from rules.registry import RULES

    importlib.import_module(name)
    return [rule for rule in RULES if rule.look.__module__ == name]


def _entry(name: str, options: list[str]) -> str:
    return f'    "{name}": (\n' + "".join(f'        "{option}",\n' for option in options) + "    ),\n"


if __name__ == "__main__":
    sys.exit(main())
