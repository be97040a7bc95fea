"""Crowds: dozens of replication channels, thousands of sessions that wait, and names in wide characters."""

from __future__ import annotations

import pytest
from msgspec.structs import replace
from rich.cells import cell_len

from advisor.analysis.audited import AuditResult
from advisor.cli.parser import build_parser
from advisor.commands.collect import DEMO
from advisor.commands.judge_facts import audit_facts, make_request
from advisor.facts import Facts, Replication
from advisor.facts.snapshot import load
from advisor.facts.workload import Blocking, LockWait, OpenTransaction, ServerSession
from advisor.tui.lock_waits import StatusLine, blocking_lines, status_content
from advisor.tui.screens.overview import summary
from advisor.tui.view import View

HOLDER = ServerSession(12, "app@db2", "Sleep", 300, transaction=OpenTransaction("RUNNING", 360, rows_locked=3000))


@pytest.fixture(scope="module")
def recorded() -> Facts:
    """The facts of the demo."""
    return load(DEMO)


def audited(facts: Facts, **server: object) -> AuditResult:
    """The audit of these facts with other answers of the server."""
    asked = make_request(build_parser("audit").parse_args(["audit", "--isolated", "--demo"]))
    return audit_facts(replace(facts, server=replace(facts.server, **server)), asked)


def _channel(number: int) -> dict[str, str | None]:
    running = {"Slave_IO_Running": "Yes", "Slave_SQL_Running": "Yes", "Seconds_Behind_Master": "0"}
    return {"Connection_name": f"c{number}", "Master_Host": f"db{number}", **running}


def test_of_many_channels_the_broken_ones_are_shown(recorded: Facts) -> None:
    """Of 40 channels the stopped ones come first, the rest is counted, and the role names two sources."""
    rows = [_channel(number) for number in range(40)]
    for row in rows[30:32]:
        row["Slave_SQL_Running"] = "No"
    audit = audited(recorded, replication=Replication(tuple(rows)))
    lines = summary.replication_text(audit, 80)
    assert lines is not None
    shown = lines.plain.splitlines()
    assert [line.partition(":")[2] for line in shown[:2]] == [" applier not running, lag 0 s"] * 2
    assert len(shown) == summary.MOST_MEMBERS
    assert shown[-1] == "and 33 more"
    assert summary.server_role(audit) == "replica of db0, db1 and 38 more sources"
    every = audited(recorded, replication=Replication(tuple(row | {"Slave_SQL_Running": "No"} for row in rows)))
    text = summary.replication_text(every, 80)
    assert text is not None
    assert text.plain.splitlines()[-1] == "and 33 more, 33 of them with problems"


def _waiting(number: int, account: str = "app@web1") -> ServerSession:
    return ServerSession(number, account, "Query", 30, "updating", OpenTransaction("LOCK WAIT", 40, waiting=30))


def test_a_chain_of_thousands_is_shown_in_part(recorded: Facts) -> None:
    """Sessions that each wait for the one before make a chain that is longer than the call stack."""
    waiters = [_waiting(number) for number in range(13, 1513)]
    waits = tuple(LockWait(one.id, one.id - 1, "rows") for one in waiters)
    lines = blocking_lines(audited(recorded, blocking=Blocking((HOLDER, *waiters), waits=waits)), 6)
    assert len(lines) == 7
    assert lines[-1].text == "and 1,495 more sessions"
    one_more = Blocking((HOLDER, *waiters[:6]), waits=waits[:6])
    assert blocking_lines(audited(recorded, blocking=one_more), 6)[-1].text == "and 1 more session"


def test_each_first_blocker_is_shown(recorded: Facts) -> None:
    """A session that blocks one other is not hidden by the hundred that wait for another."""
    waiters, second = [_waiting(number) for number in range(100, 200)], replace(HOLDER, id=13)
    waits = (*(LockWait(one.id, 12, "rows") for one in waiters), LockWait(300, 13, "rows"))
    queue = Blocking((HOLDER, second, *waiters, _waiting(300)), waits=waits)
    lines = [line.text for line in blocking_lines(audited(recorded, blocking=queue), 6)]
    assert [line for line in lines if line.startswith("connection 13 ")]
    assert lines[-1] == "and 98 more sessions"


