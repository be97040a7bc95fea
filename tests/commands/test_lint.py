"""`mycnf lint` as its user runs it: what is checked, what is chosen, what is printed, and the exit code."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from advisor.__main__ import main
from advisor.commands import lint
from advisor.core import errors

if TYPE_CHECKING:
    from pathlib import Path

    from mycnf_command import Ended, Mycnf

# An error (OPT001), a warning (CON002) and a note (OPT012), each on its own line.
MIXED = """[mysqld]
no_such_thing = 1
thread_stack = 192K
max_connections = 200
max_connections = 200
"""
NOTE_ONLY = "[mysqld]\nmax_connections = 200\nmax_connections = 200\n"
FIELDS = (
    *("code", "name", "severity", "confidence", "group", "option", "canonical", "value", "path"),
    *("line", "column", "end_line", "end_column", "message", "help", "url", "evidence", "fix"),
)
CANARY = "kanarienvogel-7391"


@pytest.fixture
def mixed(tmp_path: Path) -> str:
    """The name of a file with a finding of each severity, in the folder where mycnf runs."""
    (tmp_path / "mixed.cnf").write_text(MIXED)
    return "mixed.cnf"


def files(ended: Ended) -> list[dict[str, Any]]:
    """The entries of a JSON report."""
    report = json.loads(ended.out)
    assert report["version"] == 1
    found: list[dict[str, Any]] = report["files"]
    return found


def codes(ended: Ended) -> list[str]:
    """The codes that a JSON report holds, over all its entries."""
    return [f["code"] for entry in files(ended) for f in entry["findings"]]


def test_one_entry_for_each_file_and_target(mycnf: Mycnf, mixed: str, tmp_path: Path) -> None:
    """Several targets give an entry each; a series means its newest known patch, and each target its own words."""
    (tmp_path / "old.cnf").write_text("[mysqld]\nquery_cache_size = 0\n")
    targets = ("--target", "mysql-5.7", "--target", "mysql-8.0.36")
    ended = mycnf("lint", *targets, mixed, "old.cnf", "--format", "json")
    assert [(e["path"], e["target"].rpartition(".")[0]) for e in files(ended)] == [
        (mixed, "mysql-5.7"),
        (mixed, "mysql-8.0"),
        ("old.cnf", "mysql-5.7"),
        ("old.cnf", "mysql-8.0"),
    ]
    assert files(ended)[1]["target"] == "mysql-8.0.36"
    named = [{f["name"] for f in entry["findings"]} for entry in files(ended)]
    assert ("removed-option" in named[2], "removed-option" in named[3]) == (False, True)
    assert "small-thread-stack" in named[0]
    assert "small-thread-stack" in named[1]


def test_json_fields(mycnf: Mycnf) -> None:
    """Each finding has the contract's fields; the option is as written in lower case, columns count code points."""
    text = "[mysqld]\n  innodb-flush_method = 'ünknown'  # why\nno-such-thing=1\nskip-log-bin\n".encode()
    ended = mycnf("lint", "--target", "mysql-8.0", "--format", "json", "-", stdin=text)
    found = files(ended)[0]["findings"]
    assert all(tuple(f) == FIELDS for f in found)
    invalid, unknown = (next(f for f in found if f["line"] == n) for n in (2, 3))
    assert (invalid["name"], invalid["option"], invalid["canonical"]) == (
        "invalid-value", "innodb_flush_method", "innodb_flush_method",
    )  # fmt: skip
    assert (invalid["group"], invalid["severity"]) == ("mysqld", "error")
    assert (invalid["column"], invalid["end_line"]) == (3, 2)
    assert text.decode().split("\n")[1][2 : invalid["end_column"] - 1] == "innodb-flush_method = 'ünknown'"
    assert (unknown["option"], unknown["canonical"], unknown["value"]) == ("no_such_thing", None, "1")


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (("--select", "OPT001"), {"OPT001"}),
        (("--select", "opt001"), {"OPT001"}),
        (("--select", "unknown-option"), {"OPT001"}),
        (("--select", "CON"), {"CON002"}),
        (("--select", "CON,unknown-option"), {"CON002", "OPT001"}),
        (("--select", "CON", "--select", "OPT012"), {"CON002", "OPT012"}),
        (("--ignore", "OPT"), {"CON002"}),
        (("--ignore", "unknown-option,CON002"), {"OPT012"}),
        (("--select", "OPT", "--ignore", "OPT001"), {"OPT012"}),
    ],
)
def test_rules_are_chosen_by_code_name_and_family(
    mycnf: Mycnf, mixed: str, words: tuple[str, ...], expected: set[str]
) -> None:
    """--select and --ignore take codes, names and families in either case, alone, in lists and repeated."""
    assert set(codes(mycnf("lint", "--target", "mysql-8.0", "--format", "json", *words, mixed))) == expected


