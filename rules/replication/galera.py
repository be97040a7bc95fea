"""GAL: rules about the settings of a MariaDB Galera node."""

from __future__ import annotations

from advisor.core.model import Confidence, Origin, Severity, format_size
from advisor.verdict import Outcome
from rules.core import Docs, Span, rule
from rules.core.advice import advise, help_line, present
from rules.core.network import WSREP_ON, WSREP_PROVIDER, has_provider, uses_galera
from rules.core.subject import variable_subject
from rules.durability import writes_binary_log

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from advisor.core.model import Finding
    from rules.core.context import RuleContext

MARIADB = (Span("mariadb"),)
ADDRESS = "wsrep_cluster_address"
STATUS, SIZE = "wsrep_cluster_status", "wsrep_cluster_size"
OPTIONS, NEW_CLUSTER = "wsrep_provider_options", "wsrep_new_cluster"
USED = (WSREP_ON, WSREP_PROVIDER)
SCHEME = "GCOMM://"
ALONE = "the server refuses to start (safe_to_bootstrap), or bootstraps a cluster of its own"
# Provider options that let a partition of the cluster continue without quorum.
WITHOUT_QUORUM = ("PC.IGNORE_SB", "PC.IGNORE_QUORUM")
YES = frozenset({"TRUE", "YES", "ON", "1"})
CONNECTED = "wsrep_connected"
INTERLEAVED = 2
TWO = 2  # nodes; neither is a majority
MUCH = 50 << 30  # bytes; a disk or a network of 1 Gbit/s copies them in minutes
BLOCKING = {"RSYNC": "rsync", "RSYNC_WAN": "rsync_wan", "MYSQLDUMP": "mysqldump"}


def is_node(context: RuleContext) -> bool:
    """Whether the server runs as a node of a cluster, with a provider that reports the cluster's status."""
    provider = context.text(WSREP_PROVIDER)
    return context.text(WSREP_ON) == "ON" and provider not in {None, "", "NONE"} and STATUS in context.server.status


def is_primary_node(context: RuleContext) -> bool:
    """Whether the server runs as a node of its cluster's primary component."""
    return is_node(context) and context.server.status[STATUS].upper() == "PRIMARY"


@rule(
    "GAL001",
    "galera-half-configured",
    summary="wsrep_provider is set but wsrep_on is not, or the other way round: the node is not part of a cluster.",
    targets=MARIADB,
    options=USED,
    evidence=("GAL-01", "ASK-GAL-01", "ASK-GAL-11", "ASK-GAL-19"),
    docs=Docs(
        why="MariaDB loads the provider only where wsrep_on is ON, and the default is OFF. With only one of the two "
        "the server starts without a warning, and accepts writes that reach no other node. SET GLOBAL wsrep_on = OFF "
        "on a running node has the same effect on its writes, while wsrep_connected and wsrep_ready stay ON.",
        fix="Set wsrep_on = ON together with wsrep_provider, wsrep_cluster_address and binlog_format = ROW, or remove "
        "all of them. If the server was written to outside the cluster, remove its grastate.dat before it joins.",
        risk="Without grastate.dat the node gets a full copy and loses its own writes. With it, it may get only what "
        "it missed: on 10.11 a row that was written meanwhile stayed on this node alone.",
        restart=True,
        exceptions="A node that is kept out of the cluster for a while.",
        reconsider_when="wsrep_on and wsrep_connected are ON.",
    ),
)
def galera_half_configured(context: RuleContext) -> Iterator[Finding]:
    """Report wsrep_provider without wsrep_on, or the reverse."""
    if context.text(WSREP_ON) == "OFF" and context.has("server") and context.server.status.get(CONNECTED) == "ON":
        yield galera_half_configured.finding(
            "wsrep_on was set to OFF while the node runs in a cluster: writes to this node reach no other node.",
            variable_subject(context, WSREP_ON),
            help="run SET GLOBAL wsrep_on = ON, then compare this node's data with another node's, or replace it with "
            "a full state transfer",
        )
    elif context.text(WSREP_ON) == "OFF" and has_provider(context):
        yield galera_half_configured.finding(
            "wsrep_provider is set, but wsrep_on is OFF: the server loads no provider and joins no cluster.",
            variable_subject(context, WSREP_PROVIDER),
            help="write wsrep_on = ON and binlog_format = ROW, or remove wsrep_provider; if the server was written to "
            "outside the cluster, remove its grastate.dat first, so that it gets a full copy",
        )
    if context.text(WSREP_ON) == "ON" and context.is_set(WSREP_ON) and not has_provider(context):
        yield galera_half_configured.finding(
            "wsrep_on is ON, but wsrep_provider is not set: writes reach no other node.",
            variable_subject(context, WSREP_ON),
            help="set wsrep_provider to the provider's library, or switch wsrep_on off",
        )


