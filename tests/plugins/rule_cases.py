"""Case tables of rules as what rules read: files written and resolved, hosts and servers made of a few words."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from advisor.assemble import know
from advisor.catalog.load import load
from advisor.catalog.targets import parse_target
from advisor.config.house import house_rules
from advisor.facts import Facts, FileCopy, Files, Host, Replication, Sample, Server, VariableOrigin, Workload
from advisor.facts.host import (
    BlockDevice,
    Cgroup,
    Cpu,
    Hypervisor,
    Memory,
    Mount,
    NumaNode,
    OperatingSystem,
    Process,
    Storage,
    Stripe,
)
from advisor.facts.server import Link
from advisor.model import Absent
from advisor.optionfile import resolve
from advisor.verdict import judge_file
from advisor.verdict.settings import Settings
from rules.known import NO_HOUSE, Known

if TYPE_CHECKING:
    from advisor.model import Target

TABLES = Path(__file__).resolve().parents[1] / "rules" / "cases"
TOP = "/etc/mysql/my.cnf"


@dataclass(frozen=True)
class Case:
    """One row of a case table: what is given, and the severity that the rule finds, empty where it is silent."""

    rule: str
    says: str
    target: str
    file: str = ""
    finds: str = ""
    about: str = ""
    more: dict[str, str] = field(default_factory=dict)
    modes: dict[str, int] = field(default_factory=dict)
    host: dict[str, Any] | None = None
    server: dict[str, Any] | None = None
    workload: dict[str, Any] | None = None
    house: dict[str, Any] | None = None

    def __str__(self) -> str:
        return f"{self.rule}: {self.says}"

    @property
    def text(self) -> str:
        """The main file, under [mysqld] where the case names no group."""
        return self.file if "[" in self.file or not self.file else f"[mysqld]\n{self.file}"


def all_cases() -> list[Case]:
    """Every row of every table."""
    tables = [tomllib.loads(p.read_text("utf-8")) for p in sorted(TABLES.glob("*.toml"))]
    return [Case(rule, **row) for table in tables for rule, rows in table.items() for row in rows]


def known_of(case: Case, folder: Path) -> Known:
    """What the rules may read in this case; files lie in `folder`."""
    target = parse_target(case.target)
    return _audited(case, target) if case.server is not None else _linted(case, target, folder)


def _linted(case: Case, target: Target, folder: Path) -> Known:
    top = folder / "my.cnf"
    for name, text in {"my.cnf": case.text, **case.more}.items():
        (folder / name).write_text(text.replace("FOLDER", str(folder)), "utf-8")
        (folder / name).chmod(case.modes.get(name, 0o644))
    resolved = resolve([str(top)], flavour=target.flavour, version=target.version)
    verdict = judge_file(resolved, load(target))
    host = host_of(case.host) if case.host is not None else Absent("the host")
    house = house_rules(case.house) if case.house is not None else NO_HOUSE
    return Known(target, load(target), Settings.from_file(verdict), verdict, host=host, house=house)


def _audited(case: Case, target: Target) -> Known:
    known = know(facts_of(case, target))
    if case.house is not None:
        known.parts["house"] = house_rules(case.house)
    return known


def facts_of(case: Case, target: Target) -> Facts:
    """What was collected of a server in this case."""
    said = case.server or {}
    catalog = load(target)
    files = _files(case, said)
    verdict = judge_file(resolve([TOP], flavour=target.flavour, version=target.version, loader=files.read), catalog)
    settings = Settings.from_file(verdict)
    texts = {o.variable: settings.text(o.variable) for o in map(catalog.get, catalog.options) if o and o.variable}
    variables = {n: t for n, t in texts.items() if t is not None} | said.get("variables", {})
    set_by = {
        line.option.variable: "GLOBAL" for line in verdict.effective.values() if line.option and line.option.variable
    }
    origins = dict.fromkeys(variables, "COMPILED") | set_by | said.get("origins", {})
    parts = said.get("replication")
    server = Server(
        flavour=target.flavour,
        version=target.number,
        version_comment="",
        vendor="",
        link=Link("socket"),
        variables=variables,
        status={k: str(v) for k, v in said.get("status", {}).items()},
        origins={n: VariableOrigin(s, TOP if s == "GLOBAL" else "") for n, s in origins.items()},
        replication=Replication(**parts) if parts is not None else None,
        managed=said.get("managed", ""),
    )
    return Facts(
        schema="1.0",
        tool="test",
        taken_at="",
        server=server,
        workload=_workload(case.workload) if case.workload is not None else None,
        host=host_of(case.host) if case.host is not None else None,
        files=files,
    )


def _files(case: Case, said: dict[str, Any]) -> Files:
    copy = FileCopy(TOP, case.text, mode=said.get("mode", 0o644), secret_lines=tuple(said.get("secret_lines", ())))
    return Files((copy,))


def _workload(said: dict[str, Any]) -> Workload:
    seconds, uptime = said.get("seconds", 10.0), said.get("uptime", 86400.0)
    rises: dict[str, int] = said.get("rises", {})
    redo = said.get("redo")
    first = Sample(uptime - seconds, dict.fromkeys(rises, 1000), None if redo is None else 10**9)
    last = Sample(uptime, {n: 1000 + by for n, by in rises.items()}, None if redo is None else 10**9 + redo)
    return Workload(first, last)


def host_of(said: dict[str, Any]) -> Host:
    """A host of the few things that a case names; sizes are bytes."""
    nodes = tuple(NumaNode(i, (i,), size) for i, size in enumerate(said.get("nodes", ())))
    hypervisor = Hypervisor(said["hypervisor"], "full") if "hypervisor" in said else None
    memory = said.get("memory")
    return Host(
        cpu=Cpu(logical=4, online=(0, 1, 2, 3), kinds=(), cores=4, sockets=1, nodes=nodes, hypervisor=hypervisor),
        memory=Memory(**memory) if memory else None,
        cgroup=Cgroup(2, "/mysql", **said["cgroup"]) if "cgroup" in said else None,
        storage=_storage(said) if "disks" in said else None,
        process=Process(1, "mysqld", **said["process"]) if "process" in said else None,
        os=OperatingSystem(time=said["time"]) if "time" in said else None,
    )


def _storage(said: dict[str, Any]) -> Storage:
    disks = tuple(
        BlockDevice(name=d["kernel_name"], number="8:0", type="disk", size=10**12, **d) for d in said["disks"]
    )
    mount = Mount(
        "/var/lib/mysql", said.get("fs_type", "ext4"), "/dev/sda1", options=tuple(said.get("mount_options", ()))
    )
    stripe = Stripe(source="md", device="md0", **said["stripe"]) if "stripe" in said else None
    return Storage("/var/lib/mysql", mount, disks, stripe)
