"""How long a fleet with an unresponsive host takes: the time of the run compared with its slowest row."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack
from importlib.util import find_spec
from typing import Any

from figure import Figure
from provisioning.shelf import shelf
from real_servers import lacking, names_of, provisioned

from probes.sandbox import Sandbox, start_server
from probes.sandbox.server import free_port

TIMEOUT = 30
WINDOW = 1


def figures(top: str) -> Iterator[Figure]:
    """The figures of a fleet run with the real servers, a dead host and a hanging one.

    They are the number of audited hosts, the seconds of the run and of its slowest host, and the difference of both.
    """
    name = "audit of a fleet: six servers, one dead, one hanging"
    missing = [reason for server in names_of(()) if (reason := lacking(server))]
    missing += [] if find_spec("ansible") else ["ansible-core isn't installed"]
    if missing:
        yield Figure(name, None, reason_missing="; ".join(missing))
        return
    with ExitStack() as running, tempfile.TemporaryDirectory() as place:
        servers = {n: running.enter_context(_start_server(n)) for n in names_of(())}
        hanging = running.enter_context(socket.socket())
        hanging.bind(("127.0.0.1", 0))
        hanging.listen()
        hosts = {n: _local(mycnf_socket=server.socket) for n, server in servers.items()}
        hosts["dead"] = _local(mycnf_host="127.0.0.1", mycnf_port=free_port())
        hosts["hanging"] = _local(mycnf_host="127.0.0.1", mycnf_port=hanging.getsockname()[1])
        took, report = _run(top, place, hosts)
    slowest = max(float(host["seconds"]) for host in report["hosts"])
    answered = sum(host["status"] == "audited" for host in report["hosts"])
    yield Figure(f"{name}: audited", answered, "hosts", ">=", len(servers))
    yield Figure(f"{name}: the whole run", took, "s", "<=", TIMEOUT)
    yield Figure(f"{name}: its slowest host", slowest, "s", "<=", TIMEOUT)
    yield Figure(f"{name}: beside that (ansible, report)", took - slowest, "s")


def _start_server(name: str) -> Sandbox:
    quick = ["--skip-ssl"] if provisioned(name).target.since("mariadb", 11, 4) else []
    return start_server(provisioned(name), arguments=quick, templates=shelf() / ".templates")


def _local(**variables: object) -> dict[str, object]:
    return {"ansible_connection": "local", "mycnf_user": "root", **variables}


def _run(top: str, place: str, hosts: dict[str, dict[str, object]]) -> tuple[float, dict[str, list[dict[str, Any]]]]:
    """Seconds of one run with a fork for each host, and its report."""
    with open(os.path.join(place, "inventory.yml"), "w", encoding="utf-8") as file:
        json.dump({"all": {"hosts": hosts}}, file)
    command = [sys.executable, "-m", "advisor", "fleet", "--isolated", "-i", "inventory.yml", "--dir", "run"]
    command += ["--forks", str(len(hosts)), "--timeout", str(TIMEOUT), "--window", str(WINDOW), "--format", "json"]
    environment = {**os.environ, "HOME": place, "PYTHONPATH": top}
    began = time.perf_counter()
    ran = subprocess.run(command, cwd=place, env=environment, capture_output=True, text=True, check=False)
    return time.perf_counter() - began, json.loads(ran.stdout)