@rule(
    "GAL002",
    "galera-founds-itself-anew",
    summary="A restarted node does not rejoin its cluster: its start is refused, or it bootstraps another cluster.",
    targets=MARIADB,
    options=(ADDRESS, NEW_CLUSTER),
    evidence=("GAL-02", "ASK-GAL-15", "ASK-GAL-18"),
    docs=Docs(
        why="An address without members, or wsrep_new_cluster in an option file, takes effect at every restart. A node "
        "that left others behind is refused then: its grastate.dat has safe_to_bootstrap: 0, and the server stops with "
        "'It may not be safe to bootstrap the cluster from this node'. A node without that file, such as one whose "
        "data directory is new, bootstraps a cluster of its own: both accept writes, and the data diverges.",
        fix="Name all nodes in wsrep_cluster_address, before the next start; bootstrap a cluster only once, with "
        "galera_new_cluster.",
        risk="A node that finds no other one stops after half a minute: when all are down, one of them must be "
        "bootstrapped.",
        exceptions="Clusters of one node, for tests.",
        reconsider_when="A restart after which wsrep_cluster_size is the same on all nodes.",
    ),
)
def galera_founds_itself_anew(context: RuleContext) -> Iterator[Finding]:
    """Report an address without nodes, or wsrep_new_cluster, in a file: no start joins the other nodes."""
    address, setting = context.text(ADDRESS) or "", context.settings.get(ADDRESS) if context.is_set(ADDRESS) else None
    at_start = setting is not None and setting.origin is not Origin.RUNTIME  # SET GLOBAL does not last until a start
    if uses_galera(context) and at_start and address.startswith(SCHEME) and not node_addresses(context):
        yield galera_founds_itself_anew.finding(
            f"The address lists no node, so a restart does not rejoin the other nodes: {ALONE}.",
            variable_subject(context, ADDRESS),
            help="name all nodes: gcomm://first,second,third",
        )
    elif uses_galera(context) and NEW_CLUSTER in context.file_verdict.effective and context.settings.on(NEW_CLUSTER):
        yield galera_founds_itself_anew.finding(
            f"With wsrep_new_cluster in an option file a restart does not rejoin the other nodes: {ALONE}.",
            variable_subject(context, NEW_CLUSTER),
            help="remove the line; galera_new_cluster bootstraps a cluster once",
        )


@rule(
    "GAL003",
    "galera-without-quorum",
    confidence=Confidence.LIKELY,
    summary="Split brain: after a network partition both parts of the cluster accept writes.",
    targets=MARIADB,
    options=(OPTIONS,),
    evidence=("GAL-03", "ASK-GAL-18"),
    docs=Docs(
        why="Only a majority of the cluster may write, so that there is only one version of the data. With "
        "pc.ignore_sb or pc.ignore_quorum each part continues by itself, and afterwards no node can determine which "
        "rows are right.",
        fix="Remove the option, and add a third node or an arbitrator. A running node can switch it off: with "
        "pc.ignore_sb=no in wsrep_provider_options, on MariaDB 11.4 and 11.8 with wsrep_provider_pc_ignore_sb = OFF.",
        risk="A part without a majority refuses reads and writes until the other nodes are back.",
        exceptions="Two nodes of which only one ever receives writes, according to the vendor.",
        reconsider_when="A majority that survives the loss of any one site.",
    ),
)
def galera_without_quorum(context: RuleContext) -> Iterator[Finding]:
    """Report provider options that ignore quorum."""
    given = provider_options(context)
    options = [name for name in WITHOUT_QUORUM if given.get(name) in YES]
    if options and uses_galera(context) and context.is_set(OPTIONS):
        yield galera_without_quorum.finding(
            f"With {' and '.join(options).lower()} both parts accept writes after a network partition, and the data "
            "diverges (split brain).",
            variable_subject(context, OPTIONS),
            help="remove it, and add a third node or an arbitrator",
        )


