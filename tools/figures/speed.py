"""The run time of lint, the number of modules it loads, and the size of its data."""

from __future__ import annotations

import compileall
import glob
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator

from figure import Figure

ROUNDS = 20
LOADS = """
import time; from advisor.catalog import load, targets
target = targets.parse_target(%r)
began = time.perf_counter(); load(target); print((time.perf_counter() - began) * 1000)
"""


def figures(top: str) -> Iterator[Figure]:
    """Start-up compared with a bare interpreter, modules, files per second, catalogs."""
    # As in an installed mycnf: a checkout without writable bytecode would be compiled at each start.
    for package in ("advisor", "rules", "probes"):
        compileall.compile_dir(os.path.join(top, package), quiet=1)
    yield from _start_up(top)
    yield from _throughput(top)
    yield from _catalogs(top)


def _start_up(top: str) -> Iterator[Figure]:
    """Interleaved, so that a slow period of the machine affects all alike."""
    file = os.path.join(top, "examples", "bad.cnf")
    bare = [sys.executable, "-c", "pass"]
    lint = [_mycnf(), "lint", "--target", "mariadb-10.11", file]
    with tempfile.TemporaryDirectory() as folder:
        commands = [bare, lint, *_advisor(file, os.path.join(folder, "variables.txt"))]
        times = [[_seconds(command) for command in commands] for _ in range(ROUNDS)]
    medians = [statistics.median(column) * 1000 for column in zip(*times, strict=True)]
    yield Figure("python -c pass, median of 20", medians[0], "ms")
    yield Figure("lint of a 60-line file, whole process, median of 20", medians[1], "ms")
    yield Figure("lint of a 60-line file / python -c pass", medians[1] / medians[0], "times", "<=", 3.2)
    yield from _beside_the_advisor(*medians[1:])
    yield Figure("modules at exit of lint", _modules(top, lint[1:]), "", "<=", 100)


def _beside_the_advisor(lint_ms: float, advisor_ms: float | None = None) -> Iterator[Figure]:
    name = "lint / pt-variable-advisor on the same settings"
    if advisor_ms is None:
        yield Figure(name, None, reason_missing="no pt-variable-advisor (apt-get install percona-toolkit)")
        return
    yield Figure("pt-variable-advisor, median of 20", advisor_ms, "ms")
    yield Figure(name, lint_ms / advisor_ms, "times", "<=", 0.8)


def _advisor(file: str, variables: str) -> list[list[str]]:
    """The command of pt-variable-advisor; empty if it is not installed.

    It gets SHOW VARIABLES because it reads no option files.
    """
    program = shutil.which("pt-variable-advisor")
    if program is None:
        return []
    show = [_mycnf(), "show", "--format", "json", "--target", "mariadb-10.11", file]
    options = json.loads(subprocess.check_output(show))["options"]
    with open(variables, "w", encoding="utf-8") as text:
        text.write("Variable_name\tValue\nversion\t10.11.19-MariaDB\n")
        text.writelines(f"{name}\t{option['running'] or option['value']}\n" for name, option in options.items())
    return [[program, "--no-version-check", "--source-of-variables", variables]]


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
        yield Figure(name, None, reason_missing=f"no corpus (MYCNF_SHARED={shared})")
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
