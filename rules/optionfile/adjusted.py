"""OPT: rules about option lines that the server accepts but adjusts, ignores, overrides or deprecates."""

from __future__ import annotations

from advisor.core.model import Severity
from advisor.optionfile.lines import LineKind
from advisor.verdict import FIRST_WINS, Outcome, judge_value
from advisor.verdict.names import LOADERS, LOADS_EARLY
from rules.core import Docs, rule
from rules.core.subject import (
    SAFE,
    TIMES,
    UNSAFE,
    is_unused_port,
    line_subject,
    remove_line,
    replace_value,
    sets_value,
    verdict_subject,
    written_name,
)
from rules.optionfile.refused import ASKED, lines_with, replacement_help, verdict_confidence

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from advisor.core.model import Finding, Fix, Target
    from advisor.verdict import LineVerdict
    from rules.core.context import RuleContext

TIMESTAMPS = "explicit_defaults_for_timestamp"
# What may follow the suffix letter of a size in bytes: 10GB, 10gigs, 10mbytes.
BYTES = frozenset(
    ("", "b", "ib", "yte", "ytes", "byte", "bytes", "ig", "igs", "eg", "egs", "egabytes", "igabytes", "ilobytes")
)
NUMBER_STARTS = "0123456789+-"
QUOTES = ("'", '"', *"\u201c\u201d\u201e\u2018\u2019")
KEEP_ONE = "keep one of the two lines"
MONITORS = dict.fromkeys(("innodb_monitor_enable", "innodb_monitor_disable"), "write all in one line, with commas")
LOAD_BOTH = ("write plugin_load_add in both lines to load both", "write both libraries in one line, separated by ;")
ROUNDING = 0.01  # a smaller relative adjustment is an insignificant rounding


@rule(
    "OPT006",
    "adjusted-value",
    summary="The server changes the value.",
    evidence=ASKED,
    fix=SAFE,
    docs=Docs(
        why="A number outside an option's range becomes the nearest limit, a number that is not a multiple of the "
        "block size is rounded down, a word that is not a boolean becomes OFF, and a word that begins with a letter "
        "such as m or t, which servers read as a unit, becomes the number 0. Most of these changes are logged as a "
        "warning in the error log, some are not.",
        fix="Write the value that the server uses, or the one that you meant.",
        risk="Writing the number that the server already uses changes nothing. For yes, no and other words the fix "
        "writes what they mean, which can differ from what the server does now, so it is unsafe.",
        exceptions="Rounding to a block size of a few bytes is a note. So are a file name extension that the server "
        "removes from log_bin, and a port together with skip_networking.",
        reconsider_when="A server of this version that prints the value as written.",
    ),
)
def adjusted_value(context: RuleContext) -> Iterator[Finding]:
    """Report lines whose value the server changes, silently or with a warning."""
    for line in lines_with(context, Outcome.ADJUSTED):
        from rules.core import fixes

        fix = fixes.fix_adjusted(line, context)
        yield adjusted_value.finding(
            line.reason,
            verdict_subject(line),
            severity=Severity.NOTE if _is_harmless(line) else Severity.WARNING,
            confidence=verdict_confidence(line),
            help=_adjusted_help(line, fix),
            fix=fix,
        )


def _adjusted_help(line: LineVerdict, fix: Fix | None) -> str:
    from rules.core.fixes import help_adjusted

    return help_adjusted(line, fix)


def _is_harmless(line: LineVerdict) -> bool:
    """Whether the adjustment keeps the intention: rounded within a block, a log's extension dropped, an unused port.

    No durability option is rounded to blocks.
    """
    asked, given = line.placed.line.value or "", line.value or ""
    if line.option is None:
        return False
    if line.canonical == "log_bin":
        return asked.startswith(given)
    if is_unused_port(line):
        return True
    if not asked.isdigit() or not given.isdigit():
        return False
    moved = abs(int(asked) - int(given))
    return 0 < moved < line.option.block and moved <= ROUNDING * int(asked)


