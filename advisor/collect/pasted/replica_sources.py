"""Extract a replica's status of its sources from the lines of a text of any size."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from advisor.collect.pasted import markup
from advisor.collect.pasted.json import DEEPEST, as_text
from advisor.collect.pasted.replicas import (
    EMPTY,
    EMPTY_END,
    LARGEST,
    REPLICA_COLUMNS,
    clean_row,
    is_replica,
    latest_rows,
    replica_rows,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from advisor.collect.pasted.replicas import Row


_MARK = "*****"


class ReplicaSources:
    """Keeps the last row for each source from the lines that pass; `rows` is None if there is no replica status.

    Only a possible status is held in memory: from a row mark, a table's names or tag, or the statement on.
    """

    def __init__(self) -> None:
        self.rows: tuple[Row, ...] | None = None
        self._part: list[str] = []
        self._size = 0
        self._speaks = False

    def watch(self, lines: Iterable[str]) -> Iterator[str]:
        """Yield the lines unchanged."""
        for line in lines:
            tells = REPLICA_COLUMNS in line or EMPTY in line or EMPTY_END in line
            if line.startswith(_MARK) or markup.is_heading(line) or _is_statement(line) or (tells and _is_wide(line)):
                self._close(whole=True)
                self._part, self._size = [line], len(line)
                self._speaks = tells
            elif self._part:
                self._part.append(line)
                self._size += len(line)
                self._speaks = self._speaks or tells
                if self._size > LARGEST:
                    self._close(whole=True)
            yield line
        self._close(whole=False)

    def _close(self, *, whole: bool) -> None:
        """Keep the status in the held lines; `whole` is whether the last line is complete."""
        found = replica_rows("\n".join([*self._part, ""] if whole else self._part)) if self._speaks else None
        if found is not None:
            self.rows = latest_rows([*(self.rows or ()), *found])
        self._part, self._speaks = [], False


def _is_wide(line: str) -> bool:
    return REPLICA_COLUMNS in line and ("\t" in line or line.startswith("| ")) and "<field " not in line


def _is_statement(line: str) -> bool:
    upper = line.upper() if "tatus" in line or "TATUS" in line else ""
    return "SHOW " in upper and ("SLAVE" in upper or "REPLICA" in upper)


_LEVELS = 3  # Ansible nests rows under the host, port and user of the source


def replicas_in(values: Iterable[Any]) -> tuple[Row, ...] | None:
    """A row for each source in the values, with its last state; None if there is no replica status."""
    rows = [clean_row(row) for value in values for row in _rows(value, ())]
    return latest_rows(rows) if rows else None


def _rows(value: Any, keys: tuple[str, ...]) -> Iterator[Row]:
    if isinstance(value, dict) and is_replica(value):
        plain = {name: one for name, one in value.items() if not isinstance(one, (list, dict))}
        yield {**_source(plain, keys), **{name: None if one is None else as_text(one) for name, one in plain.items()}}
    elif len(keys) < DEEPEST:
        inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
        for key, one in inner:
            yield from _rows(one, (*keys, str(key)))


def _source(row: Row, keys: tuple[str, ...]) -> Row:
    """Host, port and user of the source, if a row has them only as keys of the objects around it."""
    word = "Source" if "Source_Log_File" in row else "Master"
    if f"{word}_Host" in row or len(keys) < _LEVELS:
        return {}
    return dict(zip((f"{word}_Host", f"{word}_Port", f"{word}_User"), keys[-_LEVELS:], strict=True))
