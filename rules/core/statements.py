"""How advice is carried out on a running server: the statement for now, and what keeps the value beyond a restart."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, NamedTuple

from advisor.core.model import Action, Location, Origin
from advisor.core.sizes import exact
from advisor.optionfile import groups_read
from advisor.redaction.secrets import MASK
from advisor.verdict import take
from advisor.verdict.effects import number_of
from rules.core.origin import COMMAND, decider

if TYPE_CHECKING:
    from collections.abc import Callable

    from advisor.catalog.load import Option
    from advisor.core.model import Target
    from rules.core.context import RuleContext
    from rules.core.origin import Decider


# MariaDB truncates SET GLOBAL of the first to the second, with a warning; a start raises the second to the first.
POOL, MOST_POOL = "innodb_buffer_pool_size", "innodb_buffer_pool_size_max"
NUMBERS = frozenset({"int", "uint", "double"})


def carried_out(
    known: RuleContext, option: Option, value: str, shown: str, *, live: bool, risk: str, watch: str | None
) -> Action:
    """The action that gives the option a value on this server; `shown` is the value as a file would hold it.

    A persisted value is persisted anew, an argument of the command line is replaced in the unit that holds it, an
    option line in its file; a value that the file holds already needs the statement alone.
    """
    does = effect(known, option, value)
    works = live and does.works
    known_risks = "; ".join(part for part in (risk, "" if _says(risk, does) else does.words) if part)
    if known.server.managed:
        place = f"set it in the parameter group of {known.server.managed}; {known_risks}".strip("; ")
        return Action(f"{option.name} = {shown}", risk=place, restart=not works, watch=watch)
    decided = decider(known, option)
    persisted = decided is not None and decided.origin is Origin.PERSISTED
    how = "GLOBAL" if not persisted else "PERSIST" if works else "PERSIST_ONLY"
    send = works or persisted
    done = Action(
        statement=set_statement(option, value, how) if send else None,
        risk=known_risks,
        restart=not works,
        undo=_undo(known, option, how) if send else None,
        watch=watch,
    )
    return done if persisted else _kept(done, known, option, decided, shown)


def _says(risk: str, does: AtRunTime) -> bool:
    """Whether the rule's own words on the risk say it already."""
    if not does.works:
        return does.words in risk
    return does.words in risk or ("session" in does.words and "session" in risk) or ("stall" in risk)


def _kept(done: Action, known: RuleContext, option: Option, decided: Decider | None, shown: str) -> Action:
    """The action with what keeps the value beyond a restart, in the place that decides it."""
    line = f"{option.name} = {shown}"
    if decided is None:
        return done._replace(option_line=line, place=own_file(known))
    if decided.origin is Origin.COMMAND_LINE:
        return done._replace(argument=argument_for(decided, option, shown), place=decided.place, replaces=decided.text)
    own = decided.name.lower().replace("-", "_") in known.catalog.spellings(option.name)
    held = own and decided.value is not None and decided.value == take(option.name, shown, known.catalog).value
    if held and done.statement:
        return done
    return done._replace(option_line=line, place=decided.place, replaces=decided.text)


def in_place_of(done: Action, known: RuleContext, option: Option, value: str, shown: str) -> Action:
    """The action for a document that gives a server its command line or its persisted values."""
    decided = decider(known, option)
    if decided is not None and decided.origin is Origin.PERSISTED:
        how = "PERSIST_ONLY" if done.restart else "PERSIST"
        return done._replace(option_line=None, statement=set_statement(option, value, how))
    if decided is not None and decided.origin is Origin.COMMAND_LINE:
        argument = argument_for(decided, option, shown)
        return done._replace(option_line=None, argument=argument, place=decided.place, replaces=decided.text)
    return done


def argument_for(decided: Decider, option: Option, value: str) -> str:
    """`--sync-binlog=1`, in the spelling that the command line has now."""
    name = option.name if "_" in decided.name else option.name.replace("_", "-")
    return f"--{name}={shlex.quote(value)}"


def own_file(known: RuleContext) -> Location | None:
    """The file where a line that sets nothing yet belongs: the last that holds a group of the server."""
    if not known.has("files"):
        return None
    own = groups_read(known.target)
    holding = {placed.path for placed in known.file_verdict.resolved.options if placed.line.group in own}
    tops = [path for path in known.files.tops if path in holding] or list(known.files.tops)
    return Location(tops[-1], 0) if tops else None


def place_of(action: Action) -> str:
    """Where an action's line or argument belongs, `path:line`; empty where nobody knows."""
    if action.place is None:
        return COMMAND if action.argument else ""
    return f"{action.place.path}:{action.place.line}" if action.place.line else action.place.path


def kept_by(action: Action) -> str:
    """The option line or the argument that keeps the value, empty where the statement does."""
    return action.option_line or action.argument or ""


