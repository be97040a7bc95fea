"""What to write or send instead: a line, a statement, a setting of the kernel or of the service.

Lines and statements are tried on the catalog first.
"""

from __future__ import annotations

from advisor.core import NamedTuple
from advisor.core.model import Action, exact_size
from advisor.redaction import redact_value
from advisor.verdict import Outcome, judge_value
from advisor.verdict.settings import DEFAULT_CONNECTIONS
from rules.core.context import REMOVE_LINE
from rules.core.subject import find_line, name_in_file

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from advisor.catalog import Option
    from advisor.core.model import Finding
    from advisor.facts.storage import Mount
    from rules.core.context import RuleContext

# Containers whose limits and network settings are arguments of the runtime that starts them.
KUBERNETES = "kubernetes"
IMAGES = frozenset({"docker", "podman", KUBERNETES})
OWN_KERNEL = frozenset({"wsl"})  # the only kind of container that does not share its kernel with other machines
CONTAINER_ARGUMENTS = {
    "LimitNOFILE": "--ulimit nofile",
    "LimitNPROC": "--ulimit nproc",
    "LimitMEMLOCK": "--ulimit memlock",
    "LimitFSIZE": "--ulimit fsize",
    "TasksMax": "--pids-limit",
    "OOMScoreAdjust": "--oom-score-adj",
}
SCOPES = frozenset({"GLOBAL", "PERSIST", "PERSIST_ONLY"})
DIGITS = 20  # of any 64-bit number
GROUP_REPLICATION_CHANNEL = "group_replication_"  # channels that group replication starts and stops itself


def advise(
    context: RuleContext,
    name: str,
    value: int | str,
    *,
    size: bool = False,
    live: bool = True,
    risk: str = "",
    watch: str | None = None,
) -> Action | None:
    """The action that sets a variable to the value; None if the target lacks the option or would not accept the value.

    `size` writes a number of bytes with its suffix; `risk` says what the change may cost, a stall included. `live` is
    False if the variable is dynamic but cannot be given this value at run time.
    """
    option = _find_option(context, name)
    if option is None or judge_value(name_in_file(option), str(value), context.catalog).outcome is not Outcome.ACCEPTED:
        return None
    shown = exact_size(value) if size and isinstance(value, int) else str(value)
    if context.has("server"):
        from rules.core.statements import server_action

        return server_action(context, option, str(value), shown, live=live, risk=risk, watch=watch)
    restart = not (live and option.dynamic and option.variable is not None)
    done = Action(option_line=f"{name_in_file(option)} = {shown}", risk=risk, restart=restart, watch=watch)
    if context.find_source is None:
        return done
    from rules.core.statements import document_action

    return document_action(done, context, option, str(value), shown)


# Variables of MariaDB before 11.1 whose options have other names.
VARIABLES = {"transaction_isolation": "tx_isolation", "transaction_read_only": "tx_read_only"}


def _find_option(context: RuleContext, name: str) -> Option | None:
    """The option of a variable or name, with its variable where that has a name of its own."""
    other = next((option for option, variable in VARIABLES.items() if variable == name), name)
    option = context.catalog.find_variable(name) or context.catalog.get(name) or context.catalog.get(other)
    if option is None or option.variable is not None or option.name not in VARIABLES:
        return option
    return option._replace(variable=VARIABLES[option.name], dynamic=True, scope="both")


def with_replica_stopped(context: RuleContext, action: Action | None) -> Action | None:
    """Add statements to the action that stop a running replica's threads before the change and start them afterwards.

    The server refuses such a change while these threads run. Threads that are stopped already stay stopped. The
    channels of Group Replication cannot be stopped this way; for them only the option line is advised.
    """
    rows = context.server.replication.replica_rows if context.has("server") and context.server.replication else ()
    running = [row for row in rows if any(_is_running_thread(name, text) for name, text in row.items())]
    if action is None or action.statement is None or not running:
        return action
    if any((row.get("Channel_Name") or "").startswith(GROUP_REPLICATION_CHANNEL) for row in running):
        if action.statement.startswith("SET PERSIST "):
            return action._replace(
                statement=_persist_only(action.statement), undo=_persist_only(action.undo or ""), restart=True
            )
        return action._replace(statement=None, undo=None, restart=True)
    threads = "ALL SLAVES" if context.target.is_mariadb else replica_keyword(context)
    risk = "; ".join(filter(None, (action.risk, "nothing is applied while the replica is stopped")))
    starts = " ".join(_restarts(context, rows)) or f"START {threads};"
    return action._replace(
        statement=f"STOP {threads}; {action.statement} {starts}",
        undo=f"STOP {threads}; {action.undo} {starts}" if action.undo else None,
        risk=risk,
    )


