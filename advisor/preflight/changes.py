"""Variables that will have another value after the restart."""

from __future__ import annotations

import posixpath
from datetime import datetime
from typing import TYPE_CHECKING, NamedTuple

from advisor.core.model import Confidence, Location, Origin, Severity
from advisor.facts.files import WORLD_WRITABLE
from advisor.preflight.item import Remedy, RestartEffect, RestartItem, place_for, remedy_for
from advisor.preflight.next_values import HOST_DEFAULTS, main_names, option_of, origin_of, parse_whole_number
from advisor.preflight.start_command import running_arguments
from advisor.redaction import MASK, redact_value
from advisor.verdict.names import LOADS_EARLY
from advisor.verdict.settings import is_same_value
from rules.core.counters import SET_AT_RUN_TIME
from rules.core.network import variables_set_by_cluster
from rules.replication import channel_suffix, replica_channels
from rules.security.encryption import BINLOG_ENCRYPTION, options_needing_keyring
from rules.sizing.memory import POOL, is_too_tight, memory_besides, usable_memory

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from advisor.facts import Facts
    from advisor.preflight.next_values import NextValue
    from advisor.preflight.sources import NextStartOptions
    from rules.core.context import RuleContext


NEW_SOURCES = {
    Origin.PERSISTED: "It was persisted after the server started.",
    Origin.COMMAND_LINE: "It was added to the service's command line after the server started.",
}


FILE_IS_OLDER = "the file is older than the running server"
COMMAND_DIFFERS = "the running server was started with another value"


OUTRANKING = frozenset({Origin.PERSISTED, Origin.COMMAND_LINE})  # sources that outrank the lines of files


class ChangedVariable(NamedTuple):
    """One variable whose value will differ, and what is known about it.

    `origins_known` means that the server reports origins; `may_be_edited` that the source of the next value may be
    newer than the running server; `dynamic` that the variable can be set at run time; `is_literal` that servers do not
    expand its value.
    """

    name: str
    running: str
    view: NextValue
    origin: Origin
    place: Location | None
    origins_known: bool
    may_be_edited: bool
    dynamic: bool
    is_literal: bool


def explain_change(kind: RestartEffect, case: ChangedVariable, facts: Facts) -> str:
    """Return one or two sentences that explain the change."""
    cause = case.view.cause
    if cause:
        return f"It follows {' and '.join(cause)}, which {'changes' if len(cause) == 1 else 'change'}."
    if case.view.limited and case.view.line is not None:
        place, wanted = case.view.line.placed, case.view.line.value
        where = f"{place.path}:{place.line.number}" if place.line.number else "the command line"
        return f"Of the {wanted} set in {where}, the limit on open files allows only this many."
    past = _explain_running(kind, case, facts) if case.origins_known else _explain_unknown_origin(case)
    if facts.files is None and case.view.line is None:
        return f"{past} Unless a file sets it, the next start uses the default; the files were not read."
    return f"{past} {_explain_next(case)}"


def _explain_unknown_origin(case: ChangedVariable) -> str:
    """Explain the running value of a server that does not report origins."""
    if case.origin is Origin.COMMAND_LINE and case.view.source is not Origin.COMMAND_LINE:
        return "It was set on the command line."
    if case.view.line is None:
        return "It was set at run time, or its line was removed." if case.dynamic else "Its line was removed."
    if not case.may_be_edited:
        by_command = case.view.source is Origin.COMMAND_LINE
        return f"It was set at run time: {COMMAND_DIFFERS if by_command else FILE_IS_OLDER}."
    since = "the file was edited after the server started"
    return f"It was set at run time, or {since}." if case.dynamic else f"{since[0].upper()}{since[1:]}."


def _explain_running(kind: RestartEffect, case: ChangedVariable, facts: Facts) -> str:
    origin, source = case.origin, case.view.source
    if kind is RestartEffect.LOST:
        return "It was set at run time."
    if case.view.line is None or source is not origin:
        return _explain_removed(case, facts) if source is Origin.COMPILED else _explain_new_source(case, facts)
    if origin is Origin.PERSISTED:
        return "It was persisted again."
    if origin is Origin.COMMAND_LINE:
        return "The service's command line was changed after the server started."
    return "The file was edited after the server started."


