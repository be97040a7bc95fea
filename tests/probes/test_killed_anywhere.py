"""kill -9 at any moment of any experiment: what it had made is gone after the next run, and nothing else is touched.

The moments are drawn by MYCNF_KILL_SEED (1 unless it is set); MYCNF_KILLS says how many there are, ten by default.
"""

from __future__ import annotations

import itertools
import json
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import pytest
from foreign_server import Foreign, foreign_server
from mycnf_command import CHECKOUT
from probe_process import FORCED, Launched, launched, programs
from process_checks import PATIENCE, alive, eventually
from real_servers import Binaries

from probes.sandbox.scratch import MARKER, PREFIX

SEED = int(os.environ.get("MYCNF_KILL_SEED", "1"))
KILLS = int(os.environ.get("MYCNF_KILLS", "10"))


class Run(NamedTuple):
    """An experiment in a small size: its options, the servers that it starts, and what its rounds are known by.

    `rounds` is part of the command line of a process, or a glob of a file of the data directory without which the
    preparation isn't over and with which it is.
    """

    options: tuple[str, ...]
    servers: tuple[str, ...] = ()
    rounds: str = "sysbench"


SMALL = {
    "random-write": Run(("size=64M",), rounds="probes.disk.worker"),
    "read-buffer": Run(("table=2M", "sizes=32K,1M", "readers=2"), ("mariadb-10.11",), rounds="scans_fixed/scan.MYD"),
    "buffer-pool-instances": Run(("data=1", "instances=1,4", "threads=2"), ("mysql-5.7",)),
    "read-ahead": Run(("pool=6M", "data=250", "threads=2"), ("mariadb-10.11",)),
    "file-system": Run(("pool=6M", "data=20", "threads=2", "against={beside}"), ("mariadb-10.11",)),
    "range-scan": Run(("rows=20000", "ranges=1,100", "servers=mysql-5.7,mariadb"), ("mysql-5.7", "mariadb-10.11")),
    "cache-fit": Run(("pool=8M", "table=1M", "layouts=16K,4K", "steps=2"), ("mariadb-10.11",)),
    "commit": Run(
        ("rows=500", "flush=1,2", "sync=0", "threads=2", "driver=mycnf"), ("mariadb-10.11",), "workload.worker"
    ),
    "redo-capacity": Run(("pool=32M", "sizes=16M,32M", "threads=2"), ("mysql-5.7",)),
    "pool-size": Run(("sizes=16M,64M", "data=24M", "access=uniform", "threads=2"), ("mysql-5.7",)),
    "io-capacity": Run(("pool=16M", "redo=16M", "values=100,1000", "threads=2"), ("mysql-5.7",)),
    "doublewrite": Run(("pool=6M", "data=200", "threads=2"), ("mariadb-10.11",)),
    "session-buffers": Run(("rows=2000", "sizes=32K,4M", "threads=2"), ("mariadb-10.11",)),
    "connections": Run(("threads=2", "transports=socket,tcp"), ("mariadb-10.11",)),
    "malloc": Run(("threads=2", "allocators=glibc,glibc-2-arenas"), ("mariadb-10.11",)),
    "ab": Run(("set=innodb_flush_neighbors=0,1", "rows=500", "threads=2"), ("mariadb-10.11",)),
}


class Moment(NamedTuple):
    """When to kill: so many seconds after a stage of an experiment's run has been reached."""

    experiment: str
    stage: str
    after: float

    def __str__(self) -> str:
        return f"{self.experiment}, {self.stage} + {self.after:.2f} s"


# Each with the seconds that it lasts for, at least.
PREPARING = {"begun": 0.6, "directory": 1.0, "server": 0.8}
MEASURING = {"rounds": 1.0}


def moments(seed: int, count: int) -> list[Moment]:
    """So many moments: every experiment has one before any has a second, which is in the other half of its run."""
    source = random.Random(seed)  # noqa: S311 - a draw, no secret
    found: list[Moment] = []
    while len(found) < count:
        halves = {name: source.random() < 0.5 for name in SMALL}
        for turned in (False, True):
            for name in source.sample(list(SMALL), len(SMALL)):
                stages = PREPARING if halves[name] != turned else MEASURING
                stage = source.choice([s for s in stages if SMALL[name].servers or s != "server"])
                found.append(Moment(name, stage, source.uniform(0, stages[stage])))
    return found[:count]


