"""Numbers that no server and no host has: whoever reckons with what stands in a file must not meet them."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Collection

    from advisor.facts import Facts

FARTHEST = 1e30  # 64 bits hold 1.8e19
INFINITE = float("inf")
UNBOUNDED = "probes"  # results may be infinite: what one round alone could have detected
NUMBERS = frozenset({int, float})
NO_NUMBERS = frozenset({str, bool, type(None)})
WITHOUT = (str, bool, str | None, dict[str, str], tuple[str, ...])  # types of fields that hold no number


def extreme_part(facts: Facts) -> str:
    """The first part that holds a number beyond FARTHEST, or none at all; empty where there is none."""
    for name in facts.__dataclass_fields__:
        if _is_extreme(getattr(facts, name), infinite=name == UNBOUNDED):
            return name
    return ""


def _is_extreme(value: Any, *, infinite: bool) -> bool:
    kind: Any = type(value)
    if kind in NUMBERS:
        return not (abs(value) < FARTHEST or (infinite and abs(value) == INFINITE))
    if kind in NO_NUMBERS:
        return False
    if kind is dict:
        return _holds_extreme(value.values(), infinite=infinite)
    if kind in (tuple, list):
        return _holds_extreme(value, infinite=infinite)
    for name in _looked_at(kind) or ():
        member = getattr(value, name)
        of = type(member)  # a few hundred of a snapshot are numbers of no great size
        if of in NO_NUMBERS or (of is int and -FARTHEST < member < FARTHEST):
            continue
        if _is_extreme(member, infinite=infinite):
            return True
    return False


def _holds_extreme(members: Collection[Any], *, infinite: bool) -> bool:
    """The same of many: thousands of counters, of texts, or of rows of texts are passed in one step."""
    kinds = set(map(type, members))
    if all(kind in NO_NUMBERS or _looked_at(kind) == () for kind in kinds):
        return False
    if kinds <= NUMBERS and all(map(FARTHEST.__gt__, map(abs, members))):
        return False
    return any(_is_extreme(member, infinite=infinite) for member in members)


@cache
def _looked_at(kind: type) -> tuple[str, ...] | None:
    """The fields of a part of the facts that may hold numbers; None for what has no fields."""
    fields = getattr(kind, "__dataclass_fields__", None)
    return None if fields is None else tuple(name for name, field in fields.items() if field.type not in WITHOUT)
