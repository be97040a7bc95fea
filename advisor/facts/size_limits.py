"""Limits the facts to what a snapshot has room for, because a server or host can report texts of any length."""

from __future__ import annotations

from json.encoder import encode_basestring_ascii as quoted
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from advisor.facts import Unavailable
from advisor.facts.codec import to_plain
from advisor.facts.snapshot import MAX_JSON_BYTES

if TYPE_CHECKING:
    from advisor.facts import Facts

MAX_FACTS_BYTES = MAX_JSON_BYTES - (
    1 << 20
)  # bytes, within what is read of the least readable snapshot; a busy server's take a tenth
SERVER_PREFIX = "server."
# What may be of any length, and what stands in its place where it was left out: the same as where it can't be read.
EMPTY: dict[str, Any] = {
    "server.variables": {},
    "server.status": {},
    "server.origins": {},
    "server.plugins": (),
    "server.engines": {},
    "server.replication": None,
    "server.innodb_metrics": {},
    "server.innodb_status": "",
    "server.accounts": None,
    "server.blocking": None,
    "workload": None,
    "host": None,
    "files": None,
    "service": None,
    "probes": (),
    "sampled": None,
    "spaces": (),
    "schema_risks": None,
}


def fit_snapshot(facts: Facts) -> Facts:
    """The facts without their largest parts if they exceed the size of a snapshot; each omitted part has its reason."""
    told = to_plain(facts)
    whole = json_size(told)
    if whole <= MAX_FACTS_BYTES:
        return facts
    weights = part_sizes(told)
    for part in sorted(weights, key=lambda part: weights[part], reverse=True):
        if whole <= MAX_FACTS_BYTES:
            break
        whole -= weights[part]
        facts = _drop_part(facts, part, weights[part])
    return facts


def part_sizes(told: dict[str, Any]) -> dict[str, int]:
    """Size in bytes of each part of unlimited length in a snapshot's plain values."""
    server = told["server"]
    of_server = {part: part.removeprefix(SERVER_PREFIX) for part in EMPTY if part.startswith(SERVER_PREFIX)}
    # What has its default may be missing among plain values.
    found = {part: json_size(server.get(name), depth=2) for part, name in of_server.items()}
    return found | {part: json_size(told.get(part), depth=1) for part in EMPTY if part not in found}


def json_size(value: Any, depth: int = 0) -> int:
    """Size in bytes of a plain value in a snapshot, with one line per member; may be slightly too high."""
    if isinstance(value, str):
        return len(quoted(value))
    line = depth + 3  # its end, the indentation and a comma
    if isinstance(value, dict):
        return line + 2 + sum([line + 2 + len(quoted(name)) + json_size(one, depth + 1) for name, one in value.items()])
    if isinstance(value, list | tuple):
        return line + 2 + sum([line + json_size(one, depth + 1) for one in value])
    return len(str(value)) + 1  # False and None are longer in JSON by no more


def _drop_part(facts: Facts, part: str, size: int) -> Facts:
    name = part.removeprefix(SERVER_PREFIX)
    why = (
        f"left out, for a snapshot has {MAX_FACTS_BYTES >> 20} MB at most and this alone would "
        f"take {size / (1 << 20):.1f}"
    )
    noted = (*(one for one in facts.unavailable if one.part != part), Unavailable(part, why))
    if name == part:
        return replace(facts, unavailable=noted, **{part: EMPTY[part]})
    return replace(facts, unavailable=noted, server=replace(facts.server, **{name: EMPTY[part]}))
