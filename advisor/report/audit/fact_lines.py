"""The facts of an audit in a line each: role, host, memory, storage, workload and busiest hours."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from advisor.core.model import format_duration, format_size
from advisor.report import plural
from rules.core.counters import window_text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from advisor.analysis.audited import AuditResult
    from advisor.facts import Facts, Host, Server, Workload
    from advisor.facts.server import Replication
    from advisor.facts.storage import BlockDevice, Storage
    from rules.core.context import RuleContext

DIGITS = 20  # of the largest number that a server holds
READS = ("com_select",)
WRITES = ("com_insert", "com_update", "com_delete", "com_replace")
PORT = "3306"
THREADS = {"receiver": "io_running", "applier": "sql_running"}  # of a channel, by the column of its state
MOST_CHANNELS = 3  # in the line about the server's role; the others are counted


def rows(audited: AuditResult) -> list[tuple[str, str]]:
    """Role in replication, host, memory, storage, workload and busiest hours, each with its words as they came."""
    facts, host = audited.facts, audited.facts.host
    pairs = [
        ("Role", role(audited)),
        ("Host", _host(facts)),
        ("Memory", _memory(audited, host)),
        ("Storage", _storage(host) + latency(audited)),
        ("Workload", _workload(facts)),
        ("Sampled", _sampled_line(facts)),
    ]
    return [(name, text) for name, text in pairs if text]


def role(audited: AuditResult) -> str:
    """`replica of db1: lag 3 s · source of 2 replicas`; empty without replication, or where it was not read."""
    part = audited.facts.server.replication
    return " · ".join(_roles(audited.context, part)) if part else ""


def _roles(context: RuleContext, part: Replication) -> Iterator[str]:
    channels = sorted(channel_states(context), key=lambda channel: not channel.bad)
    yield from (channel.words for channel in channels[:MOST_CHANNELS])
    if len(channels) > MOST_CHANNELS:
        yield f"{plural(len(channels) - MOST_CHANNELS, 'more channel')}"
    if part.replicas_connected:
        yield f"source of {plural(part.replicas_connected, 'replica')}"
    if part.group_members:
        own = next((member for member in part.members or () if member.own), None)
        state = f": this server {own.state}{f', {own.role}' if own.role else ''}" if own else ""
        yield f"member of a replication group of {part.group_members}{state}"
    node = galera_state(context)
    if node is not None:
        yield node[0]
    elif part.galera:
        yield "node of a Galera cluster"


class ChannelState(NamedTuple):
    """The source of a replication channel with its lag or what does not run; `bad` needs attention."""

    words: str
    bad: bool


def channel_states(context: RuleContext) -> Iterator[ChannelState]:
    """Each replication channel of a replica: `replica of db1: lag 3 s`."""
    from rules.replication import channel_suffix, replica_channels
    from rules.replication.lag import LAGGING, channel_lag, lag_trend

    for channel in replica_channels(context):
        lag = channel_lag(context, channel)
        states = {name: channel.get(column, "") for name, column in THREADS.items()}
        broken = [f"{name} {'not running' if state in ('', 'No') else state}" for name, state in states.items()]
        broken = [text for text, state in zip(broken, states.values(), strict=True) if state != "Yes"]
        trend = lag_trend(context, channel) if lag else None
        change = "" if trend is None or abs(trend.grew) <= 1 else f" ({trend.grew:+,} s in {trend.window:.0f} s)"
        behind = "lag unknown" if lag is None else f"lag {format_duration(lag)}{change}"
        source = f"replica of {source_address(channel)}" if channel.get("host") else "replica"
        words = f"{source}{channel_suffix(channel)}: {', '.join([*broken, behind])}"
        yield ChannelState(words, bool(broken) or lag is None or lag >= LAGGING)


def source_address(channel: dict[str, str]) -> str:
    """The host of a channel's source, with the port if it is not 3306; empty if there is none."""
    host, port = channel.get("host", ""), channel.get("port", "")
    if not host or port in ("", "0", PORT):
        return host
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def galera_state(context: RuleContext) -> tuple[str, bool] | None:
    """The state of a Galera node and its cluster, from its status counters, and whether it is good."""
    from rules.replication.galera import SIZE, STATUS, is_node

    if not is_node(context):
        return None
    status = context.server.status
    size, own = status.get(SIZE, ""), status.get("wsrep_local_state_comment", "unknown")
    words = f"Galera cluster{f' of {size} nodes' if size else ''}: {status[STATUS]}, this node {own}"
    return words, status[STATUS].upper() == "PRIMARY" and own == "Synced"


def _host(facts: Facts) -> str:
    host = facts.host
    if host is None:
        return f"not read: {facts.reason_missing('host')}"
    cpu = host.cpu
    if cpu is None:
        return "processors unknown"
    parts = [plural(cpu.cores, "core")]
    parts += [plural(cpu.sockets, "socket")] if cpu.sockets else []
    parts += [f"{len(cpu.nodes)} NUMA nodes"] if len(cpu.nodes) > 1 else []
    caches = [f"{c.name} {format_size(c.size)}" for c in cpu.caches if c.level > 1]
    under = f" · under {cpu.hypervisor.vendor}" if cpu.hypervisor and cpu.hypervisor.vendor else ""
    return ", ".join(parts) + (f" · {', '.join(caches)}" if caches else "") + under


def _group_limit(host: Host) -> str:
    from rules.core.network import is_group_hidden

    limit = host.memory_limits.get("the control group")
    if limit:
        return f", cgroup limit {format_size(limit)}"
    return ", cgroup limit unknown" if is_group_hidden(host) else ", no cgroup limit"


