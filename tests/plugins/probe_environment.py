"""The environment of probes in tests: this host, and real servers' programs."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from advisor.collect.host.host import open_root, read_host
from probes.experiment import Bench, Environment, Experiment, ProbeRequest
from probes.sandbox import Binary
from probes.server_probes import variant_server
from probes.server_probes.variant_server import VariantServer, start_variant_server
from probes.stop import StopSignal


def ground_of(templates: Path, directory: Path, *binaries: Binary) -> Environment:
    """This host with these server programs, without output during preparation."""
    host = read_host(open_root("/"), datadir=str(directory))
    return Environment(host, "here", binaries, report=lambda _: None, templates=str(templates))


@contextmanager
def served(
    binary: Binary, templates: Path, directory: Path, *, pool: int = 32 << 20, binary_log: bool = False
) -> Iterator[VariantServer]:
    """A server with the settings of a measured one."""
    arguments = variant_server.server_arguments(binary.target, pool=pool, redo=32 << 20, binary_log=binary_log)
    with start_variant_server(ground_of(templates, directory, binary), binary, str(directory), arguments) as it:
        yield it


@contextmanager
def prepared(
    experiment: Experiment, ground: Environment, directory: Path, stop: StopSignal, **choices: str
) -> Iterator[tuple[Bench, ProbeRequest]]:
    """A probe's bench, ready to measure; option names with underscores instead of hyphens."""
    wanted = ProbeRequest(str(directory), choices={name.replace("_", "-"): value for name, value in choices.items()})
    plan = experiment.plan(ground, wanted)
    with experiment.prepare(ground, wanted, plan, stop) as bench:
        yield bench, wanted


def children() -> dict[int, str]:
    """The running child processes: pid and command line."""
    found = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                state, parent = (entry / "stat").read_text(encoding="utf-8").rpartition(")")[2].split()[:2]
                words = (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode("utf-8", "replace")
            except (FileNotFoundError, ProcessLookupError):
                continue
            if int(parent) == os.getpid() and state not in "ZX":
                found[int(entry.name)] = words
    return found
