"""REP: rules about the connection of a replica to its source, its timeouts and retries, and about idle appliers."""

from __future__ import annotations

from advisor.core.model import Confidence, Severity, exact_duration
from rules.core import Docs, Span, rule
from rules.core.advice import advise, help_line, present, quote_channel, replica_statement, source_keyword
from rules.core.network import is_loopback
from rules.core.subject import variable_subject
from rules.replication import (
    advise_first,
    advise_while_stopped,
    channel_name,
    channel_suffix,
    explicit_name,
    replica_channels,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from advisor.core.model import Finding
    from rules.core.context import RuleContext

RETRIES = ("replica_transaction_retries", "slave_transaction_retries")
NET_TIMEOUT = ("replica_net_timeout", "slave_net_timeout")
MODE, THREADS = "slave_parallel_mode", "slave_parallel_threads"
HEARTBEAT = "lower the heartbeat period too: with the old one a quiet source makes the replica reconnect every minute"
HOUR = 3600  # seconds; sixty times the default


@rule(
    "REP021",
    "unretried-replica-transactions",
    confidence=Confidence.LIKELY,
    summary="The replica stops at the first deadlock or lock wait timeout instead of retrying.",
    options=RETRIES,
    evidence=("ASK-REP-06",),
    docs=Docs(
        why="An applier that waits too long for a row's lock, held by a reader's transaction or by another applier, is "
        "rolled back and tries again, ten times by default. With 0 it stops with error 1205, and stays stopped when "
        "the lock is gone. MariaDB's parallel appliers conflict with each other in the mode optimistic, the default: "
        "with 0 the first conflict stops replication with error 1213.",
        fix="Remove the line.",
        risk="A transaction that cannot succeed is retried ten times before replication stops.",
        exceptions="None known.",
        reconsider_when="A replica that is never read from and applies with one thread.",
    ),
)
def unretried_replica_transactions(context: RuleContext) -> Iterator[Finding]:
    """Report an explicitly configured replica_transaction_retries = 0."""
    name = explicit_name(context, RETRIES)
    if name and context.number(name) == 0:
        action = advise_first(context, RETRIES, "10", risk="a transaction that cannot succeed is retried ten times")
        yield unretried_replica_transactions.finding(
            "The replica stops at the first deadlock or lock wait, and stays stopped when the lock is gone.",
            variable_subject(context, name),
            help=help_line(action),
            actions=present(action),
        )


@rule(
    "REP022",
    "slow-to-miss-its-source",
    severity=Severity.NOTE,
    confidence=Confidence.OPINION,
    summary="The replica waits for an hour or longer on a connection that is dead.",
    options=NET_TIMEOUT,
    evidence=("REPL-12", "ASK-REP-31"),
    docs=Docs(
        why="A connection that broke silently, as behind a firewall, looks to the replica like a source without "
        "changes. It reconnects only after this time, and until then shows no lag. The system's TCP keepalive may "
        "notice it first, by default of Linux after two hours and eleven minutes. Both vendors set the default to a "
        "minute; that an hour is too long is our opinion.",
        fix="Set 60. Then, with the replica stopped, lower its heartbeat period to 30 seconds with CHANGE REPLICATION "
        "SOURCE TO (CHANGE MASTER TO): the server had set it to half of the old value, and keeps it across restarts.",
        risk="With the old heartbeat period a quiet source makes the replica reconnect every minute.",
        exceptions="Hosts whose TCP keepalive is shorter (tcp_keepalive_time). A shorter heartbeat period is none: a "
        "dead connection brings no heartbeats, and the replica still waits for the whole time.",
        reconsider_when="A replica that noticed a lost source at once.",
    ),
)
def slow_to_miss_its_source(context: RuleContext) -> Iterator[Finding]:
    """Report an explicitly configured replica_net_timeout of an hour or more."""
    name = explicit_name(context, NET_TIMEOUT)
    seconds = context.number(name) if name else None
    if name and seconds is not None and seconds >= HOUR:
        action = next((a for a in (advise(context, n, 60, live=False, risk=HEARTBEAT) for n in NET_TIMEOUT) if a), None)
        yield slow_to_miss_its_source.finding(
            f"The replica may notice a silently lost connection to its source only after {exact_duration(seconds)}.",
            variable_subject(context, name),
            help=f"{help_line(action)}{_heartbeat_help(context)}",
            actions=present(action),
        )


def _heartbeat_help(context: RuleContext) -> str:
    """What follows the new timeout, after ", then": the shorter heartbeat of each channel; empty without a channel."""
    if not context.has("server") or context.server.replication is None:
        return f", then {_heartbeat_statements(context, {}, several=False)}"
    channels = replica_channels(context)
    statements = " ".join(_heartbeat_statements(context, channel, several=len(channels) > 1) for channel in channels)
    return f", then {statements}" if statements else ""


def _heartbeat_statements(context: RuleContext, channel: dict[str, str], *, several: bool) -> str:
    """The statements that shorten the heartbeat of one channel."""
    return _change_statements(context, channel, "HEARTBEAT_PERIOD = 30", several=several)


def _change_statements(context: RuleContext, channel: dict[str, str], setting: str, *, several: bool) -> str:
    """The statements that change how one channel connects; a channel that does not run stays stopped."""
    source = source_keyword(context)
    change = "REPLICATION SOURCE" if source == "SOURCE" else source
    name = quote_channel(channel_name(channel)) or (" ''" if several else "")
    before, after = (name, "") if context.target.is_mariadb else ("", f" FOR CHANNEL{name}" if name else "")
    statement = f"CHANGE {change}{before} TO {source}_{setting}{after};"
    running = [kind for kind in ("io", "sql") if channel.get(f"{kind}_running") != "No"]
    if not running:
        return statement
    thread = f" {running[0].upper()}_THREAD" if len(running) == 1 else ""
    stop, start = (
        replica_statement(context, verb, channel_name(channel), what, several=several)
        for verb, what in (("STOP", ""), ("START", thread))
    )
    return f"{stop}; {statement} {start};"


@rule(
    "REP023",
    "parallel-threads-without-work",
    severity=Severity.NOTE,
    summary="Parallel applier threads are configured, but the mode does not use them.",
    targets=(Span("mariadb"),),
    options=(MODE, THREADS),
    evidence=("ASK-REP-07", "REPL-13"),
    docs=Docs(
        why="With slave_parallel_mode = none one thread applies everything, however many slave_parallel_threads wait.",
        fix="With the replica stopped, set the mode to optimistic, the default, or the threads to 0.",
        risk="In optimistic mode, conflicting transactions are rolled back and retried.",
        exceptions="Replicas with several sources, some of which have their own mode.",
        reconsider_when="More than one busy applier thread.",
    ),
)
def parallel_threads_without_work(context: RuleContext) -> Iterator[Finding]:
    """Report slave_parallel_threads with slave_parallel_mode = none."""
    threads = context.number(THREADS)
    if threads and context.is_set(THREADS) and context.is_set(MODE) and context.text(MODE) == "NONE":
        action = advise_while_stopped(context, (MODE,), "optimistic")
        yield parallel_threads_without_work.finding(
            f"{THREADS} = {threads:,}, but with {MODE} = none a single thread applies everything.",
            variable_subject(context, MODE),
            help=help_line(action),
            actions=present(action),
        )


@rule(
    "REP031",
    "replication-without-tls",
    severity=Severity.NOTE,
    confidence=Confidence.OPINION,
    summary="The replica fetches changes from another host without TLS.",
    needs=("server",),
    evidence=("ASK-REP-27", "REPL-19"),
    docs=Docs(
        why="All changed rows cross the network in clear text, and with CREATE USER the hashes of passwords. An "
        "attacker on the path can also change them. MySQL 8.0.15 and MariaDB 10.11 replicate without TLS by default, "
        "MySQL 9.7 and MariaDB 11.4 with it.",
        fix="Make sure that the source offers TLS (Ssl_cipher in SHOW STATUS of a session from the replica's host), "
        "then CHANGE REPLICATION SOURCE TO SOURCE_SSL = 1 (CHANGE MASTER TO MASTER_SSL = 1). With SOURCE_SSL_CA and "
        "SOURCE_SSL_VERIFY_SERVER_CERT the replica also checks whose certificate it is.",
        risk="If the source offers no TLS, a replica of MySQL, or of MariaDB 11.4 and later, cannot connect until the "
        "setting is 0 again. Encryption costs processor time.",
        exceptions="Networks that are encrypted at a lower layer, or that no other host shares. Channels to the "
        "server's own host, and those of group replication, are not reported. MASTER_SSL = 1 is no proof: a replica of "
        "MariaDB 10.11 connected without TLS to a source that offered none.",
        reconsider_when="A tunnel or a private network between the two servers.",
        disagree="CIS asks for TLS on all replication traffic.",
    ),
)
def replication_without_tls(context: RuleContext) -> Iterator[Finding]:
    """Report channels to other hosts on which the replica does not use TLS."""
    channels = replica_channels(context)
    for channel in channels:
        host = channel.get("host", "").lower()
        if channel.get("ssl_allowed") != "No" or not host or is_loopback(host):
            continue
        statements = _change_statements(context, channel, "SSL = 1", several=len(channels) > 1)
        yield replication_without_tls.finding(
            f"The replica fetches changes{channel_suffix(channel)} from another host without TLS: rows cross the "
            "network in clear text.",
            help=f"make sure that the source offers TLS, then {statements}",
        )