def test_more_waits_than_were_read_are_counted(recorded: Facts) -> None:
    """An audit reads the blockers of the longest waits; that is no word of the server about the others."""
    sessions = (HOLDER, *map(_waiting, (14, 15, 20, 21)))
    queue = Blocking(sessions, waits=(LockWait(14, 12, "rows"), LockWait(15, 12, "rows")))
    status = recorded.server.status | {"innodb_row_lock_current_waits": "980"}
    line = blocking_lines(audited(recorded, blocking=queue, status=status))[3].text
    assert line == "978 more sessions wait for rows up to 30 s; this audit did not read who blocks them"
    line = blocking_lines(audited(recorded, blocking=replace(queue, waits=(), rows_read=False)))[0].text
    assert line.endswith("the server does not show who blocks them")


def test_wide_names_are_wrapped_within_the_box(recorded: Facts) -> None:
    """A Chinese character takes two columns: no line is longer than the box, and no word is lost."""
    account = "予約システム@ウェブサーバー"
    lines = [StatusLine(f"connection 12 ({account}), idle for 5 min, transaction open for 6 min, 3 rows locked")]
    text = status_content(lines, 50, whole=True).plain
    assert max(map(cell_len, text.splitlines())) <= 50
    assert "".join(text.split()) == "".join(lines[0].text.split())


def test_transactions_without_a_session_are_counted(recorded: Facts) -> None:
    """A prepared XA transaction keeps its locks when its client has gone, and is in no list of sessions."""
    detached = (OpenTransaction("RUNNING", 7200), OpenTransaction("RUNNING", 60), OpenTransaction("COMMITTING", 1))
    (line,) = blocking_lines(audited(recorded, blocking=Blocking(detached=detached)))
    assert line.text == "2 transactions without a session, open for up to 2 h: XA RECOVER lists prepared ones"


def test_a_session_that_waits_itself_is_no_first_blocker(recorded: Facts) -> None:
    """Its own wait may not have been read, as an audit reads the longest; those behind it wait for the same session."""
    ahead = replace(_waiting(29), transaction=OpenTransaction("LOCK WAIT", 400, rows_locked=1, waiting=30), seconds=30)
    waiters = [_waiting(number) for number in range(40, 52)]
    waits = tuple(LockWait(one.id, blocker, "rows") for one in waiters for blocker in (12, 29))
    status = recorded.server.status | {"innodb_row_lock_current_waits": "13"}
    audit = audited(recorded, blocking=Blocking((HOLDER, ahead, *waiters), waits=waits), status=status)
    blockers = [line.text for line in blocking_lines(audit) if line.text.startswith("connection ")]
    assert [text.split()[1] for text in blockers] == ["12"]
    found = {finding.code: finding.message for finding in audit.findings if finding.code.startswith("BLK")}
    assert "BLK002" not in found
    assert found["BLK001"].startswith("At least 12 sessions wait up to 30 s behind connection 12")
    cut_off = replace(HOLDER, id=99)
    only = Blocking((cut_off, ahead, *waiters), waits=tuple(wait for wait in waits if wait.blocker == 29))
    assert [root.session.id for root in only.roots] == [29]  # better than none


def test_behind_a_prepared_transaction_no_waiting_session_is_blamed(recorded: Facts) -> None:
    """A prepared XA transaction blocks without a session: the first in the queue waits itself (seen on 9.7)."""
    first = replace(_waiting(44), transaction=OpenTransaction("LOCK WAIT", 400, rows_locked=1, waiting=30))
    waiters = [_waiting(number) for number in range(45, 57)]
    waits = tuple(LockWait(one.id, 44, "rows") for one in waiters)
    queue = Blocking((first, *waiters), (OpenTransaction("RUNNING", 400, 1, 1),), waits)
    audit = audited(recorded, blocking=queue)
    lines = [line.text for line in blocking_lines(audit)]
    assert lines[0] == "connection 44 (app@web1), waits 30 s itself, transaction open for 6 min 40 s, 1 row locked"
    assert lines[-2] == "1 more session waits for rows up to 30 s; maybe for a transaction without a session"
    assert lines[-1] == "1 transaction without a session, open for 6 min 40 s: XA RECOVER lists prepared ones"
    assert not [finding for finding in audit.findings if finding.code in ("BLK001", "BLK002")]