@rule(
    "OPT008",
    "deprecated-option",
    severity=Severity.NOTE,
    summary="The option still works, but it is deprecated: a later series will remove it.",
    evidence=ASKED,
    fix=SAFE,
    docs=Docs(
        why="A server of a series that has neither the option nor a stub for it refuses to start with the line. Until "
        "then the line works, often without a warning in the log: at its start MySQL 9.7.4 warns of most of these "
        "lines, 5.7.22 and MariaDB 11.8.9 of a third, and MariaDB 10.11 and 11.4 of hardly any.",
        fix="Move to the successor when it is convenient, in any case before the next upgrade.",
        risk="The successor may have another default or unit; read its description first.",
        restart=True,
        exceptions="A file that an older version reads as well may need the old name. explicit_defaults_for_timestamp "
        "= ON on MySQL 5.7 is not reported: that server recommends it in its log, and only 8.0 has it by default.",
        reconsider_when="The vendor revokes the deprecation.",
    ),
)
def deprecated_option(context: RuleContext) -> Iterator[Finding]:
    """Report lines with an option or notation that the target deprecates."""
    for line in context.file_verdict.lines:
        since = line.option.deprecated if line.option is not None else None
        if (
            line.deprecated
            and line.outcome in (Outcome.ACCEPTED, Outcome.ADJUSTED)
            and _is_deprecated_in(since, context.target)
            and not _is_advised_by_server(line, context.target)
            and not (line.canonical == "expire_logs_days" and line.running == "0")  # overruled-binary-log-setting
        ):
            from rules.core import fixes

            fix = fixes.fix_deprecated(line, context)
            yield deprecated_option.finding(
                f"{written_name(line.placed.line)} is deprecated{_deprecated_since(line)}.",
                verdict_subject(line),
                confidence=verdict_confidence(line),
                help=replacement_help(line, fix, "plan to remove the line", context),
                fix=fix,
            )


def _is_advised_by_server(line: LineVerdict, target: Target) -> bool:
    """Whether MySQL 5.7 warns at its start where the line is missing: ON is the default of 8.0 only."""
    return line.canonical == TIMESTAMPS and line.value == "TRUE" and target.is_mysql and target.version < (8, 0)


def _deprecated_since(line: LineVerdict) -> str:
    """The version that deprecated the option, if a manual names it; a server's warning does not."""
    option = line.option
    return f" since {option.deprecated}" if option is not None and "deprecated" in option.documented else ""


def _is_deprecated_in(since: str | None, target: Target) -> bool:
    """Whether the target is at least the version that deprecated the option; True if that version is unknown."""
    return since is None or tuple(int(n) for n in since.split(".") if n.isdigit()) <= target.version


@rule(
    "OPT009",
    "ignored-option",
    summary="The server accepts the option and ignores it.",
    evidence=(*ASKED, "ASK-PLUGIN-01"),
    fix=SAFE,
    docs=Docs(
        why="Servers keep some removed options as stubs, so that old files still start them. The setting seems to take "
        "effect but does not.",
        fix="Use the option that replaces it, if there is one; otherwise remove the line.",
        risk="None: the line has no effect. A successor takes effect at the next start.",
        exceptions="A file that older versions read as well may need the line. A line that loads a removed library "
        "gets no fix: first move to what replaces the plugin.",
        reconsider_when="A server of this version that behaves differently with the line.",
    ),
)
def ignored_option(context: RuleContext) -> Iterator[Finding]:
    """Report lines that the target accepts and ignores."""
    for line in lines_with(context, Outcome.IGNORED):
        from rules.core import fixes

        loads = line.canonical in LOADERS
        fix = None if loads else fixes.fix_ignored(line, context)
        yield ignored_option.finding(
            line.reason,
            verdict_subject(line),
            confidence=verdict_confidence(line),
            help=_library_help(line) if loads else fixes.help_removed(line, fix, "remove the line", context),
            fix=fix,
        )


