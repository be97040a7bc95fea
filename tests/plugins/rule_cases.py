"""Case tables of rules, converted to rule contexts: files are written and resolved, hosts and servers built."""

from __future__ import annotations

import functools
import tomllib
from collections import defaultdict
from dataclasses import dataclass, field
from datetime import datetime
from itertools import starmap
from pathlib import Path
from typing import TYPE_CHECKING, Any

from advisor.analysis.context import build_context
from advisor.catalog import load
from advisor.catalog.targets import running_target
from advisor.config.read import parse_house_rules
from advisor.core.model import AbsentPart, Location
from advisor.facts import (
    BusyHour,
    Facts,
    FileCopy,
    Host,
    OptionFiles,
    PersistedOption,
    Replication,
    Sample,
    SampledHours,
    Server,
    Service,
    VariableOrigin,
    Workload,
)
from advisor.facts.host import Cgroup, Cpu, Hypervisor, IoLimit, Limit, Memory, NumaNode, OperatingSystem, Process
from advisor.facts.server import (
    Accounts,
    ApplierTimes,
    AutoIncrement,
    ChannelProgress,
    DataSizes,
    EngineTable,
    ErrorLog,
    GroupMember,
    Link,
    LogEvent,
    Plugin,
    RedoWaits,
    RedundantIndex,
    SchemaRisks,
    UnkeyedTable,
)
from advisor.facts.snapshot import to_value
from advisor.facts.storage import (
    BlockDevice,
    Mount,
    Raid,
    ServerFiles,
    ServerPath,
    Space,
    SpaceReading,
    Storage,
    Stripe,
)
from advisor.facts.workload import Blocking
from advisor.optionfile import resolve
from advisor.verdict import judge_file
from advisor.verdict.declared import DeclaredOption, DeclaredSet, ProviderParameter
from advisor.verdict.managed import judge_managed
from advisor.verdict.settings import Settings
from rules import find_rule
from rules.core.context import NO_HOUSE, RuleContext
from rules.measured.answers import LocalAnswer
from rules.replication.chain import Chain, ChainServer, SourceLink

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from advisor.core.model import Finding, Target

UUIDS = [f"{i:08x}-e8dd-11f1-af45-02fc00000001" for i in range(9)]
TABLES = Path(__file__).resolve().parents[1] / "rules" / "cases"
TOP = "/etc/mysql/my.cnf"


@dataclass(frozen=True)
class Case:
    """One row of a case table: its input, and the severity that the rule finds, empty if it is silent.

    `about`, `line` and `sure` are the option (- for none), the line in its file and the confidence of the first
    finding, if the row has them; `advises` is a part of its help. `platform` is windows, or empty.
    """

    rule: str
    says: str
    target: str
    file: str = ""
    finds: str = ""
    about: str = ""
    line: int | None = None
    sure: str = ""
    more: dict[str, str] = field(default_factory=dict)
    modes: dict[str, int] = field(default_factory=dict)
    host: dict[str, Any] | None = None
    server: dict[str, Any] | None = None
    workload: dict[str, Any] | None = None
    sampled: dict[str, dict[str, Any]] = field(default_factory=dict)
    house: dict[str, Any] | None = None
    schema: dict[str, Any] | None = None
    probes: list[dict[str, Any]] = field(default_factory=list)
    declared: dict[str, Any] | None = None
    platform: str = ""
    advises: str = ""

    def __str__(self) -> str:
        return f"{self.rule}: {self.says}"

    @property
    def text(self) -> str:
        """The main file, in [mysqld] if the case has no group."""
        return self.file if "[" in self.file or not self.file else f"[mysqld]\n{self.file}"


@functools.cache
def all_cases() -> tuple[Case, ...]:
    """All rows of all tables; raises ValueError for a row with an unknown field, with the table, rule and row."""
    return tuple(
        _case(path, rule, row)
        for path in sorted(TABLES.rglob("*.toml"))
        for rule, rows in tomllib.loads(path.read_text("utf-8")).items()
        for row in rows
    )


def _case(path: Path, rule: str, row: dict[str, Any]) -> Case:
    try:
        return Case(rule, **row)
    except TypeError as error:
        raise ValueError(
            f"{path.relative_to(TABLES)}: {rule}, {row.get('says', 'a row without says')!r}: {error}"
        ) from None


def cases_by_rule(cases: Iterable[Case]) -> dict[str, list[Case]]:
    """The cases by rule, for one test per rule: one test per case would take longer to start than to run."""
    found: dict[str, list[Case]] = defaultdict(list)
    for case in cases:
        found[case.rule].append(case)
    return found


