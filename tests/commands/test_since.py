"""`mycnf audit --since`: whether advice that was followed helped, on a real server and beside a changed recording."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from asking import CHECKOUT

if TYPE_CHECKING:
    from pathlib import Path

    from asking import Mycnf
    from servers_plugin import Start

DEMO = CHECKOUT / "advisor" / "demo" / "recording.json"
CANARY = "kanarienvogel-2207"
BAD = "[mysqld]\nsort_buffer_size = 64M\njoin_buffer_size = 64M\nlocal_infile = ON\n"


@pytest.fixture
def earlier(tmp_path: Path) -> Path:
    """The demo's recording two days before, with another sort buffer and host name, and a secret."""
    facts: dict[str, Any] = json.loads(DEMO.read_text("utf-8"))
    facts["taken_at"] = "2026-11-19T05:01:00+00:00"
    facts["server"]["variables"] |= {
        "sort_buffer_size": "262144",
        "hostname": "db2",
        "report_password": "kanarienvogel",
    }
    facts["workload"]["last"]["status"]["slow_queries"] += 1000
    file = tmp_path / "earlier.json"
    file.write_text(json.dumps(facts), "utf-8")
    return file


@pytest.mark.servers("mysql-9.7", "mariadb-10.11")
def test_advice_that_was_followed_is_gone(server_name: str, start: Start, mycnf: Mycnf, tmp_path: Path) -> None:
    """After the statements of the advice were sent, the findings that they are for are gone and nothing is new."""
    file, snap = tmp_path / "my.cnf", str(tmp_path / "before.json")
    file.write_text(BAD, "utf-8")
    server = start(server_name, option_file=file)
    there = ("--socket", server.socket, "--user", "root", "--window", "0", "--isolated")
    before = json.loads(mycnf("audit", *there, "--format", "json").out)["findings"]
    assert mycnf("collect", *there[:-1], "-o", snap).code == 0
    wanted = {f["code"] for f in before for a in f["actions"] if f["code"][:3] == "BUF" and a["statement"]}
    assert wanted
    with server.connect() as connection, connection.cursor() as cursor:
        for statement in (a["statement"] for f in before if f["code"] in wanted for a in f["actions"]):
            cursor.execute(statement)
    told = json.loads(mycnf("audit", *there, "--since", snap, "--format", "json").out)["since"]
    assert wanted <= {one["code"] for one in told["gone"]}
    assert {one["code"] for one in told["new"]} <= {"OPT016"}  # the file still says what it said
    assert {one["name"] for one in told["settings"]} >= {"sort_buffer_size", "join_buffer_size"}
    assert told["other"] == []


def test_what_changed_is_told(mycnf: Mycnf, earlier: Path) -> None:
    """Gone, new and kept findings, watched counters, settings, another server; secrets are masked."""
    ended = mycnf("audit", "--demo", "--isolated", "--since", str(earlier), "--format", "text")
    text = ended.out.partition("\n\nsince ")[2].partition("\n\n")[0]
    assert text.startswith("2026-11-19 05:01 UTC, 2 d before\n")
    assert "  another?  hostname was db2 and is db1\n" in text
    assert "  new       BUF003 oversized-sort-buffer (sort_buffer_size)\n" in text
    assert "  counter   Slow_queries 100.1 → 0.1 a second (OBS003)\n" in text
    assert "  set       sort_buffer_size 262144 → 268435456" in text
    assert "  set       report_password ******** → " in text
    assert CANARY not in ended.out


def test_a_ticket_tells_it_too(mycnf: Mycnf, earlier: Path) -> None:
    """The ticket has it under a heading of its own, before what to do first."""
    text = mycnf("audit", "--demo", "--isolated", "--since", str(earlier), "--format", "markdown").out
    assert text.index("### Since 2026-11-19 05:01 UTC, 2 d before") < text.index("### Do first")
    assert "- **set:** `sort_buffer_size`" in text


def test_nothing_changed_is_said(mycnf: Mycnf) -> None:
    """Beside itself a recording has kept all."""
    told = json.loads(mycnf("audit", "--demo", "--isolated", "--since", str(DEMO), "--format", "json").out)["since"]
    assert (told["gone"], told["new"], told["settings"]) == ([], [], [])
    assert told["kept"]


def test_a_snapshot_that_is_none_is_one_line(mycnf: Mycnf, tmp_path: Path) -> None:
    """Before anything is asked of a server."""
    ended = mycnf("audit", "--demo", "--isolated", "--since", str(tmp_path / "none.json"))
    assert (ended.code, ended.out) == (2, "")
    assert "none.json" in ended.err
