"""A hostile server in the place of a real one, and mycnf before it."""

from __future__ import annotations

import os
import subprocess
import sys
import unicodedata
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import NamedTuple, Protocol

import pytest
from hostile_recording import record
from hostile_server import Heard, Mischief, Recording, hostile
from mycnf_command import CHECKOUT, Ended, check_run
from real_servers import Server

from advisor.__main__ import main
from advisor.collect.collect import CollectRequest, collect_from_account
from advisor.collect.connection.connect import ConnectionLimits
from advisor.collect.connection.options import Account
from advisor.core.errors import ConnectError
from advisor.facts import Facts

RECORDINGS: dict[str, Recording] = {}
QUICK = ConnectionLimits(connect=1.0, read=0.2, statement=1, answer=0.4, whole=1.2)
# A process begins with the peak of the one that it is forked from: this small one stands between it and the tests.
MEASURING = """
import os, sys
_, status, used = os.wait4(os.posix_spawn(sys.argv[2], sys.argv[2:], os.environ), 0)
open(sys.argv[1], "w").write(str(used.ru_maxrss))
sys.exit(os.waitstatus_to_exitcode(status))
"""
TURNS = int(os.environ.get("MYCNF_TURNS", "1"))
PATIENCE = 600.0  # seconds; a run that takes longer hangs
# Controls, marks that turn or hide text, separators of lines and paragraphs, halves of characters.
ACTING = ("Cc", "Cf", "Zl", "Zp", "Cs")
AUDIT = ("audit", "--isolated", "--window", "0.01", "--format", "text")


class Measured(NamedTuple):
    """How a process of mycnf ended, and the most memory that it had, in bytes."""

    ended: Ended
    peak: int


class Against(Protocol):
    """Runs mycnf in this process against a server that does this mischief; what it heard is in `heard`."""

    heard: Heard

    def __call__(self, mischief: Mischief, *words: str | Path) -> Ended: ...


Measure = Callable[..., Measured]
Alone = Callable[..., Ended]
Turns = Callable[[int], int]


@pytest.fixture
def recording(server_name: str, server: Server, tmp_path: Path) -> Recording:
    """How the real server answers; it is asked once."""
    if server_name not in RECORDINGS:
        RECORDINGS[server_name] = record(server(server_name).socket, tmp_path)
    return RECORDINGS[server_name]


@pytest.fixture(autouse=True)
def own_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home with a state of the test's own."""
    home = tmp_path / "home"
    home.mkdir()
    for name in ("HOME", "XDG_STATE_HOME", "XDG_CONFIG_HOME"):
        monkeypatch.setenv(name, str(home))
    return home


def some(kinds: Iterable[str], usual: tuple[str, ...]) -> tuple[str, ...]:
    """Which kinds are tried: the usual few, which cost little, or with MYCNF_TURNS all."""
    return usual if TURNS == 1 else tuple(kinds)


def entered(account: Account, limits: ConnectionLimits = QUICK) -> Facts | ConnectError:
    """What an audit reads with this account, or why there is nothing, on one harmless line; any other end fails."""
    try:
        return collect_from_account(account, CollectRequest(window=0.01, limits=limits))
    except ConnectError as error:
        refusal = error
    assert str(refusal).isprintable()
    return refusal


def collected(
    recording: Recording, place: Path, mischief: Mischief, limits: ConnectionLimits = QUICK
) -> Facts | ConnectError:
    """What an audit reads of a server that does this mischief, or why there is nothing."""
    place.unlink(missing_ok=True)
    with hostile(recording, str(place), mischief):
        return entered(Account("root", socket=str(place)), limits)


def said(found: Facts | ConnectError) -> str:
    """Why not everything was read, in one text."""
    return str(found) if isinstance(found, ConnectError) else f"{found.lost} {[u.reason for u in found.unavailable]}"


def connecting(folder: Path, place: Path | str) -> list[str]:
    """The words of the command line that lead to this socket, and to no other option file."""
    empty = folder / "empty.cnf"
    empty.touch()
    return ["--defaults-file", str(empty), "--socket", str(place), "--user", "root"]


@pytest.fixture
def against(recording: Recording, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> Against:
    """mycnf against a hostile server, in this process."""

    class Run:
        heard = Heard()

        def __call__(self, mischief: Mischief, *words: str | Path) -> Ended:
            place = tmp_path / "h.sock"
            place.unlink(missing_ok=True)
            capfd.readouterr()
            with hostile(recording, str(place), mischief) as (self.heard, _):
                code = main([str(words[0]), *connecting(tmp_path, place), *map(str, words[1:])])
            return check_run(code, *capfd.readouterr())

    return Run()


@pytest.fixture
def alone(capfd: pytest.CaptureFixture[str]) -> Alone:
    """mycnf in this process, without a server."""

    def run(*words: str | Path) -> Ended:
        capfd.readouterr()
        code = main([*map(str, words)])
        return check_run(code, *capfd.readouterr())

    return run


@pytest.fixture
def turns() -> Turns:
    """How often to try what is drawn by lot: so many times, or MYCNF_TURNS times as many."""
    return lambda usual: usual * TURNS


@pytest.fixture
def measure(tmp_path: Path, own_home: Path) -> Measure:
    """mycnf as a process of its own, its memory measured by the kernel."""

    def run(*words: str | Path, stdin: bytes = b"") -> Measured:
        peak = tmp_path / "peak"
        done = subprocess.run(
            [sys.executable, "-c", MEASURING, str(peak), sys.executable, "-m", "advisor", *map(str, words)],
            input=stdin,
            capture_output=True,
            cwd=tmp_path,
            env={"PATH": os.environ["PATH"], "HOME": str(own_home), "PYTHONPATH": str(CHECKOUT)},
            timeout=PATIENCE,
            check=False,
        )
        ended = check_run(done.returncode, done.stdout.decode(), done.stderr.decode())
        return Measured(ended, int(peak.read_text("utf-8")) << 10)

    return run


def ended_well(ended: Ended, *codes: int) -> str:
    """A documented exit code, clear lines on stderr, nothing unexpected, and no character that acts on a terminal."""
    assert ended.code in (codes or (0, 1, 3)), ended.err
    lines = ended.err.splitlines()
    assert all(line.startswith("mycnf: ") for line in lines), ended.err
    assert "internal error" not in ended.err
    assert harmless(ended.err)
    assert harmless(ended.out)
    return lines[-1] if lines else ""


def harmless(text: str) -> bool:
    """Whether no character but the ends of lines controls, hides or turns anything, or is half of one."""
    return not any(unicodedata.category(letter) in ACTING for letter in set(text.replace("\r\n", "\n")) - {"\n"})