def _explain_new_source(case: ChangedVariable, facts: Facts) -> str:
    """Explain a next value whose source differs from that of the running value."""
    if case.origin in (Origin.PERSISTED, Origin.COMMAND_LINE) and case.view.source is Origin.FILE:
        return _explain_removed(case, facts)
    return NEW_SOURCES.get(case.view.source, "The line was written after the server started.")


# Explanations by origin of the running value, if that no longer sets it.
REMOVED = {
    Origin.PERSISTED: "It is no longer persisted.",
    Origin.COMMAND_LINE: "It is no longer on the command line.",
    # Reported for a few variables that files set (ASK-18).
    Origin.COMPILED: "It is not this version's default, so a line that set it was probably removed.",
}


def _explain_removed(case: ChangedVariable, facts: Facts) -> str:
    if case.origin in REMOVED:
        return REMOVED[case.origin]
    if case.place is None:
        return "The line that set it was removed."
    copy = next((c for c in (facts.files.files if facts.files else ()) if c.path == case.place.path), None)
    if copy is None or copy.text is None:
        return f"{case.place.path}, which set it, is no longer read."
    if copy.mode & WORLD_WRITABLE:
        return f"{copy.path}, which set it, is now world-writable, so servers ignore it."
    return f"The line of {copy.path} that set it was removed."


def _explain_next(case: ChangedVariable) -> str:
    """Explain what sets the next value."""
    view = case.view
    if view.line is None:
        if view.source is Origin.PERSISTED:
            return "The persisted value overrides it."
        return "No file sets it: the next start uses the default."
    place = view.line.placed
    if not place.line.number:
        return "The next start reads it from the command line."
    return f"The next start reads {place.path}:{place.line.number}."


# Variables that servers change while running or generate at each start.
SELF_CHANGING = frozenset(
    (
        *("gtid_binlog_pos", "gtid_binlog_state", "gtid_current_pos", "gtid_executed", "gtid_owned", "gtid_purged"),
        *("gtid_slave_pos", "innodb_log_file_buffering", "innodb_thread_sleep_delay", "server_uid", "server_uuid"),
        *("version", "wsrep_start_position"),
    )
)
# A server reads its files shortly before its uptime starts, which is in whole seconds.
STARTUP_SECONDS = 2.0
# Kinds whose values servers do not expand, as they do with paths and host names.
LITERAL_KINDS = frozenset({"bool", "int", "uint", "double", "enum"})
NUMBERS = frozenset({"int", "uint"})
FILTERS = (
    *("replicate_do_db", "replicate_ignore_db", "replicate_do_table", "replicate_ignore_table"),
    *("replicate_wild_do_table", "replicate_wild_ignore_table", "replicate_rewrite_db"),
)
ZONE, SYSTEM_ZONE = "time_zone", "SYSTEM"
# Without these directories and files some of the six servers that were asked did not start.
PATHS = (
    *("init_file", "innodb_data_home_dir", "innodb_log_group_home_dir", "innodb_temp_tablespaces_dir"),
    *("innodb_undo_directory", "secure_file_priv", "ssl_ca", "ssl_cert", "ssl_key"),
)
FILES_TO_CREATE = ("log_bin_basename", "log_bin_index")
# A server that finds an empty directory there refuses to start, or goes on with new files: it depends on the version.
FILES_TO_MOVE = ("innodb_data_home_dir", "innodb_log_group_home_dir", "innodb_undo_directory")
DATA_FILES = "innodb_data_file_path"


def find_changes(
    facts: Facts, now: RuleContext, views: Mapping[str, NextValue], start: NextStartOptions
) -> Iterator[RestartItem]:
    """Yield one item per changed variable, except values that the server or its cluster derives.

    A variable with several names has one item, for the name of its option.
    """
    clock, cases, of_cluster = _Clock(facts), {}, variables_set_by_cluster(now)
    for name, view in views.items():
        if name in SELF_CHANGING or name in of_cluster or _is_unchanged(name, view, now):
            continue
        case = _changed_variable(name, view, now, clock)
        kind = _kind(case)
        if kind is not None:
            cases[name] = kind, case
    mains = main_names(now.catalog)
    for name, (kind, case) in cases.items():
        main = mains.get(name, name)
        if main == name or main not in cases:
            yield _item(kind, case, facts, now, _doubt_text(name, case.view, now, start))


