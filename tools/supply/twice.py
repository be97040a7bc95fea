"""Build wheel, source archive and zipapp twice, in folders with different file ages and umasks, and compare them.

usage: python tools/supply/twice.py [--no-deps]

--no-deps leaves out the packages of the zipapp, which need a network. Exit 1 if any byte differs.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
import time
from typing import NamedTuple

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


class Round(NamedTuple):
    """The conditions of one build: folder, age of the files, umask and environment."""

    folder: str
    age: float
    umask: int
    environment: dict[str, str]


ROUNDS = (
    Round("here", 0.0, 0o022, {"TZ": "UTC", "LC_ALL": "C", "PYTHONHASHSEED": "1"}),
    Round("elsewhere/deeper", 400 * 86400.0, 0o077, {"TZ": "Asia/Tokyo", "LC_ALL": "C.UTF-8", "PYTHONHASHSEED": "2"}),
)
PAUSE = 2.1  # seconds; times in a zip have a resolution of two seconds


def main() -> int:
    """Build twice, and print the hash of each file; 1 if they differ."""
    with tempfile.TemporaryDirectory(prefix="mycnf-twice-") as scratch:
        for build_round in ROUNDS:  # copy both at once, because files in the checkout may change
            _copy(os.path.join(scratch, build_round.folder, "mycnf"), time.time() - build_round.age)
        made = []
        for build_round in ROUNDS:
            made.append(_built(os.path.join(scratch, build_round.folder), build_round))
            time.sleep(PAUSE)
    first, second = made
    for name in sorted(first | second):
        same = first.get(name) == second.get(name)
        print(f"{name}  {first.get(name, 'missing')[:16]}  {'the same' if same else 'DIFFERS'}")
    return int(first != second)


def _built(place: str, build_round: Round) -> dict[str, str]:
    """The hashes of the files built from a copy of the checkout."""
    source, out = os.path.join(place, "mycnf"), os.path.join(place, "out")
    before = os.umask(build_round.umask)
    try:
        environment = {k: v for k, v in os.environ.items() if k != "SOURCE_DATE_EPOCH"} | build_round.environment
        build = [sys.executable, "-m", "build", "--wheel", "--sdist", "--no-isolation", "--outdir", out, source]
        subprocess.run(build, env=environment, cwd=place, capture_output=True, check=True)
        (wheel,) = (name for name in os.listdir(out) if name.endswith(".whl"))
        pack = [sys.executable, os.path.join(source, "tools", "onefile", "build.py"), *sys.argv[1:]]
        pack += ["--wheel", os.path.join(out, wheel), os.path.join(out, "mycnf.pyz")]
        subprocess.run(pack, env=environment, cwd=place, stdout=subprocess.DEVNULL, check=True)
    finally:
        os.umask(before)
    return {name: _digest(os.path.join(out, name)) for name in os.listdir(out)}


def _copy(source: str, written: float) -> None:
    """Copy the files that git tracks in their current state, with that modification time."""
    listed = subprocess.run(["git", "-C", TOP, "ls-files", "-z"], capture_output=True, text=True, check=True).stdout
    for name in filter(None, listed.split("\0")):
        here, there = os.path.join(TOP, name), os.path.join(source, name)
        if os.path.isfile(here):
            os.makedirs(os.path.dirname(there), exist_ok=True)
            shutil.copyfile(here, there)
            os.chmod(there, 0o755 if os.access(here, os.X_OK) else 0o644)
            os.utime(there, (written, written))


def _digest(path: str) -> str:
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


if __name__ == "__main__":
    sys.exit(main())
