"""Which edits mend an option line that the server refuses, changes, or knows under another name."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from advisor.catalog.elsewhere import documented, known_elsewhere
from advisor.core.model import Edit, Fix
from advisor.core.sizes import exact
from advisor.optionfile.lines import LineKind
from advisor.verdict import REFUSED, Outcome, take
from advisor.verdict.boolean import is_switch, misread
from advisor.verdict.names import PREFIXES
from advisor.verdict.number import SUFFIXES, leading_digits
from advisor.verdict.plugins import NOT_LOADED, of_component
from rules.core.subject import SAFE, UNSAFE, remove, rename, revalue, rewrite, sets_value, without_value, written

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from advisor.catalog.load import Catalog, Option
    from advisor.optionfile.lines import Line, OptionFile
    from advisor.verdict import LineVerdict
    from rules.core.context import RuleContext
    from rules.core.successors import Successor


NO_SUCH_NAME = frozenset({Outcome.UNKNOWN, Outcome.REMOVED, Outcome.AMBIGUOUS})
WORDS = {"TRUE": "ON", "FALSE": "OFF"}
ON = ("1", "on", "true")
OFF = ("0", "off", "false")
# Words that people write for ON and OFF; servers know none of them.
MEANS_ON = frozenset({*ON, "yes", "y", "t", "enable", "enabled", "active", "activated"})
MEANS_OFF = frozenset({*OFF, "no", "n", "f", "none", "null", "never", "disable", "disabled", "inactive"})
# What the server ends up with depends on the file system that it finds.
BY_THE_HOST = frozenset({"lower_case_table_names"})
# Their successor does the same job in other terms, so that the old value says something else there.
OTHER_TERMS = frozenset({"log_slow_admin_statements", "old"})
# Deprecated and ignored options with a successor in other terms: of these alone the lines that say the same are sought.
IN_OTHER_TERMS = frozenset(
    (
        *("admin_ssl", "default_authentication_plugin", "expire_logs_days", "innodb_checksums"),
        *("innodb_locks_unsafe_for_binlog", "innodb_log_file_size", "innodb_log_files_in_group", "log_syslog"),
        "innodb_stats_sample_pages",
        *("log_warnings", "max_long_data_size", "skip_host_cache", "ssl", "temptable_use_mmap"),
        *("innodb_undo_tablespaces", "wsrep_causal_reads", "wsrep_replicate_myisam", "wsrep_strict_ddl"),
    )
)
NUMBERS = ("int", "uint", "double")
_BARE = r"[\w.:/+-]+"  # needs no quotes in an option file


def _successor(line: LineVerdict, known: RuleContext) -> Successor | None:
    """What says the same; imported lazily, since only lines with an old or unknown option need it."""
    from rules.core.successors import successor

    return successor(bare(line), line.placed.line, known)


def unknown(line: LineVerdict, known: RuleContext) -> Fix | None:
    """The name that was meant; `loose_` before an option of a plugin that isn't loaded; else as for `removed`."""
    placed = line.placed.line
    plugin = of_plugin(line, known.catalog)
    if plugin:
        return None if line.loose else rename(placed, _loose(placed), UNSAFE)
    for name in line.candidates[:1]:
        fix = _renamed(line, name, known.catalog, UNSAFE)
        if fix is not None:
            return fix
    found = removed(line, known)
    deletes = found is not None and not found.edits[0].text
    kept = documented(bare(line), known.target) or line.candidates
    return None if deletes and kept else found


def removed(line: LineVerdict, known: RuleContext) -> Fix | None:
    """What says the same on the target; the line taken out only where its meaning went with the option."""
    found = _successor(line, known)
    if found is not None and _is_there(found, known.catalog):
        return _rewritten(line, found, known.catalog)
    for name in _successors(bare(line), known):
        fix = _renamed(line, name, known.catalog, UNSAFE)
        if fix is not None:
            return fix
    return remove(line.placed.line, UNSAFE) if known.catalog.read_as == known.target else None


def ignored(line: LineVerdict, known: RuleContext) -> Fix | None:
    """What says the same and counts; the line taken out only where its meaning went with the option."""
    found = _successor(line, known) if bare(line) in IN_OTHER_TERMS else None
    if found is not None and _is_there(found, known.catalog):
        return _rewritten(line, found, known.catalog)
    return remove(line.placed.line, SAFE)


def ambiguous(line: LineVerdict, known: RuleContext) -> Fix | None:
    """What says the same as an old option whose name is now the beginning of several."""
    found = _successor(line, known)
    return None if found is None else _rewritten(line, found, known.catalog)


