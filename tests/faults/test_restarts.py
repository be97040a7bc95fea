"""A server that is restarted in the midst of what is read of it: said, and no figure reaches over the restart."""

from __future__ import annotations

from pathlib import Path

import pytest
from real_servers import Start

from advisor.__main__ import main
from advisor.collect.collect import CollectRequest, collect_from_account
from advisor.collect.connection.options import Account
from advisor.state import sample_ring
from advisor.state.busiest_hours import hour_spans


@pytest.mark.servers("mysql-5.7", "mariadb-10.11")
def test_a_restart_within_the_window_and_between_samples(
    server_name: str, start: Start, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was read before is there, without rates and with the reason; samples of both lives stand apart."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    sandbox = start(server_name, small=True)
    there = ("--socket", sandbox.socket, "--user", "root")
    assert main(["sample", *there]) == 0
    (path,) = (tmp_path / "mycnf" / "samples").glob("*.ring")
    _up_for_hours(str(path))
    facts = collect_from_account(
        Account("root", socket=sandbox.socket), CollectRequest(window=1.0), lambda _: sandbox.restart()
    )
    assert facts.server.variables["datadir"]
    assert facts.workload is None
    assert "lost" in facts.lost
    assert "lost" in facts.reason_missing("workload")
    assert main(["sample", *there]) == 0
    entries = sample_ring.read(str(path))[1]
    assert len(entries) == 7
    assert entries[-1].uptime < entries[-2].uptime
    assert all(span.last < 6 for span in hour_spans(entries))


def _up_for_hours(path: str) -> None:
    """The one sample as the last of an hour, by the server's uptime and the clock alike."""
    head, (entry,) = sample_ring.read(path)
    before = [entry._replace(time=entry.time - 600 * n, uptime=9000 - 600 * n) for n in range(5, -1, -1)]
    sample_ring.create(path, head, before)
