"""What is said of a replica that lags behind its source or has stopped, and of how old its data is."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from rule_cases import found

if TYPE_CHECKING:
    from pathlib import Path

    from advisor.core.model import Finding

SERIAL = {"variables": {"slave_parallel_workers": "1"}}
WAITS = {
    "Seconds_Behind_Master": "75",
    "SQL_Delay": "0",
    "Slave_SQL_Running": "Yes",
    "Slave_SQL_Running_State": "Waiting for table metadata lock",
    "Master_Log_File": "b.7",
    "Read_Master_Log_Pos": "20480",
    "Relay_Log_File": "r.2",
    "Relay_Master_Log_File": "b.7",
    "Exec_Master_Log_Pos": "10240",
    "Channel_Name": "",
}


def lag(target: str, folder: Path, times: dict[str, Any] | None = None, **row: str | None) -> Finding:
    """What is said of the lag of a replica with one worker."""
    part = {"replica_rows": [WAITS | row], "applier_times": [{"channel": "", **times}] if times else []}
    return found("replica-lag", target, folder, server=SERIAL | {"replication": part})[0]


def test_lag_in_numbers(tmp_path: Path) -> None:
    """The lag is a number, with what is known of where it comes from; one worker isn't blamed for a lock."""
    finding = lag("mysql-8.0.15", tmp_path, {"applying": 70})
    assert finding.message == (
        "The replica is 75 s behind its source. The oldest transaction being applied was committed 1 min 10 s ago. "
        "Received and not yet applied: 10K of binary log. The applier waits for a lock of another session."
    )
    assert "holds the lock" in finding.help
    assert not finding.actions
    by_worker = lag("mysql-8.0.15", tmp_path, {"locked": 1}, Slave_SQL_Running_State="", Relay_Master_Log_File="b.6")
    assert by_worker.message.endswith("The applier waits for a lock of another session.")
    free = lag("mysql-8.0.15", tmp_path, Slave_SQL_Running_State="", Relay_Master_Log_File="b.6")
    assert free.message == "The replica is 75 s behind its source. One thread applies all changes."
    beyond = lag("mysql-8.0.15", tmp_path, SQL_Delay="60", Slave_SQL_Running_State="")
    assert beyond.message.startswith("The replica is 15 s behind its source beyond its configured delay of 1 min.")
    assert "measure again" in beyond.help


def test_the_whole_remedy_at_once(tmp_path: Path) -> None:
    """Workers are advised with what they need to help and to keep the order; where that lacks more, without it."""
    finding = lag("mysql-8.0.15", tmp_path, Slave_SQL_Running_State="")
    assert [action.option_line for action in finding.actions] == [
        "slave_parallel_type = LOGICAL_CLOCK",
        "slave_preserve_commit_order = ON",
        "slave_parallel_workers = 4",
    ]
    assert finding.help.endswith("slave_parallel_workers = 4")
    without = lag("mysql-5.7.22", tmp_path, Slave_SQL_Running_State="")
    assert [action.option_line for action in without.actions] == [
        "slave_parallel_type = LOGICAL_CLOCK",
        "slave_parallel_workers = 4",
    ]


@pytest.mark.parametrize(
    ("row", "times", "says"),
    [
        ({"Slave_SQL_Running": "No"}, {"applied": 240}, "The newest applied transaction was committed 4 min ago."),
        (
            {"Slave_IO_Running": "Connecting", "Last_IO_Errno": "2003"},
            {"applied": 7200},
            "firewalls; details are in SHOW SLAVE STATUS (Last_IO_Error)",
        ),
        (
            {"Slave_SQL_Running": "No", "Last_SQL_Errno": "1032", "Master_Slave_time_diff": "7"},
            None,
            "The newest event received is 7 s newer than the newest applied.",
        ),
    ],
)
def test_stopped_threads_are_reported_once(
    row: dict[str, str], times: dict[str, Any] | None, says: str, tmp_path: Path
) -> None:
    """A stopped replica has no lag; one finding says what is stopped and how old its data is."""
    part = {"replica_rows": [{"Seconds_Behind_Master": None, "Slave_SQL_Running": "Yes", **row}]}
    part["applier_times"] = [{"channel": "", **times}] if times else []
    assert not found("replica-lag", "mysql-8.0.15", tmp_path, server={"replication": part})
    (stopped,) = found("stopped-replica", "mysql-8.0.15", tmp_path, server={"replication": part})
    assert f"{stopped.message} {stopped.help}".count(says) == 1
    assert (times is None) or "The newest applied transaction was committed" in stopped.message


def test_lag_that_the_server_does_not_know(tmp_path: Path) -> None:
    """While both threads run, an unknown lag is a note with what else is known."""
    finding = lag("mysql-8.0.15", tmp_path, {"applied": 240}, Seconds_Behind_Master=None, Slave_IO_Running="Yes")
    assert finding.message == (
        "The lag of the replica is unknown: Seconds_Behind_Master is NULL although both threads run. "
        "The newest applied transaction was committed 4 min ago."
    )
