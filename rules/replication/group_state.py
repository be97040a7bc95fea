"""GRP: rules about the state of a running group replication member, and settings that decide when it leaves."""

from __future__ import annotations

from advisor.core.model import Action, Confidence, Severity, exact_duration, exact_size, format_duration, format_size
from rules.core import Docs, Span, rule
from rules.core.advice import help_line, present
from rules.core.subject import variable_subject
from rules.durability.crash_safety import GROUP
from rules.replication.group_replication import FLOW, MYSQL, SINGLE
from rules.sizing.memory import expected_memory, system_memory, usable_memory

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from advisor.core.model import Finding
    from advisor.facts.server import ApplierTimes, GroupMember
    from rules.core.context import RuleContext

EIGHT = (Span("mysql", since=(8, 0, 2)),)
ONLINE, RECOVERING, SECONDARY = "ONLINE", "RECOVERING", "SECONDARY"
APPLIER = "group_replication_applier"
SUPER = "super_read_only"
THRESHOLDS = {
    "certification": "group_replication_flow_control_certifier_threshold",
    "the applier": "group_replication_flow_control_applier_threshold",
}
THRESHOLD = 25000  # transactions; the default of both
BLOCKED = 5  # seconds; a lock that is held longer than a statement
BEHIND = 60  # seconds; noticeable for readers of the member
EXPEL, REJOIN = "group_replication_member_expel_timeout", "group_replication_autorejoin_tries"
EXIT = "group_replication_exit_state_action"
DETECTION = 5  # seconds until a silent member is suspected
LONG_WAIT = 60  # seconds without a primary
CACHE = "group_replication_message_cache_size"
LEAST_CACHE = 128 << 20  # bytes; the minimum since 8.0.21
DEFAULT_CACHE = 1 << 30
ALLOWED = ("group_replication_ip_allowlist", "group_replication_ip_whitelist")
TLS, STACK, ADDRESS = (f"group_replication_{name}" for name in ("ssl_mode", "communication_stack", "local_address"))
LOOPBACK = ("127.", "LOCALHOST:", "[::1]:")


def _members(context: RuleContext) -> tuple[GroupMember, ...]:
    part = context.server.replication
    return part.members or () if part is not None else ()


def _own_member(context: RuleContext) -> GroupMember | None:
    return next((member for member in _members(context) if member.own), None)


def _queue_text(member: GroupMember | None) -> str:
    """A sentence, after a space, about the transactions that a member has not applied yet; empty without any."""
    count = (member.applying if member else None) or 0
    return f" {count:,} transaction{'s wait' if count > 1 else ' waits'} in its queue." if count else ""


def _applier(context: RuleContext) -> ApplierTimes | None:
    part = context.server.replication
    return next((times for times in (part.applier_times if part else ()) if times.channel == APPLIER), None)


@rule(
    "GRP008",
    "writable-group-secondary",
    severity=Severity.ERROR,
    summary="A secondary accepts writes, and one conflicting write can remove all members from the group.",
    needs=("server",),
    targets=EIGHT,
    options=(SUPER,),
    evidence=("ASK-GRP-03",),
    docs=Docs(
        why="In single-primary mode the group does not check for conflicts. A write on a secondary is sent to all "
        "members. If it conflicts with a write of the primary, the appliers fail: on MySQL 9.7 a single INSERT with a "
        "key that the primary also used put all three members into the state ERROR and offline mode.",
        fix="Set super_read_only = ON on the secondary. To write there, make it the primary with "
        "group_replication_set_as_primary() (8.0.13 and later).",
        risk="Clients that write on this member get error 1290.",
        exceptions="None.",
        reconsider_when="super_read_only ON on each secondary.",
    ),
)
def writable_group_secondary(context: RuleContext) -> Iterator[Finding]:
    """Report a secondary of a group with a single primary whose super_read_only is OFF."""
    own = _own_member(context)
    secondary = own is not None and own.state == ONLINE and own.role == SECONDARY
    if secondary and context.settings.on(SINGLE) is not False and context.settings.on(SUPER) is False:
        action = Action(
            statement=f"SET GLOBAL {SUPER} = ON;",
            undo=f"SET GLOBAL {SUPER} = OFF;",
            risk="clients that write on this member get error 1290",
        )
        yield writable_group_secondary.finding(
            "This member is a secondary but accepts writes. A write that conflicts with the primary's can set all "
            "members to ERROR.",
            variable_subject(context, SUPER),
            help=f"run SET GLOBAL {SUPER} = ON, and find out what switched it off",
            actions=() if context.server.managed else (action,),
        )


