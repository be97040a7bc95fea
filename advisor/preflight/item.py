"""The effect of a restart on one variable or line, and its remedies: a line, or statements."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, NamedTuple

from advisor.core.model import Action, Origin, exact_size
from advisor.optionfile import groups_read, parse
from advisor.preflight.next_values import option_of, parse_whole_number
from advisor.preflight.sources import may_be_persisted
from advisor.redaction import MASK, redact_value
from advisor.verdict import Outcome, judge_value
from advisor.verdict.settings import is_same_value
from rules.core.advice import as_replica_takes, present
from rules.core.context import source_of_line
from rules.core.statements import argument_for, runtime_effect, set_statement

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from advisor.catalog import Option
    from advisor.core.model import Confidence, Location, Severity, SkippedCheck, Target
    from advisor.facts import Facts, OptionFiles
    from advisor.preflight.next_values import NextValue
    from advisor.preflight.start_command import StartCommand
    from rules.core.context import RuleContext


# Name endings of options in bytes.
BYTES = ("_size", "_length", "_packet", "_capacity")

# For options that affect durability, the only value that is recommended.
SAFE_VALUES = {
    "default_storage_engine": "InnoDB",
    "innodb_doublewrite": "ON",
    "innodb_flush_log_at_trx_commit": "1",
    "sync_binlog": "1",
}


class RestartEffect(StrEnum):
    """The effect, worst first."""

    REFUSED = "refused"
    LOST = "lost"
    CHANGED = "changed"


class RestartItem(NamedTuple):
    """One difference between the next start and the running server.

    For a refused line, `code` and `name` identify the rule. Otherwise `running` and `following` are the values before
    and after, as SHOW GLOBAL VARIABLES prints them, with secrets masked; `following` is None if unknown. `origin` is
    the source of the running value (None if the server does not report it), `source` that of the next one and
    `location` its place. `write_at` is where to write an action's line: a file, or the file:line to replace. `cause`
    names the variables whose change causes this one.
    """

    kind: RestartEffect
    severity: Severity
    confidence: Confidence
    message: str
    variable: str | None = None
    option: str | None = None
    running: str | None = None
    following: str | None = None
    origin: Origin | None = None
    source: Origin | None = None
    location: Location | None = None
    help: str = ""
    actions: tuple[Action, ...] = ()
    write_at: str = ""
    cause: tuple[str, ...] = ()
    code: str = ""
    name: str = ""
    value: str | None = None


class Preflight(NamedTuple):
    """The items, worst first, the skipped checks, and the command line of the next start."""

    target: Target
    facts: Facts
    items: tuple[RestartItem, ...]
    skipped: tuple[SkippedCheck, ...]
    command: StartCommand

    def of(self, kind: RestartEffect) -> list[RestartItem]:
        """Return the items of one kind."""
        return [item for item in self.items if item.kind is kind]


class Remedy(NamedTuple):
    """The possible actions, and a help text if no line or statement applies."""

    actions: tuple[Action, ...] = ()
    help: str = ""


def remedy_for(name: str, kind: RestartEffect, view: NextValue, now: RuleContext) -> Remedy:
    """Return how to keep the running value and how to apply a change now; secrets are never printed."""
    running = now.server.variables[name]
    if MASK in redact_value(name, running):
        return Remedy(help="It may hold a password, which is not shown: write the value to the file yourself.")
    option = option_of(name, now.catalog)
    if option is None:
        return Remedy(help="No option sets it. To keep it, add the SET GLOBAL to the init_file.")
    if not _is_safe(option, running) and not _is_safe(option, view.value):
        where = (
            "persist the intended value" if view.source is Origin.PERSISTED else "write the intended value to the file"
        )
        return Remedy(help=f"It affects durability: {where}.")
    keep = _as_replica_takes(_keep_actions(option, view, now, running), now, name) if _is_safe(option, running) else ()
    return Remedy(
        (*keep, *_as_replica_takes(_apply_now_actions(option, kind, view, now), now, name)),
        _help(option, view, running) if not keep else "",
    )


def _as_replica_takes(actions: Iterable[Action], now: RuleContext, variable: str) -> tuple[Action, ...]:
    return present(*(as_replica_takes(now, variable, action) for action in actions))


def _is_safe(option: Option, value: str | None) -> bool:
    """Whether the value may be recommended: less durable values never are."""
    guarded = option.durability or option.name in SAFE_VALUES
    return not guarded or value == SAFE_VALUES.get(option.name)


def _keep_actions(option: Option, view: NextValue, now: RuleContext, running: str) -> Iterator[Action]:
    """Yield actions that keep the running value at the next start, in the place that determines it."""
    if not _is_accepted(option, running, now):
        return
    value = _changed_flags(option, running, view)
    does = runtime_effect(now, option, running)
    persist = _persist_statement(option, value, now) if does.works or not option.dynamic else None
    if view.source is Origin.PERSISTED:
        if persist:
            yield Action(statement=persist, risk=does.words)
    elif view.source is Origin.COMMAND_LINE and view.line is not None:
        decided = source_of_line(Origin.COMMAND_LINE, view.line)
        word = argument_for(decided, option, value)
        yield Action(argument=word, place=decided.place, replaces=decided.text)
    elif line := option_line(option, value):
        yield Action(option_line=line, statement=persist if option.dynamic else None)


def _apply_now_actions(option: Option, kind: RestartEffect, view: NextValue, now: RuleContext) -> Iterator[Action]:
    """Yield the statement that applies the next value now, if SET GLOBAL can do it."""
    if kind is not RestartEffect.CHANGED or view.value is None or MASK in redact_value(option.name, view.value):
        return
    if not _is_safe(option, view.value) or not _is_accepted(option, view.value, now) or now.server.managed:
        return
    does = runtime_effect(now, option, view.value)
    running = now.settings.text(option.variable or option.name)
    if does.works and running is not None:
        statement, undo = set_statement(option, view.value), set_statement(option, running)
        yield Action(statement=statement, risk=does.words, undo=undo)


def _is_accepted(option: Option, value: str, now: RuleContext) -> bool:
    """Whether the target accepts the value as written."""
    return judge_value(option.name, value, now.catalog).outcome is Outcome.ACCEPTED


def _help(option: Option, view: NextValue, running: str) -> str:
    """Return a help text for values that cannot be written in a file: removing the line may keep them."""
    place = view.line.placed if view.line else None
    if place is None or not place.line.number:
        return ""
    default = option.running if option.running is not None else option.default
    if default is not None and is_same_value(default, running):
        if view.source is Origin.PERSISTED:
            return f"To keep {running or 'it empty'}, run RESET PERSIST {option.variable or option.name}."
        return f"To keep {running or 'it empty'}, remove the line."
    return ""


def _changed_flags(option: Option, running: str, view: NextValue) -> str:
    """Return only the switches that would change; the others keep their value."""
    if option.kind != "flagset" or not view.value:
        return running
    after = view.value.split(",")
    return ",".join(part for part in running.split(",") if part not in after)


def _persist_statement(option: Option, value: str, now: RuleContext) -> str | None:
    """Return the SET PERSIST statement, available in MySQL 8 and later."""
    if not now.target.since("mysql", 8) or not option.variable or now.server.managed:
        return None
    if not may_be_persisted(option.variable, now.target):
        return None
    return set_statement(option, value, "PERSIST" if option.dynamic else "PERSIST_ONLY")


def option_line(option: Option, value: str) -> str | None:
    """Return the line that sets the option, quoted if the parser would cut the value; None if no line can."""
    number = parse_whole_number(value) if option.kind in ("int", "uint") and option.name.endswith(BYTES) else None
    shown = value if number is None else exact_size(number)
    for text in (shown, f'"{shown}"', f"'{shown}'"):
        line = f"{option.name} = {text}"
        read = parse(f"[mysqld]\n{line}\n".encode("utf-8", "surrogateescape"), "").lines[1:]
        if len(read) == 1 and read[0].value == shown:
            return line
    return None


def place_for(view: NextValue, files: OptionFiles | None, now: RuleContext) -> str:
    """Return where to write a line: in place of the effective one, else the last file with a group of the server."""
    if view.line is not None and view.line.placed.line.number:
        return f"{view.line.placed.path}:{view.line.placed.line.number}"
    if files is None:
        return ""
    own = groups_read(now.target)
    holding = {p.path for p in now.file_verdict.resolved.options if p.line.group in own}
    tops = [path for path in files.main_files if path in holding] or list(files.main_files)
    return tops[-1] if tops else ""
