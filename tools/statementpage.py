"""Write docs/statements.md from the closed list; --check reports whether it is current (exit 1 if not).

usage: statementpage.py [--check]
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING

from clidoc import TOP, keep

if TYPE_CHECKING:
    from advisor.collect.connection.statement import Statement

ALL = "all"  # the word in the list
PAGE = os.path.join(TOP, "docs", "statements.md")
INTRO = """# Every statement that mycnf can send

Made from the closed list itself by `make docs`; `mycnf audit --list-statements` prints it.

One function sends, and it refuses what isn't word for word on this list before a byte leaves.
Beneath it the driver's connection refuses the same, whatever calls it, and every other command of the protocol:
the login and the goodbye are all that leaves besides.
`{number}` stands for digits and `{name}` for the name of a schema in hexadecimal; nothing else varies.
Ours carry the tag `/* mycnf */`, so that a server's own logs show them; what the driver sends by itself is marked.

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
    sys.path.insert(0, TOP)
    from advisor.collect.connection.connect import DEFAULT_LIMITS
    from advisor.collect.connection.statements import STATEMENTS

    intro = INTRO.replace("{number}", "{{number}}").replace("{name}", "{{name}}").format(**DEFAULT_LIMITS._asdict())
    page = "\n".join([intro, *(part for statement in STATEMENTS for part in _described(statement))])
    return keep(page, PAGE, "docs/statements.md is not what the list says: make docs")


def _described(statement: Statement) -> Iterator[str]:
    yield f"## {statement.name}\n"
    yield f"```sql\n{statement.text()}\n```\n"
    servers = "every server" if statement.servers == ALL else statement.servers
    about = [f"For {servers}.", f"Needs {statement.needs}." if statement.needs else "Needs no privilege."]
    about += ["Sent by the driver."] if statement.driver else []
    yield f"{statement.why[0].upper()}{statement.why[1:]}.\n{' '.join(about)}\n"


if __name__ == "__main__":
    sys.exit(main())
