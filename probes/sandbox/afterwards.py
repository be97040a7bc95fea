"""Clear up behind a process that has no time left to do so itself."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys

from probes.sandbox.scratch import SHORT, default_base

# Its parent is gone once somebody else is. A server that ends at the same time may still write, so that it sweeps
# until nothing of its owner's is there; what it can't sweep within its time the next run will.
SWEEP_WHEN_ALONE = """
import json, os, sys, time
owner, folders, path = (json.loads(word) for word in sys.argv[1:])
sys.path[:0] = path
from probes.sandbox.sweeping import has_left, sweep
for _ in range(1500):
    if os.getppid() != owner:
        for folder in folders:
            sweep(folder)
        if not any(has_left(owner, folder) for folder in folders):
            break
    time.sleep(0.02)
"""


def sweep_afterwards(folder: str) -> None:
    """Remove what this process leaves in `folder`, once it has ended, in a process of its own that nobody waits for.

    So are the places of temporary files and of sockets, which servers need beside it. Where no process can be started,
    the next run that sweeps a folder removes what is in it.
    """
    folders = sorted({os.path.abspath(place) for place in (folder, default_base(), SHORT)})
    command = [sys.executable, "-c", SWEEP_WHEN_ALONE, str(os.getpid()), json.dumps(folders), json.dumps(sys.path)]
    nothing = subprocess.DEVNULL
    with contextlib.suppress(OSError):
        subprocess.Popen(command, stdin=nothing, stdout=nothing, stderr=nothing, cwd="/", start_new_session=True)
