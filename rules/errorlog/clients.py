"""ERR: rules about refused and aborted connections, replication errors and lost majorities in the error log."""

from __future__ import annotations

from advisor.core.model import Confidence, Severity
from rules.core import Docs, rule
from rules.errorlog import at_least, event_finding, in_brackets, messages, recent_event
from rules.replication.stopped import SAME

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from advisor.core.model import Finding
    from rules.core.context import RuleContext

COMPARE_NODES = "compare the time with the other nodes' logs, the network, and stalls of disk and memory"
REBUILD_NODE = (
    "its data differ from those of the other nodes: find out which are right, then rebuild it by a full state transfer "
    "or a clone"
)
INCONSISTENT = "Inconsistency detected"  # as Galera logs it
BURST = 100  # messages within an hour
IDLE_LIMITS = "compare wait_timeout with the idle limits of pools, balancers and firewalls"
ABORTED_REMEDIES = (
    ("This connection closed normally", "find what connects without logging in: a health check, a balancer, a scan"),
    ("Got a packet bigger", "see which program sends such statements, and whether max_allowed_packet is too small"),
    ("Got packets out of order", "find the client in the error log: it does not speak the server's protocol"),
)


@rule(
    "ERR013",
    "too-many-connections-logged",
    needs=("server",),
    evidence=("ASK-ERR-12",),
    summary="Connections were refused because max_connections was reached.",
    docs=Docs(
        why="MariaDB logs Too many connections if log_warnings is 2 or more, but only for clients that it refuses "
        "while also the one additional connection for an administrator is in use; other refusals it neither logs nor "
        "counts in Connection_errors_max_connections, only in Aborted_connects. MySQL 5.7 and later do not log them. "
        "CON018 has the counter since the start; the log has the times, and those before the start.",
        fix="Limit the clients' pools so that their sum is below max_connections, and close idle connections.",
        risk="A higher max_connections needs memory for each session.",
        exceptions="A burst that will not recur.",
        reconsider_when="The pools have been limited since.",
    ),
)
def too_many_connections_logged(context: RuleContext) -> Iterator[Finding]:
    """Report refused connections in the error log."""
    event = recent_event(context, "connections")
    if event:
        yield event_finding(
            context,
            too_many_connections_logged,
            event,
            f"Connections were refused because max_connections was reached, {messages(event)}",
            "limit the clients' pools; see which clients hold connections at such times",
        )


@rule(
    "ERR014",
    "access-denied-burst",
    severity=Severity.NOTE,
    confidence=Confidence.LIKELY,
    needs=("server",),
    evidence=("ASK-ERR-12",),
    summary="A hundred logins or more failed within an hour.",
    docs=Docs(
        why="So many failures come from a program that retries with an old password, or from password guessing. The "
        "server logs them only with log_error_verbosity=3 (MySQL) or log_warnings of 2 or more (MariaDB). The "
        "threshold, a hundred an hour, is our choice.",
        fix="Find the host in the error log: correct the program, or block the host. MySQL's connection_control slows "
        "down password guessing; FAILED_LOGIN_ATTEMPTS (8.0.19 and later) and MariaDB's max_password_errors lock the "
        "account.",
        risk="FAILED_LOGIN_ATTEMPTS and max_password_errors also lock out the legitimate program: on MariaDB until "
        "FLUSH PRIVILEGES.",
        exceptions="Health checks without a valid account.",
        reconsider_when="The host is known and corrected.",
    ),
)
def access_denied_burst(context: RuleContext) -> Iterator[Finding]:
    """Report many failed logins within an hour."""
    event = recent_event(context, "denied")
    if event and event.peak >= BURST:
        yield event_finding(
            context,
            access_denied_burst,
            event,
            f"Logins failed {at_least(context)}{event.count:,} times, up to {event.peak:,} in an hour",
            "find the host in the error log: a program with an old password, or password guessing",
        )


@rule(
    "ERR015",
    "aborted-connections-burst",
    severity=Severity.NOTE,
    confidence=Confidence.LIKELY,
    needs=("server",),
    evidence=("ASK-ERR-12",),
    summary="A hundred connections or more were aborted within an hour.",
    docs=Docs(
        why="Got timeout reading: the session was idle beyond wait_timeout, or the network was lost. Recent versions "
        "of MySQL, such as 9.7, log sessions beyond wait_timeout as disconnected because of inactivity. Got an error "
        "reading: the client ended without closing, or a balancer or firewall cut the connection. This connection "
        "closed normally without authentication (MariaDB): the client never logged in. The brackets contain the most "
        "frequent reasons. The threshold, a hundred an hour, is our choice. MySQL logs them only with "
        "log_error_verbosity=3, MariaDB with log_warnings of 2 or more.",
        fix="Let pools close connections before wait_timeout and before the idle limit of the firewall; let programs "
        "close their connections. Let health checks log in.",
        risk="None.",
        exceptions="Programs that never close connections and cannot be changed.",
        reconsider_when="The pools were corrected.",
    ),
)
def aborted_connections_burst(context: RuleContext) -> Iterator[Finding]:
    """Report many aborted connections within an hour."""
    event = recent_event(context, "aborted")
    if event and event.peak >= BURST:
        yield event_finding(
            context,
            aborted_connections_burst,
            event,
            f"{at_least(context).capitalize()}{event.count:,} connections were aborted, up to {event.peak:,} in an hour"
            f"{in_brackets(event)}",
            _remedy_for_aborted(event.details[0] if event.details else ""),
        )


