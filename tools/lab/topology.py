"""The servers of a scenario: one, a source with its replica, or a cluster, each in a scratch directory."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path

from galera_cluster import started_cluster
from labfolder import LabError
from live_server import Live
from provisioning.shelf import ProvisionError
from real_servers import provisioned, quickly
from replication_group import started_group
from replication_pair import pair
from scenario import Scenario

from probes.sandbox import Sandbox, SandboxError, start_server

Servers = Mapping[str, Live]


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
        with TOPOLOGIES[scenario.topology](scenario, place) as running:
            yield running
    except ProvisionError as error:
        raise LabError(f"{scenario.name}: {error}") from error


@contextlib.contextmanager
def _single(scenario: Scenario, place: str) -> Iterator[Servers]:
    file = write_file(place, "server", scenario.option_lines("server"))
    with contextlib.closing(Starter(place)) as starter:
        yield {"server": Live(scenario.server, starter(scenario.server, option_file=file))}


@contextlib.contextmanager
def _chain(scenario: Scenario, place: str) -> Iterator[Servers]:
    with contextlib.closing(Starter(place)) as starter:
        source, replica = pair(scenario.server, starter, Path(place), lambda _: scenario.option_lines("replica"))
        yield {"source": source, "replica": replica}


@contextlib.contextmanager
def _galera(scenario: Scenario, place: str) -> Iterator[Servers]:
    with started_cluster(os.path.join(place, "templates"), Path(place), scenario.option_lines) as cluster:
        yield dict(zip(scenario.nodes, cluster.nodes, strict=True))


@contextlib.contextmanager
def _group(scenario: Scenario, place: str) -> Iterator[Servers]:
    with started_group(os.path.join(place, "templates"), Path(place), scenario.option_lines) as group:
        yield dict(zip(scenario.nodes, group.members, strict=True))


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
    "galera": _galera,
    "group": _group,
}
