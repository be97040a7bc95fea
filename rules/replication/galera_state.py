"""GAL: rules about the state of a running Galera node and of its cluster."""

from __future__ import annotations

from advisor.core.model import Action, Confidence, Severity, format_duration, format_percent
from rules.core import Docs, rule
from rules.core.advice import advise, help_line, present
from rules.core.context import MissingFact
from rules.core.counters import MINIMUM_EVENTS, MINIMUM_WINDOW, window_text
from rules.core.subject import variable_subject
from rules.replication.galera import ADDRESS, MARIADB, YES, is_node, is_primary_node, node_addresses, provider_options
from rules.replication.galera_node import APPLIERS, set_provider_option

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from advisor.core.model import Finding
    from advisor.facts import Workload
    from rules.core.context import RuleContext

DONOR, JOINED = 2, 3  # wsrep_local_state
STATES = {1: "Joining", DONOR: "Donor/Desynced", JOINED: "Joined"}
DESYNC, REJECT = "wsrep_desync", "wsrep_reject_queries"
QUEUE, COMMITTED = "wsrep_local_recv_queue", "wsrep_last_committed"
SENT, PAUSED = "wsrep_flow_control_sent", "wsrep_flow_control_paused_ns"
LONG_QUEUE = 1000  # write sets; readers of the node see noticeably older data
PAUSED_SHARE = 0.1  # of the window
NANOSECONDS = 1e9
LIMIT = 16  # write sets; gcs.fc_limit by default
CONFLICT_SHARE = 0.05  # of the node's own transactions
THREADS_A_CPU = 2
THREADS = 4  # appliers if the number of processors is unknown
VOTERS = 3  # nodes of the smallest cluster that survives the loss of one


def _status(context: RuleContext, name: str) -> str:
    return context.server.status.get(name, "")


def _window(context: RuleContext) -> Workload:
    workload = context.workload
    if workload.seconds < MINIMUM_WINDOW:
        raise MissingFact(f"needs a window of {format_duration(MINIMUM_WINDOW)} or more (--window)")
    return workload


@rule(
    "GAL014",
    "galera-non-primary",
    severity=Severity.ERROR,
    summary="The node is outside the primary component and refuses statements.",
    needs=("server",),
    targets=MARIADB,
    evidence=("ASK-GAL-03", "GAL-10", "ASK-GAL-18", "ASK-GAL-19"),
    docs=Docs(
        why="A node without a majority of the cluster changes to non-Primary and answers statements on tables with "
        "error 1047, and BEGIN too. SELECT 1 and SHOW still work, so check wsrep_ready before you send clients to it. "
        "It rejoins by itself when it reaches the others. wsrep_dirty_reads = ON permits reads of old data.",
        fix="Restore the network to the other nodes, or start them. Only if no node of the cluster is Primary and the "
        "others cannot return soon: choose the node with the highest wsrep_last_committed and make it primary, on this "
        "one node: SET GLOBAL wsrep_provider_options = 'pc.bootstrap=YES', or where the server has a variable for it, "
        "as on MariaDB 11.4 and 11.8, SET GLOBAL wsrep_provider_pc_bootstrap = ON.",
        risk="pc.bootstrap=YES while another part is Primary, or in two parts, creates two clusters whose data "
        "diverges (split brain).",
        exceptions="A node that was disconnected for maintenance (an empty wsrep_cluster_address).",
        reconsider_when="wsrep_cluster_status Primary on this node.",
    ),
)
def galera_non_primary(context: RuleContext) -> Iterator[Finding]:
    """Report a node that is not in the primary component, or not connected."""
    if not is_node(context) or is_primary_node(context):
        return
    refuses = "writes" if context.settings.on("wsrep_dirty_reads") else "reads and writes (error 1047)"
    status, connected = _status(context, "wsrep_cluster_status"), _status(context, "wsrep_connected") != "OFF"
    if not connected:
        yield galera_non_primary.finding(
            f"The node is not connected to its cluster (wsrep_connected is OFF) and refuses {refuses}.",
            help="look for the reason in the error log, and start the server again; it joins the cluster at its start",
        )
        return
    yield galera_non_primary.finding(
        f"The node has no quorum and refuses {refuses}: wsrep_cluster_status is {status}, wsrep_cluster_size "
        f"{_status(context, 'wsrep_cluster_size') or 'unknown'}.",
        help="restore the connection to the other nodes; run pc.bootstrap=YES on one node only, and only if no node is "
        "Primary",
        actions=() if context.server.managed else (_bootstrap(context),),
    )


