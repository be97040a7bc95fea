"""`mycnf upgrade` as its user runs it: what a move would stop, change and leave."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from mycnf_command import CHECKOUT, Ended, Mycnf
from referencing import Registry, Resource

CANARY = "kanarienvogel-7391"
WAY = ("--from", "mysql-5.7", "--to", "mysql-8.4")
OLD = "[mysqld]\nport = 3307\nquery_cache_size = 64M\nexpire_logs_days = 7\nno_such_thing\n"


@pytest.fixture(scope="session")
def validator() -> Draft202012Validator:
    """The published schema, with the one that it refers to."""
    names = [f"{name}.schema.json" for name in ("upgrade", "lint")]
    contents = {name: json.loads((CHECKOUT / "schemas" / name).read_text()) for name in names}
    known: Registry[Any] = Registry().with_resources((n, Resource.from_contents(c)) for n, c in contents.items())
    Draft202012Validator.check_schema(contents["upgrade.schema.json"])
    return Draft202012Validator(contents["upgrade.schema.json"], registry=known)


def ran(mycnf: Mycnf, tmp_path: Path, text: str, *words: str, way: tuple[str, ...] = WAY) -> Ended:
    """Upgrade of a file with that text."""
    (tmp_path / "my.cnf").write_text(text)
    return mycnf("upgrade", *way, *words, "my.cnf")


def test_what_stops_comes_first(mycnf: Mycnf, tmp_path: Path) -> None:
    """The first lines say how much stops and changes; then come the refused lines, with what to write instead."""
    ended = ran(mycnf, tmp_path, OLD)
    assert (ended.code, ended.err) == (1, "")
    defaults = json.loads(ran(mycnf, tmp_path, OLD, "--format", "json").out)["defaults"]
    weighty = sum(d["severity"] == "warning" for d in defaults)
    speed = len(defaults) - weighty - sum(d["area"] == "rest" for d in defaults)
    little = sum(d["area"] == "rest" for d in defaults)
    assert ended.out.splitlines()[:14] == [
        "mycnf upgrade · MySQL 5.7.44 → MySQL 8.4.8 · my.cnf · 4 options",
        "",
        "  configuration only: schema and data are not checked",
        "  MySQL supports no upgrade that skips 8.0: go 5.7 → 8.0 → 8.4, and check each",
        "  step.",
        "  why: PATH-MYSQL-01, Oracle MySQL: Upgrade Paths",
        "  3 lines stop the server, 1 of them the old one too",
        f"  changed defaults: {weighty} for data, accounts or replicas, {speed} for memory and speed,",
        f"  {little} of little weight",
        "",
        "error  line 3  query_cache_size = 64M  removed in 8.0.3.",
        "error  line 4  expire_logs_days = 7  removed in 8.2.0.",
        "  write:  binlog_expire_logs_seconds = 604800",
        "",
    ]
    assert "\nRefused by MySQL 5.7.44 already\nerror  line 5  no_such_thing  Unknown option" in ended.out


@pytest.mark.parametrize(
    "way", [("--from", "mariadb-10.11", "--to", "mysql-8.4"), ("--from", "mysql-8.4", "--to", "mariadb-10.11")]
)
def test_a_group_that_goes_unread_is_reported_once(mycnf: Mycnf, tmp_path: Path, way: tuple[str, ...]) -> None:
    """All its lines are listed, and the sentence about the group stands at the first."""
    text = "[galera]\nwsrep_on=ON\nbinlog_format=ROW\n[mysqld]\nport=3306\n[galera]\ninnodb_autoinc_lock_mode=2\n"
    out = " ".join(ran(mycnf, tmp_path, text, way=way).out.split())
    assert out.count("does not read the group [galera]") == 1
    assert all(f"line {number}" in out for number in (2, 3, 7))


def test_data_comes_before_speed(mycnf: Mycnf, tmp_path: Path) -> None:
    """Defaults that change data stand before those of speed; those of little weight are counted until --all."""
    short = ran(mycnf, tmp_path, "[mysqld]\n").out
    assert short.index("  character_set_server") < short.index("  log_bin") < short.index("innodb_io_capacity ")
    assert "    keep:  character_set_server = latin1\n" in short
    assert "symbolic_links" not in short
    assert "more defaults change little" in short
    whole = ran(mycnf, tmp_path, "[mysqld]\n", "--all").out
    assert "  symbolic_links  ON → OFF\n" in whole
    assert "    keep:  innodb_io_capacity = 200\n" in whole


def test_lines_to_paste(mycnf: Mycnf, tmp_path: Path) -> None:
    """--keep-lines prints a group of an option file with a comment above each line, --all all lines; exits as ever."""
    fragments = {}
    for words in ((), ("--all",)):
        ended = ran(mycnf, tmp_path, OLD, "--keep-lines", *words)
        assert (ended.code, ended.err) == (1, "")
        fragments[words] = ended.out.splitlines()
        count = sum(not x.startswith("#") for x in fragments[words] if x) - 1
        assert f"--keep-lines prints the {count} lines" in " ".join(ran(mycnf, tmp_path, OLD, *words).out.split())
    assert fragments[()].count("[mysqld]") == 1
    at = fragments[()].index("character_set_server = latin1")
    assert fragments[()][at - 3 : at] == [
        "# character_set_server: latin1 → utf8mb4",
        "# New databases, and the tables in them, get this character set unless they",
        "# specify another one; existing ones keep theirs.",
    ]
    assert ("symbolic_links = ON" in fragments[()], "symbolic_links = ON" in fragments["--all",]) == (False, True)


def test_no_lines_to_paste(mycnf: Mycnf, tmp_path: Path) -> None:
    """Where no default changes that is a comment, so that the output is an option file all the same."""
    ended = ran(mycnf, tmp_path, "", "--keep-lines", way=("--from", "mysql-8.0", "--to", "mysql-8.0"))
    scope = "# configuration only: schema and data are not checked\n"
    assert (ended.code, ended.out) == (0, f"{scope}# MySQL 8.0.43 → MySQL 8.0.43: no default changes.\n")


def test_the_page_is_80_columns_wide(mycnf: Mycnf, tmp_path: Path) -> None:
    """No line is longer, but for lines to be copied, which are never broken."""
    for way in (WAY, ("--from", "mysql-5.7", "--to", "mariadb-11.8"), ("--from", "mariadb-10.6", "--to", "mysql-9.7")):
        for words in ((), ("--all",)):
            long = [x for x in ran(mycnf, tmp_path, OLD, *words, way=way).out.splitlines() if len(x) > 80]
            assert [x for x in long if not x.startswith("    keep:  ")] == []
        pasted = ran(mycnf, tmp_path, OLD, "--keep-lines", "--all", way=way).out.splitlines()
        assert [x for x in pasted if len(x) > 80 and x.startswith("#")] == []


@pytest.mark.parametrize(
    ("text", "fail_on", "code"),
    [
        (OLD, "error", 1),
        (OLD, "never", 0),
        ("[mysqld]\n", "error", 0),
        ("[mysqld]\n", "warning", 1),
        ("[mysqld]\n", "note", 1),
    ],
)
def test_exit_codes(mycnf: Mycnf, tmp_path: Path, text: str, fail_on: str, code: int) -> None:
    """1 from --fail-on up; by default only a line at which the new server stops counts."""
    assert ran(mycnf, tmp_path, text, "--fail-on", fail_on).code == code
    if fail_on == "error":
        assert ran(mycnf, tmp_path, text).code == code


def test_a_move_that_changes_nothing(mycnf: Mycnf, tmp_path: Path) -> None:
    """From a server to itself there is nothing to report, and even --fail-on note is content."""
    way = ("--from", "mysql-8.0", "--to", "mysql-8.0")
    ended = ran(mycnf, tmp_path, "[mysqld]\nport = 3307\n", "--fail-on", "note", way=way)
    assert ended.code == 0
    assert ended.out.splitlines()[3:] == ["  no line of the files stops the server", "  no default changes"]


def test_a_line_that_cannot_be_judged_is_counted(mycnf: Mycnf, tmp_path: Path) -> None:
    """Where a line is left unjudged, the report doesn't say that no line stops the server."""
    out = " ".join(ran(mycnf, tmp_path, "[mysqld]\nthread_pool_oversubscribe = 4\n").out.split())
    assert "no line of the files is known to stop the server, 1 line cannot be judged" in out
    assert "Lines that mycnf cannot judge" in out