def _restarts(context: RuleContext, rows: tuple[dict[str, str | None], ...]) -> Iterator[str]:
    """The statements that start the threads which run now, one for each channel; none if all threads run."""
    halted = [[kind for kind in ("IO", "SQL") if _is_halted(row, kind)] for row in rows]
    for row, kinds in zip(rows, halted, strict=True):
        thread = {"": "", "IO": " SQL_THREAD", "SQL": " IO_THREAD"}.get("+".join(kinds))
        if any(halted) and thread is not None:
            name = row.get("Connection_name" if context.target.is_mariadb else "Channel_Name") or ""
            yield f"{replica_statement(context, 'START', name, thread, several=len(rows) > 1)};"


def _is_halted(row: dict[str, str | None], kind: str) -> bool:
    return any(name.endswith(f"_{kind}_Running") and text == "No" for name, text in row.items())


def replica_statement(context: RuleContext, verb: str, channel: str, what: str = "", *, several: bool = False) -> str:
    """START, STOP or SHOW for one channel in the words of the target; `what` follows, as " IO_THREAD" or " STATUS".

    Without a name such a statement is for all channels on MySQL, so that `several` names the default channel too.
    """
    name = quote_channel(channel) or (" ''" if several else "")
    if context.target.is_mariadb:
        return f"{verb} SLAVE{name}{what}"
    return f"{verb} {replica_keyword(context)}{what}{' FOR CHANNEL' if name else ''}{name}"


def quote_channel(name: str) -> str:
    """A channel's name for a statement, after a space; empty for the default channel."""
    return " '{}'".format(name.replace("'", "''")) if name else ""


def _persist_only(statement: str) -> str:
    """Replace SET PERSIST by SET PERSIST_ONLY, so that the value takes effect at the next start only."""
    return statement.replace("SET PERSIST ", "SET PERSIST_ONLY ", 1)


# Dynamic variables that servers refuse to change while the threads of a replica run: errors 3017 and 1198, on all six.
OF_STOPPED_REPLICA = frozenset(
    (
        *("replica_parallel_type", "slave_parallel_type", "replica_preserve_commit_order"),
        *("slave_preserve_commit_order", "master_info_repository", "relay_log_info_repository"),
        *("slave_parallel_mode", "slave_parallel_threads", "slave_domain_parallel_threads"),
        *("gtid_ignore_duplicates", "gtid_pos_auto_engines", "replicate_do_db", "replicate_ignore_db"),
        *("replicate_do_table", "replicate_ignore_table", "replicate_wild_do_table", "replicate_wild_ignore_table"),
        *("replicate_events_marked_for_skip", "replicate_rewrite_db"),
    )
)


def as_replica_takes(context: RuleContext, variable: str, action: Action) -> Action | None:
    """The action, with a running replica stopped around it where the server otherwise refuses to change the variable.

    None if nothing is left of it, as on a member of a group.
    """
    rows = variable == "binlog_format" and context.target.since("mysql", 8)
    done = with_replica_stopped(context, action) if rows or variable in OF_STOPPED_REPLICA else action
    return done if done is not None and (done.statement or done.option_line or done.argument) else None


def _is_running_thread(name: str, text: str | None) -> bool:
    return name.endswith(("_IO_Running", "_SQL_Running")) and text != "No"


def replica_keyword(context: RuleContext) -> str:
    """The keyword for replicas in statements: REPLICA since MySQL 8.0.22, otherwise SLAVE (MariaDB accepts both)."""
    return "REPLICA" if context.target.since("mysql", 8, 0, 22) else "SLAVE"


def source_keyword(context: RuleContext) -> str:
    """SOURCE or MASTER, as the options of the target's CHANGE REPLICATION SOURCE TO or CHANGE MASTER TO begin."""
    return "SOURCE" if context.target.since("mysql", 8, 0, 23) else "MASTER"


def default_number(context: RuleContext, name: str) -> int | None:
    """The target's default as a number; None if it depends on the host."""
    option = context.catalog.find_variable(name) or context.catalog.get(name)
    text = (option.default if option else None) or ""
    return int(text) if text.isdigit() else None


