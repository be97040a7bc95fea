"""A folder of examples/lab: a misconfigured server and its measurement, defined before the first run."""

from __future__ import annotations

import os
import tomllib
from typing import Annotated, Literal, NamedTuple

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from advisor.core.errors import MycnfError
from advisor.facts.probes import Metric
from probes.workload.load import OLTP, StatementMix, TransactionStep
from probes.workload.tables import ScanTable, TableShape

FEWEST_ROUNDS = 5
UNITS = {"tps": "transactions/s", "qps": "queries/s", "p95": "ms"}


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


def size(text: str) -> int:
    """Bytes of 512M or 1G. Raises ValueError for anything else."""
    number, letter = text[:-1], text[-1:].upper()
    steps = {"K": 10, "M": 20, "G": 30}
    if letter not in steps or not number.isdigit():
        raise ValueError(f"{text!r} is no size such as 512M")
    return int(number) << steps[letter]


Bytes = Annotated[int, BeforeValidator(size)]


class _Table(BaseModel):
    """A table of lab.toml: every key is known, and every value has its type."""

    model_config = ConfigDict(extra="forbid", strict=True)


class _Sbtest(_Table):
    kind: Literal["sbtest"]
    rows: int
    tables: int

    def shape(self) -> TableShape:
        return TableShape(self.rows, self.tables)


class _Scan(_Table):
    kind: Literal["scan"]
    engine: str
    bytes: Bytes
    row_length: int

    def shape(self) -> ScanTable:
        return ScanTable(self.bytes, self.row_length, self.engine)


class _Step(_Table):
    statements: list[str]
    times: int = 1


class _Workload(_Table):
    """A workload that is known by its name, or one of these steps."""

    name: str
    threads: int
    access: Literal["uniform", "pareto"]
    steps: list[_Step] | None = None
    span: int = 100
    connecting: bool = False

    def mix(self) -> StatementMix:
        if self.steps is None:
            if described := self.model_fields_set & {"span", "connecting"}:
                raise ValueError(f"workload: {', '.join(sorted(described))} without steps")
            return OLTP[self.name]
        steps = tuple(TransactionStep(tuple(step.statements), step.times) for step in self.steps)
        return StatementMix(self.name, steps, span=self.span, connecting=self.connecting)


class _Metric(_Table):
    name: Literal["tps", "qps", "p95"]
    better: Literal["more", "less"]


class _Document(_Table):
    server: str
    fault: str
    memory: Bytes | None = None
    warm: int
    seconds: int
    rounds: int = Field(ge=FEWEST_ROUNDS)
    data: Annotated[_Sbtest | _Scan, Field(discriminator="kind")]
    workload: _Workload
    metric: _Metric


def labs(folder: str) -> list[Lab]:
    """All labs by name; raises LabError for an incomplete one."""
    found = sorted(entry.path for entry in os.scandir(folder) if os.path.exists(os.path.join(entry.path, "lab.toml")))
    return [read(path) for path in found]


def read(folder: str) -> Lab:
    """Read one folder; raises LabError if something is missing, unknown or out of range."""
    name = os.path.basename(folder)
    option_file = os.path.join(folder, "my.cnf")
    if not os.path.exists(option_file):
        raise LabError(f"{name}: there is no my.cnf")
    try:
        with open(os.path.join(folder, "lab.toml"), "rb") as file:
            document = _Document.model_validate(tomllib.load(file))
        workload = document.workload.mix()
    except ValidationError as error:
        faults = (f"{'.'.join(map(str, fault['loc']))}: {fault['msg']}" for fault in error.errors())
        raise LabError(f"{name}/lab.toml can't be used: {'; '.join(faults)}") from error
    except (OSError, KeyError, ValueError) as error:
        raise LabError(f"{name}/lab.toml can't be used: {error}") from error
    return Lab(
        name=name,
        option_file=option_file,
        server=document.server,
        fault=document.fault,
        data=document.data.shape(),
        workload=workload,
        threads=document.workload.threads,
        access=document.workload.access,
        metric=Metric(document.metric.name, UNITS[document.metric.name], document.metric.better),
        warm=document.warm,
        seconds=document.seconds,
        rounds=document.rounds,
        memory=document.memory,
    )
