"""OPT: a rule about values that differ between option file and running server."""

from __future__ import annotations

from advisor.core.model import Action, Confidence, Origin, Severity, size_in_units
from advisor.redaction import MASK, redact_value
from rules.core import Docs, rule
from rules.core.subject import verdict_subject

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from advisor.core.model import Finding, Setting
    from advisor.verdict import LineVerdict
    from rules.core.context import RuleContext, ValueSource

# The server changes these at startup; other rules report that.
CHECKED_BY_OTHER_RULES = frozenset({"innodb_io_capacity", "innodb_buffer_pool_instances", "query_cache_type"})
DRIFT = {
    Origin.RUNTIME: (Severity.WARNING, "it was set at run time{by}, and the next start restores this line's value."),
    Origin.PERSISTED: (Severity.WARNING, "a persisted value{set} overrides this line."),
    Origin.COMMAND_LINE: (Severity.NOTE, "its command line overrides this line."),
    Origin.FILE: (Severity.NOTE, "the server changed it, it was set at run time, or the file was edited later."),
}
BY_INIT_FILE = "init_file sets it at each start, after this line is read."
INIT_FILE_HELP = "keep one of the two: this line, or the statement in init_file"
SET_BY_STATEMENT = frozenset({Origin.RUNTIME, Origin.PERSISTED})
PERSISTED_DRIFT = (
    Severity.WARNING,
    "it was set at run time{by}, and the next start restores the persisted value.",
)
COMMAND_DRIFT = (
    Severity.WARNING,
    "it was set at run time{by}, and the next start uses the command line's value, which overrides this line.",
)
# A server that reports no origins may also have changed the value of its command line itself.
CHANGED_COMMAND = (
    Severity.WARNING,
    "it was set at run time or adjusted; the next start uses the command line's value, which overrides this line.",
)


@rule(
    "OPT016",
    "file-differs-from-running",
    summary="The server runs with a value that differs from its option file.",
    needs=("server",),
    evidence=("ASK-18",),
    docs=Docs(
        why="A value that was set at run time is lost at the next start, often years later and together with an "
        "upgrade. A value that was persisted (MySQL 8.0 and later), or set on the command line, overrides the file, "
        "so edits to the file have no effect.",
        fix="Write the intended value to the file, or remove the other source: with RESET PERSIST, which leaves the "
        "running value as it is, or from the service's command line.",
        risk="None: a change to the file has no effect until the next start.",
        exceptions="A value that was set for an hour, such as during a load.",
        reconsider_when="Nothing.",
    ),
)
def file_differs_from_running(context: RuleContext) -> Iterator[Finding]:
    """Report effective lines of the server's files whose variable has another value now."""
    from advisor.verdict.settings import matches_running
    from rules.core.network import variables_set_by_cluster
    from rules.core.statements import last_set
    from rules.system.kernel import is_limited_by_system

    of_cluster = variables_set_by_cluster(context)
    for line in context.file_verdict.effective.values():
        variable = line.option.variable if line.option else None
        setting = context.settings.get(variable) if variable else None
        if (
            setting is None
            or line.value is None
            or variable in of_cluster
            or matches_running(line, setting.value)
            or is_limited_by_system(context, line, setting)
        ):
            continue
        if setting.origin is Origin.FILE and setting.name in CHECKED_BY_OTHER_RULES:
            continue
        if MASK in f"{line.value}{setting.value}":
            continue  # a password in the value was masked when it was collected, so it cannot be compared
        weight, words = _drift(context, line, setting)
        by, note, again = last_set(context, setting.name) if setting.origin in SET_BY_STATEMENT else ("", "", False)
        words = BY_INIT_FILE if again else words.replace("{by}", by).replace("{set}", f" (set{by})" if by else "")
        running = _running_text(line, setting)
        yield file_differs_from_running.finding(
            f"{setting.name} is {running or 'empty'} in the running server: {words}{' ' if note else ''}{note}",
            verdict_subject(line),
            severity=weight,
            confidence=_confidence(context, setting),
            help=INIT_FILE_HELP if again else _drift_help(context, line, setting),
        )


