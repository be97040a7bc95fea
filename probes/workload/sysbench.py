"""Run sysbench as the load driver, with its own scripts if it has them, otherwise with a generated script."""

from __future__ import annotations

import functools
import os
import re
import shutil
from typing import TYPE_CHECKING

from probes.sandbox.binary import run_briefly
from probes.sandbox.cleanup import spawn
from probes.sandbox.errors import SandboxError
from probes.workload.load import LOOPBACK, PARETO_SHAPE, DriverError, LoadResult

if TYPE_CHECKING:
    from probes.stop import StopSignal
    from probes.workload.load import Task, TransactionStep

POLL = 0.02
END_TIMEOUT = 60.0  # seconds that the last transactions may take after the time is up
INTERVAL_LINE = re.compile(
    r"^\[ (\d+)s \] thds: \d+ tps: ([\d.]+) qps: ([\d.]+) .*?lat \(ms,99%\): ([\d.]+)", re.MULTILINE
)
HISTOGRAM_LINE = re.compile(r"^ +([\d.]+) \|\** +(\d+)$", re.MULTILINE)
TOTAL_LINES = {
    "transactions": re.compile(r"^\s+transactions:\s+(\d+)", re.MULTILINE),
    "queries": re.compile(r"^\s+queries:\s+(\d+)", re.MULTILINE),
    "repeated": re.compile(r"^\s+ignored errors:\s+(\d+)", re.MULTILINE),
    "seconds": re.compile(r"^\s+total time:\s+([\d.]+)s", re.MULTILINE),
    "p99": re.compile(r"^\s+99th percentile:\s+([\d.]+)", re.MULTILINE),
}
TEXT_SHAPES = {"c": "-".join(["#" * 11] * 10), "pad": "-".join(["#" * 11] * 5)}
LARGEST_SEED = (1 << 31) - 2  # sysbench accepts 31 bits, and takes 0 as the time of day


@functools.lru_cache(maxsize=1)
def sysbench_version() -> str | None:
    """The version, such as "sysbench 1.0.20"; None if sysbench is not installed or has no MySQL driver."""
    program = shutil.which("sysbench")
    if program is None:
        return None
    try:
        ran = run_briefly([program, "--version"], timeout=10)
        known = run_briefly([program, "--help"], timeout=10)
    except SandboxError:
        return None
    match = re.search(r"sysbench (\d+\.\d+\S*)", ran.stdout)
    # Version 0.4 has other options and no scripts; some builds lack the MySQL driver.
    return match[0] if match and not match[1].startswith("0.") and "--mysql-socket" in known.stdout else None


def run_sysbench(task: Task, seconds: int, stop: StopSignal) -> LoadResult | None:
    """Run a load for that many whole seconds; None if it was stopped.

    Raises DriverError if sysbench cannot be started, is refused, or loses its server.
    """
    log = os.path.join(task.scratch_folder, "sysbench.log")
    with open(log, "wb"):
        pass
    process = spawn(_command(task, seconds), log=log, temporary=task.scratch_folder)
    waited = 0.0
    try:
        while process.poll() is None:
            if stop.wait(POLL):
                return None
            waited += POLL
            if waited > seconds + END_TIMEOUT:
                raise DriverError("sysbench did not end in time: is the host overloaded?")
    finally:
        if process.poll() is None:
            process.kill()
        process.wait()
    with open(log, encoding="utf-8", errors="replace") as text:
        report = text.read()
    if process.returncode != 0:
        raise DriverError(f"sysbench failed ({process.returncode}): {_error_lines(report)}")
    return parse_report(report, seconds)


def parse_report(report: str, seconds: int) -> LoadResult:
    """Parse a report of sysbench; its per-second values are brought to `seconds` entries.

    Raises DriverError for any other text.
    """
    matches = {name: pattern.search(report) for name, pattern in TOTAL_LINES.items()}
    if any(match is None for match in matches.values()):
        raise DriverError(f"cannot parse sysbench's report: {_error_lines(report)}")
    totals = {name: float(match[1]) for name, match in matches.items() if match}
    rows = {int(row[0]): tuple(float(value) for value in row[1:]) for row in INTERVAL_LINE.findall(report)}
    return LoadResult(
        seconds=totals["seconds"],
        transactions=int(totals["transactions"]),
        queries=int(totals["queries"]),
        repeated=int(totals["repeated"]),
        p95=_percentile([(float(value), int(count)) for value, count in HISTOGRAM_LINE.findall(report)], 0.95),
        p99=totals["p99"],
        tps=_per_second_values([row[0] for row in rows.values()], totals["transactions"], seconds),
        qps=_per_second_values([row[1] for row in rows.values()], totals["queries"], seconds),
        p99_by_second=tuple(row[2] for row in rows.values())[:seconds],
    )


def _percentile(buckets: list[tuple[float, int]], share: float) -> float:
    """The first bucket at which that share of the counts is reached; 0 without counts."""
    wanted, seen = share * sum(count for _, count in buckets), 0
    for value, count in buckets:
        seen += count
        if seen >= wanted:
            return value
    return 0.0


