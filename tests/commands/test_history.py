"""`mycnf history`: what was kept on request, what changed between, and what comes back."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import jsonschema
import pytest
from mycnf_command import CHECKOUT

if TYPE_CHECKING:
    from collections.abc import Callable

    from mycnf_command import Mycnf
    from real_servers import Start

DEMO = CHECKOUT / "advisor" / "demo" / "recording.json"
SCHEMA = json.loads((CHECKOUT / "schemas" / "history.schema.json").read_text("utf-8"))
CANARY = "kanarienvogel"
SORT = "sort_buffer_size"


@pytest.fixture
def snapshot(tmp_path: Path) -> Any:
    """Makes a snapshot of the demo's server of a day of November, with these variables."""

    def make(day: int, uptime: int | None = None, **variables: str) -> str:
        facts: dict[str, Any] = json.loads(DEMO.read_text("utf-8"))
        facts["taken_at"] = f"2026-11-{day:02}T05:00:00+00:00"
        facts["server"]["variables"] |= variables
        facts["server"]["status"]["uptime"] = str(uptime if uptime is not None else 1_000_000 + day * 86400)
        path = tmp_path / f"{day}-{len(variables)}.json"
        path.write_text(json.dumps(facts), "utf-8")
        return str(path)

    return make


def test_new_gone_and_back(mycnf: Mycnf, snapshot: Any) -> None:
    """A finding that was there, was gone and is there again is back; one that was never there is new."""
    days = [
        snapshot(1),
        snapshot(2, sort_buffer_size="262144"),
        snapshot(3),
        snapshot(4, uptime=60, join_buffer_size="67108864"),
    ]
    assert mycnf("history", "add", *reversed(days)).code == 0  # in any order
    ended = mycnf("history", "db1", "--isolated", "--format", "json")
    (server,) = json.loads(ended.out)["servers"]
    jsonschema.validate(json.loads(ended.out), SCHEMA)
    fourth, third, second = server["changes"]
    assert [f["option"] for f in second["gone"] if f["code"] == "BUF003"] == [SORT]
    assert [f["option"] for f in third["back"] if f["code"] == "BUF003"] == [SORT]
    assert [f["code"] for f in third["gone"]] == ["OPT016"]  # running and file agree once more
    assert (third["new"], third["restarted"], fourth["restarted"]) == ([], False, True)
    assert "join_buffer_size" in [f["option"] for f in fourth["new"]]
    (change,) = second["settings"]
    assert (change["name"], change["before"], change["after"]) == (SORT, "268435456", "262144")
    assert change["source"]


def test_what_was_skipped_is_not_gone(mycnf: Mycnf, snapshot: Any) -> None:
    """Without a window rules over counters can't look: what they found before is neither gone nor new afterwards."""
    days = [snapshot(day) for day in (1, 2, 3)]
    for path in days:
        _rewritten(path, _with_much_redo)
    seen = mycnf("audit", "--snapshot", days[0], "--isolated", "--fail-on", "never", "--format", "json")
    by_counters = {"LOG001", "LOG002", "OBS003"}
    assert by_counters <= {f["code"] for f in json.loads(seen.out)["findings"]}
    _rewritten(days[1], lambda facts: facts | {"workload": None})
    mycnf("history", "add", *days)
    (server,) = json.loads(mycnf("history", "db1", "--isolated", "--format", "json").out)["servers"]
    codes = {f["code"] for change in server["changes"] for kind in ("new", "gone", "back") for f in change[kind]}
    assert not codes


def test_what_was_not_checked_is_gone_once_it_is(mycnf: Mycnf, snapshot: Any) -> None:
    """A finding of a window is gone when the next window doesn't show it, with a snapshot without one between."""
    days = [snapshot(day) for day in (1, 2, 3, 4)]
    _rewritten(days[0], _with_much_redo)
    for path in days[1:3]:
        _rewritten(path, lambda facts: facts | {"workload": None})
    mycnf("history", "add", *days)
    (server,) = json.loads(mycnf("history", "db1", "--isolated", "--format", "json").out)["servers"]
    gone = [{f["code"] for f in change["gone"]} for change in reversed(server["changes"])]
    assert gone[:2] == [set(), set()]
    assert "LOG002" in gone[2]


def test_what_a_restart_hides_is_not_back(mycnf: Mycnf, snapshot: Any) -> None:
    """A snapshot right after a restart has no counters to judge: what is found before and after it stayed."""
    days = [snapshot(day) for day in (1, 2, 3)]
    _rewritten(days[1], _just_started)
    mycnf("history", "add", *days)
    (server,) = json.loads(mycnf("history", "db1", "--isolated", "--format", "json").out)["servers"]
    after, at_start = server["changes"]
    assert at_start["restarted"]
    assert [after["new"], after["back"], at_start["gone"]] == [[], [], []]