@rule(
    "GRP009",
    "mixed-group-versions",
    severity=Severity.NOTE,
    summary="The members of the group run different versions.",
    needs=("server",),
    targets=EIGHT,
    evidence=("GRP-08",),
    docs=Docs(
        why="A group with several versions is meant only for an upgrade. The group uses the features of the lowest "
        "version, and a member with a higher version should not be the primary: the others may not understand what it "
        "writes.",
        fix="Upgrade the remaining members, the primary last.",
        risk="Each member leaves the group for its upgrade.",
        exceptions="A rolling upgrade.",
        reconsider_when="One MEMBER_VERSION in performance_schema.replication_group_members.",
    ),
)
def mixed_group_versions(context: RuleContext) -> Iterator[Finding]:
    """Report members of more than one version."""
    versions = sorted(
        {member.version for member in _members(context) if member.version},
        key=lambda text: tuple(int(part) if part.isdigit() else 0 for part in text.split(".")),
    )
    if len(versions) > 1:
        yield mixed_group_versions.finding(
            f"The group has members with the versions {' and '.join(versions)}: this is meant only for an upgrade.",
            variable_subject(context, GROUP),
            help=f"upgrade the remaining members to {versions[-1]}, the primary last",
        )


@rule(
    "GRP010",
    "group-applier-blocked",
    summary="The applier of this member waits for a lock of another session.",
    needs=("server",),
    targets=EIGHT,
    evidence=("ASK-GRP-04",),
    docs=Docs(
        why="While a session holds a lock (LOCK TABLES, FLUSH TABLES WITH READ LOCK, a metadata lock of a long "
        "transaction), the member applies nothing that needs it. Its queue grows, its readers see old data, and above "
        "its threshold flow control slows down the writers of the group.",
        fix="Find the session that holds the lock in performance_schema.metadata_locks, and end it.",
        risk="The work of the session that is ended is rolled back.",
        exceptions="A backup that holds a lock for a moment.",
        reconsider_when="Workers that do not wait.",
    ),
)
def group_applier_blocked(context: RuleContext) -> Iterator[Finding]:
    """Report workers of the group's applier that wait for a lock for some seconds."""
    own, times = _own_member(context), _applier(context)
    if own is None or times is None or not times.locked or (times.applying or 0) < BLOCKED:
        return
    waiting = _queue_text(own)
    yield group_applier_blocked.finding(
        f"The group's applier on this member waits for a lock. The oldest transaction that waits was committed "
        f"{format_duration(times.applying or 0)} ago.{waiting}",
        help="find the session that holds the lock (LOCK TABLES, FLUSH TABLES WITH READ LOCK, a long transaction) and "
        "end it",
    )