def _bootstrap(context: RuleContext) -> Action:
    return Action(
        statement=set_provider_option(context, "pc.bootstrap", "YES"),
        risk="split brain: only if wsrep_cluster_status is Primary on no node, including unreachable nodes; run it on "
        "one node only, the one with the highest wsrep_last_committed",
        watch="wsrep_cluster_status",
    )


@rule(
    "GAL015",
    "galera-not-ready",
    severity=Severity.ERROR,
    summary="The node belongs to the primary component but refuses statements: it is not ready.",
    needs=("server",),
    targets=MARIADB,
    evidence=("ASK-GAL-03", "GAL-10"),
    docs=Docs(
        why="While wsrep_ready is OFF the node answers statements on tables with error 1047. A node that joins gets a "
        "state transfer first.",
        fix="Wait for the state transfer, and send clients to other nodes. If the state does not change, find the "
        "reason in the error logs of this node and of its donor.",
        risk="None.",
        exceptions="A node that was started a moment ago.",
        reconsider_when="wsrep_ready ON.",
    ),
)
def galera_not_ready(context: RuleContext) -> Iterator[Finding]:
    """Report a node of the primary component whose wsrep_ready is OFF."""
    if is_primary_node(context) and _status(context, "wsrep_ready") == "OFF":
        state = _status(context, "wsrep_local_state_comment") or "unknown"
        yield galera_not_ready.finding(
            f"wsrep_ready is OFF, so the node refuses statements (error 1047). Its state is {state}.",
            help="send clients to other nodes, and follow the state transfer in the error log",
        )


@rule(
    "GAL025",
    "galera-rejects-queries",
    confidence=Confidence.CERTAIN,
    summary="The node refuses queries on tables, because wsrep_reject_queries is set.",
    needs=("server",),
    targets=MARIADB,
    options=(REJECT,),
    evidence=("ASK-GAL-10",),
    docs=Docs(
        why="With wsrep_reject_queries = ALL or ALL_KILL the node stays in the cluster and answers queries on tables "
        "with error 1047, including those of administrators. wsrep_ready stays ON, so load balancers that check only "
        "that still send clients here.",
        fix="SET GLOBAL wsrep_reject_queries = NONE when the maintenance has ended.",
        risk="Clients read and write here again.",
        exceptions="Maintenance.",
        reconsider_when="Maintenance that is still in progress.",
    ),
)
def galera_rejects_queries(context: RuleContext) -> Iterator[Finding]:
    """Report a node that refuses queries because wsrep_reject_queries is set."""
    value = context.text(REJECT)
    if is_node(context) and value in {"ALL", "ALL_KILL"}:
        action = advise(context, REJECT, "NONE", risk="clients read and write here again")
        yield galera_rejects_queries.finding(
            f"wsrep_reject_queries is {value}: the node refuses queries on tables (error 1047).",
            variable_subject(context, REJECT),
            help="set wsrep_reject_queries = NONE when the maintenance has ended",
            actions=present(action),
        )