@pytest.mark.parametrize("way", [WAY, ("--from", "mariadb-10.11", "--to", "mysql-9.7")])
@pytest.mark.parametrize("file", ["bad.cnf", "refused.cnf"])
def test_json_keeps_to_the_schema(
    mycnf: Mycnf, validator: Draft202012Validator, way: tuple[str, ...], file: str
) -> None:
    """What is printed as JSON is what schemas/ publishes."""
    ended = mycnf("upgrade", *way, "--format", "json", CHECKOUT / "examples" / file)
    report = json.loads(ended.out)
    validator.validate(report)
    assert report["version"] == 1
    assert report["lines"]
    assert report["defaults"]


def test_json_fields(mycnf: Mycnf, tmp_path: Path) -> None:
    """A line has its place, both verdicts and the line to write; a default both values and the line to keep it."""
    way = ("--from", "mysql-5.7", "--to", "mysql-9.7")
    report = json.loads(ran(mycnf, tmp_path, OLD, "--format", "json", way=way).out)
    assert (report["from"], report["to"], report["files"]) == ("mysql-5.7.44", "mysql-9.7.4", ["my.cnf"])
    assert report["lines"][1] == {
        "change": "renamed", "severity": "error", "confidence": "certain",
        "path": "my.cnf", "line": 4, "column": 1, "end_line": 4, "end_column": 21,
        "group": "mysqld", "option": "expire_logs_days", "canonical": "expire_logs_days", "raw": "7",
        "from": {"outcome": "accepted", "value": "7", "running": None},
        "to": {"outcome": "removed", "value": None, "running": None},
        "message": "expire_logs_days was removed in 8.2.0.", "write": "binlog_expire_logs_seconds = 604800",
    }  # fmt: skip
    (change,) = [d for d in report["defaults"] if d["option"] == "log_replica_updates"]
    assert (change["formerly"], change["from"], change["to"]) == ("log_slave_updates", "OFF", "ON")
    assert change["keep"] == "log_replica_updates = OFF"


