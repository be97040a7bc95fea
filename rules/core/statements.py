"""Actions for a server: the statement to run now, the setting that keeps the value, and what managed services allow."""

from __future__ import annotations

import re
import shlex

from advisor.catalog.managed import platform_parameters
from advisor.core import NamedTuple
from advisor.core.model import Action, Location, Origin, exact_size
from advisor.optionfile import groups_read
from advisor.redaction import MASK, name_control_characters
from advisor.verdict import judge_value
from advisor.verdict.number import SUFFIXES, parse_digits
from rules.core.context import COMMAND, reload_step
from rules.core.subject import find_value_source, name_in_file

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from advisor.catalog import Option
    from advisor.catalog.managed import PlatformParameters
    from advisor.core.model import Finding, Setting, Target
    from rules.core.context import RuleContext, ValueSource


# These report what the server or the provider does with the lines of a document.
ABOUT_LINES = ("OPT", "PAR")
_NAME = re.compile(r"[a-z][a-z0-9]*(?:_[a-z0-9]+)+")
_SUFFIXED = re.compile(r"(\d+)([KMGTPE])")
# Where users of each platform set variables; Aurora has a second group for the whole cluster.
PLACES = {
    "rds": "the DB parameter group",
    "aurora": "the DB parameter group",
    "azure": "the server parameters",
    "cloudsql": "the database flags",
    "heatwave": "the configuration of the DB system",
}
CLUSTER_PLACE = "the DB cluster parameter group"


def managed_target(context: RuleContext) -> Target | None:
    """The target with the build of the managed platform; None for a server that its users run themselves."""
    if context.target.is_managed:
        return context.target
    platform = context.server.managed if context.has("server") else ""
    return context.target._replace(build=platform) if platform else None


def place_of(target: Target, name: str) -> str:
    """Where users of the platform set the variable."""
    if name in platform_parameters(target).cluster:
        return CLUSTER_PLACE
    return PLACES.get(target.build, "the service's configuration")


def platform_note(target: Target, option: Option) -> str:
    """What the platform's users can do with the option, by the provider's manual; empty for other servers."""
    if not target.is_managed:
        return ""
    platform, names = platform_parameters(target), {option.name, option.variable or option.name}
    if names & platform.without_effect:
        return "has no effect, according to the provider's manual"
    if names & platform.by_statement:
        return "only SET GLOBAL changes it, until the next restart, according to the provider's manual"
    unlisted = platform.complete and not platform.refuses_others and not names & platform.names
    if names & platform.absent or unlisted:
        return "not among the parameters in the provider's manual"
    if not any(map(platform.can_change, names)):
        return "the provider does not let you change it"
    return f"set it in {place_of(target, option.variable or option.name)}"


def service_value(target: Target, option: Option | None, value: str) -> str:
    """A value as the service takes it: sizes in bytes, switches as 1 or 0 (Amazon) or as on or off (Cloud SQL).

    Of a service that takes only certain numbers, the next larger one.
    """
    value = _without_suffix(value)
    if option is not None and value.isdigit():
        number = platform_parameters(target).next_allowed(option.variable or option.name, int(value))
        return value if number is None else str(number)
    if option is None or option.kind != "bool" or value not in ("ON", "OFF"):
        return value
    words = {"rds": ("1", "0"), "aurora": ("1", "0"), "cloudsql": ("on", "off")}.get(target.build, ("ON", "OFF"))
    return words[value == "OFF"]


def _without_suffix(value: str) -> str:
    """A size as a number of bytes; any other value unchanged."""
    size = _SUFFIXED.fullmatch(value)
    return str(int(size[1]) << SUFFIXES[size[2].lower()]) if size else value


def possible_on_platform(context: RuleContext, findings: Iterable[Finding]) -> list[Finding]:
    """The findings whose advice can be carried out on the managed platform of this server, without other advice.

    A finding about a variable that the platform keeps to itself, and one whose only advice is about such variables or
    a value that the platform does not take, is left out.
    """
    target = managed_target(context)
    if target is None:
        return list(findings)
    platform = platform_parameters(target)
    possible = [_possible(context, finding, platform) for finding in findings]
    audited = context.has("server")
    return [_without_line(finding, target) if audited else finding for finding in possible if finding is not None]


