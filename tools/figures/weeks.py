"""A week of sampling, ten thousand windows of a minute: memory and file sizes over time and at the end.

usage: python tools/figures/weeks.py ring|history|app, which prints the figures of one of them as JSON.
"""

from __future__ import annotations

import asyncio
import gc
import io
import json
import os
import resource
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import redirect_stdout
from typing import Any

from figure import Figure
from msgspec.structs import replace

WINDOWS = int(os.environ.get("WINDOWS", "10000"))
WARM = 1500  # windows after which everything that is kept is full; the app keeps 900 for half an hour
ASKED = 500
# So many of so many samples are drawn on the workload screen, which takes the time. WARM and WINDOWS are multiples of
# a lap: a hidden screen keeps the samples that it drew last, so that memory depends on the time since then.
LAP, DRAWN = 500, 100
GROWTH = 5  # maximum growth in percent from then to the end
IN_MEMORY = "/dev/shm"  # noqa: S108 - a folder of our own; ten thousand times to a disk take minutes
NOON = 1_795_262_400
RECORDED = os.path.join("examples", "snapshots", "mariadb-10.11.json")


def figures(top: str) -> Iterator[Figure]:
    """Growth of memory and of saved data in percent, for `mycnf sample`, the history and the app."""
    for part in PARTS:
        name = f"{WINDOWS:,} windows, {part}"
        place = IN_MEMORY if os.access(IN_MEMORY, os.W_OK) else None
        with tempfile.TemporaryDirectory(dir=place) as state:
            environment = {**os.environ, "PYTHONPATH": top, "XDG_STATE_HOME": state, "XDG_CONFIG_HOME": state}
            command = [sys.executable, os.path.abspath(__file__), part]
            ran = subprocess.run(command, cwd=top, env=environment, capture_output=True, text=True, check=False)
        if ran.returncode:
            yield Figure(name, None, reason_missing=ran.stderr.strip().rpartition("\n")[2])
            continue
        report = json.loads(ran.stdout.splitlines()[-1])
        yield Figure(f"{name}: memory at the end", report["late"]["memory"] / 1e6, "MB")
        for what in ("memory", "kept", "files"):
            grown = 100 * (report["late"][what] / max(1, report["early"][what]) - 1)
            yield Figure(f"{name}: growth of {what} after {WARM:,}", grown, "%", "<=", GROWTH)


def ring() -> dict[str, Any]:
    """The data of `mycnf sample`, with a sample every ten minutes, the interval of its ring."""
    from advisor.facts import Sample
    from advisor.state.sample_ring import save_sample

    server = {"hostname": "db1", "port": "3306", "datadir": "/var/lib/mysql/"}
    early: dict[str, int] = {}
    for number in range(WINDOWS):
        if number == WARM:
            early = _held_bytes()
        at = 5000 + 600 * number
        save_sample(Sample(float(at), {"questions": at, "connections": number}, at * 1000), server, NOON + at)
    return {"early": early, "late": _held_bytes()}


def history() -> dict[str, Any]:
    """The data of `mycnf history` with a snapshot per minute, and the time of a report.

    The server's counters increase. A report evaluates all hundred saved snapshots, so it runs only once in five
    hundred.
    """
    from advisor.cli.parser import build_parser
    from advisor.commands.history import run
    from advisor.facts.snapshot import load
    from advisor.state.history import save_snapshot

    facts = load(RECORDED)
    asked = build_parser("history").parse_args(["history", "--isolated", "--format", "json"])
    early: dict[str, int] = {}
    for number in range(WINDOWS):
        if number == WARM:
            early = _held_bytes()
        days, minutes = divmod(number, 1440)
        taken = f"2026-11-{1 + days:02}T{minutes // 60:02}:{minutes % 60:02}:00+00:00"
        status = facts.server.status | {"questions": str(1000 * number), "uptime": str(60 * number)}
        save_snapshot(replace(facts, taken_at=taken, server=replace(facts.server, status=status)))
        if number % ASKED == ASKED - 1:
            with redirect_stdout(io.StringIO()) as printed:
                run(asked)
            assert len(json.loads(printed.getvalue())["servers"]) == 1
    return {"early": early, "late": _held_bytes()}


