"""Real files from which inputs are generated: option files of the corpus, recorded servers, the examples."""

from __future__ import annotations

import contextlib
import copy
import functools
import glob
import json
import os
import random
from typing import Any

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
RECORDED = ("examples/snapshots/*.json", "tests/snapshots/*.json", "advisor/demo/recording.json")
LARGEST = 4096  # bytes; small files find a reader's faults too, and a million large ones would take days
FIELDS = 40  # maximum fields of a value in a snapshot; larger ones are tables
FEW = 5  # entries of a table in a reduced snapshot
KINDS = {
    "option-file": ("{shared}/corpus/files/*", "{top}/examples/*.cnf", "/etc/mysql/**/*.cnf"),
    "yaml": ("{top}/examples/**/*.y*ml",),
    "hcl": ("{top}/tests/carriers/declared/*.tf", "{top}/tests/carriers/declared/*.hcl"),
    "declared": ("{top}/tests/carriers/declared/*.y*ml", "{top}/tests/carriers/declared/*.json"),
    "unit": ("/lib/systemd/system/*.service", "/etc/systemd/system/**/*.conf"),
    "configuration": ("{top}/examples/**/*.toml", "{top}/pyproject.toml"),
}


@functools.cache
def files(kind: str) -> list[bytes]:
    """The small files of a kind that are available."""
    shared = os.environ.get("MYCNF_SHARED", os.path.join(TOP, "..", "shared"))
    contents = []
    for pattern in KINDS[kind]:
        for path in sorted(glob.glob(pattern.format(shared=shared, top=TOP), recursive=True)):
            with contextlib.suppress(OSError), open(path, "rb") as file:
                contents.append(file.read(LARGEST))
    return [data for data in contents if data]


@functools.cache
def recorded_snapshots() -> list[dict[str, Any]]:
    """Snapshots of real servers."""
    snapshots = []
    for pattern in RECORDED:
        for path in sorted(glob.glob(os.path.join(TOP, pattern))):
            with open(path, encoding="utf-8") as file:
                snapshots.append(json.load(file))
    return snapshots


@functools.cache
def small_snapshots() -> list[bytes]:
    """The snapshots with only a few entries of each long table and list, each reduced in several ways."""
    chance = random.Random("snapshots")
    made = [_fewer(copy.deepcopy(whole), chance) for whole in recorded_snapshots() for _ in range(6)]
    return [json.dumps(tree).encode("ascii") for tree in made]


def _fewer(tree: Any, chance: random.Random) -> Any:
    if isinstance(tree, dict):
        kept = list(tree) if len(tree) <= FIELDS else chance.sample(sorted(tree), FEW)
        return {key: _fewer(tree[key], chance) for key in kept}
    if isinstance(tree, list):
        return [_fewer(one, chance) for one in tree[:FEW]]
    return tree[:LARGEST] if isinstance(tree, str) else tree


def server_tables(chance: random.Random) -> tuple[dict[str, str], dict[str, str]]:
    """The variables and counters of one of the recorded servers, with names as servers print them."""
    server = chance.choice(recorded_snapshots())["server"]
    counters = {"uptime": "100", **server["status"]}
    return server["variables"], {name.capitalize(): value for name, value in counters.items()}
