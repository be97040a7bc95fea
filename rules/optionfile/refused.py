"""OPT: rules about option lines that the server refuses."""

from __future__ import annotations

from advisor.core.model import Confidence, Severity
from advisor.redaction import quote_value
from advisor.verdict import REFUSED, Outcome, judge_value
from advisor.verdict.names import NOT_LOADED, is_component_option
from advisor.verdict.words import MAX_SHOWN, named_members
from rules.core import Docs, rule
from rules.core.subject import UNSAFE, number_help, remove_line, verdict_subject, written_name
from rules.optionfile import help_at_start, split_advice

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from advisor.core.model import Finding, Fix
    from advisor.verdict import LineVerdict
    from rules.core import Rule
    from rules.core.context import RuleContext

ASKED = ("ASK-01",)
# The values that are still valid for options that servers parse in their own way.
VALID_VALUES = {"old_passwords": "0", "secure_auth": "ON"}
VALID_VALUES |= dict.fromkeys(("admin_tls_version", "tls_version"), "TLSv1.2,TLSv1.3")
NO_INCLUDE = "Without its ! this line is not an include but an unknown option."


def lines_with(context: RuleContext, outcome: Outcome) -> Iterator[LineVerdict]:
    """The lines whose verdict has this outcome."""
    return (line for line in context.file_verdict.lines if line.outcome is outcome)


def verdict_confidence(line: LineVerdict) -> Confidence:
    """The confidence of the verdict on the line."""
    return Confidence.CERTAIN if line.certain else Confidence.LIKELY


def _without_hint(reason: str) -> str:
    """The reason without its trailing hint, because the help says what to write instead."""
    for hint in (" Use ", "; "):
        start, found, rest = reason.rpartition(hint)
        if found and (hint == " Use " or rest.endswith(" is near.")):
            return start if hint == " Use " else f"{start}."
    return reason


def _refusal(speaker: Rule, context: RuleContext, line: LineVerdict, words: str, fix: Fix | None = None) -> Finding:
    """A finding about an option that the server refuses, or ignores because of its `loose_` prefix."""
    ends = _refusal_text(line, context)
    if line.loose:
        without = ", but without the X Plugin" if line.outcome is Outcome.INVALID else " without it, with a warning"
        ends = f"Its loose prefix lets the server start{without}."
    reason, advice = ("", "") if fix else split_advice(line.reason)
    if not advice:
        reason = line.reason if words.startswith("remove") else _without_hint(line.reason)
    conditional = line.placed.line.conditional  # as in {% if version < 8 %}: the template may omit the line here
    return speaker.finding(
        f"{reason} {ends}",
        verdict_subject(line),
        severity=Severity.NOTE if line.loose else Severity.WARNING if conditional else Severity.ERROR,
        confidence=Confidence.LIKELY if conditional else verdict_confidence(line),
        help=advice or words,
        fix=fix,
    )


def _refusal_text(line: LineVerdict, context: RuleContext) -> str:
    """A sentence on which server refuses to start with the line: the version that was examined."""
    examined = context.catalog.read_as
    if examined != context.target:
        if _is_removed_later(line, context):
            return f"{context.target.label} will not start with this line, according to its manual."
        return f"{examined.label}, the nearest version that mycnf knows, refuses to start with this line."
    name = written_name(line.placed.line)
    if NOT_LOADED in line.reason:
        return f"{context.target.label} will not start with this line unless INSTALL PLUGIN has installed it."
    if is_component_option(name, context.target):
        return f"Without that component {context.target.label} will not start with this line."
    from advisor.catalog.presence import vendor_of_option, vendor_of_value

    other = vendor_of_option(name.removeprefix("enable_"), context.target) if not line.option else None
    other = other or vendor_of_value(line.canonical or "", line.value or "", context.target)
    if other is not None and not other.windows and not context.catalog.has_own_build:
        return "That server will not start with this line."
    on = " on Linux" if other is not None and other.windows else ""
    return f"{context.target.label}{on} will not start with this line."


