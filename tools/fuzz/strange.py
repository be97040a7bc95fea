"""Strange values in JSON documents, and documents mangled with them."""

from __future__ import annotations

import copy
import json
import random
from collections.abc import Iterator
from typing import Any

from mangling import mangle

# Placeholders in a tree for what no JSON writer produces.
_HUGE, _INFINITE, _DEEP, _OPEN = "\ue000huge", "\ue000infinite", "\ue000deep", "\ue000open"
_RAW = {_HUGE: "7" * 5000, _INFINITE: "-1e999", _DEEP: "[" * 3000 + "]" * 3000, _OPEN: '{"a":' * 120_000}
_ODDEST = 0.02  # share of the strange values, because they are long
TEXTS = (
    *("", " ", "\0", "\n", "\r\n", "\x1b[31m", "\u202e", "\ud800", "\udcff", "\u2028", "\xa0", "²", "٣", "½", "é"),
    *("0", "-1", "1e3", "NaN", "0x10", "9" * 400, "9" * 5000, "1.0.0", "2.0", "99999999999.0", "²", "None", "null"),
    *("{", "[", "%s", "{0}", "../..", "/", "a\0b", "[red]", "'", '"', "\\", "*" * 3000, "2026-13-45T99:99:99"),
)
VALUES: tuple[Any, ...] = (
    *(None, True, False, 0, -1, 1, 2, 1 << 31, 1 << 53, 1 << 63, 1 << 64, -(1 << 63), 10**30, -0.0, 0.5, 1e308),
    *(float("inf"), float("-inf"), float("nan"), [], {}, [[]], [None], {"": ""}, [{}], {"a": {"b": [1, "x"]}}),
)


def strange(chance: random.Random) -> Any:
    """A value of an unexpected type."""
    if chance.random() < _ODDEST:
        return chance.choice(tuple(_RAW))
    return copy.deepcopy(chance.choice(VALUES)) if chance.random() < 0.5 else chance.choice(TEXTS)


def spoilt(tree: Any, chance: random.Random) -> Any:
    """The tree with one to three random changes anywhere."""
    for _ in range(chance.randrange(1, 4)):
        places = list(_places(tree))
        if not places:
            return strange(chance)
        _accident(*chance.choice(places), places, chance)
    return tree


def _places(tree: Any) -> Iterator[tuple[Any, Any]]:
    """Every container with every key or index in it."""
    keys: Any = list(tree) if isinstance(tree, dict) else range(len(tree)) if isinstance(tree, list) else ()
    for key in keys:
        yield tree, key
        yield from _places(tree[key])


def _accident(holder: Any, key: Any, places: list[tuple[Any, Any]], chance: random.Random) -> None:
    kind = chance.randrange(8)
    if kind == 0:
        del holder[key]
    elif kind == 1:
        elsewhere, there = chance.choice(places)
        holder[key] = copy.deepcopy(elsewhere[there])
    elif kind == 2:
        holder[key] = [holder[key]]
    elif kind == 3 and isinstance(holder, dict):
        holder[chance.choice(TEXTS)] = holder.pop(key)
    elif kind == 4 and isinstance(holder[key], str):
        holder[key] = holder[key] * chance.randrange(2, 40) + chance.choice(TEXTS)
    elif isinstance(holder[key], str) and chance.random() < 0.6:  # of the correct type, so that readers continue
        holder[key] = chance.choice(TEXTS)
    else:
        holder[key] = strange(chance)


def json_text(tree: Any, chance: random.Random) -> bytes:
    """The tree as JSON, or nearly."""
    text = json.dumps(tree, ensure_ascii=chance.random() < 0.8, indent=chance.choice((None, None, 1)))
    for stand_in, raw in _RAW.items():
        for quoted in (json.dumps(stand_in), json.dumps(stand_in, ensure_ascii=False)):
            text = text.replace(quoted, raw)
    return text.encode("utf-8", "surrogatepass")


def document(seeds: list[bytes], chance: random.Random) -> bytes:
    """One of the documents with strange values, or with mangled bytes."""
    seed = chance.choice(seeds)
    if chance.random() < 0.25:
        return mangle(seed, seeds, chance)
    return json_text(spoilt(json.loads(seed), chance), chance)