def connection_limit(context: RuleContext) -> int | None:
    """max_connections, or the default of all versions if no line sets it; None if a template sets it.

    The catalog has no default, because the open files limit of the system may reduce it.
    """
    value = context.number("max_connections")
    return DEFAULT_CONNECTIONS if value is None and find_line(context, "max_connections") is None else value


def help_line(action: Action | None) -> str:
    """The action as one line of help under a finding."""
    if action is None:
        return ""
    if action.option_line:
        return f"write {action.option_line}"
    if action.argument:
        from rules.core.statements import action_place

        return f"write {action.argument} in place of {action.replaces or 'the option'} in {action_place(action)}"
    return f"run {action.statement}" if action.statement else ""


def set_default(context: RuleContext, name: str, value: str, action: Action | None) -> tuple[str, tuple[Action, ...]]:
    """The help and the actions that set a variable to its default; a deprecated option has its line removed."""
    option = context.catalog.get(name)
    since = option.deprecated if option is not None and "deprecated" in option.documented else None
    version = tuple(int(part) for part in (since or "").split(".") if part.isdigit())
    if option is None or not option.deprecated or version > context.target.version:
        return help_line(action), present(action)
    now = action._replace(option_line=None, argument=None, place=None) if action and action.statement else None
    return f"{REMOVE_LINE}, {value} is the default", present(now)


def kernel_setting_help(context: RuleContext, name: str, value: int) -> str:
    """Where to write a setting of the kernel so that it outlives a reboot, and how to load it now."""
    of_network = name.startswith("net.")
    if of_network and _is_in(context, KUBERNETES):
        return f"set the sysctl {name} to {value} in the pod's securityContext, if the kubelet allows it"
    if of_network and _is_in(context, *IMAGES):
        return f"give the container --sysctl {name}={value}"
    file = f"/etc/sysctl.d/90-{context.target.flavour}.conf"
    where = "" if of_network else kernel_place(context)
    return f"{where}write {name} = {value} to {file}, load it with sysctl -p {file}"


def kernel_place(context: RuleContext) -> str:
    """Where a setting of the whole kernel can be changed: "on the container's host, " in a container, else empty."""
    system = context.host.os if context.has("host") else None
    shared = system is not None and not OWN_KERNEL.issuperset(system.containers)
    return "on the container's host, " if shared else ""


def remount_command(context: RuleContext, mount: Mount, option: str) -> str:
    """The command that changes a mount; where a container's host has the file system is not known inside."""
    from shlex import quote  # lazily: lint sees no mounts

    return f"mount -o remount,{option} {quote(mount.source if kernel_place(context) else mount.point)}"


def group_swappiness(context: RuleContext) -> int | None:
    """The swappiness of the server's control group, which only groups of version 1 have; None where it has none."""
    group, memory = context.host.cgroup, context.host.memory
    if group is None or (group.path == "/" and memory and group.swappiness == memory.swappiness):
        return None
    return group.swappiness


def swappiness_help(context: RuleContext) -> str:
    """How to lower vm.swappiness, and the value of the control group if it has its own."""
    own = ", and write 1 to memory.swappiness of the server's control group, which has its own value"
    return f"{kernel_setting_help(context, 'vm.swappiness', 1)}{'' if group_swappiness(context) is None else own}"


def service_setting_help(context: RuleContext, *settings: str) -> str:
    """Where to write settings, each as NAME=VALUE, that the server's process gets from what starts it.

    The restart that they need is left to the caller, who may have more to say.
    """
    if context.has("server") and context.server.managed:
        return f"have the provider set {' and '.join(settings)}"
    pairs = [setting.partition("=") for setting in settings]
    if _is_in(context, KUBERNETES):
        return f"set {' and '.join(_pod_setting(name, value) for name, _, value in pairs)}"
    if _is_in(context, *IMAGES) and all(name in CONTAINER_ARGUMENTS for name, _, _ in pairs):
        values = [f"{CONTAINER_ARGUMENTS[name]}={'-1' if value == 'infinity' else value}" for name, _, value in pairs]
        return f"give the container {' '.join(values)}"
    unit = context.service.name if context.service else "SERVICE"
    limits = all(name.startswith("Limit") for name, _, _ in pairs)
    script = ", or with ulimit in the script that starts it" if limits and _is_without_unit(context) else ""
    return f"set {' and '.join(settings)} in the service's unit (systemctl edit {unit}){script}"