@pytest.mark.parametrize("word", ["--select", "--ignore"])
def test_word_that_names_no_rule(mycnf: Mycnf, mixed: str, word: str) -> None:
    """A word that names nothing is an error of usage, for what is ignored too."""
    ended = mycnf("lint", "--target", "mysql-8.0", word, "OPT001,no-such-rule", mixed)
    assert (ended.code, ended.out) == (2, "")
    assert "no-such-rule" in ended.err


@pytest.mark.parametrize("words", [("--select", "OPT001", "--ignore", "OPT"), ("--config", "own.toml")])
def test_a_selection_that_leaves_nothing(words: tuple[str, ...], mycnf: Mycnf, mixed: str, tmp_path: Path) -> None:
    """Where no rule is left to run, a file has not passed: one line says so, with exit code 2."""
    (tmp_path / "own.toml").write_text('select = "buf001"\nignore = ["BUF"]\n')
    ended = mycnf("lint", "--target", "mysql-8.0", *words, mixed)
    assert (ended.code, ended.out) == (2, "")
    assert ended.err == "mycnf: select and ignore leave no rule, so nothing would be checked; ignore fewer rules\n"


@pytest.mark.parametrize(
    ("fail_on", "only", "code"),
    [
        (None, "OPT001", 1),
        (None, "CON002", 1),
        (None, "OPT012", 0),
        ("error", "OPT001", 1),
        ("error", "CON002", 0),
        ("warning", "CON002", 1),
        ("warning", "OPT012", 0),
        ("note", "OPT012", 1),
        ("never", "OPT001", 0),
    ],
)
def test_exit_code_by_severity(mycnf: Mycnf, mixed: str, fail_on: str | None, only: str, code: int) -> None:
    """Findings at or above --fail-on, warnings by default, make the exit code 1; what is below is still printed."""
    words = ("--fail-on", fail_on) if fail_on else ()
    ended = mycnf("lint", "--target", "mysql-8.0", "--select", only, *words, mixed)
    assert ended.code == code
    assert only in ended.out


def test_exit_zero(mycnf: Mycnf, mixed: str) -> None:
    """--exit-zero forgives findings, but no file that could not be read."""
    assert mycnf("lint", "--target", "mysql-8.0", "--exit-zero", mixed).code == 0
    ended = mycnf("lint", "--target", "mysql-8.0", "--exit-zero", mixed, "nowhere.cnf")
    assert ended.code == 2
    assert "OPT001" in ended.out


def test_unknown_severity(mycnf: Mycnf, mixed: str) -> None:
    """A severity that isn't one is an error of usage."""
    assert mycnf("lint", "--fail-on", "fatal", mixed).code == 2


def test_statistics(mycnf: Mycnf, mixed: str, tmp_path: Path) -> None:
    """--statistics counts by rule over all files, most often first, and keeps the exit code."""
    (tmp_path / "more.cnf").write_text(NOTE_ONLY)
    ended = mycnf("lint", "--target", "mysql-8.0", "--statistics", mixed, "more.cnf")
    counted = [line.split() for line in ended.out.splitlines()]
    assert counted == [
        ["2", "OPT012", "duplicate-option"],
        ["1", "CON002", "small-thread-stack"],
        ["1", "OPT001", "unknown-option"],
    ]
    assert ended.code == 1


@pytest.mark.parametrize("form", ["text", "concise", "json"])
def test_output_file_holds_what_stdout_would(mycnf: Mycnf, mixed: str, tmp_path: Path, form: str) -> None:
    """-o writes the same report in the old one's place, leaves stdout empty and no other file, and keeps the code."""
    words = ("lint", "--target", "mysql-8.0", "--format", form, mixed)
    report = tmp_path / "out" / "report"
    report.parent.mkdir()
    report.write_text("old")
    ended = mycnf(*words, "-o", report)
    assert (ended.code, ended.out) == (1, "")
    assert report.read_text() == mycnf(*words).out
    assert list(report.parent.iterdir()) == [report]