@rule(
    "GAL016",
    "galera-desynced",
    severity=Severity.NOTE,
    summary="The node is not synchronized: it may serve old data.",
    needs=("server",),
    targets=MARIADB,
    options=(DESYNC,),
    evidence=("ASK-GAL-04", "GAL-10", "GAL-17"),
    docs=Docs(
        why="A donor, a node with wsrep_desync = ON and a node under FLUSH TABLES WITH READ LOCK are in the state "
        "Donor/Desynced. They send no flow control, so their queue of received write sets has no limit and readers may "
        "see old data; with gcs.sync_donor they do. A node in state Joined catches up with its queue, and the cluster "
        "waits for it where the queue is long. From a thousand waiting write sets on the "
        "finding is a warning; that threshold is our choice.",
        fix="Wait until the state transfer or the backup has ended. Set wsrep_desync = OFF if it was left ON.",
        risk="A node that is synchronized again takes part in flow control: if its queue is long, it pauses the "
        "cluster.",
        exceptions="A donor, and a node during its backup.",
        reconsider_when="wsrep_local_state_comment Synced.",
    ),
)
def galera_desynced(context: RuleContext) -> Iterator[Finding]:
    """Report a node of the primary component whose state is Joining, Donor/Desynced or Joined."""
    state = STATES.get(context.server.counter("wsrep_local_state") or 0)
    if not is_primary_node(context) or state is None or _status(context, "wsrep_ready") == "OFF":
        return
    waiting = context.server.counter(QUEUE) or 0
    chosen = context.settings.on(DESYNC) is True
    catches_up = state == STATES[JOINED]
    reason = "a state transfer, a backup or FLUSH TABLES WITH READ LOCK"
    reason = (
        "wsrep_desync is ON" if chosen else "it catches up after a state transfer or a backup" if catches_up else reason
    )
    waited_for = catches_up or provider_options(context).get("GCS.SYNC_DONOR") in YES
    held = "" if waited_for else ", and the cluster does not wait for this node"
    action = Action(
        statement="SET GLOBAL wsrep_desync = OFF;",
        undo="SET GLOBAL wsrep_desync = ON;",
        risk="if its queue is long, the node then pauses the cluster (flow control)",
        watch=QUEUE,
    )
    yield galera_desynced.finding(
        f"The node is {state} ({reason}): {waiting:,} received write set{'' if waiting == 1 else 's'} wait"
        f"{'s' if waiting == 1 else ''}{held}.",
        variable_subject(context, DESYNC) if chosen else None,
        severity=Severity.WARNING if waiting >= LONG_QUEUE else None,
        help="set wsrep_desync = OFF when the backup or the maintenance has ended"
        if chosen
        else "wait until it has caught up, and send readers to other nodes"
        if catches_up
        else "wait until it has ended, or end the session that holds the lock; send readers to other nodes",
        actions=present(action if chosen and not context.server.managed else None),
    )


@rule(
    "GAL017",
    "galera-flow-control",
    confidence=Confidence.MEASURED,
    summary="Flow control pauses replication: writes on all nodes wait for the slowest node.",
    needs=("server", "workload"),
    targets=MARIADB,
    evidence=("ASK-GAL-05", "GAL-11", "GAL-16"),
    docs=Docs(
        why="A node whose receive queue exceeds gcs.fc_limit asks the cluster to pause. Unless gcs.fc_single_primary "
        "is YES, the limit is multiplied by the square root of the number of nodes. During the pause no node commits "
        "writes of its clients. wsrep_flow_control_paused_ns counts the time. A tenth of the window is our limit.",
        fix="Find the node with the longest wsrep_local_recv_queue. Look there for locks, slow disks, large "
        "transactions, tables without a primary key, and too few appliers (wsrep_slave_threads).",
        risk="A higher gcs.fc_limit only hides it: readers see older data, and there are more certification conflicts.",
        exceptions="A bulk load, or a schema change that all nodes apply.",
        reconsider_when="wsrep_flow_control_paused near 0 over a busy hour.",
    ),
)
def galera_flow_control(context: RuleContext) -> Iterator[Finding]:
    """Report a window of which flow control paused a tenth or more."""
    if not is_primary_node(context):
        return
    window = _window(context)
    paused = (window.delta(PAUSED) or 0) / NANOSECONDS / window.seconds
    if paused < PAUSED_SHARE:
        return
    cause = _asks_for_pauses(context, window)
    yield galera_flow_control.finding(
        f"Flow control paused replication for {format_percent(min(paused, 1.0))} of the time {window_text(window)}: "
        "writes on all nodes wait. "
        + ("This node asks for the pauses." if cause else "Another node asks for the pauses.")
        + _since_reset(context),
        help="look on this node for locks, slow disks, large transactions and tables without a primary key"
        if cause
        else "find the node with the longest wsrep_local_recv_queue, and audit it",
    )


def _asks_for_pauses(context: RuleContext, window: Workload) -> bool:
    return bool(window.delta(SENT)) or _status(context, "wsrep_flow_control_requested") == "true"


