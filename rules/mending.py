"""Which edits mend an option line that the server refuses, changes, or knows under another name."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from advisor.catalog.elsewhere import known_elsewhere
from advisor.sizes import exact
from advisor.verdict import Outcome, take
from advisor.verdict.names import PREFIXES
from advisor.verdict.number import SUFFIXES, leading_digits
from rules.subject import SAFE, UNSAFE, remove, rename, revalue, sets_value, without_value, written

if TYPE_CHECKING:
    from advisor.catalog.load import Catalog, Option
    from advisor.model import Fix
    from advisor.optionfile.lines import Line
    from advisor.verdict import LineVerdict
    from rules.known import Known

NO_SUCH_NAME = frozenset({Outcome.UNKNOWN, Outcome.REMOVED, Outcome.AMBIGUOUS})
WORDS = {"TRUE": "ON", "FALSE": "OFF"}
ON = ("1", "on", "true")
OFF = ("0", "off", "false")
# What the server ends up with depends on the file system that it finds.
BY_THE_HOST = frozenset({"lower_case_table_names"})
# Their successor does the same job in other terms, so that the old value says something else there.
OTHER_TERMS = frozenset(
    {
        *("default_authentication_plugin", "innodb_checksums", "innodb_file_io_threads", "log"),
        *("log_slow_admin_statements", "log_slow_queries", "old", "one_thread"),
    }
)
DAY = 86400
REDO_FILES = 2  # innodb_log_files_in_group where nobody set it
_BARE = r"[\w.:/+-]+"  # needs no quotes in an option file


def unknown(line: LineVerdict, known: Known) -> Fix | None:
    """The name that was meant; `loose_` before an option of a plugin that isn't loaded; else the line taken out."""
    placed = line.placed.line
    plugin = of_plugin(line, known.catalog)
    if plugin:
        return None if line.loose else rename(placed, _loose(placed), UNSAFE)
    for name in (*line.candidates[:1], *_successors(bare(line))):
        fix = _renamed(line, name, known.catalog, UNSAFE)
        if fix is not None:
            return fix
    return remove(placed, UNSAFE)


def removed(line: LineVerdict, known: Known) -> Fix | None:
    """The successor with the value in its own terms, where there is one, else the line taken out."""
    name = bare(line)
    converted = _converted(name, line.placed.line, known)
    if converted is not None:
        return _replaced(line, *converted, known.catalog, UNSAFE) or remove(line.placed.line, UNSAFE)
    for successor in _successors(name):
        fix = _renamed(line, successor, known.catalog, UNSAFE)
        if fix is not None:
            return fix
    return remove(line.placed.line, UNSAFE)


def deprecated(line: LineVerdict, known: Known) -> Fix | None:
    """The new name: safe where both are names of one variable, unsafe where the successor only does the same job."""
    old, catalog = line.option, known.catalog
    converted = _converted(bare(line), line.placed.line, known)
    if converted is not None:
        return _replaced(line, *converted, catalog, UNSAFE)
    new = catalog.get(line.replaced_by) if line.replaced_by else None
    if old is None or new is None or old.name in OTHER_TERMS:
        return None
    one_variable = (old.alias_of or old.name) == (new.alias_of or new.name)
    text = line.placed.line.value  # two names of one variable may have ranges of their own
    alike = one_variable and take(old.name, text, catalog).value == take(new.name, text, catalog).value
    return _renamed(line, new.name, catalog, SAFE if alike else UNSAFE)


def adjusted(line: LineVerdict, known: Known) -> Fix | None:
    """The value that the server ends up with, where it takes that as it stands."""
    option, placed = line.option, line.placed.line
    if option is None or line.value is None or placed.raw is None or not sets_value(line, known.catalog):
        return None
    for text in _notations(line.value, placed.raw, option):
        taken = take(placed.name or "", text, known.catalog)
        if re.fullmatch(_BARE, text) and (taken.outcome, taken.value) == (Outcome.ACCEPTED, line.value):
            return revalue(placed, text, UNSAFE if option.name in BY_THE_HOST else SAFE)
    return None


def invalid(line: LineVerdict, known: Known) -> Fix | None:
    """A size with a decimal point in whole numbers, utf8 as what it has always stood for, and modes without one.

    Without NO_AUTO_CREATE_USER MySQL 8.0 does what 5.7 did with it: GRANT creates no account.
    """
    placed = line.placed.line
    value = placed.value or ""
    text = _whole(value) or _charset(value) or (_modes(value) if line.canonical == "sql_mode" else None)
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
    """Whether the target knows the option, and lacks only its plugin."""
    option = catalog.get(bare(line))
    return option is not None and bool(option.plugin)


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


def _successors(name: str) -> tuple[str, ...]:
    elsewhere = known_elsewhere(name)
    told = elsewhere.replaced_by if elsewhere else None
    return (told,) if told and name not in OTHER_TERMS else ()


def _renamed(line: LineVerdict, name: str, catalog: Catalog, applicability: str) -> Fix | None:
    """Another name with the same value; None where the target doesn't know that name either."""
    placed = line.placed.line
    spelt = respelt(placed, bare(line), name)
    if take(spelt, placed.value, catalog).outcome in NO_SUCH_NAME:
        return None
    return rename(placed, spelt, applicability)


def _replaced(line: LineVerdict, name: str, value: str, catalog: Catalog, applicability: str) -> Fix | None:
    """Another name with another value; None where the target would not take both as they stand."""
    placed = line.placed.line
    spelt = respelt(placed, bare(line), name)
    if take(spelt, value, catalog).outcome is not Outcome.ACCEPTED:
        return None
    renamed, revalued = rename(placed, spelt, applicability), revalue(placed, value, applicability)
    return revalued and renamed._replace(edits=renamed.edits + revalued.edits)


def _converted(name: str, line: Line, known: Known) -> tuple[str, str] | None:
    """The successor of an option that counted in another unit, and the value in the successor's unit."""
    number, rest = leading_digits(_whole(line.value or "") or line.value or "")
    if not line.value or number < 0 or (rest and name != "innodb_log_file_size"):
        return None
    if name == "expire_logs_days":
        return "binlog_expire_logs_seconds", str(number * DAY)
    if name == "log_warnings" and known.target.is_mysql:
        return "log_error_verbosity", str(min(number, 2) + 1)
    redo = name == "innodb_log_file_size" and known.target.is_mysql
    if redo and "innodb_redo_log_capacity" not in known.file_verdict.effective:
        size = number << SUFFIXES.get(rest[:1].lower(), 0)
        return "innodb_redo_log_capacity", exact(size * _redo_files(known))
    return None


def _redo_files(known: Known) -> int:
    options = known.file_verdict.resolved.options
    given = [p.line.value for p in options if written(p.line) == "innodb_log_files_in_group"]
    number, rest = leading_digits(given[-1] or "") if given else (REDO_FILES, "")
    return number if number > 0 and not rest else REDO_FILES


def _notations(value: str, raw: str, option: Option) -> tuple[str, ...]:
    """How the value may be written, as the line's author would first."""
    if option.kind == "bool":
        return (WORDS.get(value, value),)
    if value.isdigit() and not raw.strip("'\"").isdigit() and option.kind in ("int", "uint"):
        return exact(int(value)), value
    return (value,)


def _whole(text: str) -> str | None:
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