def _without_line(finding: Finding, target: Target) -> Finding:
    """The finding with advice for a parameter, which has no line of its own."""
    place = place_of(target, finding.canonical or "")
    return finding._replace(help=re.sub("^remove the line", f"reset it in {place}", finding.help))


def _possible(context: RuleContext, finding: Finding, platform: PlatformParameters) -> Finding | None:
    if finding.code.startswith(ABOUT_LINES):
        return finding
    if finding.canonical is not None and not _can_change(context, finding.canonical, platform):
        return None
    actions = tuple(a for a in finding.actions if _is_possible(context, a, platform))
    refused = [n for n in _NAME.findall(finding.help) if not _can_change(context, n, platform)]
    if not actions and (finding.actions or refused):
        return None
    return finding._replace(actions=actions, help="" if refused else finding.help)


def _is_possible(context: RuleContext, action: Action, platform: PlatformParameters) -> bool:
    texts = f"{action.option_line or ''} {action.statement or ''} {action.argument or ''}"
    name, _, shown = (action.option_line or "").partition(" = ")
    value = _without_suffix(shown)
    takes = not value.isdigit() or platform.next_allowed(name, int(value)) is not None
    return takes and all(_can_change(context, n, platform) for n in _NAME.findall(texts))


def _can_change(context: RuleContext, name: str, platform: PlatformParameters) -> bool:
    """Whether a name is no variable at all, or one that the platform lets its users change."""
    option = context.catalog.get(name) or context.catalog.find_variable(name)
    if option is None:
        return True
    return platform.can_change(option.name) or platform.can_change(option.variable or option.name)


# MariaDB truncates SET GLOBAL of the first to the second, with a warning; a restart raises the second to the first.
# MySQL rounds SET GLOBAL to whole chunks in each instance; a start with less makes its chunks smaller.
POOL, MOST_POOL = "innodb_buffer_pool_size", "innodb_buffer_pool_size_max"
CHUNK, INSTANCES = "innodb_buffer_pool_chunk_size", "innodb_buffer_pool_instances"
NUMBERS = frozenset({"int", "uint", "double"})


def server_action(
    context: RuleContext, option: Option, value: str, shown: str, *, live: bool, risk: str, watch: str | None
) -> Action:
    """The action that sets the option on this server; `shown` is the value as written in an option file.

    A persisted value is persisted again, a command-line argument is replaced in the unit that holds it, an option line
    in its file. If the file already has the value, the action is the statement alone.
    """
    does = runtime_effect(context, option, value)
    works = live and does.works
    known_risks = "; ".join(part for part in (risk, "" if _mentions_effect(risk, does) else does.words) if part)
    if context.server.managed:
        target = managed_target(context) or context.target
        place = f"set it in {place_of(target, option.variable or option.name)}; {known_risks}".strip("; ")
        line = f"{option.name} = {service_value(target, option, shown)}"
        return Action(line, risk=place, restart=not works, watch=watch)
    decided = find_value_source(context, option)
    persisted = decided is not None and decided.origin is Origin.PERSISTED
    how = "GLOBAL" if not persisted else "PERSIST" if works else "PERSIST_ONLY"
    send = works or persisted
    done = Action(
        statement=set_statement(option, value, how) if send else None,
        risk=known_risks,
        restart=not works,
        undo=_undo_statement(context, option, how, decided) if send else None,
        watch=watch,
    )
    return done if persisted else _with_permanent_place(done, context, option, decided, shown)


def _mentions_effect(risk: str, does: RuntimeEffect) -> bool:
    """Whether the rule's own text on the risk already covers the runtime effect."""
    of_live = ("session" in does.words and "session" in risk) or "stall" in risk
    return does.words in risk or (does.works and of_live)