def app() -> dict[str, Any]:
    """The memory of the app while it watches a server, with the workload screen shown for a fifth of the time."""
    return asyncio.run(_watch_weeks())


async def _watch_weeks() -> dict[str, Any]:
    from textual.widgets import ContentSwitcher

    from advisor.cli.parser import build_parser
    from advisor.commands.judge_facts import audit_facts, make_request
    from advisor.core.errors import MycnfError
    from advisor.facts import Sample
    from advisor.facts.snapshot import load
    from advisor.tui.app import AuditApp
    from advisor.tui.screens.workload.rows import WINDOWS as WINDOWS_SHOWN
    from advisor.tui.screens.workload.screen import WorkloadPane
    from advisor.tui.start import AuditSource, StartOptions
    from advisor.tui.workers import SampleRead

    facts, left = load(RECORDED), threading.Event()
    asked = make_request(build_parser("audit").parse_args(["audit", "--isolated", "--demo"]))

    def session() -> Any:
        left.wait()  # the samples below replace the ones that it would read
        raise MycnfError("the week is over")

    feed = AuditSource("live", "a server", lambda: facts, lambda read: audit_facts(read, asked), session)
    shown = AuditApp(StartOptions(feed))
    counters = {name: int(text) for name, text in facts.server.status.items() if text.isascii() and text.isdigit()}
    drawn = asyncio.Event()
    early: dict[str, int] = {}
    async with shown.run_test(size=(120, 40)) as pilot:
        while shown.query_one(ContentSwitcher).current != "overview":  # opened by the first audit, behind the sampler
            await pilot.pause(0.05)
        await shown.action_go("workload")
        pane = shown.query_one("#workload", WorkloadPane)
        pane.window = WINDOWS_SHOWN[-1]  # the largest, with the most samples
        for number in range(WINDOWS):
            if number == WARM:
                early = _held_bytes()
            if number % LAP in (0, DRAWN):
                await shown.action_go("findings" if number % LAP else "workload")
            at = 60.0 * number
            sample = SampleRead(Sample(at, {name: value + number for name, value in counters.items()}, number * 1000))
            assert shown._sampler is not None  # noqa: SLF001
            shown._sampler._post(sample)  # noqa: SLF001 - as the thread that reads does
            # The framework's own pause waits for every widget and for an idle processor, which takes ten times as
            # long.
            while not shown._samples or shown._samples[-1].at != at or _behind(pane, len(shown._samples)):  # noqa: SLF001, ASYNC110 - no event tells
                await asyncio.sleep(0)
            drawn.clear()
            pane.call_after_refresh(drawn.set)
            await drawn.wait()
        late = _held_bytes()
        assert len(shown._samples) < WARM  # noqa: SLF001
        left.set()
    return {"early": early, "late": late}


def _behind(pane: Any, samples: int) -> bool:
    """Whether the pane is visible and has not drawn all samples."""
    return pane.display and (pane.shown is None or pane.shown.samples != samples)


def _held_bytes() -> dict[str, int]:
    """Bytes of memory held by this process, bytes saved on disk, and the number of files."""
    gc.collect()
    with open("/proc/self/statm", encoding="ascii") as file:
        memory = int(file.read().split()[1]) * resource.getpagesize()
    files = [os.path.join(above, name) for above, _, names in os.walk(os.environ["XDG_STATE_HOME"]) for name in names]
    return {"memory": memory, "kept": sum(map(os.path.getsize, files)), "files": len(files)}


PARTS = {"ring": ring, "history": history, "app": app}


if __name__ == "__main__":
    print(json.dumps(PARTS[sys.argv[1]]()))
