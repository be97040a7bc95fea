"""Read mysqld-auto.cnf, in which MySQL 8 and later store variables set by `SET PERSIST`."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any, NamedTuple

from advisor.facts.files import WORLD_WRITABLE, PersistedOption
from advisor.redaction.secrets import redact_value

if TYPE_CHECKING:
    from collections.abc import Iterator

NAME = "mysqld-auto.cnf"
LARGEST = 4 << 20  # bytes; a thousand variables take a tenth of that
DEEPEST = 4  # maximum nesting of objects; the servers use two levels
VALUE = "Value"


class PersistedFile(NamedTuple):
    """The variables that a server reads from the file, the reason if it ignores the file, and the modification time.

    `options` is None if the file cannot be read, or if the server would stop at it.
    """

    options: tuple[PersistedOption, ...] | None
    problem: str = ""
    changed: float = 0.0


def read_persisted(path: str) -> PersistedFile:
    """The persisted variables with their locations, secrets masked; in both formats, that of 8.0.15 and that of 9.7."""
    try:
        with open(path, "rb") as file:
            state = os.fstat(file.fileno())
            text = file.read(LARGEST).decode("utf-8", "replace")
    except FileNotFoundError:
        return PersistedFile(())
    except OSError as error:
        return PersistedFile(None, f"it can't be read ({error.strerror}): run as root or as the server's account")
    changed = state.st_ctime
    if state.st_mode & WORLD_WRITABLE:
        return PersistedFile((), "it is world-writable, so the server ignores it: chmod o-w", changed)
    try:
        told = json.loads(text)
    except (ValueError, RecursionError):
        told = None
    if not isinstance(told, dict) or "Version" not in told:
        return PersistedFile(None, "it is no JSON of the server's making, at which the server stops", changed)
    found = tuple(_option(name, value, text, section) for name, value, section in _named_values(told, DEEPEST))
    return PersistedFile(found, "", changed)


def _named_values(node: dict[str, Any], levels: int, section: str = "") -> Iterator[tuple[str, str, str]]:
    """Every name with a value, and its section; the nesting depends on the version."""
    for name, child in node.items():
        if isinstance(child, dict) and isinstance(child.get(VALUE), str):
            yield name, child[VALUE], section
        elif isinstance(child, dict) and levels:
            yield from _named_values(child, levels - 1, name)


def _option(name: str, value: str, text: str, section: str) -> PersistedOption:
    at = max(0, text.find(json.dumps(name, ensure_ascii=False)))
    line_start = text.rfind("\n", 0, at) + 1
    line, column = text.count("\n", 0, at) + 1, at - line_start + 1
    return PersistedOption(name, redact_value(name, value), line, column, section)