def _since_reset(context: RuleContext) -> str:
    """The share since the counters were reset, which the server computes itself."""
    text = _status(context, "wsrep_flow_control_paused")
    try:
        share = float(text)
    except ValueError:
        return ""
    known = 0 < share <= 1
    return f" Since the counters were reset or the server started: {format_percent(share)}." if known else ""


@rule(
    "GAL018",
    "galera-applier-blocked",
    confidence=Confidence.MEASURED,
    summary="The node applies no write sets although some wait.",
    needs=("server", "workload"),
    targets=MARIADB,
    evidence=("ASK-GAL-05", "ASK-GAL-04"),
    docs=Docs(
        why="Write sets wait in the receive queue, and wsrep_last_committed did not change in the window. A session's "
        "lock blocks the applier (LOCK TABLES, FLUSH TABLES WITH READ LOCK), or it is busy with one statement, such as "
        "ALTER TABLE. A synchronized node then pauses the whole cluster.",
        fix="Find the applier in SHOW FULL PROCESSLIST (its user is system user) and the session that holds the lock. "
        "End that session.",
        risk="The work of the session that is ended is rolled back.",
        exceptions="A backup that holds a lock for a moment, a schema change, a single large transaction.",
        reconsider_when="wsrep_last_committed that rises again.",
    ),
)
def galera_applier_blocked(context: RuleContext) -> Iterator[Finding]:
    """Report write sets that wait at both ends of the window, none of which was applied in it."""
    if not is_node(context):
        return
    window = _window(context)
    first, last = window.first.status.get(QUEUE, 0), window.last.status.get(QUEUE, 0)
    if is_primary_node(context) and first > 0 and last > 0 and window.delta(COMMITTED) == 0:
        yield galera_applier_blocked.finding(
            f"{last:,} received write set{'s wait' if last > 1 else ' waits'} on this node, and none was applied in "
            f"{format_duration(window.seconds)}.",
            help="find the session that holds the lock in SHOW FULL PROCESSLIST and end it, unless an ALTER TABLE or a "
            "large transaction runs",
        )


@rule(
    "GAL019",
    "galera-slow-applier",
    confidence=Confidence.MEASURED,
    summary="The node applies write sets more slowly than the cluster writes them.",
    needs=("server", "workload"),
    targets=MARIADB,
    options=(APPLIERS,),
    evidence=("ASK-GAL-05", "GAL-07"),
    docs=Docs(
        why="The receive queue is at gcs.fc_limit or above it at both ends of the window, or the node requested pauses "
        "during it. More appliers help while wsrep_cert_deps_distance, the mean number of write sets that can be "
        "applied in parallel, is above their number.",
        fix="Raise wsrep_slave_threads to twice the number of processors, not beyond wsrep_cert_deps_distance.",
        risk="Each applier is a session with its memory. Tables without a primary key are applied in series anyway.",
        exceptions="A bulk load, and appliers that wait for the disk: more threads do not help there.",
        reconsider_when="wsrep_flow_control_sent that does not rise over a busy hour.",
    ),
)
def galera_slow_applier(context: RuleContext) -> Iterator[Finding]:
    """Report a node whose queue stays above the limit, with more appliers if they can help."""
    if not is_primary_node(context):
        return
    window = _window(context)
    queue = min(sample.status.get(QUEUE, 0) for sample in (window.first, window.last))
    asked = window.delta(SENT) or 0
    if window.delta(COMMITTED) == 0 or (asked < MINIMUM_EVENTS and queue < _queue_limit(context)):
        return
    action = _more_appliers(context)
    long = f"{queue:,} write set{'s' if queue > 1 else ''} or more waited, and " if queue else ""
    yield galera_slow_applier.finding(
        f"The node applies more slowly than the cluster writes: {long}it asked for {asked:,} "
        f"pause{'' if asked == 1 else 's'} {window_text(window)}.",
        variable_subject(context, APPLIERS) if action else None,
        help=(f"run {action.statement}".rstrip(";") if action.statement else help_line(action))
        if action
        else "look for slow disks, large transactions and tables without a primary key",
        actions=present(action),
    )


def _queue_limit(context: RuleContext) -> int:
    text = provider_options(context).get("GCS.FC_LIMIT", "")
    return max(1, int(text)) if text.isdigit() and len(text) < 10 else LIMIT  # noqa: PLR2004