@pytest.fixture(scope="module")
def neighbour(binaries: Binaries, templates: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Foreign]:
    """A server that runs beside all of them."""
    with foreign_server(binaries("mariadb-10.11"), templates, tmp_path_factory.mktemp("theirs") / "server") as server:
        yield server


def decoys(folder: Path) -> None:
    """Directories that look like ours and aren't: without a marker, empty, with another's marker, behind a link."""
    for name in ("decoy123", "decoy", "foreign1"):
        (folder / f"{PREFIX}{name}").mkdir(mode=0o700)
    (folder / f"{PREFIX}decoy123" / "precious").write_text("kept")
    (folder / f"{PREFIX}foreign1" / MARKER).write_text(json.dumps({"product": "another"}))
    (folder / f"{PREFIX}elsewhere").symlink_to(folder / f"{PREFIX}decoy123")


def tree(folder: Path) -> dict[str, tuple[int, int, int]]:
    """Everything below a folder, with what would change were it touched."""
    found = {}
    for path in sorted(folder.rglob("*")):
        status = path.lstat()
        found[str(path.relative_to(folder))] = (status.st_ino, status.st_mode, status.st_mtime_ns)
    return found


def reached(moment: Moment, run: Launched, places: list[Path]) -> Callable[[], object]:
    """What shows that a run has come to a stage."""

    def running(words: str) -> bool:
        return any(words in command for command in run.family().values())

    known_by = SMALL[moment.experiment].rounds

    def measuring() -> bool:
        made = [path for place in places for path in place.glob(f"{PREFIX}*/data/{known_by}")]
        return running(known_by) or any(not (path.parent / "seed.MYD").exists() for path in made)

    stages: dict[str, Callable[[], object]] = {
        "begun": lambda: True,
        "directory": lambda: any(path.exists() for place in places for path in place.glob(f"{PREFIX}*/{MARKER}")),
        "server": lambda: running("--socket="),
        "rounds": measuring,
    }
    return stages[moment.stage]


def shared_memory(pids: list[int]) -> set[str]:
    """What these processes share beyond files: POSIX and System V shared memory by the kernel's names."""
    found = set()
    for pid in pids:
        try:
            maps = Path(f"/proc/{pid}/maps").read_text("utf-8", "replace").split()
        except OSError:
            continue
        found |= {word for word in maps if word.startswith(("/dev/shm/", "/SYSV"))}
    return found


def short_ones(owner: int) -> list[Path]:
    """Directories for sockets of a dead owner, which are in /tmp where the other's path is too long."""
    found = []
    for marker in Path("/tmp").glob(f"{PREFIX}*/{MARKER}"):
        try:
            report = json.loads(marker.read_text("utf-8"))
        except (OSError, ValueError):
            continue
        if (report.get("owner") or {}).get("pid") == owner:
            found.append(marker.parent)
    return found


