"""`mycnf probe prove CODE`: what a rule claims is run here, before against after, and audits then use it."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import controlled_experiment
import pytest
from controlled_experiment import Steered
from jsonschema import Draft202012Validator
from mycnf_command import CHECKOUT, Ended, Mycnf, check_run
from real_servers import Binaries, Start

from advisor.__main__ import main
from advisor.core.model import exact_size
from advisor.facts.probes import Metric
from probes import registry
from probes.experiment import BlockMeasurement, Choice, ChosenOptions, Environment, ProbeRequest, RunPlan, Turn, Variant
from probes.results import read_all
from probes.safety.neighbours import OtherServer
from probes.sandbox import Sandbox
from probes.stop import StopSignal

SCHEMA = Draft202012Validator(json.loads((CHECKOUT / "schemas" / "probe.schema.json").read_text("utf-8")))
FORCED = "busy,neighbour,full,little"
SPEEDS = {"128K": 1000.0, "2M": 998.0, "4M": 900.0, "8M": 800.0}
Prove = Callable[..., Ended]


@dataclass
class Scan(Steered):
    """A read-buffer experiment whose scans are as fast as `speeds` say, by size."""

    name = "read-buffer"
    choices: tuple[Choice, ...] = (*Steered.choices, Choice("sizes", "sizes", "128K,8M", "values that are compared"))

    def plan(self, ground: Environment, wanted: ProbeRequest) -> RunPlan:
        """A variant for each size that was asked for, on the server that was chosen."""
        sizes = ChosenOptions(self.choices, wanted).sizes("sizes")
        variants = tuple(Variant(exact_size(size), {"read_buffer_size": str(size)}, float(size)) for size in sizes)
        whole = super().plan(ground, replace(wanted, choices={}))
        server = str(ground.binaries[0].target)
        return replace(whole, variants=variants, metrics=(Metric("cached", "s/scan", "less"),), server=server)

    def measure(self, variant: Variant, turn: Turn, stop: StopSignal) -> BlockMeasurement:
        """The time of a scan at that speed."""
        return BlockMeasurement({"cached": 1 / super().measure(variant, turn, stop).metrics["scanned"]}, {})


@pytest.fixture
def scan(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, binaries: Binaries) -> Scan:
    """The experiment in the place of read-buffer, on a host that has MySQL 8.0 and MariaDB 10.11."""
    experiment = Scan(speeds=dict(SPEEDS))
    monkeypatch.setattr(controlled_experiment, "EXPERIMENT", experiment)
    monkeypatch.setattr(registry, "MODULES", {"read-buffer": "controlled_experiment"})
    monkeypatch.setattr("probes.sandbox.host_binaries", lambda _: [binaries("mysql-8.0"), binaries("mariadb-10.11")])
    monkeypatch.setattr("probes.safety.neighbours.find_other_servers", tuple)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    return experiment


@pytest.fixture
def prove(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Prove:
    """`mycnf probe prove ARGS` in this process, regardless of the host's load."""

    def run(*args: str) -> Ended:
        code = main(["probe", "prove", *args, "--dir", str(tmp_path), "--force", FORCED, "--seed", "0"])
        printed = capsys.readouterr()
        return check_run(code, printed.out, printed.err)

    return run


def file_of(folder: Path, text: str) -> str:
    """An option file for a server."""
    path = folder / "my.cnf"
    path.write_text(f"[mysqld]\n{text}\n", "utf-8")
    return str(path)


def flat(text: str) -> str:
    """The text on one line."""
    return " ".join(text.split())


def test_the_example_is_run_on_a_server_that_the_rule_covers(prove: Prove, scan: Scan) -> None:
    """Without a file the rule's example is measured, on the first server that it concerns; the answer comes first."""
    ended = prove("BUF001")
    assert ended.code == 0, ended.err
    assert "comparing read_buffer_size 128K with 8M on MariaDB 10.11" in ended.err
    assert set(scan.measured) == {"128K", "8M"}
    printed = flat(ended.out)
    assert "BUF001 oversized-read-buffer, read_buffer_size 8M before, 128K after: better. 128K against 8M: " in printed
    assert " % faster from cache (95 %: " in printed
    assert printed.index("BUF001") < printed.index("128K", printed.index("better"))
    assert len(read_all().kept) == 1


@pytest.mark.parametrize(("speed", "verdict", "says"), [
    (1000.0, "same", "no difference larger than "), (1300.0, "worse", "after: worse."), (800.0, "better", "better."),
])  # fmt: skip
def test_what_came_of_it(prove: Prove, scan: Scan, speed: float, verdict: str, says: str) -> None:
    """Better, worse, or no difference larger than so much; JSON and Markdown say the same."""
    scan.speeds["8M"] = speed
    report = json.loads(prove("oversized-read-buffer", "--json").out)
    SCHEMA.validate(report)
    assert report["proof"]["verdict"] == verdict
    assert says in report["proof"]["answer"]
    assert [d["verdict"] for d in report["proof"]["differences"]] == [verdict]
    assert (report["proof"]["within"] is not None) == (verdict == "same")
    page = prove("BUF001", "--format", "markdown").out.replace("`", "")
    assert says in page


def test_the_value_of_a_file_is_run(prove: Prove, scan: Scan, tmp_path: Path) -> None:
    """The file's value stands before, the one that the rule wants of that server after."""
    ended = prove("BUF001", file_of(tmp_path, "read_buffer_size = 4M"))
    assert ended.code == 0, ended.err
    assert "4M before, 128K after" in flat(ended.out)
    assert set(scan.measured) == {"128K", "4M"}