def _more_appliers(context: RuleContext) -> Action | None:
    """Twice as many appliers as processors, but not more than can work in parallel; None if there are enough."""
    now, text = context.number(APPLIERS), _status(context, "wsrep_cert_deps_distance")
    try:
        parallel = int(float(text))
    except (ValueError, OverflowError):
        return None
    cpus = context.host.usable_cpus if context.has("host") else None
    wanted = min(parallel, int(cpus * THREADS_A_CPU) if cpus else THREADS)
    if now is None or wanted <= now:
        return None
    return advise(context, APPLIERS, wanted, risk="each applier takes the memory of a session", watch=SENT)


@rule(
    "GAL020",
    "galera-conflicts",
    confidence=Confidence.MEASURED,
    summary="Many transactions of this node are rolled back because other nodes changed the same rows.",
    needs=("server", "workload"),
    targets=MARIADB,
    evidence=("ASK-GAL-06", "GAL-12"),
    docs=Docs(
        why="Nodes detect conflicts at commit. A write set of another node aborts local transactions that hold its "
        "rows (wsrep_local_bf_aborts), and certification refuses local ones that come later "
        "(wsrep_local_cert_failures). The server first repeats an autocommit statement (wsrep_retry_autocommit, once "
        "by default); then the application gets a deadlock error (1213). One in twenty is our limit.",
        fix="Send the writes to one node, or those of a table to the same node. Let the application retry transactions "
        "that fail with error 1213.",
        risk="A single node then receives all writes.",
        exceptions="Jobs that briefly update the same row, such as queues and counters.",
        reconsider_when="Both counters nearly constant over a busy hour.",
    ),
)
def galera_conflicts(context: RuleContext) -> Iterator[Finding]:
    """Report a window in which conflicts with other nodes aborted one in twenty transactions or more."""
    if not is_primary_node(context):
        return
    window = _window(context)
    aborts, failures = (window.delta(f"wsrep_local_{name}") or 0 for name in ("bf_aborts", "cert_failures"))
    lost, commits = aborts + failures, window.delta("wsrep_local_commits") or 0
    if lost < MINIMUM_EVENTS or lost < CONFLICT_SHARE * (lost + commits):
        return
    was = " was" if aborts == 1 else "s were"
    yield galera_conflicts.finding(
        f"Conflicts with other nodes: {aborts:,} local transaction{was} aborted and {failures:,} failed "
        f"certification, {commits:,} committed {window_text(window)}.",
        help="write on one node, or change a table on one node only; retry transactions that fail with error 1213",
    )


@rule(
    "GAL021",
    "galera-nodes-missing",
    confidence=Confidence.LIKELY,
    summary="The cluster has fewer nodes than its address lists.",
    needs=("server",),
    targets=MARIADB,
    options=(ADDRESS,),
    evidence=("ASK-GAL-03", "GAL-10"),
    docs=Docs(
        why="A node that ended, or that was cut off, is no longer counted by wsrep_cluster_size. The fewer nodes are "
        "left, the fewer failures the cluster survives. A single node left over has no copy of its writes.",
        fix="Start the missing nodes, and find in their error logs why they left.",
        risk="A node that was disconnected for a long time gets a full copy of the data from a donor.",
        exceptions="Addresses of nodes that no longer exist: remove them from wsrep_cluster_address.",
        reconsider_when="wsrep_cluster_size equal to the number of addresses.",
    ),
)
def galera_nodes_missing(context: RuleContext) -> Iterator[Finding]:
    """Report a primary component that is smaller than the list in wsrep_cluster_address."""
    listed, size = len(node_addresses(context)), context.server.counter("wsrep_cluster_size") or 0
    if not is_primary_node(context) or not 0 < size < listed:
        return
    effect = "No other node has its writes." if size == 1 else ""
    effect = "The sudden loss of one more stops all writes." if size == VOTERS - 1 else effect
    yield galera_nodes_missing.finding(
        f"wsrep_cluster_size is {size}, but wsrep_cluster_address lists {listed} nodes. {effect}".strip(),
        variable_subject(context, ADDRESS),
        help="start the missing nodes, or remove their addresses if they no longer exist",
    )
