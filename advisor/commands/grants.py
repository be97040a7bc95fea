"""`mycnf grants`: the least-privileged account for an audit, as statements with their reasons."""

from __future__ import annotations

import secrets
from typing import TYPE_CHECKING

from advisor.catalog.targets import parse_target, stand_in_note
from advisor.collect.privileges import grants_for, schema_grants_for
from advisor.core import errors
from advisor.core.errors import print_notice

if TYPE_CHECKING:
    import argparse

    from advisor.core.model import Target

ACCOUNT = "'mycnf'@'localhost'"
_EVERY_KIND = "_aA1"  # validate_password requires one character of each kind
_OPTIONAL = "Optional, therefore a comment: {why}.\n-- {gives}"


def run(args: argparse.Namespace) -> int:
    """Print the statements for the target's account, with a newly generated password."""
    password = secrets.token_urlsafe(18) + _EVERY_KIND
    target = parse_target(args.target)
    if sentence := stand_in_note(target):
        print_notice(sentence)
    from advisor.report.output import write

    write(statements(target, password, schema=args.schema), None)
    return errors.OK


def statements(target: Target, password: str, *, schema: bool = False) -> str:
    """Return CREATE USER and GRANT for a target, one statement per line, each below a comment with the reason."""
    lines = [
        f"-- The account that mycnf needs on {target.label}: it can read settings and counters, but change nothing.",
        "-- Without one of the grants an audit still runs, and reports what it skipped.",
        "",
        "-- The password was generated just now and is not saved. Store it in an option file with mode 0600:",
        "--   [mycnf]",
        "--   user = mycnf",
        f"--   password = {password}",
        *_without_password(target),
        "-- At most four connections: two for the app, one for mycnf sample, one that kills statements that overrun.",
        f"CREATE USER {ACCOUNT} IDENTIFIED BY '{password}' WITH MAX_USER_CONNECTIONS 4;",
    ]
    for grant in (*grants_for(target), *(schema_grants_for(target) if schema else ())):
        off, why = "", grant.why
        if grant.optional:
            off, why = "-- ", _OPTIONAL.format(why=grant.why, gives=grant.gives)
        lines += ["", f"-- {why}", off + grant.statement(ACCOUNT)]
    return "\n".join(lines) + "\n"


def _without_password(target: Target) -> list[str]:
    if not target.is_mariadb:
        return []
    return ["-- Or without a password: IDENTIFIED VIA unix_socket lets only the system user mycnf connect, by socket."]
