"""A server that was not started as a sandbox: like the user's own server for a probe."""

from __future__ import annotations

import contextlib
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pymysql
from process_checks import PATIENCE

from probes.sandbox import Binary
from probes.sandbox.binary import placement_options, user_option
from probes.sandbox.cleanup import spawn
from probes.sandbox.datadir import copy_template


class Foreign(NamedTuple):
    """Its process, data directory and socket; `process` ends with the context."""

    process: subprocess.Popen[bytes]
    data: Path
    socket: Path

    @property
    def pid(self) -> int:
        """The pid of its process."""
        return self.process.pid


@contextlib.contextmanager
def foreign_server(binary: Binary, templates: Path, folder: Path) -> Iterator[Foreign]:
    """Start a server in a new folder, which is kept."""
    data, socket = folder / "data", folder / "s"
    data.mkdir(parents=True)
    copy_template(binary, str(templates), str(data))
    words = [binary.program, "--no-defaults", *placement_options(binary), *user_option(), f"--datadir={data}"]
    words += [f"--socket={socket}", "--skip-networking", "--loose-mysqlx=OFF", f"--pid-file={folder}/pid"]
    process = spawn(words, log=str(folder / "log"), temporary=str(folder))
    try:
        deadline = time.monotonic() + PATIENCE
        while not _answers(socket):
            assert process.poll() is None, (folder / "log").read_text()
            assert time.monotonic() < deadline, (folder / "log").read_text()
            time.sleep(0.05)
        yield Foreign(process, data, socket)
    finally:
        process.kill()
        process.wait()


def _answers(socket: Path) -> bool:
    # The socket exists before the last of its files.
    try:
        pymysql.connect(unix_socket=str(socket), user="root").close()
    except pymysql.Error:
        return False
    return True
