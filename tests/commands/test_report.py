"""`mycnf report`: one snapshot as an audit of it, many as one report, broken ones among them."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from duckdb_queries import asked
from hostile_findings import SECRET
from jsonschema import Draft202012Validator
from mycnf_command import CHECKOUT, Mycnf
from process_checks import PATIENCE, alive, eventually
from prometheus_client.parser import text_string_to_metric_families

from advisor.report.bulk.counts import BROKEN, EXAMPLES, OTHERS, VERSIONS, WORST, Brief, SnapshotSummary, Tally
from advisor.report.formats import names

SNAPSHOT = CHECKOUT / "examples" / "snapshots" / "mariadb-10.11.json"
NAMES = ("a/db2.json", "a/db10.json", "b/db1.json", "db1.json")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Four servers, two of which have one name, and a snapshot that was cut off."""
    top = tmp_path_factory.mktemp("fleet")
    recorded = json.loads(SNAPSHOT.read_text(encoding="utf-8"))
    for number, name in enumerate(NAMES):
        recorded["server"]["variables"].update(hostname=Path(name).stem, max_connections=str(200 + number))
        (top / name).parent.mkdir(exist_ok=True)
        (top / name).write_text(json.dumps(recorded), encoding="utf-8")
    (top / "b" / "cut.json").write_bytes(SNAPSHOT.read_bytes()[:5000])
    (top / "b" / "notes.txt").write_text("no snapshot", encoding="utf-8")
    (top / ".hidden.json").write_text("{}", encoding="utf-8")
    return top


def read_lines(text: str) -> list[dict[str, Any]]:
    """The objects of JSON lines."""
    return [json.loads(line) for line in text.splitlines()]


@pytest.mark.parametrize("form", names("audit"))
def test_one_is_as_an_audit(mycnf: Mycnf, form: str) -> None:
    """The report of one snapshot is what an audit of it prints, with its exit code."""
    stamp = {"SOURCE_DATE_EPOCH": "1795237265"}
    reported = mycnf("report", "--isolated", SNAPSHOT, "--format", form, env=stamp)
    assert reported == mycnf("audit", "--isolated", "--snapshot", SNAPSHOT, "--format", form, env=stamp)
    assert reported.code == 1


def test_formats() -> None:
    """Each format of an audit is one of reports, and parquet is."""
    assert set(names("report")) == {*names("audit"), "parquet"}


def test_several_formats_at_once(mycnf: Mycnf, tmp_path: Path) -> None:
    """Formats and files go in pairs, and nothing is left beside the files."""
    page, metrics = tmp_path / "a.html", tmp_path / "a.prom"
    page.write_text("the old one")
    ran = mycnf(
        "report", "--isolated", SNAPSHOT, "--format", "html", "-o", page, "--format", "prometheus", "-o", metrics
    )
    assert (ran.out, ran.err) == ("", "")
    assert page.read_text(encoding="utf-8").startswith("<!doctype html>")
    assert metrics.read_text(encoding="utf-8").startswith("# HELP mycnf_info ")
    assert sorted(os.listdir(tmp_path)) == ["a.html", "a.prom", "home"]


@pytest.mark.parametrize("jobs", ["1", "3"])
def test_a_directory(mycnf: Mycnf, folder: Path, jobs: str) -> None:
    """Every snapshot below it is reported in order; a broken one is a row and a line on stderr, and exit code 2."""
    ran = mycnf("report", "--isolated", folder, "--jobs", jobs, "--format", "jsonl")
    assert ran.code == 2
    assert len(ran.err.splitlines()) == 2
    lines = read_lines(ran.out)
    shown = list(dict.fromkeys(line["snapshot"] for line in lines))
    assert shown == [
        str(folder / name) for name in ("db1.json", "a/db10.json", "a/db2.json", "b/cut.json", "b/db1.json")
    ]
    (broken,) = [line for line in lines if line["broken"]]
    assert "cut off" in broken["broken"]
    alone = read_lines(mycnf("audit", "--isolated", "--snapshot", folder / "db1.json", "--format", "jsonl").out)
    assert [{**line, "snapshot": str(folder / "db1.json"), "broken": None} for line in alone] == [
        line for line in lines if line["snapshot"] == str(folder / "db1.json")
    ]