def _library_help(line: LineVerdict) -> str:
    """Help for a line that loads a library which the target does not have."""
    if " is not in MySQL Community" in line.reason:
        return (
            "name MySQL Enterprise as the target (such as mysql-enterprise-9.7), or remove the library and its options"
        )
    if " is MariaDB's" in line.reason:
        return "remove its library and its options, unless you installed it"
    replaced = " took its place" in line.reason
    return ("move to what replaces the plugin, then " if replaced else "") + "remove its library from the line"


@rule(
    "OPT017",
    "unread-letters",
    severity=Severity.NOTE,
    summary="The first letter after a number is read as a unit of bytes, even for a time, and the others are ignored.",
    evidence=ASKED,
    fix=SAFE,
    docs=Docs(
        why="A server reads 10GB and 10gigs as 10G, and 10Minutes as 10M: it reads the first letter after the digits "
        "as a unit of bytes and ignores the rest, so a typo is accepted silently. It reads `2G ; half` as 2G: after a "
        "value only # begins a comment. wait_timeout = 10m is 10485760 seconds, not ten minutes: all servers that we "
        "tested read it this way.",
        fix="Write the number with one letter, or without a letter if the option is not a size.",
        risk="None for 10GB: the server reads the same number. It reads 10Minutes as 10485760: there the fix is "
        "unsafe.",
        exceptions="None.",
        reconsider_when="A server that refuses the value, or reads another number.",
    ),
)
def unread_letters(context: RuleContext) -> Iterator[Finding]:
    """Report numbers with more characters after them than the server reads, and times with the letter m."""
    for line in context.file_verdict.lines:
        value = line.placed.line.value or "x"
        if value[0] in NUMBER_STARTS and not value[1:-1].isdigit() and (text := _readable_number(line, context)):
            yield _unread_end(line, text)
        elif value[-1] in ("m", "M") and (line.canonical or "").endswith(TIMES):
            yield from _minutes(line)


def _unread_end(line: LineVerdict, text: str) -> Finding:
    """The finding about what follows the number: letters, as in 10GB, or words that were meant as a comment."""
    word, _, rest = (line.placed.line.value or "")[len(text) :].partition(" ")
    letters, comment = word.rstrip(";,").lower(), rest.lstrip(";/-# ")
    in_bytes = letters in BYTES
    is_commented = bool(comment) and in_bytes
    new = f"{text} # {comment}" if is_commented else text
    reads = f"The server reads {text}{'' if in_bytes else f', which is {line.value}'}"
    ignores = "a comment after a value begins with #" if is_commented else "it ignores the letters after the first"
    return unread_letters.finding(
        f"{reads}: {ignores}.",
        verdict_subject(line),
        severity=None if in_bytes else Severity.WARNING,
        confidence=verdict_confidence(line),
        help=f"write {new}" if in_bytes else f"write the number that you meant, without a unit; the server uses {text}",
        fix=replace_value(line.placed.line, new, SAFE if in_bytes else UNSAFE),
    )


def _minutes(line: LineVerdict) -> Iterator[Finding]:
    """A time with the letter m; if the server lowers it to the maximum, adjusted-value reports it."""
    if line.outcome is not Outcome.ACCEPTED or line.option is None or line.option.kind not in ("int", "uint"):
        return
    yield unread_letters.finding(
        f"The server reads {line.placed.line.value} as {line.value}: m is a unit of bytes, not of time.",
        verdict_subject(line),
        severity=Severity.WARNING,
        confidence=verdict_confidence(line),
        help="write the number that you meant, without a unit",
    )


def _readable_number(line: LineVerdict, context: RuleContext) -> str | None:
    if line.option is None or line.option.kind not in ("int", "uint"):
        return None
    from rules.core.fixes import readable_number

    return readable_number(line, context.catalog)


