"""Compares values that two servers print in different notations."""

from __future__ import annotations

from typing import TYPE_CHECKING

from advisor.verdict.settings import normalise_value
from advisor.verdict.special import PLUGIN_STATES
from advisor.verdict.words import charset_of, full_charset_name, split_flags

if TYPE_CHECKING:
    from advisor.catalog.load import Option

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
}


def is_equivalent(before: str, after: str, old: Option, new: Option) -> bool:
    """Whether `before`, as the old server prints its option, equals `after` on the new server."""
    if is_flags(before, old) and is_flags(after, new):
        return not moved_flags(before, after, old, new)
    mine, other = _plain(before, old), _plain(after, new)
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


def is_plugin_state(option: Option) -> bool:
    """Whether the option is the state of a plugin: servers before MySQL 8.4 print ON for it in any state."""
    return option.kind == "enum" and option.values[:2] == PLUGIN_STATES[:2] and not option.variable


def _member(value: str, option: Option) -> str:
    """Return the name of an enumeration member that is printed as a number."""
    by_number = option.kind == "enum" and value.isdecimal() and value not in option.values
    return option.values[int(value)] if by_number and int(value) < len(option.values) else value


def _plain(value: str, option: Option) -> str:
    # MySQL before 8.0.16 prints the upper half of 32 bits as negative numbers.
    if value.startswith("-") and option.kind == "uint" and option.bits == NARROW:
        return str(int(value) + (1 << NARROW))
    if option.name.startswith(CHARSETS):  # MySQL before 8.0.30 prints utf8 for utf8mb3
        short = charset_of(value)
        value = full_charset_name(short) + value[len(short) :]
    return normalise_value(_member(value, option))