def find_lost_filters(facts: Facts, now: RuleContext, start: NextStartOptions) -> Iterator[RestartItem]:
    """Yield the replication filters that were set at run time and are no variables, and that no restart keeps.

    On MySQL those of CHANGE REPLICATION FILTER, on MariaDB those of channels with a name (SET GLOBAL eu.replicate_…).
    """
    lines = {(line.placed.line.name or "").strip().lower().replace("-", "_") for line in start.verdict.lines}
    for channel in _channels_with_filters(now):
        of = channel_suffix(channel) if now.target.is_mariadb or now.target.since("mysql", 8) else ""
        own = channel.get("channel_name") or channel.get("connection_name") or ""
        for name in FILTERS:
            filters = channel.get(name, "")
            prefixed = f"{own.lower()}.{name}"
            if not filters or name in start.verdict.effective or prefixed in lines:
                continue
            option, value = (prefixed, "…") if now.target.is_mariadb else (name, f"{own}:…" if of else "…")
            yield RestartItem(
                kind=RestartEffect.LOST,
                severity=Severity.WARNING,
                confidence=Confidence.LIKELY if facts.files is None else Confidence.CERTAIN,
                message=f"It is a filter{of} that was set at run time. No file sets it: the next start loses it.",
                help=f"write a line {option} = {value} for each of its values",
                variable=name,
                option=name,
                running=filters,
                following="",
                origin=Origin.RUNTIME,
                source=Origin.COMPILED,
            )


def _channels_with_filters(now: RuleContext) -> list[dict[str, str]]:
    """The channels whose filters no variable has; before MySQL 8.0 all channels have the same filters."""
    channels = replica_channels(now)
    if now.target.is_mariadb:
        return [channel for channel in channels if channel.get("connection_name")]
    return channels if now.target.since("mysql", 8) else channels[:1]


def _is_unchanged(name: str, view: NextValue, now: RuleContext) -> bool:
    """Whether the value stays the same; two masked passwords count as the same."""
    running = now.server.variables[name]
    if view.value is None:
        return MASK in running or (name in FILTERS and not running)
    if MASK in f"{running}{view.value}":
        return redact_value(name, view.value) == running
    option = now.catalog.find_variable(name)
    return (
        view.value == running if option is not None and option.kind in NUMBERS else is_same_value(view.value, running)
    )


def _changed_variable(name: str, view: NextValue, now: RuleContext, clock: _Clock) -> ChangedVariable:
    setting, option = now.settings.get(name), now.catalog.find_variable(name)
    edited = clock.may_be_edited(view)
    return ChangedVariable(
        name=name,
        running=now.server.variables[name],
        view=view,
        origin=Origin.RUNTIME if not edited and _was_reset(name, view, now) else origin_of(name, now),
        place=setting.location if setting else None,
        origins_known=bool(now.server.origins),
        may_be_edited=edited,
        dynamic=option is None or bool(option.dynamic),
        is_literal=name in HOST_DEFAULTS or (option is not None and option.kind in LITERAL_KINDS),
    )


def _was_reset(name: str, view: NextValue, now: RuleContext) -> bool:
    """Whether a SET gave a variable its default again, over the persisted value or the argument that it started with.

    A SET SESSION alone, which MySQL reports in the same way, would have left the value that the server started with.
    """
    reported = now.server.origins.get(name)
    return view.source in OUTRANKING and reported is not None and reported.source.upper() in SET_AT_RUN_TIME


class _Clock:
    """When the server started, and what may have changed since."""

    def __init__(self, facts: Facts) -> None:
        try:
            self._started = datetime.fromisoformat(facts.taken_at).timestamp() - facts.server.uptime - STARTUP_SECONDS
        except (ValueError, OverflowError):
            self._started = 0.0
        self._files = facts.files
        self._words = frozenset(running_arguments(facts.files))

    def may_be_edited(self, view: NextValue) -> bool:
        """Whether the source of the next value may be newer than the running server; True if unknown."""
        if view.line is None or self._files is None:
            return True
        if view.source is Origin.COMMAND_LINE:
            line = view.line.placed.line
            return not self._words & {f"--{line.name}", f"--{line.name}={line.value}", f"-{line.name}{line.value}"}
        if view.source is Origin.PERSISTED:
            return self._is_later(self._files.persisted_changed)
        # Any file: if a line is removed from one, an older line of another takes effect.
        return any(self._is_later(copy.changed) for copy in self._files.files)

    def _is_later(self, changed: float) -> bool:
        return not changed or changed > self._started


