"""The configuration file as the user of the commands meets it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest
from lxml import etree
from msgspec.structs import replace
from mycnf_command import CHECKOUT

from advisor.catalog.targets import NAMES
from advisor.commands.collect import DEMO
from advisor.facts.snapshot import load, save

if TYPE_CHECKING:
    from pathlib import Path

    from mycnf_command import Ended, Mycnf

BAD = "[mysqld]\nread_buffer_size = 8M\nmax_connections = 200\nmax_connections = 200\n"
SNAPSHOT = CHECKOUT / "examples" / "snapshots" / "mariadb-10.11.json"


def entries(ended: Ended) -> list[tuple[str, str, list[str]]]:
    """Path, target without patch, and codes of each entry of a JSON report."""
    files = json.loads(ended.out)["files"]
    return [(e["path"], e["target"].rpartition(".")[0], [f["code"] for f in e["findings"]]) for e in files]


@pytest.fixture
def bad(tmp_path: Path) -> str:
    """A file with BUF001 (or BUF002) and OPT012, in the folder where mycnf runs."""
    (tmp_path / "my.cnf").write_text(BAD)
    return "my.cnf"


def config(folder: Path, text: str, name: str = "mycnf.toml") -> None:
    """Write a configuration."""
    folder.mkdir(exist_ok=True)
    (folder / name).write_text(text)


def test_every_key_replaces_its_flag(mycnf: Mycnf, bad: str, tmp_path: Path) -> None:
    """Targets, rules, severity and format come from the file where the command line says nothing."""
    config(
        tmp_path,
        'target = ["mysql-5.7", "mysql-8.0"]\nselect = ["BUF", "OPT012"]\nformat = "json"\nfail-on = "error"\n',
    )
    ended = mycnf("lint", bad)
    assert entries(ended) == [(bad, "mysql-5.7", ["BUF001", "OPT012"]), (bad, "mysql-8.0", ["BUF002", "OPT012"])]
    assert (ended.code, ended.err) == (0, "")


def test_the_command_line_wins(mycnf: Mycnf, bad: str, tmp_path: Path) -> None:
    """Each flag replaces the key of its name, and --select what the file ignores."""
    config(tmp_path, 'target = "mysql-5.7"\nignore = ["BUF"]\nformat = "json"\nfail-on = "never"\n')
    assert entries(mycnf("lint", bad)) == [(bad, "mysql-5.7", ["OPT012"])]
    assert entries(mycnf("lint", bad, "--target", "mysql-8.4")) == [(bad, "mysql-8.4", ["OPT012"])]
    assert entries(mycnf("lint", bad, "--select", "BUF001")) == [(bad, "mysql-5.7", ["BUF001"])]
    assert entries(mycnf("lint", bad, "--ignore", "OPT012")) == [(bad, "mysql-5.7", ["BUF001"])]
    assert mycnf("lint", bad, "--format", "concise").out.startswith("my.cnf:3:1: OPT012")
    assert [mycnf("lint", bad, *more).code for more in ((), ("--fail-on", "note"))] == [0, 1]


def test_the_closest_one_wins_for_each_file(mycnf: Mycnf, bad: str, tmp_path: Path) -> None:
    """Each file is checked by the configuration that is closest to it, stdin by its name's."""
    config(tmp_path, 'target = "mysql-5.7"\nfail-on = "never"\n')
    config(tmp_path / "maria", '[tool.mycnf]\ntarget = "mariadb-10.11"\nfail-on = "note"\n', "pyproject.toml")
    (tmp_path / "maria" / "my.cnf").write_text(BAD)
    ended = mycnf("lint", bad, "maria/my.cnf", "--format", "json")
    assert [(path, target) for path, target, _ in entries(ended)] == [
        (bad, "mysql-5.7"),
        ("maria/my.cnf", "mariadb-10.11"),
    ]
    assert ended.code == 1
    assert mycnf("lint", bad).code == 0
    named = mycnf("lint", "-", "--stdin-filename", "maria/x.cnf", "--format", "json", stdin=BAD.encode())
    assert entries(named)[0][:2] == ("maria/x.cnf", "mariadb-10.11")
    assert entries(mycnf("lint", "-", "--format", "json", stdin=BAD.encode()))[0][1] == "mysql-5.7"


