"""What the workload screen shows of real servers and of the host beside them, compared with their own counters."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path
from typing import TYPE_CHECKING

import psutil
import pytest
from app_driver import driven, until
from app_workload_screen import NAME, SNAPSHOT, opened, row, sampled, samples, work

from advisor.collect.host.live_load import LoadReader, load_reader
from advisor.facts import Sample
from advisor.tui.screens.workload.counters import SERIES
from advisor.tui.screens.workload.rows import GROUP_OF, WINDOWS
from advisor.tui.text import format_value

if TYPE_CHECKING:
    from probes.sandbox import Sandbox

ROUNDING = 60  # milliseconds: the kernel counts in hundredths of a second


def status(sandbox: Sandbox) -> dict[str, str]:
    """The server's own values of its counters, read beside the app."""
    with sandbox.connect(autocommit=True) as connection, connection.cursor() as cursor:
        cursor.execute("SHOW GLOBAL STATUS")
        return dict(cursor.fetchall())


def rises(before: dict[str, str], after: dict[str, str]) -> dict[str, int]:
    """By how much each series of rates rose between two answers, by the counters that its row names."""
    sample = Sample(0, {name.lower(): 0 for name in after}, query_time=0.0 if "Query_time" in after else None)
    named = {
        s.id: NAME.findall(way.source) for s in SERIES if s.unit in ("/s", "B/s") and (way := s.formula_for(sample))
    }
    return {key: sum(int(after[name]) - int(before[name]) for name in names) for key, names in named.items()}


@pytest.mark.servers("mysql-5.7", "mysql-9.7", "mariadb-10.11")  # which counters there are is the next test's
async def test_what_is_shown_is_what_the_server_counts(any_server: Sandbox) -> None:
    """Each rate, times the seconds of its window, lies between what the server's own counters rose meanwhile."""
    before = await asyncio.to_thread(status, any_server)
    async with driven("--socket", any_server.socket, "--user", "root") as (app, pilot):
        pane = await opened(pilot)
        pane.window = WINDOWS[-1]
        await until(pilot, lambda: bool(app.view and app.view.samples))
        began = await asyncio.to_thread(status, any_server)
        await asyncio.to_thread(work, any_server)
        ended = await asyncio.to_thread(status, any_server)
        await until(pilot, lambda: app.view.samples[-1].status["questions"] > int(ended["Questions"]))
        await until(pilot, lambda: pane.shown is not None and pane.shown.samples == len(app.view.samples))
        shown, queries = pane.shown, row(pilot, "queries")  # of one moment: the next sample is drawn while we ask
        after = await asyncio.to_thread(status, any_server)
    assert queries.split()[-2] == format_value(shown.rows[0].rates.mean, "/s")
    found = {r.series.id: r.rates for r in shown.rows}
    least, most = rises(began, ended), rises(before, after)
    assert least["rows-changed"] >= 260
    for name, rise in least.items():
        counted = round(found[name].mean * shown.seconds)
        assert rise <= counted <= most[name], name
    assert not any(figure.broken for figure in found.values())


def disk_of(directory: str) -> str | None:
    """The kernel's name of the block device below a directory; None if it has none that is visible here."""
    number = os.stat(directory).st_dev
    link = Path(f"/sys/dev/block/{os.major(number)}:{os.minor(number)}")
    return link.resolve().name if link.exists() else None


def psutil_says(pid: int, disk: str | None) -> dict[str, float]:
    """What psutil itself reports for this host, a disk and a process: times in milliseconds, sizes in bytes."""
    times, process = psutil.cpu_times(), psutil.Process(pid)
    own = process.cpu_times()
    device = psutil.disk_io_counters(perdisk=True)[disk] if disk else None
    of_disk = device and {
        "host_disk_reads": device.read_count,
        "host_disk_read_bytes": device.read_bytes,
        "host_disk_read_ms": device.read_time,
        "host_disk_writes": device.write_count,
        "host_disk_written_bytes": device.write_bytes,
        "host_disk_write_ms": device.write_time,
    }
    return (of_disk or {}) | {
        "host_cpu_busy_ms": 1000 * (times.user + times.nice + times.system + times.irq + times.softirq),
        "host_cpu_iowait_ms": 1000 * times.iowait,
        "host_cpu_steal_ms": 1000 * times.steal,
        "server_cpu_ms": 1000 * (own.user + own.system),
    }