def _is_removed_later(line: LineVerdict, context: RuleContext) -> bool:
    """Whether the manual names a version that removed the option, after the version whose facts are used."""
    from advisor.catalog.presence import find_presence

    presence = find_presence(written_name(line.placed.line)) if line.outcome is Outcome.REMOVED else None
    own = presence.span(context.target.flavour) if presence else None
    gone = own.gone if own else None
    return gone is not None and tuple(map(int, gone.split("."))) > context.catalog.read_as.version


@rule(
    "OPT001",
    "unknown-option",
    severity=Severity.ERROR,
    summary="Unknown option: the server refuses to start.",
    evidence=(*ASKED, "ASK-OPT-07"),
    fix=UNSAFE,
    docs=Docs(
        why="A server stops at the first option that it does not know, but only after InnoDB has started: a newer "
        "version may have upgraded the data directory by then. A 5.7 on whose data MySQL 8.0 had stopped at such a "
        "line did not start any more. A plugin's option is unknown unless the file loads that plugin.",
        fix="Correct the name, remove the line, or write loose_ before the name if the option belongs to a plugin or "
        "to another version.",
        risk="A corrected name takes effect at the next start: read what the option does before correcting a line "
        "that never worked.",
        restart=True,
        exceptions="Options of plugins that are loaded at run time with INSTALL PLUGIN are known to the server only "
        "then. A name that Percona Server documents, a name that exists only on Windows, and any unknown name for a "
        "target that was not examined are notes without a fix: the real server may have the option. A misspelling of "
        "such a name is an error, because no server has it. For a series that mycnf knows only from documents (MariaDB "
        "12.3), an unknown name is a warning.",
        reconsider_when="A server of this version that starts with the line.",
    ),
)
def unknown_option(context: RuleContext) -> Iterator[Finding]:
    """Report lines whose name is no option of the target."""
    for line in lines_with(context, Outcome.UNKNOWN):
        if line.loose and _is_plugin_option(line, context):
            continue  # with `loose_` before a plugin's option, the author expects that the plugin may not be loaded
        from rules.core import fixes
        from rules.optionfile import groups

        named = written_name(line.placed.line).startswith("include")
        include = groups.intended_include(line.placed.line) if named else None
        written = include or groups.intended_assignment(line.placed.line, context.catalog)
        fix = written or fixes.fix_unknown(line, context)
        meant = written.edits[0].text if written else _intended_option(line, context)
        words = f"did you mean {meant}?" if meant else _unknown_help(line, fix, context)
        yield _refusal(unknown_option, context, line._replace(reason=NO_INCLUDE) if include else line, words, fix)
    yield from _unexamined_findings(unknown_option, context, of_value=False)


def _intended_option(line: LineVerdict, context: RuleContext) -> str:
    """The option that a mistyped name means, with the vendor or platform that has it where the target has not."""
    if not line.candidates:
        return ""
    from advisor.catalog.presence import vendor_of_option

    name = line.candidates[0]
    other = None if name in context.catalog.options else vendor_of_option(name, context.target)
    return other.describe(name) if other else name


def _unexamined_findings(speaker: Rule, context: RuleContext, *, of_value: bool) -> Iterator[Finding]:
    """Report, without a fix, names and values that the examined server lacks but another server may have.

    They are notes; warnings where documents list the target's options, and no server of its kind was examined.
    """
    by_documents = not context.catalog.whole and context.catalog.read_as == context.target
    unexamined = [line for line in lines_with(context, Outcome.UNEXAMINED) if not line.loose]
    lines = [line for line in unexamined if (line.canonical is not None) is of_value]
    if not lines:
        return
    from rules.optionfile.groups import first_of_each_owner

    for line, more in first_of_each_owner(lines, context.catalog):
        meant = _intended_option(line, context)
        others = f" and {more:,} more option{'s' if more > 1 else ''} belong to "
        yield speaker.finding(
            line.reason.replace(" belongs to ", others, 1) if more else line.reason,
            verdict_subject(line),
            severity=Severity.WARNING if by_documents else Severity.NOTE,
            confidence=Confidence.LIKELY,
            help=f"did you mean {meant}?" if meant else _unexamined_help(context, line.reason),
        )


