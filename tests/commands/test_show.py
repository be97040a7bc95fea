"""`mycnf show` as its user runs it: the effective value of each option, and where it was set."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from probes.sandbox.binary import ask_help, help_values

if TYPE_CHECKING:
    from pathlib import Path

    from mycnf_command import Mycnf

    from probes.sandbox import Binary

FIELDS = ("value", "running", "note", "raw", "file", "line", "group", "overridden")
CANARY = "kanarienvogel-7391"


def options(mycnf: Mycnf, *words: str | Path, target: str = "mysql-8.0", stdin: bytes = b"") -> dict[str, Any]:
    """The options that show prints as JSON."""
    ended = mycnf("show", "--target", target, "--format", "json", *words, stdin=stdin)
    assert ended.code == 0, ended.err
    report = json.loads(ended.out)
    assert report["version"] == 1
    assert report["target"].startswith(target)
    found: dict[str, Any] = report["options"]
    return found


def test_json_fields(mycnf: Mycnf, tmp_path: Path) -> None:
    """An option is shown by its canonical name, with the server's value, the raw one, and its place."""
    (tmp_path / "my.cnf").write_text("[mysqld]\n\nread-buffer-size = 128K\n")
    assert options(mycnf, "my.cnf") == {
        "read_buffer_size": {
            "value": "131072", "running": None, "note": None, "raw": "128K", "file": "my.cnf", "line": 3,
            "group": "mysqld", "overridden": [],
        }
    }  # fmt: skip


def test_later_files_win(mycnf: Mycnf, tmp_path: Path) -> None:
    """Several files are read in order as one: the last setting counts, and those that it overrides are listed."""
    (tmp_path / "a.cnf").write_text("[mysqld]\nmax_connections = 100\nport = 3307\n[server]\nmax_connections = 200\n")
    (tmp_path / "b.cnf").write_text("[mysqld]\nmax-connections = 300\n")
    found = options(mycnf, "a.cnf", "b.cnf")
    top = found["max_connections"]
    assert tuple(top) == FIELDS
    assert (top["value"], top["file"], top["line"]) == ("300", "b.cnf", 2)
    assert top["overridden"] == [
        {"raw": "100", "file": "a.cnf", "line": 2, "group": "mysqld"},
        {"raw": "200", "file": "a.cnf", "line": 5, "group": "server"},
    ]
    assert found["port"]["value"] == "3307"
    assert options(mycnf, "b.cnf", "a.cnf")["max_connections"]["value"] == "200"


def test_lines_that_collect(mycnf: Mycnf, tmp_path: Path) -> None:
    """Of an option whose lines add up the value is that of all of them, as servers show it."""
    (tmp_path / "my.cnf").write_text("[mysqld]\nreplicate_do_db = a\nreplicate_do_db = b\nbinlog_do_db = c\n")
    found = options(mycnf, "my.cnf")
    assert {name: o["value"] for name, o in found.items()} == {"replicate_do_db": "a,b", "binlog_do_db": "c"}
    assert "replicate_do_db  a,b  my.cnf:3\n" in mycnf("show", "--target", "mysql-8.0", "my.cnf").out


@pytest.mark.servers("mysql-8.0", "mysql-9.7", "mariadb-10.11")
def test_instruments_are_shown_as_servers_show_them(mycnf: Mycnf, tmp_path: Path, binary: Binary) -> None:
    """The lines of performance_schema_instrument add up too, but servers print the last one, MySQL its name alone."""
    file = tmp_path / "my.cnf"
    file.write_text("[mysqld]\nperformance_schema_instrument = '%=ON'\nperformance_schema_instrument = 'wait/%=OFF'\n")
    printed = help_values(ask_help(binary, file).stdout)["performance-schema-instrument"]
    found = json.loads(mycnf("show", "--target", str(binary.target), "--format", "json", "my.cnf").out)
    assert found["options"]["performance_schema_instrument"]["value"] == printed


def test_text_shows_the_same(mycnf: Mycnf, tmp_path: Path) -> None:
    """For people there is one line an option with its place, and one for each setting that was overridden."""
    (tmp_path / "my.cnf").write_text("[mysqld]\nmax_connections = 100\nmax_connections = 300\n")
    ended = mycnf("show", "--target", "mysql-8.0", "my.cnf")
    assert [line.split() for line in ended.out.splitlines() if "my.cnf" in line] == [
        ["max_connections", "300", "my.cnf:3"],
        ["100", "was", "overridden", "my.cnf:2"],
    ]
    assert ended.out.startswith("1 option set")
    assert ended.err == ""


@pytest.mark.parametrize(("target", "told"), [("mysql-8.0", True), ("mysql-8.0.15", False), ("mariadb-10.6", True)])
def test_text_tells_what_was_not_examined(mycnf: Mycnf, tmp_path: Path, target: str, *, told: bool) -> None:
    """Values of a version that no server was asked about are called likely, as in the report of lint."""
    (tmp_path / "my.cnf").write_text("[mysqld]\nmax_connections = 100\n")
    out = " ".join(mycnf("show", "--target", target, "my.cnf").out.split())
    assert out.endswith("itself was examined, so these values are likely, not certain.") == told