def help_removed(line: LineVerdict, fix: Fix | None, otherwise: str, known: RuleContext) -> str:
    """What the fix writes, else what does the same instead, else `otherwise`."""
    name = bare(line)
    found = _successor(line, known) if line.option is None or name in IN_OTHER_TERMS else None
    if found is not None and found.lines and _is_taken(found.lines, known.catalog):
        return f"use {' and '.join(f'{name} = {value}'.rstrip() for name, value in found.lines)} instead"
    if fix is not None and fix.edits[0].text:
        return f"use {' = '.join(edit.text for edit in fix.edits)} instead"
    if fix is not None and line.outcome is Outcome.IGNORED:
        return otherwise
    if found is not None and _is_there(found, known.catalog):
        return found.words or f"use {' and '.join(name for name, _ in found.lines)} instead"
    if line.option is not None and name.startswith("rpl_semi_sync_") and known.target.since("mysql", 8, 0, 26):
        from rules.core.successors import other_library

        return other_library(name)
    elsewhere = known_elsewhere(name)
    told = _new_name(line, known.catalog) or (elsewhere.replaced_by if elsewhere and found is None else None)
    return f"use {told} instead" if told and known.catalog.get(told) else otherwise


def _new_name(line: LineVerdict, catalog: Catalog) -> str | None:
    """The successor that is documented, or else the other name of the variable that only this name is deprecated of."""
    old = line.option
    if line.replaced_by or old is None or not old.deprecated or not old.alias_of:
        return line.replaced_by
    other = catalog.get(old.alias_of)
    return other.name if other and not other.deprecated else None


def deprecated(line: LineVerdict, known: RuleContext) -> Fix | None:
    """The new name: safe where both are names of one variable, unsafe where the successor only does the same job."""
    old, catalog = line.option, known.catalog
    found = _successor(line, known) if bare(line) in IN_OTHER_TERMS else None
    if found is not None:
        return _rewritten(line, found, catalog)
    named = _new_name(line, catalog)
    new = catalog.get(named) if named else None
    if old is None or new is None or old.name in OTHER_TERMS:
        return None
    one_variable = (old.alias_of or old.name) == (new.alias_of or new.name)
    text = line.placed.line.value  # two names of one variable may have ranges of their own
    alike = one_variable and take(old.name, text, catalog).value == take(new.name, text, catalog).value
    return _renamed(line, new.name, catalog, SAFE if alike else UNSAFE)


def adjusted(line: LineVerdict, known: RuleContext) -> Fix | None:
    """The value that the server ends up with, where it takes that as it stands; of a switch the one that was meant."""
    option, placed = line.option, line.placed.line
    if option is None or line.value is None or placed.raw is None or not sets_value(line, known.catalog):
        return None
    if is_switch(line):
        return _switched(line, known.catalog)
    if misread(line):
        return None
    for text in _notations(line.value, placed.raw, option):
        taken = take(placed.name or "", text, known.catalog)
        if re.fullmatch(_BARE, text) and (taken.outcome, taken.value) == (Outcome.ACCEPTED, line.value):
            return revalue(placed, text, UNSAFE if option.name in BY_THE_HOST else SAFE)
    return None


def help_adjusted(line: LineVerdict, fix: Fix | None) -> str:
    """What to write instead of a value that the server changes; nothing where no value would stand."""
    text = fix.edits[0].text if fix else ""
    if misread(line) and not is_switch(line):
        return number_words(line.option)
    if fix is not None and not text:
        return "remove the line to leave it off"
    if misread(line) or (text and is_switch(line) and text != WORDS.get(line.value or "")):
        word = _meant(line.placed.line.value or "")
        return f"did you mean {word}? write ON or OFF" if word == text else "write ON or OFF"
    if text:
        return f"write {text}, the value in use, or the one that was meant"
    if line.canonical == "port" and line.value == "0":
        return "remove skip_networking if clients are to connect over TCP"
    return ""


def _switched(line: LineVerdict, catalog: Catalog) -> Fix | None:
    """A switch set to what its word means, else to what it is; without its line where no word switches it off."""
    placed, name = line.placed.line, line.placed.line.name or ""
    moved = take(name, placed.value, catalog).outcome is Outcome.ACCEPTED  # by another option: no word helps
    meant, used = "" if moved else _meant(placed.value or ""), WORDS.get(line.value or "")
    for word in (meant, used):
        taken = take(name, word, catalog)
        if word and word.lower() != (placed.value or "").lower():
            if taken.outcome is Outcome.ACCEPTED and WORDS.get(taken.value or "") == word:
                return revalue(placed, word, UNSAFE)
            if word == meant == "OFF" and taken.value == "TRUE":
                return remove(placed, UNSAFE)
    return None