def provider_options(context: RuleContext) -> dict[str, str]:
    """The provider options from wsrep_provider_options, names and values in upper case."""
    pairs = (part.partition("=") for part in (context.text(OPTIONS) or "").split(";"))
    return {name.strip(): value.strip() for name, _, value in pairs}


@rule(
    "GAL004",
    "galera-not-in-rows",
    confidence=Confidence.LIKELY,
    summary="Galera applies rows, but the server is set to the STATEMENT or MIXED format.",
    targets=MARIADB,
    options=USED,
    evidence=("GAL-01", "ASK-GAL-18"),
    docs=Docs(
        why="MariaDB 10.11, 11.4 and 11.8 stop at their start as a node with another format. The default is MIXED.",
        fix="Set binlog_format = ROW.",
        risk="Changes of many rows make larger binary logs.",
        exceptions="None.",
        reconsider_when="A version of MariaDB that starts so.",
    ),
)
def galera_not_in_rows(context: RuleContext) -> Iterator[Finding]:
    """Report a node whose binlog_format is not ROW."""
    value = context.text("binlog_format")
    if uses_galera(context) and value is not None and value != "ROW" and not _is_refused_already(context):
        action = advise(
            context, "binlog_format", "ROW", risk="sessions that are open keep their format",
            watch="Binlog_cache_disk_use",
        )  # fmt: skip
        node = "a Galera node needs" if _joins(context) else "once wsrep_on is ON, this Galera node needs"
        yield galera_not_in_rows.finding(
            f"binlog_format is {value}; {node} ROW.",
            variable_subject(context, "binlog_format" if context.is_set("binlog_format") else _galera_option(context)),
            severity=None if _joins(context) else Severity.NOTE,
            help=help_line(action),
            actions=present(action),
        )


def _is_refused_already(context: RuleContext) -> bool:
    """Whether a verdict on the file already says that the server does not start."""
    lines = (context.file_verdict.effective.get(name) for name in ("binlog_format", WSREP_PROVIDER))
    return any(line is not None and line.outcome is Outcome.STOPS for line in lines)


def _joins(context: RuleContext) -> bool:
    """Whether the server joins a cluster; with a provider but without wsrep_on it does not, as GAL001 says."""
    return context.text(WSREP_ON) == "ON"


def _galera_option(context: RuleContext) -> str:
    return WSREP_PROVIDER if has_provider(context) else WSREP_ON


@rule(
    "GAL005",
    "galera-locks-auto-increment",
    severity=Severity.NOTE,
    confidence=Confidence.LIKELY,
    summary="Inserts hold the AUTO-INC lock, which conflicts with parallel appliers.",
    targets=MARIADB,
    options=USED,
    evidence=("GAL-15", "GAL-01", "ASK-GAL-17"),
    docs=Docs(
        why="Galera's developers require the interleaved mode, 2: with 0 and 1, inserts by appliers and clients can "
        "end in deadlocks. A node starts with the other modes too, and MariaDB's manual lists the mode among the "
        "settings for performance. MariaDB's default is 1, so it must be set.",
        fix="Set innodb_autoinc_lock_mode = 2.",
        risk="The numbers of one statement may have gaps, as they have in a cluster anyway.",
        restart=True,
        exceptions="Nodes that apply with one thread and insert one row at a time.",
        reconsider_when="No waits for auto-increment locks on any node.",
    ),
)
def galera_locks_auto_increment(context: RuleContext) -> Iterator[Finding]:
    """Report a node whose innodb_autoinc_lock_mode is not 2."""
    name, mode = "innodb_autoinc_lock_mode", context.number("innodb_autoinc_lock_mode")
    if uses_galera(context) and mode is not None and mode != INTERLEAVED:
        action = advise(
            context, name, INTERLEAVED, risk="the numbers that one statement gets may have gaps",
            watch="Innodb_row_lock_waits",
        )  # fmt: skip
        yield galera_locks_auto_increment.finding(
            f"{name} is {mode}; Galera's developers require {INTERLEAVED} on its nodes"
            + ("." if _joins(context) else ", and this server is one once wsrep_on is ON."),
            variable_subject(context, name if context.is_set(name) else _galera_option(context)),
            help=help_line(action),
            actions=present(action),
        )


