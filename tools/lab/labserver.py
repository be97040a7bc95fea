"""The server of a lab: filled once, then restarted with one option file or the other."""

from __future__ import annotations

import contextlib
import glob
import os
from collections.abc import Iterator

from labfolder import Lab, LabError
from labgroup import limit_memory

from probes.disk.files import evict
from probes.experiment import ProbeError
from probes.sandbox import Binary, SandboxError, start_server
from probes.server_probes import variant_server
from probes.server_probes.variant_server import VariantServer, watch_disk_space
from probes.stop import StopSignal
from probes.workload.load import Access, Task
from probes.workload.tables import ScanTable, create_table, fill_tables

FILE = "option file"  # the setting of a variant: the option file that the server is started with
FILLING_POOL = 256 << 20


class OptionFileServer(VariantServer):
    """A server whose variants are option files."""

    def apply_settings(self, settings: dict[str, str]) -> bool:
        """Restart with the variant's option file, every time, so that all blocks start with empty caches.

        Raises ProbeError if the server does not come back.
        """
        self._disconnect()
        self.sandbox.stop()
        evict([path for path in glob.glob(f"{self.sandbox.datadir}/**", recursive=True) if os.path.isfile(path)])
        self.sandbox.option_file = settings[FILE]
        try:
            self.sandbox.restart(())
        except SandboxError as error:
            raise ProbeError(str(error)) from error
        return True

    def differing_value(self, name: str, value: str) -> str | None:  # noqa: ARG002 - no option of a server's is named
        """None, because an option file is not a variable."""
        return None


@contextlib.contextmanager
def filled_server(
    lab: Lab, binary: Binary, folder: str, templates: str | None, stop: StopSignal
) -> Iterator[OptionFileServer]:
    """The lab's server with its data, started with ordinary settings; leaving the context removes everything.

    Raises LabError if it is not available.
    """
    with limit_memory(binary, lab.memory, folder) as program:
        try:
            sandbox = start_server(binary, base=folder, arguments=_ordinary(binary), templates=templates)
        except SandboxError as error:
            raise LabError(str(error)) from error
        with sandbox:
            served = OptionFileServer(sandbox, ())
            with served.explain_errors(), watch_disk_space(sandbox):
                if isinstance(lab.data, ScanTable):
                    create_table(served.connection(), lab.data, stop)
                else:
                    fill_tables(served.connection(), lab.data, stop)
                sandbox.binary = program
                yield served


def task_of(lab: Lab, served: VariantServer, seed: int) -> Task:
    """The lab's load on its server."""
    return Task(
        socket=served.sandbox.socket,
        scratch_folder=served.scratch_folder,
        workload=lab.workload,
        access=Access(lab.access),
        threads=lab.threads,
        rows=lab.rows,
        tables=lab.tables,
        database=lab.data.database,
        seed=seed,
    )


def _ordinary(binary: Binary) -> tuple[str, ...]:
    return variant_server.server_arguments(binary.target, pool=FILLING_POOL)