def _meant(text: str) -> str:
    """ON or OFF for a word that means it, else nothing."""
    word = text.strip().lower()
    if word in MEANS_ON or (word.isdigit() and word.strip("0")):
        return "ON"
    return "OFF" if word in MEANS_OFF else ""


def number_words(option: Option | None) -> str:
    """Which numbers an option takes, in words."""
    if option is None or option.kind not in NUMBERS:
        return ""
    what = "a number" if option.kind == "double" else "a whole number"
    if option.min is not None and option.max:
        return f"write {what} from {option.min} to {option.max}"
    return f"write {what}" + (f", such as {option.default}, the default" if option.default else "")


def invalid(line: LineVerdict, known: RuleContext) -> Fix | None:
    """A size with a decimal point in whole numbers, utf8 as what it has always stood for, yes as ON, modes without one.

    Without NO_AUTO_CREATE_USER MySQL 8.0 does what 5.7 did with it: GRANT creates no account.
    """
    placed = line.placed.line
    value = placed.value or ""
    text = whole_size(value) or _charset(value) or (_modes(value) if line.canonical == "sql_mode" else None)
    text = text or _meant(value) or None
    if text is None or take(placed.name or "", text, known.catalog).outcome is not Outcome.ACCEPTED:
        return None
    return revalue(placed, text, UNSAFE)


def unexpected(line: LineVerdict) -> Fix | None:
    """The switch without its value where that said on, and no line where it said off."""
    word = (line.placed.line.value or "").lower()
    if word in ON:
        return without_value(line.placed.line, UNSAFE)
    return remove(line.placed.line, UNSAFE) if word in OFF else None


def number_as_read(line: LineVerdict, catalog: Catalog) -> str | None:
    """A number without the letters behind its suffix, which no server reads; None where there are none."""
    option, text = line.option, line.placed.line.value or ""
    if option is None or line.outcome is not Outcome.ACCEPTED or not sets_value(line, catalog):
        return None
    _, rest = leading_digits(text)
    digits = text[: len(text) - len(rest)].strip()
    if not digits or len(rest) <= 1 or rest[0].lower() not in SUFFIXES or not rest.isalpha():
        return None
    short = digits + rest[0]
    name = line.placed.line.name or ""
    return short if take(name, short, catalog)[1:5] == take(name, text, catalog)[1:5] else None


def bare(line: LineVerdict) -> str:
    """The canonical name, or the name as written without the prefix loose_."""
    return line.canonical or written(line.placed.line).removeprefix("loose_")


def of_plugin(line: LineVerdict, catalog: Catalog) -> bool:
    """Whether the target knows the option, and lacks only its plugin; or a component may bring it."""
    option = catalog.get(bare(line))
    known_plugin = option is not None and bool(option.plugin)
    return known_plugin or NOT_LOADED in line.reason or of_component(bare(line), catalog.target)


def respelt(line: Line, old: str, new: str) -> str:
    """The name as written with `new` in the place of `old`: a prefix stays, and so does the habit of writing dashes."""
    name = line.name or ""
    head = len(name) - len(old) if written(line).endswith(old) else _prefix_length(name)
    dashes = "-" in name[head:] and "_" not in name[head:]
    return name[:head] + (new.replace("_", "-") if dashes else new)


def _prefix_length(name: str) -> int:
    plain, length = name.lower().replace("-", "_"), 0
    while prefix := next((p for p in PREFIXES if plain.startswith(p + "_", length)), ""):
        length += len(prefix) + 1
    return length


def _loose(line: Line) -> str:
    name = line.name or ""
    return ("loose-" if "-" in name and "_" not in name else "loose_") + name


def _successors(name: str, known: RuleContext) -> tuple[str, ...]:
    from rules.core.successors import renamed

    elsewhere = known_elsewhere(name)
    told = elsewhere.replaced_by if elsewhere else None
    return (*((told,) if told and name not in OTHER_TERMS else ()), *renamed(name, known))


