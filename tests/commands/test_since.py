"""`mycnf audit --since`: whether advice that was followed helped, on a real server and beside a changed recording."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

import pytest
from mycnf_command import CHECKOUT

if TYPE_CHECKING:
    from pathlib import Path

    from mycnf_command import Mycnf
    from real_servers import Start

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
    comparison = json.loads(mycnf("audit", *there, "--since", snap, "--format", "json").out)["since"]
    assert wanted <= {one["code"] for one in comparison["gone"]}
    assert {one["code"] for one in comparison["new"]} <= {"OPT016"}  # the file still says what it said
    assert {one["name"] for one in comparison["settings"]} >= {"sort_buffer_size", "join_buffer_size"}
    assert comparison["other"] == []


def test_what_changed_is_reported(mycnf: Mycnf, earlier: Path) -> None:
    """Gone, new and kept findings, watched counters, settings, another server; secrets are masked."""
    ended = mycnf("audit", "--demo", "--isolated", "--since", str(earlier), "--format", "text")
    text = ended.out.partition("\n\nsince ")[2].partition("\n\n")[0]
    assert text.startswith("2026-11-19 05:01 UTC, 2 d before\n")
    assert "  another?      hostname was db2 and is db1\n" in text
    assert "  new           BUF003 oversized-sort-buffer (sort_buffer_size)\n" in text
    assert "  counter       Slow_queries 100.1 → 0.1 a second (OBS003)\n" in text
    assert "  set           sort_buffer_size 262144 → 268435456" in text
    assert "  set           report_password ******** → " in text
    assert CANARY not in ended.out


def test_a_ticket_has_it_too(mycnf: Mycnf, earlier: Path) -> None:
    """The ticket has it under a heading of its own, before what to do first."""
    text = mycnf("audit", "--demo", "--isolated", "--since", str(earlier), "--format", "markdown").out
    assert text.index("### Since 2026-11-19 05:01 UTC, 2 d before") < text.index("### Do first")
    assert "- **set:** `sort_buffer_size`" in text


def test_nothing_changed_is_said(mycnf: Mycnf) -> None:
    """Beside itself a recording has kept all."""
    comparison = json.loads(mycnf("audit", "--demo", "--isolated", "--since", str(DEMO), "--format", "json").out)[
        "since"
    ]
    assert (comparison["gone"], comparison["new"], comparison["settings"]) == ([], [], [])
    assert comparison["kept"]


def test_a_snapshot_that_is_none_is_one_line(mycnf: Mycnf, tmp_path: Path) -> None:
    """Before any statement is sent to a server."""
    ended = mycnf("audit", "--demo", "--isolated", "--since", str(tmp_path / "none.json"))
    assert (ended.code, ended.out) == (2, "")
    assert "none.json" in ended.err


def recorded(tmp_path: Path, name: str, **server: Any) -> Path:
    """The demo's recording with other answers of its server, and with no statement in its window where asked."""
    facts: dict[str, Any] = json.loads(DEMO.read_text("utf-8"))
    facts["taken_at"] = "2026-11-22T05:01:00+00:00"
    if server.pop("idle", False):
        last = facts["workload"]["last"]
        last["status"] = dict(facts["workload"]["first"]["status"])
        last["lsn"] = facts["workload"]["first"]["lsn"]
    facts["server"]["status"] |= server.pop("status", {})
    if uptime := server.pop("uptime", None):
        facts["server"]["status"]["uptime"] = str(uptime)
        workload = facts["workload"]
        workload["first"]["at"], workload["last"]["at"] = uptime - 10.0, float(uptime)
    facts["server"]["variables"] |= server
    file = tmp_path / name
    file.write_text(json.dumps(facts), "utf-8")
    return file


