"""Snapshots: facts in files, which can be analysed on another host; limited in size, and checked when read."""

from __future__ import annotations

import json
import os
import re
from functools import cache
from json.encoder import encode_basestring_ascii as quoted
from typing import TYPE_CHECKING, Any, TypeVar

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from advisor.core.errors import MycnfError
from advisor.facts import SCHEMA, Facts, Unavailable
from advisor.redaction import escape_text
from advisor.redaction.scrub import mask_secrets
from advisor.state.private_file import follow_link, replace_private

if TYPE_CHECKING:
    from collections.abc import Collection


MAX_FILE_BYTES = 32 << 20  # bytes: a busy server's facts take less than one megabyte

# Bytes that are parsed into plain values, which takes forty times as many: only to say what is wrong with them,
# and for the few snapshots that the strict reader doesn't take.
MAX_JSON_BYTES = 8 << 20
HOW_TO_MAKE = "make one with mycnf collect -o FILE"
T = TypeVar("T")
_PLACE = r"(.*?)(?: - at `\$\.?(.*)`)?"

MAX_FACTS_BYTES = MAX_JSON_BYTES - (
    1 << 20
)  # bytes, within what is read of the least readable snapshot; a busy server's take a tenth
SERVER_PREFIX = "server."

# What may be of any length, and what replaces it where it was left out: the same as where it can't be read.
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


class SnapshotError(MycnfError):
    """A snapshot cannot be written, or a file is not a snapshot; the message is one line with the remedy."""


def save(facts: Facts, path: str) -> None:
    """Write a snapshot, readable by its owner alone; the file is whole or not there, a link stays a link.

    Raises SnapshotError.
    """
    if os.path.exists(path) and not os.path.isfile(path):
        raise SnapshotError(f"{path} is not a regular file and will not be replaced; name a file with -o")
    try:
        replace_private(follow_link(path), encode_snapshot(facts))
    except OSError as error:
        raise SnapshotError(f"{path} can't be written ({error.strerror}); name another file with -o") from error


def encode_snapshot(facts: Facts) -> bytes:
    """The facts as bytes of a snapshot; raises SnapshotError if it would be too large to read."""
    # ASCII alone: names and values in any encoding survive as escapes, which JSON's own UTF-8 would not let through.
    data = format_json(mask_secrets(to_plain(facts))) + b"\n"
    if len(data) > MAX_FILE_BYTES:
        raise SnapshotError(
            f"these facts make a snapshot larger than the limit of {MAX_FILE_BYTES >> 20} MB; collect them again"
        )
    return data


def load(path: str) -> Facts:
    """Read a snapshot of this or an older schema, or of a newer one that differs in the minor number only.

    Raises SnapshotError for anything else: no file, too large, cut off, not JSON, not ours, of a newer major schema.
    """
    data = _read(path)
    facts = decode_json(data, Facts)
    if facts is not None and facts.schema.partition(".")[0] == SCHEMA.partition(".")[0]:
        return _reject_extremes(facts, path)
    document = _parse(path, data)
    schema = document.get("schema") if isinstance(document, dict) else None
    if not isinstance(schema, str) or not schema.partition(".")[0].isdigit():
        raise SnapshotError(f"{path} is not a mycnf snapshot; {HOW_TO_MAKE}")
    if schema.partition(".")[0] != SCHEMA.partition(".")[0]:
        raise SnapshotError(
            f"{path} has schema {escape_text(schema[:20])}, but this mycnf reads {SCHEMA}; update mycnf"
        )
    try:
        facts = to_value(document, Facts)
    except ShapeError as error:
        where = escape_text(error.place)[:100]
        raise SnapshotError(f"{path} is a damaged snapshot at {where!r} ({error.words}); collect it again") from error
    return _reject_extremes(facts, path)


def _reject_extremes(facts: Facts, path: str) -> Facts:
    if part := extreme_part(facts):
        raise SnapshotError(
            f"{path} is a damaged snapshot: no server has such a number as its {part}; collect it again"
        )
    return facts


