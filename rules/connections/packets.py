"""CON: rules about max_allowed_packet, for clients and for replicas."""

from __future__ import annotations

from advisor.core.model import Confidence, exact_size, format_size
from rules.core import MOST, Docs, rule
from rules.core.advice import advise, default_number, help_line, present
from rules.core.subject import variable_subject

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from advisor.core.model import Finding
    from rules.core.context import RuleContext

DUMPED = 1046528  # bytes: the longest INSERT that mysqldump and mariadb-dump write by default
OF_REPLICAS = ("replica_max_allowed_packet", "slave_max_allowed_packet")


@rule(
    "CON006",
    "packet-below-dump",
    summary="max_allowed_packet is too small to load a dump made with default settings.",
    options=("max_allowed_packet",),
    quiet={"max_allowed_packet": (DUMPED, MOST)},
    evidence=("CONA-04",),
    docs=Docs(
        why="mysqldump and mariadb-dump combine rows into statements of up to 1,046,528 bytes. A server whose "
        "max_allowed_packet is smaller closes the connection at such a statement: MariaDB 11.4 loaded a dump at "
        "1,046,528 bytes and refused it at 1,045,504.",
        fix="Remove the line, or write the default of this version.",
        risk="A client may send longer statements, and the server takes memory for one while it runs.",
        exceptions="Servers that are never loaded from a dump.",
        reconsider_when="Dumps that are made with a smaller net_buffer_length.",
    ),
)
def packet_below_dump(context: RuleContext) -> Iterator[Finding]:
    """Report max_allowed_packet below the length of the INSERT statements in a dump."""
    packet, usual = context.number("max_allowed_packet"), default_number(context, "max_allowed_packet")
    if packet and packet < DUMPED and context.is_set("max_allowed_packet"):
        risk = "memory for longer statements while they run; sessions that are open keep their limit"
        action = advise(context, "max_allowed_packet", usual, size=True, risk=risk) if usual else None
        yield packet_below_dump.finding(
            f"Statements may be {format_size(packet)} long, but mysqldump and mariadb-dump write them up to "
            f"{format_size(DUMPED)}: a dump with longer ones can't be loaded.",
            variable_subject(context, "max_allowed_packet"),
            help=help_line(action),
            actions=present(action),
        )


@rule(
    "CON007",
    "replica-packet-below-statements",
    confidence=Confidence.LIKELY,
    summary="The replica accepts smaller packets from its source than clients may send to the source.",
    options=OF_REPLICAS,
    evidence=("CONV-02", "CONA-28"),
    docs=Docs(
        why="A replica stops when an event of its source is larger than the replica's own limit. That limit was "
        "lowered below max_allowed_packet, so a row or statement that clients may send can stop replication. By "
        "default the limit is 1G, which is also the highest.",
        fix="Remove the line.",
        risk="A large event takes as much memory while it is applied.",
        exceptions="Sources whose max_allowed_packet is less than half of this limit: the event of an UPDATE holds "
        "the old row and the new one.",
        reconsider_when="A server that is never a replica.",
    ),
)
def replica_packet_below_statements(context: RuleContext) -> Iterator[Finding]:
    """Report a packet limit for replicas that is below max_allowed_packet."""
    packet = context.number("max_allowed_packet")
    for name in OF_REPLICAS:
        taken = context.number(name)
        if packet and taken and taken < packet and context.is_set(name):
            usual = default_number(context, name)
            risk = "memory for large events while they are applied"
            action = advise(context, name, usual, size=True, risk=risk) if usual else None
            yield replica_packet_below_statements.finding(
                f"As a replica the server accepts events of up to {exact_size(taken)}, but clients may write "
                f"{exact_size(packet)} at once: a larger event stops replication.",
                variable_subject(context, name),
                help=help_line(action),
                actions=present(action),
            )
            return