def test_named_and_isolated(mycnf: Mycnf, bad: str, tmp_path: Path) -> None:
    """--config names one for all files, --isolated uses none, and both together contradict each other."""
    config(tmp_path, 'target = "mysql-5.7"\n')
    config(tmp_path / "ci", 'target = "mysql-8.4"\n', "other.toml")
    assert entries(mycnf("lint", bad, "--config", "ci/other.toml", "--format", "json"))[0][1] == "mysql-8.4"
    isolated = mycnf("lint", bad, "--isolated", "--format", "json")
    assert entries(isolated)[0][1] == "mysql-9.7"
    assert "no --target given" in isolated.err
    for command in ("lint", "show"):
        ended = mycnf(command, bad, "--isolated", "--config", "ci/other.toml")
        assert (ended.code, len(ended.err.splitlines())) == (2, 1)


@pytest.mark.parametrize("command", ["lint", "show"])
@pytest.mark.parametrize(
    "text", ["x = 1", "target = 1", "a =", 'target = "mysql-1.0"', "[house.nothing_at_all]\nrequired = true"]
)
def test_a_bad_configuration(command: str, text: str, mycnf: Mycnf, bad: str, tmp_path: Path) -> None:
    """What can't be used is one line with the file's name and exit code 2, and nothing is reported."""
    config(tmp_path, text)
    ended = mycnf(command, bad)
    assert (ended.code, ended.out, len(ended.err.splitlines())) == (2, "", 1)
    assert "mycnf.toml" in ended.err


@pytest.mark.parametrize("name", [*(f"{name}-8.0" for name in NAMES if "mariadb" not in name), "aurora-mysql-3"])
def test_a_configuration_names_every_target(name: str, mycnf: Mycnf, bad: str, tmp_path: Path) -> None:
    """Each server that --target takes can stand in a configuration, builds and managed services too."""
    named = mycnf("lint", bad, "--isolated", "--target", name, "--format", "json")
    config(tmp_path, f'target = "{name}"\n')
    assert mycnf("lint", bad, "--format", "json") == named
    assert entries(named)[0][1] == name.replace("aurora-mysql-3", "aurora-mysql-8.0")


def test_a_missing_configuration(mycnf: Mycnf, bad: str) -> None:
    """A file that --config names must be there."""
    ended = mycnf("lint", bad, "--config", "none.toml")
    assert (ended.code, len(ended.err.splitlines())) == (2, 1)


def test_formats_that_differ(mycnf: Mycnf, bad: str, tmp_path: Path) -> None:
    """Two configurations that ask for different formats leave the choice to the command line."""
    config(tmp_path, 'format = "json"\ntarget = "mysql-5.7"')
    config(tmp_path / "b", 'format = "concise"\ntarget = "mysql-5.7"')
    (tmp_path / "b" / "my.cnf").write_text(BAD)
    ended = mycnf("lint", bad, "b/my.cnf")
    assert (ended.code, len(ended.err.splitlines())) == (2, 1)
    assert mycnf("lint", bad, "b/my.cnf", "--format", "json", "--fail-on", "note").code == 1


def test_per_file_ignores(mycnf: Mycnf, bad: str, tmp_path: Path) -> None:
    """Patterns are relative to the configuration, wherever mycnf runs; a suppression that they cover is not unused."""
    config(tmp_path, 'target = "mysql-5.7"\nformat = "json"\n[per-file-ignores]\n"lab/*" = ["BUF", "OPT012"]\n')
    (tmp_path / "lab").mkdir()
    (tmp_path / "lab" / "a.cnf").write_text(BAD.replace("8M", "8M # mycnf: ignore[BUF001] x"))
    ended = mycnf("lint", bad, tmp_path / "lab" / "a.cnf")
    assert [codes for _, _, codes in entries(ended)] == [["BUF001", "OPT012"], []]


