"""REP: who may write to a replica."""

from __future__ import annotations

from typing import TYPE_CHECKING

from advisor.model import Action, Confidence, Severity
from rules.advice import advise, these, words
from rules.registry import Docs, rule
from rules.rep import channels
from rules.subject import of_variable

if TYPE_CHECKING:
    from collections.abc import Iterator

    from advisor.model import Finding
    from rules.known import Known

PLAIN, SUPER = "read_only", "super_read_only"


@rule(
    "REP017",
    "writable-replica",
    severity=Severity.NOTE,
    confidence=Confidence.LIKELY,
    summary="Clients or administrators may write to the replica, and what they write is on no other server.",
    options=(PLAIN, SUPER),
    evidence=("REPL-09", "ASK-REP-09"),
    docs=Docs(
        why="A row that was written to a replica alone stops replication when the source inserts the same key, and "
        "is lost, or blocks a failover, when the roles change. read_only stops ordinary accounts; replication goes on. "
        "Accounts with SUPER, or CONNECTION_ADMIN on MySQL 8.0 and later, still write; super_read_only of MySQL stops "
        "them too, and includes read_only. In an option file the rule goes by read_only = ON.",
        fix="Set super_read_only = ON on MySQL, read_only = ON on MariaDB.",
        risk="Applications and jobs that write to the replica get errors. Promoting the replica must switch it off.",
        exceptions="Replicas that take part in a ring, and those with databases of their own.",
        mind="Applications that are meant to write here.",
    ),
)
def writable_replica(known: Known) -> Iterator[Finding]:
    """A replica without read_only, or with read_only alone where super_read_only exists."""
    if known.has("server"):
        part = known.server.replication
        replica = bool(channels(known)) and not (part and part.galera)
    else:
        replica = known.switched(PLAIN) is True  # a file cannot tell more
    open_to = known.text(PLAIN), known.text(SUPER)
    if not replica or "OFF" not in open_to:
        return
    action = _closed(known)
    yield writable_replica.finding(
        "The server is a replica, but clients may write to it: read_only is OFF."
        if open_to[0] == "OFF"
        else f"read_only stops ordinary accounts only: super_read_only is OFF, so those with {_exempt(known)} write.",
        of_variable(known, PLAIN if open_to[0] == "OFF" or known.chosen(PLAIN) else SUPER),
        help=words(action),
        actions=these(action),
    )


def _exempt(known: Known) -> str:
    return "CONNECTION_ADMIN or SUPER" if known.target.since("mysql", 8) else "SUPER"


def _closed(known: Known) -> Action | None:
    """The wider of the two that the target has; undoing it restores both."""
    name = PLAIN if known.text(SUPER) is None else SUPER
    action = advise(known, name, "ON", risk="clients that write here get errors", watch="Com_insert")
    undone = action and action.undo and name == SUPER and known.text(PLAIN) == "OFF"
    return action._replace(undo=f"SET GLOBAL {PLAIN} = OFF;") if action and undone else action
