"""The server of a lab: filled once, then restarted with one option file or the other."""

from __future__ import annotations

import contextlib
import glob
import os
from collections.abc import Iterator

from labfolder import Lab, LabError
from labgroup import limited

from probes.experiment import ProbeError
from probes.page_cache import evict
from probes.sandbox import Binary, SandboxError, start
from probes.served import server_settings
from probes.served.variant_server import Served, room_watched
from probes.stop import Stop
from probes.workload.load import Task
from probes.workload.scans import Scan, make
from probes.workload.statements import Access
from probes.workload.tables import fill

FILE = "option file"  # the setting of a variant: which file the server is started with
FILLING_POOL = 256 << 20


class Switched(Served):
    """A server whose variants are option files."""

    def set_to(self, settings: dict[str, str]) -> bool:
        """Restart with the variant's option file, every time, so that all blocks begin alike: with nothing in memory.

        Raises ProbeError where the server doesn't come back.
        """
        self._hang_up()
        self.sandbox.stop()
        evict([path for path in glob.glob(f"{self.sandbox.datadir}/**", recursive=True) if os.path.isfile(path)])
        self.sandbox.option_file = settings[FILE]
        try:
            self.sandbox.restart(())
        except SandboxError as error:
            raise ProbeError(str(error)) from error
        return True

    def runs_with(self, name: str, value: str) -> str | None:  # noqa: ARG002 - no option of a server's is named
        """An option file is no variable."""
        return None


@contextlib.contextmanager
def filled(lab: Lab, binary: Binary, folder: str, templates: str | None, stop: Stop) -> Iterator[Switched]:
    """The lab's server with its data, started with ordinary settings; leaving the context removes it all.

    Raises LabError where it can't be had.
    """
    with limited(binary, lab.memory, folder) as program:
        try:
            sandbox = start(binary, base=folder, arguments=_ordinary(binary), templates=templates)
        except SandboxError as error:
            raise LabError(str(error)) from error
        with sandbox:
            served = Switched(sandbox, ())
            with served.guard(), room_watched(sandbox):
                if isinstance(lab.data, Scan):
                    make(served.connection(), lab.data, stop)
                else:
                    fill(served.connection(), lab.data, stop)
                sandbox.binary = program
                yield served


def task_of(lab: Lab, served: Served, seed: int) -> Task:
    """The lab's load on its server."""
    return Task(
        socket=served.sandbox.socket,
        room=served.room,
        workload=lab.workload,
        access=Access(lab.access),
        threads=lab.threads,
        rows=lab.rows,
        tables=lab.tables,
        database=lab.data.database,
        seed=seed,
    )


def _ordinary(binary: Binary) -> tuple[str, ...]:
    return server_settings.arguments(binary.target, pool=FILLING_POOL)