def busy(tmp_path: Path) -> Path:
    """The demo's recording with much work in its window, of the kind that rules report."""
    facts: dict[str, Any] = json.loads(DEMO.read_text("utf-8"))
    status = facts["workload"]["last"]["status"]
    for name in ("sort_merge_passes", "select_full_join", "created_tmp_tables", "created_tmp_disk_tables", "questions"):
        status[name] = status.get(name, 0) + 50_000
    file = tmp_path / "busy.json"
    file.write_text(json.dumps(facts), "utf-8")
    return file


def since(mycnf: Mycnf, now: Path, earlier: Path = DEMO) -> dict[str, Any]:
    """What is said of that recording beside an earlier one."""
    ended = mycnf("audit", "--snapshot", now, "--isolated", "--since", str(earlier), "--format", "json")
    comparison: dict[str, Any] = json.loads(ended.out)["since"]
    return comparison


def test_what_was_not_looked_for_is_not_gone(mycnf: Mycnf, tmp_path: Path) -> None:
    """A rule that was skipped, because files are missing, say, leaves its findings unjudged, with what it needs."""
    now = recorded(tmp_path, "now.json")
    facts = json.loads(now.read_text("utf-8"))
    facts |= {"files": None, "host": None}
    facts["unavailable"] = [
        {"part": part, "reason": "needs an audit on the server's host"} for part in ("files", "host")
    ]
    now.write_text(json.dumps(facts), "utf-8")
    comparison = since(mycnf, now)
    assert comparison["not_judged"], comparison
    assert {one["reason"] for one in comparison["not_judged"]} == {"needs an audit on the server's host"}
    assert comparison["gone"] == []


def test_findings_of_a_load_that_stopped_are_not_gone(mycnf: Mycnf, tmp_path: Path) -> None:
    """Without statements in the window it is unknown whether advice helped; both loads are reported."""
    comparison = since(mycnf, recorded(tmp_path, "now.json", idle=True), busy(tmp_path))
    assert comparison["gone"] == []
    assert comparison["load_differs"], comparison
    assert comparison["load"]["before"] > 100 * max(comparison["load"]["after"], 0.001)
    text = mycnf(
        "audit", "--snapshot", str(tmp_path / "now.json"), "--isolated", "--since", str(tmp_path / "busy.json")
    ).out
    assert "  load differs  " in text
    assert " statements a second" in text.partition("load differs")[2]


def test_after_a_restart_counters_are_not_judged(mycnf: Mycnf, tmp_path: Path) -> None:
    """Right after the restart that was advised settings are judged, and it is said when counters can be."""
    comparison = since(mycnf, recorded(tmp_path, "now.json", uptime=120, sort_buffer_size="262144"), busy(tmp_path))
    assert "BUF003" in {one["code"] for one in comparison["gone"]}
    reasons = {one["reason"] for one in comparison["not_judged"]}
    assert reasons
    assert all("audit again in 8 min" in reason for reason in reasons), reasons


@pytest.mark.servers("mysql-8.0", "mariadb-10.11")
def test_after_a_real_restart_the_advice_is_gone(server_name: str, start: Start, mycnf: Mycnf, tmp_path: Path) -> None:
    """The file is changed as advised, the server restarted: what the file fixed is gone, and nothing is new."""
    file, snap = tmp_path / "my.cnf", str(tmp_path / "before.json")
    file.write_text(BAD, "utf-8")
    server = start(server_name, option_file=file)
    there = ("--socket", server.socket, "--user", "root", "--window", "0")
    assert mycnf("collect", *there, "-o", snap).code == 0
    file.write_text("[mysqld]\n", "utf-8")
    server.restart()
    comparison = json.loads(mycnf("audit", *there, "--isolated", "--since", snap, "--format", "json").out)["since"]
    assert {one["code"] for one in comparison["gone"]} >= {"BUF003", "BUF004"}
    # Other tests' servers may use up the host's asynchronous requests in between.
    assert [one for one in comparison["new"] if one["code"] != "SYS030"] == []