def _with_permanent_place(
    done: Action, context: RuleContext, option: Option, decided: ValueSource | None, shown: str
) -> Action:
    """Add the setting that keeps the value after a restart, in the place that decides the value."""
    line = f"{name_in_file(option)} = {shown}"
    if decided is None:
        return done._replace(option_line=line, place=server_option_file(context))
    if decided.origin is Origin.COMMAND_LINE:
        first = "run systemctl daemon-reload before the restart" if reload_step(decided) else ""
        risk = "; ".join(filter(None, (done.risk, first)))
        argument = argument_for(decided, option, shown)
        return done._replace(argument=argument, place=decided.place, replaces=decided.text, risk=risk)
    own = decided.name.lower().replace("-", "_") in context.catalog.spellings(option.name)
    wanted = judge_value(name_in_file(option), shown, context.catalog).value
    if own and decided.value is not None and decided.value == wanted and done.statement:
        return done
    return done._replace(option_line=line, place=decided.place, replaces=decided.text)


def document_action(done: Action, context: RuleContext, option: Option, value: str, shown: str) -> Action:
    """The action for a document that holds a server's command line or persisted values."""
    decided = find_value_source(context, option)
    if decided is not None and decided.origin is Origin.PERSISTED:
        how = "PERSIST_ONLY" if done.restart else "PERSIST"
        return done._replace(option_line=None, statement=set_statement(option, value, how))
    if decided is not None and decided.origin is Origin.COMMAND_LINE:
        argument = argument_for(decided, option, shown)
        return done._replace(option_line=None, argument=argument, place=decided.place, replaces=decided.text)
    return done


def argument_for(decided: ValueSource, option: Option, value: str) -> str:
    """The command-line argument, `--sync-binlog=1`, with dashes or underscores as in the current one."""
    name = name_in_file(option) if "_" in decided.name else name_in_file(option).replace("_", "-")
    return f"--{name}={shlex.quote(value)}"


def server_option_file(context: RuleContext) -> Location | None:
    """The file for a new option line: the last main file with a group that the server reads; None if unknown."""
    if not context.has("files"):
        return None
    own = groups_read(context.target)
    holding = {placed.path for placed in context.file_verdict.resolved.options if placed.line.group in own}
    tops = [path for path in context.files.main_files if path in holding] or list(context.files.main_files)
    return Location(tops[-1], 0) if tops else None


def action_place(action: Action) -> str:
    """Where the action's line or argument belongs, `path:line`; empty if unknown."""
    if action.place is None:
        return COMMAND if action.argument else ""
    return f"{action.place.path}:{action.place.line}" if action.place.line else action.place.path


def permanent_setting(action: Action) -> str:
    """The option line or argument that keeps the value; empty if the statement itself persists it."""
    return action.option_line or action.argument or ""


def replaced_name(action: Action) -> str:
    """The replaced line or argument if it has another name, which a reader would not look for; otherwise empty."""

    def name(text: str) -> str:
        return text.partition("=")[0].strip().lstrip("-").replace("-", "_").lower().removeprefix("loose_")

    return action.replaces if name(action.replaces) != name(permanent_setting(action)) else ""


def runtime_effect(context: RuleContext, option: Option, value: str | None) -> RuntimeEffect:
    """The effect of SET GLOBAL on this server.

    An older patch release may know the option without a variable for it; SET GLOBAL then does not work.
    """
    running = context.settings.text(option.variable or option.name)
    if running is None:
        return RuntimeEffect(False)
    if option.name == POOL and (limit := _pool_limit(context, parse_digits(value or "") or 0)):
        return RuntimeEffect(False, limit)
    return set_global_effect(option, context.target, value, running)


def _pool_limit(context: RuleContext, size: int) -> str:
    """Why SET GLOBAL does not give the pool that size, though a start does; empty if it does."""
    most, step = context.number(MOST_POOL), context.number(CHUNK) or 0
    if most is not None and size > most:
        return f"SET GLOBAL stops at {MOST_POOL} = {exact_size(most)}; a start raises that with the pool"
    step *= context.number(INSTANCES) or 1
    return f"SET GLOBAL takes only multiples of {exact_size(step)}; a start takes less" if 0 < size < step else ""


def set_statement(option: Option, value: str, how: str = "GLOBAL") -> str:
    """The statement `SET GLOBAL name = value;`, or with PERSIST or PERSIST_ONLY."""
    bare = option.kind in NUMBERS or value.upper() in {"ON", "OFF"}
    quoted = value if bare else "'" + value.replace("\\", "\\\\").replace("'", "''") + "'"
    return f"SET {how} {option.variable} = {quoted};"