@rule(
    "GRP011",
    "group-member-behind",
    summary="A member is far behind: its queue exceeds the threshold of flow control, or readers see old data.",
    needs=("server",),
    targets=EIGHT,
    options=(FLOW,),
    evidence=("ASK-GRP-04", "GRP-04", "GRP-15"),
    docs=Docs(
        why="Above the thresholds of flow control (25,000 transactions by default) writers are slowed down so that the "
        "member can catch up. If this member becomes the primary, clients wait until its queue is applied, or with "
        "group_replication_consistency = EVENTUAL, the default before 8.4, read old data meanwhile. One minute of "
        "delay is our limit.",
        fix="Look on that member for locks, slow disks, tables without a primary key and too few "
        "replica_parallel_workers (slave_parallel_workers before 8.0.26).",
        risk="None.",
        exceptions="A bulk load, and a member that has just joined.",
        reconsider_when="Queues near 0 on all members at the busiest hour.",
    ),
)
def group_member_behind(context: RuleContext) -> Iterator[Finding]:
    """Report members with long queues, and this member if it applies what was committed a minute ago."""
    for member in _members(context):
        for queue, waiting in zip(THRESHOLDS, (member.certifying, member.applying), strict=True):
            threshold = context.number(THRESHOLDS[queue])
            limit = THRESHOLD if threshold is None else threshold
            if waiting is not None and waiting > (limit or THRESHOLD):  # with 0 every queue is above it
                slows = " Flow control slows down writers." if context.text(FLOW) == "QUOTA" else ""
                yield group_member_behind.finding(
                    f"{waiting:,} transactions wait for {queue} on {'this' if member.own else 'another'} member; the "
                    f"threshold of flow control is {limit:,}.{slows}",
                    help=_look_for_cause(member),
                )
    own, times = _own_member(context), _applier(context)
    late = times.applying or 0 if times is not None and not times.locked else 0
    if own is not None and own.state == ONLINE and late >= BEHIND:
        yield group_member_behind.finding(
            f"This member applies transactions that were committed {format_duration(late)} ago: its readers see old "
            "data.",
            help=_look_for_cause(own),
        )


def _look_for_cause(member: GroupMember) -> str:
    where = "on this member" if member.own else "on the member with the longest queue"
    return f"look {where} for locks, slow disks and tables without a primary key"


@rule(
    "GRP012",
    "long-member-expel-timeout",
    severity=Severity.NOTE,
    confidence=Confidence.LIKELY,
    summary="A crashed primary is replaced only after more than a minute.",
    targets=(Span("mysql", since=(8, 0, 13)),),
    options=(EXPEL,),
    evidence=("ASK-GRP-05", "GRP-09"),
    docs=Docs(
        why="A silent member is suspected after 5 seconds and expelled after group_replication_member_expel_timeout "
        "more. No new primary is elected before that. Messages are kept for the suspected member until the message "
        "cache is full. More than a minute is our limit.",
        fix="Lower group_replication_member_expel_timeout to what the network needs.",
        risk="Members are expelled during shorter network failures. They rejoin by themselves, before 8.0.21 only with "
        "group_replication_autorejoin_tries above 0.",
        exceptions="Networks with long failures, if the application should rather wait.",
        reconsider_when="Network failures that last longer than the default.",
    ),
)
def long_member_expel_timeout(context: RuleContext) -> Iterator[Finding]:
    """Report an explicitly configured expel timeout above a minute."""
    seconds = context.number(EXPEL)
    if context.is_set(EXPEL) and seconds is not None and seconds > LONG_WAIT:
        long = f"{exact_duration(seconds + DETECTION)} ({DETECTION} s + {EXPEL})"
        yield long_member_expel_timeout.finding(
            f"A member that crashes stays in the group for {long}, and the others keep their messages for it."
            if context.settings.on(SINGLE) is False
            else f"If the primary crashes, the group has none for {long}.",
            variable_subject(context, EXPEL),
            help=f"lower it to what the network needs; the default is {DETECTION} s since 8.0.21",
        )


@rule(
    "GRP013",
    "expelled-members-stay-out",
    severity=Severity.NOTE,
    targets=(Span("mysql", since=(8, 0, 16)),),
    summary="A member that the group expelled does not rejoin by itself.",
    options=(REJOIN,),
    evidence=("ASK-GRP-05", "GRP-10"),
    docs=Docs(
        why="With group_replication_autorejoin_tries = 0 a member that was unreachable for some seconds stays out "
        "until STOP and START GROUP_REPLICATION. The group then survives fewer failures.",
        fix="Set it to 3, the default since 8.0.21: the tries are five minutes apart. Before 8.0.21 the default is 0.",
        risk="The member is read-only while it tries, which can take minutes, and its readers see old data.",
        exceptions="Groups whose members are supervised by another program.",
        reconsider_when="A program that lets members rejoin.",
    ),
)
def expelled_members_stay_out(context: RuleContext) -> Iterator[Finding]:
    """Report an explicitly configured group_replication_autorejoin_tries = 0."""
    if context.is_set(REJOIN) and context.number(REJOIN) == 0:
        action = _set_variable(context, REJOIN, 3)
        yield expelled_members_stay_out.finding(
            "After a short network failure this member stays out of the group until START GROUP_REPLICATION.",
            variable_subject(context, REJOIN),
            help=help_line(action),
            actions=present(action),
        )


