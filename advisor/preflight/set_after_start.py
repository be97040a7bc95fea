"""Persisted values that MySQL applies after startup, as if by SET."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from advisor.core.model import Target
    from advisor.optionfile.lines import PlacedLine

KEY_CACHE = frozenset(
    ("key_buffer_size", "key_cache_age_threshold", "key_cache_block_size", "key_cache_division_limit")
)

# Dynamic variables for which SET PERSIST fails with error 1238 (tested: 8.0.15 and 9.7.4).
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
    """Whether SET PERSIST accepts the variable and the server applies the value at its next start."""
    return name not in NEVER_PERSISTED and is_restored(name, target)


def is_restored(name: str, target: Target) -> bool:
    """Whether a persisted value is applied: 8.0.15 saves those of key caches, but does not apply them."""
    return target.since("mysql", 8, 0, 16) or name not in KEY_CACHE


def lines_set_after_start(late: Iterable[PlacedLine], target: Target) -> list[PlacedLine]:
    """Return the lines that take effect, and those they imply: character set and collation set each other."""
    restored = [placed for placed in late if is_restored(placed.line.name or "", target)]
    return [*restored, *_implied_lines(restored, target)] if restored else []


def _implied_lines(restored: list[PlacedLine], target: Target) -> list[PlacedLine]:
    """Return the character set that a collation implies, and vice versa, unless it is persisted itself."""
    from advisor.upgrade.defaults import CHARSET, COLLATION, default_collation
    from advisor.verdict.words import charset_of, full_charset_name

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