def _renamed(line: LineVerdict, name: str, catalog: Catalog, applicability: str) -> Fix | None:
    """Another name with the same value; None where the target doesn't know that name either.

    A new name of a plugin's option is known once the plugin is loaded, as the old one was.
    """
    placed = line.placed.line
    spelt = respelt(placed, bare(line), name)
    taken, option = take(spelt, placed.value, catalog), catalog.get(name)
    of_a_plugin = line.outcome is Outcome.REMOVED and option is not None and bool(option.plugin)
    if taken.outcome in NO_SUCH_NAME and not of_a_plugin:
        return None
    return rename(placed, spelt, applicability)


def _is_there(found: Successor, catalog: Catalog) -> bool:
    """Whether the target knows what does the same: of an option that is too new for it, it knows no successor."""
    return not found.lines or not any(take(name, value, catalog).outcome in NO_SUCH_NAME for name, value in found.lines)


def _is_taken(options: Iterable[tuple[str, str]], catalog: Catalog) -> bool:
    return not any(take(name, value.strip("\"'"), catalog).outcome in REFUSED for name, value in options)


def _rewritten(line: LineVerdict, found: Successor, catalog: Catalog) -> Fix | None:
    """The lines that say the same; None where there are none, or the target would not take each of them."""
    placed = line.placed.line
    literal = bare(line) == "set_variable"
    spelt = [(name if literal else respelt(placed, bare(line), name), value) for name, value in found.lines]
    if not spelt or not _is_taken(spelt, catalog):
        return None
    (name, value), more = spelt[0], spelt[1:]
    revalued = None if more or literal else revalue(placed, value, UNSAFE)
    if revalued is not None:
        return revalued._replace(edits=rename(placed, name, UNSAFE).edits + revalued.edits)
    return rewrite(placed, spelt, UNSAFE)


def _notations(value: str, raw: str, option: Option) -> tuple[str, ...]:
    """How the value may be written, as the line's author would first."""
    if option.kind == "bool":
        return (WORDS.get(value, value),)
    if value.isdigit() and not raw.strip("'\"").isdigit() and option.kind in ("int", "uint"):
        return exact(int(value)), value
    return (value,)


def whole_size(text: str) -> str | None:
    """1.5G as 1536M; None for anything but a decimal number of bytes that comes out even."""
    match = re.fullmatch(r"(\d{1,6})\.(\d{1,6})([kmgt])b?", text.lower())
    if match is None:
        return None
    scaled = int(match[1] + match[2]) << SUFFIXES[match[3]]
    size, left = divmod(scaled, 10 ** len(match[2]))
    return None if left else exact(size)


def _modes(text: str) -> str | None:
    """The list of modes without the one that MySQL 8.0 no longer needs; None where no other is left."""
    return ",".join(mode for mode in text.split(",") if mode.strip().upper() != "NO_AUTO_CREATE_USER") or None


def _charset(text: str) -> str | None:
    """What utf8 stands for where its short name is gone."""
    name = text.lower()
    return text[:4] + "mb3" + text[4:] if name == "utf8" or name.startswith("utf8_") else None


GROUP = "mysqld"


def closed(line: Line) -> Fix | None:
    """A group header with its bracket; None where more than that is missing."""
    text = line.text[line.column - 1 : line.end_column - 1]
    if not text.startswith("[") or not text[1:].replace("-", "").replace(".", "").replace("_", "").isalnum():
        return None
    return Fix(UNSAFE, (Edit(line.number, line.end_column, line.number, line.end_column, "]"),))


def headed(outside: Sequence[Line], known: RuleContext) -> Fix | None:
    """A header above the options that stand before any; None where the server would refuse one of them under it."""
    if not all(_is_accepted(line, known) for line in outside):
        return None
    first = outside[0].number
    return Fix(UNSAFE, (Edit(first, 1, first, 1, f"[{GROUP}]\n"),))


def moved(file: OptionFile, line: Line, known: RuleContext) -> Fix | None:
    """The line under the file's first [mysqld]; taken out where the server is given the option already."""
    out = Edit(line.number, 1, line.number + 1, 1, "")
    if written(line) in known.file_verdict.effective:
        return Fix(UNSAFE, (out,))
    header = next((x for x in file.lines if x.kind is LineKind.GROUP and x.name == GROUP), None)
    if header is None or not header.text.endswith("\n") or not _is_accepted(line, known):
        return None
    below = header.number + 1
    return Fix(UNSAFE, (Edit(below, 1, below, 1, line.text.rstrip("\r\n") + "\n"), out))


def _is_accepted(line: Line, known: RuleContext) -> bool:
    return take(line.name or "", line.value, known.catalog).outcome not in REFUSED
