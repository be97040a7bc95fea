"""The servers of a scenario: one, a source with its replica, or a cluster, each in a scratch directory."""

from __future__ import annotations

import contextlib
import os
import subprocess
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from itertools import pairwise
from pathlib import Path

from galera_cluster import started_cluster
from labfolder import LabError
from live_server import Live
from provisioning.shelf import ProvisionError
from real_servers import provisioned, quickly
from replication_group import started_group
from replication_pair import allow_replicas, follow, pair, server_of_chain
from scenario import Scenario, volume_directory

from probes.sandbox import Sandbox, SandboxError, start_server

Servers = Mapping[str, Live]
PATIENCE = 900.0  # seconds for a fact to become true


class Starter:
    """Starts servers by name, as the fixtures of tests do, and ends them together."""

    def __init__(self, place: str) -> None:
        self.place = place
        self.templates = os.path.join(place, "templates")
        self.started: list[Sandbox] = []

    def __call__(
        self,
        name: str,
        *,
        option_file: str | os.PathLike[str] | None = None,
        arguments: Iterable[str] = (),
        tcp: bool = False,
        small: bool = False,
        base: str | os.PathLike[str] | None = None,
    ) -> Sandbox:
        """Start one server; raises LabError if it does not come up."""
        binary = provisioned(name)
        try:
            sandbox = start_server(
                binary,
                base=base or self.place,
                option_file=option_file,
                arguments=(*quickly(binary, small=small), *arguments),
                tcp=tcp,
                small=small,
                templates=self.templates,
            )
        except SandboxError as error:
            raise LabError(str(error)) from error
        self.started.append(sandbox)
        return sandbox

    def close(self) -> None:
        """End all servers and remove their directories."""
        for sandbox in reversed(self.started):
            sandbox.close()


@contextlib.contextmanager
def servers(scenario: Scenario, place: str) -> Iterator[Servers]:
    """The running servers of a scenario by node; leaving the context removes everything.

    Raises LabError if a server is not available or does not come up.
    """
    try:
        with _volume(scenario, place), TOPOLOGIES[scenario.topology](scenario, place) as running:
            yield running
    except ProvisionError as error:
        raise LabError(f"{scenario.name}: {error}") from error


@contextlib.contextmanager
def _volume(scenario: Scenario, place: str) -> Iterator[None]:
    """The scenario's own file system, mounted in its directory; raises LabError if that is not allowed here."""
    if scenario.volume is None:
        yield
        return
    image, directory = os.path.join(place, "volume.img"), volume_directory(place)
    os.mkdir(directory)
    with open(image, "wb") as file:
        file.truncate(scenario.volume.megabytes << 20)
    _command(scenario, "mkfs.ext4", "-q", "-m", "0", image)
    _command(scenario, "mount", "-o", "loop", image, directory)
    try:
        os.rmdir(os.path.join(directory, "lost+found"))
        os.chmod(directory, 0o777)  # noqa: S103 - a server of another user may write to it
        yield
    finally:
        _command(scenario, "umount", directory)


def _command(scenario: Scenario, *words: str) -> None:
    try:
        done = subprocess.run(words, capture_output=True, text=True, timeout=PATIENCE, check=False)
    except OSError as error:
        raise LabError(f"{scenario.name}: {words[0]}: {error.strerror}") from error
    if done.returncode:
        raise LabError(f"{scenario.name}: {words[0]} failed, which needs root: {done.stderr.strip()}")


@contextlib.contextmanager
def _single(scenario: Scenario, place: str) -> Iterator[Servers]:
    file = write_file(place, "server", scenario.option_lines("server", place))
    is_tmpdir = scenario.volume is not None and scenario.volume.tmpdir
    arguments = [f"--tmpdir={volume_directory(place)}"] if is_tmpdir else []
    with contextlib.closing(Starter(place)) as starter:
        yield {"server": Live(scenario.server, starter(scenario.server, option_file=file, arguments=arguments))}


@contextlib.contextmanager
def _chain(scenario: Scenario, place: str) -> Iterator[Servers]:
    with contextlib.closing(Starter(place)) as starter:
        source, replica = pair(scenario.server, starter, Path(place), lambda _: scenario.option_lines("replica", place))
        yield {"source": source, "replica": replica}


@contextlib.contextmanager
def _relay(scenario: Scenario, place: str) -> Iterator[Servers]:
    """A source, an intermediate that replicates from it, and a replica of the intermediate, all with GTIDs."""
    with contextlib.closing(Starter(place)) as starter:
        running = [
            server_of_chain(
                scenario.server, starter, Path(place), number, gtids=True, lines=scenario.option_lines(node, place)
            )
            for number, node in enumerate(scenario.nodes, 1)
        ]
        for source, replica in pairwise(running):
            allow_replicas(source)
            follow(replica, source, gtids=True)
        running[0].run("CREATE DATABASE a")
        wait_until(running[-1], "SELECT COUNT(*) FROM information_schema.SCHEMATA WHERE SCHEMA_NAME = 'a'", "1")
        yield dict(zip(scenario.nodes, running, strict=True))


@contextlib.contextmanager
def _galera(scenario: Scenario, place: str) -> Iterator[Servers]:
    lines = partial(scenario.option_lines, place=place)
    with started_cluster(os.path.join(place, "templates"), Path(place), lines, scenario.provider_options) as cluster:
        yield dict(zip(scenario.nodes, cluster.nodes, strict=True))


@contextlib.contextmanager
def _group(scenario: Scenario, place: str) -> Iterator[Servers]:
    lines = partial(scenario.option_lines, place=place)
    with started_group(os.path.join(place, "templates"), Path(place), lines) as group:
        yield dict(zip(scenario.nodes, group.members, strict=True))


def wait_until(server: Live, query: str, value: str) -> None:
    """Repeat the query until its first value is `value`; raises LabError after PATIENCE."""
    deadline = time.monotonic() + PATIENCE
    while (answer := first_value(server, query)) != value:
        if time.monotonic() > deadline:
            raise LabError(f"{server.name}: {query} is {answer}, not {value}")
        time.sleep(0.2)


def first_value(server: Live, query: str) -> str:
    """The first value of the query's first row, as text; empty without a row."""
    rows = server.run(query)
    return "" if not rows or rows[0][0] is None else str(rows[0][0])


def write_file(place: str, node: str, text: str) -> str:
    """Write a node's option file, and return its path."""
    path = os.path.join(place, f"{node}.cnf")
    with open(path, "w", encoding="utf-8") as file:
        file.write(text or "[mysqld]\n")
    os.chmod(path, 0o644)
    return path


TOPOLOGIES: dict[str, Callable[[Scenario, str], contextlib.AbstractContextManager[Servers]]] = {
    "single": _single,
    "chain": _chain,
    "relay": _relay,
    "galera": _galera,
    "group": _group,
}
