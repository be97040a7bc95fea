"""A folder of examples/lab with a scenario.toml: servers, what is done to them, and what an audit must report."""

from __future__ import annotations

import os
import tomllib
from typing import Literal, NamedTuple

from labfolder import LabError
from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

FILE = "scenario.toml"
NODES = {
    "single": ("server",),
    "chain": ("source", "replica"),
    "relay": ("source", "intermediate", "replica"),
    "galera": ("node1", "node2", "node3"),
    "group": ("member1", "member2", "member3"),
}


class _Table(BaseModel):
    """A table of scenario.toml: every key is known, and every value has its type."""

    model_config = ConfigDict(extra="forbid", strict=True)


class Data(_Table):
    """The tables of the load, on the first node."""

    rows: int
    tables: int = 1


class Volume(_Table):
    """A file system of its own for the server, mounted from a file of `megabytes`.

    Option lines name its directory as {volume}. `tmpdir` is whether it is the server's tmpdir, which an option line
    cannot set for a throwaway server.
    """

    megabytes: int
    tmpdir: bool = False


class Step(_Table):
    """One step on the node `on`.

    `run` are statements, of the session with the name `session` if there is one, which stays open. `start` is a
    statement whose end is not awaited; it is executed again after `every` seconds, until the scenario ends. `load` is a
    workload that runs until the scenario ends. `until` is a query that is repeated until its first value is `equals`.
    `signal` goes to the server's process. `restart` starts the server again, after a signal that ended it or in order.
    `fill` writes a file to the volume until so many kilobytes are left, `empty` removes it.
    """

    on: str = ""
    session: str = ""
    run: list[str] = []
    start: str = ""
    every: float = 0.0
    load: str = ""
    threads: int = 4
    until: str = ""
    equals: str = ""
    signal: Literal["", "STOP", "CONT", "KILL"] = ""
    restart: bool = False
    fill: int | None = None
    empty: bool = False

    @model_validator(mode="after")
    def _one_thing(self) -> Step:
        names = ("run", "start", "load", "until", "signal", "restart", "empty")
        done = [*(name for name in names if getattr(self, name)), *(["fill"] if self.fill is not None else ())]
        if len(done) != 1:
            raise ValueError(f"a step does one thing, not {', '.join(done) or 'nothing'}")
        return self


class After(_Table):
    """What is true once the advice has been applied as printed.

    The findings in `found` are expected not to be reported again. `until` is a query on the node `on` whose first
    value becomes `equals`. `steps` carry out what the advice asks for in words. `by_hand` is the reason why none of it
    can be done by a script.
    """

    steps: list[Step] = []
    on: str = ""
    until: str = ""
    equals: str = ""
    by_hand: str = ""


class _Document(_Table):
    server: str
    topology: Literal["single", "chain", "relay", "galera", "group"] = "single"
    audit: str = ""
    found: list[str]
    others: list[str] = []
    absent: list[str] = []
    tuner: str = ""
    arguments: list[str] = []
    window: float = 5.0
    aged: int = 3600
    data: Data | None = None
    volume: Volume | None = None
    provider_options: dict[str, str] = {}
    steps: list[Step] = Field(default=[])
    after: After = After()


class Scenario(NamedTuple):
    """One scenario.

    An audit of the node `audit` must have one of the codes `found` among its first three findings; without any, the
    servers are in order and no error or warning may be reported. `others` are the codes of further errors and warnings
    that are true of these servers, `absent` those that would be false. `tuner` is a regular expression for what
    MySQLTuner would print about the fault. `arguments` are added to the audit's command line, and `aged` seconds to
    the server's uptime. `provider_options` are those of Galera's provider, by node.
    """

    name: str
    folder: str
    title: str
    server: str
    topology: str
    audit: str
    found: tuple[str, ...]
    others: tuple[str, ...]
    absent: tuple[str, ...]
    tuner: str
    arguments: tuple[str, ...]
    window: float
    aged: int
    data: Data | None
    volume: Volume | None
    provider_options: dict[str, str]
    steps: tuple[Step, ...]
    after: After

    @property
    def nodes(self) -> tuple[str, ...]:
        """The names of the servers."""
        return NODES[self.topology]

    def option_lines(self, node: str, place: str) -> str:
        """The node's own option lines, from NODE.cnf; empty without one. `place` is the scenario's directory."""
        path = os.path.join(self.folder, f"{node}.cnf")
        if not os.path.exists(path):
            return ""
        with open(path, encoding="utf-8") as file:
            return file.read().replace("{volume}", volume_directory(place))


def volume_directory(place: str) -> str:
    """Where the volume of a scenario is mounted."""
    return os.path.join(place, "volume")


def scenarios(folder: str) -> list[Scenario]:
    """All scenarios by name; raises LabError for an incomplete one."""
    found = sorted(entry.path for entry in os.scandir(folder) if os.path.exists(os.path.join(entry.path, FILE)))
    return [read_scenario(path) for path in found]


def read_scenario(folder: str) -> Scenario:
    """Read one folder; raises LabError if something is missing, unknown or out of range."""
    name = os.path.basename(folder)
    path = os.path.join(folder, FILE)
    try:
        with open(path, encoding="utf-8") as file:
            text = file.read()
        document = _Document.model_validate(tomllib.loads(text))
    except ValidationError as error:
        faults = (f"{'.'.join(map(str, fault['loc']))}: {fault['msg']}" for fault in error.errors())
        raise LabError(f"{name}/{FILE} can't be used: {'; '.join(faults)}") from error
    except (OSError, ValueError) as error:
        raise LabError(f"{name}/{FILE} can't be used: {error}") from error
    nodes = NODES[document.topology]
    used = {step.on for step in document.steps} | {document.after.on, document.audit, *document.provider_options}
    if unknown := used - {"", *nodes}:
        raise LabError(f"{name}/{FILE}: {', '.join(sorted(unknown))} is none of its nodes ({', '.join(nodes)})")
    return Scenario(
        name=name,
        folder=folder,
        title=_title(text),
        server=document.server,
        topology=document.topology,
        audit=document.audit or nodes[0],
        found=tuple(document.found),
        others=tuple(document.others),
        absent=tuple(document.absent),
        tuner=document.tuner,
        arguments=tuple(document.arguments),
        window=document.window,
        aged=document.aged,
        data=document.data,
        volume=document.volume,
        provider_options=document.provider_options,
        steps=tuple(step if step.on else step.model_copy(update={"on": nodes[0]}) for step in document.steps),
        after=document.after,
    )


def _title(text: str) -> str:
    """The comment at the top of the file."""
    lines = []
    for line in text.splitlines():
        if not line.startswith("#"):
            break
        lines.append(line.removeprefix("#").strip())
    return " ".join(lines)