def _kind(case: ChangedVariable) -> RestartEffect | None:
    """Return LOST or CHANGED; None if the server derived the running value from the same unchanged input."""
    view = case.view
    if view.cause:
        return RestartEffect.CHANGED
    if not case.origins_known and (case.origin is not Origin.COMMAND_LINE or view.source is Origin.COMMAND_LINE):
        return _inferred_kind(case)
    if case.origin is Origin.RUNTIME:
        return RestartEffect.LOST
    # For an older, unedited file, a COMPILED origin is a misreport of the server, not a change.
    moved = case.origin is not view.source and case.origin is not Origin.COMPILED
    return RestartEffect.CHANGED if case.may_be_edited or moved else None


def _inferred_kind(case: ChangedVariable) -> RestartEffect | None:
    """Infer the kind without origins: a differing unchanged line was overridden by SET, if the variable is dynamic."""
    if case.view.line is not None:
        return RestartEffect.CHANGED if case.may_be_edited else RestartEffect.LOST if case.dynamic else None
    if case.view.value is None:
        return None
    return RestartEffect.LOST if case.dynamic else RestartEffect.CHANGED if case.is_literal else None


def _item(kind: RestartEffect, case: ChangedVariable, facts: Facts, now: RuleContext, doubt: str) -> RestartItem:
    view, name = case.view, case.name
    option = option_of(name, now.catalog)
    do = Remedy() if view.cause or view.limited else remedy_for(name, kind, view, now)
    sure = case.origins_known and view.value is not None and facts.files is not None
    sure = sure and (view.line.certain if view.line else case.origin is not Origin.COMPILED or bool(view.cause))
    sure = sure and not doubt
    return RestartItem(
        kind=kind,
        severity=Severity.NOTE if view.cause else Severity.WARNING,
        confidence=Confidence.CERTAIN if sure else Confidence.LIKELY,
        message=f"{explain_change(kind, case, facts)}{doubt}",
        help=do.help,
        variable=name,
        option=option.name if option else None,
        running=redact_value(name, case.running),
        following=None if view.value is None else redact_value(name, view.value),
        origin=case.origin if case.origins_known else None,
        source=view.source,
        location=change_location(view),
        actions=do.actions,
        write_at=place_for(view, facts.files, now),
        cause=view.cause,
    )


def _doubt_text(name: str, view: NextValue, now: RuleContext, start: NextStartOptions) -> str:
    """What may prevent the next value; empty if nothing is known to."""
    if name == POOL:
        return _memory_text(view, now)
    if name in options_needing_keyring(now.target):
        return _keyring_text(view, now, start)
    if name == DATA_FILES:
        return " The server stops at its start if the files that exist have other sizes."
    path = view.value or ""
    if name in (*PATHS, *FILES_TO_CREATE) and path.startswith("/"):
        needed = posixpath.dirname(path) if name in FILES_TO_CREATE else path
        moved = ", or if InnoDB's files were not moved there from the old directory" if name in FILES_TO_MOVE else ""
        return f" The server may not start if {needed} does not exist{moved}."
    named = name == ZONE and view.line is not None and view.value and view.value[:1] not in "+-"
    if named and view.value != SYSTEM_ZONE:
        return f" The server stops at start-up if mysql.time_zone_name lacks {view.value}."
    return ""


def _memory_text(view: NextValue, now: RuleContext) -> str:
    """What is missing for a buffer pool that does not fit in the host's memory; empty if it fits, or is unknown."""
    pool, room = parse_whole_number(view.value), usable_memory(now) if now.has("host") else None
    if pool is None or room is None or not is_too_tight(now, pool, room[0]):
        return ""
    return f" It does not fit in the {room[1]} that the server may use: {memory_besides(now, room[0])}."


def _keyring_text(view: NextValue, now: RuleContext, start: NextStartOptions) -> str:
    """What encryption of logs needs; empty if a keyring is loaded, or the value is set only after the start."""
    loads = start.verdict.effective.get(LOADS_EARLY)
    loaded = now.settings.on(BINLOG_ENCRYPTION) or (loads is not None and "keyring" in (loads.placed.line.value or ""))
    if view.value != "ON" or view.source is Origin.PERSISTED or loaded:
        return ""
    return " The server stops at its start unless a keyring is loaded by then, which mycnf cannot see."


def change_location(view: NextValue) -> Location | None:
    """The place of the line that sets the next value; None for a default."""
    if view.line is None:
        return None
    line = view.line.placed.line
    return Location(view.line.placed.path, line.number, line.column, line.number, line.end_column)
