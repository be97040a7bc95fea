"""The subject of a finding, the place that sets its variable at the next start, and edits of option lines."""

from __future__ import annotations

from advisor.core import NamedTuple
from advisor.core.model import Edit, Fix, Location, Origin, Setting
from advisor.optionfile.reader import LINE_BYTES, SPACE
from advisor.redaction import redact_name, redact_value
from advisor.verdict import LineVerdict, Outcome
from advisor.verdict.names import CAPITALS, find_name
from rules.core.context import REMOVE_LINE, ValueSource, reload_step, removal_step, source_of_line, source_place

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from advisor.catalog import Catalog, Option
    from advisor.core.model import Finding
    from advisor.optionfile.lines import Line
    from advisor.verdict import FileVerdict
    from rules.core.context import FindSource, RuleContext


OUTRANKING = frozenset({Origin.PERSISTED, Origin.COMMAND_LINE})
FEW_BYTES = 10_000  # a smaller number for a size was meant with a unit
SIZES = (
    "_buffer_size",
    "_pool_size",
    "_cache_size",
    "_file_size",
    "_packet",
    "thread_stack",
    "_table_size",
    "_capacity",
)
NUMBERS = ("int", "uint", "double")
# Limits within those that the servers print: 0 is the default port, and 2 is not for the file systems of Linux.
NARROWER = {"lower_case_table_names": ("0", "1"), "port": ("1", "65535"), "table_cache": ("10", "524288")}
# The ends of names of options that are times: minutes are likely to be meant by m there, and never megabytes.
TIMES = ("_timeout", "_time", "_seconds", "_days", "_lifetime", "_expiry")
NOT_IN_BYTES = ("thread_cache_size", "host_cache_size", "metadata_locks_cache_size", "innodb_io_capacity")
# Options that set the same thing in different units; the later line wins.
LINKED = {
    "binlog_expire_logs_seconds": ("expire_logs_days",),
    "expire_logs_days": ("binlog_expire_logs_seconds",),
}


def find_value_source(context: RuleContext, option: Option) -> ValueSource | None:
    """The source of the option's value at the next start; None if nothing sets it."""
    names = (*context.catalog.spellings(option.name), *LINKED.get(option.name, ()))
    find_source = context.find_source or find_source_in_lines(context.file_verdict, Origin.FILE)
    return find_source(option.variable or option.name, names)


def find_source_in_lines(verdict: FileVerdict, origin: Origin) -> FindSource:
    """A function that finds the source among the option lines of one document; the last line wins.

    All lines of the document have the same origin.
    """

    def find(_variable: str, names: tuple[str, ...]) -> ValueSource | None:
        lines = [line for name in names if (line := verdict.effective.get(name))]
        last = max(lines, key=verdict.lines.index) if len(lines) > 1 else next(iter(lines), None)
        return None if last is None else source_of_line(origin, last)

    return find


def adapt_help_to_source(context: RuleContext, findings: Iterable[Finding]) -> list[Finding]:
    """The findings with help that matches the source of each value.

    Rules write their help for option files. If a persisted value or the command line decides, the help says what to do
    there. A value that was set at run time has no line: the help has the statement that restores the default.
    """
    return [_adapt_finding(context, finding) for finding in findings]


def _adapt_finding(context: RuleContext, finding: Finding) -> Finding:
    option = context.catalog.get(finding.canonical) if finding.canonical else None
    if not finding.help or (finding.actions and REMOVE_LINE not in finding.help):
        return finding
    decided = find_value_source(context, option) if option else None
    if option is None or decided is None or decided.origin not in OUTRANKING:
        return _without_missing_line(context, finding, (option and option.variable) or finding.canonical or "")
    if finding.location is not None and finding.location != decided.place:
        return finding  # the finding is about a line, even if another line overrides it
    return finding._replace(help=_adapt_help(finding.help, decided, option))


def _without_missing_line(context: RuleContext, finding: Finding, variable: str) -> Finding:
    """The finding with a statement in place of the line to remove, if its value was set at run time: no line has it."""
    setting = context.settings.get(variable)
    if finding.location is not None or setting is None or setting.origin is not Origin.RUNTIME:
        return finding
    if context.server.managed:
        return finding
    kept = context.target.since("mysql", 8) and not (
        context.has("files") and context.files.persisted_options is not None
    )
    persisted = f" and RESET PERSIST IF EXISTS {variable}" if kept else ""
    return finding._replace(
        help=finding.help.replace(REMOVE_LINE, f"run SET GLOBAL {variable} = DEFAULT{persisted}", 1)
    )