def test_a_directory_that_can_not_be_read(tmp_path: Path) -> None:
    """It is a row as a snapshot would be, and the others are reported; the exit code says that something is missing."""
    drop = ["setpriv", "--bounding-set=-all", "--inh-caps=-all"] if os.geteuid() == 0 else []
    if drop and not shutil.which("setpriv"):
        pytest.skip("root needs setpriv to be refused a directory")
    shutil.copy(SNAPSHOT, tmp_path / "db1.json")
    for name in ("a", "lost+found"):
        (tmp_path / name).mkdir(mode=0)
    words = ["report", "--isolated", str(tmp_path), "--format", "json"]
    ran = subprocess.run(
        [*drop, sys.executable, "-m", "advisor", *words],
        cwd=CHECKOUT,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    for name in ("a", "lost+found"):
        (tmp_path / name).chmod(0o700)
    assert ran.returncode == 2, ran.stderr
    report = json.loads(ran.stdout)
    assert report["snapshots"] == {"read": 1, "broken": 2, "clean": 0}
    assert [Path(one["snapshot"]).name for one in report["broken"]] == ["a", "lost+found"]
    assert {one["why"].partition(" can't")[2] for one in report["broken"]} == {
        " be read (Permission denied); check its owner and mode"
    }


@pytest.mark.parametrize("words", [("audit", "--snapshot"), ("report",)], ids=["audit", "report"])
def test_fingerprints_are_the_same_in_every_directory(words: tuple[str, ...], tmp_path: Path) -> None:
    """Paths are those of the server's host: a run in / or /etc, as of cron, names its files as any other does."""

    def results(folder: str) -> list[Any]:
        command = [sys.executable, "-m", "advisor", *words, str(SNAPSHOT), "--isolated", "--format", "sarif"]
        environment = {"PATH": os.environ["PATH"], "HOME": str(tmp_path), "PYTHONPATH": str(CHECKOUT)}
        ran = subprocess.run(command, cwd=folder, env=environment, capture_output=True, timeout=PATIENCE, check=False)
        found: list[Any] = json.loads(ran.stdout)["runs"][0]["results"]
        return found

    usual = results(str(tmp_path))
    assert any(result["locations"] for result in usual)
    assert results("/") == results("/etc") == usual


def test_an_incomplete_snapshot_is_no_pass(mycnf: Mycnf, tmp_path: Path) -> None:
    """Where the connection was lost, rules saw a part: the exit code says so, of one as of its audit and of many."""
    whole = json.loads(SNAPSHOT.read_text(encoding="utf-8"))
    (tmp_path / "snaps").mkdir()
    for name, lost in (("a", ""), ("b", "the connection was lost")):
        (tmp_path / "snaps" / f"{name}.json").write_text(json.dumps(whole | {"lost": lost}), encoding="utf-8")
    words = ("--isolated", "--select", "VER001", "--fail-on", "never")
    for command in (("audit", "--snapshot"), ("report",)):
        ended = mycnf(*command, "snaps/b.json", *words)
        assert (ended.code, ended.err) == (3, "mycnf: the connection was lost\n")
    many = mycnf("report", "snaps", *words)
    assert (many.code, "2 read, 1 incomplete; " in many.out) == (2, True)
    counts = json.loads(mycnf("report", "snaps", *words, "--format", "json").out)["snapshots"]
    assert counts == {"read": 2, "broken": 0, "clean": 1, "incomplete": 1}
    assert many.err.splitlines() == [
        "mycnf: snaps/b.json is incomplete: the connection was lost",
        "mycnf: 1 of 2 snapshots is incomplete: the connection was lost",
    ]
    assert mycnf("report", "snaps/a.json", *words).code == 0


def test_a_link_to_a_directory_is_told(mycnf: Mycnf, tmp_path: Path) -> None:
    """Links are not followed, as they may lead in a circle, and no snapshots are left out in silence."""
    for name in ("snapshots", "elsewhere"):
        (tmp_path / name).mkdir()
        shutil.copy(SNAPSHOT, tmp_path / name / "db1.json")
    (tmp_path / "snapshots" / "more").symlink_to(tmp_path / "elsewhere")
    (tmp_path / "snapshots" / "circle").symlink_to(tmp_path / "snapshots")
    ran = mycnf("report", "--isolated", "snapshots", "--format", "json")
    assert (ran.code, json.loads(ran.out)["snapshots"]["read"]) == (1, 1)
    assert [line.split()[2] for line in ran.err.splitlines()] == ["snapshots/circle,", "snapshots/more,"]


REPORTS = (
    ("lint", "my.cnf", "--format", "json"),
    ("lint", "my.cnf", "--format", "sarif"),
    ("lint", "my.cnf", "--write-baseline"),
    ("show", "my.cnf", "--format", "json"),
    ("upgrade", "--from", "mysql-8.0", "--to", "mysql-8.4", "my.cnf", "--format", "json"),
    ("diff", "mysql-8.0", "my.cnf", "--format", "json"),
    ("suggest", "--ram", "8G", "--cpus", "4", "--disk", "nvme", "--format", "json"),
    ("rules", "--format", "json"),
    ("explain", "BUF001", "--format", "json"),
    ("explain", "sort_buffer_size", "--format", "json"),
    ("probe", "--format", "json"),
    ("history", "--format", "json"),
    ("audit", "--snapshot", str(SNAPSHOT), "--format", "json"),
    ("report", str(SNAPSHOT), str(SNAPSHOT), "--format", "json"),
)


def test_own_reports_are_left_out(mycnf: Mycnf, tmp_path: Path) -> None:
    """What mycnf wrote itself beside snapshots is no broken snapshot, but one that is named is; all others are rows."""
    folder = tmp_path / "snapshots"
    folder.mkdir()
    (tmp_path / "my.cnf").write_text("[mysqld]\nsort_buffer_size = 64M\n")
    mycnf("history", "add", SNAPSHOT)
    for number, words in enumerate(REPORTS):
        made = folder / f"{number}.json"
        ended = mycnf(*words, *((made,) if words[-1] == "--write-baseline" else ()))
        assert ended.code in (0, 1), words
        if not made.exists():
            made.write_text(ended.out)
    (folder / "snapshot.json").write_bytes(SNAPSHOT.read_bytes())
    ran = mycnf("report", "--isolated", folder, "--format", "json")
    assert (ran.code, ran.err.count("\n")) == (1, 1)
    assert f"skipped {len(REPORTS)} files" in ran.err
    assert json.loads(ran.out)["snapshots"] == {"read": 1, "broken": 0, "clean": 0}

    named = mycnf("report", "--isolated", folder / "0.json", SNAPSHOT, "--format", "json")
    assert json.loads(named.out)["snapshots"]["broken"] == 1
    (folder / "other.json").write_text('{"version": 1, "files": []}')
    others = mycnf("report", "--isolated", folder, "--format", "json")
    assert [Path(one["snapshot"]).name for one in json.loads(others.out)["broken"]] == ["other.json"]


def test_counts(mycnf: Mycnf, folder: Path) -> None:
    """JSON keeps to its schema, and its counts are those of the lines."""
    report = json.loads(mycnf("report", "--isolated", folder, "--format", "json").out)
    schema = json.loads((CHECKOUT / "schemas" / "report.schema.json").read_text(encoding="utf-8"))
    Draft202012Validator.check_schema(schema)
    Draft202012Validator(schema).validate(report)
    lines = [
        line
        for line in read_lines(mycnf("report", "--isolated", folder, "--format", "jsonl").out)
        if not line["broken"]
    ]
    assert report["snapshots"] == {"read": 4, "broken": 1, "clean": 0}
    assert report["findings"] == Counter(line["severity"] for line in lines)
    assert {rule["code"]: rule["findings"] for rule in report["rules"]} == Counter(line["code"] for line in lines)
    assert {rule["servers"] for rule in report["rules"]} == {4}
    assert report["targets"] == {"mariadb-10.11.19": 4}
    assert {server["server"] for server in report["servers"]} == {"db1", "db2", "db10"}


@pytest.mark.parametrize("form", ["text", "markdown", "html"])
def test_people_see_counts_and_what_is_broken(mycnf: Mycnf, folder: Path, form: str) -> None:
    """Fixes, rules, servers, versions and broken snapshots are in each report for people; fixes come first."""
    out = mycnf("report", "--isolated", folder, "--format", form).out
    assert 0 < out.index("Fix first") < out.index("4 of 4") < out.index("Servers that need most")
    for words in ("By rule", "SEC003", "db10", "mariadb-10.11.19", "b/cut.json", "cut off"):
        assert words in out


def test_metrics_of_many(mycnf: Mycnf, folder: Path) -> None:
    """Families stand together, and of two servers of one name none loses its series."""
    out = mycnf("report", "--isolated", folder, "--format", "prometheus").out
    families = {family.name: family for family in text_string_to_metric_families(out)}
    assert out.count("# TYPE ") == len(families)
    assert {s.labels["server"] for s in families["mycnf_info"].samples} == {"db1", "db10", "db2", "db1 (2)"}
    assert families["mycnf_unread_snapshots"].samples[0].value == 1


def test_parquet(mycnf: Mycnf, folder: Path, tmp_path: Path) -> None:
    """Another engine reads the same findings out of Parquet as out of JSON lines."""
    parquet, lines = tmp_path / "f.parquet", tmp_path / "f.jsonl"
    ran = mycnf("report", "--isolated", folder, "--format", "parquet", "-o", parquet, "--format", "jsonl", "-o", lines)
    assert ran.code == 2
    what = "server, snapshot, target, code, severity, option, line, message, evidence, broken"
    # Lists of files that the test made itself.
    found = asked(f"SELECT {what} FROM '{path}'" for path in (parquet, lines))  # noqa: S608
    assert found[0] == found[1]
    assert len(found[0]) > 100


def test_parquet_needs_pyarrow(mycnf: Mycnf, tmp_path: Path) -> None:
    """Without it one line says what to install, and without -o one that a file is to be named."""
    (tmp_path / "pyarrow.py").write_text("raise ImportError", encoding="utf-8")
    words = ("report", "--isolated", SNAPSHOT, "--format", "parquet")
    ran = mycnf(*words, "-o", tmp_path / "f.parquet", env={"PYTHONPATH": f"{tmp_path}:{CHECKOUT}"})
    assert (ran.code, ran.err.count("\n")) == (2, 1)
    assert "mycnf-advisor[parquet]" in ran.err
    assert not (tmp_path / "f.parquet").exists()
    assert "name a file with -o" in mycnf(*words).err


@pytest.mark.parametrize("form", ["json", "jsonl"])
def test_a_report_that_cannot_be_written_leaves_nothing_of_the_others(
    mycnf: Mycnf, folder: Path, tmp_path: Path, form: str
) -> None:
    """Where the second report has no place, the first is not begun beside its file."""
    first, second = tmp_path / "first", tmp_path / "nowhere" / "second"
    ran = mycnf("report", "--isolated", folder, "--format", form, "-o", first, "--format", "csv", "-o", second)
    assert (ran.code, ran.err.count("\n")) == (2, 1)
    assert [path.name for path in tmp_path.iterdir()] == ["home"]


@pytest.mark.parametrize("form", [form for form in names("report") if form != "parquet"])
def test_no_secret(mycnf: Mycnf, tmp_path: Path, form: str) -> None:
    """A secret that was not removed from a snapshot comes out in no format."""
    found = json.loads(SNAPSHOT.read_text(encoding="utf-8"))
    secrets = {
        "wsrep_sst_auth": f"root:{SECRET}",
        "report_password": SECRET,
        "init_slave": f"SET PASSWORD = '{SECRET}'",
    }
    found["server"]["variables"].update(secrets)
    for copy in found["files"]["files"]:
        copy["text"] += "\n[mysqld]\n" + "".join(f"{name} = {value}\n" for name, value in secrets.items())
    for name in ("one.json", "two.json"):
        (tmp_path / name).write_text(json.dumps(found), encoding="utf-8")
    out = mycnf("report", "--isolated", tmp_path, "--format", form).out
    assert SECRET not in out
    assert "SEC003" in out


@pytest.mark.parametrize(("words", "remedy"), [
    (["report", "{empty}"], "mycnf collect -o FILE"),
    (["report", "{empty}", "--format", "text", "-o", "{empty}/no/such/file"], "name another file with -o"),
    (["report", "{empty}", "--jobs", "0"], "1 or more"),
    (["report", "no-such-file"], "mycnf collect -o FILE"),
    (["report", "no-such-file", "{empty}"], "mycnf collect -o FILE"),
])  # fmt: skip
def test_bad_input(mycnf: Mycnf, tmp_path: Path, words: list[str], remedy: str) -> None:
    """What can't be meant is said with a remedy, and exit code 2."""
    (tmp_path / "empty").mkdir()
    if words[1] != "no-such-file" and "-o" in words:
        (tmp_path / "empty" / "x.json").write_bytes(SNAPSHOT.read_bytes())
    ran = mycnf(*(word.replace("{empty}", str(tmp_path / "empty")) for word in words), "--isolated")
    assert ran.code == 2
    assert remedy in ran.err
    assert "Traceback" not in ran.err


def test_counting_stays_small() -> None:
    """However many snapshots there are, as many are named as a page bears, the worst of them, and all are counted."""
    tally = Tally()
    for number in range(3000):
        found = tuple(Brief("TST001", "x", "note", "") for _ in range(1 + number % 7))
        tally.take(SnapshotSummary(f"{number}.json", "", f"db{number}", f"mysql-8.0.{number}", found))
        tally.take(SnapshotSummary(f"{number}.broken", "cut off"))
    assert (tally.read, tally.broken, len(tally.reasons)) == (3000, 3000, BROKEN)
    assert [server.notes for server in tally.worst] == [7] * WORST
    assert len(tally.versions) == VERSIONS + 1
    assert tally.versions[OTHERS] == 3000 - VERSIONS
    (rule,) = tally.rules
    assert (rule.servers, rule.findings, len(rule.examples)) == (3000, tally.severities["note"], EXAMPLES)


@pytest.mark.parametrize(("how", "code"), [(signal.SIGINT, 130), (signal.SIGKILL, -signal.SIGKILL)])
def test_ended_from_outside(tmp_path: Path, how: signal.Signals, code: int) -> None:
    """A run that is ended leaves the old file, and no process of its own."""
    snapshots, out = tmp_path / "many", tmp_path / "out.jsonl"
    snapshots.mkdir()
    (snapshots / "0.json").write_bytes(SNAPSHOT.read_bytes())
    for number in range(1, 2000):
        os.link(snapshots / "0.json", snapshots / f"{number}.json")
    out.write_text("the old one")
    command = [sys.executable, "-m", "advisor", "report", "--isolated", str(snapshots), "--jobs", "2"]
    process = subprocess.Popen([*command, "--format", "jsonl", "-o", str(out)], cwd=CHECKOUT, stderr=subprocess.DEVNULL)
    while len(children := _children(process.pid)) < 2 and process.poll() is None:
        time.sleep(0.02)
    process.send_signal(how)
    assert process.wait(PATIENCE) == code
    assert out.read_text() == "the old one"
    eventually(lambda: not any(map(alive, children)), what="the end of its processes")


def test_an_interruption_during_a_fork_is_not_lost(tmp_path: Path) -> None:
    """Python ignores exceptions in the functions that it runs after a fork; Ctrl-C there still ends the run."""
    for number in range(400):
        (tmp_path / f"{number}.json").symlink_to(SNAPSHOT.resolve())
    code = (
        "import os, signal, sys\n"
        "os.register_at_fork(after_in_parent=lambda: os.kill(os.getpid(), signal.SIGINT))\n"
        "from advisor.__main__ import main\n"
        "sys.exit(main(sys.argv[1:]))"
    )
    words = [
        "report",
        "--isolated",
        "--jobs",
        "2",
        "--format",
        "jsonl",
        "-o",
        str(tmp_path / "out.jsonl"),
        str(tmp_path),
    ]
    ran = subprocess.run(
        [sys.executable, "-c", code, *words],
        cwd=CHECKOUT,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    assert ran.returncode == 130, ran.stderr
    assert not (tmp_path / "out.jsonl").exists()


def _children(pid: int) -> list[int]:
    try:
        return [int(word) for word in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    except FileNotFoundError:
        return []


def test_what_a_baseline_leaves_out_is_counted(mycnf: Mycnf, tmp_path: Path) -> None:
    """A report on many servers does not say that nothing was found where the baseline has the findings."""
    (tmp_path / "snaps").mkdir()
    for name in ("a", "b"):
        shutil.copy(CHECKOUT / "advisor" / "demo" / "recording.json", tmp_path / "snaps" / f"{name}.json")
    assert "wrote" in mycnf("audit", "--demo", "--write-baseline", "base.json", "--format", "text").err
    text = mycnf("report", "snaps", "--baseline", "base.json").out
    assert "2 read; nothing new on 2 servers; " in text
    assert "findings in the baseline" in " ".join(text.split())
