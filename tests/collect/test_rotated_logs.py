"""Rotated error logs: which are read with the current one, which are named, and packed ones that are given."""

from __future__ import annotations

import gzip
import os
import time
from typing import TYPE_CHECKING

import pytest

from advisor.collect.logs import read_error_file
from advisor.collect.pasted import facts_of_texts, text
from advisor.collect.pasted.facts import TextError

if TYPE_CHECKING:
    from pathlib import Path

    from advisor.facts import Unavailable

MYSQL_8 = """\
2026-11-25T14:22:01.832006Z 0 [System] [MY-010116] [Server] /usr/sbin/mysqld (mysqld 8.4.6) starting as process 259
2026-11-25T14:22:02.622984Z 0 [System] [MY-010931] [Server] /usr/sbin/mysqld: ready for connections. Version: '8.4.6'  \
socket: '/run/s'  port: 3306  MySQL.
"""


def test_rotated_files_that_are_not_read_are_named(tmp_path: Path) -> None:
    """Of dated files the newest is read unless it is packed; the others are one line, those of last year none."""
    file = tmp_path / "mysqld.log"
    file.write_text(MYSQL_8, "utf-8")
    now = time.time()
    names = [
        "mysqld.log-20261128",
        "mysqld.log-20261127.gz",
        "mysqld-20261126.log",
        "mysqld.log.9.gz",
        "mysqld.log.bak",
    ]
    for age, name in enumerate(names):
        (tmp_path / name).write_text(MYSQL_8 if name.endswith("28") else "", "utf-8")
        os.utime(tmp_path / name, (now, now - age * 3600 - (365 * 86400 if ".9." in name else 0)))
    notes: list[Unavailable] = []
    log = read_error_file({"log_error": str(file)}, 1, notes, tabled=None)
    assert log is not None
    assert [event.kind for event in log.events] == ["unclean"]
    (note,) = notes
    assert note.part == "server.error_log.rotated"
    assert note.reason.startswith("rotated error logs are not read (mysqld.log-20261127.gz and 1 more): mycnf audit")
    (tmp_path / names[0]).unlink()
    (tmp_path / names[2]).unlink()
    notes = []
    assert read_error_file({"log_error": str(file)}, 1, notes, tabled=None) is not None
    assert notes[0].reason.startswith("the rotated error log mysqld.log-20261127.gz is not read: ")


def test_packed_logs_are_read_if_they_are_given(tmp_path: Path) -> None:
    """A given gzip file is read; rotated files beside a given log are named until they are given too."""
    file, packed = tmp_path / "error.log", tmp_path / "error.log.2.gz"
    file.write_text(MYSQL_8, "utf-8")
    packed.write_bytes(gzip.compress(MYSQL_8.encode()))
    alone = facts_of_texts([str(file)])
    (note,) = [gap for gap in alone.unavailable if gap.part == "server.error_log.rotated"]
    assert note.reason == "the rotated error log error.log.2.gz is not read; give them with --from too"
    both = facts_of_texts([str(file), str(packed)])
    assert all(gap.part != "server.error_log.rotated" for gap in both.unavailable)
    assert both.server is not None
    assert both.server.error_log is not None


@pytest.mark.parametrize(
    "damaged", [gzip.compress(MYSQL_8.encode())[:-20], b"\x1f\x8b\x08\x00garbage"], ids=["cut off", "no gzip data"]
)
def test_damaged_packed_logs_are_refused(tmp_path: Path, damaged: bytes) -> None:
    """A gzip file that is cut off or damaged is one line."""
    packed = tmp_path / "error.log.gz"
    packed.write_bytes(damaged)
    with pytest.raises(TextError, match=r"is packed .gzip. and damaged"):
        facts_of_texts([str(packed)])


def test_packed_logs_have_a_limit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A small file that unpacks to more than the limit is refused before its end."""
    monkeypatch.setattr(text, "MOST_UNPACKED", 2 << 20)
    packed = tmp_path / "error.log.gz"
    packed.write_bytes(gzip.compress(MYSQL_8.encode() * 20_000, 1))
    with pytest.raises(TextError, match="is larger than 2 MB"):
        facts_of_texts([str(packed)])