def _undo_statement(context: RuleContext, option: Option, how: str, decided: ValueSource | None) -> str | None:
    """The statement that restores the running value, or the persisted one if only that was changed."""
    before = context.settings.text(option.variable or option.name)
    if how == "PERSIST_ONLY" and decided is not None and decided.value is not None:
        before = decided.value
    return None if before is None or MASK in before else set_statement(option, before, how)


NEW_SESSIONS = "sessions that are open keep their own value"
NEXT_APPLIER = "it takes effect when the replica's threads restart"
RELOAD = "it takes effect after ALTER INSTANCE RELOAD TLS"
OFF = frozenset({"OFF", "FALSE", "0"})
GTID_STEPS = ("OFF", "OFF_PERMISSIVE", "ON_PERMISSIVE", "ON")
APPLIED = ("parallel_workers", "pending_jobs_size_max", "transaction_retries")
APPLIER = frozenset(f"{role}_{name}" for role in ("replica", "slave") for name in APPLIED)
FILES_OF_TLS = ("ca", "capath", "cert", "cipher", "crl", "crlpath", "key")
TLS = frozenset((*(f"ssl_{name}" for name in FILES_OF_TLS), "tls_ciphersuites", "tls_version"))
WAITS_FOR_WRITES = "it waits for writes and LOCK TABLES that are under way, and later writes wait behind it"
STALLS = {
    "delay_key_write": "tables that are open keep it until FLUSH TABLES",
    "innodb_adaptive_hash_index": "switching it waits for its latches, which can stall statements",
    "innodb_buffer_pool_size": "resizing the pool can stall statements for seconds",
    "query_cache_size": "statements wait for the cache's lock meanwhile",
    "query_cache_type": "statements wait for the cache's lock meanwhile",
    "sync_binlog": "commits wait for a sync, which can stall sessions on slow storage",
} | dict.fromkeys(("read_only", "super_read_only"), WAITS_FOR_WRITES)


class RuntimeEffect(NamedTuple):
    """Whether SET GLOBAL has the same effect as a restart with the value, with a note about it.

    `works` is False if the server refuses the value at run time, or accepts it without effect.
    """

    works: bool
    words: str = ""


def set_global_effect(
    option: Option, target: Target, value: str | None = None, running: str | None = None
) -> RuntimeEffect:
    """The effect of SET GLOBAL on the option's variable; without a value, its effect in general."""
    if not option.dynamic or option.variable is None or option.scope == "session":
        return RuntimeEffect(False)
    new, now = (value or "").upper(), (running or "").upper()
    refuses = REFUSED_AT_RUNTIME.get(option.variable)
    if refuses is not None and refuses(target, new, now):
        return RuntimeEffect(False)
    if option.variable == "read_buffer_size" and target.since("mysql", 8):
        return RuntimeEffect(False, "MEMORY tables use its value at start-up, and nothing else reads it")
    if option.variable in APPLIER and target.is_mysql:
        return RuntimeEffect(True, NEXT_APPLIER)
    if option.variable in TLS and target.is_mysql:
        return RuntimeEffect(True, RELOAD)
    return RuntimeEffect(True, STALLS.get(option.variable) or (NEW_SESSIONS if option.scope == "both" else ""))


def _refuses_doublewrite(target: Target, new: str, now: str) -> bool:
    """Whether innodb_doublewrite cannot be set so: MySQL changes ON and DETECT_ONLY alone, MariaDB all from 11.4 on."""
    return target.is_mysql and bool(new) and (new in OFF or now in OFF)


def _refuses_query_cache(target: Target, new: str, now: str) -> bool:
    """Whether MySQL 5.7 refuses to enable the query cache: it cannot if it was started without one."""
    return target.is_mysql and now in OFF and new not in OFF


def _refuses_gtid_mode(_target: Target, new: str, now: str) -> bool:
    """Whether the server refuses the change of gtid_mode, which is allowed only one step at a time."""
    if new not in GTID_STEPS or now not in GTID_STEPS:
        return False
    return abs(GTID_STEPS.index(new) - GTID_STEPS.index(now)) > 1


