"""Which of one side's settings is which of the other's: by name, by another name of it, by another unit."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from advisor.compare.renames import WITH, converted, other_names, root_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from advisor.compare.values import Held, Side


class Paired(NamedTuple):
    """The pairs, each with further names that both sides have for it, and what has no partner."""

    pairs: dict[str, tuple[Held, Held]]
    also: dict[str, tuple[str, ...]]
    only_a: dict[str, Held]
    only_b: dict[str, Held]


def paired(a: Side, b: Side) -> Paired:
    """Every setting of both sides, once; a pair goes by the first name of its setting that both sides have."""
    pairs = {name: (held, b.held[name]) for name, held in a.held.items() if name in b.held}
    only_a = {name: held for name, held in a.held.items() if name not in pairs}
    only_b = {name: held for name, held in b.held.items() if name not in pairs}
    found = Paired(pairs, {}, only_a, only_b)
    for held in list(only_a.values()):
        _pair_renamed(held, a, b, found)
    for held in list(only_b.values()):
        if any(other in a.held for other in other_names(held, b, a)):
            del only_b[held.name]  # a further name of what is paired already
    _pair_converted(a, b, found)
    merged, also = _merged(pairs, b)
    return Paired(merged, also, only_a, only_b)


def _pair_renamed(held: Held, a: Side, b: Side, found: Paired) -> None:
    """Take out of `found` what is lone on the first side and has another name on the second."""
    there = next((n for n in other_names(held, a, b) if n in b.held and _is_one(held, b.held[n])), None)
    if there is None:
        return
    del found.only_a[held.name]
    if there in found.only_b:
        found.pairs[there] = (held, found.only_b.pop(there))


def _is_one(mine: Held, other: Held) -> bool:
    """Whether both are of a kind, so that a name that came in the place of another means the same setting."""
    if mine.option is None or other.option is None:
        return mine.option is other.option
    kinds = {mine.option.kind, other.option.kind}
    return len(kinds) == 1 or kinds <= {"int", "uint", "double"} or kinds <= {"bool", "enum"}


def _pair_converted(a: Side, b: Side, found: Paired) -> None:
    for held in list(found.only_a.values()):
        made = converted(held, a, b)
        if made is not None and made[0] in found.only_b:
            _take(held, found.only_a)
            found.pairs[made[0]] = (made[1], found.only_b.pop(made[0]))
    for held in list(found.only_b.values()):
        made = converted(held, b, a)
        if made is not None and made[0] in found.only_a:
            _take(held, found.only_b)
            found.pairs[made[0]] = (found.only_a.pop(made[0]), made[1])


def _take(held: Held, lone: dict[str, Held]) -> None:
    """Take out what is converted, with the settings that its conversion was made of."""
    for name in (held.name, *WITH.get(held.name, ())):
        lone.pop(name, None)


def _merged(
    pairs: dict[str, tuple[Held, Held]], b: Side
) -> tuple[dict[str, tuple[Held, Held]], dict[str, tuple[str, ...]]]:
    """One pair for the several names of a setting, where each side says one thing under all of them."""
    groups: dict[str, list[str]] = {}
    for name in pairs:
        groups.setdefault(root_of(name, b.catalog), []).append(name)
    merged, also = {}, {}
    for root, names in groups.items():
        first = root if root in names else names[0]
        others = [name for name in names if name != first]
        if _agree(pairs[name] for name in names):
            merged[first] = _with_setter(pairs[first], [pairs[name] for name in others])
            also[first] = tuple(sorted(others))
        else:
            merged.update({name: pairs[name] for name in names})
    return merged, also


def _agree(several: Iterable[tuple[Held, Held]]) -> bool:
    values = {(mine.value, other.value) for mine, other in several}
    return len(values) == 1


def _with_setter(first: tuple[Held, Held], others: list[tuple[Held, Held]]) -> tuple[Held, Held]:
    """The pair with each side as somebody set it, under whatever name: a server says so of one name alone."""
    chosen = [
        next((one for one in (first[side], *(other[side] for other in others)) if one.is_set), first[side])
        for side in (0, 1)
    ]
    return chosen[0], chosen[1]
