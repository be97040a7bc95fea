"""The Spark job of examples/spark, on a real local cluster of two workers, one of which loses its executor."""

from __future__ import annotations

import json
import os
import subprocess
import time
from contextlib import suppress
from pathlib import Path

import psutil
import pytest
from mycnf_command import CHECKOUT

JOB = CHECKOUT / "examples" / "spark" / "report.py"
SNAPSHOT = CHECKOUT / "examples" / "snapshots" / "mariadb-10.11.json"
PYTHON = os.environ.get("MYCNF_SPARK", "")
HOME = "import pyspark, os; print(os.path.dirname(pyspark.__file__))"
SERVERS = 1_000
LIMIT = 600  # seconds that the executors may take to start


@pytest.mark.skipif(not PYTHON, reason="no Spark (MYCNF_SPARK=PYTHON names a Python 3.11 with pyspark)")
def test_rows_equal_a_report_though_an_executor_dies(tmp_path: Path) -> None:
    """Each finding of each snapshot is one row, as in `report --format jsonl`, though an executor is killed."""
    snapshots, out, program = tmp_path / "snapshots", tmp_path / "rows", CHECKOUT / "dist" / "mycnf.pyz"
    assert program.exists(), "make zipapp"
    write_snapshots(snapshots)
    home = subprocess.run([PYTHON, "-c", HOME], capture_output=True, text=True, check=True).stdout.strip()
    command = [f"{home}/bin/spark-submit", "--master", "local-cluster[2,1,1024]", "--files", str(program)]
    environment = {**os.environ, "SPARK_HOME": home, "PYSPARK_PYTHON": PYTHON, "PYSPARK_DRIVER_PYTHON": PYTHON}
    with (tmp_path / "log").open("w") as log:
        job = subprocess.Popen([*command, str(JOB), str(snapshots), str(out)], env=environment, stdout=log, stderr=log)
    killed = kill_an_executor(job)
    assert job.wait() == 0, (tmp_path / "log").read_text()[-3000:]
    assert killed
    rows = [line for part in out.glob("part-*") for line in part.read_text("utf-8").splitlines()]
    report = [PYTHON, str(program), "report", "--isolated", "--format", "jsonl", str(snapshots)]
    expected = subprocess.run(report, capture_output=True, text=True, check=False).stdout.splitlines()
    assert sorted(map(normal, rows)) == sorted(map(normal, expected))


def write_snapshots(folder: Path) -> None:
    """Servers that differ in a buffer, and a file that is no snapshot."""
    folder.mkdir()
    recorded = json.loads(SNAPSHOT.read_text("utf-8"))
    for number in range(SERVERS):
        recorded["server"]["variables"] |= {"hostname": f"db{number}", "read_buffer_size": str(1 + number % 5 << 20)}
        (folder / f"db{number}.json").write_text(json.dumps(recorded), "utf-8")
    (folder / "broken.json").write_text("{", "utf-8")


def kill_an_executor(job: subprocess.Popen[bytes]) -> bool:
    """Kill one executor of the job while mycnf runs below it; False if the job ended before."""
    until = time.monotonic() + LIMIT
    while job.poll() is None and time.monotonic() < until:
        working, executors = running(job, "mycnf.pyz report"), running(job, "CoarseGrainedExecutor")
        if working and executors:
            executors[-1].kill()
            return True
        time.sleep(0.1)
    return False


def running(job: subprocess.Popen[bytes], words: str) -> list[psutil.Process]:
    """The processes that the job started, at any depth, with these words in their command lines."""
    found = []
    with suppress(psutil.NoSuchProcess):
        for process in psutil.Process(job.pid).children(recursive=True):
            with suppress(psutil.NoSuchProcess):
                if words in " ".join(process.cmdline()):
                    found.append(process)
    return found


def normal(line: str) -> str:
    """A row without the form of its path, which Spark writes as a URL."""
    return json.dumps(json.loads(line.replace('"file:/', '"/')), sort_keys=True)