@rule(
    "GAL006",
    "galera-logs-half",
    confidence=Confidence.LIKELY,
    summary="The node's binary log lacks what the other nodes write.",
    targets=MARIADB,
    options=USED,
    evidence=("GAL-01",),
    docs=Docs(
        why="Changes from other nodes are written to the binary log only if log_slave_updates is ON. Without it, a "
        "replica of this node, or a restore from its log, has only a part of the changes.",
        fix="Set log_slave_updates = ON, or switch the binary log off.",
        risk="The node writes all changes to its binary log.",
        restart=True,
        exceptions="Nodes that receive all writes themselves.",
        reconsider_when="A replica of this node that has all rows.",
    ),
)
def galera_logs_half(context: RuleContext) -> Iterator[Finding]:
    """Report a binary log that contains only the node's own writes."""
    if _joins(context) and writes_binary_log(context) and context.settings.on("log_slave_updates") is False:
        action = advise(
            context, "log_slave_updates", "ON", risk="all changes are written to the binary log",
            watch="Binlog_cache_use",
        )  # fmt: skip
        yield galera_logs_half.finding(
            "The binary log contains only what is written on this node, no changes from the other nodes.",
            variable_subject(context, "log_bin"),
            help=help_line(action),
            actions=present(action),
        )


@rule(
    "GAL007",
    "galera-local-schema-changes",
    confidence=Confidence.LIKELY,
    summary="DDL statements run on this node only.",
    targets=MARIADB,
    options=("wsrep_osu_method",),
    evidence=("GAL-04", "ASK-GAL-19"),
    docs=Docs(
        why="RSU is meant for one session that runs the DDL on each node in turn. As a global setting, every CREATE "
        "and ALTER from an application stays on one node. In a cluster of three the first row for such a table failed "
        "on the others, and the node with the table was voted out.",
        fix="Remove the line, and set RSU in the session that runs the DDL on each node.",
        risk="DDL then blocks the cluster while it runs.",
        exceptions="A node on which such a change is in progress.",
        reconsider_when="Table definitions that are the same on all nodes.",
    ),
)
def galera_local_schema_changes(context: RuleContext) -> Iterator[Finding]:
    """Report wsrep_osu_method = RSU, which is meant for single sessions."""
    name = "wsrep_osu_method"
    if uses_galera(context) and context.is_set(name) and context.text(name) == "RSU":
        action = advise(context, name, "TOI", risk="DDL blocks the cluster while it runs")
        yield galera_local_schema_changes.finding(
            "Every CREATE and ALTER runs on this node only. Rows of a table that only this node has fail on the "
            "others, which can expel it.",
            variable_subject(context, name),
            help=help_line(action) or "remove the line, and set RSU in a session where it is needed",
            actions=present(action),
        )


