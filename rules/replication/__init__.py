"""Rules about replication, Galera and Group Replication; here, what they share: names, channels and positions."""

from __future__ import annotations

from advisor.verdict.number import parse_digits
from rules.core.advice import GROUP_REPLICATION_CHANNEL, advise, with_replica_stopped
from rules.durability import writes_binary_log

TYPE_CHECKING = False
if TYPE_CHECKING:
    from advisor.core.model import Action
    from advisor.facts.server import ApplierTimes
    from rules.core.context import RuleContext

WORKERS = ("replica_parallel_workers", "slave_parallel_workers")
ORDER = ("replica_preserve_commit_order", "slave_preserve_commit_order")
PARALLEL_BY = ("replica_parallel_type", "slave_parallel_type")
LOGS_UPDATES = ("log_replica_updates", "log_slave_updates")
APPLIED_POSITION, RECEIVED_POSITION = "relay_log_info_repository", "master_info_repository"
SEMI_SYNC = ("rpl_semi_sync_source", "rpl_semi_sync_master")
SAVED_EVERY = ("sync_source_info", "sync_master_info")


def explicit_name(context: RuleContext, names: tuple[str, ...]) -> str | None:
    """The name that is set, with preference for the name in a file; None if none is set."""
    chosen = [name for name in names if context.is_set(name)]
    return next((name for name in chosen if name in context.file_verdict.effective), chosen[0] if chosen else None)


def upper_value(context: RuleContext, names: tuple[str, ...]) -> str | None:
    """The value of a variable with several names, in upper case: the explicit one, else the one that the server has."""
    name = explicit_name(context, names)
    return context.text(name) if name else next((text for text in map(context.text, names) if text is not None), None)


def available_name(context: RuleContext, names: tuple[str, ...]) -> str:
    """The name that is set, else the first that the server has."""
    return explicit_name(context, names) or next((name for name in names if context.text(name) is not None), names[0])


def worker_count(context: RuleContext) -> int:
    """The number of parallel applier threads."""
    return parse_digits(upper_value(context, WORKERS)) or 0


def advise_first(context: RuleContext, names: tuple[str, ...], to: str, *, risk: str = "") -> Action | None:
    """The action for the first of these names that the target accepts."""
    return next(filter(None, (advise(context, name, to, risk=risk) for name in names)), None)


def advise_while_stopped(context: RuleContext, names: tuple[str, ...], to: str, *, risk: str = "") -> Action | None:
    """As `advise_first`, for a variable that the server refuses to change while the replica's threads run."""
    return with_replica_stopped(context, advise_first(context, names, to, risk=risk))


def replica_channels(context: RuleContext) -> list[dict[str, str]]:
    """The replication status of each channel, with column names that are the same in all versions.

    Names are lower case, without the words replica, slave, source and master, which differ between versions.
    """
    part = context.server.replication
    rows = [
        {_version_neutral_name(name): text or "" for name, text in row.items()}
        for row in (part.replica_rows if part else ())
    ]
    return [row for row in rows if not row.get("channel_name", "").startswith(GROUP_REPLICATION_CHANNEL)]


def _version_neutral_name(name: str) -> str:
    return "_".join(word for word in name.lower().split("_") if word not in {"replica", "slave", "source", "master"})


def channel_times(context: RuleContext, channel: dict[str, str]) -> ApplierTimes | None:
    """What the workers of a channel do; None if the server does not show it."""
    part, name = context.server.replication, channel.get("channel_name", "")
    return next((times for times in (part.applier_times if part else ()) if times.channel == name), None)


def channel_name(channel: dict[str, str]) -> str:
    """The channel's name, on MariaDB the connection's; empty for the default one."""
    return channel.get("channel_name") or channel.get("connection_name") or ""


def channel_suffix(channel: dict[str, str]) -> str:
    return f" of channel {name}" if (name := channel_name(channel)) else ""