def test_what_was_not_checked_before_is_marked(mycnf: Mycnf, snapshot: Any) -> None:
    """A finding that the snapshot before had no window for is new, with the remark that it may be older."""
    days = [snapshot(day) for day in (1, 2)]
    _rewritten(days[0], lambda facts: facts | {"workload": None})
    _rewritten(days[1], _with_much_redo)
    mycnf("history", "add", *days)
    out = " ".join(mycnf("history", "db1", "--isolated").out.split())
    assert "LOG002" in out
    assert out.count("(not checked then)") == out.count(" new ")


def _just_started(facts: dict[str, Any]) -> dict[str, Any]:
    """The facts of a server that was started a minute ago, without a window."""
    facts["server"]["status"] |= {name: "0" for name, value in facts["server"]["status"].items() if value.isdigit()}
    facts["server"]["status"]["uptime"] = "60"
    return facts | {"workload": None}


def _rewritten(path: str, change: Callable[[dict[str, Any]], dict[str, Any]]) -> None:
    Path(path).write_text(json.dumps(change(json.loads(Path(path).read_text("utf-8")))), "utf-8")


def _with_much_redo(facts: dict[str, Any]) -> dict[str, Any]:
    """A window in which the redo log was written, and waited for, many times over."""
    last = facts["workload"]["last"]
    last["lsn"] += 1 << 30
    last["status"]["innodb_log_waits"] += 1_000_000
    return facts


def test_text_at_eighty_columns(mycnf: Mycnf, snapshot: Any) -> None:
    """One server's changes, the newest first, and the list of servers, fit a terminal and mask secrets."""
    mycnf(
        "history",
        "add",
        snapshot(1, report_password=CANARY),
        snapshot(2, report_password=CANARY[::-1], sort_buffer_size="1M"),
    )
    one, everything = mycnf("history", "db1", "--isolated"), mycnf("history", "--isolated")
    for ended in (one, everything):
        assert (ended.code, ended.err) == (0, "")
        assert max(map(len, ended.out.splitlines())) <= 80
        assert CANARY not in ended.out
        assert CANARY[::-1] not in ended.out
    assert "2026-11-02 05:00 UTC, since 2026-11-01 05:00\n" in one.out
    assert "  set       sort_buffer_size 268435456 → 1M" in one.out
    assert "2 snapshots, 2026-11-01 05:00 to 2026-11-02 05:00 UTC" in everything.out


def test_a_stretch_without_changes_is_one(mycnf: Mycnf, snapshot: Any) -> None:
    """Text says once how long nothing changed, and counts that as one; JSON has each snapshot."""
    days = [snapshot(day, **({"sort_buffer_size": "1M"} if day == 4 else {})) for day in (1, 2, 3, 4, 5, 6, 7, 8)]
    mycnf("history", "add", *days)
    text = mycnf("history", "db1", "--isolated").out
    stretches = (
        "2026-11-08 05:00 UTC, since 2026-11-05 05:00\n  nothing",
        "2026-11-03 05:00 UTC, since 2026-11-01 05:00",
    )
    assert all(one in text for one in stretches)
    assert text.count("nothing has changed") == 2
    assert "3 older changes: --last 4 shows all" in mycnf("history", "db1", "--isolated", "--last", "1").out
    assert "since 2026-11-05 05:00: nothing has changed" in mycnf("history", "--isolated").out
    (server,) = json.loads(mycnf("history", "db1", "--isolated", "--format", "json").out)["servers"]
    assert len(server["changes"]) == 7


def test_what_is_beyond_the_number_is_reported(mycnf: Mycnf, tmp_path: Path) -> None:
    """No snapshot that is gone is reported as kept: the oldest go, and one older than all isn't kept at all."""
    facts, paths = json.loads(DEMO.read_text("utf-8")), []
    for number in range(103):
        facts["taken_at"] = f"2026-11-{1 + number // 24:02}T{number % 24:02}:00:00+00:00"
        paths.append(tmp_path / f"{number:03}.json")
        paths[-1].write_text(json.dumps(facts), "utf-8")
    ended = mycnf("history", "add", *paths[1:])
    assert ended.err.count("saved as") == 102
    assert ended.err.endswith(
        "deleted 2 snapshots of these, the oldest first: mycnf keeps the 100 newest of a server\n"
    )
    ended = mycnf("history", "add", paths[0])
    assert (ended.code, ended.err.count("\n")) == (0, 1)
    assert "not saved for mycnf history: 100 later snapshots" in ended.err