def test_several_files_and_stdin_are_one(mycnf: Mycnf, tmp_path: Path) -> None:
    """Files are read in order as one, - among them, so that what one of them sets is no default any more."""
    (tmp_path / "a.cnf").write_text("[mysqld]\nsql_mode = ANSI\n")
    words = ("upgrade", "--from", "mysql-5.7", "--to", "mysql-8.0", "--format", "json", "a.cnf", "-")
    report = json.loads(mycnf(*words, stdin=b"[mysqld]\nquery_cache_size = 1M\n").out)
    assert report["files"] == ["a.cnf", "<stdin>"]
    assert [(x["path"], x["line"]) for x in report["lines"]] == [("<stdin>", 2)]
    assert "sql_mode" not in {d["option"] for d in report["defaults"]}


def test_includes(mycnf: Mycnf, tmp_path: Path) -> None:
    """Lines of included files count and name their file, --root maps absolute ones, and missing ones are reported."""
    conf_d = tmp_path / "repo" / "etc" / "nowhere-else"
    conf_d.mkdir(parents=True)
    (conf_d / "b.cnf").write_text("[mysqld]\nquery_cache_size = 1M\n")
    (tmp_path / "repo" / "my.cnf").write_text("[mysqld]\n!includedir /etc/nowhere-else\n!include /not/here.cnf\n")
    ended = mycnf("upgrade", *WAY, "--root", "repo", "repo/my.cnf")
    assert "error  repo/etc/nowhere-else/b.cnf:2  query_cache_size = 1M  removed" in ended.out
    assert "/not/here.cnf" in ended.err


def test_output_file(mycnf: Mycnf, tmp_path: Path) -> None:
    """-o writes what stdout would show."""
    shown = ran(mycnf, tmp_path, OLD)
    ended = ran(mycnf, tmp_path, OLD, "-o", "moved.txt")
    assert (ended.code, ended.out) == (1, "")
    assert (tmp_path / "moved.txt").read_text() == shown.out


