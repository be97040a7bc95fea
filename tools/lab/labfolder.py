"""A folder of examples/lab: a misconfigured server and its measurement, defined before the first run."""

from __future__ import annotations

import os
import tomllib
from typing import Any, NamedTuple

from advisor.core.errors import MycnfError
from advisor.facts.probes import Metric
from probes.workload.scans import ScanTable
from probes.workload.statements import OLTP, StatementMix, TransactionStep
from probes.workload.tables import TableShape

FEWEST_ROUNDS = 5
UNITS = {"tps": "transactions/s", "qps": "queries/s", "p95": "ms"}
TOP = frozenset(("server", "fault", "warm", "seconds", "rounds", "data", "workload", "metric", "memory"))
OPTIONAL = frozenset(("memory",))
SBTEST = frozenset(("kind", "rows", "tables"))
SCAN = frozenset(("kind", "engine", "bytes", "row_length"))
WORKLOAD = frozenset(("name", "threads", "access", "span", "connecting", "steps"))
KNOWN = frozenset(("name", "threads", "access"))  # keys of a known workload; other keys define a new one


class LabError(MycnfError):
    """A folder cannot be used, or its server cannot be measured; the message is one line with the remedy."""


class Lab(NamedTuple):
    """One misconfigured server.

    `fault` is the option that its file sets wrongly, `memory` the limit of its control group in bytes, `seconds` the
    measuring time of a block, after the load ran unmeasured for `warm` seconds.
    """

    name: str
    option_file: str
    server: str
    fault: str
    data: TableShape | ScanTable
    workload: StatementMix
    threads: int
    access: str
    metric: Metric
    warm: int
    seconds: int
    rounds: int
    memory: int | None = None

    @property
    def rows(self) -> int:
        """The rows of a table in the workload."""
        return self.data.rows

    @property
    def tables(self) -> int:
        """The number of tables."""
        return self.data.tables if isinstance(self.data, TableShape) else 1


def labs(folder: str) -> list[Lab]:
    """All labs by name; raises LabError for an incomplete one."""
    found = sorted(entry.path for entry in os.scandir(folder) if os.path.exists(os.path.join(entry.path, "lab.toml")))
    return [read(path) for path in found]


def read(folder: str) -> Lab:
    """Read one folder; raises LabError if something is missing, unknown or out of range."""
    name = os.path.basename(folder)
    option_file = os.path.join(folder, "my.cnf")
    try:
        with open(os.path.join(folder, "lab.toml"), "rb") as file:
            told = tomllib.load(file)
        if not os.path.exists(option_file):
            raise LabError(f"{name}: there is no my.cnf")
        _fields(told, TOP, OPTIONAL)
        if told["rounds"] < FEWEST_ROUNDS:
            raise LabError(f"{name}: {told['rounds']} rounds are too few, give {FEWEST_ROUNDS} or more")
        return Lab(
            name=name,
            option_file=option_file,
            server=told["server"],
            fault=told["fault"],
            data=_data(told["data"]),
            workload=_workload(told["workload"]),
            threads=int(told["workload"]["threads"]),
            access=told["workload"]["access"],
            metric=_metric(told["metric"]),
            warm=int(told["warm"]),
            seconds=int(told["seconds"]),
            rounds=told["rounds"],
            memory=size(told["memory"]) if "memory" in told else None,
        )
    except (OSError, tomllib.TOMLDecodeError, KeyError, TypeError, ValueError) as error:
        raise LabError(f"{name}/lab.toml can't be used: {error}") from error


def size(text: str) -> int:
    """Bytes of a size such as 512M or 1G; raises ValueError for anything else."""
    number, letter = text[:-1], text[-1:].upper()
    steps = {"K": 10, "M": 20, "G": 30}
    if letter not in steps or not number.isdigit():
        raise ValueError(f"{text!r} is no size such as 512M")
    return int(number) << steps[letter]


def _data(told: dict[str, Any]) -> TableShape | ScanTable:
    if told["kind"] == "sbtest":
        _fields(told, SBTEST)
        return TableShape(told["rows"], told["tables"])
    if told["kind"] != "scan":
        raise ValueError(f"data of kind {told['kind']!r}: there is sbtest and scan")
    _fields(told, SCAN)
    return ScanTable(size(told["bytes"]), told["row_length"], told["engine"])


def _workload(told: dict[str, Any]) -> StatementMix:
    if told["access"] not in ("uniform", "pareto"):
        raise ValueError(f"access {told['access']!r}: there is uniform and pareto")
    if "steps" not in told:
        _fields(told, KNOWN)
        return OLTP[told["name"]]
    _fields(told, WORKLOAD, frozenset(("span", "connecting")))
    steps = tuple(TransactionStep(tuple(step["statements"]), step.get("times", 1)) for step in told["steps"])
    return StatementMix(told["name"], steps, span=told.get("span", 100), connecting=told.get("connecting", False))


def _metric(told: dict[str, str]) -> Metric:
    _fields(told, frozenset(("name", "better")))
    if told["better"] not in ("more", "less"):
        raise ValueError(f"better = {told['better']!r}: it is more or less")
    return Metric(told["name"], UNITS[told["name"]], told["better"])


def _fields(told: dict[str, Any], names: frozenset[str], optional: frozenset[str] = frozenset()) -> None:
    if unknown := sorted(told.keys() - names):
        raise ValueError(f"unknown: {', '.join(unknown)}")
    if missing := sorted(names - optional - told.keys()):
        raise ValueError(f"missing: {', '.join(missing)}")
