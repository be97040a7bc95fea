"""Snapshots, baselines and kept files that were made to break their reader don't, and take no more than they may."""

from __future__ import annotations

import copy
import gzip
import json
import random
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from mycnf_command import CHECKOUT

from advisor.analysis import baseline
from advisor.core.errors import CONNECTION, USAGE, MycnfError
from advisor.facts.snapshot import load
from probes import results
from tests.hostile.conftest import Alone, Measure, Turns, ended_well, some
from tests.hostile.values import TEXTS

AUDIT = ("audit", "--isolated", "--format", "text", "--snapshot")
RECORDED = CHECKOUT / "tests" / "snapshots" / "schema-1.2.json"
WRONG: list[Any] = [None, True, 7, -1, 1.5, "text", "", [], {}, [[]], {"a": {}}, [None], 10**30, "\ud800"]
EXTREME: list[Any] = [0, -1, 1 << 63, 10**19, 10**40, 10**400, -(10**400), 1e308, -1e308, 5e-324, 1e18]
FEW = 4  # of the members of a mapping or a list, which are all alike
MOST_MEMORY = 700 << 20
SIZE = 30 << 20  # bytes of a snapshot; a baseline may have half as many

Way = tuple[str | int, ...]


def recorded() -> dict[str, Any]:
    """A snapshot as JSON, cut down to a few members of everything that has many."""
    document: dict[str, Any] = json.loads(RECORDED.read_text("utf-8"))
    return document


def shortened(node: Any, name: str = "") -> Any:
    """The same with few members of each list and each mapping that isn't a value with fields."""
    if isinstance(node, list):
        return [shortened(member) for member in node[:FEW]]
    if isinstance(node, dict):
        many = len(node) > 40
        return {key: shortened(node[key], key) for key in list(node)[: FEW if many else None]}
    return node


def ways(node: Any, way: Way = ()) -> Iterator[Way]:
    """The way to every part, the whole included."""
    yield way
    members = node.items() if isinstance(node, dict) else enumerate(node) if isinstance(node, list) else ()
    for name, member in members:
        yield from ways(member, (*way, name))


def changed(document: Any, way: Way, value: Any) -> Any:
    """The document with another value at the end of the way."""
    if not way:
        return value
    made = copy.copy(document)
    made[way[0]] = changed(document[way[0]], way[1:], value)
    return made


def at(document: Any, way: Way) -> Any:
    """What stands at the end of the way."""
    for step in way:
        document = document[step]
    return document


def parts(whole: Any) -> list[Way]:
    """The ways to all parts; members of one list are one part."""
    return list({tuple("*" if isinstance(step, int) else step for step in way): way for way in ways(whole)}.values())


def refusals(read: Callable[[str], object], path: Path, whole: Any, each: int) -> tuple[int, int]:
    """How many documents with a part that is wrong were refused, each in one line; `each` is how many ways to be so."""
    refused, chance = 0, random.Random(1)  # noqa: S311 - the same each time
    documents = [changed(whole, way, value) for way in parts(whole) for value in chance.sample(WRONG, each)]
    for document in documents:
        path.write_text(json.dumps(document), encoding="ascii")
        try:
            read(str(path))
        except MycnfError as error:
            message = str(error)
            refused += 1
        else:
            message = ""
        assert "\n" not in message
    return refused, len(documents)


def test_any_part_may_be_of_any_kind(tmp_path: Path, turns: Turns) -> None:
    """With any part of a snapshot replaced by any wrong kind of value it is read, or refused in one line."""
    refused, tried = refusals(load, tmp_path / "snap", shortened(recorded()), min(len(WRONG), turns(2)))
    assert refused > tried // 2 > 200


def test_so_may_any_part_of_what_is_kept(tmp_path: Path, turns: Turns) -> None:
    """Results of probes and baselines alike."""
    whole: dict[str, Any] = json.loads(results.result_json(load(str(RECORDED)).probes[0]))
    each = min(len(WRONG), turns(3))
    refused, tried = refusals(results.read_result, tmp_path / "result", shortened(whole), each)
    assert refused > tried // 2 > 30
    entry = {"path": "a", "code": "OPT001", "name": "x", "group": None, "option": "a", "value": "1", "count": 1}
    refused, tried = refusals(
        baseline.read_baseline, tmp_path / "baseline", {"version": 1, "findings": [entry, entry]}, each
    )
    assert refused > tried // 3


def test_any_number_may_be_extreme(tmp_path: Path, alone: Alone, turns: Turns) -> None:
    """Numbers of 400 digits, at the ends of what a float holds, negative, zero: refused, or judged to the end."""
    whole, path, chance = recorded(), tmp_path / "snap", random.Random(1)  # noqa: S311 - the same each time
    numbers = [way for way in ways(whole) if type(at(whole, way)) in (int, float)]
    made = [everywhere(whole, lambda value=value: value) for value in EXTREME]  # type: ignore[misc] # the loop's own
    made += [changed(whole, chance.choice(numbers), chance.choice(EXTREME)) for _ in range(turns(20))]
    made += [everywhere(whole, lambda: chance.choice(EXTREME), chance, 0.1) for _ in range(turns(5))]
    for document in made:
        path.write_text(json.dumps(document), encoding="ascii")
        ended_well(alone(*AUDIT, path), 0, 1, USAGE)