@pytest.mark.parametrize("form", ["text", "json"])
def test_secrets_are_masked(mycnf: Mycnf, tmp_path: Path, form: str) -> None:
    """No secret is printed, with any effect of its line."""
    text = (
        f"[mysqld]\nreport_password = {CANARY}\nmaster_password = {CANARY}\nreport_pasword = {CANARY}\n"
        f"[mariadb]\nreport_password = {CANARY}\n[mysqld]\ninit_slave = \"SET PASSWORD = '{CANARY}'\"\n"
    )
    for way in (WAY, ("--from", "mariadb-10.11", "--to", "mysql-9.7"), ("--from", "mysql-9.7", "--to", "mariadb-11.8")):
        ended = ran(mycnf, tmp_path, text, "--format", form, way=way)
        assert ended.code in (0, 1)
        assert CANARY not in ended.out + ended.err


def test_a_terminal_is_safe(mycnf: Mycnf, tmp_path: Path) -> None:
    """Control characters of a file never reach the terminal."""
    text = "[mysqld]\nquery_cache_size = \x1b[31m1\nno_such\x07thing = 1\n[maria\x1bdb]\nport = 1\n"
    ended = ran(mycnf, tmp_path, text)
    assert "\x1b" not in ended.out + ended.err
    assert "\x07" not in ended.out + ended.err


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--from", "mysql-5.7", "my.cnf"), "--to"),
        (("--from", "mysql-5.7", "--to", "oracle-23", "my.cnf"), "oracle-23"),
        (("--from", "5.7", "--to", "mysql-8.4", "my.cnf"), "5.7"),
        ((*WAY, "nowhere.cnf"), "nowhere.cnf"),
        ((*WAY, "."), "directory"),
        ((*WAY, "--format", "sarif", "my.cnf"), "sarif"),
        ((*WAY, "--format", "json", "--keep-lines", "my.cnf"), "--keep-lines"),
        (WAY, "FILE"),
    ],
)
def test_bad_input(mycnf: Mycnf, tmp_path: Path, words: tuple[str, ...], message: str) -> None:
    """Wrong usage and unreadable files end with one line, exit code 2 and nothing on stdout."""
    (tmp_path / "my.cnf").write_text(OLD)
    ended = mycnf("upgrade", *words)
    assert (ended.code, ended.out) == (2, "")
    assert message in ended.err
    assert len(ended.err.splitlines()) == 1


def test_a_version_without_a_catalog(mycnf: Mycnf, tmp_path: Path) -> None:
    """A newer series is read with the nearest lower one, and that is said."""
    ended = ran(mycnf, tmp_path, OLD, way=("--from", "mysql-5.7", "--to", "mysql-26.1"))
    assert "MySQL 9.7.4" in ended.err
    assert "MySQL 26.1" in ended.out


WINDOWS = "[mysqld]\ndatadir = C:/ProgramData/MySQL/Data\nshared_memory = ON\nnamed_pipe = ON\n"


@pytest.mark.parametrize(("words", "unknown"), [((), []), (("--platform", "linux"), ["shared_memory", "named_pipe"])])
def test_the_platform_of_the_files(mycnf: Mycnf, tmp_path: Path, words: tuple[str, ...], unknown: list[str]) -> None:
    """Options of Windows are in a file with its paths; no default of Linux is named, and none is certain."""
    way = ("--from", "mysql-5.7", "--to", "mysql-9.7")
    made = json.loads(ran(mycnf, tmp_path, WINDOWS, *words, "--format", "json", "--all", way=way).out)
    assert [line["option"] for line in made["lines"] if line["change"] == "not-examined"] == unknown
    defaults = {one["option"]: one["confidence"] for one in made["defaults"]}
    assert ("innodb_flush_method" in defaults) is bool(words)
    assert ("certain" in defaults.values()) is bool(words)


def test_show_and_diff_read_the_platform(mycnf: Mycnf, tmp_path: Path) -> None:
    """A file with paths of Windows is read for Windows by `show` and `diff` too if --target names a series."""
    (tmp_path / "my.cnf").write_text(WINDOWS)
    shown = mycnf("show", "--target", "mysql-8.0", "my.cnf")
    assert "shared_memory" in shown.out
    compared = mycnf("diff", "my.cnf", "mysql-8.0", "--target", "mysql-8.0")
    assert "left out" not in compared.err
