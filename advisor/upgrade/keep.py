"""Lines to write for the new server: those that keep an old default, and those with the new name of an option."""

from __future__ import annotations

from typing import TYPE_CHECKING

from advisor.catalog.presence import find_presence
from advisor.core.model import exact_size
from advisor.optionfile import parse
from advisor.optionfile.lines import LineKind, PlacedLine, ResolvedFiles
from advisor.verdict import FileVerdict, Outcome, accepted_parts, judge_file, judge_value
from advisor.verdict.names import LOADERS
from advisor.verdict.settings import BOOLEANS, NO_DEFAULT, normalise_value
from advisor.verdict.successors import CONVERTED, find_successor, name_without_loose, other_names
from advisor.verdict.words import charset_of, full_charset_name, split_flags

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from advisor.catalog import Catalog, Option
    from advisor.verdict import LineVerdict
    from advisor.verdict.successors import Successor


NARROW = 32
CHARSETS = ("character_set_", "collation_")
# Switches that are not reported when they first appear: MySQL 8.0.19 and later use block_nested_loop instead of
# hash_join, and servers without prefer_ordering_index behave as if it were on.
UNREPORTED_FLAGS = frozenset({"hash_join", "prefer_ordering_index"})
# By option: values that mean the same behaviour.
SAME: dict[str, tuple[str, str]] = {
    "bind_address": ("*", ""),  # without an address MariaDB listens on all
    "default_tmp_storage_engine": ("innodb", ""),  # empty means default_storage_engine
    "innodb_flush_method": ("fsync", ""),  # empty means fsync on Unix
    "max_relay_log_size": ("0", "1073741824"),  # 0 means max_binlog_size
    "old_alter_table": ("off", "default"),
    "replica_parallel_workers": ("0", "1"),  # both apply one transaction after the other, and 9.7 has no 0
}


def is_equivalent(before: str, after: str, old: Option, new: Option) -> bool:
    """Whether `before`, as the old server prints its option, equals `after` on the new server."""
    if is_flags(before, old) and is_flags(after, new):
        return not moved_flags(before, after, old, new)
    mine, other = _plain_value(before, old), _plain_value(after, new)
    return mine == other or {mine, other} == {normalise_value(word) for word in SAME.get(new.name, ())}


def is_flags(value: str, option: Option) -> bool:
    """Whether the value is a list of switches, `a=on,b=off`."""
    return option.kind == "flagset" or "=on" in value or "=off" in value


def moved_flags(before: str, after: str, old: Option, new: Option) -> dict[str, tuple[str, str]]:
    """Return the flags known by both servers whose settings differ, each with both settings."""
    was, is_now = _flags(before, old), _flags(after, new)
    return {flag: (was[flag], is_now[flag]) for flag in was if flag in is_now and was[flag] != is_now[flag]}


def new_flags(before: str, after: str, old: Option, new: Option) -> tuple[str, ...]:
    """Return the flags that are on and that the old server does not have."""
    return tuple(
        flag for flag, setting in _flags(after, new).items()
        if setting == "on" and flag not in _flags(before, old) and flag not in UNREPORTED_FLAGS
    )  # fmt: skip


def members(value: str) -> frozenset[str]:
    """Return the members of a set or list, without order."""
    return frozenset(part.strip().lower() for part in value.split(",") if part.strip())


def _flags(value: str, option: Option) -> dict[str, str]:
    """Return all flags: `--verbose --help` omits those after the last that is on."""
    off = {name: "off" for name in option.values if name.lower() != "default"}
    return off | split_flags(value)


def _member(value: str, option: Option) -> str:
    """Return the name of an enumeration member that is printed as a number."""
    by_number = option.kind == "enum" and value.isdecimal() and value not in option.values
    return option.values[int(value)] if by_number and int(value) < len(option.values) else value


def _plain_value(value: str, option: Option) -> str:
    # MySQL before 8.0.16 prints the upper half of 32 bits as negative numbers.
    if value.startswith("-") and option.kind == "uint" and option.bits == NARROW:
        return str(int(value) + (1 << NARROW))
    if option.name.startswith(CHARSETS):  # MySQL before 8.0.30 prints utf8 for utf8mb3
        short = charset_of(value)
        value = full_charset_name(short) + value[len(short) :]
    return normalise_value(_member(value, option))


SIZES = ("size", "packet", "stack", "capacity", "_ram", "_mmap", "memory_limit")
COUNTS = frozenset({"thread_cache_size", "innodb_purge_batch_size", "binlog_transaction_dependency_history_size"})
ROUND = 5  # characters of the longest size written with a unit: 1024M, but not 131071K
BROKEN = "TLS before 1.2 is broken; update the clients instead."