@rule(
    "OPT019",
    "escaped-path",
    summary="A Windows path contains \\b, \\t, \\n, \\r, \\s or \\\\, which option files read as other characters.",
    evidence=ASKED,
    fix=UNSAFE,
    docs=Docs(
        why="Option files have escape sequences: in `C:\\mysql\\binlogs` every program reads \\b as a backspace, so "
        "the path is invalid, or is that of another folder. They read \\\\ as one backslash, so the path of a share, "
        "`\\\\srv\\data`, becomes `\\srv\\data` on the current drive.",
        fix="Write forward slashes, which work on Windows too, or double each backslash.",
        risk="The option takes effect for the first time with the intended path: what the server has written so far is "
        "elsewhere.",
        restart=True,
        exceptions="None: other backslashes, as in C:\\mysql\\data, are kept and not reported.",
        reconsider_when="A my_print_defaults that prints the path as written.",
    ),
)
def escaped_path(context: RuleContext) -> Iterator[Finding]:
    """Report Windows paths, in any group, with a backslash sequence that is read as another character."""
    for file in context.file_verdict.resolved.files:
        for line in file.lines:
            if line.kind is LineKind.OPTION and not line.templated and line.raw and "\\" in line.raw:
                from rules.optionfile.groups import windows_path_escapes

                escapes = windows_path_escapes(line)
                if escapes is not None:
                    yield escaped_path.finding(
                        escapes[0], line_subject(file.path, line), help=escapes[1], fix=escapes[2]
                    )


@rule(
    "OPT024",
    "unclosed-value",
    summary="A value begins with a quote that is not closed, or ends with a backslash as if the next line belonged to "
    "it.",
    evidence=ASKED,
    fix=UNSAFE,
    docs=Docs(
        why='A quote that is not closed is part of the value: `datadir = "/var/lib/mysql` names a directory whose name '
        "begins with a quote. Option files have no line continuation: a backslash at the end is part of the value, and "
        "the next line is a separate option. Typographic quotes are ordinary characters.",
        fix="Close the quote or remove it, and write the whole value on one line.",
        risk="The option takes effect for the first time with the intended value: what the server has written so far "
        "is elsewhere.",
        restart=True,
        exceptions="Directories of Windows may end with a backslash, and are not reported.",
        reconsider_when="A my_print_defaults that prints the value without the quote or backslash.",
    ),
)
def unclosed_value(context: RuleContext) -> Iterator[Finding]:
    """Report texts that begin with a quote or end with a backslash that becomes part of them."""
    for line in lines_with(context, Outcome.ACCEPTED):
        placed = line.placed.line
        raw = placed.raw or ""
        if line.option is None or line.option.kind != "string" or placed.templated:
            continue
        if raw[:1] in QUOTES or raw.endswith("\\"):
            from rules.optionfile.groups import stray_quote

            stray = stray_quote(placed)
            if stray is not None:
                what, help_text, fix = stray
                yield unclosed_value.finding(what, verdict_subject(line), help=help_text, fix=fix)


@rule(
    "OPT012",
    "duplicate-option",
    severity=Severity.NOTE,
    summary="A later line sets the same option again, so this one has no effect.",
    evidence=ASKED,
    fix=SAFE,
    docs=Docs(
        why="The last value that the server reads wins, across all files and groups that it reads; of user it is the "
        "first. An overridden line misleads those who edit it. Dashes, underscores, abbreviations and other names, "
        "such as slave_net_timeout for replica_net_timeout, are the same option.",
        fix="Keep one line.",
        risk="None: the overridden line has no effect. If the other line is in another file or group, a program that "
        "reads only one of the two may depend on it, so that fix is unsafe, and so is that of a list in several lines.",
        exceptions="A versioned group such as [mysqld-8.0] overrides on purpose. Options that collect values, such as "
        "replicate_do_db and plugin_load_add, are not duplicates, but plugin_load replaces the list of earlier lines.",
        reconsider_when="A file of defaults that other files are meant to override.",
    ),
)
def duplicate_option(context: RuleContext) -> Iterator[Finding]:
    """Report lines that a later line overrides, under the same name or another name of the option."""
    for line, winner in _overridden_lines(context):
        if not _is_intentional(line, winner) and sets_value(line, context.catalog):
            several = line.canonical in (*LOADERS, *MONITORS) and not _agrees(line, winner, context)  # all are meant
            all_of_them = MONITORS.get(line.canonical or "") or LOAD_BOTH[line.canonical == LOADS_EARLY]
            yield duplicate_option.finding(
                _override_message(line, winner, context),
                verdict_subject(line),
                severity=Severity.WARNING if _contradicts(line, winner, context) else None,
                help=all_of_them if several else KEEP_ONE,
                fix=remove_line(line.placed.line, SAFE if _in_same_group(line, winner) and not several else UNSAFE),
            )


