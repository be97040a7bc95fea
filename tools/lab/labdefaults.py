"""Servers with only their defaults under an ordinary load: findings on them are either true or false alarms."""

from __future__ import annotations

import os

from labfolder import Lab
from provisioning.recipes import RECIPES

from advisor.facts.probes import Metric
from probes.workload.load import OLTP
from probes.workload.tables import TableShape

THREADS = 4
ROWS, TABLES = 100_000, 2


def default_labs(work: str) -> list[Lab]:
    """One lab per real server; its option file in `work` has an empty group."""
    path = os.path.join(work, "defaults.cnf")
    os.makedirs(work, exist_ok=True)
    with open(path, "w", encoding="utf-8") as file:
        file.write("[mysqld]\n")
    return [_default(server, path) for server in RECIPES]


def _default(server: str, path: str) -> Lab:
    return Lab(
        name=f"default-{server}",
        option_file=path,
        server=server,
        fault="",
        data=TableShape(ROWS, TABLES),
        workload=OLTP["oltp_read_write"],
        threads=THREADS,
        access="pareto",
        metric=Metric("tps", "transactions/s", "more"),
        warm=0,
        seconds=1,
        rounds=1,
    )