def test_parsed_is_not_running(mycnf: Mycnf, tmp_path: Path) -> None:
    """Where the server runs with another value than it parses, both are shown, in both formats."""
    (tmp_path / "my.cnf").write_text(
        "[mysqld]\ninnodb_buffer_pool_size = 512M\ninnodb_buffer_pool_instances = 8\nport = 3306\n"
    )
    found = options(mycnf, "my.cnf")
    instances = found["innodb_buffer_pool_instances"]
    assert (instances["value"], instances["running"]) == ("8", "1")
    assert found["port"]["running"] is None
    text = mycnf("show", "--target", "mysql-8.0", "my.cnf").out
    assert "8  (running: 1)" in text
    assert "536870912  (written: 512M)" in text
    assert text.count("running") == 1


def test_refused_lines_are_left_out(mycnf: Mycnf, tmp_path: Path) -> None:
    """What the server refuses has no value; a line that it refuses overrides nothing."""
    (tmp_path / "my.cnf").write_text("[mysqld]\nno_such_thing = 1\nmax_connections = 100\nmax_connections = 1.5\n")
    found = options(mycnf, "my.cnf")
    assert list(found) == ["max_connections"]
    assert found["max_connections"]["value"] == "100"


@pytest.mark.parametrize(
    ("target", "value"),
    [("mysql-5.7", "1"), ("mysql-8.0", "2"), ("mysql-8.4", "1"), ("mariadb-10.11", "3"), ("mariadb-11.4", "1")],
)
def test_group_of_a_series_counts_for_that_series_only(mycnf: Mycnf, tmp_path: Path, target: str, value: str) -> None:
    """[mysqld] is read by all, [mysqld-8.0] and [mariadb-10.11] by one series each, [client] by no server."""
    (tmp_path / "my.cnf").write_text(
        "[mysqld]\nserver_id=1\n[mysqld-8.0]\nserver_id=2\n[mariadb-10.11]\nserver_id=3\n[client]\nserver_id=4\n"
    )
    assert options(mycnf, "my.cnf", target=target)["server_id"]["value"] == value


def test_includes_are_shown_with_their_own_path(mycnf: Mycnf, tmp_path: Path) -> None:
    """A setting from an included file names that file; --root maps absolute includes."""
    conf_d = tmp_path / "repo" / "etc" / "nowhere-else"
    conf_d.mkdir(parents=True)
    (conf_d / "b.cnf").write_text("[mysqld]\nport = 3307\n")
    (tmp_path / "repo" / "my.cnf").write_text("[mysqld]\nport = 3306\n!includedir /etc/nowhere-else\n")
    found = options(mycnf, "--root", "repo", "repo/my.cnf")["port"]
    assert (found["value"], found["file"], found["line"]) == ("3307", "repo/etc/nowhere-else/b.cnf", 2)
    assert [x["file"] for x in found["overridden"]] == ["repo/my.cnf"]


def test_include_that_is_missing_is_reported(mycnf: Mycnf, tmp_path: Path) -> None:
    """What the answer doesn't hold, because an include isn't here, stands on stderr with its place."""
    (tmp_path / "my.cnf").write_text("[mysqld]\nport = 3306\n!include /nowhere-else/b.cnf\n")
    ended = mycnf("show", "--target", "mysql-8.0", "my.cnf")
    assert ended.code == 0
    assert "my.cnf:3" in ended.err
    assert "/nowhere-else/b.cnf" in ended.err
    assert "port" in ended.out


def test_a_file_without_a_group_is_reported(mycnf: Mycnf, tmp_path: Path) -> None:
    """Nothing is set by a file without any group, and by the text of a server's variables: that is said."""
    (tmp_path / "variables.txt").write_text("Variable_name\tValue\nport\t3306\n")
    ended = mycnf("show", "--target", "mysql-8.0", "variables.txt")
    assert ended.code == 0
    assert "variables.txt: no group such as [mysqld]" in ended.err
    (tmp_path / "variables.txt").write_text("# nothing yet\n")
    assert mycnf("show", "--target", "mysql-8.0", "variables.txt").err == ""


def test_stdin_among_the_files(mycnf: Mycnf, tmp_path: Path) -> None:
    """- reads stdin in its place among the files."""
    (tmp_path / "a.cnf").write_text("[mysqld]\nport = 3307\nserver_id = 1\n")
    found = options(mycnf, "a.cnf", "-", stdin=b"[mysqld]\nport = 3308\n")
    assert (found["port"]["value"], found["port"]["file"]) == ("3308", "<stdin>")
    assert found["server_id"]["file"] == "a.cnf"


