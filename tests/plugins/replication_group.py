"""A replication group of three MySQL 9.7 members on 127.0.0.1, one for all tests of a module."""

from __future__ import annotations

import contextlib
import os
import signal
from typing import TYPE_CHECKING

import pymysql
import pytest
from live_server import Live
from real_servers import lacking, provisioned
from replication_pair import until, written

from probes.sandbox import start_server
from probes.sandbox.server import free_port

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

SERVER = "mysql-9.7"
MEMBERS = 3
NAME = "aaaaaaaa-aaaa-aaaa-aaaa-aaaaaaaaaaaa"
MEMBER = """[mysqld]
plugin_load_add = group_replication.so
server_id = {number}
report_host = 127.0.0.1
innodb_buffer_pool_size = 64M
group_replication_group_name = {name}
group_replication_local_address = 127.0.0.1:{port}
group_replication_group_seeds = {seeds}
group_replication_message_cache_size = 128M
group_replication_member_expel_timeout = 0
group_replication_start_on_boot = OFF
group_replication_recovery_get_public_key = ON
"""
ACCOUNT = (
    "CREATE USER repl@'%' IDENTIFIED BY 'x'",
    "GRANT REPLICATION SLAVE, BACKUP_ADMIN, CONNECTION_ADMIN ON *.* TO repl@'%'",
    "RESET BINARY LOGS AND GTIDS",
    "CHANGE REPLICATION SOURCE TO SOURCE_USER = 'repl', SOURCE_PASSWORD = 'x' FOR CHANNEL 'group_replication_recovery'",
)
STATES = "SELECT MEMBER_STATE, COUNT(*) FROM performance_schema.replication_group_members GROUP BY MEMBER_STATE"
OWN = (
    "SELECT MEMBER_STATE, MEMBER_ROLE FROM performance_schema.replication_group_members "
    "WHERE MEMBER_ID IN ('', @@server_uuid)"
)


class ReplicationGroup:
    """Three members; `heal` makes a healthy group of them again after any test."""

    def __init__(self, members: list[Live]) -> None:
        self.members = members

    def states(self, member: Live) -> dict[str, int]:
        """How many members this member lists in which state."""
        return dict(member.run(STATES))

    def own(self, member: Live) -> tuple[str, str]:
        """The member's own state and role; empty while it lets nobody in, as it ends sessions when it leaves."""
        with contextlib.suppress(pymysql.err.OperationalError):
            for row in member.run(OWN):
                return str(row[0]), str(row[1])
        return "", ""

    def online(self, member: Live) -> bool:
        """Whether a member lists the whole group as ONLINE."""
        with contextlib.suppress(pymysql.err.MySQLError):
            return self.states(member) == {"ONLINE": MEMBERS}
        return False

    def primary(self) -> Live:
        """The member that accepts writes."""
        return next(member for member in self.members if self.own(member) == ("ONLINE", "PRIMARY"))

    def secondaries(self) -> list[Live]:
        """The members that accept no writes, once there are all: who was stopped may be expelled after it goes on."""
        secondaries: list[Live] = []

        def are_complete() -> bool:
            secondaries[:] = [member for member in self.members if self.own(member) == ("ONLINE", "SECONDARY")]
            return len(secondaries) == MEMBERS - 1 or self._joining()

        until(are_complete)
        return secondaries

    def heal(self) -> None:
        """Continue stopped members, restart killed ones, and let those outside join, until all are ONLINE."""
        for member in self.members:
            if member.sandbox.running:
                os.kill(member.sandbox.pid, signal.SIGCONT)
            else:
                member.sandbox.restart()
        until(lambda: all(map(self.online, self.members)) or self._joining())

    def _joining(self) -> bool:
        """Let members outside the group join it; never true, so that the caller waits on."""
        for member in self.members:
            with contextlib.suppress(pymysql.err.MySQLError):
                if self.own(member)[0] in {"OFFLINE", "ERROR"}:
                    member.run("STOP GROUP_REPLICATION", "START GROUP_REPLICATION")
        return False


@contextlib.contextmanager
def started_group(
    templates: str | Path, folder: Path, more_lines: Callable[[str], str] = lambda _: ""
) -> Iterator[ReplicationGroup]:
    """The group, all members ONLINE, with the first as primary.

    `more_lines` returns further option lines by member1, member2 and member3. Raises ProvisionError if the server is
    not available.
    """
    ports = [free_port() for _ in range(MEMBERS)]
    seeds = ",".join(f"127.0.0.1:{port}" for port in ports)
    with contextlib.ExitStack() as ending:
        members = []
        for number, port in enumerate(ports, 1):
            name = f"member{number}"
            text = MEMBER.format(number=number, name=NAME, port=port, seeds=seeds)
            file = written(folder, f"{name}.cnf", text + more_lines(name))
            sandbox = start_server(provisioned(SERVER), option_file=file, tcp=True, templates=templates)
            members.append(Live(SERVER, ending.enter_context(sandbox)))
        for number, member in enumerate(members):
            member.run(*ACCOUNT)
            founds = [] if number else ["SET GLOBAL group_replication_bootstrap_group = ON"]
            member.run(*founds, "START GROUP_REPLICATION", "SET GLOBAL group_replication_bootstrap_group = OFF")
        of_three = ReplicationGroup(members)
        of_three.heal()
        yield of_three


@pytest.fixture(scope="module")
def group(templates: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[ReplicationGroup]:
    """The group, all members ONLINE, with the first as primary."""
    if reason := lacking(SERVER):
        pytest.skip(reason)
    with started_group(templates, tmp_path_factory.mktemp("group")) as members:
        yield members
