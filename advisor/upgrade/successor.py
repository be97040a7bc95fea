"""The line to write instead of one whose option has another name on the new server."""

from __future__ import annotations

from typing import TYPE_CHECKING

from advisor.catalog.presence import find_presence
from advisor.core.model import exact_size
from advisor.upgrade.keep import judge_added_lines
from advisor.verdict import Outcome
from advisor.verdict.number import parse_digits

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from advisor.verdict import FileVerdict, LineVerdict

DAY = 86400
# Words that MySQL 8.0.26 replaced in names; MariaDB keeps the old ones.
RENAMED_WORDS = (("slave", "replica"), ("master", "source"), ("replica", "slave"), ("source", "master"))


def successor(line: LineVerdict, after: LineVerdict, old: FileVerdict, new: FileVerdict) -> str | None:
    """Return a line with another option name that the new server accepts as written; None if there is none.

    `line` is the old server's verdict, which has the value, and `after` the new server's.
    """
    for name, value in _candidates(line, after, old):
        text = name if value is None else f"{name} = {value}"
        verdict = judge_added_lines([text], new).get(text)
        if verdict is not None and verdict.outcome is Outcome.ACCEPTED and not verdict.deprecated:
            return text
    return None


def shortened_line(after: LineVerdict, new: FileVerdict) -> str | None:
    """Return a line with the part of the value that the new server knows; None if there is none."""
    if after.option is None or not after.placed.line.value:
        return None
    name, value = after.option.name, after.placed.line.value
    gone = unknown_members(after)
    kept = ",".join(m for m in value.split(",") if m.strip() not in gone) if gone else _utf8mb3(name, value)
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


def _candidates(line: LineVerdict, after: LineVerdict, old: FileVerdict) -> Iterator[tuple[str, str | None]]:
    name = line.canonical or after.canonical or ""
    if name in CONVERTED:
        converted = CONVERTED[name](line, old)
        if converted:
            yield converted
        return
    presence = find_presence(name)
    named = (after.replaced_by, line.replaced_by, presence.replaced_by if presence else None)
    others = [name.replace(was, is_now) for was, is_now in RENAMED_WORDS if was in name]
    raw = line.placed.line.raw
    for other in dict.fromkeys([*named, *others]):
        if other and other != name:
            yield other, raw


def _expire_days(line: LineVerdict, _: FileVerdict) -> tuple[str, str] | None:
    days = parse_digits(line.value)
    return None if days is None else ("binlog_expire_logs_seconds", str(days * DAY))


def _warnings(line: LineVerdict, _: FileVerdict) -> tuple[str, str] | None:
    level = parse_digits(line.value)
    return None if level is None else ("log_error_verbosity", str(min(level, 2) + 1))


def _redo_capacity(_: LineVerdict, old: FileVerdict) -> tuple[str, str] | None:
    """Return the total size of all redo log files; MariaDB has a single file since 10.5."""
    size, files = _number("innodb_log_file_size", old), _number("innodb_log_files_in_group", old)
    if old.catalog.target.is_mariadb:
        files = 1
    return ("innodb_redo_log_capacity", exact_size(size * files)) if size and files else None


def _redo_files(line: LineVerdict, old: FileVerdict) -> tuple[str, str] | None:
    """Return None if innodb_log_file_size is set: its line gets the replacement."""
    return None if "innodb_log_file_size" in old.effective else _redo_capacity(line, old)


def _redo_file(line: LineVerdict, _: FileVerdict) -> tuple[str, str] | None:
    """MariaDB stores the whole redo log in one file."""
    size = parse_digits(line.value)
    return ("innodb_log_file_size", exact_size(size)) if size else None


def _checksums(line: LineVerdict, _: FileVerdict) -> tuple[str, str]:
    return "innodb_checksum_algorithm", "none" if line.value == "FALSE" else "crc32"


def _policy(line: LineVerdict, _: FileVerdict) -> tuple[str, str] | None:
    """The plugin must be built in or the server stops; with the new policy mysql_native_password no longer is."""
    built_in = line.value in ("caching_sha2_password", "sha256_password")
    return ("authentication_policy", f"{line.value},,") if built_in else None


def _number(name: str, verdict: FileVerdict) -> int | None:
    line, option = verdict.effective.get(name), verdict.catalog.get(name)
    return parse_digits((line.value if line else None) or (option.default if option else None))


# Options whose successor uses another unit or format.
CONVERTED: dict[str, Callable[[LineVerdict, FileVerdict], tuple[str, str] | None]] = {
    "expire_logs_days": _expire_days,
    "log_warnings": _warnings,
    "innodb_log_file_size": _redo_capacity,
    "innodb_log_files_in_group": _redo_files,
    "innodb_redo_log_capacity": _redo_file,
    "innodb_checksums": _checksums,
    "default_authentication_plugin": _policy,
}