def _running_text(line: LineVerdict, setting: Setting) -> str:
    """The running value without secrets, as 128M rather than 134217728 where the line has such a unit."""
    in_units = (line.placed.line.value or "").upper().endswith(tuple("KMGTPE")) and size_in_units(setting.value)
    return in_units or redact_value(setting.name, setting.value)


def _drift_help(context: RuleContext, line: LineVerdict, setting: Setting) -> str:
    """Help text: how to apply the file's value, and how to keep the running one."""
    from advisor.verdict.settings import as_variable
    from rules.core.advice import as_replica_takes
    from rules.core.context import removal_step
    from rules.core.statements import runtime_effect, set_statement
    from rules.core.subject import find_value_source

    option, variable = line.option, setting.name
    decided = find_value_source(context, option) if option is not None else None
    if option is None or decided is None or context.server.managed:
        return "write the intended value to the file"
    text = as_variable(option, line.value) or ""
    secret = redact_value(variable, text) != text  # a statement with the masked value would set asterisks
    taken = as_replica_takes(context, variable, Action(statement=set_statement(option, text)))
    now = (
        "restart"
        if secret or not runtime_effect(context, option, text).works or taken is None or not taken.statement
        else taken.statement.rstrip(";")
    )
    kept = _running_text(line, setting) or "the empty value"
    keep = f"to keep {kept}, {_how_to_keep(line, setting, decided)}"
    if decided.origin is Origin.PERSISTED:
        return f"to use the line, run RESET PERSIST {variable}, then {now}; {keep}"
    if decided.origin is Origin.COMMAND_LINE:
        return f"to use the line, {removal_step(decided, option)} and restart; {keep}"
    return f"to use the line, {'run ' if now != 'restart' else ''}{now}; {keep}"


def _how_to_keep(line: LineVerdict, setting: Setting, decided: ValueSource) -> str:
    """Where to write the running value: a line is not enough while something that outranks it has another value."""
    outranked = decided.value is not None and not _is_running(decided, setting)
    if decided.origin is Origin.COMMAND_LINE and outranked:
        return "write it there instead"
    if decided.origin is Origin.PERSISTED and outranked:
        option = line.option
        return f"persist it with SET {'PERSIST' if option is None or option.dynamic else 'PERSIST_ONLY'}"
    return f"write it to {_line_place(line)}"


def _is_running(decided: ValueSource, setting: Setting) -> bool:
    """Whether the source's value is the running one."""
    from advisor.verdict.settings import is_same_value

    return is_same_value(decided.value or "", setting.value)


def _confidence(context: RuleContext, setting: Setting) -> Confidence | None:
    """Likely if the server does not report origins, or took the value from the file and changed it."""
    inferred = setting.origin is Origin.COMMAND_LINE and not context.server.origins
    return Confidence.LIKELY if inferred or setting.origin in (Origin.FILE, Origin.UNKNOWN) else None


def _line_place(line: LineVerdict) -> str:
    return f"{line.placed.path}:{line.placed.line.number}"


def _drift(context: RuleContext, line: LineVerdict, setting: Setting) -> tuple[Severity, str]:
    """Severity and description of how the running value came to differ.

    A value set by SET PERSIST has the origin RUNTIME until the next start.
    """
    held = context.files.persisted_options if context.has("files") and setting.origin is Origin.RUNTIME else None
    persisted = next((option.value for option in held or () if option.name == setting.name), None)
    if persisted is not None:
        return DRIFT[Origin.PERSISTED] if persisted == setting.value else PERSISTED_DRIFT
    return _drift_from_command(context, line, setting) or DRIFT.get(setting.origin, DRIFT[Origin.FILE])


def _drift_from_command(context: RuleContext, line: LineVerdict, setting: Setting) -> tuple[Severity, str] | None:
    """Severity and description where the command line of the next start has the option; None if it does not."""
    from rules.core.subject import find_value_source

    decided = find_value_source(context, line.option) if line.option is not None else None
    if decided is None or decided.value is None or decided.origin is not Origin.COMMAND_LINE:
        return None
    if _is_running(decided, setting):
        return DRIFT[Origin.COMMAND_LINE]
    if setting.origin is Origin.RUNTIME:
        return COMMAND_DRIFT
    return None if context.server.origins else CHANGED_COMMAND
