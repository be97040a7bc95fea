"""How long lint takes, how much it loads, and what its data weighs."""

from __future__ import annotations

import glob
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator

from figure import Figure

ROUNDS = 20
LOADS = """
import time; from advisor.catalog import load, targets
target = targets.parse_target(%r)
began = time.perf_counter(); load.load(target); print((time.perf_counter() - began) * 1000)
"""


def figures(top: str) -> Iterator[Figure]:
    """Start-up against a bare interpreter, modules, files a second, catalogs."""
    yield from _start_up(top)
    yield from _throughput(top)
    yield from _catalogs(top)


def _start_up(top: str) -> Iterator[Figure]:
    """Interleaved, so that a slow spell of the machine meets both alike."""
    bare = [sys.executable, "-c", "pass"]
    lint = [_mycnf(), "lint", "--target", "mariadb-10.11", os.path.join(top, "examples", "bad.cnf")]
    times = [(_seconds(bare), _seconds(lint)) for _ in range(ROUNDS)]
    bare_ms, lint_ms = (statistics.median(column) * 1000 for column in zip(*times, strict=True))
    yield Figure("python -c pass, median of 20", bare_ms, "ms")
    yield Figure("lint of a 60-line file, whole process, median of 20", lint_ms, "ms")
    yield Figure("lint of a 60-line file / python -c pass", lint_ms / bare_ms, "times", "<=", 5)
    yield Figure("modules at exit of lint", _modules(top, lint[1:]), "", "<=", 100)


def _mycnf() -> str:
    return os.path.join(os.path.dirname(sys.executable), "mycnf")


def _seconds(command: list[str]) -> float:
    began = time.perf_counter()
    ran = subprocess.run(command, capture_output=True, check=False)
    took = time.perf_counter() - began
    if ran.returncode not in (0, 1):
        sys.exit(f"figures: {' '.join(command)} ended with {ran.returncode}: {ran.stderr.decode(errors='replace')}")
    return took


def _modules(top: str, words: list[str]) -> int:
    code = "import sys; from advisor.__main__ import main; main(sys.argv[1:]); print(len(sys.modules), file=sys.stderr)"
    ran = subprocess.run([sys.executable, "-c", code, *words], cwd=top, capture_output=True, text=True, check=False)
    return int(ran.stderr.split()[-1])


def _throughput(top: str) -> Iterator[Figure]:
    shared = os.environ.get("MYCNF_SHARED", os.path.join(os.path.dirname(top), "shared"))
    files = sorted(glob.glob(os.path.join(shared, "corpus", "files", "*")))
    name = "option files linted a second by one process"
    if not files:
        yield Figure(name, None, why_not=f"no corpus (MYCNF_SHARED={shared})")
        return
    for target in ("mysql-8.0", "mariadb-10.11"):
        command = [_mycnf(), "lint", "--isolated", "--format", "json", "--target", target, *files]
        median = statistics.median(_seconds(command) for _ in range(5))
        yield Figure(f"{name}, {target}", len(files) / median, "files/s", ">=", 500)


def _catalogs(top: str) -> Iterator[Figure]:
    for path in sorted(glob.glob(os.path.join(top, "advisor", "catalog", "data", "m*-*.json"))):
        target = os.path.basename(path).removesuffix(".json")
        load = [sys.executable, "-c", LOADS % target]
        times = [float(subprocess.check_output(load, cwd=top)) for _ in range(9)]
        yield Figure(f"loading the catalog of {target}, median of 9", statistics.median(times), "ms", "<=", 5)
        yield Figure(f"size of the catalog of {target}", os.path.getsize(path) / 1000, "KB", "<=", 250)
