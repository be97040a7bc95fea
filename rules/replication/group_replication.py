"""GRP: rules about the settings and state of a MySQL Group Replication member."""

from __future__ import annotations

from advisor.core import NamedTuple
from advisor.core.model import Confidence, Origin, Severity
from rules.core import Docs, Span, rule
from rules.core.subject import variable_subject, written_name
from rules.durability import log_bin_line, switches_off, writes_binary_log
from rules.durability.crash_safety import CHECKSUM, GROUP, NEEDS_NONE_BEFORE
from rules.replication import (
    APPLIED_POSITION,
    LOGS_UPDATES,
    ORDER,
    PARALLEL_BY,
    RECEIVED_POSITION,
    upper_value,
    worker_count,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from advisor.core.model import Finding
    from rules.core.context import RuleContext

MYSQL = (Span("mysql"),)
FOUNDS = "group_replication_bootstrap_group"
STARTS = "group_replication_start_on_boot"
SINGLE = "group_replication_single_primary_mode"
CHECKS = "group_replication_enforce_update_everywhere_checks"
ADDRESS = "group_replication_local_address"
FLOW = "group_replication_flow_control_mode"
WRITE_SETS = "transaction_write_set_extraction"
LIMIT = "group_replication_transaction_size_limit"
UUID_DIGITS, UUID_PARTS = 32, [8, 4, 4, 4, 12]
SURVIVING = 3  # members of the smallest group that survives the loss of one
REACHED = ("ONLINE", "RECOVERING")  # member states that count towards the majority
ASKED = (9, 7)  # what older series need is known from their manuals
OUTSIDE = ("OFFLINE", "ERROR")  # states of a member that has left its group or never joined


@rule(
    "GRP001",
    "group-founds-itself-anew",
    summary="Each start of the member bootstraps a new group instead of joining the existing one.",
    targets=MYSQL,
    options=(FOUNDS,),
    evidence=("GRP-01", "ASK-GRP-01", "ASK-GRP-08"),
    docs=Docs(
        why="The option is only for bootstrapping a group. If it stays in an option file, or stays ON, the next start "
        "of group replication bootstraps a second group of the same name, and both accept writes. That is the server's "
        "next start, or with group_replication_start_on_boot = OFF the next START GROUP_REPLICATION.",
        fix="Remove the line. To bootstrap a group, set the variable, start group replication, and reset the variable.",
        risk="A member that finds no group does not bootstrap one by itself.",
        exceptions="Groups of one member, for tests.",
        reconsider_when="A restart after which the member is in its former group.",
    ),
)
def group_founds_itself_anew(context: RuleContext) -> Iterator[Finding]:
    """Report group_replication_bootstrap_group = ON."""
    if context.is_set(FOUNDS) and context.settings.on(FOUNDS):
        setting = context.settings.get(FOUNDS)
        set_now = setting is not None and setting.origin is Origin.RUNTIME  # a restart of the server loses it
        by_hand = set_now or context.settings.on(STARTS) is False
        yield group_founds_itself_anew.finding(
            f"The next {'START GROUP_REPLICATION' if by_hand else 'start'} bootstraps a second group of the same name "
            "instead of joining the existing one.",
            variable_subject(context, FOUNDS),
            help="remove the line, and set the variable only while you bootstrap a group",
        )


@rule(
    "GRP002",
    "group-needs-unmet",
    severity=Severity.ERROR,
    summary="The member lacks settings that group replication requires to start.",
    targets=MYSQL,
    options=(GROUP,),
    evidence=("ASK-GRP-01", "ASK-GRP-07", "GRP-02", "GRP-07", "GRP-14"),
    docs=Docs(
        why="The server itself starts, and reports only in its error log that group replication does not: it has not "
        "joined its group, and accepts writes. The group's name must be a UUID, and single-primary mode does not allow "
        "the checks that multi-primary mode needs. Members communicate on a separate port, unless their communication "
        "stack is MYSQL. GTIDs are on by default in 9.7, and off in 8.4 and earlier. Before 8.0.21 group replication "
        "does not work with checksums in the binary log, which are on by default. Parallel appliers need "
        "replica_parallel_type = LOGICAL_CLOCK, which is the default since 8.0.27.",
        fix="Set the options that the finding lists.",
        risk="With GTIDs some statements are refused, such as changes to InnoDB and MyISAM tables in one transaction.",
        restart=True,
        exceptions="None.",
        reconsider_when="A member with these settings that is ONLINE. 9.7 was tested; what earlier series need is from "
        "their manuals, so the finding is likely there.",
    ),
)
def group_needs_unmet(context: RuleContext) -> Iterator[Finding]:
    """Report a member that lacks settings required by Group Replication."""
    missing = list(_missing_requirements(context)) if context.is_set(GROUP) else []
    if missing:
        wrong = next((name for need in missing for name in need.options if context.is_set(name)), GROUP)
        yield group_needs_unmet.finding(
            f"Group replication does not start: {', '.join(need.now for need in missing)}. The server runs outside its "
            "group and accepts writes.",
            variable_subject(context, wrong),
            confidence=None if context.target.since("mysql", *ASKED) else Confidence.LIKELY,
            help=f"set {', '.join(need.instead for need in missing)}",
        )


class Requirement(NamedTuple):
    """What a member has now, what it needs instead, and the options of which a wrong line may be in the file."""

    now: str
    instead: str
    options: tuple[str, ...]


def _missing_requirements(context: RuleContext) -> Iterator[Requirement]:
    """What the member lacks."""
    if (mode := context.text("gtid_mode")) not in {"ON", None}:
        yield Requirement(f"gtid_mode is {mode}", "gtid_mode and enforce_gtid_consistency = ON", ("gtid_mode",))
    if not writes_binary_log(context):
        line = log_bin_line(context)
        off = written_name(line.placed.line) if line is not None and switches_off(line) else ""
        yield Requirement(
            "there is no binary log", f"log_bin = NAME without {off}" if off else "log_bin = NAME", ("log_bin",)
        )
    if upper_value(context, LOGS_UPDATES) == "OFF" and _is_certain(context, LOGS_UPDATES):
        yield _applier_requirement(context, LOGS_UPDATES, "OFF", "ON")
    if (log := context.text("binlog_format")) not in {"ROW", None}:
        yield Requirement(f"binlog_format is {log}", "binlog_format = ROW", ("binlog_format",))
    if upper_value(context, PARALLEL_BY) == "DATABASE" and worker_count(context):
        yield _applier_requirement(context, PARALLEL_BY, "DATABASE", "LOGICAL_CLOCK")
    if upper_value(context, ORDER) == "OFF" and worker_count(context):
        yield _applier_requirement(context, ORDER, "OFF", "ON")
    if context.text(WRITE_SETS) == "OFF":
        yield Requirement(f"{WRITE_SETS} is OFF", f"{WRITE_SETS} = XXHASH64", (WRITE_SETS,))
    for name in (RECEIVED_POSITION, APPLIED_POSITION):
        if context.text(name) == "FILE":
            yield Requirement(f"{name} is FILE", f"{name} = TABLE", (name,))
    if context.target.version < NEEDS_NONE_BEFORE and (sum_ := context.text(CHECKSUM)) not in {"NONE", None}:
        yield Requirement(f"{CHECKSUM} is {sum_}", f"{CHECKSUM} = NONE", (CHECKSUM,))
    yield from _missing_group_settings(context)


def _missing_group_settings(context: RuleContext) -> Iterator[Requirement]:
    """What is wrong with the plugin's own options."""
    if context.is_set(CHECKS) and context.settings.on(CHECKS) and context.settings.on(SINGLE) is not False:
        yield Requirement(f"{CHECKS} is ON with a single primary", f"{CHECKS} = OFF or {SINGLE} = OFF", (CHECKS,))
    if (name := context.settings.text(GROUP) or "") and not _is_uuid(name):
        yield Requirement(f"{GROUP} is not a UUID", f"{GROUP} to a UUID, such as SELECT UUID() returns", (GROUP,))
    if _shares_port(context):
        yield Requirement(f"{ADDRESS} has the server's port", f"another port in {ADDRESS}", (ADDRESS,))


def _applier_requirement(context: RuleContext, names: tuple[str, ...], now: str, instead: str) -> Requirement:
    """A requirement for an option that was called slave_… before 8.0.26."""
    name = names[context.target.version < (8, 0, 26)]
    return Requirement(f"{name} is {now}", f"{name} = {instead}", names)


def _shares_port(context: RuleContext) -> bool:
    """Whether the group's own communication is given the port on which the server listens for clients.

    With the communication stack MYSQL it must be that port. A server that listens on certain addresses may leave the
    port free on another.
    """
    _, _, port = (context.settings.text(ADDRESS) or "").rpartition(":")
    listens = context.number("port")
    own_stack = upper_value(context, ("group_replication_communication_stack",)) != "MYSQL"
    return port.isdigit() and int(port) == listens and own_stack and not context.is_set("bind_address")


def _is_uuid(text: str) -> bool:
    """Whether it is a UUID in one of the notations that MySQL takes: with hyphens, without them, or in braces."""
    bare = text[1:-1] if text.startswith("{") and text.endswith("}") else text
    digits = bare.replace("-", "")
    whole = len(digits) == UUID_DIGITS and not set(digits.lower()) - set("0123456789abcdef")
    return whole and [len(part) for part in bare.split("-")] in ([UUID_DIGITS], UUID_PARTS)


def _is_certain(context: RuleContext, names: tuple[str, ...]) -> bool:
    """Whether the value is certain: from a server or a file, or a default of an old version, which is known."""
    return context.has("server") or any(map(context.is_set, names)) or context.target.version < (8, 0)


@rule(
    "GRP003",
    "multi-primary-without-checks",
    confidence=Confidence.LIKELY,
    summary="All members accept writes, and unsafe statements are not rejected.",
    targets=MYSQL,
    options=(SINGLE,),
    evidence=("GRP-03", "ASK-GRP-09"),
    docs=Docs(
        why="Cascading foreign keys and SERIALIZABLE transactions cause conflicts that the group does not detect when "
        "several members accept writes. The checks reject such statements; they are off by default.",
        fix="Set group_replication_enforce_update_everywhere_checks = ON on all members, or use a single primary.",
        risk="Transactions on such tables fail. Before 8.0.13 group replication must be stopped on all members to "
        "enable the checks, and the group bootstrapped again. Later versions change the mode while the group runs: "
        "group_replication_switch_to_single_primary_mode(), and group_replication_switch_to_multi_primary_mode() "
        "enables the checks too (9.7 was tested).",
        exceptions="Applications without cascading foreign keys that never use SERIALIZABLE.",
        reconsider_when="A schema without cascading foreign keys.",
    ),
)
def multi_primary_without_checks(context: RuleContext) -> Iterator[Finding]:
    """Report several primaries without group_replication_enforce_update_everywhere_checks."""
    several = context.is_set(SINGLE) and context.settings.on(SINGLE) is False
    if several and context.settings.on(CHECKS) is not True:
        yield multi_primary_without_checks.finding(
            "All members accept writes, and conflicts through cascading foreign keys or SERIALIZABLE go undetected.",
            variable_subject(context, SINGLE),
            help=f"set {CHECKS} = ON on all members, or use a single primary",
        )


@rule(
    "GRP004",
    "group-without-flow-control",
    severity=Severity.NOTE,
    confidence=Confidence.LIKELY,
    summary="Flow control is off: members that cannot keep up fall behind without limit.",
    targets=MYSQL,
    options=(FLOW,),
    evidence=("GRP-04", "GRP-15"),
    docs=Docs(
        why="A slow member's queue grows for as long as the others write faster. Its readers see old data. When it "
        "must take over, clients wait until its queue is applied, or with group_replication_consistency = EVENTUAL, "
        "the default before 8.4, read old data meanwhile.",
        fix="Leave flow control on, and find out why the member is slow.",
        risk="Writers wait while a member is behind.",
        exceptions="Groups whose slow members never take over and serve no readers.",
        reconsider_when="Queues that stay short on all members at the busiest hour.",
    ),
)
def group_without_flow_control(context: RuleContext) -> Iterator[Finding]:
    """Report explicitly disabled flow control."""
    if context.is_set(FLOW) and context.text(FLOW) == "DISABLED":
        yield group_without_flow_control.finding(
            "Writers never wait for a slow member: there is no limit to its queue or to the age of the data that its "
            "readers see.",
            variable_subject(context, FLOW),
            help="remove the line: the default makes writers wait for members that are far behind",
        )


@rule(
    "GRP005",
    "unlimited-group-transactions",
    severity=Severity.NOTE,
    confidence=Confidence.LIKELY,
    summary="Transactions of any size go to the group, and a huge one can get a member expelled.",
    targets=(Span("mysql", since=(8, 0)),),
    options=(LIMIT,),
    evidence=("GRP-05",),
    docs=Docs(
        why="A member that is busy with a huge transaction does not respond, is considered dead and is expelled. With "
        "the default of 150,000,000 bytes such a transaction is rolled back instead.",
        fix="Remove the line, and split large changes into smaller ones.",
        risk="Transactions above the limit fail.",
        exceptions="While a large table is being loaded.",
        reconsider_when="Transactions that are known to stay small.",
    ),
)
def unlimited_group_transactions(context: RuleContext) -> Iterator[Finding]:
    """Report group_replication_transaction_size_limit = 0."""
    if context.is_set(LIMIT) and context.number(LIMIT) == 0:
        yield unlimited_group_transactions.finding(
            "Without a limit a huge transaction can keep a member so busy that the group expels it.",
            variable_subject(context, LIMIT),
            help="remove the line: by default, transactions above 150,000,000 bytes are rolled back",
        )


@rule(
    "GRP006",
    "group-that-survives-nothing",
    severity=Severity.NOTE,
    summary="The group cannot survive the loss of another member, or has lost its majority already.",
    needs=("server",),
    targets=MYSQL,
    options=(GROUP,),
    evidence=("GRP-06", "ASK-GRP-02"),
    docs=Docs(
        why="A group continues while more than half of its members can be reached. Members are counted by "
        "MEMBER_STATE: ONLINE and RECOVERING members can be reached; UNREACHABLE members still count until the group "
        "expels them. One of two members is never more than half, so the loss of either stops all writes; a member "
        "that is stopped is not lost. Without a majority, writes wait until members return, or until "
        "group_replication_unreachable_majority_timeout, which is off by default.",
        fix="Bring unreachable members back. Run at least three members: three survive the loss of one, five of two.",
        risk="Each member gets all writes.",
        exceptions="A group that is being set up or repaired.",
        reconsider_when="performance_schema.replication_group_members with three members ONLINE.",
    ),
)
def group_that_survives_nothing(context: RuleContext) -> Iterator[Finding]:
    """Report a group that cannot survive the loss of a member, or that has lost its majority."""
    part = context.server.replication
    if part is None or part.group_state in OUTSIDE:
        return
    members, states = part.group_members, part.group_states
    reached = sum(states.get(state, 0) for state in REACHED) if states else members
    if members > 0 and reached * 2 <= members:
        yield group_that_survives_nothing.finding(
            f"The group has lost its majority: {_member_counts(members, states)}. Writes on this member wait.",
            variable_subject(context, GROUP),
            severity=Severity.ERROR,
            help="bring the unreachable members back; group_replication_force_members only if they are lost for good",
        )
    elif members > 0 and (reached - 1) * 2 <= members:
        lost = members - reached
        more = "more " if lost else ""
        yield group_that_survives_nothing.finding(
            f"The group has {_member_counts(members, states)}"
            + (": no other server has its data." if members == 1 else f". The loss of one {more}stops all writes."),
            variable_subject(context, GROUP),
            severity=Severity.WARNING if lost else None,
            help="bring the unreachable members back" if lost else f"add members: {SURVIVING} survive the loss of one",
        )


def _member_counts(members: int, states: dict[str, int]) -> str:
    """The number of members as text, by state if the states are known."""
    states_text = ", ".join(f"{count} {state}" for state, count in sorted(states.items()) if count)
    return f"{members} member{'s' if members > 1 else ''}" + (f" ({states_text})" if states_text else "")


@rule(
    "GRP007",
    "member-outside-its-group",
    needs=("server",),
    summary="Group replication is configured but does not run on this server.",
    targets=MYSQL,
    options=(GROUP,),
    evidence=("ASK-GRP-02", "ASK-GRP-05", "ASK-GRP-09"),
    docs=Docs(
        why="A member in MEMBER_STATE OFFLINE or ERROR receives nothing from its group, so its data becomes stale. A "
        "member that was stopped, or that failed, has super_read_only ON. A member that has not joined since its start "
        "has it OFF once it no longer tries to, and accepts writes that reach no other member.",
        fix="Find the reason in the error log, then run START GROUP_REPLICATION. In the state ERROR it is still "
        "running and must be stopped first. Clients can connect again after SET GLOBAL offline_mode = OFF.",
        risk="The group refuses a member that has transactions the group does not have, until its data is replaced, "
        "for example with the clone plugin (8.0.17 and later).",
        exceptions="A member that was removed for maintenance.",
        reconsider_when="MEMBER_STATE ONLINE on this server.",
    ),
)
def member_outside_its_group(context: RuleContext) -> Iterator[Finding]:
    """Report a member whose state is OFFLINE or ERROR."""
    part = context.server.replication
    if part is None or part.group_state not in OUTSIDE:
        return
    writable = context.settings.on("super_read_only") is False
    yield member_outside_its_group.finding(
        f"MEMBER_STATE is {part.group_state}: this server receives nothing from its group. super_read_only is "
        + ("OFF, so it accepts writes that reach no other member." if writable else "ON, so it accepts no writes."),
        variable_subject(context, GROUP),
        severity=Severity.ERROR if writable else None,
        help="find the reason in the error log; if this member has more executed transactions than the group, replace "
        f"its data with another member's; then run {_start_statements(context, part.group_state)}",
    )


def _start_statements(context: RuleContext, state: str) -> str:
    """The statements that let the member join again; in ERROR the plugin runs, and offline_mode may be ON."""
    stop = "STOP GROUP_REPLICATION; " if state == "ERROR" else ""
    online = "; SET GLOBAL offline_mode = OFF" if context.settings.on("offline_mode") else ""
    return f"{stop}START GROUP_REPLICATION{online}"