def _unexamined_help(context: RuleContext, reason: str = "") -> str:
    if "Index.xml" in reason:
        return "make sure that the Index.xml in character_sets_dir defines it"
    if not context.catalog.whole:
        return f"check it in the manual of {context.target.label}"
    return "keep the line for a server that has it; loose_ before the name lets the others start"


def _is_plugin_option(line: LineVerdict, context: RuleContext) -> bool:
    name = written_name(line.placed.line).removeprefix("loose_")
    option = context.catalog.get(name)
    known_plugin = option is not None and option.plugin is not None
    return known_plugin or NOT_LOADED in line.reason or is_component_option(name, context.target)


def _unknown_help(line: LineVerdict, fix: Fix | None, context: RuleContext) -> str:
    """The replacement for an option of another vendor or version; otherwise how to treat the unknown line."""
    from advisor.catalog.presence import vendor_of_option

    name = written_name(line.placed.line)
    other = vendor_of_option(name, context.target) if not line.loose else None
    if other is not None and other.series and not context.catalog.has_own_build:
        target = f"{other.key}-{context.target.series}"
        return f"if the server is {other.build}, lint with --target {target}; otherwise remove the line"
    if _is_plugin_option(line, context):
        return _removal_help(line)
    return replacement_help(line, fix, _removal_help(line), context)


def _removal_help(line: LineVerdict) -> str:
    if line.loose:
        return "remove the line, unless other servers read the file too"
    from advisor.verdict.formats import find_statement

    statement = find_statement(written_name(line.placed.line))
    if statement is not None:
        how = {"": "it is read-only", "SET GLOBAL": "SET GLOBAL sets it"}.get(statement, "sessions set it with SET")
        return f"remove the line: this variable has no option; {how}"
    return "remove the line, or write loose_ before a plugin's option"


@rule(
    "OPT002",
    "ambiguous-option",
    severity=Severity.ERROR,
    summary="The name abbreviates several options, and the server will not start.",
    evidence=ASKED,
    fix=UNSAFE,
    docs=Docs(
        why="MariaDB accepts an abbreviated option name as long as only one option begins with it. A later version "
        "that adds an option can make an abbreviation ambiguous, and the server then stops.",
        fix="Write the full name.",
        risk="None: every version that has the option accepts the full name.",
        restart=True,
        exceptions="None.",
        reconsider_when="A server of this version that starts with the line.",
    ),
)
def ambiguous_option(context: RuleContext) -> Iterator[Finding]:
    """Report lines whose name abbreviates several options."""
    for line in lines_with(context, Outcome.AMBIGUOUS):
        from rules.core import fixes

        names = ", ".join(line.candidates)
        fix = fixes.fix_ambiguous(line, context)
        words = f"write the full name: {names}" if names else "write the full name"
        words = replacement_help(line, fix, words, context) if fix else words
        short = line._replace(reason=f"{line.reason.partition(':')[0]}.") if names in words else line
        yield _refusal(ambiguous_option, context, short, words, fix)


@rule(
    "OPT003",
    "invalid-value",
    severity=Severity.ERROR,
    summary="The server refuses the value and will not start.",
    evidence=(*ASKED, "ASK-OPT-06"),
    fix=UNSAFE,
    docs=Docs(
        why="Servers silently adjust many values, but refuse those that they cannot read at all: a name that is not "
        "in an enumeration, a number with a decimal point or an unknown suffix.",
        fix="Write a value that the option accepts; `mycnf explain OPTION --target T` lists them.",
        risk="The line has never worked on this version: check what the other lines expect of it.",
        restart=True,
        exceptions="Names that an own Index.xml may add, where the file sets character_sets_dir, are notes.",
        reconsider_when="A server of this version that starts with the line.",
    ),
)
def invalid_value(context: RuleContext) -> Iterator[Finding]:
    """Report lines whose value the server rejects."""
    for line in lines_with(context, Outcome.INVALID):
        from rules.core import fixes

        fix = fixes.fix_invalid(line, context)
        words = f"did you mean {fix.edits[0].text}?" if fix else _value_help(line, context)
        yield _refusal(invalid_value, context, line, words, fix)
    yield from _unexamined_findings(invalid_value, context, of_value=True)


