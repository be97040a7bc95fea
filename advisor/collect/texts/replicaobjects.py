"""What a replica says of its sources in JSON: rows of MySQL Shell and of programs, and Ansible's `slave_status`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from advisor.collect.texts.objects import DEEPEST, as_text
from advisor.collect.texts.replicas import is_replica, latest, read

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from advisor.collect.texts.replicas import Row

_LEVELS = 3  # Ansible takes host, port and user of the source for keys, one in the other


def replicas_in(values: Iterable[Any]) -> tuple[Row, ...] | None:
    """A row for each source that they tell of, its last state; None where they don't tell."""
    rows = [read(row) for value in values for row in _rows(value, ())]
    return latest(rows) if rows else None


def _rows(value: Any, keys: tuple[str, ...]) -> Iterator[Row]:
    if isinstance(value, dict) and is_replica(value):
        plain = {name: one for name, one in value.items() if not isinstance(one, (list, dict))}
        yield {**_source(plain, keys), **{name: None if one is None else as_text(one) for name, one in plain.items()}}
    elif len(keys) < DEEPEST:
        inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
        for key, one in inner:
            yield from _rows(one, (*keys, str(key)))


def _source(row: Row, keys: tuple[str, ...]) -> Row:
    """Host, port and user of the source where a row leaves them to the keys above it."""
    word = "Source" if "Source_Log_File" in row else "Master"
    if f"{word}_Host" in row or len(keys) < _LEVELS:
        return {}
    return dict(zip((f"{word}_Host", f"{word}_Port", f"{word}_User"), keys[-_LEVELS:], strict=True))