def other_name(action: Action) -> str:
    """What the line or argument replaces where that goes by another name, which a reader would not look for."""

    def name(text: str) -> str:
        return text.partition("=")[0].strip().lstrip("-").replace("-", "_").lower().removeprefix("loose_")

    return action.replaces if name(action.replaces) != name(kept_by(action)) else ""


def effect(known: RuleContext, option: Option, value: str | None) -> AtRunTime:
    """What SET GLOBAL of the value does on this server; an older patch may know the option, and no variable yet."""
    running = known.settings.text(option.variable or option.name)
    if running is None:
        return AtRunTime(False)
    most = known.number(MOST_POOL) if option.name == POOL else None
    if most is not None and value is not None and (number_of(value) or 0) > most:
        return AtRunTime(False, f"SET GLOBAL stops at {MOST_POOL} = {exact(most)}; a start raises that with the pool")
    return at_run_time(option, known.target, value, running)


def set_statement(option: Option, value: str, how: str = "GLOBAL") -> str:
    """`SET GLOBAL name = value;`, or PERSIST or PERSIST_ONLY in its place."""
    bare = option.kind in NUMBERS or value.upper() in {"ON", "OFF"}
    quoted = value if bare else "'" + value.replace("\\", "\\\\").replace("'", "''") + "'"
    return f"SET {how} {option.variable} = {quoted};"


def _undo(known: RuleContext, option: Option, how: str) -> str | None:
    running = known.settings.text(option.variable or option.name)
    return None if running is None or MASK in running else set_statement(option, running, how)


NEW_SESSIONS = "sessions that are open keep their own value"
NEXT_APPLIER = "it counts when the replica's threads start again"
RELOAD = "it counts after ALTER INSTANCE RELOAD TLS"
AT_START = "it counts from the next start"
OFF = frozenset({"OFF", "FALSE", "0"})
GTID_STEPS = ("OFF", "OFF_PERMISSIVE", "ON_PERMISSIVE", "ON")
APPLIER = frozenset(
    (
        *("replica_parallel_workers", "slave_parallel_workers", "replica_pending_jobs_size_max"),
        *("slave_pending_jobs_size_max", "replica_transaction_retries", "slave_transaction_retries"),
    )
)
TLS = frozenset(
    (
        *("ssl_ca", "ssl_capath", "ssl_cert", "ssl_cipher", "ssl_crl", "ssl_crlpath", "ssl_key"),
        *("tls_ciphersuites", "tls_version"),
    )
)
STALLS = {
    "innodb_adaptive_hash_index": "switching it waits for its latches, which can stall statements",
    "innodb_buffer_pool_size": "resizing the pool can stall statements for seconds",
    "query_cache_size": "statements wait for the cache's lock meanwhile",
    "query_cache_type": "statements wait for the cache's lock meanwhile",
    "sync_binlog": "commits wait for a sync, which can stall sessions on slow storage",
}


class AtRunTime(NamedTuple):
    """Whether SET GLOBAL brings about what a restart with the value would, and what to know of it.

    `works` is False where the server refuses the value while it runs, or takes it and goes on as before.
    """

    works: bool
    words: str = ""


def at_run_time(option: Option, target: Target, value: str | None = None, running: str | None = None) -> AtRunTime:
    """What SET GLOBAL does to the option's variable; without a value, what it does in general."""
    if not option.dynamic or option.variable is None:
        return AtRunTime(False)
    new, now = (value or "").upper(), (running or "").upper()
    refuses = REFUSED.get(option.variable)
    if refuses is not None and refuses(target, new, now):
        return AtRunTime(False)
    if option.variable == "read_buffer_size" and target.since("mysql", 8):
        return AtRunTime(False, "MEMORY tables go by its value at the start, and nothing else reads it")
    if option.variable in APPLIER and target.is_mysql:
        return AtRunTime(True, NEXT_APPLIER)
    if option.variable in TLS and target.is_mysql:
        return AtRunTime(True, RELOAD)
    return AtRunTime(True, STALLS.get(option.variable) or (NEW_SESSIONS if option.scope == "both" else ""))


def _doublewrite(target: Target, new: str, now: str) -> bool:
    """MySQL changes between ON and DETECT_ONLY alone; MariaDB from 11.4 on takes each."""
    return target.is_mysql and bool(new) and (new in OFF or now in OFF)


def _scheduler(_target: Target, new: str, now: str) -> bool:
    return "DISABLED" in (new, now)


def _query_cache(target: Target, new: str, now: str) -> bool:
    """MySQL 5.7 has no cache to switch on where it started without."""
    return target.is_mysql and now in OFF and new not in OFF


def _gtid_mode(_target: Target, new: str, now: str) -> bool:
    """One step at a time."""
    if new not in GTID_STEPS or now not in GTID_STEPS:
        return False
    return abs(GTID_STEPS.index(new) - GTID_STEPS.index(now)) > 1


REFUSED: dict[str, Callable[[Target, str, str], bool]] = {
    "event_scheduler": _scheduler,
    "gtid_mode": _gtid_mode,
    "innodb_doublewrite": _doublewrite,
    "query_cache_type": _query_cache,
}