def test_any_part_may_be_empty_or_hostile(tmp_path: Path, alone: Alone, turns: Turns) -> None:
    """Lists and mappings without members, texts that say nothing or act on terminals: judged to the end, or refused."""
    whole, path, chance = recorded(), tmp_path / "snap", random.Random(2)  # noqa: S311 - the same each time
    tried = [(way, value) for way in parts(whole) for value in others(at(whole, way))]
    for way, value in chance.sample(tried, min(len(tried), turns(30))):
        path.write_text(json.dumps(changed(whole, way, value)), encoding="ascii")
        ended_well(alone(*AUDIT, path), 0, 1, USAGE, CONNECTION)


def others(value: Any) -> list[Any]:
    """What may replace a text, a list or a mapping and still be one."""
    return ["", *TEXTS] if isinstance(value, str) else [type(value)()] if isinstance(value, list | dict) else []


def everywhere(node: Any, pick: Callable[[], Any], chance: random.Random | None = None, share: float = 1.0) -> Any:
    """The document with other numbers, all of them or a share."""
    if isinstance(node, dict):
        return {name: everywhere(member, pick, chance, share) for name, member in node.items()}
    if isinstance(node, list):
        return [everywhere(member, pick, chance, share) for member in node]
    wanted = type(node) in (int, float) and (chance is None or chance.random() < share)
    return pick() if wanted else node


def _twice(text: str) -> bytes:
    return ('{"schema": "1.2", ' + text[1:-1] + ", " + text[1:]).encode()


def _of_parts() -> bytes:
    part = b'{"part":"","reason":""}'
    return _twice(json.dumps(recorded()))[:-1] + b', "unavailable": [' + (part + b",") * (SIZE // 30) + part + b"]}"


# Files that are small, or of an allowed size, and large once they are read.
BOMBS: dict[str, Callable[[], bytes]] = {
    "a packed file": lambda: gzip.compress(bytes(SIZE)),
    "lists of lists": lambda: b"[" + b"[]," * (SIZE // 3) + b"[]]",
    "lists below an unknown field": lambda: b'{"schema":"1.2","x":[' + b"[]," * (SIZE // 3) + b"[]]}",
    "nested lists": lambda: b'{"schema":"1.2","x":' + b"[" * (SIZE // 2) + b"]" * (SIZE // 2 - 10) + b"}",
    "nested objects": lambda: b'{"schema":' * (SIZE // 10),
    "one name a million times": lambda: b"{" + b'"schema":1,' * (SIZE // 11) + b'"schema":1}',
    "one long text": lambda: b'{"schema":"' + b"x" * SIZE + b'"}',
    "a long number": lambda: b'{"schema":' + b"9" * SIZE + b"}",
    "escapes": lambda: b'{"schema":"' + b"\\u0000" * (SIZE // 6) + b'"}',
    "parts without end": _of_parts,
}


@pytest.mark.parametrize("kind", some(BOMBS, ("lists of lists",)))
def test_a_bomb_takes_no_more_than_it_may(tmp_path: Path, measure: Measure, kind: str) -> None:
    """Files of the largest size that is read: one line or a report, and memory that stays bounded."""
    snapshot, kept, data = tmp_path / "snap", tmp_path / "baseline", BOMBS[kind]()
    snapshot.write_bytes(data)
    kept.write_bytes(data[: SIZE // 2])
    for words in ((*AUDIT, snapshot), ("lint", "--target", "mysql-8.0", "--baseline", kept, "-")):
        ended, peak = measure(*words, stdin=b"[mysqld]\n")
        ended_well(ended, 0, 1, USAGE)
        assert peak < MOST_MEMORY, (words[0], peak >> 20)


def test_texts_everywhere_are_harmless(tmp_path: Path, alone: Alone) -> None:
    """Every text of a snapshot one that acts on terminals: the report shows it, and it acts on nothing."""
    whole = recorded()
    hostile = "\x1b]0;x\x07\u202e[red]<b>|\r\n"

    def changed_texts(node: Any, name: str = "") -> Any:
        if isinstance(node, dict):
            return {key: changed_texts(member, key) for key, member in node.items()}
        if isinstance(node, list):
            return [changed_texts(member) for member in node]
        return hostile + node if isinstance(node, str) and name not in ("schema", "flavour", "version") else node

    path = tmp_path / "snap"
    path.write_text(json.dumps(changed_texts(whole)), encoding="ascii")
    for words in ((*AUDIT, path), ("report", path, "--format", "markdown"), ("preflight", "--snapshot", path)):
        ended_well(alone(*words), 0, 1, USAGE, CONNECTION)
    ended_well(alone("diff", path, RECORDED), 0, 1, USAGE, CONNECTION)