def test_one_snapshot_has_nothing_beside_it(mycnf: Mycnf, snapshot: Any) -> None:
    """A first snapshot is reported as such, and the same one twice is kept once."""
    path = snapshot(1)
    mycnf("history", "add", path, path)
    assert "so nothing to compare with yet" in mycnf("history", "db1", "--isolated").out
    assert "1 snapshot, 2026-11-01 05:00 UTC" in mycnf("history", "--isolated").out


def test_nothing_is_kept_by_default(mycnf: Mycnf, snapshot: Any, tmp_path: Path) -> None:
    """An audit writes nothing into the home directory by default; with --keep it does, and says so."""
    path = snapshot(1)
    mycnf("audit", "--isolated", "--snapshot", path, "--format", "text")
    assert not (tmp_path / "home" / ".local").exists()
    assert "mycnf history" in mycnf("history").out + mycnf("history", "--isolated").out
    ended = mycnf("audit", "--isolated", "--snapshot", path, "--keep")
    assert "saved as " in ended.err
    assert len(list((tmp_path / "home" / ".local" / "state" / "mycnf" / "history").glob("*/*.json"))) == 1


BAD = {
    "unknown server": (["history", "db7"], "no snapshot of a server 'db7'"),
    "two servers": (["history", "a", "b"], "one server at a time"),
    "nothing to add": (["history", "add"], "needs a snapshot"),
    "no snapshot": (["history", "add", "/dev/null"], "not a regular file"),
    "no changes": (["history", "--last", "0"], "1 or more"),
    "collect to nowhere": (["collect"], "-o SNAP"),
    "the demo": (["audit", "--demo", "--keep"], "a recorded server"),
}


@pytest.mark.parametrize("bad", BAD)
def test_bad_input_is_one_line(mycnf: Mycnf, bad: str) -> None:
    """What can't be meant is one line with the remedy, exit code 2."""
    arguments, says = BAD[bad]
    ended = mycnf(*arguments)
    assert (ended.code, ended.out, ended.err.count("\n")) == (2, "", 1)
    assert says in ended.err


@pytest.mark.parametrize("home", ["~", "."])
def test_an_account_without_a_home(home: str, mycnf: Mycnf, snapshot: Any, tmp_path: Path) -> None:
    """Where ~ leads nowhere, as in a container, nothing is saved in the working directory, and one line says why."""
    path = snapshot(1)
    ended = mycnf("history", "add", path, env={"HOME": home})
    assert (ended.code, ended.out) == (2, "")
    assert ended.err.endswith("this account has no home directory; set XDG_STATE_HOME to a directory\n")
    assert {entry.name for entry in tmp_path.iterdir()} == {"home", Path(path).name}


def test_a_damaged_snapshot_is_passed_over(mycnf: Mycnf, snapshot: Any, tmp_path: Path) -> None:
    """A file that is no snapshot any more is named, and the others are shown."""
    mycnf("history", "add", snapshot(1), snapshot(2, sort_buffer_size="1M"), snapshot(3, join_buffer_size="1M"))
    (middle,) = (tmp_path / "home").rglob("20261102*.json")
    middle.write_text("{", "utf-8")
    ended = mycnf("history", "db1", "--isolated")
    assert (ended.code, ended.err.count("\n")) == (0, 1)
    assert "2026-11-03 05:00 UTC, since 2026-11-01 05:00\n" in ended.out
    assert "2 snapshots" in ended.out


@pytest.mark.servers("mysql-9.7", "mariadb-10.11")
def test_a_real_server(server_name: str, start: Start, mycnf: Mycnf) -> None:
    """Between two kept audits variables are set: history shows their values, their source, and the new finding."""
    server = start(server_name)
    persisted = {"join_buffer_size": "persisted"} if server_name.startswith("mysql") else {}
    there = ("--socket", server.socket, "--user", "root", "--window", "0", "--keep")
    assert mycnf("collect", *there).code == 0
    with server.connect() as connection, connection.cursor() as cursor:
        cursor.execute("SET GLOBAL sort_buffer_size = 268435456")
        for name in persisted:
            cursor.execute(f"SET PERSIST {name} = 524288")
    assert mycnf("audit", *there, "--isolated").code in (0, 1)
    (one,) = json.loads(mycnf("history", "--isolated", "--format", "json").out)["servers"]
    (change,) = one["changes"]
    sources = {setting["name"]: setting["source"] for setting in change["settings"]}
    assert sources == {"sort_buffer_size": "set at run time", **persisted}
    assert "sort_buffer_size" in [f["option"] for f in change["new"]]
    assert not change["restarted"]