def _remedy_for_aborted(reason: str) -> str:
    """What to do about the most frequent reason."""
    return next((remedy for start, remedy in ABORTED_REMEDIES if reason.startswith(start)), IDLE_LIMITS)


DATA_DIFFER = frozenset({"1062", "1032"})
NOT_LET_IN = frozenset({"2026", "2054", "2058", "2059", "2061"})  # TLS, and authentication plugins
CLIENT_CODES = {str(logged): str(code) for logged, code in SAME.items()}  # MySQL 8.0 and later log some as 13114


def _replication_remedy(codes: tuple[str, ...]) -> str:
    """What to do about the errors of a replica, by their codes; without codes, about the most harmful."""
    if not codes or DATA_DIFFER.intersection(codes):
        return "after error 1062 or 1032 compare the tables with the source's; rebuild the replica if they differ"
    if "1045" in codes:
        return "check the account and password with which the replica connects to its source"
    if NOT_LET_IN.intersection(codes):
        return (
            "check TLS between replica and source (dates and CA of the certificates), and the authentication plugin of "
            "the replica's account: caching_sha2_password needs TLS, or the source's public key"
        )
    if "1236" in codes:
        return "read the message in the error log; if the source has purged the binary log, rebuild the replica"
    return "look for the messages in the error log, and check whether the replica runs now"


@rule(
    "ERR016",
    "replication-error-logged",
    severity=Severity.NOTE,
    needs=("server",),
    evidence=("ASK-ERR-13", "ASK-ERR-15", "ASK-ERR-19"),
    summary="The replica's threads logged errors.",
    docs=Docs(
        why="The brackets contain the error codes: 1062 and 1032 mean that the data differ from the source's, 1236 "
        "that the source could not send its binary log (often it has purged it; the message says why), 2026, 2059 and "
        "2061 that TLS or the authentication plugin fails. Lost connections are not counted. The REP rules report the "
        "present state; the log shows what happened before, including errors that were then skipped.",
        fix="After 1062 or 1032 compare the tables with the source's (pt-table-checksum), and rebuild the replica if "
        "they differ.",
        risk="Skipping an error hides a difference.",
        exceptions="Errors that were skipped on purpose, with the difference removed afterwards. Lock waits and "
        "deadlocks count only if the replica gave up. A Galera node that left as inconsistent is ERR017.",
        reconsider_when="The replica was rebuilt since.",
    ),
)
def replication_error_logged(context: RuleContext) -> Iterator[Finding]:
    """Report errors of the replica's threads."""
    event = recent_event(context, "replication")
    if event and not _is_of_cluster(context):
        codes = tuple(dict.fromkeys(CLIENT_CODES.get(code, code) for code in event.details))
        listed = f" (error{'s' if len(codes) > 1 else ''} {', '.join(codes)})" if codes else ""
        yield event_finding(
            context,
            replication_error_logged,
            event,
            f"The replica logged errors{listed}, {messages(event)}",
            _replication_remedy(codes),
        )


def _is_of_cluster(context: RuleContext) -> bool:
    """Whether the node of a Galera cluster left it as inconsistent, which ERR017 reports, and is no replica."""
    left, replication = recent_event(context, "majority"), context.server.replication
    is_replica = replication is not None and bool(replication.replica_rows)
    return left is not None and INCONSISTENT in left.details and not is_replica


@rule(
    "ERR017",
    "cluster-majority-lost",
    needs=("server",),
    evidence=("ASK-ERR-14", "ASK-ERR-22"),
    summary="The node was without the majority of its cluster, or was expelled.",
    docs=Docs(
        why="Without the majority a Galera node answers almost all statements with an error. A member of a "
        "replication group still reads, but lets writes wait, by default without an end "
        "(group_replication_unreachable_majority_timeout = 0). The cause is the network, a stopped node, or a node "
        "that did not answer for longer than the time-out: a swap storm, a stalled disk, a suspended virtual machine. "
        "A node whose data differ from those of the others leaves: Galera logs an inconsistency, Group Replication "
        "transactions that the group does not have.",
        fix="Compare the times with those in the logs of the other nodes, and with the network and the disks. Rebuild "
        "a node whose data differ.",
        risk="Longer time-outs delay the detection of real failures.",
        exceptions="Maintenance of the other nodes.",
        reconsider_when="The cause is known and removed.",
    ),
)
def cluster_majority_lost(context: RuleContext) -> Iterator[Finding]:
    """Report times without a majority."""
    event = recent_event(context, "majority")
    if event:
        yield event_finding(
            context,
            cluster_majority_lost,
            event,
            f"The node lost the majority of its cluster, was expelled or left{in_brackets(event)}, {messages(event)}",
            REBUILD_NODE if event.details else COMPARE_NODES,
        )