def test_root_and_machine(mycnf: Mycnf, tmp_path: Path) -> None:
    """`root` is relative to the configuration, and what the host has lets the rules that need one run."""
    (tmp_path / "tree" / "etc").mkdir(parents=True)
    (tmp_path / "tree" / "etc" / "more.cnf").write_text("[mysqld]\nno_such = 1\n")
    (tmp_path / "my.cnf").write_text("[mysqld]\ninnodb_buffer_pool_size = 60G\n!include /etc/more.cnf\n")
    config(tmp_path, 'target = "mysql-8.4"\nroot = "tree"\nram = "8G"\ncpus = 4\ndisk = "ssd"\n')
    found = {code for _, _, codes in entries(mycnf("lint", "my.cnf", "--format", "json")) for code in codes}
    assert "OPT001" in found
    assert any(code.startswith("MEM") for code in found)
    show = mycnf("show", "my.cnf")
    assert (show.code, "as MySQL 8.4" in show.out, "1 line is skipped" in show.out) == (0, True, True), show


def test_a_root_that_is_none(mycnf: Mycnf, bad: str, tmp_path: Path) -> None:
    """A mistyped `root` is one line, as a mistyped --root is: absolute includes would be missing files otherwise."""
    config(tmp_path, 'target = "mysql-8.4"\nroot = "tee"\n')
    (tmp_path / "tree").mkdir()
    for words in (("lint", bad), ("show", bad), ("diff", bad, "mysql-8.4")):
        ended = mycnf(*words)
        assert (ended.code, ended.out, ended.err.count("\n")) == (2, "", 1), words
        assert f"mycnf.toml: root: {tmp_path}/tee is not a directory" in ended.err
        assert mycnf(*words, "--root", "tree").code in (0, 1)
    assert mycnf("audit", "--snapshot", SNAPSHOT, "--fail-on", "never", "--format", "json").code == 0


def test_house_rules(mycnf: Mycnf, bad: str, tmp_path: Path) -> None:
    """House rules are reported by lint in their own words, are listed, explained, and left out like others."""
    config(tmp_path, 'target = "mysql-5.7"\n[house.max_connections]\nmaximum = 100\nmessage = "Ask us."\n')
    ended = mycnf("lint", bad)
    assert "above-house-maximum HOU004" in ended.out
    assert "Ask us." in ended.out
    assert "HOU004" not in mycnf("lint", bad, "--ignore", "HOU").out
    assert "HOU004" in mycnf("lint", bad, "--select", "above-house-maximum").out
    assert "HOU004  above-house-maximum" in mycnf("rules").out
    assert "above-house-maximum" in mycnf("explain", "HOU004").out
    assert "which need house rules" in mycnf("lint", bad, "--isolated", "--select", "HOU").err


def test_house_rules_that_are_not_asked(mycnf: Mycnf, bad: str, tmp_path: Path) -> None:
    """A `select` in the file that leaves its own house rules out is reported."""
    config(tmp_path, 'target = "mysql-5.7"\nselect = ["SEC"]\n[house.max_connections]\nmaximum = 100\n')
    assert "house rules do not run" in mycnf("lint", bad).err
    assert mycnf("lint", bad, "--select", "SEC").err.count("house rules are not") == 0


def test_an_audit_asks_it_too(mycnf: Mycnf, tmp_path: Path) -> None:
    """An audit takes rules, severity and house rules from the configuration of the folder that it runs in."""
    config(tmp_path, 'select = ["HOU", "BUF001"]\nfail-on = "note"\n[house.max_connections]\nmaximum = 500\n')
    ended = mycnf("audit", "--snapshot", SNAPSHOT, "--format", "json")
    report = json.loads(ended.out)
    assert {f["code"] for f in report["findings"]} == {"HOU004", "BUF001"}
    assert not [s for s in report["skipped"] if s["code"].isupper()]
    assert ended.code == 1
    alone = json.loads(mycnf("audit", "--snapshot", SNAPSHOT, "--format", "json", "--isolated").out)
    assert not any(f["code"].startswith(("HOU", "SUP")) for f in alone["findings"])
    assert not any(s["code"].startswith(("HOU", "SUP")) for s in alone["skipped"])


