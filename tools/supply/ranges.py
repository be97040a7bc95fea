"""Test the lowest and the newest dependency versions that pyproject.toml allows, each in its own environment.

usage: python tools/supply/ranges.py UV [FOLDER]

For each, the program is run as a user would, and the tests that depend on those packages. Exit 1 if either fails.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
ENDS = ("lowest-direct", "highest")
TESTING = ("pytest>=8.2", "pytest-asyncio>=1.0", "hypothesis>=6.100", "jsonschema>=4.21")
# Tests of reading, writing, connecting and drawing with those packages; unavailable servers are skipped by name.
TESTS = (
    *("tests/test_snapshot.py", "tests/carriers", "tests/config", "tests/collect/test_send.py", "tests/history"),
    *("tests/collect/test_loginpath.py", "tests/collect/test_from_tables.py", "tests/probes/test_results.py"),
    *("tests/tui/test_app.py", "tests/tui/test_workload.py", "tests/tui/test_workload_counters.py"),
    *("tests/tui/test_workload_top.py", "tests/tui/test_findings.py"),
    *("tests/fleet/test_servers.py", "tests/fleet/test_ssh.py"),
)
RUNS = (
    ("--version",),
    ("lint", "--target", "mysql-8.4", "examples/refused.cnf"),
    ("audit", "--snapshot", "examples/snapshots/mariadb-10.11.json", "--format", "json"),
    ("report", "examples/snapshots", "--format", "parquet", "-o", "{folder}/findings.parquet"),
    ("probe",),
)


def main() -> int:
    """Test both; 1 if one of them fails."""
    uv = os.path.abspath(sys.argv[1])
    with tempfile.TemporaryDirectory() as scratch:
        folder = sys.argv[2] if len(sys.argv) > 2 else scratch  # noqa: PLR2004 - the folder is optional
        failed = [end for end in ENDS if not _holds(uv, end, os.path.join(os.path.abspath(folder), end))]
    print(f"ranges: {', '.join(failed)} failed" if failed else "ranges: both ends hold")
    return int(bool(failed))


def _holds(uv: str, end: str, place: str) -> bool:
    """Whether mycnf runs and passes its tests with these versions."""
    python, listed = os.path.join(place, "bin", "python"), os.path.join(place, "versions.txt")
    extras = ("--extra", "fleet", "--extra", "parquet")
    ask = ("pip", "compile", "--quiet", "--no-header", "--no-annotate", "--resolution", end, *extras)
    _run([uv, "venv", "--quiet", "--python", sys.executable, "--clear", place])
    _run([uv, *ask, "--python", python, "--output-file", listed, "pyproject.toml"])
    _run([uv, "pip", "install", "--quiet", "--python", python, "--requirement", listed])
    # The test tools must not change the versions under test.
    _run([uv, "pip", "install", "--quiet", "--python", python, "--constraint", listed, *TESTING])
    _run([uv, "pip", "install", "--quiet", "--python", python, "--no-deps", TOP])
    with open(listed, encoding="utf-8") as file:
        print(f"{end}: {' '.join(file.read().split())}", flush=True)
    works = [
        _has_worked([os.path.join(place, "bin", "mycnf"), *(w.format(folder=place) for w in words)]) for words in RUNS
    ]
    there = [test for test in TESTS if os.path.exists(os.path.join(TOP, test))]
    tested = subprocess.run([python, "-m", "pytest", "-q", "--no-header", *there], cwd=TOP, check=False).returncode == 0
    return all(works) and tested


def _run(command: list[str]) -> None:
    subprocess.run(command, cwd=TOP, check=True)


def _has_worked(command: list[str]) -> bool:
    """Whether the command ended as documented: successfully, or with findings."""
    ran = subprocess.run(command, cwd=TOP, capture_output=True, text=True, check=False)
    if ran.returncode not in (0, 1) or not (ran.stdout or "-o" in command):
        print(f"{' '.join(command)} ended with {ran.returncode}: {ran.stderr}", flush=True)
        return False
    return True


if __name__ == "__main__":
    sys.exit(main())