@rule(
    "GRP014",
    "group-exit-stops-server",
    severity=Severity.NOTE,
    targets=(Span("mysql", since=(8, 0, 12)),),
    summary="If the member leaves its group involuntarily, the server shuts down without trying to rejoin.",
    options=(EXIT,),
    evidence=("GRP-10",),
    docs=Docs(
        why="ABORT_SERVER shuts the server down when the group expels it or its applier fails. Without autorejoin a "
        "network failure of some seconds is enough. If a service manager restarts the server, this may repeat.",
        fix="Set group_replication_autorejoin_tries to 3, or group_replication_exit_state_action to OFFLINE_MODE "
        "(8.0.18 and later).",
        risk="While it tries to rejoin, and with READ_ONLY afterwards too, clients read old data from a member that "
        "left; OFFLINE_MODE disconnects them.",
        exceptions="Clusters that prefer a stopped server, because their clients would read old data.",
        reconsider_when="Routers that send no clients to members outside the group.",
    ),
)
def group_exit_stops_server(context: RuleContext) -> Iterator[Finding]:
    """Report ABORT_SERVER together with group_replication_autorejoin_tries = 0."""
    if context.is_set(EXIT) and context.text(EXIT) == "ABORT_SERVER" and context.number(REJOIN) == 0:
        yield group_exit_stops_server.finding(
            "If the group expels this member, the server shuts down at once: it does not try to rejoin.",
            variable_subject(context, EXIT),
            help=f"set {REJOIN} to 3, or {EXIT} to OFFLINE_MODE",
        )


@rule(
    "GRP015",
    "group-cache-exceeds-memory",
    confidence=Confidence.LIKELY,
    summary="The group message cache does not fit into the memory that the rest of the server leaves.",
    needs=("server", "host"),
    targets=(Span("mysql", since=(8, 0, 16)),),
    options=(CACHE,),
    evidence=("ASK-GRP-06", "GRP-11", "ASK-GRP-09"),
    docs=Docs(
        why="Each member keeps the messages of the group in memory, up to group_replication_message_cache_size (1 GiB "
        "by default), in addition to all other buffers. The cache grows with what the group writes, until it is full: "
        "on MySQL 9.7 150 MiB of inserts took 151 MiB of it, without any failure, and it did not shrink by itself.",
        fix="Lower group_replication_message_cache_size to what fits, 128M at least (8.0.21 and later), on all "
        "members, or lower innodb_buffer_pool_size.",
        risk="With a small cache, a member that was unreachable for a long time cannot catch up from the other "
        "members' caches, and is expelled.",
        restart=False,
        exceptions="Groups that write less than the size of the cache between two restarts.",
        reconsider_when="memory/group_rpl/GCS_XCom::xcom_cache far below the limit, after days of writes.",
    ),
)
def group_cache_exceeds_memory(context: RuleContext) -> Iterator[Finding]:
    """Report a member whose expected memory and message cache together exceed the usable memory."""
    own, room = _own_member(context), usable_memory(context)
    size = context.number(CACHE) or DEFAULT_CACHE
    if own is None or own.state not in {ONLINE, RECOVERING} or room is None:
        return
    left = room[0] - system_memory(context, room[0]) - expected_memory(context)
    if size <= left:
        return
    fits = max(left, 0) // LEAST_CACHE * LEAST_CACHE
    can_lower = context.target.version >= (8, 0, 21) and fits >= LEAST_CACHE
    action = _set_variable(context, CACHE, fits, "a member that is unreachable for a long time is expelled")
    yield group_cache_exceeds_memory.finding(
        f"The group message cache may take {format_size(size)}, but the server's other memory leaves only "
        f"{format_size(max(left, 0))} of {room[1]}.",
        variable_subject(context, CACHE),
        help=f"lower {CACHE} to {exact_size(fits)} on all members"
        if can_lower
        else "lower innodb_buffer_pool_size, or add memory",
        actions=present(action if can_lower else None),
    )


