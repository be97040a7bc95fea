"""Write rules/_index.py: the rule modules that lint imports for each option; --check reports whether it is current.

usage: ruleindex.py [--check]

Every module below `rules` that registers a rule is listed, with the options that its option file rules name.
"""

from __future__ import annotations

import importlib
import pkgutil
import sys
import textwrap
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from rules.core import QuietValues, Rule

TOP = Path(__file__).resolve().parents[1]
INDEX = TOP / "rules" / "_index.py"
WIDTH = 120
HEAD = '''"""Modules of rules, by what a file must set before lint imports them; `make docs` writes this."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from rules.core import QuietValues

# fmt: off
# A rule of these may concern any option of a file.
ANY_OPTION = (
{any})
# Rules of these concern files that set one of the options.
BY_OPTION = {{
{some}}}
# Options of BY_OPTION that a flavour has too, although no rule of the module concerns its files with them.
SILENT: dict[str, dict[str, tuple[str, ...]]] = {{
{silent}}}
# Values of options with which no rule of the module has a finding: words, or the least and the largest number.
QUIET: dict[str, dict[str, QuietValues]] = {{
{quiet}}}
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
    from advisor.catalog.targets import SERIES

    unbound, bound, beyond = [], {}, []
    for name, rules in rules_by_module().items():
        of_files = [rule for rule in rules if not rule.needs]
        if not of_files:
            beyond.append(name)
        elif all(rule.options for rule in of_files):
            bound[name] = of_files
        else:
            unbound.append(name)
    return HEAD.format(
        any="".join(f'    "{name}",\n' for name in unbound),
        some="".join(_entry(name, options_of(rules)) for name, rules in bound.items()),
        silent="".join(_silent_entry(flavour, bound) for flavour in SERIES),
        quiet="".join(_quiet_entry(name, rules) for name, rules in bound.items()),
        none="".join(f'    "{name}",\n' for name in beyond),
    )


def rules_by_module() -> dict[str, list[Rule]]:
    """The rules that each module below `rules` registers when imported; modules are in alphabetical order."""
    import rules
    from rules.core import RULES

    for module in pkgutil.walk_packages(rules.__path__, "rules."):
        importlib.import_module(module.name)
    made: dict[str, list[Rule]] = {}
    for rule in sorted(RULES, key=lambda rule: rule.function.__module__):
        made.setdefault(rule.function.__module__, []).append(rule)
    return made


def options_of(rules: Iterable[Rule]) -> list[str]:
    """The options whose lines can cause a finding of these rules, in alphabetical order."""
    return sorted({option for rule in rules for option in (*rule.options, *rule.triggers)})


def quiet_values(rules: Iterable[Rule], option: str) -> QuietValues | None:
    """The values of the option with which none of these rules has a finding; None if there are none."""
    given = [dict(rule.quiet).get(option, ()) for rule in rules if option in (*rule.options, *rule.triggers)]
    if not all(given) or len({type(values[0]) for values in given}) != 1:
        return None
    if isinstance(given[0][0], str):
        words = sorted(str(word) for word in given[0] if all(word in values for values in given))
        return tuple(words) or None
    least, largest = max(int(values[0]) for values in given), min(int(values[1]) for values in given)
    return (least, largest) if least <= largest else None


def _silent_entry(flavour: str, bound: dict[str, list[Rule]]) -> str:
    """The options by module that servers of this flavour have, and whose rules concern the other flavour only."""
    known = set(options_known(flavour))
    rows = []
    for name, rules in bound.items():
        concerned = [rule for rule in rules if any(span.flavour == flavour for span in rule.file_targets)]
        silent = [o for o in options_of(rules) if o in known and o not in options_of(concerned)]
        rows += _entry(name, silent).splitlines(keepends=True) if silent else []
    return f'    "{flavour}": {{\n{"".join(f"    {row}" for row in rows)}    }},\n'


def options_known(flavour: str) -> Iterator[str]:
    """The options of all versions and builds of a flavour."""
    from advisor.catalog import load
    from advisor.catalog.targets import BUILD_SERIES, SERIES
    from advisor.core.model import Target

    for patch in SERIES[flavour].values():
        yield from load(Target(flavour, patch)).options
    for build, series in BUILD_SERIES.items() if flavour == "mysql" else ():
        for patch in series.values():
            yield from load(Target(flavour, patch, build)).options


def _entry(name: str, options: list[str]) -> str:
    """The options of a module, several in a line."""
    listed = ", ".join(f'"{option}"' for option in options)
    if len(options) == 1:
        return f'    "{name}": ({listed},),\n'
    inside = textwrap.fill(f"{listed},", WIDTH - 4, initial_indent=" " * 8, subsequent_indent=" " * 8)
    return f'    "{name}": (\n{inside}\n    ),\n'


def _quiet_entry(name: str, rules: list[Rule]) -> str:
    """The quiet values of a module's options; empty if it has none."""
    values = {option: quiet for option in options_of(rules) if (quiet := quiet_values(rules, option)) is not None}
    rows = "".join(f'        "{option}": {_tuple(quiet)},\n' for option, quiet in values.items())
    return f'    "{name}": {{\n{rows}    }},\n' if rows else ""


def _tuple(values: QuietValues) -> str:
    words = [f'"{value}"' if isinstance(value, str) else str(value) for value in values]
    return f"({', '.join(words)}{',' if len(words) == 1 else ''})"


if __name__ == "__main__":
    sys.exit(main())
