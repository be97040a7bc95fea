"""What becomes of persisted values that MySQL sets once it is up, by SET as it were."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from advisor.core.model import Target
    from advisor.optionfile.lines import PlacedLine

KEY_CACHE = frozenset(
    ("key_buffer_size", "key_cache_age_threshold", "key_cache_block_size", "key_cache_division_limit")
)

# Dynamic variables that SET PERSIST was refused for with error 1238 (asked: 8.0.15 and 9.7.4).
NEVER_PERSISTED = frozenset(
    (
        "gtid_purged",
        "innodb_doublewrite",
        "innodb_undo_tablespaces",
        "keyring_operations",
        "log_bin_use_v1_row_events",
        "restrict_fk_on_non_standard_key",
    )
)


def may_be_persisted(name: str, target: Target) -> bool:
    """Whether SET PERSIST takes the variable, and the server sets the value at its next start."""
    return name not in NEVER_PERSISTED and is_restored(name, target)


def is_restored(name: str, target: Target) -> bool:
    """Whether a persisted value is set at all: 8.0.15 writes those of key caches down, and that is all."""
    return target.since("mysql", 8, 0, 16) or name not in KEY_CACHE


def lines_set_after_start(late: Iterable[PlacedLine], target: Target) -> list[PlacedLine]:
    """The lines that take effect, with those that they bring: a character set and a collation set each other."""
    restored = [placed for placed in late if is_restored(placed.line.name or "", target)]
    return [*restored, *_implied_lines(restored, target)] if restored else []


def _implied_lines(restored: list[PlacedLine], target: Target) -> list[PlacedLine]:
    """The character set that a collation brings, and the other way round, where it is not persisted itself."""
    from advisor.upgrade.defaults import CHARSET, COLLATION, default_collation
    from advisor.verdict.charsets import charset_of, full_charset_name

    names = {placed.line.name for placed in restored}
    implied = []
    for placed in restored:
        value = placed.line.value or ""
        if placed.line.name == CHARSET and COLLATION not in names:
            implied.append(_with_option(placed, COLLATION, default_collation(full_charset_name(value), target)))
        elif placed.line.name == COLLATION and CHARSET not in names:
            implied.append(_with_option(placed, CHARSET, charset_of(value)))
    return implied


def _with_option(placed: PlacedLine, name: str, value: str) -> PlacedLine:
    return placed._replace(line=placed.line._replace(name=name, raw=value, value=value))
