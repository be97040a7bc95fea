"""Compare two ways of reading a busy host: differing fields, and fields that changed in the meantime."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple, get_args, get_type_hints

from msgspec import Struct

from advisor.facts.host import Host
from advisor.facts.marks import Mark, marks_of

if TYPE_CHECKING:
    from collections.abc import Iterator

Fields = dict[str, object]
LACKING = "(not there)"
# Devices that come and go without any action, beside the facts whose mark says that they move.
MOVING_DEVICES = re.compile(r"devices\[loop\d+\].*")
_KEYS = ("kernel_name", "name", "number", "variable")


class Compared(NamedTuple):
    """The result of a comparison.

    `differ` has the fields that were stable but differ, by name, with both values. `moved` has the names of the fields
    that changed in the meantime, so that their values cannot be compared.
    """

    differ: dict[str, tuple[object, object]]
    moved: frozenset[str]


def fields_of(value: object, at: str = "") -> Iterator[tuple[str, object]]:
    """Each field of a host by its place: `memory.total`, `devices[sda].scheduler`."""
    if isinstance(value, Struct):
        for name in value.__struct_fields__:
            yield from fields_of(getattr(value, name), f"{at}.{name}" if at else name)
    elif isinstance(value, tuple) and value and all(isinstance(part, Struct) for part in value):
        for index, part in enumerate(value):
            key = next((getattr(part, name) for name in _KEYS if hasattr(part, name)), index)
            yield from fields_of(part, f"{at}[{key}]")
    else:
        yield at, value


def compared(before: Host, other: Host, after: Host) -> Compared:
    """Compare another way of reading with live reads before and after it.

    For a field that changed, only its presence is compared.
    """
    first, between, last = (dict(fields_of(host)) for host in (before, other, after))
    differ, moved = {}, set()
    for name in sorted(first.keys() | between.keys() | last.keys()):
        values = [read.get(name, LACKING) for read in (first, between, last)]
        if values[0] != values[2]:
            moved.add(name)
        known = [value not in (None, LACKING) for value in values]
        if values[0] == values[2] != values[1] or (known[0] and known[2] and not known[1]):
            differ[name] = (values[2], values[1])
    return Compared(differ, frozenset(moved))


def faults(rounds: list[Compared]) -> list[str]:
    """A line for each field that differed in every round, and for each that changed in all of them unexpectedly.

    Something that appeared only during the other read, such as a loop device, differs in one round but not in the
    next.
    """
    always = set.intersection(*(set(one.differ) for one in rounds))
    never = frozenset.intersection(*(one.moved for one in rounds))
    lines = [
        f"{name}: live {live!r}, else {other!r}" for name, (live, other) in rounds[-1].differ.items() if name in always
    ]
    return [*lines, *(f"{name}: moves by itself" for name in sorted(never) if not moves(name))]


def moves(name: str) -> bool:
    """Whether the field of a host at that place is known to change while the host runs."""
    kind: type = Host
    mark: Mark | None = None
    for step in re.sub(r"\[[^]]*\]", "", name).split("."):
        mark = marks_of(kind).get(step)
        kind = next(structs_in(get_type_hints(kind).get(step)), Struct)
    return (mark is not None and mark.moves) or bool(MOVING_DEVICES.fullmatch(name))


def structs_in(hint: object) -> Iterator[type]:
    """The classes of facts in a type such as `tuple[NumaNode, ...]` or `Cpu | None`."""
    if isinstance(hint, type) and issubclass(hint, Struct):
        yield hint
    for part in get_args(hint):
        yield from structs_in(part)