def context_of_case(case: Case, folder: Path) -> RuleContext:
    """The rule context of this case; files are written to `folder`."""
    target = running_target(case.target)._replace(platform=case.platform)
    known = _server_context(case, target) if case.server is not None else _file_context(case, target, folder)
    if case.declared is not None:
        known.parts["parameters"] = judge_managed(declared_set(case.declared, target), known.catalog).problems
    if case.probes:
        known.parts["probes"] = tuple(_local_answer(**answer) for answer in case.probes)
    return known


def case_difference(case: Case, findings: Sequence[Finding]) -> str:
    """How the findings differ from what the case says, with both; empty if they don't."""
    severities = [f.severity.value for f in findings][:1]
    first = findings[0] if findings else None
    if severities != ([case.finds] if case.finds else []):
        return f"{case}: {severities or 'no finding'}: {list(findings)}"
    if first is None:
        return ""
    line = first.location.line if first.location else None
    sides = (
        ("about", case.about, first.option or "-"),
        ("line", case.line, line),
        ("sure", case.sure, first.confidence.value),
    )
    different = [f"{name} {have!r}" for name, wanted, have in sides if wanted not in ("", None, have)]
    if case.advises not in (first.help or ""):
        different.append(f"help {first.help!r}")
    return f"{case}: {', '.join(different)}" if different else ""


def found(rule: str, target: str, folder: Path, file: str = "", server: dict[str, Any] | None = None) -> list[Finding]:
    """What the rule of that name finds in a small case."""
    looked = find_rule(rule)
    assert looked is not None
    return list(looked.check(context_of_case(Case(rule, "", target, file, server=server), folder)))


def declared_set(table: dict[str, Any], target: Target) -> DeclaredSet:
    """The parameters of a managed service that a case declares: name, value, and how it is applied, one a line."""
    options = []
    for number, row in enumerate(table["options"], 1):
        name, value, method = (*row, "", "")[:3]
        place = Location("group.tf", number, 1, number, 1 + len(name))
        options.append(DeclaredOption(name, value or None, place, place._replace(column=20), method))
    ranges = {name: ProviderParameter(name, **row) for name, row in table.get("ranges", {}).items()}
    return DeclaredSet("DB parameter group", target, tuple(options), table.get("scope", ""), ranges)


def _local_answer(probe: str, facts: dict[str, float | str], parameters: dict[str, str] | None = None) -> LocalAnswer:
    """A saved probe result of this host with the facts that the case names."""
    began_at = "2026-01-02T03:04:05Z"
    return LocalAnswer(
        probe, "", "less", "", None, None, began_at, None, 1, "", (), (), facts=facts, parameters=parameters or {}
    )


def _file_context(case: Case, target: Target, folder: Path) -> RuleContext:
    top = folder / "my.cnf"
    for name, text in {"my.cnf": case.text, **case.more}.items():
        (folder / name).write_text(text.replace("FOLDER", str(folder)), "utf-8")
        (folder / name).chmod(case.modes.get(name, 0o644))
    resolved = resolve([str(top)], flavour=target.flavour, version=target.version)
    verdict = judge_file(resolved, load(target))
    host = host_of(case.host) if case.host is not None else AbsentPart("the host")
    house = parse_house_rules(case.house) if case.house is not None else NO_HOUSE
    return RuleContext(target, load(target), Settings.from_file(verdict), verdict, host=host, house=house)


def _server_context(case: Case, target: Target) -> RuleContext:
    known = build_context(facts_of(case, target))
    if case.house is not None:
        known.parts["house"] = parse_house_rules(case.house)
    if case.server and "chain" in case.server:
        known.parts["chain"] = _chain(case.server["chain"], target)
    return known


def _chain(table: dict[str, Any], target: Target) -> Chain:
    """The servers of a case, the first being the one that is judged; `sources` names servers by their place here."""
    servers: list[ChainServer] = []
    for i, server in enumerate(table["servers"]):
        fields = {"name": f"db{i}", "uuid": UUIDS[i], "port": str(3306 + i), "hostname": "h", "target": target} | server
        fields["target"] = running_target(server["target"]) if "target" in server else target
        links = [
            SourceLink("127.0.0.1", str(3306 + n), "", UUIDS[n]) if n >= 0 else SourceLink("elsewhere", "3306")
            for n in server.get("sources", ())
        ]
        servers.append(ChainServer(**fields | {"sources": tuple(links)}))
    return Chain(servers[0], tuple(servers[1:]))