@rule(
    "GAL008",
    "galera-blocking-transfer",
    severity=Severity.NOTE,
    confidence=Confidence.LIKELY,
    summary="A donor of a full copy (SST) is blocked and accepts no writes.",
    targets=MARIADB,
    options=("wsrep_sst_method",),
    evidence=("GAL-05", "ASK-GAL-09", "ASK-GAL-12", "ASK-GAL-19"),
    docs=Docs(
        why="With rsync and mysqldump the donor holds a read lock during the whole transfer; mariabackup copies while "
        "writes continue. Meanwhile a cluster of three has only one working node. The joining node sets the method.",
        fix="Set wsrep_sst_method = mariabackup on all nodes, with an account for it in wsrep_sst_auth, which needs "
        "RELOAD, PROCESS and BINLOG MONITOR ON *.*. Without wsrep_sst_auth the donor logs in as the operating system "
        "account of the server, which needs an account that takes no password (unix_socket).",
        risk="It needs mariadb-backup and socat on all nodes, as any of them can be the donor.",
        exceptions="Small databases, and donors that may be blocked: rsync is the fastest method.",
        reconsider_when="Transfers that are short enough for the cluster.",
    ),
)
def galera_blocking_transfer(context: RuleContext) -> Iterator[Finding]:
    """Report an SST method that blocks its donor, if it is explicitly configured or has much data to copy."""
    name = "wsrep_sst_method"
    method, size = BLOCKING.get(context.text(name) or ""), _copied_bytes(context)
    if uses_galera(context) and method and (context.is_set(name) or size >= MUCH):
        amount = f" of {format_size(size)}" if size >= MUCH else ""
        yield galera_blocking_transfer.finding(
            f"With {method} the donor accepts no writes until the transfer{amount} ends.",
            variable_subject(context, name),
            help="use mariabackup on all nodes, if the donor must stay available",
        )


def _copied_bytes(context: RuleContext) -> int:
    """The InnoDB data that a running node would copy to another; 0 if there is no other node, or if unknown."""
    if not context.has("server") or not is_primary_node(context) or context.server.counter(SIZE) == 1:
        return 0
    return context.server.data.innodb_bytes if context.server.data else 0


@rule(
    "GAL009",
    "galera-of-two-nodes",
    severity=Severity.NOTE,
    confidence=Confidence.LIKELY,
    summary="The cluster has two nodes: when one is lost, the other loses quorum and refuses statements.",
    targets=MARIADB,
    options=(ADDRESS,),
    evidence=("GAL-06", "GAL-03"),
    docs=Docs(
        why="Only a part with more than half of the votes accepts statements. One of two nodes is never more than "
        "half, so a crash of one or a broken network stops the other; a shutdown does not. The vendor recommends three "
        "nodes, or an arbitrator (garbd) as the third vote.",
        fix="Add a third node, or an arbitrator on another host.",
        risk="A third node gets all writes; an arbitrator gets all traffic, but stores nothing.",
        exceptions="Clusters with an arbitrator, or with more nodes than the address lists. With different pc.weight "
        "the heavier node survives the loss of the other.",
        reconsider_when="wsrep_cluster_size of 3.",
    ),
)
def galera_of_two_nodes(context: RuleContext) -> Iterator[Finding]:
    """Report a cluster of two nodes, unless the server knows a third member."""
    nodes = node_addresses(context)
    counted = context.server.counter(SIZE) if context.has("server") else None
    if not uses_galera(context) or not context.is_set(ADDRESS):
        return
    few = len(nodes) == TWO and (counted <= TWO if counted is not None else not _omits_itself(context, nodes))
    if few or (counted == TWO and len(nodes) == 1):
        yield galera_of_two_nodes.finding(
            f"The {'address lists' if few else 'cluster has'} two nodes: if one is lost silently, the other has no "
            "majority and refuses statements.",
            variable_subject(context, ADDRESS),
            help="add a third node, or an arbitrator (garbd) on another host",
        )


def _omits_itself(context: RuleContext, nodes: list[str]) -> bool:
    """Whether the node's own address is known and is none of those that it looks for, so that it is one more."""
    at = context.text("wsrep_node_address") or ""
    own, *others = (node.partition("]")[0] if "[" in node else node.partition(":")[0] for node in (at, *nodes))
    return own not in others and all(host[:1].isdigit() or host.startswith("[") for host in (own, *others))


def node_addresses(context: RuleContext) -> list[str]:
    """The nodes in the cluster address, without duplicates."""
    address = (context.text(ADDRESS) or "").removeprefix(SCHEME).partition("?")[0]
    return list(dict.fromkeys(node.strip() for node in address.split(",") if node.strip()))