def test_stdin_under_another_name(mycnf: Mycnf, tmp_path: Path) -> None:
    """A file from stdin is reported, and finds its includes, under the name that is given, which needn't exist."""
    (tmp_path / "conf.d").mkdir()
    (tmp_path / "conf.d" / "a.cnf").write_text("[mysqld]\nno_such_thing = 1\n")
    text = b"!includedir conf.d\n[mysqld]\nthread_stack = 192K\n"
    words = ("--target", "mysql-8.0", "--format", "json", "--select", "OPT001,CON002")
    ended = mycnf("lint", *words, "--stdin-filename", "db1.cnf", "-", stdin=text)
    assert [e["path"] for e in files(ended)] == ["db1.cnf"]
    assert {(f["code"], f["path"]) for f in files(ended)[0]["findings"]} == {
        ("OPT001", "conf.d/a.cnf"),
        ("CON002", "db1.cnf"),
    }
    assert [e["path"] for e in files(mycnf("lint", *words, "-", stdin=text))] == ["<stdin>"]


def test_root_maps_absolute_includes(mycnf: Mycnf, tmp_path: Path) -> None:
    """With --root an absolute include is read below it, and reported with its own path; without, it is a note."""
    conf_d = tmp_path / "repo" / "etc" / "nowhere-else" / "conf.d"
    conf_d.mkdir(parents=True)
    (conf_d / "b.cnf").write_text("[mysqld]\nno_such_thing = 1\n")
    (conf_d / "b.txt").write_text("[mysqld]\nno_such_text = 1\n")
    (tmp_path / "repo" / "my.cnf").write_text("[mysqld]\nport = 3306\n!includedir /etc/nowhere-else/conf.d\n")
    words = ("lint", "--target", "mysql-8.0", "--format", "json", "repo/my.cnf")
    mapped = files(mycnf(*words, "--root", "repo"))
    assert [(f["code"], f["path"], f["line"]) for e in mapped for f in e["findings"]] == [
        ("OPT001", "repo/etc/nowhere-else/conf.d/b.cnf", 2)
    ]
    assert mapped[0]["path"] == "repo/my.cnf"
    bare = mycnf(*words)
    assert [(f["name"], f["severity"], f["line"]) for f in files(bare)[0]["findings"]] == [
        ("include-problem", "note", 3)
    ]
    assert bare.code == 0


def test_each_file_is_checked_separately(mycnf: Mycnf, tmp_path: Path) -> None:
    """An option of one FILE neither repeats nor overrides that of another."""
    for name in ("a.cnf", "b.cnf"):
        (tmp_path / name).write_text("[mysqld]\nmax_connections = 200\n")
    ended = mycnf("lint", "--target", "mysql-8.0", "--format", "json", "--fail-on", "note", "a.cnf", "b.cnf")
    assert (ended.code, codes(ended)) == (0, [])


def test_group_of_a_series_is_read_by_that_series_only(mycnf: Mycnf, tmp_path: Path) -> None:
    """What is under [mysqld-8.0] is judged for 8.0 and is silent for every other server."""
    (tmp_path / "my.cnf").write_text("[mysqld-8.0]\nno_such_thing = 1\n[mariadb-10.11]\nno_such_thing_2 = 1\n")
    targets = ("mysql-5.7", "mysql-8.0", "mysql-8.4", "mariadb-10.11", "mariadb-11.4")
    words = [word for target in targets for word in ("--target", target)]
    ended = mycnf("lint", "--format", "json", "--select", "OPT001", *words, "my.cnf")
    assert [[f["line"] for f in e["findings"]] for e in files(ended)] == [[], [2], [], [4], []]


def test_home_is_a_usual_place(mycnf: Mycnf, tmp_path: Path) -> None:
    """Without a FILE this host's own option files are checked, ~/.my.cnf among them, and stderr names them."""
    own = tmp_path / "home" / ".my.cnf"
    own.parent.mkdir()
    own.write_text("[mysqld]\nno_such_thing = 1\n")
    ended = mycnf("lint", "--target", "mysql-8.0", "--format", "json")
    assert str(own) in ended.err
    entry = files(ended)[-1]
    assert entry["path"] == str(own)
    assert "OPT001" in {f["code"] for f in entry["findings"]}