def _set_variable(context: RuleContext, name: str, value: int, risk: str = "") -> Action:
    """The action for a dynamic variable of the plugin, which the catalog does not have."""
    line, now = f"{name} = {exact_size(value) if value >= LEAST_CACHE else value}", context.number(name)
    if not context.has("server") or context.server.managed:
        return Action(option_line=line, risk=risk)
    undo = None if now is None else f"SET GLOBAL {name} = {now};"
    return Action(option_line=line, statement=f"SET GLOBAL {name} = {value};", undo=undo, risk=risk)


@rule(
    "GRP016",
    "open-group-without-tls",
    severity=Severity.NOTE,
    confidence=Confidence.LIKELY,
    summary="Any host of a private network may connect to the group communication port, without TLS.",
    targets=MYSQL,
    options=(TLS, *ALLOWED),
    triggers=(GROUP,),
    evidence=("GRP-12", "ASK-GRP-06"),
    docs=Docs(
        why="AUTOMATIC allows all private networks of this host's interfaces to connect to "
        "group_replication_local_address. With group_replication_ssl_mode DISABLED, the default in 8.4 and earlier, "
        "the messages, which contain all row changes, are not encrypted, and the hosts are not verified.",
        fix="Set group_replication_ssl_mode = REQUIRED on all members, and list the members in "
        "group_replication_ip_allowlist (group_replication_ip_whitelist before 8.0.22).",
        risk="All members need the same mode, so group replication must be stopped on all of them and the group "
        "bootstrapped again; the servers keep running.",
        exceptions="A network that only the members use.",
        reconsider_when="group_replication_ssl_mode REQUIRED or stronger.",
    ),
)
def open_group_without_tls(context: RuleContext) -> Iterator[Finding]:
    """Report AUTOMATIC or a wildcard in the allowlist while TLS of the group is off."""
    name = next((name for name in ALLOWED if context.text(name) is not None), None)
    configured = context.is_set(GROUP) and context.text(GROUP) not in {"", None}
    address = context.text(ADDRESS) or ""
    if name is None or not configured or context.text(STACK) == "MYSQL" or not address or address.startswith(LOOPBACK):
        return
    if context.text(name) == "AUTOMATIC" and context.text(TLS) == "DISABLED":
        yield open_group_without_tls.finding(
            "The group's messages are not encrypted, and any host of a private network may connect to its port.",
            variable_subject(context, TLS if context.is_set(TLS) else name if context.is_set(name) else GROUP),
            help=f"set {TLS} = REQUIRED on all members, and list the members in {name}",
        )


@rule(
    "GRP017",
    "recovering-group-member",
    severity=Severity.NOTE,
    summary="This member is RECOVERING: it is fetching missing transactions, and its data is not current.",
    needs=("server",),
    targets=MYSQL,
    evidence=("GRP-13",),
    docs=Docs(
        why="After joining, a member fetches the missing transactions from another member before it is ONLINE. It "
        "counts towards the majority, but cannot become the primary.",
        fix="Wait. If it stays RECOVERING, look at the error log and at the channel group_replication_recovery for "
        "its error.",
        risk="None.",
        exceptions="A member that has just joined.",
        reconsider_when="MEMBER_STATE ONLINE.",
    ),
)
def recovering_group_member(context: RuleContext) -> Iterator[Finding]:
    """Report a member that is in state RECOVERING."""
    part = context.server.replication
    if part is not None and part.group_state == RECOVERING:
        waiting = _queue_text(_own_member(context))
        yield recovering_group_member.finding(
            "MEMBER_STATE is RECOVERING: this member is fetching missing transactions, and its data is not "
            f"current.{waiting}",
            variable_subject(context, GROUP),
            help="wait; if the state does not change, look for errors of the channel group_replication_recovery",
        )