def _per_second_values(rates: list[float], total: float, seconds: int) -> tuple[float, ...]:
    # The last interval is not reported if it ends with the run; it gets the remaining counts.
    if len(rates) < seconds:
        rates = [*rates, max(0.0, total - sum(rates))]
    return tuple(rates[:seconds])


def _command(task: Task, seconds: int) -> list[str]:
    bundled = task.workload.script is not None and task.access.keys_file is None
    script = task.workload.script if bundled else _write_script(task)
    return [
        shutil.which("sysbench") or "sysbench",
        str(script),
        "--db-driver=mysql",
        *_login_options(task),
        f"--mysql-db={task.database}",
        f"--threads={task.threads}",
        f"--time={seconds}",
        "--events=0",
        "--report-interval=1",
        "--percentile=99",
        "--histogram=on",
        f"--rand-type={task.access.kind}",
        f"--rand-pareto-h={PARETO_SHAPE}",
        f"--rand-seed={1 + task.seed % LARGEST_SEED}",
        *([f"--tables={task.tables}", f"--table-size={task.rows}"] if bundled else []),
        "run",
    ]


def _login_options(task: Task) -> list[str]:
    """The options for the server's address, the account and TLS.

    The password is passed in a file, because others on the host may read command lines.
    """
    login = task.login
    where = [f"--mysql-socket={task.socket}"]
    if login.port is not None:
        where = [f"--mysql-host={LOOPBACK}", f"--mysql-port={login.port}"]
    options = [*where, f"--mysql-user={login.user}", *(["--mysql-ssl=on"] if login.encrypted else [])]
    if not login.password:
        return options
    path = os.path.join(task.scratch_folder, "sysbench.cnf")
    with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w", encoding="ascii") as file:
        file.write(f"mysql-password={login.password}\n")
    return [*options, f"--config-file={path}"]


def _write_script(task: Task) -> str:
    path = os.path.join(task.scratch_folder, f"{task.workload.name}.lua")
    with open(path, "w", encoding="ascii") as script:
        script.write(lua_script(task))
    return path


def lua_script(task: Task) -> str:
    """A sysbench script that sends the workload's statements."""
    # The driver is a global variable: sysbench frees it when there is no reference, even with open connections.
    lines = ["function thread_init()", "  drv = sysbench.sql.driver()", "  keys = {}"]
    if not task.workload.connecting:
        lines.append("  con = drv:connect()")
    if task.access.keys_file:
        lines.append(f"  for line in io.lines({_quote(task.access.keys_file)}) do keys[#keys + 1] = line end")
    lines += ["end", "function send(text)", "  local rs = con:query(text)", "  if rs ~= nil then rs:free() end", "end"]
    lines.append("function event()")
    if task.workload.connecting:
        lines.append("  con = drv:connect()")
    if task.workload.bracketed:
        lines.append('  send("BEGIN")')
    for step in task.workload.steps:
        lines.append(f"  for _ = 1, {step.times} do")
        lines += [f"    {line}" for line in _draw_lines(task, step)]
        lines += [f"    send({_statement_expression(statement)})" for statement in step.statements]
        lines.append("  end")
    if task.workload.bracketed:
        lines.append('  send("COMMIT")')
    if task.workload.connecting:
        lines.append("  con:disconnect()")
    lines.append("end")
    if not task.workload.connecting:
        lines.append("function thread_done() con:disconnect() end")
    return "\n".join([*lines, ""])


def _draw_lines(task: Task, step: TransactionStep) -> list[str]:
    key = "keys[sysbench.rand.default(1, #keys)]" if task.access.keys_file else _draw_expression(task.rows)
    table = f"sysbench.rand.uniform(1, {task.tables})" if task.tables > 1 else "1"
    draws = [
        f"local id = {key}",
        f"local v = {{id = id, ['end'] = id + {task.workload.span - 1}, table = 'sbtest' .. {table}}}",
    ]
    return [*draws, f"v.k = {_draw_expression(task.rows)}"] if any("{k}" in text for text in step.statements) else draws


def _draw_expression(rows: int) -> str:
    return f"sysbench.rand.default(1, {rows})"


def _statement_expression(statement: str) -> str:
    """A statement as a Lua expression that inserts the drawn values."""
    parts = re.split(r"\{(\w+)\}", statement)
    spliced = []
    for place, part in enumerate(parts):
        if place % 2 == 0:
            spliced.append(_quote(part))
        elif part in TEXT_SHAPES:
            spliced.append(f"sysbench.rand.string({_quote(TEXT_SHAPES[part])})")
        else:
            spliced.append(f"v[{_quote(part)}]")
    return " .. ".join(spliced)


def _quote(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def _error_lines(output: str) -> str:
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    errors = [line for line in lines if line.startswith(("FATAL", "ALERT"))] or lines[-1:]
    return " / ".join(errors[:2]) or "no message in its log"