REFUSED_AT_RUNTIME: dict[str, Callable[[Target, str, str], bool]] = {
    # MySQL accepts ON after ALL, but delays the writes of all tables until it restarts (ENG-23).
    "delay_key_write": lambda target, new, now: target.is_mysql and (now, new) == ("ALL", "ON"),
    "event_scheduler": lambda _target, new, now: "DISABLED" in (new, now),
    "gtid_mode": _refuses_gtid_mode,
    "innodb_doublewrite": _refuses_doublewrite,
    "query_cache_type": _refuses_query_cache,
}


class LastSet(NamedTuple):
    """Who ran the last SET of a variable, as words to follow `SET GLOBAL` or as a sentence of its own; one is empty.

    MySQL records SET SESSION in the same place, so which it was is known only for a persisted value, and for a variable
    without a session value. `at_each_start` says that init_file set it.
    """

    by: str = ""
    note: str = ""
    at_each_start: bool = False


def last_set(context: RuleContext, variable: str) -> LastSet:
    """Who set a variable last, and when; both texts are empty if the server does not report it."""
    origin = context.server.origins.get(variable) if context.has("server") else None
    words = name_control_characters(origin.set_by.words) if origin is not None and origin.set_by else ""
    if origin is None or not origin.set_by or not words:
        return LastSet()
    option = context.catalog.find_variable(variable)
    if origin.set_by.is_init_file:
        return LastSet(f" by {words}", at_each_start=True)
    if origin.source == "PERSISTED" or (option is not None and option.scope == "global"):
        return LastSet(f" by {words}")
    return LastSet(note=f"The last SET GLOBAL or SET SESSION was by {words}.")


def set_by_statement(context: RuleContext, variable: str) -> str:
    """The statement that set the running value, and who ran it: `SET GLOBAL by app@10.0.0.3 at 2026-11-28 …`.

    Empty if a file, the command line or nothing set it. Before the next start the server does not report SET PERSIST;
    without mysqld-auto.cnf it may have been either.
    """
    statement = _set_with(context, context.settings.get(variable))
    if not statement:
        return ""
    by, note, again = last_set(context, variable)
    until = ", until the next restart" if statement == SET_GLOBAL and not again else ""
    unknown = "; MariaDB does not report the account" if context.target.is_mariadb else ""
    return ". ".join(part for part in (f"{statement}{by}{until}{unknown}", note.removesuffix(".")) if part)


SET_GLOBAL, SET_PERSIST = "SET GLOBAL", "SET PERSIST"


def _set_with(context: RuleContext, setting: Setting | None) -> str:
    if setting is None or setting.origin not in (Origin.RUNTIME, Origin.PERSISTED):
        return ""
    if setting.origin is Origin.PERSISTED:
        return SET_PERSIST
    if not context.target.since("mysql", 8):
        return SET_GLOBAL
    option = context.catalog.find_variable(setting.name)
    if option is None or (option.scope != "global" and option.default is None and option.running is None):
        return f"{SET_GLOBAL} or SET SESSION"  # without a default to compare with, the value is not conclusive
    persisted = context.files.persisted_options if context.has("files") else None
    if persisted is None:
        return f"{SET_GLOBAL} or {SET_PERSIST}"
    kept = any(one.name == setting.name and one.value == setting.value for one in persisted)
    return SET_PERSIST if kept else SET_GLOBAL


def add_setters(context: RuleContext, findings: Iterable[Finding]) -> list[Finding]:
    """The findings with the statement that set the running value, and whether the next start loses it."""
    return [finding._replace(set_by=_provenance(context, finding)) for finding in findings]


def _provenance(context: RuleContext, finding: Finding) -> str:
    """`Set with SET GLOBAL by root@localhost at …, in no option file: the next restart loses it.`; or empty."""
    if finding.canonical is None or finding.value is None or finding.code.startswith(ABOUT_LINES):
        return ""
    option = context.catalog.get(finding.canonical)
    variable = (option.variable if option is not None else None) or finding.canonical
    statement = _set_with(context, context.settings.get(variable))
    if option is None or not statement or (finding.location is not None and statement != SET_PERSIST):
        return ""
    by, note, again = last_set(context, variable)
    known = statement == SET_GLOBAL and not again and context.has("files")
    lost = known and find_value_source(context, option) is None
    tail = ", in no option file: the next restart loses it" if lost else ""
    return " ".join(part for part in (f"Set with {statement}{by}{tail}.", note) if part)