def _memory(audited: AuditResult, host: Host | None) -> str:
    from rules.sizing.memory import memory_budget

    parts = []
    if host and host.memory:
        parts.append(format_size(host.memory.total) + _group_limit(host))
    estimate = memory_budget(audited.context)
    if estimate:
        parts.append(f"server: {estimate.sentence}")
    return " · ".join(parts)


class MemoryLayers(NamedTuple):
    """The server's memory in bytes, one part on top of the other; all figures are those of `memory_budget`.

    `pool` is the configured size of the buffer pool, `other` all other shared memory of an idle server, `sessions` is
    expected at the peak of connections. `ceiling` is the total that no server reaches: each connection with each of its
    buffers. `measured` is None if nothing was measured.
    """

    pool: int
    other: int
    sessions: int
    ceiling: int
    measured: int | None

    @property
    def likely_total(self) -> int:
        """The pool, the other shared memory and the sessions."""
        return self.pool + self.other + self.sessions


def memory_layers(audited: AuditResult) -> MemoryLayers | None:
    """The memory of the server by layers; None if a size is unknown."""
    from rules.sizing import memory

    context = audited.context
    budget, pool = memory.memory_budget(context), context.number(memory.POOL)
    if budget is None or pool is None:
        return None
    resting = memory.memory_at_rest(context) + memory.shared_buffers_in_use(context)
    sessions = max(0, memory.expected_memory(context) - resting)
    return MemoryLayers(pool, max(0, resting - pool), sessions, budget.ceiling, budget.measured)


def _storage(host: Host | None) -> str:
    storage: Storage | None = host.storage if host else None
    if storage is None or not storage.path:
        return ""
    return " ← ".join(chain(storage)) + (f" · {storage.untraced}" if storage.untraced else "")


def chain(storage: Storage) -> list[str]:
    """The path with its file system, then each layer down to the disks."""
    options = [o for o in storage.mount.options if o in {"noatime", "nobarrier", "barrier=0", "data=writeback", "sync"}]
    return [f"{storage.path}  {' '.join([storage.mount.fs_type, *options])}", *_layers(storage)]


def latency(audited: AuditResult) -> str:
    """What one random read takes, where that was measured past the page cache: what disks say may be wrong."""
    if not audited.context.has("probes"):
        return ""
    from advisor.core.model import format_latency
    from rules.core.storage import DIRECT
    from rules.measured.apply import measured_fact

    measurement = measured_fact(audited.context, "random-read", "one_read")
    if measurement is None or measurement[1].parameters.get("open") != DIRECT:
        return ""
    return f" · a random read takes {format_latency(measurement[0])} (probe of {measurement[1].day})"


def _layers(storage: Storage) -> Iterator[str]:
    disks = storage.disks
    for device in storage.devices:
        if device not in disks:
            yield layer(device, storage)
    if len(disks) == 1:
        yield f"{disks[0].name} ({disk(disks[0])})"
    elif disks:
        yield f"{len(disks)} disks ({disk(disks[0])})"


def layer(device: BlockDevice, storage: Storage) -> str:
    """A device above the disks: its name, and the geometry of an array or the stripe."""
    if device.raid:
        chunk = f", chunk {format_size(device.raid.chunk)}" if device.raid.chunk else ""
        return f"{device.name} {device.raid.level.upper()}, {device.raid.disks} disks{chunk}"
    stripe = storage.stripe
    return device.name + (
        f" (stripe {format_size(stripe.size)})" if stripe and stripe.device == device.kernel_name else ""
    )


def disk(device: BlockDevice) -> str:
    """What a disk reports: kind, size, scheduler, and whether it turns."""
    kind, turns = device.transport or device.type, device.rotational
    spins = "" if turns is None else "reported as rotational" if turns else "reported as not rotational"
    return ", ".join(
        x for x in (kind, format_size(device.size) if device.size else "", device.scheduler or "", spins) if x
    )


def _workload(facts: Facts) -> str:
    work = facts.workload
    if work is None:
        return f"not sampled: {facts.reason_missing('workload')}"
    reads, writes = _sum(work, READS), _sum(work, WRITES)
    share = f"{100 * reads / (reads + writes):.0f} % reads" if reads + writes else "no reads or writes"
    redo = f"{format_size(work.redo_rate)}/s redo" if work.redo_rate is not None else "redo unknown"
    disk = work.rate("innodb_buffer_pool_reads") or 0.0
    return (
        f"{work.rate('questions') or 0:,.0f} q/s · {share} · {disk:,.0f} pages/s from disk · {redo} · "
        + _connections(facts.server)
    )


def _sampled_line(facts: Facts) -> str:
    """The busiest hours that mycnf sample kept, where it did."""
    if facts.sampled is None or not facts.sampled.hours:
        return ""
    from advisor.report.history import figures
    from rules.core.counters import hour_text

    hours = (f"most {hour.of} {hour_text(hour)}: {figures(hour)}" for hour in facts.sampled.hours)
    return " · ".join(hours)


def _connections(server: Server) -> str:
    """The peak since the start, and Threads_running, in which servers count threads of their own too."""
    used, running = server.counter("max_used_connections"), server.counter("threads_running")
    limit = server.variables.get("max_connections", "")
    most = f"{int(limit):,}" if limit.isdecimal() and len(limit) <= DIGITS else "?"
    peak = "unknown" if used is None else f"{used:,}"
    return f"peak {peak} of {most} connections, {plural(running or 0, 'thread')} running"


def _sum(work: Workload, counters: tuple[str, ...]) -> float:
    return sum(work.rate(c) or 0.0 for c in counters)


def window(facts: Facts) -> str:
    """The window that rates are of, as an addition to a title; empty where there is none."""
    return f" ({window_text(facts.workload)})" if facts.workload else ""