def facts_of(case: Case, target: Target) -> Facts:
    """The collected facts about a server in this case."""
    table = case.server or {}
    catalog = load(target)
    files = _files(case, table)
    verdict = judge_file(resolve([TOP], flavour=target.flavour, version=target.version, loader=files.read), catalog)
    settings = Settings.from_file(verdict)
    texts = {o.variable: settings.text(o.variable) for o in map(catalog.get, catalog.options) if o and o.variable}
    missing = set(table.get("without", ()))  # variables of plugins that are not loaded
    variables = {n: t for n, t in texts.items() if t is not None and n not in missing} | table.get("variables", {})
    set_by = {
        line.option.variable: "GLOBAL" for line in verdict.effective.values() if line.option and line.option.variable
    }
    origins = dict.fromkeys(variables, "COMPILED") | set_by | table.get("origins", {})
    parts = table.get("replication")
    server = Server(
        flavour=target.flavour,
        version=target.number,
        version_comment="",
        vendor=table.get("vendor", ""),
        link=Link("socket"),
        variables=variables,
        status={k: str(v) for k, v in table.get("status", {}).items()},
        origins={name: _origin(origin) for name, origin in origins.items()},
        replication=_replication(parts) if parts is not None else None,
        innodb_metrics=table.get("innodb_metrics", {}),
        innodb_status=table.get("innodb_status", ""),
        lock_waits=table.get("lock_waits", {}),
        redo_waits=RedoWaits(**table["redo_waits"]) if "redo_waits" in table else None,
        binary_log_bytes=table.get("binary_log_bytes"),
        error_log=_error_log(table["error_log"]) if "error_log" in table else None,
        blocking=to_value(table["blocking"], Blocking) if "blocking" in table else None,
        data=DataSizes(**table["data"]) if "data" in table else None,
        managed=table.get("managed", ""),
        accounts=tuple(Accounts(**kind) for kind in table["accounts"]) if "accounts" in table else None,
        plugins=tuple(Plugin(name, "ACTIVE", "AUTHENTICATION") for name in table.get("plugins", ())),
    )
    return Facts(
        schema="1.0",
        tool="test",
        taken_at=table.get("taken_at", ""),
        server=server,
        workload=_workload(case.workload) if case.workload is not None else None,
        host=host_of(case.host) if case.host is not None else None,
        files=files,
        sampled=_sampled(case.sampled) if case.sampled else None,
        service=_service(table["unit"]) if "unit" in table else None,
        spaces=_spaces(case.host or {}, table),
        schema_risks=_schema(case.schema) if case.schema is not None else None,
    )


def _spaces(host: dict[str, Any], table: dict[str, Any]) -> tuple[SpaceReading, ...]:
    """Earlier readings of the free space, in a case each the days before, the free bytes, and another size if any."""
    rows = table.get("spaces", ())
    now = datetime.fromisoformat(table["taken_at"]).timestamp() if rows else 0.0
    size = host.get("space", {}).get("size", 0)
    return tuple(
        SpaceReading("/var/lib/mysql", int(now - row[0] * 86400), row[2] if len(row) > 2 else size, row[1])
        for row in rows
    )


def _origin(origin: str | dict[str, Any]) -> VariableOrigin:
    """The origin of a variable, in a case its source, or the fields of the fact."""
    if isinstance(origin, dict):
        return to_value(origin, VariableOrigin)
    return VariableOrigin(origin, TOP if origin == "GLOBAL" else "")


def _replication(parts: dict[str, Any]) -> Replication:
    with_times = _with_parts(parts, "applier_times", ApplierTimes)
    with_earlier = _with_parts(with_times, "earlier", ChannelProgress)
    return Replication(**_with_parts(with_earlier, "members", GroupMember))


def _error_log(table: dict[str, Any]) -> ErrorLog:
    """An error log in UTC whose events a case names by their kind."""
    kinds = table.get("events", {})
    events = tuple(LogEvent(kind, **{"details": (), **event}) for kind, event in kinds.items())
    events = tuple(LogEvent(e.kind, e.count, e.first, e.last, e.peak, tuple(e.details)) for e in events)
    return ErrorLog(**{"read_from": "file", "zone": "UTC", **table, "events": events})


def _schema(table: dict[str, Any]) -> SchemaRisks:
    """The definitions of tables in a case; parts that it does not name were not read."""
    for part, kind in (
        ("auto_increments", AutoIncrement),
        ("without_key", UnkeyedTable),
        ("other_engines", EngineTable),
        ("redundant_indexes", RedundantIndex),
    ):
        table = _with_parts(table, part, kind)
    return SchemaRisks(tables=10, schemas=1, **table)


def _service(unit: str) -> Service:
    return Service("mysqld.service", (FileCopy("/usr/lib/systemd/system/mysqld.service", unit),))


def _sampled(table: dict[str, dict[str, Any]]) -> SampledHours:
    """The busiest hour of each kind in a case, written like a workload; its gauges may have several values."""
    hours = tuple(starmap(_hour, table.items()))
    return SampledHours("2026-11-07T00:00:00+00:00", "2026-11-20T23:50:00+00:00", 2016, hours)