@rule(
    "OPT018",
    "refused-start",
    severity=Severity.ERROR,
    summary="The server accepts the value, but refuses to start with it.",
    evidence=(*ASKED, "ASK-OPT-05"),
    docs=Docs(
        why="Some values pass the option file reader, `--verbose --help` and `--validate-config` (MySQL 8.0.16 and "
        "later), and stop the server only when it starts: values that need another option or a plugin, a storage "
        "engine that does not exist, data files that InnoDB cannot read, or an address that the host does not have.",
        fix="Also set what the finding names, or remove the line.",
        risk="The line has never worked together with these settings: read what it does before you make it work.",
        restart=True,
        exceptions="A plugin that another file loads, or that INSTALL PLUGIN has installed; a cluster address that is "
        "set in another file or on the command line.",
        reconsider_when="A server of this version that starts with the file.",
    ),
)
def refused_start(context: RuleContext) -> Iterator[Finding]:
    """Report lines with which the server stops after it has read its option files."""
    for line in lines_with(context, Outcome.STOPS):
        yield _refusal(refused_start, context, line, _value_help(line, context))


@rule(
    "OPT021",
    "named-time-zone",
    severity=Severity.NOTE,
    summary="The default time zone is a named one, and a server without time zone tables refuses to start with it.",
    options=("default_time_zone",),
    evidence=("ASK-OPT-01",),
    docs=Docs(
        why="Named time zones come from tables in the mysql schema. These are empty in a new data directory, and a "
        "server that does not find the name there stops at start-up, after it has read its option files.",
        fix="Fill the tables with mysql_tzinfo_to_sql (mariadb-tzinfo-to-sql) while the server runs without the line, "
        "or write an offset such as +01:00, or SYSTEM. An offset has no daylight saving time.",
        risk="Filling the tables changes no data. Another time zone changes what NOW() returns.",
        restart=True,
        exceptions="Servers with filled tables: they start, and one that runs with the zone is not reported.",
        reconsider_when="A server that starts with the line.",
    ),
)
def named_time_zone(context: RuleContext) -> Iterator[Finding]:
    """Report option lines with a default time zone that is neither an offset nor the system's."""
    line = context.file_verdict.effective.get("default_time_zone")
    zone = (line.value or "") if line is not None else ""
    if line is None or line.outcome is not Outcome.ACCEPTED or zone[:1] in ("", "+", "-") or zone.upper() == "SYSTEM":
        return
    runs = context.server.variables.get("time_zone", "") if context.has("server") else ""
    if context.target.is_managed or runs.lower() == zone.lower():
        return
    yield named_time_zone.finding(
        f"Without rows for {quote_value(zone)} in its time zone tables, which are empty in a new data directory, the "
        "server will not start.",
        verdict_subject(line),
        confidence=Confidence.LIKELY,
        help="fill the time zone tables before the next start, or write an offset or SYSTEM",
    )


def _nearest_value(line: LineVerdict) -> str:
    """A suggestion for an unknown value; empty if the verdict does not list the valid values."""
    _, listed, values = line.reason.partition(" is none of ")
    if not listed:
        return ""
    from advisor.catalog.presence import nearest_name  # without re, which nearest_word loads
    from advisor.core.errors import nearest_word

    written, by_key = (line.placed.line.value or "").lower(), {v.lower(): v for v in values.rstrip(".").split(", ")}
    # The word nearest to ON is NONE, the opposite of what is meant.
    near = None if written == "on" else nearest_name(written, by_key) or nearest_word(written, by_key)
    return f"did you mean {by_key[near]}?" if near else "write one of these"