def _read(path: str) -> bytes:
    if not os.path.exists(path):
        raise SnapshotError(f"{path or repr(path)} does not exist; make a snapshot with mycnf collect -o FILE")
    if not os.path.isfile(path):
        raise SnapshotError(f"{path} is not a regular file; give a snapshot made with mycnf collect -o FILE")
    try:
        with open(path, "rb") as file:
            # Asked for more than it needs, Python would first find room for all of it.
            data = file.read(min(os.fstat(file.fileno()).st_size, MAX_FILE_BYTES) + 1)
    except OSError as error:
        raise SnapshotError(f"{path} can't be read ({error.strerror}); check its owner and mode") from error
    if len(data) > MAX_FILE_BYTES:
        raise SnapshotError(f"{path} is larger than {MAX_FILE_BYTES >> 20} MB, which no snapshot is; give another file")
    return data


def _parse(path: str, data: bytes) -> Any:
    if len(data) > MAX_JSON_BYTES:
        raise SnapshotError(
            f"{path} is damaged, or is not a mycnf snapshot; collect it again with mycnf collect -o FILE"
        )
    try:
        return json.loads(data)
    except UnicodeDecodeError as error:
        raise SnapshotError(f"{path} is not text; give a snapshot made with mycnf collect -o FILE") from error
    except RecursionError as error:
        raise SnapshotError(f"{path} is nested too deeply for a snapshot; collect it again") from error
    except json.JSONDecodeError as error:
        if data.lstrip()[:1] == b"{":
            words = f"is cut off or damaged (line {error.lineno}); collect it again with mycnf collect -o FILE"
        elif data.strip():
            words = f"is not a mycnf snapshot; {HOW_TO_MAKE} (mycnf lint reads option files, mycnf audit --from texts)"
        else:
            words = f"is empty; {HOW_TO_MAKE}"
        raise SnapshotError(f"{path} {words}") from error
    except ValueError as error:  # a number of thousands of digits
        raise SnapshotError(f"{path} contains a number that is not valid in a snapshot; collect it again") from error


LARGEST_NUMBER = 1e30  # 64 bits hold 1.8e19
INFINITE = float("inf")
UNBOUNDED = "probes"  # results may be infinite: what one round alone could have detected
NUMBERS = frozenset({int, float})
TYPES_BESIDE_NUMBERS = frozenset({str, bool, type(None)})
TYPES_WITHOUT_NUMBERS = (str, bool, str | None, dict[str, str], tuple[str, ...])  # types of fields that hold no number


def extreme_part(facts: Facts) -> str:
    """The first part that contains a number beyond LARGEST_NUMBER, or NaN; empty if there is none."""
    for name in facts.__struct_fields__:
        if _is_extreme(getattr(facts, name), infinite=name == UNBOUNDED):
            return name
    return ""


def _is_extreme(value: Any, *, infinite: bool) -> bool:
    kind: Any = type(value)
    if kind in NUMBERS:
        return not (abs(value) < LARGEST_NUMBER or (infinite and abs(value) == INFINITE))
    if kind in TYPES_BESIDE_NUMBERS:
        return False
    if kind is dict:
        return _holds_extreme(value.values(), infinite=infinite)
    if kind in (tuple, list):
        return _holds_extreme(value, infinite=infinite)
    for name in _numeric_fields(kind) or ():
        member = getattr(value, name)
        of = type(member)  # a few hundred of a snapshot are numbers of no great size
        if of in TYPES_BESIDE_NUMBERS or (of is int and -LARGEST_NUMBER < member < LARGEST_NUMBER):
            continue
        if _is_extreme(member, infinite=infinite):
            return True
    return False


