"""Edits for option lines that the server refuses, adjusts, or knows under another name."""

from __future__ import annotations

from advisor.catalog.presence import find_presence, vendor_of_option
from advisor.core.model import Edit, Fix, exact_size
from advisor.optionfile.lines import LineKind
from advisor.redaction import redact_text
from advisor.verdict import REFUSED, Outcome, accepted_parts, judge_value
from advisor.verdict.names import NOT_LOADED, PREFIXES, is_component_option
from advisor.verdict.number import SUFFIXES, leading_digits
from advisor.verdict.settings import BOOLEANS
from advisor.verdict.words import OFF, ON, is_misread, is_switch
from rules.core.subject import (
    SAFE,
    TIMES,
    UNSAFE,
    drop_value,
    is_unused_port,
    number_help,
    remove_line,
    rename_option,
    replace_value,
    rewrite_line,
    sets_value,
    unit_help,
    written_name,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from advisor.catalog import Catalog, Option
    from advisor.optionfile.lines import Line, OptionFile
    from advisor.verdict import LineVerdict
    from advisor.verdict.successors import Successor
    from rules.core.context import RuleContext

NO_SUCH_NAME = frozenset({Outcome.UNKNOWN, Outcome.REMOVED, Outcome.AMBIGUOUS})
# Words that people write for ON and OFF but that no server accepts.
MEANS_ON = frozenset({*ON, "yes", "y", "t", "enable", "enabled", "active", "activated"})
MEANS_OFF = frozenset({*OFF, "no", "n", "f", "none", "null", "never", "disable", "disabled", "inactive"})
DEPENDS_ON_FILE_SYSTEM = frozenset({"lower_case_table_names"})  # the effective value
# To write the value in use would give up what was meant, or be what another rule (CON031) reports.
DECIDED_ELSEWHERE = {
    **dict.fromkeys(
        ("slave_skip_errors", "replica_skip_errors", "slave_transaction_retry_errors"),
        "write error numbers and commas, or remove the line",
    ),
    "character_set_collations": "write pairs such as utf8mb4=utf8mb4_bin, separated by commas",
    "gtid_pos_auto_engines": "write engines of this server, separated by commas without blanks, such as InnoDB",
    "query_cache_type": "write query_cache_size = 0 too, which leaves the cache off",
    "max_connect_errors": "write a value from 10 to 4294967295; the default is 100",
}
INCOMPATIBLE_SUCCESSORS = frozenset({"log_slow_admin_statements", "old"})  # whose values mean something else
# Deprecated and ignored options whose successors take other values; only for these an equivalent setting is looked up.
CONVERTIBLE = frozenset(
    (
        *("admin_ssl", "default_authentication_plugin", "expire_logs_days", "innodb_checksums"),
        *("innodb_locks_unsafe_for_binlog", "innodb_log_file_size", "innodb_log_files_in_group", "log_syslog"),
        *("innodb_stats_sample_pages", "master_info_repository", "relay_log_info_repository"),
        *("log_warnings", "max_long_data_size", "skip_host_cache", "ssl", "temptable_use_mmap"),
        *("innodb_undo_tablespaces", "wsrep_causal_reads", "wsrep_replicate_myisam", "wsrep_strict_ddl"),
    )
)
KEEPS_TLS_OFF = "remove the line to offer TLS, or write {} to leave it off"
WORDS = ("enum", "set")
_UNQUOTED = frozenset("_.:/+-")  # besides letters and digits, what needs no quotes in an option file


def _find_successor(line: LineVerdict, context: RuleContext) -> Successor | None:
    """The equivalent setting; imported lazily, since only lines with an old or unknown option need it."""
    from advisor.verdict.successors import find_successor

    return find_successor(bare_name(line), line.placed.line, context.file_verdict)


def fix_unknown(line: LineVerdict, context: RuleContext) -> Fix | None:
    """Correct a mistyped name, or add `loose_` for a plugin that is not loaded; otherwise as `fix_removed`."""
    placed = line.placed.line
    plugin = is_plugin_option(line, context.catalog)
    if plugin:
        return None if line.loose else rename_option(placed, _loose_name(placed), UNSAFE)
    for name in line.candidates[:1]:
        fix = _rename_fix(line, name, context.catalog, UNSAFE)
        if fix is not None:
            # With a value that is refused under that name, such as a path for a number, another option is meant.
            spelt = fix.edits[0].text
            return None if judge_value(spelt, placed.value, context.catalog).outcome is Outcome.INVALID else fix
    fallback = fix_removed(line, context)
    deletes = fallback is not None and not fallback.edits[0].text
    kept = vendor_of_option(bare_name(line), context.target) or line.candidates
    return None if deletes and kept else fallback


def fix_removed(line: LineVerdict, context: RuleContext) -> Fix | None:
    """Replace a removed option by its equivalent on the target, or remove the line if there is none."""
    equivalent = _find_successor(line, context)
    if equivalent is not None and _is_available(equivalent, context.catalog):
        return _rewrite_fix(line, equivalent, context.catalog)
    for name in _successor_names(bare_name(line), context):
        fix = _rename_fix(line, name, context.catalog, UNSAFE)
        if fix is not None:
            return fix
    return remove_line(line.placed.line, UNSAFE) if context.catalog.read_as == context.target else None


def fix_ignored(line: LineVerdict, context: RuleContext) -> Fix | None:
    """Replace an ignored option by its effective equivalent, or remove the line if there is none."""
    equivalent = _find_successor(line, context) if bare_name(line) in CONVERTIBLE else None
    if equivalent is not None and _is_available(equivalent, context.catalog):
        return _rewrite_fix(line, equivalent, context.catalog)
    return remove_line(line.placed.line, SAFE)


def fix_ambiguous(line: LineVerdict, context: RuleContext) -> Fix | None:
    """Replace an old option whose name is now an ambiguous abbreviation of several options."""
    equivalent = _find_successor(line, context)
    return None if equivalent is None else _rewrite_fix(line, equivalent, context.catalog)


def help_removed(line: LineVerdict, fix: Fix | None, otherwise: str, context: RuleContext) -> str:
    """Help text: what the fix writes, or the equivalent option, or `otherwise`."""
    name = bare_name(line)
    equivalent = _find_successor(line, context) if line.option is None or name in CONVERTIBLE else None
    if equivalent is not None and equivalent.lines and _are_accepted(equivalent.lines, context.catalog):
        lines = " and ".join(f"{name} = {value}".rstrip() for name, value in equivalent.lines)
        return (KEEPS_TLS_OFF if name.endswith("ssl") else "use {} instead").format(lines)
    if fix is not None and fix.edits[0].text:
        return f"use {' = '.join(edit.text for edit in fix.edits)} instead"
    if fix is not None and line.outcome is Outcome.IGNORED:
        return otherwise
    if equivalent is not None and _is_available(equivalent, context.catalog):
        return equivalent.words or f"use {' and '.join(name for name, _ in equivalent.lines)} instead"
    if line.option is not None and name.startswith("rpl_semi_sync_") and context.target.since("mysql", 8, 0, 26):
        from advisor.verdict.successors import semi_sync_library_help

        return semi_sync_library_help(name)
    elsewhere = find_presence(name)
    successor = _new_name(line, context.catalog) or (
        elsewhere.replaced_by if elsewhere and equivalent is None else None
    )
    return f"use {successor} instead" if successor and _lasts(successor, context.catalog) else otherwise


def _new_name(line: LineVerdict, catalog: Catalog) -> str | None:
    """The documented successor, or the other name of the variable if only this name is deprecated."""
    old = line.option
    if line.replaced_by or old is None or not old.deprecated or not old.alias_of:
        return line.replaced_by if line.replaced_by and _lasts(line.replaced_by, catalog) else None
    other = catalog.get(old.alias_of)
    return other.name if other and not other.deprecated else None


def _lasts(name: str, catalog: Catalog) -> bool:
    """Whether the target has the option and does not deprecate it too, as MySQL 8.0.29 does replica_parallel_type."""
    option = catalog.get(name)
    since = option.deprecated if option is not None and "deprecated" in option.documented else None
    return option is not None and (since is None or tuple(map(int, since.split("."))) > catalog.target.version)


def fix_deprecated(line: LineVerdict, context: RuleContext) -> Fix | None:
    """Write the new name.

    It is safe if both names set the same variable, unsafe if the successor only serves the same purpose.
    """
    old, catalog = line.option, context.catalog
    equivalent = _find_successor(line, context) if bare_name(line) in CONVERTIBLE else None
    if equivalent is not None:
        return _rewrite_fix(line, equivalent, catalog)
    named = _new_name(line, catalog)
    new = catalog.get(named) if named else None
    if old is None or new is None or old.name in INCOMPATIBLE_SUCCESSORS:
        return None
    one_variable = (old.alias_of or old.name) == (new.alias_of or new.name)
    text = line.placed.line.value  # the two names of one variable may have different ranges
    alike = one_variable and judge_value(old.name, text, catalog).value == judge_value(new.name, text, catalog).value
    return _rename_fix(line, new.name, catalog, SAFE if alike else UNSAFE)


def fix_adjusted(line: LineVerdict, context: RuleContext) -> Fix | None:
    """Write the value that the server uses, if it accepts it as is; for a switch, the value that was intended."""
    option, placed = line.option, line.placed.line
    if option is None or line.value is None or placed.raw is None or not sets_value(line, context.catalog):
        return None
    if option.ignored:
        return remove_line(placed, SAFE)
    if is_switch(line):
        return _fix_switch(line, context.catalog)
    if is_misread(line) or option.name in DECIDED_ELSEWHERE or unit_help(line) or is_unused_port(line):
        return None
    for text in _notations(line.value, placed.raw, option):
        taken = judge_value(placed.name or "", text, context.catalog)
        needs_no_quotes = text != "" and all(char.isalnum() or char in _UNQUOTED for char in text)
        if needs_no_quotes and (taken.outcome, taken.value) == (Outcome.ACCEPTED, line.value):
            return replace_value(placed, text, UNSAFE if option.name in DEPENDS_ON_FILE_SYSTEM else SAFE)
    return None


def help_adjusted(line: LineVerdict, fix: Fix | None) -> str:
    """Help text for an adjusted value; empty if there is no valid value to suggest."""
    text = fix.edits[0].text if fix else ""
    if is_misread(line) and not is_switch(line):
        return number_help(line.option)
    if fix is not None and not text:
        return "remove the line" if line.option and line.option.ignored else "remove the line to leave it off"
    if is_misread(line) or (text and is_switch(line) and text != BOOLEANS.get(line.value or "")):
        word = _intended_switch(line.placed.line.value or "")
        return f"did you mean {word}? write ON or OFF" if word and word == text else "write ON or OFF"
    if text:
        return f"write {text} (the value in use), or the value that you meant"
    if is_unused_port(line):
        return "remove skip_networking if clients should connect over TCP"
    return DECIDED_ELSEWHERE.get(line.canonical or "", "") or unit_help(line)


def _fix_switch(line: LineVerdict, catalog: Catalog) -> Fix | None:
    """Set a switch to the intended value, or to the effective one.

    The line is removed if no value switches the option off.
    """
    placed, name = line.placed.line, line.placed.line.name or ""
    # An accepted value was changed by another option, so no other spelling helps.
    accepted = judge_value(name, placed.value, catalog).outcome is Outcome.ACCEPTED
    meant = "" if accepted else _intended_switch(placed.value or "")
    used = BOOLEANS.get(line.value or "")
    for word in (meant, used):
        taken = judge_value(name, word, catalog)
        if word and word.lower() != (placed.value or "").lower():
            if taken.outcome is Outcome.ACCEPTED and BOOLEANS.get(taken.value or "") == word:
                return replace_value(placed, word, UNSAFE)
            if word == meant == "OFF" and taken.value == "TRUE":
                return remove_line(placed, UNSAFE)
    return None


def _intended_switch(text: str) -> str:
    """ON or OFF if the word stands for one of them; otherwise an empty string."""
    word = text.strip().lower()
    if word in MEANS_ON or (word.isdigit() and word.strip("0")):
        return "ON"
    return "OFF" if word in MEANS_OFF else ""


def fix_invalid(line: LineVerdict, context: RuleContext) -> Fix | None:
    """Correct an invalid value: a fractional size, utf8, yes for a switch, refused parts, or a comment after `;`.

    A fractional size becomes a whole number, utf8 becomes utf8mb3, yes becomes ON, `;` becomes #. Refused TLS versions
    and ciphers are left out, and NO_AUTO_CREATE_USER: without it MySQL 8.0 behaves as 5.7 did with it, and GRANT
    creates no account.
    """
    from advisor.verdict.successors import utf8mb3_name, whole_size

    placed = line.placed.line
    value = placed.value or ""
    text = (
        (whole_size(value) if not (line.canonical or "").endswith(TIMES) else None)
        or utf8mb3_name(value)
        or (_without_obsolete_mode(value) if line.canonical == "sql_mode" else None)
        or accepted_parts(line.canonical or "", value, context.catalog)
    )
    text = text or _switch_of_values(line, value) or None
    text, comment = (text, "") if text is not None or set(";/-#").isdisjoint(value) else split_comment(value)
    if not text or judge_value(placed.name or "", text, context.catalog).outcome is not Outcome.ACCEPTED:
        return None
    return replace_value(placed, f"{text}{comment}", UNSAFE)


def _switch_of_values(line: LineVerdict, value: str) -> str:
    """ON or OFF for a word that stands for it, where the option has it: thread_handling would read ON as short."""
    word, option = _intended_switch(value), line.option
    words = {member.upper() for member in option.values} if option is not None and option.kind in WORDS else set()
    return "" if line.canonical == "log_bin" or (words and word not in words) else word  # log_bin takes a file name


def split_comment(value: str) -> tuple[str, str]:
    """The value, and the comment that was meant behind it, with # before it; both empty without such a comment."""
    import re

    found = re.match(r"(\S+?)\s*(?:;|//|--\s|/\*|\s#)\s*(.*)$", value)
    return (found[1], f" # {found[2]}" if found[2] else "") if found else ("", "")


def fix_unexpected_argument(line: LineVerdict) -> Fix | None:
    """Remove the value of a switch that takes none if it means ON; remove the line if it means OFF."""
    word = (line.placed.line.value or "").lower()
    if word in ON:
        return drop_value(line.placed.line, UNSAFE)
    return remove_line(line.placed.line, UNSAFE) if word in OFF else None


def readable_number(line: LineVerdict, catalog: Catalog) -> str | None:
    """The number without the characters after its suffix, which servers ignore; None if there are none."""
    option, text = line.option, line.placed.line.value or ""
    if option is None or line.outcome is not Outcome.ACCEPTED or not sets_value(line, catalog):
        return None
    _, rest = leading_digits(text)
    digits = text[: len(text) - len(rest)].strip()
    if not digits or len(rest) <= 1 or rest[0].lower() not in SUFFIXES:
        return None
    short = digits + rest[0]
    name = line.placed.line.name or ""
    return short if judge_value(name, short, catalog)[1:5] == judge_value(name, text, catalog)[1:5] else None


def bare_name(line: LineVerdict) -> str:
    """The canonical name, or the name as written without the prefix `loose_`."""
    return line.canonical or written_name(line.placed.line).removeprefix("loose_")


def is_plugin_option(line: LineVerdict, catalog: Catalog) -> bool:
    """Whether the option belongs to a plugin that may not be loaded, or may belong to a component."""
    option = catalog.get(bare_name(line))
    known_plugin = option is not None and bool(option.plugin)
    return known_plugin or NOT_LOADED in line.reason or is_component_option(bare_name(line), catalog.target)


def spell_like(line: Line, old: str, new: str) -> str:
    """The name as written with `old` replaced by `new`; keeps a prefix and the author's dashes or underscores."""
    name = line.name or ""
    head = len(name) - len(old) if written_name(line).endswith(old) else _prefix_length(name)
    dashes = "-" in name[head:] and "_" not in name[head:]
    return name[:head] + (new.replace("_", "-") if dashes else new)


def _prefix_length(name: str) -> int:
    plain, length = name.lower().replace("-", "_"), 0
    while prefix := next((p for p in PREFIXES if plain.startswith(p + "_", length)), ""):
        length += len(prefix) + 1
    return length


def _loose_name(line: Line) -> str:
    name = line.name or ""
    return ("loose-" if "-" in name and "_" not in name else "loose_") + name


def _successor_names(name: str, context: RuleContext) -> tuple[str, ...]:
    from advisor.verdict.successors import other_names

    elsewhere = find_presence(name)
    successor = elsewhere.replaced_by if elsewhere else None
    return (
        *((successor,) if successor and name not in INCOMPATIBLE_SUCCESSORS else ()),
        *other_names(name, context.catalog),
    )


def _rename_fix(line: LineVerdict, name: str, catalog: Catalog, applicability: str) -> Fix | None:
    """Replace the option's name and keep the value; None if the target does not know the new name either.

    The new name of a removed plugin option is accepted although the target has it only with the plugin loaded.
    """
    placed = line.placed.line
    spelt = spell_like(placed, bare_name(line), name)
    taken, option = judge_value(spelt, placed.value, catalog), catalog.get(name)
    of_a_plugin = line.outcome is Outcome.REMOVED and option is not None and bool(option.plugin)
    if taken.outcome in NO_SUCH_NAME and not of_a_plugin:
        return None
    return rename_option(placed, spelt, applicability)


def _is_available(equivalent: Successor, catalog: Catalog) -> bool:
    """Whether the target knows the equivalent options; an option newer than the target has none."""
    return not equivalent.lines or not any(
        judge_value(name, value, catalog).outcome in NO_SUCH_NAME for name, value in equivalent.lines
    )


def _are_accepted(options: Iterable[tuple[str, str]], catalog: Catalog) -> bool:
    return not any(judge_value(name, value.strip("\"'"), catalog).outcome in REFUSED for name, value in options)


def _rewrite_fix(line: LineVerdict, equivalent: Successor, catalog: Catalog) -> Fix | None:
    """Replace the line by the equivalent lines; None if there are none, or the target would not accept all of them."""
    placed, old = line.placed.line, _name_with_switch(line)
    literal = old == "set_variable"
    spelt = [(name if literal else spell_like(placed, old, name), value) for name, value in equivalent.lines]
    if not spelt or not _are_accepted(spelt, catalog):
        return None
    (name, value), more = spelt[0], spelt[1:]
    revalued = None if more or literal else replace_value(placed, value, UNSAFE)
    if revalued is not None:
        return revalued._replace(edits=rename_option(placed, name, UNSAFE).edits + revalued.edits)
    return rewrite_line(placed, spelt, UNSAFE)


def _name_with_switch(line: LineVerdict) -> str:
    """The option's name with skip_, disable_ or enable_, which an equivalent value stands for too."""
    from advisor.verdict.successors import SWITCHES

    written = written_name(line.placed.line).removeprefix("loose_")
    return written if written.startswith(tuple(SWITCHES)) else bare_name(line)


def _notations(value: str, raw: str, option: Option) -> tuple[str, ...]:
    """The possible notations of a value, starting with the one closest to the original."""
    if option.kind == "bool":
        return (BOOLEANS.get(value, value),)
    if value.isdigit() and not raw.strip("'\"").isdigit() and option.kind in ("int", "uint"):
        return exact_size(int(value)), value
    return (f"{float(value):.10g}", value) if option.kind == "double" else (value,)


def _without_obsolete_mode(text: str) -> str | None:
    """The SQL modes without NO_AUTO_CREATE_USER, which MySQL 8.0 removed; None if no other mode is left."""
    return ",".join(mode for mode in text.split(",") if mode.strip().upper() != "NO_AUTO_CREATE_USER") or None


GROUP = "mysqld"


def close_header(line: Line) -> Fix | None:
    """Add the missing bracket to a group header; None if more than the bracket is missing."""
    text = line.text[line.column - 1 : line.end_column - 1]
    if not text.startswith("[") or not text[1:].replace("-", "").replace(".", "").replace("_", "").isalnum():
        return None
    return Fix(UNSAFE, (Edit(line.number, line.end_column, line.number, line.end_column, "]"),))


def add_header(outside: Sequence[Line], context: RuleContext) -> Fix | None:
    """Add a group header above options outside any group; None if the server would refuse one of them in that group."""
    if not all(_is_accepted(line, context) for line in outside):
        return None
    first = outside[0].number
    return Fix(UNSAFE, (Edit(first, 1, first, 1, f"[{GROUP}]\n"),))


def move_to_server_group(file: OptionFile, line: Line, context: RuleContext) -> Fix | None:
    """Move the line to the first [mysqld] group, or remove it if the server already gets the option."""
    out = Edit(line.number, 1, line.number + 1, 1, "")
    if written_name(line) in context.file_verdict.effective:
        return Fix(UNSAFE, (out,))
    header = next((x for x in file.lines if x.kind is LineKind.GROUP and x.name == GROUP), None)
    if header is None or not header.text.endswith("\n") or not _is_accepted(line, context):
        return None
    if redact_text(line.text).text != line.text:  # a report shows the edit
        return None
    below = header.number + 1
    return Fix(UNSAFE, (Edit(below, 1, below, 1, line.text.rstrip("\r\n") + "\n"), out))


def _is_accepted(line: Line, context: RuleContext) -> bool:
    return judge_value(line.name or "", line.value, context.catalog).outcome not in REFUSED
