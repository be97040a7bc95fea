"""A Galera cluster of three MariaDB nodes on 127.0.0.1, one for all tests of a module."""

from __future__ import annotations

import contextlib
import os
import signal
from pathlib import Path
from typing import TYPE_CHECKING

import pymysql
import pytest
from live_server import Live
from provisioning.parts import check_part
from provisioning.shelf import ProvisionError
from real_servers import lacking, provisioned
from replication_pair import until, written

from probes.sandbox import start_server
from probes.sandbox.server import free_port

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

NO_OPTIONS: Mapping[str, str] = {}
SERVER, PROVIDER = "mariadb-10.11", "galera-4"
NODES = 3
# Short timeouts: a node that does not answer is expelled after two seconds, not after five and more.
TIMEOUTS = (
    "evs.suspect_timeout=PT2S; evs.inactive_timeout=PT3S; evs.keepalive_period=PT0.5S; evs.inactive_check_period=PT0.5S"
)
NODE = """[mariadb]
binlog_format = ROW
innodb_autoinc_lock_mode = 2
innodb_buffer_pool_size = 32M
wsrep_on = ON
wsrep_provider = {library}
wsrep_cluster_name = tests
wsrep_cluster_address = gcomm://{addresses}
wsrep_node_name = node{number}
wsrep_node_address = 127.0.0.1:{port}
wsrep_sst_method = rsync
wsrep_sst_receive_address = 127.0.0.1:{transfer}
wsrep_provider_options = "gmcast.listen_addr=tcp://127.0.0.1:{port}; ist.recv_addr=127.0.0.1:{increments}; {more}"
"""


# An rsync that sends nothing while a file exists, so that its node stays a donor; the receiving daemon starts at once.
WAITING = """#!/bin/sh
case " $* " in *" --daemon "*) ;; *) while [ -e {hold} ]; do sleep 0.1; done ;; esac
exec {rsync} "$@"
"""


class GaleraCluster:
    """Three nodes; `heal` makes a healthy cluster of them again after any test.

    While the file `hold` exists, state transfers wait.
    """

    def __init__(self, nodes: list[Live], hold: Path) -> None:
        self.nodes = nodes
        self.hold = hold

    def status(self, node: Live, name: str) -> str:
        """One wsrep status value of a node."""
        rows = node.run(f"SHOW GLOBAL STATUS LIKE '{name}'")
        return str(rows[0][1]) if rows else ""

    def synced(self, node: Live) -> bool:
        """Whether a node is a synced member of the whole primary component."""
        with contextlib.suppress(pymysql.err.MySQLError):
            return (
                self.status(node, "wsrep_cluster_size") == str(NODES)
                and self.status(node, "wsrep_local_state_comment") == "Synced"
                and self.status(node, "wsrep_ready") == "ON"
            )
        return False

    def heal(self) -> None:
        """Continue stopped nodes, restart killed ones, and wait until all are synced."""
        for node in self.nodes:
            if node.sandbox.running:
                os.kill(node.sandbox.pid, signal.SIGCONT)
        alive = [node for node in self.nodes if node.sandbox.running]
        for node in self.nodes:
            if not node.sandbox.running:
                node.sandbox.restart(())
        until(lambda: all(map(self.synced, self.nodes)) or self._bootstrapped(alive))

    def _bootstrapped(self, alive: list[Live]) -> bool:
        """Make one node primary again if none is; never true, so that the caller waits on."""
        with contextlib.suppress(pymysql.err.MySQLError):
            if alive and all(self.status(node, "wsrep_cluster_status") != "Primary" for node in alive):
                alive[0].run("SET GLOBAL wsrep_provider_options = 'pc.bootstrap=YES'")
        return False


@contextlib.contextmanager
def started_cluster(
    templates: str | Path,
    folder: Path,
    more_lines: Callable[[str], str] = lambda _: "",
    provider_options: Mapping[str, str] = NO_OPTIONS,
) -> Iterator[GaleraCluster]:
    """The cluster, all nodes synced; `more_lines` returns further option lines by node1, node2 and node3.

    `provider_options` are further ones of the provider, by node.

    Raises ProvisionError if the server or the provider is not available.
    """
    part, binary = check_part(PROVIDER), provisioned(SERVER)
    ports = [free_port() for _ in range(NODES)]
    scripts = Path(binary.basedir or "/usr") / "bin"
    hold, programs = folder / "hold", folder / "programs"
    programs.mkdir()
    (programs / "rsync").write_text(WAITING.format(hold=hold, rsync=f"{part.programs}/rsync"))
    (programs / "rsync").chmod(0o755)
    path = os.pathsep.join((str(programs), part.programs, str(scripts), os.environ.get("PATH", "/usr/bin:/bin")))
    with contextlib.ExitStack() as ending:
        nodes = []
        for number, port in enumerate(ports, 1):
            name = f"node{number}"
            text = NODE.format(
                library=part.library, addresses=",".join(f"127.0.0.1:{each}" for each in ports), number=number,
                port=port, transfer=free_port(), increments=free_port(),
                more="; ".join((TIMEOUTS, *filter(None, [provider_options.get(name)]))),
            )  # fmt: skip
            sandbox = ending.enter_context(
                start_server(
                    binary, option_file=written(folder, f"{name}.cnf", text + more_lines(name)), tcp=True,
                    templates=templates, arguments=["--wsrep-new-cluster"] if number == 1 else [],
                    variables={"PATH": path},
                )
            )  # fmt: skip
            nodes.append(Live(SERVER, sandbox))
        cluster = GaleraCluster(nodes, hold)
        cluster.heal()
        yield cluster


def provider_library() -> str:
    """The path of the provider; skips the test if it can't be had."""
    try:
        return str(check_part(PROVIDER).library)
    except ProvisionError as error:
        pytest.skip(f"{PROVIDER} can't be had: {error}")


@pytest.fixture(scope="module")
def galera(templates: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[GaleraCluster]:
    """The cluster, all nodes synced."""
    if reason := lacking(SERVER):
        pytest.skip(reason)
    provider_library()
    with started_cluster(templates, tmp_path_factory.mktemp("galera")) as cluster:
        yield cluster