def line_for(old: Option, new: Option, before: str, file: FileVerdict, flags: tuple[str, ...] = ()) -> str | None:
    """Return a line that alone gives the new server's option the old value, with `flags` off; None if there is none.

    Of `file`, the new server's verdict, the loaded plugins are used for options of plugins.
    """
    catalog = file.catalog
    if withheld_reason(new, before, catalog):
        return None
    candidates = list(_candidates(old, new, before, flags))
    loaders = tuple(line.placed for line in file.lines if line.canonical in LOADERS) if new.plugin else ()
    nothing = FileVerdict((), {}, {}, ResolvedFiles((), loaders, ()), catalog)
    whole = (line for line in candidates if keeps_value(judge_added_lines([line], nothing)[line], before, old, new))
    # A collation is accepted only with its character set; drop_rejected_lines checks that with the whole file.
    return next(whole, None) or next(
        (line for line in candidates if _is_accepted_beside(line, before, old, new, catalog)), None
    )


def withheld_reason(new: Option, before: str, catalog: Catalog) -> str:
    """Return why no line is given although one could be written; empty if none is withheld."""
    target = catalog.target
    if new.name in ("tls_version", "admin_tls_version") and "TLSv1.1" in before:
        return BROKEN
    if new.name == "ssl" and before == "TRUE" and target.is_mariadb and not target.since("mariadb", 11, 4):
        return "set ssl_cert and ssl_key, which switch TLS on; with ssl alone the server does not start."
    if new.name == "innodb_undo_tablespaces" and target.is_mysql and not target.since("mysql", 8):
        return "set it only for a new data directory: MySQL 5.7 does not start with more than the directory has."
    if new.name == "session_track_system_variables":
        known = members(new.default or "")
        gone = [name for name in before.split(",") if name not in known and not catalog.find_variable(name)]
        return f"{target.label} has no {', '.join(gone)}." if gone else ""
    return ""


def judge_added_lines(lines: Sequence[str], new: FileVerdict) -> dict[str, LineVerdict]:
    """Return the verdict on each of the lines, with all of them added at the end of the file."""
    text = "".join(f"{line}\n" for line in ("[mysqld]", *lines)).encode("utf-8", "surrogateescape")
    added = [PlacedLine("", line) for line in parse(text, "").lines if line.kind is LineKind.OPTION]
    whole = judge_file(new.resolved._replace(options=(*new.resolved.options, *added)), new.catalog)
    return dict(zip(lines, whole.lines[len(whole.lines) - len(added) :], strict=True))


def keeps_value(line: LineVerdict, before: str, old: Option, new: Option) -> bool:
    """Whether the line is accepted as written and gives the new option the old value."""
    if line.outcome is not Outcome.ACCEPTED or line.canonical != new.name:
        return False
    value = line.running if line.running is not None else line.value
    # `--verbose --help` prints no comparable value for the state of a plugin.
    return (
        value is None
        or is_equivalent(before, value, old, new)
        or (new.kind == "set" and _equals_known_members(before, value, new))
    )


def drop_rejected_lines(
    wanted: Mapping[str, tuple[str, Option, Option]], new: FileVerdict
) -> dict[str, tuple[str, Option, Option]]:
    """Return the lines (with value, old and new option) that are accepted together; drops rejected ones repeatedly."""
    kept = dict(wanted)
    while kept:
        verdicts = judge_added_lines(list(kept), new)
        good = {line: about for line, about in kept.items() if keeps_value(verdicts[line], *about)}
        if len(good) == len(kept):
            break
        kept = good
    return kept


def file_notation(value: str, option: Option) -> str:
    """Return a value as it is usually written in a file: ON for TRUE, 64M for 67108864 bytes."""
    if value == NO_DEFAULT:
        return ""
    counts = option.name in COUNTS or option.name.startswith("performance_schema")
    if value.isdecimal() and int(value) and not counts and any(word in option.name for word in SIZES):
        written = exact_size(int(value))
        return written if len(written) <= ROUND else value
    return BOOLEANS.get(value, value)


def _is_accepted_beside(line: str, before: str, old: Option, new: Option, catalog: Catalog) -> bool:
    name, equals, value = line.partition(" = ")
    return new.name != "log_bin" and keeps_value(
        judge_value(name, value if equals else None, catalog), before, old, new
    )


def _equals_known_members(before: str, after: str, new: Option) -> bool:
    """Whether it is the old set without the members that the new server does not have."""
    known = {value.lower() for value in new.values}
    return {m.lower() for m in before.split(",")} & known == {m.lower() for m in after.split(",") if m}