def skips_by_gtid(context: RuleContext) -> bool:
    """Whether GTIDs let the replica skip what it has, at any position: by the file, or on all channels."""
    on, part = context.text("gtid_mode") == "ON", context.server.replication if context.has("server") else None
    rows = part.replica_rows if part else ()
    skipped = all(row.get("Auto_Position") == "1" or (on and row.get("Retrieved_Gtid_Set")) for row in rows)
    return bool(rows) and skipped if context.has("server") else on


def missing_confirmations(context: RuleContext, name: str) -> tuple[str, str] | None:
    """Why commits of a semi-synchronous source wait for none or too few replicas, and the help; None if all is well.

    `name` is the prefix of the plugin's variables. MariaDB waits for one replica, and for none that is not there with
    wait_no_slave = OFF, which MySQL shows by its status.
    """
    status, clients = (context.server.status.get(f"{name}_{what}", "") for what in ("status", "clients"))
    missed = (context.workload.delta(f"{name}_no_tx") or 0) if context.has("workload") else 0
    names = (f"{name}_wait_for_{word}_count" for word in ("replica", "slave"))
    counts = {count: context.number(count) for count in names}
    count, wanted = next(((count, number) for count, number in counts.items() if number), ("", 1))
    few = clients.isdigit() and int(clients) < wanted
    take = "takes" if clients == "1" else "take"
    some = "no replica takes part" if clients == "0" else f"only {clients} of {wanted} replicas {take} part"
    remedy = "find out why the replicas don't confirm, or switch it off"
    if few:
        remedy = "connect a replica that has it switched on too, or switch it off here"
        remedy += f", or lower {count}" if count and wanted > 1 else ""
    if status == "OFF":
        why = f" ({some})" if few and wanted > 1 else ""
        return f"{name}_enabled is ON, but {name}_status is OFF: commits wait for no replica{why}.", remedy
    if few and context.settings.on(f"{name}_wait_no_slave") is False:
        return f"{name}_enabled is ON, but {some}: commits wait for none.", remedy
    if few:
        return f"{name}_enabled is ON, but {some}: the next commit waits for the whole timeout.", remedy
    if missed:
        commits = f"{missed:,} commit{'s' if missed > 1 else ''}"
        return f"{commits} in the window without a replica's confirmation: {name}_timeout was exceeded.", remedy
    return None


def received_position_age(context: RuleContext) -> str:
    """How seldom MySQL saves the receiver's position, for the middle of a sentence; empty where that does no harm.

    That is so in a file, which is written at each event, and where GTIDs make the replica skip what it has.
    """
    events = parse_digits(upper_value(context, SAVED_EVERY))
    if context.text(RECEIVED_POSITION) == "FILE" or skips_by_gtid(context) or events == 1:
        return ""
    return f"every {events:,} events" if events else "when it stops"


def unfetched_changes(context: RuleContext) -> str:
    """Why the source does not send what a crash took from InnoDB again, as a sentence after a space; else empty.

    It sends everything beyond the replica's position or GTIDs, unless these survive the crash and the changes do not.
    """
    if context.text("gtid_mode") == "ON" and skips_by_gtid(context):
        logged = writes_binary_log(context) and not _leaves_updates_out(context)
        kept = " The replica's binary log may keep their GTIDs, and the source then does not send them again."
        return kept if logged else ""
    channels = replica_channels(context) if context.has("server") else []
    in_file = context.text(APPLIED_POSITION) == "FILE" or any(row.get("using_gtid") == "No" for row in channels)
    gone = " The replica's position, kept in a file, may be beyond them: the source does not send them again."
    return gone if in_file else ""


def _leaves_updates_out(context: RuleContext) -> bool:
    """Whether the replica's binary log lacks what it applies; in a file without the line since 8.0 it does not."""
    known = context.has("server") or explicit_name(context, LOGS_UPDATES) or not context.target.since("mysql", 8)
    return bool(known) and upper_value(context, LOGS_UPDATES) == "OFF"