def test_no_file_in_any_usual_place(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Where none of the usual files exists, one line names the places and what to do, with exit code 2."""
    # The places under /etc are the host's: others replace them, so that this passes on hosts that have them.
    places = (str(tmp_path / "etc" / "my.cnf"), "~/.my.cnf")
    monkeypatch.setattr(lint, "DEFAULT_FILES", places)
    monkeypatch.setenv("HOME", str(tmp_path))
    assert main(["lint"]) == errors.USAGE
    out, err = capsys.readouterr()
    assert out == ""
    assert len(err.splitlines()) == 1
    assert all(place in err for place in (*places, "stdin"))


@pytest.mark.parametrize(("pool", "severity"), [("32G", "error"), ("15G", "warning"), ("8G", None)])
def test_ram_option_makes_host_rules_run(mycnf: Mycnf, tmp_path: Path, pool: str, severity: str | None) -> None:
    """--ram gives the rules about memory what they need: a pool beyond it is an error, one within is fine."""
    (tmp_path / "my.cnf").write_text(f"[mysqld]\ninnodb_buffer_pool_size = {pool}\n")
    words = ("lint", "--target", "mysql-8.0", "--format", "json", "my.cnf")
    found = [f for e in files(mycnf(*words, "--ram", "16G")) for f in e["findings"] if f["code"] == "MEM001"]
    assert [f["severity"] for f in found] == ([severity] if severity else [])
    assert "MEM001" not in codes(mycnf(*words))


BAD_HOSTS = [
    *(("--ram", "plenty"), ("--ram", "9" * 400), ("--cpus", "many"), ("--cpus", "0"), ("--cpus", "99999999999")),
    *(("--disk", "tape"), ("--ram", "8")),
]


@pytest.mark.parametrize("words", BAD_HOSTS)
def test_host_that_is_none(mycnf: Mycnf, mixed: str, words: tuple[str, str]) -> None:
    """A size, count or kind of disk that is none is one line, with exit code 2."""
    ended = mycnf("lint", "--target", "mysql-8.0", *words, mixed)
    assert (ended.code, ended.out) == (2, "")
    assert len(ended.err.splitlines()) == 1


def test_selected_rule_that_is_skipped_is_reported(mycnf: Mycnf, mixed: str) -> None:
    """Skipped is not passed: selecting a rule that needs a host or a server gives a message."""
    words = ("lint", "--target", "mysql-8.0", "--select", "MEM001,VER002")
    lines = mycnf(*words, mixed).err.splitlines()
    assert [("MEM001" in line, "VER002" in line) for line in lines] == [(False, True), (True, False)]
    assert "--ram" in lines[1]
    assert "MEM001" not in mycnf(*words, "--ram", "16G", mixed).err
    assert mycnf("lint", "--target", "mysql-8.0", mixed).err == ""


@pytest.mark.parametrize("form", ["text", "concise", "json"])
def test_secrets_are_masked(mycnf: Mycnf, tmp_path: Path, form: str) -> None:
    """No secret is in any report: not in a value, a line that is shown, a comment, or a statement."""
    (tmp_path / "my.cnf").write_text(
        f"[mysqld]\nreport_password = {CANARY}\nreport_password = old-{CANARY}\n"
        f"init_connect = \"SET PASSWORD = '{CANARY}'\" # was password={CANARY}\n"
        f"no_such_password = {CANARY}\nmax_connections = many # password={CANARY}\n"
        f"[client]\npassword = {CANARY}\n"
    )
    ended = mycnf("lint", "--target", "mysql-8.0", "--format", form, "my.cnf")
    assert "plaintext-secret" in ended.out
    assert CANARY not in ended.out + ended.err


def test_a_group_that_goes_unread_is_judged_as_what_it_would_be(mycnf: Mycnf, tmp_path: Path) -> None:
    """A mistyped group is reported once; its lines are likely findings, no errors, and nothing in them is fixed."""
    text = "[mysld]\nquery_cache_size = 1M\nread_only = yes\n[mysqld]\nport = 3306\n"
    (tmp_path / "my.cnf").write_text(text)
    ended = mycnf("lint", "--target", "mysql-9.7.4", "--format", "json", "--fix", "my.cnf")
    found = {f["code"]: f for f in files(ended)[0]["findings"]}
    assert set(found) == {"OPT020", "OPT007", "OPT006"}
    assert found["OPT020"]["help"] == "did you mean [mysqld]?"
    for code in ("OPT007", "OPT006"):
        assert (found[code]["severity"], found[code]["confidence"]) == ("warning", "likely")
        assert (found[code]["group"], found[code]["fix"]) == ("mysld", None)
        assert found[code]["message"].startswith("If the server read [mysld]: ")
    assert (tmp_path / "my.cnf").read_text() == text


def test_servers_that_share_a_place_are_reported_once(mycnf: Mycnf, tmp_path: Path) -> None:
    """Groups of mysqld_multi are judged as if they were read, and what they share is no finding of each group."""
    places = [f"datadir = /data/{n}\nsocket = /run/{n}.sock\nport = 3306\n" for n in (1, 2)]
    (tmp_path / "my.cnf").write_text(f"[mysqld1]\n{places[0]}[mysqld2]\n{places[1]}")
    ended = mycnf("lint", "--target", "mysql-9.7.4", "--format", "json", "my.cnf")
    (shared,) = [f["message"] for f in files(ended)[0]["findings"] if f["code"] == "OPT023"]
    assert shared == "[mysqld1] and [mysqld2] have the same port: the server that starts second stops."


def test_servers_of_mysqld_multi_are_judged_without_a_note_on_each_group(mycnf: Mycnf, tmp_path: Path) -> None:
    """A group [mysqld_multi] says that servers read the numbered groups, whose lines are judged all the same."""
    (tmp_path / "my.cnf").write_text("[mysqld_multi]\nuser = m\n[mysqld1]\nport = 3307\nquery_cache_size = 1M\n")
    ended = mycnf("lint", "--target", "mysql-9.7.4", "--format", "json", "my.cnf")
    (found,) = files(ended)[0]["findings"]
    assert (found["code"], found["group"]) == ("OPT007", "mysqld1")


@pytest.mark.parametrize(
    ("group", "severity", "says"),
    [
        ("mysqld@db2", "note", "--defaults-group-suffix=@db2 does."),
        ("mysqld-b", "note", "--defaults-group-suffix=-b does."),
        ("mysqld7", "note", "a server that mysqld_multi starts does."),
        ("wampmysqld", "warning", "so its option is without effect;"),
    ],
)
def test_groups_that_some_servers_read(group: str, severity: str, says: str, mycnf: Mycnf, tmp_path: Path) -> None:
    """A suffix of systemd's template, another suffix, a number of mysqld_multi, the name of a service."""
    (tmp_path / "my.cnf").write_text(f"[{group}]\nport = 3307\n")
    ended = mycnf("lint", "--target", "mysql-9.7.4", "--format", "json", "my.cnf")
    (found,) = files(ended)[0]["findings"]
    assert (found["code"], found["severity"]) == ("OPT020", severity)
    assert says in found["message"]
    assert "them" not in (found["help"] or "")


def test_the_group_of_the_starting_script_is_no_servers(mycnf: Mycnf, tmp_path: Path) -> None:
    """MariaDB's script reads [mariadbd_safe]: what it ignores there is reported as for its other names."""
    (tmp_path / "my.cnf").write_text("[mariadbd_safe]\nmax_connections = 5\n!includdir /etc/x\n")
    ended = mycnf("lint", "--target", "mariadb-11.8", "--format", "json", "my.cnf")
    found = {f["code"]: f["message"] for f in files(ended)[0]["findings"]}
    assert set(found) == {"OPT013", "OPT015"}
    assert found["OPT013"].startswith("[mariadbd_safe] is read by mariadbd_safe, which ignores max_connections")
    assert found["OPT015"] == "Servers know only !include and !includedir, and ignore this line."


@pytest.mark.parametrize("before", ["[mysqld]\nincludedir /etc/mysql/conf.d\n", "includedir /etc/mysql/conf.d\n"])
def test_an_include_without_its_mark_says_what_was_meant(before: str, mycnf: Mycnf, tmp_path: Path) -> None:
    """Within a group and before any, and the fix writes the mark."""
    (tmp_path / "my.cnf").write_text(before)
    ended = mycnf("lint", "--target", "mysql-9.7.4", "--format", "json", "my.cnf")
    (found,) = files(ended)[0]["findings"]
    assert found["help"] == "did you mean !includedir /etc/mysql/conf.d?"
    assert "component" not in found["message"]  # conf.d is no name of a component's option
    mycnf("lint", "--target", "mysql-9.7.4", "--unsafe-fixes", "my.cnf")
    assert (tmp_path / "my.cnf").read_text() == before.replace("includedir", "!includedir")


def test_a_list_of_parameters_without_a_group_is_one_finding(mycnf: Mycnf, tmp_path: Path) -> None:
    """Programs stop at the first line, and one header is missing, however many lines there are."""
    (tmp_path / "my.cnf").write_text("max_connections = 100\nsync_binlog = 1\nport = 3306\n[client]\nport = 3306\n")
    ended = mycnf("lint", "--target", "mysql-9.7.4", "--format", "json", "my.cnf")
    (found,) = files(ended)[0]["findings"]
    assert (found["code"], found["line"]) == ("OPT011", 1)
    assert found["message"].startswith("This option and 2 below it come before any group. ")
