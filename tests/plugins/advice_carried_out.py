"""Apply advice to a real server, as its reader would."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from advisor.core.model import Finding
    from probes.sandbox import Sandbox


def tried(sandbox: Sandbox, findings: dict[str, Finding]) -> list[str]:
    """Execute each statement of the advice, its undo, and the statement again; returns the statements."""
    actions = [action for finding in findings.values() for action in finding.actions]
    sent = [s for a in actions for s in (a.statement, a.undo, a.statement) if s is not None]
    with sandbox.connect() as connection, connection.cursor() as cursor:
        for statement in sent:
            cursor.execute(statement)
            cursor.execute("SHOW WARNINGS")
            assert [row for row in cursor.fetchall() if "truncated" in str(row).lower()] == [], statement
    return sent
