"""Signals and closed terminals at any moment: no traceback, nothing half written, nothing left beside it.

Experiments are tried in tests/commands/test_probe.py, tests/probes/test_leaving.py and test_killed_anywhere.py.
"""

from __future__ import annotations

import os
import signal
import subprocess
from pathlib import Path
from typing import Any

import pytest
from background_runs import Begin, OnTerminal
from general_log import overheard
from mycnf_command import CHECKOUT
from process_checks import PATIENCE, eventually
from real_servers import Server

from advisor import fixing
from advisor.__main__ import main
from advisor.report import output
from advisor.state import private_file

SNAPSHOT = str(CHECKOUT / "examples" / "snapshots" / "mariadb-10.11.json")
BAD = str(CHECKOUT / "examples" / "bad.cnf")
SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
OLD = "the old one"


@pytest.fixture
def log(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where a server logs, apart from what mycnf writes."""
    return tmp_path_factory.mktemp("log") / "general.log"


@pytest.mark.parametrize("number", SIGNALS)
@pytest.mark.parametrize(
    "words", [("audit", "--isolated", "--format", "json", "-o", "out"), ("collect", "-o", "out", "--keep")]
)
def test_while_a_server_is_watched(
    words: tuple[str, ...], number: signal.Signals, *, begin: Begin, server: Server, tmp_path: Path, log: Path
) -> None:
    """In the midst of a window the command ends at once, says no more than a line, and writes nothing."""
    sandbox = server("mariadb-10.11")
    (tmp_path / "out").write_text(OLD)
    with overheard(sandbox, log) as heard:
        process = begin(*words, "--socket", sandbox.socket, "--user", "root", "--window", "600")
        eventually(heard.waiting, what="its window begins")
        process.send_signal(number)
    out, err = process.communicate(timeout=PATIENCE)
    assert process.returncode in (130, -number)
    assert out == b""
    assert err in (b"", b"mycnf: interrupted\n")
    left = {path.name: path.read_text() for path in tmp_path.rglob("*") if path.is_file()}
    assert left == {"out": OLD}


# Each writes a file by one of the three ways that there are, each with a call in its midst.
WRITES: dict[str, tuple[tuple[str, ...], Any]] = {
    "report": (("lint", "--isolated", "--target", "mysql-8.4", BAD, "--format", "json", "-o", "out"), output),
    "many": (("report", "--isolated", "--jobs", "1", SNAPSHOT, SNAPSHOT, "--format", "jsonl", "-o", "out"), output),
    "private": (("history", "add", SNAPSHOT), private_file),
    "fix": (("lint", "--isolated", "--target", "mysql-8.4", "--fix", "out"), fixing),
}


class Interrupting:
    """The os module of a module that writes, in which a signal comes when a text is to be synced."""

    def __init__(self, number: signal.Signals) -> None:
        self.number = number
        self.times = 0

    def __getattr__(self, name: str) -> Any:
        return getattr(os, name)

    def fsync(self, handle: int) -> None:
        """The signal, and the sync."""
        self.times += 1
        os.kill(os.getpid(), self.number)
        os.fsync(handle)


@pytest.fixture(autouse=True)
def _heard() -> Any:
    """Default signal handlers, in spite of the shell's ignored signals and of the last test."""
    before = {number: signal.getsignal(number) for number in SIGNALS}
    signal.signal(signal.SIGINT, signal.default_int_handler)
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


@pytest.mark.parametrize("number", SIGNALS)
@pytest.mark.parametrize("way", WRITES)
def test_while_a_file_is_written(
    way: str,
    number: signal.Signals,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """In the midst of writing: the old file is whole, no part is left, and the command ends with 130."""
    words, module = WRITES[way]
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    text = "[mysqld]\nmax_binlog_size=4000\n" if way == "fix" else OLD
    (tmp_path / "out").write_text(text)
    interrupting = Interrupting(number)
    monkeypatch.setattr(module, "os", interrupting)
    assert main(list(words)) == 130
    assert capsys.readouterr().err.splitlines()[-1] == "mycnf: interrupted"
    assert interrupting.times == 1
    left = {path.name: path.read_text() for path in tmp_path.rglob("*") if path.is_file() and path.name != ".lock"}
    assert left == {"out": text}


def test_a_signal_that_is_ignored_ends_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Under nohup a closed terminal doesn't keep a report from being written."""
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    monkeypatch.setattr(output, "os", Interrupting(signal.SIGHUP))
    output.write("new", str(tmp_path / "out"))
    assert (tmp_path / "out").read_text() == "new"


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_signals_end_the_app(number: signal.Signals, begin: Begin, tmp_path: Path) -> None:
    """It leaves the terminal as it found it, with the code of an interruption."""
    it = OnTerminal(begin, "audit", "--demo")
    eventually(lambda: it.shows(b"sync_binlog"), what="the app shows a finding")
    assert b"\x1b[?1049h" in it.shown  # the other screen
    it.process.send_signal(number)

    eventually(it.ended, what="the app ends")
    assert it.process.returncode == 130
    if number is signal.SIGTERM:
        assert it.shown.rindex(b"\x1b[?1049l") > it.shown.rindex(b"\x1b[?1049h")
        assert b"\x1b[?25h" in it.shown[it.shown.rindex(b"\x1b[?1049l") :]  # and the cursor
    assert b"Traceback" not in it.shown
    assert not list(tmp_path.rglob("mycnf-crash-*"))


@pytest.mark.parametrize(
    ("words", "until"),
    [
        (("audit", "--demo"), b"sync_binlog"),
        (("lint", "-"), None),
        (("audit", "--ask-password", "--host", "h"), b"assword"),
    ],
    ids=["the app", "lint of stdin", "a password is asked for"],
)
def test_the_terminal_is_closed(words: tuple[str, ...], until: bytes | None, begin: Begin, tmp_path: Path) -> None:
    """Nothing runs on without one, and no file of a defect is left."""
    it = OnTerminal(begin, *words)
    if until:
        eventually(lambda: it.shows(until), what="it waits for its user")
    else:
        eventually(lambda: _reads_terminal(it.process), what="it reads its stdin")
    it.close()
    code = it.process.wait(PATIENCE)
    assert code in (130, -signal.SIGHUP, 2, 3)
    assert not [path for path in tmp_path.rglob("*") if path.is_file() and "crash" in path.name]


def _reads_terminal(process: subprocess.Popen[bytes]) -> bool:
    """Whether it waits for what is typed: the kernel says in which call it sleeps."""
    try:
        number = Path(f"/proc/{process.pid}/syscall").read_text().split()[:2]
    except (OSError, IndexError):
        return False
    return number == ["0", "0x0"]  # read(2) of descriptor 0, on x86-64