@pytest.mark.parametrize("moment", moments(SEED, KILLS), ids=str)
def test_kill_9_leaves_nothing_after_the_next_run(
    moment: Moment, binaries: Binaries, neighbour: Foreign, tmp_path: Path
) -> None:
    """Every process of the run dies with it, the next run of any probe removes its files, and nothing else changes."""
    run = SMALL[moment.experiment]
    for name in run.servers:
        binaries(name)  # skips by name
    work, beside, home = (tmp_path / name for name in ("work", "beside", "home"))
    work.mkdir()
    beside.mkdir()
    decoys(work)
    theirs = tree(work), tree(beside), sorted(tree(neighbour.data))
    servers, env = programs(*run.servers)
    options = [word for option in run.options for word in ("--option", option.format(beside=beside))]
    words = [moment.experiment, *servers, *options, "--dir", work, "--rounds", "1000", "--force", FORCED]
    with launched(home, *words, env=env) as going:
        going.wait_for(reached(moment, going, [work, beside]), moment.stage)
        time.sleep(moment.after)
        family = going.family()
        shared = shared_memory(list(family))
        assert going.process.poll() is None, going.said()
        going.process.kill()
        going.process.wait(PATIENCE)
        eventually(lambda: not any(map(alive, family)) and not going.family(), what="all of it dies with it")
        assert not any(Path(path).exists() for path in shared)
    with launched(home, "memory-bandwidth", *NEXT, "--dir", home, "--force", FORCED) as following:
        assert following.end() == 0, following.said()
    assert (tree(work), tree(beside)) == theirs[:2]
    assert list((home / "tmp").iterdir()) == []
    assert [path for path in (home / "state").rglob("*") if path.name.endswith(".part")] == []
    assert short_ones(going.process.pid) == []
    assert alive(neighbour.pid)
    assert sorted(tree(neighbour.data)) == theirs[2]


NEXT = ("--rounds", "1", "--time", "1s", "--option", "by=python", "--option", "buffers=16K")


def test_the_moments_are_spread_over_the_experiments() -> None:
    """Two rounds of moments go through both halves of every experiment, and equal seeds draw equal moments."""
    both = {(m.experiment, m.stage in PREPARING) for m in moments(7, 2 * len(SMALL))}
    assert both == set(itertools.product(SMALL, (True, False)))
    assert moments(7, 40) == moments(7, 40) != moments(8, 40)


STEPWISE = """
import os, sys, time
from probes.sandbox import scratch, sweep
base, files = sys.argv[1], {scratch.__file__, scratch.shutil.__file__}
def make_and_remove():
    made = scratch.Scratch(base)
    with open(made.file("data/ibdata1"), "w") as file:
        file.write("x")
    made.remove()
def die_at(line):
    left = line
    def look(frame, event, _):
        nonlocal left
        if frame.f_code.co_filename not in files:
            return None
        left -= event == "line"
        if left < 0:
            os.kill(os.getpid(), 9)
        return look
    sys.settrace(look)
for line in range(10_000):
    child = os.fork()
    if child == 0:
        die_at(line)
        make_and_remove()
        os._exit(0)
    _, status = os.waitpid(child, 0)
    for name in os.listdir(base):  # as if it had been a while ago
        os.utime(os.path.join(base, name), (0, 0))
    left = os.listdir(base)
    sweep(base)
    print(len(left), *os.listdir(base), flush=True)
    if status == 0:
        break
"""


def test_a_directory_is_swept_wherever_its_making_or_removal_was_cut_short(tmp_path: Path) -> None:
    """Killed at any line of making and removing a scratch directory, what it leaves is gone after the next sweep."""
    done = subprocess.run(
        [sys.executable, "-c", STEPWISE, str(tmp_path)],
        capture_output=True,
        text=True,
        cwd=CHECKOUT,
        timeout=PATIENCE,
        check=True,
    )
    left = [line.split() for line in done.stdout.splitlines()]
    assert sum(count == "1" for count, *_ in left) > 20
    assert [names for _, *names in left if names] == []


def test_a_directory_that_hands_its_group_down_is_swept_as_any_other(tmp_path: Path) -> None:
    """Below a directory with the set-group-ID bit, what a dead owner left is known for ours all the same."""
    tmp_path.chmod(0o2770)
    code = "import os, sys; from probes.sandbox.scratch import Scratch; Scratch(sys.argv[1]); os.kill(os.getpid(), 9)"
    done = subprocess.run([sys.executable, "-c", code, str(tmp_path)], cwd=CHECKOUT, timeout=PATIENCE, check=False)
    assert done.returncode == -signal.SIGKILL
    assert len(list(tmp_path.iterdir())) == 1
    subprocess.run(
        [sys.executable, "-c", "import sys; from probes.sandbox import sweep; sweep(sys.argv[1])", str(tmp_path)],
        cwd=CHECKOUT,
        timeout=PATIENCE,
        check=True,
    )
    assert list(tmp_path.iterdir()) == []
