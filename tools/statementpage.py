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

Made from the closed list itself by `make docs`; `mycnf audit --list-statements` prints it.

One function sends, and it refuses what isn't word for word on this list before a byte leaves.
Beneath it the driver's connection refuses the same for any caller, and every other command of the protocol:
the login and the goodbye are all that leaves besides.
`{number}` stands for digits and `{name}` for the name of a schema in hexadecimal; nothing else varies.
Ours carry the tag `/* mycnf */`, so that a server's own logs show them; what the driver itself sends is marked.

- **No transaction is left open.** Each session has autocommit on and is read-only. Between two statements it has no
  transaction, no read view and no metadata lock, so neither purge nor DDL waits for it.
- **At the server** a session of ours bounds itself before it asks anything: {statement} s for a statement (on MySQL for
  SELECT alone, since it doesn't bound SHOW), 2 s of waiting for a lock.
- **At the client** connecting takes {connect:g} s at most, silence {read:g} s, an answer {answer:g} s, and all answers
  of an audit together {whole:g} s.
- **A statement of ours that overran** is killed from a second connection, which first looks whether it is ours:
  `own-running`, then `kill-own`. Where that can't be seen, nothing is killed.
- **No file of this host is sent.** `LOAD DATA LOCAL` is off at our end, and a server that asks for a file all the same
  is given up.
- **No grant is a must.** Without one its part of the report is left out, with the reason and the `GRANT` for it;
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
