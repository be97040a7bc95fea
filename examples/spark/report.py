"""Judge snapshots on a Spark cluster: one row per finding, as `mycnf report --format jsonl` writes them.

usage: spark-submit --files mycnf.pyz report.py SNAPSHOTS OUTPUT

SNAPSHOTS is a directory or a pattern on any file system that Spark reads (file:, s3a:, gs:, abfss:, hdfs:), OUTPUT a
directory that does not exist yet. `make zipapp` builds mycnf.pyz; it needs the same version of Python on every
executor, and no other package. Each partition's snapshots are judged by one process of mycnf, so that its start counts
once. Spark judges a partition again if its executor is lost; rows are written when a partition is whole.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from typing import TYPE_CHECKING

from pyspark import SparkFiles
from pyspark.sql import Row, SparkSession

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

PROGRAM = "mycnf.pyz"
SNAPSHOTS_EACH = 200  # snapshots of one partition: about two seconds of work on an idle processor
# Exit codes: nothing found, findings, unreadable snapshots, which are rows too, and a single incomplete one.
WROTE_A_REPORT = (0, 1, 2, 3)


def judge_partition(snapshots: Iterable[Row]) -> Iterator[str]:
    """Yield the rows of a partition's snapshots; raises RuntimeError with mycnf's own words if it could not run."""
    with tempfile.TemporaryDirectory(prefix="mycnf-spark-") as folder:
        paths = {}
        for number, snapshot in enumerate(snapshots):
            name = f"{number:06}.json"
            paths[name] = snapshot.path
            with open(os.path.join(folder, name), "wb") as file:
                file.write(snapshot.content)
        if paths:
            yield from _judge_folder(folder, paths)


def _judge_folder(folder: str, paths: dict[str, str]) -> Iterator[str]:
    """Yield the rows of a folder's snapshots, each with the path that Spark read."""
    command = [sys.executable, SparkFiles.get(PROGRAM), "report", "--isolated", "--jobs", "1", "--format", "jsonl", "."]
    with subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        rows, messages = process.communicate()
    if process.returncode not in WROTE_A_REPORT:
        raise RuntimeError(f"{PROGRAM} ended with {process.returncode}: {messages.strip()[-1000:]}")
    for line in rows.splitlines():
        row = json.loads(line)
        copy, path = row["snapshot"], paths[os.path.basename(row["snapshot"])]
        row["snapshot"] = path
        if row.get("broken"):
            row["broken"] = row["broken"].replace(copy, path)
        yield json.dumps(row, ensure_ascii=False)


def main() -> None:
    """Read the snapshots, judge them on the executors, and write the rows as JSON lines."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("snapshots", metavar="SNAPSHOTS")
    parser.add_argument("output", metavar="OUTPUT")
    arguments = parser.parse_args()
    spark = SparkSession.builder.appName("mycnf report").getOrCreate()
    files = spark.read.format("binaryFile").load(arguments.snapshots).select("path", "content")
    partitions = max(1, -(-files.select("path").count() // SNAPSHOTS_EACH))
    files.repartition(partitions).rdd.mapPartitions(judge_partition).map(lambda line: Row(value=line)).toDF(
        "value string"
    ).write.text(arguments.output)
    spark.stop()


if __name__ == "__main__":
    main()