def _holds_extreme(members: Collection[Any], *, infinite: bool) -> bool:
    """Check many values: thousands of counters, texts, or rows of texts are accepted in one step."""
    kinds = set(map(type, members))
    if all(kind in TYPES_BESIDE_NUMBERS or _numeric_fields(kind) == () for kind in kinds):
        return False
    if kinds <= NUMBERS and all(map(LARGEST_NUMBER.__gt__, map(abs, members))):
        return False
    return any(_is_extreme(member, infinite=infinite) for member in members)


@cache
def _numeric_fields(kind: type) -> tuple[str, ...] | None:
    """The fields of a part that may contain numbers; None for a value without fields."""
    if not issubclass(kind, Struct):
        return None
    types = kind.__annotations__
    return tuple(name for name in kind.__struct_fields__ if types[name] not in TYPES_WITHOUT_NUMBERS)


class ShapeError(ValueError):
    """A part of a document is invalid: `place` is its path, `words` says what is wrong."""

    def __init__(self, place: str, words: str) -> None:
        super().__init__(f"{place}: {words}")
        self.place = place
        self.words = words


def to_value(document: object, kind: type[T]) -> T:
    """The document as a value of that type; fields that the type does not have are ignored. Raises ShapeError."""
    try:
        return msgspec.convert(document, kind)
    except msgspec.ValidationError as error:
        placed = re.fullmatch(_PLACE, str(error), re.DOTALL)
        words, place = (placed[1], placed[2] or "") if placed else (str(error), "")
        raise ShapeError(place, words.replace("`", "")) from error
    except UnicodeEncodeError as error:  # half a character in a name, which JSON's escapes can write
        raise ShapeError("", "a name that is no text") from error


def decode_json(data: bytes, kind: type[T]) -> T | None:
    """Decode JSON to a value in one step, in half the time; None if it needs the slow path.

    That is everything wrong, and what is right for the standard library alone: surrogates, NaN.
    """
    try:
        return msgspec.json.decode(data, type=kind)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None


def to_plain(value: object) -> Any:
    """The value as dictionaries, lists, strings and numbers, for JSON."""
    return msgspec.to_builtins(value)


def format_json(document: object) -> bytes:
    """Plain values as JSON with one name per line, in ASCII only."""
    flat = json.dumps(document, ensure_ascii=True).encode("ascii")
    try:
        # The standard library writes in C only what it doesn't indent: four times as fast, and the bytes are the same.
        return msgspec.json.format(flat, indent=1)
    except (msgspec.DecodeError, RecursionError):  # half characters, NaN
        return json.dumps(document, ensure_ascii=True, indent=1).encode("ascii")


def fit_snapshot(facts: Facts) -> Facts:
    """The facts without their largest parts if they exceed the size of a snapshot; each omitted part has its reason."""
    snapshot = to_plain(facts)
    whole = json_size(snapshot)
    if whole <= MAX_FACTS_BYTES:
        return facts
    weights = part_sizes(snapshot)
    for part in sorted(weights, key=lambda part: weights[part], reverse=True):
        if whole <= MAX_FACTS_BYTES:
            break
        whole -= weights[part]
        facts = _drop_part(facts, part, weights[part])
    return facts


def part_sizes(snapshot: dict[str, Any]) -> dict[str, int]:
    """Size in bytes of each part of unlimited length in a snapshot's plain values."""
    server = snapshot["server"]
    of_server = {part: part.removeprefix(SERVER_PREFIX) for part in EMPTY if part.startswith(SERVER_PREFIX)}
    # What has its default may be missing among plain values.
    found = {part: json_size(server.get(name), depth=2) for part, name in of_server.items()}
    return found | {part: json_size(snapshot.get(part), depth=1) for part in EMPTY if part not in found}


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
        f"left out, because a snapshot has at most {MAX_FACTS_BYTES >> 20} MB and this alone would take "
        f"{size / (1 << 20):.1f}"
    )
    noted = (*(one for one in facts.unavailable if one.part != part), Unavailable(part, why))
    if name == part:
        return replace(facts, unavailable=noted, **{part: EMPTY[part]})
    return replace(facts, unavailable=noted, server=replace(facts.server, **{name: EMPTY[part]}))
