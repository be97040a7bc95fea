"""The evidence behind rules: sources, measurements, the versions they apply to, and their numbers."""

from __future__ import annotations

import os
import tomllib
from typing import Any, NamedTuple

FOLDER = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "evidence")


class Table(NamedTuple):
    """Published numbers; `values` are the points as numbers, `labels` as text.

    Each series has one number per point, in `unit`; None stands for a number that was not published.
    """

    x: str
    labels: tuple[str, ...]
    values: tuple[float, ...]
    unit: str
    series: dict[str, tuple[float | None, ...]]


class Evidence(NamedTuple):
    """One measurement, vendor statement, source code fact, server answer or opinion, with its conditions.

    `strength` is measured, server (real servers were asked), source-code, vendor-doc or expert-opinion.
    """

    id: str
    strength: str
    conclusion: str
    caveats: str
    versions: str
    hardware: str
    date: str
    title: str
    author: str
    url: str
    table: Table | None


_STORE: dict[str, Evidence] = {}


def find_evidence(identity: str) -> Evidence | None:
    """The evidence with this id, such as RBS-01; None if the store has none."""
    return all_evidence().get(identity.upper())


def all_evidence() -> dict[str, Evidence]:
    """All evidence by id, in the order of the files."""
    if not _STORE:
        for name in sorted(n for n in os.listdir(FOLDER) if n.endswith(".toml")):
            with open(os.path.join(FOLDER, name), "rb") as file:
                _STORE.update({key: _evidence(key, entry) for key, entry in tomllib.load(file).items()})
    return _STORE


def _evidence(identity: str, entry: dict[str, Any]) -> Evidence:
    table = entry.pop("table", None)
    return Evidence(id=identity, table=_table(table) if table else None, **entry)


def _table(entry: dict[str, Any]) -> Table:
    values = tuple(entry.get("values", ()))
    labels = entry.get("labels") or [_value_text(v, size=entry.get("size", False)) for v in values]
    series = {name: tuple(numbers) for name, numbers in entry["series"].items()}
    return Table(entry["x"], tuple(labels), values, entry["unit"], series)


def _value_text(value: float, *, size: bool) -> str:
    from advisor.core.sizes import exact_size

    return exact_size(int(value)) if size else f"{value:g}"