def _adapt_help(text: str, decided: ValueSource, option: Option) -> str:
    """The help text adapted to this origin.

    It says how to remove the setting there, or gets a sentence on where the value is set.
    """
    taken = removal_step(decided, option)
    if REMOVE_LINE in text:
        return text.replace(REMOVE_LINE, taken, 1)
    if decided.origin is Origin.PERSISTED:
        how = "SET PERSIST" if option.dynamic else "SET PERSIST_ONLY"
        return f"{text}; the value is persisted: change it by {how}, or {taken}"
    step = f"change {decided.text or 'it'} there{reload_step(decided)}"
    return f"{text}; the value is set by {source_place(decided)}: {step}"


SAFE = "safe"
UNSAFE = "unsafe"
COMMENT_PREFIX = "mycnf:"  # prefix of comments for mycnf; on a line of its own such a comment applies to the next line


class Subject(NamedTuple):
    """The option as written (lower case, underscores), its canonical name, value and location; secrets are masked."""

    option: str | None
    canonical: str | None
    value: str | None
    group: str | None = None
    location: Location | None = None
    read_as: str = ""  # a sentence on how the server reads a value that is not valid for the option; or empty


def line_subject(path: str, line: Line, canonical: str | None = None) -> Subject:
    """The subject for an option line in a file."""
    name = written_name(line)
    value = None if line.value is None else redact_value(canonical or name, redact_value(name, line.value))
    return Subject(name, canonical, value, line.group, line_location(path, line))


def verdict_subject(verdict: LineVerdict) -> Subject:
    """The subject for an option line with a verdict."""
    subject = line_subject(verdict.placed.path, verdict.placed.line, verdict.canonical)
    return subject._replace(read_as=_misread_sentence(verdict)) if verdict.outcome is Outcome.ADJUSTED else subject


def _misread_sentence(verdict: LineVerdict) -> str:
    """A sentence on a word that is read as OFF or 0, so that a rule about the effect does not hide the typo."""
    from advisor.verdict.words import is_misread

    return f"{verdict.reason} " if is_misread(verdict) else ""


def variable_subject(context: RuleContext, name: str) -> Subject:
    """The subject for a variable: the option line that sets it if there is one, otherwise the running value."""
    canonical = _canonical_name(context, name)
    setting = context.settings.get(name)
    line = _effective_line(context, name)
    if line is not None:
        return verdict_subject(line)
    value = None if setting is None else redact_value(canonical, setting.raw or setting.value)
    return Subject(canonical, canonical, value, None, _value_location(context, name, setting))


def _value_location(context: RuleContext, name: str, setting: Setting | None) -> Location | None:
    """The location of a value that no option line sets: the file of persisted values, or a service's unit file."""
    option = context.catalog.find_variable(name)
    if setting is None or option is None or setting.origin not in (Origin.PERSISTED, Origin.COMMAND_LINE):
        return setting.location if setting else None
    decided = find_value_source(context, option)
    return decided.place if decided is not None and decided.origin is setting.origin else None


def find_line(context: RuleContext, name: str) -> Line | None:
    """The option line that sets a variable; None if no file does."""
    verdict = _effective_line(context, name)
    return verdict.placed.line if verdict is not None else None


def _canonical_name(context: RuleContext, name: str) -> str:
    option = context.catalog.find_variable(name)
    return option.name if option else name


def _effective_line(context: RuleContext, name: str) -> LineVerdict | None:
    """The effective line of the variable; None if the running value has another source."""
    line = _last_line(context, _canonical_name(context, name))
    setting = context.settings.get(name)
    if line is None or setting is None:
        return line
    if setting.origin is not Origin.FILE or (setting.location and not _same_place(setting.location, line)):
        return None
    return line


def _last_line(context: RuleContext, name: str) -> LineVerdict | None:
    """The effective line of an option, under any of its names."""
    effective = context.file_verdict.effective
    lines = [line for n in context.catalog.spellings(name) if (line := effective.get(n)) is not None]
    return lines[0] if len(lines) == 1 else max(lines, key=context.file_verdict.lines.index, default=None)


def written_name(line: Line) -> str:
    """The name of an option as written, lower case with underscores."""
    return redact_name((line.name or "").strip()).lower().replace("-", "_")


def name_in_file(option: Option) -> str:
    """The option's name for a line, with the capitals without which servers with case-sensitive names refuse it."""
    return CAPITALS.get(option.name, option.name)


