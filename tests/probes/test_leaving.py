"""However the owner of a throwaway server ends, nothing of the server is left behind."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from mycnf_command import CHECKOUT
from process_checks import PATIENCE, alive, eventually, first_row
from real_servers import Binaries, Start

from probes.sandbox import Binary, sweep
from probes.sandbox import start_server as start_sandbox
from probes.sandbox.scratch import MARKER, PREFIX, Scratch

OWNER = """
import signal, sys, time
# Jobs of a shell without job control are born deaf to SIGINT, those of nohup to SIGHUP; so would be their children.
signal.signal(signal.SIGINT, signal.default_int_handler)
signal.signal(signal.SIGHUP, signal.SIG_DFL)
from probes.sandbox import Binary, start_server
from advisor.core.model import Target
binary = eval(sys.argv[1])
sandbox = start_server(binary, base=sys.argv[2], templates=sys.argv[3])
print(sandbox.pid, sandbox.directory, flush=True)
{then}
"""


def owner(binary: Binary, base: Path, templates: Path, then: str) -> tuple[subprocess.Popen[str], int, Path]:
    """A process of its own that starts a server and does `then`; its process, the server's pid and directory."""
    process = subprocess.Popen(
        [sys.executable, "-c", OWNER.format(then=then), repr(binary), str(base), str(templates)],
        stdout=subprocess.PIPE,
        text=True,
        cwd=CHECKOUT,
    )
    assert process.stdout is not None
    pid, directory = process.stdout.readline().split()
    return process, int(pid), Path(directory)


def test_leaving_takes_everything_along(binaries: Binaries, templates: Path, tmp_path: Path) -> None:
    """After the with block neither process nor directory is left, and closing again does nothing."""
    with start_sandbox(binaries("mariadb-10.11"), base=tmp_path, templates=templates) as sandbox:
        pid = sandbox.pid
        assert (Path(sandbox.directory).stat().st_mode & 0o777) == 0o700
    assert not alive(pid)
    assert list(tmp_path.iterdir()) == []
    sandbox.close()


def test_an_exception_takes_everything_along(binaries: Binaries, templates: Path, tmp_path: Path) -> None:
    """An exception in the with block ends the server as an ordinary end does."""
    with (
        pytest.raises(ZeroDivisionError),
        start_sandbox(binaries("mariadb-10.11"), base=tmp_path, templates=templates) as sandbox,
    ):
        _ = 1 / 0
    assert not sandbox.running
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT])
def test_a_signal_takes_everything_along(
    binaries: Binaries, templates: Path, tmp_path: Path, number: signal.Signals
) -> None:
    """A process that is told to end takes its server and its directory along, and still ends by that signal."""
    process, pid, _ = owner(binaries("mariadb-10.11"), tmp_path, templates, "time.sleep(600)")
    process.send_signal(number)
    try:
        assert process.wait(PATIENCE) == -number
    finally:
        process.kill()
    assert not alive(pid)
    assert list(tmp_path.iterdir()) == []


def test_an_ordinary_end_takes_everything_along(binaries: Binaries, templates: Path, tmp_path: Path) -> None:
    """A process that ends without closing its server leaves nothing behind."""
    process, pid, _ = owner(binaries("mariadb-10.11"), tmp_path, templates, "pass")
    assert process.wait(PATIENCE) == 0
    assert not alive(pid)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.servers("mysql-9.7", "mariadb-10.11")
def test_kill_9_leaves_nothing_running(
    binary: Binary, templates: Path, tmp_path: Path, start: Start, server_name: str
) -> None:
    """After kill -9 of the owner its server dies at once, and the next start in that place removes the directory."""
    process, pid, directory = owner(binary, tmp_path, templates, "time.sleep(600)")
    assert alive(pid)
    process.kill()
    process.wait(PATIENCE)
    eventually(lambda: not alive(pid), what="the server dies with its owner")
    assert directory.is_dir()
    start(server_name, base=tmp_path, small=True)
    assert not directory.exists()


def test_a_server_survives_the_thread_that_started_it(binaries: Binaries, templates: Path, tmp_path: Path) -> None:
    """A server started from a worker thread runs on when that thread has ended."""
    with ThreadPoolExecutor(1) as pool:
        sandbox = pool.submit(
            start_sandbox, binaries("mariadb-10.11"), base=tmp_path, templates=templates, small=True
        ).result()
    with sandbox:
        assert first_row(sandbox, "SELECT 1") == (1,)
        assert sandbox.running


def test_a_forked_child_leaves_its_parents_server_alone(start: Start) -> None:
    """When a forked child of the owner exits, the owner's server and directory stay."""
    sandbox = start("mariadb-10.11", small=True)
    code = (
        "import os, sys\n"
        "from probes.sandbox.scratch import Scratch\n"
        "from probes.sandbox import cleanup\n"
        "scratch = Scratch(sys.argv[1])\n"
        "scratch.close = scratch.remove\n"
        "cleanup.register(scratch)\n"
        "child = os.fork()\n"
        "if child == 0: sys.exit(0)\n"
        "os.waitpid(child, 0)\n"
        "sys.exit(0 if os.path.isdir(scratch.path) else 1)\n"
    )
    done = subprocess.run([sys.executable, "-c", code, sandbox.directory], cwd=CHECKOUT, timeout=PATIENCE, check=False)
    assert done.returncode == 0
    assert not list(Path(sandbox.directory).glob(PREFIX + "*"))


def test_sweep_spares_what_is_not_an_abandoned_sandbox(tmp_path: Path) -> None:
    """Directories without our marker, with another's, of a living owner, or behind a link are never touched."""
    living = Scratch(tmp_path)
    unmarked, foreign, elsewhere = (tmp_path / f"{PREFIX}{name}" for name in ("unmarked", "foreign", "elsewhere"))
    for folder in (unmarked, foreign):
        folder.mkdir(mode=0o700)
        (folder / "precious").write_text("kept")
    (foreign / MARKER).write_text(json.dumps({"product": "another"}))
    target = tmp_path / "target"
    target.mkdir(mode=0o700)
    (target / MARKER).write_text(json.dumps({"product": "mycnf-advisor"}))
    elsewhere.symlink_to(target)
    assert sweep(tmp_path) == []
    assert {path.name for path in tmp_path.iterdir()} == {
        Path(living.path).name,
        unmarked.name,
        foreign.name,
        elsewhere.name,
        "target",
    }
    living.remove()
    assert not Path(living.path).exists()


def test_sweep_removes_what_a_broken_removal_left(tmp_path: Path) -> None:
    """A directory without an owner goes, its files with it, and its path is printed."""
    left = tmp_path / f"{PREFIX}left"
    (left / "data").mkdir(parents=True)
    left.chmod(0o700)
    (left / "data" / "ibdata1").write_bytes(b"x")
    (left / MARKER).write_text(json.dumps({"product": "mycnf-advisor", "owner": None, "server": None}))
    assert sweep(tmp_path) == [str(left)]
    assert not left.exists()


def test_sweep_of_no_directory_is_quiet(tmp_path: Path) -> None:
    """A place that isn't there has nothing to sweep."""
    assert sweep(tmp_path / "nowhere") == []