def _candidates(old: Option, new: Option, before: str, more: tuple[str, ...]) -> Iterator[str]:
    if new.name == "log_bin":
        # Its value is the base name of the files, for any word.
        yield f"log_bin = {old.default}" if before == "ON" else "skip_log_bin"
    elif is_flags(before, old):
        flags = {name: was for name, (was, _) in moved_flags(before, new.default or "", old, new).items()}
        flags |= dict.fromkeys(more, "off")
        yield f"{new.name} = {','.join(f'{name}={setting}' for name, setting in flags.items())}"
    elif new.kind == "set" and old.kind == "set":
        known = {value.lower() for value in new.values}
        yield f"{new.name} = {','.join(m for m in before.split(',') if m.lower() in known)}"
    else:
        if file_notation(before, old):
            yield f"{new.name} = {file_notation(before, old)}"
        if before in ("OFF", "FALSE"):
            yield f"skip_{new.name}"
        if before in ("ON", "TRUE"):
            yield new.name
        if old.default not in (None, NO_DEFAULT, before):
            yield f"{new.name} = {old.default}"
        yield from (f"{new.name} = {twin}" for twin in SAME.get(new.name, ()) if twin not in ("", before))
        if not file_notation(before, old):
            yield f"{new.name} ="


def successor(line: LineVerdict, after: LineVerdict, old: FileVerdict, new: FileVerdict) -> str | None:
    """Return a line with another option name that the new server accepts as written; None if there is none.

    `line` is the old server's verdict, which has the value, and `after` the new server's.
    """
    for name, value in _successors(line, after, old, new):
        text = name if value is None else f"{name} = {value}".rstrip()
        verdict = judge_added_lines([text], new).get(text)
        if verdict is not None and verdict.outcome is Outcome.ACCEPTED and not verdict.deprecated:
            return text
    return None


def replacement_words(line: LineVerdict, after: LineVerdict, old: FileVerdict, new: FileVerdict) -> str:
    """Return what replaces an option that has no equivalent line; empty if nothing does."""
    equivalent = _equivalent(line, after, old, new)
    return equivalent.words if equivalent is not None and not equivalent.lines else ""


def shortened_line(after: LineVerdict, new: FileVerdict) -> str | None:
    """Return a line with the part of the value that the new server knows; None if there is none."""
    if after.option is None or not after.placed.line.value:
        return None
    name, value = after.option.name, after.placed.line.value
    gone = unknown_members(after)
    kept = ",".join(m for m in value.split(",") if m.strip() not in gone) if gone else _utf8mb3(name, value)
    kept = kept or accepted_parts(name, value, new.catalog)
    text = f"{name} = {kept}"
    return text if kept and kept != value and judge_added_lines([text], new)[text].outcome is Outcome.ACCEPTED else None


def unknown_members(after: LineVerdict) -> list[str]:
    """Return the set members, as written, that the new server does not have; empty for numbers and other kinds."""
    option, value = after.option, after.placed.line.value or ""
    if option is None or option.kind != "set" or not option.values:
        return []
    known = {name.lower() for name in option.values}
    return [m.strip() for m in value.split(",") if m.strip() and m.strip().lower() not in known]


def _utf8mb3(name: str, value: str) -> str | None:
    """Return the value with utf8mb3 for utf8, which MySQL 9 no longer accepts."""
    if name.startswith(("character_set", "collation")) and value.lower().partition("_")[0] == "utf8":
        return f"utf8mb3{value[4:]}"
    return None


def _successors(
    line: LineVerdict, after: LineVerdict, old: FileVerdict, new: FileVerdict
) -> Iterator[tuple[str, str | None]]:
    equivalent = _equivalent(line, after, old, new)
    name = line.canonical or after.canonical or ""
    if equivalent is not None and (equivalent.lines or name in CONVERTED):
        # Words without a line say that the value does not fit the other name.
        yield from equivalent.lines if len(equivalent.lines) == 1 else ()
        return
    presence = find_presence(name)
    named = (after.replaced_by, line.replaced_by, presence.replaced_by if presence else None)
    for other in dict.fromkeys([*named, *other_names(name, new.catalog)]):
        if other and other != name:
            yield other, line.placed.line.raw


def _equivalent(line: LineVerdict, after: LineVerdict, old: FileVerdict, new: FileVerdict) -> Successor | None:
    """Return what lint would write for the new server."""
    placed = line.placed.line
    return find_successor(after.canonical or name_without_loose(placed), placed, new, old.catalog.target)