def line_location(path: str, line: Line) -> Location:
    """The location of the option's name in the file."""
    return Location(path, line.number, line.column, line.number, line.end_column)


def _same_place(location: Location, line: LineVerdict) -> bool:
    return (location.path, location.line) == (line.placed.path, line.placed.line.number)


def sets_value(line: LineVerdict, catalog: Catalog) -> bool:
    """Whether a line sets the option itself, not its maximum and not that of a key cache or an engine."""
    found = find_name(line.placed.line.name or "", catalog, has_value=line.placed.line.value is not None)
    return not found.cache and found.prefix not in ("maximum", "autoset")


def rename_option(line: Line, name: str, applicability: str) -> Fix:
    """Replace the option's name and keep its value."""
    return Fix(applicability, (Edit(line.number, line.column, line.number, line.name_end_column, name),))


def replace_value(line: Line, value: str, applicability: str) -> Fix | None:
    """Replace the value; None if the line has none, or if the edit, which reports show, would hold a secret."""
    if line.raw is None or redact_value(written_name(line), value) != value:
        return None
    edit = Edit(line.number, line.value_column, line.number, line.value_end_column, value)
    return Fix(applicability, (edit,))


def drop_value(line: Line, applicability: str) -> Fix:
    """Remove the value and keep the name."""
    return Fix(applicability, (Edit(line.number, line.name_end_column, line.number, line.end_column, ""),))


def rewrite_line(line: Line, options: list[tuple[str, str]], applicability: str) -> Fix | None:
    """Replace an option by one or more lines; None for a part of a line, as in `remove_line`, and for a secret."""
    if _is_part(line) or any(redact_value(*option) != option[1] for option in options):
        return None
    indent, end = line.text[: line.column - 1], "\r\n" if line.text.endswith("\r\n") else "\n"
    if indent.strip() and len(options) > 1:
        return None  # in a document of another format a new line would not be an option
    text = (end + indent).join(f"{name}={value}" for name, value in options)
    return Fix(applicability, (Edit(line.number, line.column, line.number, line.end_column, text),))


def remove_line(line: Line, applicability: str) -> Fix | None:
    """Remove the option with its line, or keep only the comment after it.

    None if the server reads the line as several options: removing the line would remove the others too.
    """
    if _is_part(line):
        return None
    behind = line.text[line.end_column - 1 :]
    comment = behind.lstrip(SPACE)
    if not comment.startswith("#") or comment.lstrip("# \t").startswith(COMMENT_PREFIX):
        return Fix(applicability, (Edit(line.number, 1, line.number + 1, 1, ""),))
    start = line.end_column + len(behind) - len(comment)
    return Fix(applicability, (Edit(line.number, line.column, line.number, start, ""),))


def _is_part(line: Line) -> bool:
    """Whether the server reads the line of the file as several options, of which this is one."""
    name = line.name or ""
    if line.text[line.column - 1 : line.column - 1 + len(name)] != name:
        return True
    return not line.text.endswith("\n") and len(line.text.encode("utf-8", "surrogateescape")) == LINE_BYTES


PORTS = ("port", "extra_port")


def is_unused_port(line: LineVerdict) -> bool:
    """Whether the server takes 0 for a port, because skip_networking switches TCP off."""
    return line.canonical in PORTS and line.value == "0"


def unit_help(line: LineVerdict) -> str:
    """Help for a size whose unit is missing, such as 64 for 64M, of which 0 or the minimum is left; otherwise empty."""
    text, name = line.placed.line.value or "", line.canonical or ""
    if not (text.isdecimal() and 0 < int(text) < FEW_BYTES and name.endswith(SIZES)) or name in NOT_IN_BYTES:
        return ""
    least = line.option.min if line.option else None
    if line.outcome is not Outcome.ADJUSTED or line.value not in ("0", str(least)):
        return ""
    return (
        f"write the size with its unit, such as {text}M: {text} is a number of bytes, and the server uses {line.value}"
    )


def number_help(option: Option | None) -> str:
    """The option's range as help text."""
    if option is None or option.kind not in NUMBERS:
        return ""
    what = "a number" if option.kind == "double" else "a whole number"
    if option.min is not None and option.max:
        least, most = NARROWER.get(option.name, (option.min, option.max))
        if option.block > 1:
            most = str(int(most) // option.block * option.block)
        return f"write {what} from {least} to {most}"
    return f"write {what}" + (f", such as {option.default}, the default" if option.default else "")
