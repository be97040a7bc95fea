"""Two hosts of a fleet behind a real sshd: on the loopback, and in network namespaces of their own."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import pytest
from fleet_run import Ground
from fleet_sshd import Key, reached_by, sshd
from live_server import Live
from provisioning.shelf import shelf
from real_servers import Binaries

from advisor.facts import Facts
from advisor.facts.snapshot import load
from probes.sandbox import Binary
from probes.sandbox import start_server as start_sandbox

NAMES = ("mysql-8.0", "mariadb-10.11")


class Site(NamedTuple):
    """Where a host of the fleet is: an address, the port of its sshd, and its server."""

    address: str
    port: int
    live: Live


def server(binary: Binary, *arguments: str, templates: Path | None = None) -> Live:
    """A running server of its own, with TCP; without templates it makes its data directory itself."""
    return Live(binary.name, start_sandbox(binary, tcp=True, arguments=arguments, templates=templates))


def inside(binary: Binary, namespace: str, place: Path) -> Binary:
    """The same program, started in a network namespace."""
    script = place / f"{binary.name}-{namespace}"
    script.write_text(f'#!/bin/sh\nexec nsenter --net=/run/netns/{namespace} "{binary.program}" "$@"\n')
    script.chmod(0o755)
    return replace(binary, program=str(script))


@pytest.fixture
def on_loopback(keys: Key, binaries: Binaries) -> Iterator[list[Site]]:
    """Two sshd and two servers on 127.0.0.1."""
    with ExitStack() as running:
        sites = []
        for name in NAMES:
            live = server(binaries(name), templates=shelf() / ".templates")
            running.callback(live.sandbox.close)
            sites.append(Site("127.0.0.1", running.enter_context(sshd(keys, "127.0.0.1")), live))
        yield sites


@pytest.fixture
def in_namespaces(keys: Key, binaries: Binaries) -> Iterator[list[Site]]:
    """Two namespaces, each joined to ours by a pair of interfaces, with sshd and a server in it."""
    if os.geteuid() != 0 or not shutil.which("ip") or not shutil.which("nsenter"):
        pytest.skip("network namespaces need root, ip of iproute2 and nsenter of util-linux")
    with ExitStack() as running:
        yield [running.enter_context(_namespace(keys, binaries, name, n)) for n, name in enumerate(NAMES)]


@contextmanager
def _namespace(keys: Key, binaries: Binaries, name: str, number: int) -> Iterator[Site]:
    label = f"mycnf{os.getpid() % 10000}x{number}"
    ours, theirs = (f"198.18.{os.getpid() % 250}.{4 * number + end}" for end in (1, 2))
    if subprocess.run(["ip", "netns", "add", label], check=False, capture_output=True).returncode:
        pytest.skip("no network namespace can be made here")
    with ExitStack() as undo:
        undo.callback(_ip, "netns", "del", label)
        _ip("link", "add", label, "type", "veth", "peer", "name", "eth0", "netns", label)
        _ip("addr", "add", f"{ours}/30", "dev", label)
        _ip("link", "set", label, "up")
        for words in (("addr", "add", f"{theirs}/30", "dev", "eth0"), ("link", "set", "eth0", "up")):
            _ip("-n", label, *words)
        _ip("-n", label, "link", "set", "lo", "up")
        # Without a template: the shelf's would be taken for that of an older program by this name, and dropped.
        live = server(inside(binaries(name), label, keys.host.parent), f"--bind-address={theirs}")
        undo.callback(live.sandbox.close)
        port = undo.enter_context(sshd(keys, theirs, "ip", "netns", "exec", label))
        yield Site(theirs, port, live)


def _ip(*words: str) -> None:
    subprocess.run(["ip", *words], check=True, capture_output=True)


def facts_over_ssh(ground: Ground, keys: Key, sites: list[Site]) -> list[Facts]:
    """What one run reads of the sites' servers; all are audited."""
    hosts: dict[str, dict[str, object]] = {
        f"db{number}": {"ansible_host": site.address, "ansible_port": site.port, "mycnf_port": site.live.sandbox.port}
        for number, site in enumerate(sites)
    }
    ground.inventory(
        {"db": hosts},
        **reached_by(keys),
        mycnf_user="fleet",
    )
    with ExitStack() as accounts:
        for site in sites:
            accounts.enter_context(site.live.user("fleet", "IDENTIFIED BY ''"))
        ended = ground.fleet("--forks", "2")
    assert ended.code == 0, ended
    rows = ground.rows()
    assert [rows[name]["machine"] for name in hosts] == ["read", "read"], rows
    return [load(str(ground.run_directory / rows[name]["snapshot"])) for name in hosts]


# Root has namespaces, which say all that loopback says and more.
LOOPBACK = pytest.param("on_loopback", marks=pytest.mark.whole) if os.geteuid() == 0 else "on_loopback"


@pytest.mark.parametrize("where", [LOOPBACK, "in_namespaces"])
def test_hosts_over_ssh(where: str, request: pytest.FixtureRequest, ground: Ground, keys: Key) -> None:
    """Server facts come over TCP and the machine through the host's shell; each is matched to its own process."""
    sites: list[Site] = request.getfixturevalue(where)
    for site, facts in zip(sites, facts_over_ssh(ground, keys, sites), strict=True):
        assert facts.server.link.via == "tcp"
        assert facts.host is not None
        assert facts.host.process is not None
        assert facts.host.process.cwd == facts.server.variables["datadir"].rstrip("/")
        assert facts.host.cpu is not None
        assert facts.host.cpu.logical == os.cpu_count()
        assert site.live.name.startswith(facts.server.flavour)
