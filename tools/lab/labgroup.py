"""A control group with a memory limit, for one throwaway server."""

from __future__ import annotations

import contextlib
import os
import shlex
import time
from collections.abc import Iterator
from dataclasses import replace

from labfolder import LabError

from probes.sandbox import Binary

PLACES = (("/sys/fs/cgroup/memory", "memory.limit_in_bytes"), ("/sys/fs/cgroup", "memory.max"))
LEAVING = 10.0  # seconds until the kernel has released an ended server


@contextlib.contextmanager
def limit_memory(binary: Binary, memory: int | None, folder: str) -> Iterator[Binary]:
    """The program wrapped so that it runs in a group with that memory limit, which is removed afterwards.

    Without a limit it is the program itself. `folder` takes the script that starts it. Raises LabError if no group can
    be created.
    """
    if memory is None:
        yield binary
        return
    group = _make(memory, os.path.basename(folder))
    try:
        script = os.path.join(folder, "start-limited")
        with open(script, "w", encoding="utf-8") as text:
            text.write(
                f'#!/bin/sh\necho $$ > {group}/cgroup.procs || exit 1\nexec {shlex.quote(binary.program)} "$@"\n'
            )
        os.chmod(script, 0o700)
        yield replace(binary, program=script)
    finally:
        _remove(group)


def _make(memory: int, name: str) -> str:
    for top, limit in PLACES:
        group = os.path.join(top, f"mycnf-{name}")
        with contextlib.suppress(OSError):
            os.mkdir(group)
            try:
                with open(os.path.join(group, limit), "w", encoding="ascii") as file:
                    file.write(str(memory))
            except OSError:
                os.rmdir(group)
                continue
            return group
    raise LabError("a control group with a memory limit can't be made here: it takes root and the memory controller")


def _remove(group: str) -> None:
    deadline = time.monotonic() + LEAVING
    while True:
        try:
            os.rmdir(group)
        except FileNotFoundError:
            return
        except OSError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.1)
        else:
            return
