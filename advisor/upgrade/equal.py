"""Whether two servers mean the same by two values that they print in notations of their own."""

from __future__ import annotations

from typing import TYPE_CHECKING

from advisor.verdict.compare import normalise_value
from advisor.verdict.sets import split_flags
from advisor.verdict.special import PLUGIN_STATES

if TYPE_CHECKING:
    from advisor.catalog.load import Option

NARROW = 32
# Switches that are no news where they first appear: MySQL 8.0.19 and later go by block_nested_loop instead of the one,
# and servers without the other do what it does when it is on.
UNREPORTED_FLAGS = frozenset({"hash_join", "prefer_ordering_index"})
# By option: values that are one behaviour under two names.
SAME: dict[str, tuple[str, str]] = {
    "bind_address": ("*", ""),  # MariaDB listens on all addresses when it is given none
    "default_tmp_storage_engine": ("innodb", ""),  # none means default_storage_engine
    "innodb_flush_method": ("fsync", ""),  # none is fsync on Unix
    "max_relay_log_size": ("0", "1073741824"),  # 0 stands for max_binlog_size
    "old_alter_table": ("off", "default"),
}


def is_equivalent(before: str, after: str, old: Option, new: Option) -> bool:
    """Whether `before`, as the old server prints its option, is `after` on the new one."""
    if is_flags(before, old) and is_flags(after, new):
        return not moved_flags(before, after, old, new)
    mine, other = _plain(before, old), _plain(after, new)
    return mine == other or {mine, other} == {normalise_value(word) for word in SAME.get(new.name, ())}


def is_flags(value: str, option: Option) -> bool:
    """Whether the value is a list of switches, `a=on,b=off`."""
    return option.kind == "flagset" or "=on" in value or "=off" in value


def moved_flags(before: str, after: str, old: Option, new: Option) -> dict[str, tuple[str, str]]:
    """The flags of both servers that don't stand alike, each with its two settings."""
    was, is_now = _flags(before, old), _flags(after, new)
    return {flag: (was[flag], is_now[flag]) for flag in was if flag in is_now and was[flag] != is_now[flag]}


def new_flags(before: str, after: str, old: Option, new: Option) -> tuple[str, ...]:
    """The flags that are on, and that the old server has not."""
    return tuple(
        flag for flag, setting in _flags(after, new).items()
        if setting == "on" and flag not in _flags(before, old) and flag not in UNREPORTED_FLAGS
    )  # fmt: skip


def members(value: str) -> frozenset[str]:
    """The members of a set, or the items of a list, whatever their order."""
    return frozenset(part.strip().lower() for part in value.split(",") if part.strip())


def _flags(value: str, option: Option) -> dict[str, str]:
    """Help leaves out the flags behind the last one that is on."""
    off = {name: "off" for name in option.values if name.lower() != "default"}
    return off | split_flags(value)


def is_plugin_state(option: Option) -> bool:
    """Whether the option switches a plugin: servers before MySQL 8.4 print ON for it whatever its state is."""
    return option.kind == "enum" and option.values[:2] == PLUGIN_STATES[:2] and not option.variable


def _member(value: str, option: Option) -> str:
    """The name of a list's member that is printed by its number."""
    by_number = option.kind == "enum" and value.isdecimal() and value not in option.values
    return option.values[int(value)] if by_number and int(value) < len(option.values) else value


def _plain(value: str, option: Option) -> str:
    # MySQL before 8.0.16 prints the upper half of 32 bits as negative numbers.
    if value.startswith("-") and option.kind == "uint" and option.bits == NARROW:
        return str(int(value) + (1 << NARROW))
    return normalise_value(_member(value, option))