@pytest.mark.servers("mariadb-10.11")
async def test_the_host_beside_the_server_is_what_psutil_says(any_server: Sandbox) -> None:
    """Processor times of samples lie between what psutil reads before and after; the shown shares follow from them."""
    pid, disk = any_server.pid, disk_of(any_server.datadir)
    before = await asyncio.to_thread(psutil_says, pid, disk)
    async with driven("--socket", any_server.socket, "--user", "root", size=(120, 60)) as (app, pilot):
        pane = await opened(pilot)
        await asyncio.to_thread(work, any_server)
        await until(pilot, lambda: len([s for s in app.view.samples or () if "server_rss" in s.status]) > 1)
        await until(pilot, lambda: pane.shown is not None and pane.shown.samples == len(app.view.samples))
        after = await asyncio.to_thread(psutil_says, pid, disk)
        resident = psutil.Process(pid).memory_info().rss
        last = app.view.samples[-1].status
        shown = {r.series.id: r for r in pane.shown.rows}
        interval = pane._intervals[-1]
        assert {"cpu", "available", "server-cpu", "server-memory"} <= set(shown)
        assert row(pilot, "server-memory").split()[3] == format_value(last["server_rss"], "B")
    for name, read in before.items():
        assert read - ROUNDING <= last[name] <= after[name] + ROUNDING, name
    assert last["server_rss"] == pytest.approx(resident, rel=0.2)
    rise = interval.last.status["server_cpu_ms"] - interval.first.status["server_cpu_ms"]
    assert shown["server-cpu"].rates.now == pytest.approx(100 * rise / 1000 / (interval.last.at - interval.first.at))
    if disk:
        written = interval.last.status["host_disk_written_bytes"] - interval.first.status["host_disk_written_bytes"]
        assert shown["disk-written"].rates.now == pytest.approx(written / (interval.last.at - interval.first.at))
    whole = interval.last.status["host_cpu_ms"] - interval.first.status["host_cpu_ms"]
    busy = interval.last.status["host_cpu_busy_ms"] - interval.first.status["host_cpu_busy_ms"]
    assert shown["cpu"].rates.now == pytest.approx(100 * busy / whole)


async def test_a_server_elsewhere_has_no_host() -> None:
    """Where the host is not proved to be the server's, no row shows a number of this one."""
    async with driven(*SNAPSHOT) as (_, pilot):
        pane = await opened(pilot)
        await sampled(pilot, *samples(4))
        assert pane.shown is not None
        assert not {"Host", "Server process", "Replication"} & {r.group for r in pane.shown.rows}
    assert load_reader(None) is None


def test_a_process_that_is_gone_is_not_read() -> None:
    """Its number may be another process's by now: the host's own counters remain."""
    read = LoadReader(1 << 22).read()
    assert "host_cpu_ms" in read
    assert "server_rss" not in read


async def test_every_server_has_what_each_row_needs(any_server: Sandbox) -> None:
    """All rows of a running server have a counter, spelled as the server spells it; MySQL alone times no statements."""
    async with driven("--socket", any_server.socket, "--user", "root") as (app, pilot):
        await opened(pilot)
        await until(pilot, lambda: bool(app.view and app.view.samples))
        sample = app.view.samples[-1]
        mariadb = app.view.audited.context.target.flavour == "mariadb"
    counters = await asyncio.to_thread(status, any_server)
    for series in SERIES:
        way = series.formula_for(sample)
        if series.id == "time" and not mariadb:
            assert way is None
            assert "MySQL has no such counter" in series.why_missing
        elif way is None:
            assert series.optional, series.id
        elif GROUP_OF[series.id] not in ("Host", "Server process"):
            assert set(NAME.findall(way.source)) <= set(counters)