def _overridden_lines(context: RuleContext) -> Iterator[tuple[LineVerdict, LineVerdict]]:
    """Yield each line without effect with the one that wins."""
    verdict = context.file_verdict
    last: dict[str, LineVerdict] = {}
    for canonical, line in verdict.effective.items():
        root = line.option.alias_of or canonical if line.option else canonical
        other = last.setdefault(root, line)
        if other is not line:
            first, winner = sorted((other, line), key=verdict.lines.index)
            last[root] = winner
            if _sets_whole_value(winner, context):
                yield first, winner
    for canonical, overridden in verdict.overridden.items():
        winner = verdict.effective[canonical]
        if _sets_whole_value(winner, context):
            yield from ((line, winner) for line in overridden)
    if "plugin_load" in verdict.effective and "plugin_load_add" in verdict.effective:
        winner = verdict.effective["plugin_load"]
        before = verdict.lines[: verdict.lines.index(winner)]
        yield from ((line, winner) for line in before if line.canonical == "plugin_load_add")


def _sets_whole_value(winner: LineVerdict, context: RuleContext) -> bool:
    """Whether the line sets the whole value; flag sets, and lines without a value, may build on earlier lines."""
    option, line = winner.option, winner.placed.line
    if option is None or not sets_value(winner, context.catalog):
        return False
    if line.value is None:
        return option.kind in ("bool", "flag") or option.name == "log_error"
    if option.kind == "flagset" or (option.kind, option.arg) == ("bool", "none"):
        return judge_value(line.name or "", line.value, context.catalog).value == winner.value
    return True


def _is_intentional(line: LineVerdict, winner: LineVerdict) -> bool:
    """Whether the winning line is in a version's group, or a template includes only one of the lines."""
    if line.placed.line.conditional or winner.placed.line.conditional:
        return True
    group = winner.placed.line.group or ""
    return line.placed.line.group != group and group.rpartition("-")[2].replace(".", "").isdigit()


def _contradicts(line: LineVerdict, winner: LineVerdict, context: RuleContext) -> bool:
    """Whether two lines of the same group and file set different values."""
    return _in_same_group(line, winner) and not _agrees(line, winner, context)


def _agrees(line: LineVerdict, winner: LineVerdict, context: RuleContext) -> bool:
    """Whether both lines set the same value; under two names, each verdict has the value of the line that wins."""
    if line.canonical in LOADERS or line.value is winner.value is None:  # of some options servers print no value
        return line.placed.line.value == winner.placed.line.value
    if line.canonical == winner.canonical:
        return line.value == winner.value
    own = (judge_value(one.placed.line.name or "", one.placed.line.value, context.catalog) for one in (line, winner))
    return len({verdict.value for verdict in own}) == 1


def _in_same_group(line: LineVerdict, winner: LineVerdict) -> bool:
    """Whether every program that reads one of the two lines also reads the other."""
    return (line.placed.path, line.placed.line.group) == (winner.placed.path, winner.placed.line.group)


def _override_message(line: LineVerdict, winner: LineVerdict, context: RuleContext) -> str:
    elsewhere = winner.placed.path != line.placed.path
    place = f"{winner.placed.path if elsewhere else 'Line'}{':' if elsewhere else ' '}{winner.placed.line.number}"
    other = "" if winner.canonical == line.canonical else f" under its other name {winner.canonical}"
    if line.canonical in LOADERS and not _agrees(line, winner, context):
        return f"{place} sets {winner.canonical}, which replaces the list so far; this line has no effect."
    if _agrees(line, winner, context):
        return f"{place} sets the same value again{other}; this line has no effect."
    if line.canonical in FIRST_WINS:
        return f"{place} sets {line.canonical}, and servers take the first such line; this line has no effect."
    return f"{place} sets the option again{other} and wins; this line has no effect."