def _is_without_unit(context: RuleContext) -> bool:
    """Whether the server's process is known and belongs to no unit: another init or a script has started it."""
    known = context.has("server") and context.has("host") and context.host.process is not None
    return known and context.service is None


def _pod_setting(name: str, value: str) -> str:
    """The setting of a unit as Kubernetes has it, which leaves limits to the runtime that its nodes start."""
    if name == "TasksMax":
        return f"podPidsLimit to {value} in the kubelet's configuration"
    if name == "OOMScoreAdjust":
        return "the requests of memory and CPU equal to the limits, in each container of the pod (class Guaranteed)"
    return f"{name}={value} for the container runtime of the node"


def is_in_image(context: RuleContext) -> bool:
    """Whether a runtime started the server's container from an image: limits and capabilities are its arguments."""
    return _is_in(context, *IMAGES)


def _is_in(context: RuleContext, *kinds: str) -> bool:
    system = context.host.os if context.has("host") else None
    return system is not None and not set(kinds).isdisjoint(system.containers)


def present(*actions: Action | None) -> tuple[Action, ...]:
    """The actions that are not None."""
    return tuple(a for a in actions if a is not None)


class AdvisedValue(NamedTuple):
    """What a finding changes in one line: option, present value and advised value, for people, secrets masked.

    `after` says "remove the line" where the advice is to delete it. `restart` is None where the advice is a correction
    of the option file only.
    """

    option: str
    before: str
    after: str
    restart: bool | None

    @property
    def restart_words(self) -> str:
        """Whether the change needs a restart, as two words at most."""
        return {None: "", True: "restart", False: "no restart"}[self.restart]


def advised_value(f: Finding) -> AdvisedValue | None:
    """The value that a finding's actions set, else the one that its correction writes; None if it names none."""
    return value_of_actions(f) or _corrected_value(f)


def value_of_actions(f: Finding) -> AdvisedValue | None:
    """The value that the actions set for the finding's own option, else the first that they set; None without one."""
    advised = [change for action in f.actions if (change := _value_of_action(f, action))]
    own = (change for change in advised if change.option in {f.canonical, f.option})
    return next(own, advised[0] if advised else None)


def _corrected_value(f: Finding) -> AdvisedValue | None:
    """The value that the correction of the option file writes; `help` says whether others are as good."""
    corrected = f.canonical or f.option
    if f.fix is None or not corrected or len(f.fix.edits) != 1:
        return None
    edit = f.fix.edits[0]
    text = edit.text.strip()
    after = text.partition("=")[2].strip() if "=" in text else text
    is_name = bool(text) and "=" not in text and f.location is not None and edit.column == f.location.column
    if "\n" in text or (text and after == corrected) or is_name:  # the correction of a name keeps the value
        return None
    return AdvisedValue(corrected, *_in_one_notation(corrected, f.value or "", after or "remove the line"), None)


def _value_of_action(f: Finding, action: Action) -> AdvisedValue | None:
    from rules.core.statements import permanent_setting

    text = permanent_setting(action).removeprefix("--") or _setting_of(action.statement)
    name, sign, after = text.partition("=")
    if not sign:
        return None
    option = name.strip().replace("-", "_").lower().removeprefix("loose_")
    own = option in {f.canonical, f.option} and f.value is not None
    undone = action.replaces or _setting_of(action.undo)
    old = (f.value or "") if own else undone.partition("=")[2].strip()
    return AdvisedValue(option, *_in_one_notation(option, old, after.strip()), action.restart)


def _setting_of(statement: str | None) -> str:
    """`name = value` of the SET GLOBAL or SET PERSIST in a statement; empty for any other: a SELECT has `=` too."""
    before, _, rest = (statement or "").partition("SET ")
    scope, _, setting = rest.partition(" ")
    if scope not in SCOPES or not (before == "" or before.startswith("STOP ")):
        return ""
    return (setting.partition("; START ")[0] if before else setting).rstrip("; ")


def _in_one_notation(option: str, before: str, after: str) -> tuple[str, str]:
    """Both values in one notation: bytes get a unit if the other value has one, and quotes are left out."""
    before, after = (redact_value(option, text.strip().strip("'")) or "(empty)" for text in (before, after))
    sized = after[-1] in "KMGTPE" and after[:-1].isdecimal()
    return (exact_size(int(before)) if sized and before.isdecimal() and len(before) < DIGITS else before), after
