"""Measure the speed of the terminal app, compared with an empty app of the same framework."""

from __future__ import annotations

import compileall
import json
import os
import socket
import statistics
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

import psutil
from figure import Figure
from real_servers import lacking, names_of, provisioned
from slow_proxy import slowed
from terminal import Window, window

from probes.sandbox import start_server

ROUNDS = 5
KEYS = 200
FINDINGS = 200
EMPTY = """
from textual.app import App
from textual.widgets import Static
class Empty(App):
    def compose(self):
        yield Static("empty-app")
Empty().run()
"""
DOWN, UP, END = b"\x1b[B", b"\x1b[A", b"\x1b[F"
EVERY = 4  # presses of the down key before one of the up key
IDLE = 10.0  # seconds
SLOW = 2.0  # seconds that a slow server takes per statement
SLOW_KEYS = 60


def figures(top: str) -> Iterator[Figure]:
    """First frame, first finding, keys, idle and quitting; also with servers that are slow or never answer."""
    # As in an installed mycnf: a checkout without writable bytecode would be compiled at each start.
    for package in ("advisor", "rules", "probes"):
        compileall.compile_dir(os.path.join(top, package), quiet=1)
    os.environ["PYTHONPATH"] = top
    with tempfile.TemporaryDirectory() as own:
        os.environ |= {"XDG_STATE_HOME": own, "XDG_CONFIG_HOME": own}
        snapshot = os.path.join(own, "large.json")
        _enlarge(os.path.join(top, "advisor", "demo", "recording.json"), snapshot)
        yield from _starting()
        yield from _keys(snapshot)
        yield _idle()
        yield from _silent()
        yield from _slow(own)
        yield from _probing(own)


def _mycnf(*words: str) -> tuple[str, ...]:
    return (sys.executable, "-m", "advisor", "audit", *words)


def _starting() -> Iterator[Figure]:
    empty, frame, finding = [], [], []
    for _ in range(ROUNDS):  # alternating, so that slow periods of the machine affect all three
        with window(sys.executable, "-c", EMPTY) as shown:
            empty.append(shown.until(b"empty-app"))
        with window(*_mycnf("--demo")) as shown:
            first = shown.until(b"1 Findings")
            frame.append(first)
            finding.append(first + shown.until(b"world-readable-secret"))
    base = statistics.median(empty)
    yield Figure("an empty Textual app, first frame", base, "s")
    yield Figure("app, first frame, times an empty app's", statistics.median(frame) / base, "", "<=", 1.3)
    yield Figure("app, first finding of a snapshot, times that", statistics.median(finding) / base, "", "<=", 2)


def _keys(snapshot: str) -> Iterator[Figure]:
    with window(*_mycnf("--snapshot", snapshot)) as shown:
        shown.until(b"Do first")  # the keys of earlier frames are lost
        shown.type(b"1")
        shown.until(b"OPT001")
        shown.forget()
        yield Figure(f"key to paint, {FINDINGS} findings, p95", 1000 * _p95(shown), "ms", "<=", 50)
        shown.press(b"2")
        shown.until(b"of 7")
        shown.press(b"a")  # all of them, not only those that differ from their defaults
        shown.forget()
        yield Figure("key to paint, 700 variables, p95", 1000 * _p95(shown), "ms", "<=", 50)


def _p95(shown: Window, keys: int = KEYS, rest: float = 0.02) -> float:
    took = []
    for place in range(keys):
        took.append(shown.press(UP if place % EVERY == 0 else DOWN))
        while shown.read(rest):
            pass
    return sorted(took)[int(len(took) * 0.95)]


def _idle() -> Figure:
    with window(*_mycnf("--demo")) as shown:
        shown.until(b"world-readable-secret")
        shown.forget()
        before = _processor(shown.pid)
        time.sleep(IDLE)
        return Figure("app, idle", 100 * (_processor(shown.pid) - before) / IDLE, "% of a core", "<=", 3)


def _processor(pid: int) -> float:
    times = psutil.Process(pid).cpu_times()
    return float(times.user + times.system)


def _silent() -> Iterator[Figure]:
    """A server that accepts the connection and never answers: keys still work, and q quits."""
    with _mute() as port, window(*_mycnf("--host", "127.0.0.1", "--port", str(port), "--user", "x")) as shown:
        shown.until(b"reading")
        shown.forget()
        yield Figure("key to paint while a server hangs", 1000 * shown.press(b"?"), "ms", "<=", 50)
        shown.forget()
        shown.press(b"\x1b")
        shown.forget()
        shown.type(b"q")  # measures the complete exit, not the first paint
        yield Figure("q to the prompt while a server hangs", shown.seconds_to_end(), "s", "<=", 0.5)


