"""Write docs/statements.md from the closed list; --check reports whether it is current (exit 1 if not).

usage: statementpage.py [--check]
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from clidoc import TOP, keep

if TYPE_CHECKING:
    from advisor.collect.connection.statement import Statement

ALL = "all"  # the word in the list
PAGE = os.path.join(TOP, "docs", "statements.md")
COSTS = os.path.join(TOP, "docs", "experiments", "statement-cost.json")
LEAST_MS = 1.0  # milliseconds; a statement that takes less everywhere has no row
INTRO = """# Every statement that mycnf can send

Generated from the list in the code by `make docs`; `mycnf audit --list-statements` prints it.

A single function sends statements. It refuses any text that is not on this list, word for word, before a byte is sent.
The connection beneath it refuses such texts too, and every other command of the protocol: besides these statements,
only the login and the end of the connection are sent.
`{number}` stands for digits and `{name}` for the name of a schema in hexadecimal; nothing else varies.
Statements have the tag `/* mycnf */`, so that the server's logs identify them, except those of the driver, which are
marked here.

- **No transaction is left open.** Each session has autocommit on and is read-only. Between two statements it has no
  transaction, no read view and no metadata lock, so neither purge nor DDL waits for it.
- **Limits at the server**, which each session sets before it reads anything: {statement} s for a statement (on MySQL
  only for SELECT, since it does not limit SHOW), 2 s of waiting for a metadata lock.
- **Limits at the client**: {connect:g} s to connect, {read:g} s of silence, {answer:g} s for an answer, and {whole:g} s
  for all answers of an audit together.
- **A statement that exceeds the client's limits** is killed from a second connection, which first checks that it is
  mycnf's own: `own-running`, then `kill-own`. If that connection does not see it, nothing is killed.
- **No file of this host is sent.** The client does not allow `LOAD DATA LOCAL`. If a server asks for a file anyway,
  mycnf closes the connection.
- **No privilege is required.** Without one, its part of the report is left out, with the reason and the `GRANT` for it;
  `mycnf grants --target T` prints the whole account.
"""


def main() -> int:
    """Write or check the page."""
    return keep(_page(), PAGE, "docs/statements.md is not what the list says: make docs")


def kept_costs() -> dict[str, dict[str, Any]]:
    """What tools/figures/statementcost.py measured, by server; empty without a measurement."""
    if not os.path.exists(COSTS):
        return {}
    with open(COSTS, encoding="utf-8") as file:
        costs: dict[str, dict[str, Any]] = json.load(file)
    return costs


def _page() -> str:
    sys.path.insert(0, TOP)
    from advisor.collect.connection.connect import DEFAULT_LIMITS
    from advisor.collect.connection.statements import STATEMENTS

    intro = INTRO.replace("{number}", "{{number}}").replace("{name}", "{{name}}").format(**DEFAULT_LIMITS._asdict())
    names = [statement.name for statement in STATEMENTS]
    described = (part for statement in STATEMENTS for part in _statement_lines(statement))
    return "\n".join([intro, *_cost_table(names, kept_costs()), *described])


def _cost_table(names: list[str], costs: dict[str, dict[str, Any]]) -> Iterator[str]:
    """What each statement costs a large server, with a column for each server that was measured."""
    if not costs:
        return
    sizes = next(iter(costs.values()))
    yield "## What they cost a large server\n"
    yield f"Milliseconds of the server's processor time, the median of {sizes['rounds']} audits with --schema and the"
    yield f"maximum in brackets, on servers with {sizes['tables']:,} tables, {sizes['accounts']:,} accounts and"
    yield f"{sizes['sessions']:,} sessions; {sizes['transactions']} more have a transaction open and {sizes['waits']}"
    yield "wait for a row. The time is that of the thread that executes the statement, which other work on the machine"
    yield "hardly changes."
    yield "Statements that take less than a millisecond on every server are left out.\n"
    yield "```console\n$ python tools/figures/statementcost.py --write\n```\n"
    yield f"| statement | {' | '.join(costs)} |"
    yield f"|:--|{'--:|' * len(costs)}"
    for name in names:
        rows = [one["cpu_ms_median_and_maximum"].get(name) for one in costs.values()]
        if any(row and row[1] >= LEAST_MS for row in rows):
            yield f"| [{name}](#{name.replace('.', '')}) | {' | '.join(map(_cell, rows))} |"
    measured = ", ".join(f"{server} on {one['date']}" for server, one in costs.items())
    yield f"\nMeasured: {measured}.\n"


def _cell(row: list[float] | None) -> str:
    return f"{row[0]:.1f} ({row[1]:.1f})" if row else "-"


def _statement_lines(statement: Statement) -> Iterator[str]:
    yield f"## {statement.name}\n"
    yield f"```sql\n{statement.text()}\n```\n"
    servers = "every server" if statement.servers == ALL else statement.servers
    about = [f"For {servers}.", f"Needs {statement.needs}." if statement.needs else "Needs no privilege."]
    about += ["Sent by the driver."] if statement.driver else []
    yield f"{statement.why[0].upper()}{statement.why[1:]}.\n{' '.join(about)}\n"


if __name__ == "__main__":
    sys.exit(main())
