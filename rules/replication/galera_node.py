"""GAL: rules about how a Galera node applies write sets and caches them for other nodes."""

from __future__ import annotations

from advisor.core.model import Action, Confidence, Origin, Severity, format_duration, format_size
from advisor.verdict.number import PORT, parse_digits
from rules.core import Docs, Span, rule
from rules.core.advice import advise, help_line, present
from rules.core.context import MissingFact
from rules.core.network import has_provider, uses_galera
from rules.core.subject import variable_subject
from rules.replication.galera import MARIADB, OPTIONS, is_primary_node, provider_options

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from advisor.core.model import Finding
    from rules.core.context import RuleContext

APPLIERS = "wsrep_slave_threads"
NO_KEY = "wsrep_certify_nonpk"
STRICT = "pxc_strict_mode"
UNCHECKED = {"DISABLED": "nothing is checked", "PERMISSIVE": "what the check finds is only logged"}
CACHE = "GCACHE.SIZE"
SMALL = 128 << 20  # bytes; the provider's default
VOTERS = 3  # nodes of the smallest cluster that survives the loss of one
HOUR = 3600
METHOD, AUTH = "wsrep_sst_method", "wsrep_sst_auth"
BACKUP = "MARIABACKUP"
NAMED_AUTH = r"(?i)wsrep[-_]sst[-_]auth"  # also in the group [sst], which the script reads
GRANTS = "RELOAD, PROCESS, BINLOG MONITOR"
ELSEWHERE = "there"  # accounts that are bound to other hosts
SHORT, AWAY = 1, 4  # hours that the cache covers; hours of a longer maintenance
UNITS = {"K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}


@rule(
    "GAL011",
    "single-galera-applier",
    severity=Severity.NOTE,
    confidence=Confidence.LIKELY,
    summary="The node applies the other nodes' transactions one by one.",
    targets=MARIADB,
    options=(APPLIERS,),
    evidence=("GAL-07", "GAL-01"),
    docs=Docs(
        why="A node whose queue of received transactions grows pauses the whole cluster (flow control). Several "
        "appliers work in parallel on transactions that do not depend on each other; wsrep_cert_deps_distance shows "
        "how many those are on average. No published measurement shows which number is best.",
        fix="Raise wsrep_slave_threads, but not beyond wsrep_cert_deps_distance in a busy hour.",
        risk="Each applier is a session with its memory. Tables without a primary key are applied in series anyway.",
        exceptions="Nodes whose queue stays empty (wsrep_local_recv_queue_avg), and a single applier as a workaround "
        "for conflicts between appliers.",
        reconsider_when="wsrep_local_recv_queue_avg near 0 and wsrep_flow_control_paused at 0 over a busy hour.",
    ),
)
def single_galera_applier(context: RuleContext) -> Iterator[Finding]:
    """Report an explicitly configured single applier thread."""
    if uses_galera(context) and context.is_set(APPLIERS) and context.number(APPLIERS) == 1:
        yield single_galera_applier.finding(
            "One thread applies what all other nodes write; if its queue grows, the whole cluster is paused.",
            variable_subject(context, APPLIERS),
            help=f"raise {APPLIERS}, but not beyond wsrep_cert_deps_distance in a busy hour",
        )


@rule(
    "GAL012",
    "small-galera-cache",
    severity=Severity.NOTE,
    confidence=Confidence.LIKELY,
    summary="A node that was disconnected for a while needs a full copy of the data (SST).",
    targets=MARIADB,
    options=(OPTIONS,),
    evidence=("GAL-08",),
    docs=Docs(
        why="A node that returns gets the missing write sets from the cache of another node (IST). If they are no "
        "longer cached, it gets a full copy (SST). The rule reports an explicit gcache.size up to the default of 128M.",
        fix="Set gcache.size to the bytes that are replicated (wsrep_replicated_bytes and wsrep_received_bytes) in the "
        "longest time that a node is disconnected.",
        risk="A file of that size in the data directory of each node.",
        restart=True,
        exceptions="Databases that are copied in minutes, and clusters that write little.",
        reconsider_when="Maintenance after which nodes came back by IST.",
    ),
)
def small_galera_cache(context: RuleContext) -> Iterator[Finding]:
    """Report an explicitly configured gcache.size of the default or less."""
    size = cache_bytes(context)
    if not uses_galera(context) or not context.is_set(OPTIONS) or size is None:
        return
    if size < SMALL or (size == SMALL and _names_cache(context)):
        yield small_galera_cache.finding(
            f"A node that was disconnected while the others wrote more than {format_size(size)} (gcache.size) needs a "
            "full copy.",
            variable_subject(context, OPTIONS),
            help="set gcache.size to the amount that is replicated while a node is down for maintenance",
        )


def _names_cache(context: RuleContext) -> bool:
    """Whether the option file names gcache.size; a running node lists each provider option, defaults included."""
    line = context.file_verdict.effective.get(OPTIONS)
    return line is not None and CACHE in str(line.value or line.placed.line.raw).upper()


def cache_bytes(context: RuleContext) -> int | None:
    """gcache.size in bytes; None if it is not known."""
    return _size_bytes(provider_options(context).get(CACHE, ""))


def _size_bytes(text: str) -> int | None:
    """Bytes of a size such as 128M; None for other notations."""
    number = parse_digits(text[:-1] if text[-1:] in UNITS else text)
    return None if number is None else number * UNITS.get(text[-1:], 1)


@rule(
    "GAL013",
    "galera-without-certification-keys",
    severity=Severity.NOTE,
    confidence=Confidence.LIKELY,
    summary="Inserts into tables without a primary key fail, and updates and deletes too.",
    targets=MARIADB,
    options=(NO_KEY,),
    evidence=("ASK-GAL-16", "GAL-09", "ASK-GAL-18"),
    docs=Docs(
        why="Certification compares the keys of changed rows, and detects changes to one row on two nodes. For tables "
        "without a primary key MariaDB generates keys; with wsrep_certify_nonPK = OFF it does not. On the servers that "
        "we tested (10.11, 11.4, 11.8) each INSERT into such a table then failed with error 1213, a deadlock, without "
        "any other session, and on 11.4 and 11.8 each UPDATE and DELETE too. The default is ON.",
        fix="Remove the line, and give each table a primary key.",
        risk="Tables without a primary key can be written to again, with the limits that Galera has for them.",
        exceptions="Databases in which each table has a primary key: there the option changes nothing.",
        reconsider_when="No table without a primary key.",
    ),
)
def galera_without_certification_keys(context: RuleContext) -> Iterator[Finding]:
    """Report disabled certification of tables without a primary key."""
    if uses_galera(context) and context.explicit_switch(NO_KEY) is False:
        action = advise(context, NO_KEY, "ON")
        yield galera_without_certification_keys.finding(
            "Inserts into tables without a primary key fail with error 1213, a deadlock, although no other session "
            "holds a lock.",
            variable_subject(context, NO_KEY),
            help=help_line(action),
            actions=present(action),
        )


@rule(
    "GAL022",
    "galera-node-outweighs-others",
    severity=Severity.NOTE,
    summary="One node has half of the votes or more: without it the other nodes stop.",
    needs=("server",),
    targets=MARIADB,
    options=(OPTIONS,),
    evidence=("ASK-GAL-07", "GAL-13", "ASK-GAL-18"),
    docs=Docs(
        why="Quorum is more than half of the sum of pc.weight over all nodes (wsrep_cluster_weight). If a node with "
        "half of it or more is lost suddenly, the others have no quorum, however many they are.",
        fix="Set pc.weight to 1 on all nodes, or distribute the weights of the main site so that no single node has "
        "half.",
        risk="Change the weights one node at a time, while all nodes are connected.",
        exceptions="A node that is meant to form the quorum alone.",
        reconsider_when="pc.weight below half of wsrep_cluster_weight.",
    ),
)
def galera_node_outweighs_others(context: RuleContext) -> Iterator[Finding]:
    """Report a node of three or more that has half of the votes."""
    text = provider_options(context).get("PC.WEIGHT", "")
    weight = int(text) if text.isdigit() and len(text) <= 3 else 0  # noqa: PLR2004 - at most 255
    total, size = (context.server.counter(f"wsrep_cluster_{name}") or 0 for name in ("weight", "size"))
    if is_primary_node(context) and size >= VOTERS and weight > 1 and weight * 2 >= total:
        yield galera_node_outweighs_others.finding(
            f"pc.weight is {weight} of {total} votes: if this node is lost suddenly, the other {size - 1} nodes have "
            "no quorum and refuse statements.",
            variable_subject(context, OPTIONS),
            help="set pc.weight to 1 on this node",
            actions=()
            if context.server.managed
            else (
                Action(
                    statement=set_provider_option(context, "pc.weight", "1"),
                    undo=set_provider_option(context, "pc.weight", str(weight)),
                    risk="only while all nodes are connected; change it in the option file too",
                    watch="wsrep_cluster_weight",
                ),
            ),
        )


def set_provider_option(context: RuleContext, name: str, value: str) -> str:
    """The statement that sets an option of the provider.

    Where the plugin wsrep_provider has a variable for each, as on MariaDB 11.4 and 11.8, the server refuses to set
    wsrep_provider_options (ASK-GAL-18).
    """
    variable = f"wsrep_provider_{name.replace('.', '_')}"
    if variable in context.server.variables:
        return f"SET GLOBAL {variable} = {'ON' if value == 'YES' else value};"
    return f"SET GLOBAL wsrep_provider_options = '{name}={value}';"


@rule(
    "GAL023",
    "galera-cache-for-minutes",
    severity=Severity.NOTE,
    confidence=Confidence.MEASURED,
    summary="At the current write rate the cache lasts less than an hour: a node that is disconnected for longer needs "
    "a full copy.",
    needs=("server",),
    targets=MARIADB,
    options=(OPTIONS,),
    evidence=("ASK-GAL-08", "GAL-08"),
    docs=Docs(
        why="gcache.size divided by the bytes that the cluster replicates in an hour is the time that a node may be "
        "disconnected and still return with an incremental transfer (IST). After that it gets a full copy (SST). The "
        "rate is the mean since the start of the server; at the busiest hour the time is shorter.",
        fix="Set gcache.size in wsrep_provider_options of the option file on all nodes, large enough for the longest "
        "maintenance.",
        risk="A file of that size in the data directory. The node must be restarted for it.",
        restart=True,
        exceptions="Databases that are smaller than the cache would be: a full copy takes as long.",
        reconsider_when="Maintenance after which nodes came back by IST.",
    ),
)
def galera_cache_for_minutes(context: RuleContext) -> Iterator[Finding]:
    """Report a cache that holds less than an hour of the replicated bytes, and is small beside the data."""
    size, server = cache_bytes(context), context.server
    if not is_primary_node(context) or size is None:
        return
    from rules.core.counters import require_uptime  # lazily: lint has no counters

    require_uptime(server.uptime, HOUR)
    written = sum(server.counter(f"wsrep_{name}_bytes") or 0 for name in ("replicated", "received"))
    hourly = written * HOUR // server.uptime
    needed, data = hourly * AWAY, server.data.innodb_bytes if server.data else 0
    if not hourly or size >= hourly * SHORT or needed >= data:
        return
    gigabytes = -(-needed // (1 << 30))
    yield galera_cache_for_minutes.finding(
        f"{CACHE.lower()} is {format_size(size)}, and the cluster replicates {format_size(hourly)} an hour: a node "
        f"that is disconnected for more than {format_duration(size * HOUR / hourly)} needs a full copy.",
        variable_subject(context, OPTIONS),
        help=f"set gcache.size = {gigabytes}G in wsrep_provider_options on all nodes ({AWAY} hours), if the disk has "
        "room",
    )


@rule(
    "GAL026",
    "galera-transfer-without-account",
    confidence=Confidence.LIKELY,
    summary="As a donor this node cannot log in to itself, so nodes that need a full copy cannot join.",
    needs=("server", "host", "files"),
    targets=MARIADB,
    options=(METHOD,),
    evidence=("ASK-GAL-09", "ASK-GAL-12"),
    docs=Docs(
        why="With wsrep_sst_method = mariabackup on the joining node the donor runs mariadb-backup, which logs in with "
        "wsrep_sst_auth, or as the operating system account of the server where that is empty. Without an account of "
        "that name the transfer fails, and the joining node stops. The problem appears only when a node was "
        "disconnected for too long or is replaced. The rule does not check whether an account of that name needs a "
        "password.",
        fix="Create an account and give it RELOAD, PROCESS and BINLOG MONITOR ON *.*; mariadb-backup 10.11 failed "
        "without any one of them. Write its name and password as wsrep_sst_auth = NAME:PASSWORD on all nodes, in a "
        "file with mode 640 or less.",
        risk="The password is in the option file and in memory.",
        exceptions="An account with the name of the system account that is created later. The rule looks for "
        "wsrep_sst_auth in all groups of the files.",
        reconsider_when="A successful transfer by mariabackup from this donor.",
    ),
)
def galera_transfer_without_account(context: RuleContext) -> Iterator[Finding]:
    """Report a node with mariabackup that has neither wsrep_sst_auth nor an account of its system user's name."""
    process = context.host.process
    if not is_primary_node(context) or context.text(METHOD) != BACKUP or context.server.variables.get(AUTH) != "":
        return
    import re  # lazily: lint reads no files of a server

    if (
        process is None
        or process.uid is None
        or any(re.search(NAMED_AUTH, copy.text or "") for copy in context.files.files)
    ):
        return
    from rules.security.accounts import accounts_of_kind  # lazily: lint knows no accounts

    kinds = accounts_of_kind(context, lambda kind: kind.reach != ELSEWHERE)
    names = [name for kind in kinds for name in kind.names.split(", ")]
    user = "mysql" if process.uid else "root"
    if any(name.startswith((f"{user}@", "@")) for name in names):
        return
    if len(names) < sum(kind.count for kind in kinds):
        raise MissingFact("needs the names of all accounts, of which three of each kind are read")
    yield galera_transfer_without_account.finding(
        f"{METHOD} is mariabackup and {AUTH} is empty: as a donor this node logs in as {user}"
        f"{', the usual account of its process,' if process.uid else ''} and has no account of that name. A node that "
        "needs a full copy cannot join.",
        variable_subject(context, METHOD),
        help=f"create an account with {GRANTS} ON *.*, and write {AUTH} = NAME:PASSWORD on all nodes",
    )


@rule(
    "GAL024",
    "pxc-strict-mode-off",
    confidence=Confidence.LIKELY,
    summary="pxc_strict_mode lets a node run what Percona XtraDB Cluster does not replicate safely.",
    targets=(Span("mysql", build="pxc"),),
    options=(STRICT,),
    evidence=("GAL-14",),
    docs=Docs(
        why="PXC Strict Mode refuses tables without a primary key, engines that the cluster does not replicate, table "
        "locks and other operations that can make nodes diverge. With PERMISSIVE they run with a warning in the log, "
        "with DISABLED without one. The other nodes do not check again what one node allowed.",
        fix="Remove the line: ENFORCING is the default on a node of a cluster. MASTER allows table locks if a single "
        "node receives the writes.",
        risk="Statements that the mode refuses end with an error: read the warnings of PERMISSIVE first. A node whose "
        "settings fail the checks does not start.",
        exceptions="A node that is being migrated into the cluster, and test clusters.",
        reconsider_when="A cluster whose tables are all InnoDB tables with a primary key.",
    ),
)
def pxc_strict_mode_off(context: RuleContext) -> Iterator[Finding]:
    """Report pxc_strict_mode = DISABLED or PERMISSIVE on a configured node."""
    mode = context.text(STRICT)
    if mode in UNCHECKED and context.is_set(STRICT) and has_provider(context):
        action = advise(context, STRICT, "ENFORCING", risk="statements that it refuses end with an error")
        yield pxc_strict_mode_off.finding(
            f"pxc_strict_mode is {mode}: {UNCHECKED[mode]}, and operations that PXC does not replicate safely can make "
            "the nodes diverge.",
            variable_subject(context, STRICT),
            help=help_line(action),
            actions=present(action),
        )


ADDRESS, NODE = "wsrep_cluster_address", "wsrep_node_address"
OLD_TRANSFERS = frozenset({"XTRABACKUP", "XTRABACKUP-V2"})
LOOPBACK = ("127.", "LOCALHOST", "[::1]")


@rule(
    "GAL027",
    "galera-transfer-without-script",
    confidence=Confidence.LIKELY,
    summary="A full copy (SST) fails, because MariaDB has no script for this method.",
    targets=(Span("mariadb", since=(10, 3)),),
    options=(METHOD,),
    evidence=("ASK-GAL-13", "ASK-GAL-19"),
    docs=Docs(
        why="The server runs wsrep_sst_METHOD for a full copy. MariaDB's packages no longer have a script for "
        "XtraBackup, which cannot copy MariaDB 10.3 and later: a node that needs a full copy stops at once. The "
        "problem appears only when a node was disconnected for too long or is replaced.",
        fix="Set wsrep_sst_method = mariabackup on all nodes, install mariadb-backup there, and write its account in "
        "wsrep_sst_auth (galera-transfer-without-account).",
        risk="It needs mariadb-backup on all nodes, as any of them can be the donor: the donor uses the method of the "
        "joining node.",
        exceptions="A script of that name that was installed by hand.",
        reconsider_when="A node that joined by this method.",
    ),
)
def galera_transfer_without_script(context: RuleContext) -> Iterator[Finding]:
    """Report an SST method of Percona XtraBackup on MariaDB 10.3 or later."""
    if uses_galera(context) and context.is_set(METHOD) and context.text(METHOD) in OLD_TRANSFERS:
        action = advise(context, METHOD, "mariabackup", risk="it needs mariadb-backup and an account on all nodes")
        yield galera_transfer_without_script.finding(
            "This version has no script for this method, so a node that needs a full copy cannot join.",
            variable_subject(context, METHOD),
            help=help_line(action),
            actions=present(action),
        )


@rule(
    "GAL028",
    "galera-unreachable-address",
    confidence=Confidence.LIKELY,
    summary="The node uses an address at which nodes cannot reach each other.",
    targets=MARIADB,
    options=(ADDRESS, NODE),
    evidence=("ASK-GAL-14", "ASK-GAL-19"),
    docs=Docs(
        why="Nodes communicate on a separate port, 4567 by default. At 3306, the client port, a node reaches no "
        "cluster: it tries for half a minute and stops; set with SET GLOBAL, it leaves the node disconnected. A node "
        "that needs a state transfer gives its wsrep_node_address to the donor. With a loopback address the donor "
        "looks for it on the donor's own host: the node stops, although it had joined the group.",
        fix="Remove the port from wsrep_cluster_address, or write 4567. Set wsrep_node_address to an address that the "
        "other nodes can reach, or remove it.",
        risk="None.",
        restart=True,
        exceptions="A cluster on one host, for tests. Nodes whose gmcast.listen_addr is at port 3306.",
        reconsider_when="wsrep_cluster_size that includes all nodes.",
    ),
)
def galera_unreachable_address(context: RuleContext) -> Iterator[Finding]:
    """Report the port of clients in the cluster address, and a node address of the loopback interface."""
    from rules.replication.galera import node_addresses

    if not uses_galera(context):
        return
    nodes = node_addresses(context)
    listens = provider_options(context).get("GMCAST.LISTEN_ADDR", "")
    of_clients = f":{PORT}" not in listens and any(node.rpartition(":")[2] == PORT for node in nodes)
    if context.is_set(ADDRESS) and of_clients:
        setting = context.settings.get(ADDRESS)
        runs = setting is not None and setting.origin is Origin.RUNTIME  # SET GLOBAL leaves the node disconnected
        yield galera_unreachable_address.finding(
            "3306 is the client port: nodes communicate on 4567, so this node finds no other node"
            + ("." if runs else " and stops."),
            variable_subject(context, ADDRESS),
            help=f"{'set' if runs else 'write'} the addresses without a port: gcomm://first,second,third",
        )
    local = (context.text(NODE) or "").startswith(LOOPBACK)
    if context.is_set(NODE) and local and not any(node.startswith(LOOPBACK) for node in nodes):
        yield galera_unreachable_address.finding(
            "The node announces its loopback address to the other nodes, which can only reach their own host there.",
            variable_subject(context, NODE),
            help="write the address at which the other nodes reach this host, or remove the line",
        )