def test_report_compares_two_snapshots(mycnf: Mycnf, earlier: Path, tmp_path: Path) -> None:
    """`report --since` says what `audit --since` does, its page has values before and after; a directory is refused."""
    words = ("--isolated", "--since", str(earlier))
    made = [json.loads(mycnf(*how, *words, "--format", "json").out) for how in (
        ("audit", "--snapshot", str(DEMO)), ("report", str(DEMO)))]  # fmt: skip
    assert made[0] == made[1]
    page = mycnf("report", str(DEMO), *words, "--format", "html").out
    assert "What changed since 2026-11-19 05:01 UTC" in page
    assert "<code>sort_buffer_size</code></td>" in page
    assert "<code>262144</code>" in page
    assert "kanarienvogel" not in page
    for many in ((str(tmp_path),), (str(DEMO), str(earlier))):
        refused = mycnf("report", *many, *words)
        assert (refused.code, "name a single snapshot file" in refused.err) == (2, True)
    refused = mycnf("report", str(DEMO), *words, "--format", "parquet", "-o", str(tmp_path / "rows"))
    assert (refused.code, "--format parquet has no comparison" in refused.err) == (2, True)


@pytest.fixture
def commented(tmp_path: Path) -> Path:
    """The demo's recording three days later, with a comment that suppresses the finding on the sort buffer."""
    facts: dict[str, Any] = json.loads(DEMO.read_text("utf-8"))
    facts["taken_at"] = "2026-11-24T05:01:00+00:00"
    for file in facts["files"]["files"]:
        file["text"] = re.sub(r"(?m)^sort_buffer_size.*", r"\g<0>  # mycnf: ignore[BUF003] measured", file["text"])
    path = tmp_path / "commented.json"
    path.write_text(json.dumps(facts), "utf-8")
    return path


def test_what_a_comment_suppresses_is_not_gone(mycnf: Mycnf, commented: Path) -> None:
    """A comment that was added since leaves its finding unjudged; without the comment it is no finding of today."""
    comparison = since(mycnf, commented)
    (one,) = [found for found in comparison["not_judged"] if found["code"] == "BUF003"]
    assert (one["reason"], comparison["gone"]) == ("suppressed by a comment in the server's files", [])
    text = mycnf("audit", "--demo", "--isolated", "--since", str(commented), "--format", "text").out
    assert "new BUF003 oversized-sort-buffer (sort_buffer_size) (not checked then)" in " ".join(text.split())


def test_history_of_what_a_comment_suppresses(mycnf: Mycnf, commented: Path) -> None:
    """The finding is neither gone with the comment nor new or back without it."""
    later = json.loads(DEMO.read_text("utf-8")) | {"taken_at": "2026-11-25T05:01:00+00:00"}
    last = commented.with_name("last.json")
    last.write_text(json.dumps(later), "utf-8")
    assert mycnf("history", "add", str(DEMO), str(commented), str(last)).code == 0
    (server,) = json.loads(mycnf("history", "db1", "--isolated", "--format", "json").out)["servers"]
    codes = {f["code"] for change in server["changes"] for kind in ("new", "gone", "back") for f in change[kind]}
    assert (len(server["changes"]), codes) == (2, set())


def test_a_baseline_that_is_written_leaves_nothing_gone(mycnf: Mycnf, tmp_path: Path) -> None:
    """What --write-baseline takes out of the report is still there, and counted as suppressed."""
    words = ("audit", "--demo", "--isolated", "--since", str(DEMO))
    ended = mycnf(*words, "--write-baseline", str(tmp_path / "base.json"), "--format", "json")
    comparison = json.loads(ended.out)["since"]
    assert (comparison["gone"], bool(comparison["kept"])) == ([], True)


def test_a_format_without_comparison_says_so(mycnf: Mycnf) -> None:
    """A format that has no place for the comparison prints the findings, and stderr says what is missing."""
    for command in (("audit", "--demo"), ("report", str(DEMO))):
        ended = mycnf(*command, "--isolated", "--since", str(DEMO), "--format", "csv")
        assert "--format csv does not include the comparison" in ended.err
        assert ended.out.startswith("server,snapshot,target")