def test_do_first_has_forty_stopped_channels_on_one_line(recorded: Facts) -> None:
    """The other findings keep their lines."""
    rows = tuple(_channel(number) | {"Slave_SQL_Running": "No", "Slave_IO_Running": "No"} for number in range(40))
    audit = audited(recorded, replication=Replication(rows))
    advice = summary.first_advice(View(audit, "live", "db1", 0.0))
    stopped = [one for one in advice if one.finding.code == "REP015"]
    assert len(advice) == 5
    assert len(stopped) == 1
    assert stopped[0].change.startswith("stopped-replica and 39 more: ")
    plain = summary.first_advice(View(audited(recorded), "live", "db1", 0.0))
    assert len({id(one.finding) for one in plain}) == 5


def test_locks_of_the_whole_server_have_their_names(recorded: Facts) -> None:
    """A wait for a global or backup lock names it as the manual does, not by its type in performance_schema."""
    waiters = [ServerSession(number, "app@h", "Query", number, "Waiting for some lock") for number in (20, 21, 22)]
    kinds = ("GLOBAL", "COMMIT", "BACKUP LOCK")
    waits = tuple(LockWait(one.id, 12, kind) for one, kind in zip(waiters, kinds, strict=True))
    lines = blocking_lines(audited(recorded, blocking=Blocking((HOLDER, *waiters), waits=waits)))
    assert [line.text.partition(" waits ")[2] for line in lines[1:]] == [
        "22 s for the backup lock",
        "21 s for the commit lock",
        "20 s for the global read lock",
    ]


def test_an_applier_is_named_without_a_host(recorded: Facts) -> None:
    """Its account has a user alone."""
    applier = ServerSession(30, "system user@", "Query", 30, "updating", OpenTransaction("RUNNING", 40, rows_locked=1))
    queue = Blocking((applier, _waiting(31)), waits=(LockWait(31, 30, "rows"),))
    (first, *_) = blocking_lines(audited(recorded, blocking=queue))
    assert first.text.startswith("connection 30 (system user), ")


def test_a_rollback_is_not_idle(recorded: Facts) -> None:
    """A session that was killed looks idle in performance_schema while its changes are rolled back."""
    undone = OpenTransaction("ROLLING BACK", 400, rows_locked=200_000, rows_modified=90_000)
    queue = Blocking((replace(HOLDER, transaction=undone), _waiting(14)), waits=(LockWait(14, 12, "rows"),))
    audit = audited(recorded, blocking=queue)
    assert blocking_lines(audit)[0].text.startswith("connection 12 (app@db2), rolling back, transaction open for 6 min")
    (finding,) = (one for one in audit.findings if one.code.startswith("BLK00"))
    assert finding.code == "BLK002"
    assert "and is rolling back. Its transaction" in finding.message
    assert not any("KILL" in (action.statement or "") for action in finding.actions)


def test_one_wait_behind_a_prepared_transaction(recorded: Facts) -> None:
    """A session that waits for a transaction without a session is no wait that the server hides."""
    queue = Blocking((_waiting(14),), (OpenTransaction("RUNNING", 400, 1, 1),))
    lines = [line.text for line in blocking_lines(audited(recorded, blocking=queue))]
    assert lines[0] == "1 session waits for rows up to 30 s; maybe for a transaction without a session"


def test_waits_that_no_server_shows(recorded: Facts) -> None:
    """Where other waits were read, a wait for a flush is still one whose blocker no server shows."""
    flush = ServerSession(20, "app@h", "Query", 13, "Waiting for table flush")
    behind = ServerSession(21, "app@h", "Query", 13, "Waiting for global read lock")
    queue = Blocking((HOLDER, flush, behind), waits=(LockWait(21, 12, "GLOBAL"),))
    lines = [line.text for line in blocking_lines(audited(recorded, blocking=queue))]
    assert lines[2] == "1 session waits up to 13 s; the server does not show who blocks them"
