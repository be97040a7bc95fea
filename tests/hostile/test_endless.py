"""A server whose answers never end is given up, in bounded time and memory."""

from __future__ import annotations

from pathlib import Path

import pytest
from hostile_server import Recording, hostile

from advisor.collect.connection.connect import ConnectionLimits
from advisor.collect.connection.options import Account
from advisor.collect.connection.session import open_session
from advisor.collect.server.workload import read_counters
from advisor.core.errors import CONNECTION
from advisor.facts import Facts
from tests.hostile.conftest import AUDIT, Measure, collected, connecting, ended_well, said, some
from tests.hostile.endless import TOO_LITTLE, TOO_MUCH
from tests.hostile.framing import honest, only

MOST_MEMORY = 250 << 20

pytestmark = pytest.mark.servers("mariadb-10.11")


@pytest.mark.parametrize("kind", some(TOO_MUCH, ("rows without end", "columns without end")))
def test_answers_without_end_are_given_up(recording: Recording, kind: str, tmp_path: Path, measure: Measure) -> None:
    """Rows, columns, packets, results without end: exit code 3, one line, and memory that stays bounded.

    A busy host may not read as much as is too large within the 20 s that one answer may take.
    """
    place = tmp_path / "h.sock"
    with hostile(recording, str(place), TOO_MUCH[kind]):
        ended, peak = measure(AUDIT[0], *connecting(tmp_path, place), *AUDIT[1:])
    reason = ended_well(ended, CONNECTION)
    assert "the server was given up during " in reason
    assert "larger than" in reason or "no answer within 20 s" in reason
    assert peak < MOST_MEMORY


@pytest.mark.parametrize("kind", TOO_LITTLE)
def test_answers_that_never_come_are_given_up(recording: Recording, kind: str, tmp_path: Path) -> None:
    """Silence, a byte now and then, half an answer: the limits end each, and the reason says so."""
    found = collected(recording, tmp_path / "h.sock", TOO_LITTLE[kind])
    assert any(
        word in said(found) for word in ("did not answer properly in time", "was lost", "no answer within", "given up")
    )


def test_a_server_that_is_given_up_was_not_lost(recording: Recording, tmp_path: Path) -> None:
    """Where mycnf itself ends the connection, after a silence that no second connection mends, the reason says so."""
    silent = TOO_LITTLE["a byte now and then after the login"]
    found = collected(recording, tmp_path / "h.sock", silent, ConnectionLimits(read=60.0, answer=1.0))
    assert "no answer within 1 s" in said(found)
    assert "lost during" not in said(found)


def test_all_answers_together_have_a_limit(recording: Recording, tmp_path: Path) -> None:
    """A server that takes just less than the limit for each answer is ended by that for all of them."""
    slow = only(lambda statement: "SHOW" in statement, TOO_LITTLE["a byte now and then"])
    limits = ConnectionLimits(read=60.0, answer=60.0, whole=2.0)
    found = collected(recording, tmp_path / "h.sock", slow, limits)
    assert isinstance(found, Facts)
    assert found.lost == "the server was given up: its answers took more than 2 s"


def test_a_series_of_samples_has_no_limit_for_all(recording: Recording, tmp_path: Path) -> None:
    """The limit is an audit's: the app's samples may go on without end."""
    place = tmp_path / "h.sock"
    with hostile(recording, str(place), honest):
        session = open_session(Account("root", socket=str(place)), ConnectionLimits(whole=0.0))
        for _ in range(3):
            assert read_counters(session, [], with_text=False).status
        session.close()
