"""The cost and findings of an audit of an idle, unmodified local server, measured by the general log and a clock."""

from __future__ import annotations

import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator

from figure import Figure
from real_servers import lacking, names_of, provisioned

from probes.sandbox import Sandbox, SandboxError, start_server

WINDOW = 1  # seconds
ROUNDS = 3
SENT = re.compile(r"\b(?:Query|Execute|Prepare)\t")


def figures(top: str) -> Iterator[Figure]:
    """Statements, seconds besides the window, and errors and warnings of each server with its defaults."""
    for name in names_of(()):
        if reason := lacking(name):
            yield Figure(f"audit of {name}", None, reason_missing=reason)
            continue
        try:
            with start_server(provisioned(name)) as server, tempfile.NamedTemporaryFile(suffix=".cnf") as no_options:
                yield from _of_one(top, name, server, no_options.name)
        except SandboxError as error:
            yield Figure(f"audit of {name}", None, reason_missing=str(error))


def _of_one(top: str, name: str, server: Sandbox, options: str) -> Iterator[Figure]:
    command = [sys.executable, "-m", "advisor", "audit", "--format", "json", "--fail-on", "never"]
    command += ["--defaults-file", options, "--socket", server.socket, "--user", "root", "--window", str(WINDOW)]
    try:
        runs = [_time_command(command, top) for _ in range(ROUNDS)]
    except subprocess.CalledProcessError as error:
        yield Figure(f"audit of {name}", None, reason_missing=error.stderr.strip())
        return
    took = statistics.median(seconds for seconds, _ in runs) - WINDOW
    findings = json.loads(runs[0][1])["findings"]
    loud = [finding for finding in findings if finding["severity"] in ("error", "warning")]
    yield Figure(f"errors and warnings on {name} as it comes", len(loud), "", "<=", 0)
    yield Figure(f"audit of {name} besides its window, median of {ROUNDS}", took, "s", "<=", 1)
    sent = _statements(server, command, top)
    yield Figure(f"statements of an audit of {name}, the driver's included", sent, "", "<=", 25)


def _time_command(command: list[str], top: str) -> tuple[float, str]:
    began = time.perf_counter()
    ran = subprocess.run(command, cwd=top, capture_output=True, text=True, check=True)
    return time.perf_counter() - began, ran.stdout


def _statements(server: Sandbox, command: list[str], top: str) -> int:
    """The number of statements in the server's general log after an audit.

    The statements that enable and disable the log are not counted.
    """
    log = os.path.join(server.directory, "general.log")
    with server.connect(autocommit=True) as connection, connection.cursor() as cursor:
        cursor.execute("SET GLOBAL general_log_file = %s", (log,))
        cursor.execute("SET GLOBAL general_log = ON")
        subprocess.run(command, cwd=top, capture_output=True, check=True)
        cursor.execute("SET GLOBAL general_log = OFF")
    with open(log, encoding="utf-8", errors="replace") as file:
        sent = [line for line in file if SENT.search(line)]
    return sum("SET GLOBAL general_log" not in line for line in sent)
