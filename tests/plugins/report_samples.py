"""Input for reports of every kind: snapshots, a fleet's run, a history and a probe result, all handwritten."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from mycnf_command import CHECKOUT

from advisor.facts.probes import PROBE_SCHEMA, Arm, Block, Metric, ProbeResult, RunPlace
from advisor.facts.snapshot import load
from advisor.fleet.run_directory import HostRow, Status, prepare_directory, write_row
from advisor.state.history import save_snapshot
from probes.results import make_results_folder
from probes.results import write_result as keep_result

SNAPSHOT = CHECKOUT / "examples" / "snapshots" / "mariadb-10.11.json"
# Rules whose findings do not change when rules are added.
RULES = ("--select", "BUF003,BIN001,SEC003,SYS004")
MOVE = ("--from", "mysql-5.7", "--to", "mysql-8.4")
RAW = "[mysqld]\nsort_buffer_size = 256K\nmax_connections = 500\nsql_mode = STRICT_ALL_TABLES,NO_ZERO_DATE\n"
OLD = f"{RAW}query_cache_size = 64M\ninnodb_bufer_pool_size = 1G\ninit_connect = \"SET PASSWORD = 'kanarienvogel'\"\n"
# Each report with the command that prints it, without --format.
COMMANDS: dict[str, tuple[str, ...]] = {
    "audit": ("audit", "--isolated", *RULES, "--snapshot", "db1.json"),
    "since": ("audit", "--isolated", *RULES, "--since", "db1.json", "--snapshot", "later.json"),
    "report": ("report", "--isolated", *RULES, "--jobs", "1", "many"),
    "fleet": ("fleet", "--isolated", *RULES, "--from", "run"),
    "diff": ("diff", "raw.cnf", "old.cnf", "--target", "mysql-5.7"),
    "diff-all": ("diff", "db1.json", "later.json", "--all"),
    "history": ("history", "--isolated", *RULES),
    "history-of-one": ("history", "--isolated", *RULES, "db1"),
    "preflight": ("preflight", "--snapshot", "later.json"),
    "upgrade": ("upgrade", *MOVE, "old.cnf"),
    "probe": ("probe", "results", "read-buffer"),
    "probes-kept": ("probe", "results"),
    "explain-rule": ("explain", "SEC003"),
    "explain-option": ("explain", "table_cache", "--target", "mysql-9.7"),
}


def make(folder: Path) -> None:
    """Write everything below a folder, whose `state` is XDG_STATE_HOME."""
    _snapshot(folder / "db1.json", 21)
    _snapshot(folder / "later.json", 22, sort_buffer_size="262144", max_connections="700", join_buffer_size="67108864")
    (folder / "raw.cnf").write_text(RAW, "utf-8")
    (folder / "old.cnf").write_text(OLD, "utf-8")
    (folder / "many").mkdir()
    _snapshot(folder / "many" / "a.json", 21)
    _snapshot(folder / "many" / "b.json", 22, hostname="db2", sort_buffer_size="262144")
    (folder / "many" / "c.json").write_text("]]><script>", "utf-8")
    _run(folder / "run")
    for name in ("db1.json", "later.json"):
        save_snapshot(load(str(folder / name)))
    keep_result(_result(), str(Path(make_results_folder()) / "20261121T040000Z-read-buffer-c0ffee.json"))


def _snapshot(path: Path, day: int, **variables: str) -> None:
    facts: dict[str, Any] = json.loads(SNAPSHOT.read_text("utf-8"))
    facts["taken_at"] = f"2026-11-{day}T05:01:05+00:00"
    facts["server"]["variables"] |= variables
    path.write_text(json.dumps(facts), "utf-8")


def _run(folder: Path) -> None:
    """A fleet of three hosts, one of which denied access to the account."""
    prepare_directory(str(folder), resume=False)
    shop = ("shop",)
    lost = "the server went away"
    rows = [
        HostRow(name="db1", groups=shop, status=Status.AUDITED, snapshot="snapshots/db1.json"),
        HostRow(name="db2", groups=shop, status=Status.LOST, reason=lost, snapshot="snapshots/db2.json"),
        HostRow(name="db3", groups=shop, status=Status.DENIED, reason="access denied for 'audit'"),
    ]
    _snapshot(folder / "snapshots" / "db1.json", 21)
    _snapshot(folder / "snapshots" / "db2.json", 22, hostname="db2", sort_buffer_size="262144")
    for row in rows:
        write_row(str(folder), row)
    (folder / "hosts.list").write_text(json.dumps([row.name for row in rows]))


def _result() -> ProbeResult:
    """Three read buffer sizes; the largest is slower by a fifth."""
    near = (0.98, 1.0, 1.02, 1.01, 0.99, 0.985, 1.015)
    levels = (("16K", 99.0, 16384.0), ("128K", 100.0, 131072.0), ("2M", 80.0, 2097152.0))
    arms = []
    for i, (name, level, size) in enumerate(levels):
        values = [level * near[(i * 2 + k * k) % 7] for k in range(7)]
        blocks = tuple(Block(k, float(k), 1.0, {"scanned": value}) for k, value in enumerate(values))
        arms.append(Arm(name, {}, blocks, size))
    return ProbeResult(
        PROBE_SCHEMA, "0", "read-buffer", "2026-11-21T04:00:00Z", 9.0, "finished", RunPlace("here"),
        (Metric("scanned", "MB/s"),), tuple(arms), "128K", axis="read_buffer_size", evidence=("RBS-01",),
    )  # fmt: skip
