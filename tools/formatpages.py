"""Write the tables of docs/formats.md from the registry of formats.

usage: formatpages.py [--check]

A table is between `<!-- made: NAME -->` and `<!-- end -->`; --check reports whether all are current (exit 1 if not).
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterable, Iterator

from clidoc import TOP, keep

PAGE = os.path.join(TOP, "docs", "formats.md")
TABLE = re.compile(r"(<!-- made: (?P<name>[a-z]+) -->\n).*?(<!-- end -->\n)", re.DOTALL)


def main() -> int:
    """Write or check the page."""
    sys.path.insert(0, TOP)
    with open(PAGE, encoding="utf-8") as file:
        page = TABLE.sub(lambda found: f"{found[1]}{_table(found['name'])}{found[3]}", file.read())
    return keep(page, PAGE, "docs/formats.md is not what the registry of formats says: make docs")


def _table(name: str) -> str:
    from advisor.report.findings_csv import AUDIT, BROKEN, FINDING, LINT
    from advisor.report.formats import formats_of

    if name == "lint":
        rows = ((f"`{form.name}`", form.use, form.finding) for form in formats_of("lint"))
        return _rows(("format", "for", "per finding"), rows)
    if name == "audit":
        return _rows(("format", "for"), ((f"`{form.name}`", form.use) for form in formats_of("report")))
    if name == "commands":
        return _rows(("command", "formats"), _commands())
    columns = ((LINT, "lint"), (AUDIT, "audit, report"), (FINDING, "all"), (BROKEN, "audit, report"))
    rows = ((f"`{column}`", of, words) for part, of in columns for column, words in part.items())
    return _rows(("column", "of", "holds"), rows)


def _commands() -> Iterator[tuple[str, str]]:
    from advisor.cli.parser import COMMANDS
    from advisor.report.formats import names

    for command in COMMANDS:
        if names(command):
            yield f"`{command}`", ", ".join(f"`{name}`" for name in names(command))


def _rows(heads: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    lines = [f"| {' | '.join(heads)} |", f"|{'---|' * len(heads)}", *(f"| {' | '.join(cells)} |" for cells in rows)]
    return "".join(f"{line}\n" for line in lines)


if __name__ == "__main__":
    sys.exit(main())
