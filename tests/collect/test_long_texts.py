"""Texts of thousands of samples are read to their end, and only what a report needs of them is held."""

from __future__ import annotations

import tracemalloc
from typing import TYPE_CHECKING

import pytest

from advisor.collect.pasted import facts_of_texts
from advisor.collect.pasted import text as text_module
from advisor.collect.pasted.facts import TextError
from advisor.collect.pasted.samples import UPTIME_FELL, workload_of
from advisor.collect.pasted.text import read_plain

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

SAMPLES = 1_000  # mysqladmin extended-status -i 10 -c 1000
EVERY = 10
WIDE = 300  # the columns of MySQL 8.0 are so wide, for one of the values is a public key
NAMES = [f"Counter_{number}" for number in range(40)]
VARIABLES = "Variable_name\tValue\nversion\t8.0.36\nhostname\tdb1\ndatadir\t/var/lib/mysql/\n\n"
MONITOR = "INNODB MONITOR OUTPUT\n---\nLOG\n---\nLog sequence number {}\n---\nEND OF INNODB MONITOR OUTPUT\n"
SAID = "a\tä\nb\t€\nc\t𝄞\n"
REPLICA = (
    "*************************** 1. row ***************************\n               Slave_IO_State: waiting\n"
    "Master_Host: {}\nMaster_Port: 3306\nSlave_IO_Running: Yes\nSlave_SQL_Running: {}\n"
)


def sample(uptime: int, wide: int = 10) -> str:
    """Counters as mysqladmin prints them."""
    rows = {**dict.fromkeys(NAMES, uptime), "Questions": 7 * uptime, "Uptime": uptime}
    line = f"+-{'-' * 20}-+-{'-' * wide}-+\n"
    body = "".join(f"| {name:<20} | {value:<{wide}} |\n" for name, value in rows.items())
    return f"{line}| {'Variable_name':<20} | {'Value':<{wide}} |\n{line}{body}{line}\n"


def lines(count: int) -> Iterator[str]:
    """The lines of so many samples, made as they are asked for."""
    for number in range(count):
        yield from sample(100 + EVERY * number, WIDE).split("\n")


def peak(count: int) -> int:
    """Bytes that reading so many samples takes at its peak."""
    read_plain("t", lines(2), 0.0)  # patterns are compiled once
    tracemalloc.start()
    try:
        read_plain("t", lines(count), 0.0)
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def test_the_window_of_a_thousand_samples(tmp_path: Path) -> None:
    """It reaches from the first to the last, and the counters are those of the last."""
    path = tmp_path / "status.txt"
    path.write_text(VARIABLES + "".join(sample(100 + EVERY * number) for number in range(SAMPLES)))
    facts = facts_of_texts([str(path)])
    assert facts.workload.seconds == EVERY * (SAMPLES - 1)
    assert facts.workload.rate("questions") == 7
    assert facts.server.status["uptime"] == str(100 + EVERY * (SAMPLES - 1))


def test_a_directory_of_a_thousand_samples(tmp_path: Path) -> None:
    """So it is for pt-stalk, whose newest collection is read among thousands in its directory."""
    for number in range(3000):
        (tmp_path / f"2026_11_20_{number:06}-top").touch()
        (tmp_path / f"2026_11_20_{number:06}-mysqladmin").touch()
    (tmp_path / "2026_11_21_000000-variables").write_text(VARIABLES)
    text = "".join(sample(100 + EVERY * number) for number in range(SAMPLES))
    (tmp_path / "2026_11_21_000000-mysqladmin").write_text(text)
    assert facts_of_texts([str(tmp_path)]).workload.seconds == EVERY * (SAMPLES - 1)


def test_more_samples_take_no_more_memory() -> None:
    """Ten times as many samples take what few take, far less than one of their texts: a few rows are held at a time."""
    assert peak(50) < 1.2 * peak(5)


@pytest.mark.parametrize("restart", [2, 500, SAMPLES - 1])
def test_a_restart_anywhere_is_detected(restart: int) -> None:
    """A clock that falls among thousands of samples leaves no window, though only a few of them are kept."""
    uptimes = [number if number < restart else number - restart for number in range(SAMPLES)]
    plain_read = read_plain("t", (line for at in uptimes for line in sample(at).split("\n")), 0.0)
    assert [at["uptime"] for at in (plain_read.samples[0], plain_read.samples[-1])] == ["0", str(uptimes[-1])]
    assert len(plain_read.samples) < 5
    assert workload_of(plain_read.samples) == (None, UPTIME_FELL)


def test_differences_between_samples(tmp_path: Path) -> None:
    """The differences of mysqladmin -r are no samples, however many there are."""
    path = tmp_path / "status.txt"
    path.write_text(VARIABLES + sample(1000) + sample(10) * 100)
    assert facts_of_texts([str(path)]).reason_missing("workload") == UPTIME_FELL


def test_what_stands_between_the_samples(tmp_path: Path) -> None:
    """Of the statuses of InnoDB and of a replica that were printed between samples the last ones are kept."""
    path = tmp_path / "all.txt"
    parts = (
        f"{VARIABLES}{sample(100 + number)}{MONITOR.format(number)}\n{REPLICA.format('db2', 'Yes')}\n"
        for number in range(100)
    )
    path.write_text("".join(parts) + REPLICA.format("db2", "No") + REPLICA.format("db3", "Yes"))
    server = facts_of_texts([str(path)]).server
    assert "Log sequence number 99" in server.innodb_status
    replicas = [(row["Master_Host"], row["Slave_SQL_Running"]) for row in server.replication.replica_rows]
    assert replicas == [("db2", "No"), ("db3", "Yes")]


def test_another_server_among_many_tables(tmp_path: Path) -> None:
    """Variables of another server are refused, wherever they stand."""
    path = tmp_path / "all.txt"
    path.write_text(VARIABLES * 50 + VARIABLES.replace("db1", "db2") + VARIABLES * 50)
    with pytest.raises(TextError, match="a different server"):
        facts_of_texts([str(path)])


@pytest.mark.parametrize("chunk", [1, 2, 3, 64])
def test_where_a_part_ends(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, chunk: int) -> None:
    """Wherever the parts end in which a file is read, its lines and letters are whole."""
    path = tmp_path / "all.txt"
    path.write_bytes((VARIABLES + SAID).replace("\n", "\r\n").encode())
    monkeypatch.setattr(text_module, "CHUNK", chunk)
    with text_module.open_text(str(path)) as text:
        assert list(text.lines) == (VARIABLES + SAID).split("\n")