def test_the_value_of_the_running_server_is_run(
    prove: Prove, scan: Scan, start: Start, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where a server runs that lets us in, its value stands before, and a server of its series is started."""
    running = start("mariadb-10.11", option_file=file_of(tmp_path, "read_buffer_size = 4M"), small=True)
    home = tmp_path / "home"
    home.mkdir()
    (home / ".my.cnf").write_text(f"[client]\nsocket = {running.socket}\nuser = root\n")
    (home / ".my.cnf").chmod(0o600)
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setattr("probes.safety.neighbours.find_other_servers", lambda: (OtherServer(1, "mariadbd", ""),))
    ended = prove("BUF001")
    assert ended.code == 0, ended.err
    assert "4M before, 128K after" in flat(ended.out)


def test_a_server_that_refuses_connections_costs_a_line(
    prove: Prove, scan: Scan, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The example is run, and the line says why."""
    (tmp_path / ".my.cnf").write_text(f"[client]\nsocket = {tmp_path}/none.sock\n")
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setattr("probes.safety.neighbours.find_other_servers", lambda: (OtherServer(1, "mariadbd", ""),))
    ended = prove("BUF001")
    assert ended.code == 0
    assert "cannot connect to the running server" in ended.err
    assert "8M before" in flat(ended.out)


def test_choices_of_the_user_come_first(prove: Prove, scan: Scan) -> None:
    """More sizes may be measured; where the two of the rule aren't among them, that is said."""
    assert "8M before, 128K after: better" in flat(prove("BUF001", "--option", "sizes=128K,2M,8M").out)
    assert set(scan.measured) == {"128K", "2M", "8M"}
    assert "did not measure both values" in flat(prove("BUF001", "--option", "sizes=2M,4M").out)


def test_a_dry_run_measures_nothing(prove: Prove, scan: Scan) -> None:
    """It prints what the run of the claim would do."""
    ended = prove("BUF001", "--dry-run")
    assert ended.code == 0
    assert "128K, 8M" in ended.out
    assert scan.opened == 0


@pytest.mark.parametrize(("words", "message"), [
    ((), "mycnf probe prove CODE [FILE]"),
    (("BUF001", "a", "b"), "mycnf probe prove CODE [FILE]"),
    (("BUF0001",), "did you mean BUF001?"),
    (("OPT001",), "has no claim that a probe measures"),
    (("INN006",), "mycnf probe random-write measures its subject"),
    (("BUF001", "FILE"), "has no finding of BUF001 (read_buffer_size is 64K)"),
    (("BUF001", "nowhere.cnf"), "nowhere.cnf"),
    (("BUF001", "--server", "mysql-8.0"), "BUF001 applies to mysql < 8.0, mariadb, and the servers here are mysql-8.0"),
])  # fmt: skip
def test_mistakes_are_one_line(prove: Prove, scan: Scan, tmp_path: Path, words: tuple[str, ...], message: str) -> None:
    """What can't be proved is one line with what to do, exit code 2, and nothing is run."""
    file = file_of(tmp_path, "read_buffer_size = 64K")
    ended = prove(*(file if w == "FILE" else w for w in words))
    assert ended.code == 2
    assert ended.out == ""
    assert len(ended.err.splitlines()) == 1
    assert message in ended.err
    assert scan.opened == 0


@pytest.fixture
def proved(
    binaries: Binaries, prove: Prove, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> dict[str, str]:  # fmt: skip
    """A state directory with a real run of the rule's claim, on a small table of a real MariaDB."""
    monkeypatch.setattr("probes.sandbox.host_binaries", lambda _: [binaries("mariadb-10.11")])
    monkeypatch.setattr("probes.safety.neighbours.find_other_servers", tuple)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    ended = prove("BUF001", "--time", "6s", "--rounds", "3", "--option", "table=4M", "--json")
    assert ended.code == 0, ended.err
    report: Any = json.loads(ended.out)
    SCHEMA.validate(report)
    assert report["result"]["facts"]["read size at 128K"] == pytest.approx(131072, rel=0.1)
    return {"XDG_STATE_HOME": str(tmp_path / "state")}


def test_an_audit_shows_what_was_measured_here(
    mycnf: Mycnf, proved: dict[str, str], start: Start, tmp_path: Path
) -> None:
    """The finding of a real server of the same series says what the run showed; of another series it doesn't."""
    file = file_of(tmp_path, "read_buffer_size = 8M")
    words = ("audit", "--user", "root", "--window", "0", "--select", "BUF001", "--socket")
    (kept,) = read_all().kept
    asked: dict[str, Sandbox] = {
        name: start(name, option_file=file, small=True) for name in ("mariadb-10.11", "mariadb-11.4")
    }
    socket = asked["mariadb-10.11"].socket
    (found,) = json.loads(mycnf(*words, socket, "--format", "json", env=proved).out)["findings"]
    local = found["local"]
    assert (local["probe"], local["began_at"]) == ("read-buffer", kept.result.began_at)
    line = f"Here, probe of {kept.result.began_at[:10]}: 8M against 128K: "
    assert local["words"].startswith(line)
    text = mycnf(*words, socket, env=proved).out
    assert line in flat(text)
    assert max(len(row) for row in text.splitlines() if "/" not in row) <= 80
    for form in ("markdown", "jsonl", "sarif", "junit"):
        assert line in mycnf(*words, socket, "--format", form, env=proved).out.replace("`", "")
    (other,) = json.loads(mycnf(*words, asked["mariadb-11.4"].socket, "--format", "json", env=proved).out)["findings"]
    assert other["local"] is None
