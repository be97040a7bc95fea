"""One sample of a server's counters, taken at any moment of its life."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from advisor.collect import collect
from advisor.collect.connection.options import ConnectRequest
from advisor.collect.server.workload import read_counters

if TYPE_CHECKING:
    from real_servers import Start

    from advisor.collect.connection.session import Notes, Session
    from advisor.collect.server.workload import CounterReading


@pytest.mark.servers("mysql-5.7", "mariadb-10.11")
def test_a_server_in_its_first_second_is_sampled(
    server_name: str, start: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An uptime of 0 is an uptime: a server that came up within this second has counters like any other."""
    server = start(server_name)

    def early(session: Session, notes: Notes, *, with_text: bool) -> CounterReading:
        reading = read_counters(session, notes, with_text=with_text)
        return reading._replace(status={**reading.status, "uptime": "0"})

    monkeypatch.setattr(collect, "read_counters", early)
    variables, sample = collect.read_variables_and_counters(ConnectRequest(socket=server.socket, user="root"))
    assert variables["version"].startswith(("5.7", "10.11"))
    assert sample.at == 0
    assert sample.status["threads_connected"] >= 1