def _slow(own: str) -> Iterator[Figure]:
    """A server that takes two seconds per statement: keys while everything is read again, and quitting meanwhile."""
    names = ("key to paint while statements take 2 s, p95", "q to the prompt while statements take 2 s")
    name = next((name for name in names_of(()) if not lacking(name)), None)
    if name is None:
        yield from (Figure(figure, None, reason_missing="no server is here (make servers)") for figure in names)
        return
    slow, empty = os.path.join(own, "slow.sock"), os.path.join(own, "empty.cnf")
    with open(empty, "w", encoding="utf-8"):
        pass
    words = ("--isolated", "--defaults-file", empty, "--socket", slow, "--user", "root")
    hold = [0.0]
    with (
        start_server(provisioned(name)) as server,
        slowed(server.socket, slow, lambda _: time.sleep(hold[0])),
        window(*_mycnf(*words)) as shown,
    ):
        shown.until(b"read-only")
        hold[0] = SLOW
        shown.type(b"r2")
        shown.until(b"of ")
        shown.forget()
        yield Figure(names[0], 1000 * _p95(shown, SLOW_KEYS, 0.1), "ms", "<=", 50)
        shown.type(b"q")
        yield Figure(names[1], shown.seconds_to_end(), "s", "<=", 0.5)


def _probing(own: str) -> Iterator[Figure]:
    """Quitting during a probe with a throwaway server, and the time until its files are removed."""
    names = ("q to the prompt while a probe's server runs", "until nothing of that is left")
    name = next((name for name in names_of(()) if not lacking(name)), None)
    if name is None:
        yield from (Figure(figure, None, reason_missing="no server is here (make servers)") for figure in names)
        return
    from probe_process import FORCED, programs  # finds its dependencies only after real_servers was imported

    (_, program), libraries = programs(name)
    scratch, empty = os.path.join(own, "scratch"), os.path.join(own, "empty.cnf")
    os.mkdir(scratch)
    with start_server(provisioned(name)) as server:
        path = f"{os.path.dirname(program)}:{os.environ['PATH']}"
        os.environ |= {"PATH": path, "TMPDIR": scratch} | libraries
        words = ("--isolated", "--defaults-file", empty, "--socket", server.socket, "--user", "root")
        with window(*_mycnf(*words)) as shown:
            shown.until(b"read-only")
            shown.type(b"6")
            shown.until(b"cache-fit")
            shown.forget()
            shown.type(END + UP + b"\r")  # commit is the second to last
            shown.until(b"Enter starts")
            shown.forget()
            shown.until(b"creates")  # the host was checked
            shown.forget()
            shown.press(b"\t")
            shown.until(b"refusals")  # the cursor is in the field for objections to override
            shown.type(FORCED.encode() + b"\r")
            shown.until(b"round 1 of")
            began = time.monotonic()
            shown.type(b"q")
            yield Figure(names[0], shown.seconds_to_end(), "s", "<=", 0.5)
            while os.listdir(scratch):
                time.sleep(0.01)
            yield Figure(names[1], time.monotonic() - began, "s")


@contextmanager
def _mute() -> Iterator[int]:
    with socket.create_server(("127.0.0.1", 0)) as server:
        calls: list[socket.socket] = []
        threading.Thread(target=lambda: calls.extend(iter(lambda: server.accept()[0], None)), daemon=True).start()
        yield server.getsockname()[1]


def _enlarge(recording: str, path: str) -> None:
    """The recording with 700 variables and an option file that adds 200 findings."""
    with open(recording, encoding="utf-8") as file:
        snapshot = json.load(file)
    variables = snapshot["server"]["variables"]
    variables |= {f"made_up_{n}": "x" * 30 for n in range(700 - len(variables))}
    lines = "".join(f"no_such_option_{n} = {n}\n" for n in range(FINDINGS))
    copy = snapshot["files"]["files"][-1]
    copy["text"] = f"{copy['text'] or ''}\n[mysqld]\n{lines}"
    with open(path, "w", encoding="utf-8") as file:
        json.dump(snapshot, file)