@pytest.mark.parametrize(
    ("words", "code", "says"),
    [
        (("lint", "--target", "mysql-8.4", "-"), 0, ""),
        (("show", "--target", "mysql-8.4", "-"), 0, ""),
        (("upgrade", "--from", "mysql-8.0", "--to", "mysql-8.4", "--fail-on", "never", "-"), 0, ""),
        (("audit", "--snapshot", SNAPSHOT, "--fail-on", "never", "--format", "json"), 0, ""),
        (("report", SNAPSHOT, "--fail-on", "never", "--format", "json"), 0, ""),
        (("lint", "--target", "mysql-8.4", "-", "-o", "report.txt"), 2, "the working directory no longer exists"),
    ],
    ids=lambda value: value[0] if isinstance(value, tuple) else "",
)
def test_from_a_folder_that_is_gone(words: tuple[str, ...], code: int, says: str, tmp_path: Path) -> None:
    """Stdin and files by their absolute paths are checked even where the working directory was removed."""
    gone = tmp_path / "gone"
    gone.mkdir()
    script = f'cd {gone} && rmdir {gone} && exec {sys.executable} -m advisor "$@"'
    environment = {"PATH": os.environ["PATH"], "PYTHONPATH": str(CHECKOUT)}
    ran = subprocess.run(
        ["sh", "-c", script, "sh", *map(str, words)],
        input=b"[mysqld]\n",
        capture_output=True,
        env=environment,
        timeout=600,
        check=False,
    )
    assert ran.returncode == code, ran.stderr
    assert (ran.stderr.decode().count("\n"), says in ran.stderr.decode()) == (code // 2, True)


def test_audits_leave_out_by_file_too(mycnf: Mycnf, tmp_path: Path) -> None:
    """A rule that is left out for a file by its name reports none of its lines, and still what has no line."""

    def places() -> list[tuple[str, str | None]]:
        report = json.loads(mycnf("audit", "--snapshot", SNAPSHOT, "--format", "json").out)
        return [(f["code"], f["path"]) for f in report["findings"]]

    before = places()
    (path,) = {path for code, path in before if code == "BUF001"}
    assert path is not None
    unplaced = next(code for code, where in before if where is None)
    config(tmp_path, f'[per-file-ignores]\n"{os.path.basename(path)}" = ["BUF", "{unplaced}"]\n')
    assert places() == [(c, p) for c, p in before if p is None or not (p == path and c.startswith("BUF"))]
    assert any(code == unplaced for code, _ in places())


def test_a_host_is_no_host_of_many_servers(mycnf: Mycnf, tmp_path: Path) -> None:
    """A configuration's host settings count in the report on one snapshot that has none, and not on many."""
    config(tmp_path, 'ram = "64M"\n')
    for name in ("a.json", "b.json"):
        save(replace(load(DEMO), host=None), str(tmp_path / name))
    assert "MEM001" in mycnf("report", "a.json", "--format", "json").out
    many = mycnf("report", "a.json", "b.json", "--format", "json")
    assert (json.loads(many.out)["snapshots"]["read"], "MEM001" in many.out) == (2, False)


def test_each_file_fails_by_its_own_configuration(mycnf: Mycnf, tmp_path: Path) -> None:
    """JUnit counts failures as the exit code does: of each file by the fail-on of its configuration."""
    for name, severity in (("strict", "note"), ("lax", "error")):
        (tmp_path / name).mkdir()
        (tmp_path / name / "my.cnf").write_text("[mysqld]\nread_buffer_size = 8M\n")
        (tmp_path / name / "mycnf.toml").write_text(f'target = "mysql-8.0"\nfail-on = "{severity}"\n')
    for files, code in ((("strict", "lax"), 1), (("lax", "strict"), 1), (("lax",), 0)):
        ended = mycnf("lint", *(f"{name}/my.cnf" for name in files), "--format", "junit")
        failures = [suite.get("failures") for suite in etree.fromstring(ended.out.encode()).iter("testsuite")]
        assert (ended.code, failures) == (code, ["1" if name == "strict" else "0" for name in files])


def test_secrets_of_house_rules(mycnf: Mycnf, tmp_path: Path) -> None:
    """A value that house rules allow for a secret is in no report, and no fix writes it."""
    (tmp_path / "my.cnf").write_text("[mysqld]\nreport_password = kanarienvogel-1\n")
    (tmp_path / "mycnf.toml").write_text('[house.report_password]\nallowed = ["kanarienvogel-2"]\n')
    for more in (("--format", "json"), ("--format", "text"), ("--unsafe-fixes", "--diff")):
        ended = mycnf("lint", "--target", "mysql-8.0", *more, "my.cnf")
        assert "kanarienvogel" not in f"{ended.out}{ended.err}"
        assert "--diff" in more or "the house rules allow ********" in " ".join(ended.out.split())