def _hour(of: str, table: dict[str, Any]) -> BusyHour:
    window = _workload({"seconds": 3600.0, **table})
    gauges: dict[str, list[int]] = table.get("gauges", {})
    middle = max(map(len, gauges.values()), default=2) - 2
    between = [
        Sample(window.first.at + 600 * (i + 1), {name: values[i + 1] for name, values in gauges.items()})
        for i in range(middle)
    ]
    return BusyHour(of, "2026-11-20T14:00:02+00:00", "2026-11-20T15:00:01+00:00", (window.first, *between, window.last))


def _files(case: Case, table: dict[str, Any]) -> OptionFiles:
    secrets = tuple(table.get("secret_lines", ()))
    status = {"mode": table.get("mode", 0o644), "uid": table.get("uid", 0), "closed": table.get("closed", False)}
    copy = FileCopy(TOP, case.text, secret_lines=secrets, **status)
    held = table.get("persisted")
    persisted = None if held is None else tuple(PersistedOption(name, value) for name, value in held.items())
    return OptionFiles((copy,), persisted_options=persisted)


def _workload(table: dict[str, Any]) -> Workload:
    seconds, uptime = table.get("seconds", 10.0), table.get("uptime", 86400.0)
    rises: dict[str, int] = table.get("rises", {})
    redo = table.get("redo")
    gauges: dict[str, list[int]] = table.get("gauges", {})
    before = dict.fromkeys(rises, 1000) | {n: ends[0] for n, ends in gauges.items()}
    after = {n: 1000 + by for n, by in rises.items()} | {n: ends[-1] for n, ends in gauges.items()}
    first = Sample(uptime - seconds, before, None if redo is None else 10**9)
    last = Sample(uptime, after, None if redo is None else 10**9 + redo)
    return Workload(first, last)


def host_of(table: dict[str, Any]) -> Host:
    """A host with the few facts that a case names; sizes in bytes."""
    memory = table.get("memory")
    return Host(
        cpu=_cpu(table),
        memory=Memory(**memory) if memory else None,
        cgroup=_cgroup(table["cgroup"]) if "cgroup" in table else None,
        storage=_storage(table) if "disks" in table else None,
        devices=_devices(table.get("devices", ())),
        process=Process(1, "mysqld", **_with_parts(table["process"], "limits", Limit)) if "process" in table else None,
        os=OperatingSystem(time=table.get("time"), **table.get("os", {})) if {"time", "os"} & table.keys() else None,
        places=tuple(ServerPath(place["variable"], _storage(place)) for place in table.get("places", ())),
        files=tuple(ServerFiles(**one) for one in table["files"]) if "files" in table else None,
    )


def _cpu(table: dict[str, Any]) -> Cpu:
    nodes = tuple(NumaNode(i, (i,), size) for i, size in enumerate(table.get("nodes", ())))
    hypervisor = Hypervisor(table["hypervisor"], "full") if "hypervisor" in table else None
    fields, count = {"nodes": nodes, "hypervisor": hypervisor, **table.get("cpu", {})}, table.get("cpus", 4)
    return Cpu(logical=count, online=tuple(range(count)), kinds=(), cores=count, sockets=1, **fields)


def _cgroup(table: dict[str, Any]) -> Cgroup:
    return Cgroup(**_with_parts({"version": 2, "path": "/mysql", **table}, "io", IoLimit))


def _with_parts(table: dict[str, Any], part: str, kind: Callable[..., object]) -> dict[str, Any]:
    """The case's data in which one part, a table or a list of tables, is replaced by values."""
    if part not in table:
        return table
    return table | {
        part: tuple(kind(**one) for one in table[part]) if isinstance(table[part], list) else kind(**table[part])
    }


def _devices(tables: Iterable[dict[str, Any]]) -> tuple[BlockDevice, ...]:
    usual: dict[str, Any] = {"number": "8:0", "type": "disk", "size": 10**12}
    return tuple(
        BlockDevice(
            **usual | {"name": d["kernel_name"]} | _with_parts(d, "raid", Raid) | {"under": tuple(d.get("under", ()))}
        )
        for d in tables
    )


def _storage(table: dict[str, Any]) -> Storage:
    disks = _devices(table.get("disks", ()))
    mount = Mount(
        table.get("mount_point", "/var/lib/mysql"),
        table.get("fs_type", "ext4"),
        "/dev/sda1",
        table.get("number", "8:1"),
        options=tuple(table.get("mount_options", ())),
    )
    stripe = Stripe(source="md", device="md0", **table["stripe"]) if "stripe" in table else None
    space = Space(**table["space"]) if "space" in table else None
    return Storage("/var/lib/mysql", mount, disks, stripe, space=space, errors=table.get("errors"))


def replica(**row: str) -> dict[str, Any]:
    """A server that follows one source."""
    return {"replication": {"replica_rows": [row]}}
