"""One process of the driver: it takes tasks as JSON lines on standard input, and reports as JSON lines.

To each task it answers that it is ready, then waits for the word to go. A line that comes while it measures ends the
measurement early, and the end of its input ends the process: so it can't outlive whoever started it.
"""

from __future__ import annotations

import json
import os
import sys
from typing import Any

from probes.disk.commits import committing
from probes.disk.pages import reading, writing
from probes.disk.sequence import following

TASKS = {"read": reading, "write": writing, "commit": committing, "follow": following}
END = "end"
OOM_SCORE = "600"  # short of memory, the kernel takes a driver before anything of the user's


def work() -> None:
    """Do what comes, until nothing comes any more."""
    try:
        with open("/proc/self/oom_score_adj", "w", encoding="ascii") as score:
            score.write(OOM_SCORE)
    except OSError:
        pass  # it may be held higher already
    while line := _line():
        told = json.loads(line)
        if isinstance(told, dict):  # else a word to end that came when it was done already
            _say(_done(told))


def _done(told: dict[str, Any]) -> dict[str, Any]:
    try:
        with TASKS[told["task"]](told) as measure:
            _say({"ready": True})
            seconds = json.loads(_line() or "0")
            return measure(0 if seconds == END else seconds)
    except (OSError, MemoryError) as error:
        return {"broken": getattr(error, "strerror", None) or str(error) or "out of memory"}


def _line() -> bytes:
    # Unbuffered: the next line must be seen waiting by poll.
    line = b""
    while not line.endswith(b"\n") and (byte := os.read(sys.stdin.fileno(), 1)):
        line += byte
    return line


def _say(answer: dict[str, Any]) -> None:
    sys.stdout.write(json.dumps(answer) + "\n")
    sys.stdout.flush()
