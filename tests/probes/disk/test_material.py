"""Files of the storage probes are real data on a real disk, and removed with any end of their process."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import zlib
from collections.abc import Iterator
from pathlib import Path

import pytest
from mycnf_command import CHECKOUT
from process_checks import PATIENCE

from probes.disk.files import MINIMUM_BYTES, PAGE, ScratchFiles, resident_share, supports_o_direct
from probes.experiment import ProbeError
from probes.sandbox import sweep
from probes.sandbox.scratch import SPACE_NEEDED
from probes.stop import StopSignal

OWNER = """
import signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)
signal.signal(signal.SIGHUP, signal.SIG_DFL)
from advisor.facts.host import Host
from probes.experiment import Environment, ProbeRequest
from probes.registry import load
from probes.rounds import run_experiment
from probes.stop import StopSignal
say = lambda words: print(words, flush=True)
choices = {"size": "64M"} if sys.argv[1] != "commit-latency" else {}
force = frozenset({"busy", "neighbour", "full", "little"})
request = ProbeRequest(sys.argv[2], 3600.0, 1000000, choices=choices, force=force)
environment = Environment(Host(), "here", report=say)
run_experiment(load(sys.argv[1]), environment, request, StopSignal(), lambda progress: say(progress.variant))
"""


def quiet(_words: str) -> None:
    """Nothing is said."""


def test_a_file_holds_data_that_cannot_be_squeezed(tmp_path: Path) -> None:
    """It is as long as asked for, without holes, no two pages are alike, and compression gains nothing."""
    with ScratchFiles(str(tmp_path), quiet, StopSignal()) as material:
        path = material.create("pages", 8 << 20)
        data = Path(path).read_bytes()
        assert len(data) == 8 << 20
        assert os.stat(path).st_blocks * 512 >= len(data)
        assert len({data[at : at + PAGE] for at in range(0, len(data), PAGE)}) == len(data) // PAGE
        assert len(zlib.compress(data[: 1 << 20], 1)) > 0.98 * (1 << 20)
        assert (os.stat(path).st_mode & 0o777) == 0o600
    assert list(tmp_path.iterdir()) == []


def test_a_new_file_is_not_in_the_page_cache(tmp_path: Path) -> None:
    """What was written has been written through, so the first reads come from the disk."""
    with ScratchFiles(str(tmp_path), quiet, StopSignal()) as material:
        path = material.create("pages", 8 << 20)
        if not supports_o_direct(str(tmp_path)) or resident_share(path) == 1:
            pytest.skip("temporary files are in memory here")
        assert resident_share(path) == 0


def test_a_stop_while_it_is_written_leaves_it_short(tmp_path: Path) -> None:
    """A gigabyte that is no longer needed is not waited for, and it is removed as any other."""
    stop = StopSignal()
    stop.say("cancelled")
    with ScratchFiles(str(tmp_path), quiet, stop) as material:
        assert os.path.getsize(material.create("pages", MINIMUM_BYTES)) == 0
    assert list(tmp_path.iterdir()) == []


def test_looking_for_direct_access_leaves_nothing(tmp_path: Path) -> None:
    """Asking whether O_DIRECT is to be had makes no file that could be seen."""
    before = tmp_path.stat().st_mtime_ns
    supports_o_direct(str(tmp_path))
    assert list(tmp_path.iterdir()) == []
    assert tmp_path.stat().st_mtime_ns == before


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A mounted file system of its own with a little more room than a scratch directory asks for."""
    if os.geteuid() != 0 or not all(map(shutil.which, ("mkfs.ext4", "mount", "umount"))):
        pytest.skip("a small loop file system needs root and mkfs.ext4")
    image, point = tmp_path / "image", tmp_path / "small"
    point.mkdir()
    with open(image, "wb") as file:
        file.truncate(SPACE_NEEDED + (80 << 20))
    subprocess.run(["mkfs.ext4", "-q", "-F", "-m", "0", "-O", "^has_journal", str(image)], check=True)
    mounted = subprocess.run(
        ["mount", "-o", "loop", str(image), str(point)], capture_output=True, text=True, check=False
    )
    if mounted.returncode:
        pytest.skip(f"no loop file system can be mounted here: {mounted.stderr.strip()}")
    yield point
    subprocess.run(["umount", str(point)], check=True)


def test_a_full_disk_is_one_clear_line(small_disk: Path) -> None:
    """A file that doesn't fit is refused with the way out, and the disk is as empty as before."""
    before = shutil.disk_usage(small_disk).free
    with ScratchFiles(str(small_disk), quiet, StopSignal()) as material:
        with pytest.raises(ProbeError, match=f"{small_disk} has no space for a file of 1G: .*size=") as refused:
            material.create("pages", 1 << 30)
        assert "\n" not in str(refused.value)
    assert {entry.name for entry in small_disk.iterdir()} == {"lost+found"}
    assert shutil.disk_usage(small_disk).free >= before - (1 << 20)


def owner(directory: Path, name: str, until: str) -> subprocess.Popen[str]:
    """A process that runs an experiment for an hour, as soon as it has said a line that begins with `until`."""
    process = subprocess.Popen(
        [sys.executable, "-c", OWNER, name, str(directory)], stdout=subprocess.PIPE, text=True, cwd=CHECKOUT
    )
    assert process.stdout
    for line in process.stdout:
        if line.startswith(until):
            return process
    pytest.fail(f"{name} ended before it said {until}")


MOMENTS = [
    ("random-read", "writing"),
    ("random-read", "64 at once"),
    ("sequential-read", "direct"),
    ("commit-latency", "f"),
]


@pytest.mark.parametrize(("name", "until"), MOMENTS)
def test_kill_9_is_swept_up_by_the_next_run(tmp_path: Path, name: str, until: str) -> None:
    """While files are written or measured: what kill -9 leaves is gone after the next run's sweep, and nothing else."""
    if name == "sequential-read" and not supports_o_direct(str(tmp_path)):
        pytest.skip("no O_DIRECT for temporary files here")
    (tmp_path / "theirs").write_text("stays")
    process = owner(tmp_path, name, until)
    process.kill()
    process.communicate(timeout=PATIENCE)
    assert len(list(tmp_path.iterdir())) == 2
    sweep(tmp_path)
    assert [entry.name for entry in tmp_path.iterdir()] == ["theirs"]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
@pytest.mark.parametrize("until", ["writing", "64 at once"])
def test_a_signal_takes_everything_along(tmp_path: Path, number: signal.Signals, until: str) -> None:
    """Ctrl-C and the other signals that end a run leave nothing, while files are written or measured."""
    process = owner(tmp_path, "random-read", until)
    process.send_signal(number)
    process.communicate(timeout=PATIENCE)
    assert process.returncode != 0
    assert list(tmp_path.iterdir()) == []