def _value_help(line: LineVerdict, context: RuleContext) -> str:
    if judge_value(line.placed.line.name or "", line.placed.line.value, context.catalog).outcome not in REFUSED:
        return help_at_start(line.canonical or "", context.target) or "also set what it needs, or remove the line"
    values = line.option.values if line.option is not None else ()
    if values and line.value not in values:
        names = named_members(values)
        if len(names) > MAX_SHOWN:
            return f"mycnf explain {line.canonical} lists its members"
        return _nearest_value(line) or f"it takes {', '.join(names)}"
    if nearest := _nearest_value(line):
        return nearest
    if (line.canonical or "") in VALID_VALUES:
        return f"write {VALID_VALUES[line.canonical or '']}"
    return number_help(line.option) or f"mycnf explain {line.canonical} shows what it takes"


@rule(
    "OPT004",
    "missing-argument",
    severity=Severity.ERROR,
    summary="The option needs a value but has none; the server will not start.",
    evidence=ASKED,
    fix=UNSAFE,
    docs=Docs(
        why="An option that requires a value stops the server if it has none.",
        fix="Give it a value, or remove the line.",
        risk="None.",
        restart=True,
        exceptions="An empty value after the equals sign is an empty string for string options. For numbers MySQL "
        "refuses it, and MariaDB reads 0.",
        reconsider_when="A server of this version that starts with the line.",
    ),
)
def missing_argument(context: RuleContext) -> Iterator[Finding]:
    """Report lines without the value that the option requires."""
    for line in lines_with(context, Outcome.MISSING_ARGUMENT):
        words = "write = and a value, or remove the line"
        yield _refusal(missing_argument, context, line, words, remove_line(line.placed.line, UNSAFE))


@rule(
    "OPT005",
    "unexpected-argument",
    severity=Severity.ERROR,
    summary="The option takes no value but has one; the server will not start.",
    evidence=ASKED,
    fix=UNSAFE,
    docs=Docs(
        why="Some options are switches without a value. If such an option has a value, the server stops.",
        fix="Remove the value, or the whole line if the value was meant to switch the option off.",
        risk="A switch without its value is on: make sure that this is what you want.",
        restart=True,
        exceptions="None.",
        reconsider_when="A server of this version that starts with the line.",
    ),
)
def unexpected_argument(context: RuleContext) -> Iterator[Finding]:
    """Report lines with a value for an option that takes none."""
    for line in lines_with(context, Outcome.UNEXPECTED_ARGUMENT):
        from rules.core import fixes

        prefixed = line.placed.line.value is None  # skip_ counts as a value
        words = "remove the value to switch the option on, or the line to leave it off"
        words = "remove the line: without it the option is off" if prefixed else words
        yield _refusal(unexpected_argument, context, line, words, fixes.fix_unexpected_argument(line))


@rule(
    "OPT007",
    "removed-option",
    severity=Severity.ERROR,
    summary="The option was removed: the server refuses to start with this line.",
    evidence=(*ASKED, "REM-84", "ASK-OPT-07"),
    fix=UNSAFE,
    docs=Docs(
        why="Options are removed between series, and a line that worked for years stops the server after an upgrade. "
        "The new version may have upgraded the data by then, so that the old one does not start any more.",
        fix="Before the upgrade, replace it with its successor if there is one, otherwise remove it. In a file that "
        "several versions read, move it to a versioned group such as [mysqld-8.0].",
        risk="A successor may use another unit: days became seconds, the size of one file became the total size.",
        restart=True,
        exceptions="Servers keep some removed options as stubs that do nothing: these are ignored-option.",
        reconsider_when="A server of this version that starts with the line.",
    ),
)
def removed_option(context: RuleContext) -> Iterator[Finding]:
    """Report lines with an option that other versions have and the target does not."""
    for line in lines_with(context, Outcome.REMOVED):
        from rules.core import fixes

        fix = fixes.fix_removed(line, context)
        words = "remove the line" if context.catalog.read_as == context.target else _unexamined_help(context)
        yield _refusal(removed_option, context, line, replacement_help(line, fix, words, context), fix)


def replacement_help(line: LineVerdict, fix: Fix | None, otherwise: str, context: RuleContext) -> str:
    """Help text: what the fix writes, or a replacement that the target has, or `otherwise`."""
    from rules.core.fixes import help_removed

    return help_removed(line, fix, otherwise, context)
