"""Words for what two sides hold: values as people read them, and where each came from."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from advisor.compare.values import SideKind
from advisor.core.model import Origin
from advisor.core.sizes import exact_size
from advisor.preflight.next_values import parse_whole_number
from advisor.preflight.remedy import BYTES
from advisor.redaction.secrets import MASK, escape_text, redact_value

if TYPE_CHECKING:
    from advisor.compare.values import SettingPair, Side, SideSetting

SOURCES = {
    Origin.PERSISTED: "persisted",
    Origin.COMMAND_LINE: "command line",
    Origin.RUNTIME: "SET GLOBAL",
    Origin.COMPILED: "default",
    Origin.UNKNOWN: "",
}
KINDS = {
    SideKind.FILE: "option file",
    SideKind.SERVER: "running server",
    SideKind.SNAPSHOT: "snapshot",
    SideKind.DEFAULTS: "defaults",
}
HOST, TEMPLATE, EMPTY = "(by host)", "(template)", "(empty)"
SIZES = (*BYTES, "_limit_bytes", "_max_ram", "_max_mmap")


class Members(NamedTuple):
    """A list's members that only one side has, or the switches that stand otherwise, by how they turn."""

    only_a: tuple[str, ...]
    only_b: tuple[str, ...]


def value_of(held: SideSetting) -> str:
    """The value for people: sizes in the unit in which they are written, secrets masked, harmless to a terminal."""
    if held.value is None:
        return TEMPLATE if held.is_set else HOST
    number = parse_whole_number(held.value) if held.name.endswith(SIZES) else None
    text = escape_text(redact_value(held.name, held.value)) if number is None else exact_size(number)
    there = held.converted_value
    return f"{text} (as {there})" if there is not None and there != text else text or EMPTY


def values_of(pair: SettingPair) -> tuple[str, str]:
    """Both values for people; two secrets that differ look alike, and one of them says so."""
    mine, other = value_of(pair.a), value_of(pair.b)
    return (mine, f"{other} (differs)") if mine == other and MASK in mine else (mine, other)


def source_of(held: SideSetting, side: Side) -> str:
    """Where the value came from: the place in a file, or who set it; empty where nobody tells."""
    place = held.location
    if held.origin is Origin.FILE:
        if place is None:
            return "a file"
        return escape_text(f"{place.path}:{place.line}" if place.line else place.path)
    return "" if side.kind is SideKind.DEFAULTS else SOURCES[held.origin]


def about(side: Side) -> str:
    """What a side is: its version, its kind, how a server calls itself and when it was read."""
    parts = [side.target.label, KINDS[side.kind]]
    if side.server_name:
        parts[1] += f" of {side.server_name}" if side.kind is SideKind.SNAPSHOT else f" {side.server_name}"
    if side.kind is SideKind.SNAPSHOT:
        parts.append(f"{side.taken_at[:16].replace('T', ' ')} UTC")
    return escape_text(", ".join(parts))


def name_of(pair: SettingPair) -> str:
    """The setting's name, with the other side's where that is another."""
    return pair.name if pair.a.name == pair.b.name else f"{pair.a.name} / {pair.b.name}"


def members_of(pair: SettingPair) -> Members | None:
    """What of two lists differs; None where they are no lists, or short enough to be read whole."""
    if pair.a.value is None or pair.b.value is None or "," not in pair.a.value + pair.b.value:
        return None
    mine, other = (
        [escape_text(part.strip()) for part in redact_value(held.name, held.value or "").split(",")]
        for held in (pair.a, pair.b)
    )
    if any(" " in part for part in (*mine, *other)) or "" in (
        *(mine if mine[1:] else ()),
        *(other if other[1:] else ()),
    ):
        return None  # a text with commas in it, such as a statement
    if all("=" in part for part in (*mine, *other)):
        return _switches(mine, other)
    theirs, ours = ({part.upper() for part in parts} for parts in (other, mine))
    found = Members(
        tuple(part for part in mine if part.upper() not in theirs),
        tuple(part for part in other if part.upper() not in ours),
    )
    return found if any(found) else None


def _switches(mine: list[str], other: list[str]) -> Members | None:
    """The switches that both have and that stand otherwise."""
    ours, theirs = (dict(part.split("=", 1) for part in parts) for parts in (mine, other))
    moved = [name for name in ours if name in theirs and ours[name] != theirs[name]]
    found = Members(tuple(f"{n}={ours[n]}" for n in moved), tuple(f"{n}={theirs[n]}" for n in moved))
    return found if moved else None