def test_flavour_is_guessed_from_all_files(mycnf: Mycnf, tmp_path: Path) -> None:
    """Without --target a group of the second file shows the flavour too, and stderr says what was assumed."""
    (tmp_path / "a.cnf").write_text("[mysqld]\nport = 3306\n")
    (tmp_path / "b.cnf").write_text("[mariadb]\nport = 3307\n")
    ended = mycnf("show", "--format", "json", "a.cnf", "b.cnf")
    assert json.loads(ended.out)["target"].startswith("mariadb-")
    assert json.loads(ended.out)["options"]["port"]["value"] == "3307"
    assert "[mariadb]" in ended.err


@pytest.mark.parametrize("form", ["text", "json"])
def test_secrets_are_masked(mycnf: Mycnf, tmp_path: Path, form: str) -> None:
    """A secret prints as asterisks, the overridden one and one inside a statement too."""
    (tmp_path / "my.cnf").write_text(
        f"[mysqld]\nreport_password = old-{CANARY}\nreport_password = {CANARY}\n"
        f"init_connect = \"SET PASSWORD = '{CANARY}'\"\n"
    )
    ended = mycnf("show", "--target", "mysql-8.0", "--format", form, "my.cnf")
    assert ended.code == 0
    assert CANARY not in ended.out + ended.err
    assert ended.out.count("********") >= 3


def test_output_file(mycnf: Mycnf, tmp_path: Path) -> None:
    """-o writes what stdout would show, and leaves stdout empty."""
    (tmp_path / "my.cnf").write_text("[mysqld]\nport = 3306\n")
    words = ("show", "--target", "mysql-8.0", "--format", "json", "my.cnf")
    ended = mycnf(*words, "-o", "shown.json")
    assert (ended.code, ended.out) == (0, "")
    assert (tmp_path / "shown.json").read_text() == mycnf(*words).out


def test_file_that_cannot_be_read(mycnf: Mycnf, tmp_path: Path) -> None:
    """Files that are read as one have no answer without one of them: one line, exit code 2, stdout empty."""
    (tmp_path / "my.cnf").write_text("[mysqld]\nport = 3306\n")
    for missing in ("nowhere.cnf", str(tmp_path)):
        ended = mycnf("show", "--target", "mysql-8.0", "my.cnf", missing)
        assert (ended.code, ended.out) == (2, "")
        assert missing in ended.err
        assert len(ended.err.splitlines()) == 1


def test_the_host_decides(mycnf: Mycnf, tmp_path: Path) -> None:
    """Where the operating system's limits, processors or disks decide, that is said, in both formats."""
    (tmp_path / "my.cnf").write_text(
        "[mysqld]\nopen_files_limit = 70000\nmax_connections = 3000\ntable_open_cache = 400\n"
        "innodb_buffer_pool_size = 8G\nback_log = 50\n"
    )
    found = options(mycnf, "my.cnf", target="mysql-9.7")
    assert "operating system" in found["open_files_limit"]["note"]
    assert "3,810 files" in found["max_connections"]["note"]  # 10, the connections, and two for each of 400 tables
    assert "processors" in found["innodb_buffer_pool_size"]["note"]
    assert found["innodb_buffer_pool_size"]["running"] is None
    assert found["back_log"]["note"] is None
    text = " ".join(mycnf("show", "--target", "mysql-9.7", "my.cnf").out.split())
    assert found["max_connections"]["note"] in text
    few = tmp_path / "few.cnf"
    few.write_text("[mysqld]\nmax_connections = 100\ntable_open_cache = 400\n")
    assert {entry["note"] for entry in options(mycnf, few).values()} == {None}


def test_text_fits_the_page(mycnf: Mycnf, tmp_path: Path) -> None:
    """Lists are wrapped, places that don't fit stand below, and lines left out are counted."""
    (tmp_path / "my.cnf").write_text(
        "[mysqld]\noptimizer_switch = mrr=off\nsql_mode =\nread_only = maybe\nno_such_option\nuser = mysql\n"
    )
    text = mycnf("show", "--target", "mysql-9.7", "my.cnf").out
    assert all(len(line) <= 80 for line in text.splitlines())
    assert "sql_mode          (empty)" in text
    assert "FALSE  (written: maybe)" in text
    assert "user              mysql" in text
    assert "1 line is skipped, because the server refuses or ignores it: mycnf lint shows\nthe reason." in text


def test_lines_of_unknown_names_are_counted(mycnf: Mycnf, tmp_path: Path) -> None:
    """What a newer server, or another vendor's, may have is left out, and the report says so."""
    (tmp_path / "my.cnf").write_text("[mysqld]\nnever_heard_of = 1\nport = 3306\nuserstat = 1\n")
    text = " ".join(mycnf("show", "--target", "mysql-27.1", "my.cnf").out.split())
    assert "2 lines are skipped, because it is not known whether the server has the options" in text
    text = " ".join(mycnf("show", "--target", "mysql-8.0", "my.cnf").out.split())
    assert "1 line is skipped, because the server refuses or ignores it" in text
    assert "1 line is skipped, because it is not known whether the server has the option: mycnf lint shows it." in text
