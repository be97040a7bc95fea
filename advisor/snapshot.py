"""Facts on disk: collected here, analysed anywhere."""

from __future__ import annotations

import json
import os
from typing import Any

from pydantic import TypeAdapter, ValidationError

from advisor.exits import MycnfError
from advisor.facts import SCHEMA, Facts
from advisor.privatefile import replace_private
from advisor.redact import clean

LARGEST = 256 << 20  # bytes: a busy server's facts take less than one megabyte
_FACTS: TypeAdapter[Facts] = TypeAdapter(Facts)


class SnapshotError(MycnfError):
    """A snapshot can't be written, or what was given is none; the message is one line with the remedy."""


def save(facts: Facts, path: str) -> None:
    """Write a snapshot, readable by its owner alone; the file is whole or not there. Raises SnapshotError."""
    if os.path.exists(path) and not os.path.isfile(path):
        raise SnapshotError(f"{path} is no regular file and won't be replaced; give a file with -o")
    # ASCII alone: names and values in any encoding survive as escapes, which JSON's own UTF-8 would not let through.
    text = json.dumps(_FACTS.dump_python(facts, mode="json"), ensure_ascii=True, indent=1) + "\n"
    try:
        replace_private(path, text.encode("ascii"))
    except OSError as error:
        raise SnapshotError(f"{path} can't be written ({error.strerror}); give another place with -o") from error


def load(path: str) -> Facts:
    """Read a snapshot of this or an older schema, or of a newer one that differs in the minor number only.

    Raises SnapshotError for anything else: no file, too large, cut off, not JSON, not ours, of a newer major schema.
    """
    found = _parse(path, _read(path))
    schema = found.get("schema") if isinstance(found, dict) else None
    if not isinstance(schema, str) or not schema.partition(".")[0].isdigit():
        raise SnapshotError(f"{path} is no snapshot of mycnf; make one with mycnf collect -o FILE")
    if int(schema.partition(".")[0]) != int(SCHEMA.partition(".")[0]):
        raise SnapshotError(f"{path} has schema {clean(schema[:20])}, this mycnf reads {SCHEMA}; update mycnf")
    try:
        return _FACTS.validate_python(found)
    except ValidationError as error:
        first = error.errors()[0]
        where = clean(".".join(str(part) for part in first["loc"]))[:100]
        raise SnapshotError(f"{path} is a damaged snapshot at {where!r} ({first['msg']}); collect it again") from error


def _read(path: str) -> bytes:
    if not os.path.exists(path):
        raise SnapshotError(f"{path} does not exist; make a snapshot with mycnf collect -o FILE")
    if not os.path.isfile(path):
        raise SnapshotError(f"{path} is no regular file; give a snapshot made with mycnf collect -o FILE")
    try:
        with open(path, "rb") as file:
            data = file.read(LARGEST + 1)
    except OSError as error:
        raise SnapshotError(f"{path} can't be read ({error.strerror}); check its owner and mode") from error
    if len(data) > LARGEST:
        raise SnapshotError(f"{path} is larger than {LARGEST >> 20} MB, which no snapshot is; give another file")
    return data


def _parse(path: str, data: bytes) -> Any:
    try:
        return json.loads(data)
    except UnicodeDecodeError as error:
        raise SnapshotError(f"{path} is no text; give a snapshot made with mycnf collect -o FILE") from error
    except RecursionError as error:
        raise SnapshotError(f"{path} is nested too deeply for a snapshot; collect it again") from error
    except json.JSONDecodeError as error:
        kind = "is cut off or damaged" if data.lstrip()[:1] == b"{" else "is no snapshot of mycnf"
        raise SnapshotError(
            f"{path} {kind} (line {error.lineno}); collect it again with mycnf collect -o FILE"
        ) from error
    except ValueError as error:  # a number of thousands of digits
        raise SnapshotError(f"{path} holds a number that is none of a snapshot; collect it again") from error
