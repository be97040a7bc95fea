"""`mycnf lint --fix`, `--unsafe-fixes` and `--diff` as their user runs them."""

from __future__ import annotations

import json
import os
import pty
import resource
import subprocess
import sys
from pathlib import Path

import pytest
from mycnf_command import CHECKOUT, Ended, Mycnf

from advisor.__main__ import main
from advisor.commands import lint
from advisor.core import errors

TARGET = ("--target", "mysql-8.4")
BEFORE = "# mine\n[mysqld]\nnet_buffer_length=1\nmax_conections = 50 # many\n"
SAFE = BEFORE.replace("length=1", "length=1024")
UNSAFE = SAFE.replace("conections", "connections")
DIFF = """\
--- my.cnf
+++ my.cnf
@@ -1,4 +1,4 @@
 # mine
 [mysqld]
-net_buffer_length=1
+net_buffer_length=1024
 max_conections = 50 # many
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """A file with a safe and an unsafe fix, where mycnf runs."""
    made = tmp_path / "my.cnf"
    made.write_text(BEFORE)
    return made


def test_fix_makes_the_safe_fixes_and_reports_the_rest(mycnf: Mycnf, file: Path) -> None:
    """The file is fixed, stderr says what was done, and the report is of the file as it is now."""
    ended = mycnf("lint", *TARGET, "--fix", "my.cnf")
    assert file.read_text() == SAFE
    assert ended.err == "mycnf: my.cnf: fixed 1 (OPT006)\n"
    assert "OPT001" in ended.out
    assert "OPT006" not in ended.out
    assert ended.code == errors.FINDINGS


@pytest.mark.parametrize("flag", ["--fix", "--unsafe-fixes"])
def test_no_file_named(
    flag: str, file: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The host's own files are changed only if they are named; --diff shows what would change."""
    monkeypatch.setattr(lint, "DEFAULT_FILES", (str(file),))  # never the files of the machine that tests run on
    assert main(["lint", *TARGET, flag]) == errors.USAGE
    assert f"only to files that you name: mycnf lint {flag} {file};" in capsys.readouterr().err
    assert file.read_text() == BEFORE
    assert main(["lint", *TARGET, "--isolated", "--diff"]) == errors.FINDINGS
    assert "+net_buffer_length=1024" in capsys.readouterr().out
    assert file.read_text() == BEFORE


@pytest.mark.parametrize("flags", [("--unsafe-fixes",), ("--fix", "--unsafe-fixes")])
def test_unsafe_fixes_makes_both_kinds(flags: tuple[str, ...], mycnf: Mycnf, file: Path) -> None:
    """--unsafe-fixes is a --fix that does more; with nothing left to find the exit code is 0."""
    ended = mycnf("lint", *TARGET, *flags, "my.cnf")
    assert file.read_text() == UNSAFE
    assert ended.code == errors.OK
    assert ended.err == "mycnf: my.cnf: fixed 2 (OPT001, OPT006)\n"
    again = mycnf("lint", *TARGET, *flags, "my.cnf")
    assert (file.read_text(), again.err) == (UNSAFE, "")


def test_without_the_flags_nothing_is_written(mycnf: Mycnf, file: Path) -> None:
    """A plain lint offers the fixes and leaves the file alone."""
    ended = mycnf("lint", *TARGET, "my.cnf")
    assert "2 can be fixed" in ended.out
    assert file.read_text() == BEFORE


@pytest.mark.parametrize("flags", [("--diff",), ("--fix", "--diff")])
def test_diff_prints_and_writes_nothing(flags: tuple[str, ...], mycnf: Mycnf, file: Path) -> None:
    """The diff alone stands on stdout, and exit code 1 says that there is one."""
    assert mycnf("lint", *TARGET, *flags, "my.cnf") == Ended(errors.FINDINGS, DIFF, "")
    assert file.read_text() == BEFORE


def test_a_diff_goes_to_its_file(mycnf: Mycnf, file: Path, tmp_path: Path) -> None:
    """-o is the file of the diff; options of a report, which --diff does not make, are refused."""
    assert mycnf("lint", *TARGET, "--diff", "my.cnf", "-o", "my.diff") == Ended(errors.FINDINGS, "", "")
    assert ((tmp_path / "my.diff").read_text(), file.read_text()) == (DIFF, BEFORE)
    for words in (("--format", "json"), ("--statistics",), ("--write-baseline", "base.json")):
        ended = mycnf("lint", *TARGET, "--diff", *words, "my.cnf")
        assert (ended.code, ended.out, f"omit {words[0]} or --diff" in ended.err) == (errors.USAGE, "", True)


def test_diff_of_unsafe_fixes(mycnf: Mycnf, file: Path) -> None:
    """With --unsafe-fixes the diff holds these too."""
    ended = mycnf("lint", *TARGET, "--unsafe-fixes", "--diff", "my.cnf")
    assert "+max_connections = 50 # many\n" in ended.out
    assert file.read_text() == BEFORE


def test_diff_without_changes(mycnf: Mycnf, tmp_path: Path) -> None:
    """Nothing to fix is exit code 0, with any other findings."""
    (tmp_path / "my.cnf").write_text("[mysqld]\nno_such_thing_anywhere = 1\n")
    assert mycnf("lint", *TARGET, "--diff", "my.cnf") == Ended(errors.OK, "", "")


def test_a_diff_says_which_server_was_assumed(mycnf: Mycnf, file: Path) -> None:
    """Without --target stderr says, once, whom the file was judged for, and which fix waits for the real one."""
    file.write_text(before := "[mysqld]\ninnodb_flush_log_at_trx_commit=7\n")  # 2 for MySQL, 3 for MariaDB
    ended = mycnf("lint", "--diff", "my.cnf")
    assert ended.err.count("no --target given") == 1
    assert "(--target names the one server that matters)" in ended.err
    assert (ended.code, ended.out, file.read_text()) == (errors.OK, "", before)


def test_stdin_comes_out_fixed(mycnf: Mycnf) -> None:
    """The text goes through: stdout holds it with its fixes and nothing else, and the report goes to stderr."""
    ended = mycnf("lint", *TARGET, "--fix", "-", stdin=BEFORE.encode())
    assert ended.out == SAFE
    assert "OPT001" in ended.err
    assert ended.code == errors.FINDINGS


def test_stdin_with_nothing_to_fix_comes_out_as_it_was(mycnf: Mycnf) -> None:
    """A filter that has nothing to do gives back what it got, the last line's missing end too."""
    ended = mycnf("lint", *TARGET, "--unsafe-fixes", "-", stdin=b"# \xc3\xa4\r\n[mysqld]\r\nport=1")
    assert ended.out == "# ä\r\n[mysqld]\r\nport=1"
    assert ended.code == errors.OK


def test_stdin_and_a_report_in_a_file(mycnf: Mycnf, tmp_path: Path) -> None:
    """A report with a file of its own goes there."""
    flags = ("--stdin-filename", "etc/my.cnf", "--format", "json", "-o", "report.json")
    ended = mycnf("lint", *TARGET, "--fix", *flags, "-", stdin=BEFORE.encode())
    assert ended.out == SAFE
    (entry,) = json.loads((tmp_path / "report.json").read_text())["files"]
    assert entry["path"] == "etc/my.cnf"
    assert [finding["code"] for finding in entry["findings"]] == ["OPT001"]


def test_the_diff_of_stdin(mycnf: Mycnf) -> None:
    """It is called by the name that was given for it."""
    ended = mycnf("lint", *TARGET, "--diff", "--stdin-filename", "my.cnf", "-", stdin=BEFORE.encode())
    assert ended == Ended(errors.FINDINGS, DIFF, "")


def test_a_report_for_machines_is_of_what_is_left(mycnf: Mycnf, file: Path) -> None:
    """JSON on stdout stays whole and lists the findings of the file as it is now."""
    ended = mycnf("lint", *TARGET, "--fix", "--format", "json", "my.cnf")
    assert [finding["code"] for finding in json.loads(ended.out)["files"][0]["findings"]] == ["OPT001"]
    assert file.read_text() == SAFE


def test_selected_rules_alone_are_fixed(mycnf: Mycnf, file: Path) -> None:
    """--select and --ignore choose the fixes as they choose the findings."""
    mycnf("lint", *TARGET, "--unsafe-fixes", "--select", "OPT001", "my.cnf")
    assert file.read_text() == BEFORE.replace("conections", "connections")
    mycnf("lint", *TARGET, "--fix", "--ignore", "OPT006", "my.cnf")
    assert "net_buffer_length=1\n" in file.read_text()


def test_what_a_baseline_knows_is_not_fixed(mycnf: Mycnf, file: Path) -> None:
    """A finding that is deliberately accepted is left unchanged."""
    mycnf("lint", *TARGET, "--write-baseline", "known.json", "my.cnf")
    mycnf("lint", *TARGET, "--unsafe-fixes", "--baseline", "known.json", "my.cnf")
    assert file.read_text() == BEFORE


def test_a_file_that_is_not_there(mycnf: Mycnf, file: Path) -> None:
    """It is reported once, exit code 2, and the others are fixed."""
    ended = mycnf("lint", *TARGET, "--fix", "missing.cnf", "my.cnf")
    assert ended.err.count("missing.cnf: can't be read") == 1
    assert ended.code == errors.USAGE
    assert file.read_text() == SAFE
    shown = mycnf("lint", *TARGET, "--diff", "missing.cnf", "my.cnf")
    assert shown.err.count("missing.cnf: can't be read") == 1
    assert shown.code == errors.USAGE


def test_a_file_that_cannot_be_written(file: Path, tmp_path: Path) -> None:
    """One line says so, the file is whole, its findings are reported, and the exit code is 2."""

    def no_room() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (10, 10))

    ended = subprocess.run(
        [sys.executable, "-B", "-m", "advisor", "lint", *TARGET, "--fix", "my.cnf"],
        cwd=tmp_path, env={"PATH": os.environ["PATH"], "PYTHONPATH": str(CHECKOUT), "HOME": str(tmp_path)},
        preexec_fn=no_room, capture_output=True, text=True, timeout=600, check=False,
    )  # fmt: skip
    assert ended.stderr == "mycnf: my.cnf: cannot be written (File too large); it is unchanged\n"
    assert ended.returncode == errors.USAGE
    assert "OPT006" in ended.stdout
    assert file.read_text() == BEFORE


def test_documents_that_carry_options_are_fixed_in_place(mycnf: Mycnf, tmp_path: Path) -> None:
    """In a compose file the option changes, and nothing around it."""
    before = "services:\n  db:\n    image: mysql:8.4\n    command:\n      - --net_buffer_length=1  # why\n"
    (tmp_path / "compose.yml").write_text(before)
    mycnf("lint", "--fix", "compose.yml")
    assert (tmp_path / "compose.yml").read_text() == before.replace("length=1", "length=1024")


def test_a_terminal_gets_no_control_characters(file: Path, tmp_path: Path) -> None:
    """What a file holds can't move the cursor of the diff's reader; in a pipe it is unchanged."""
    file.write_text(BEFORE.replace("# mine", "# \x1b[2J"))
    command = [sys.executable, "-m", "advisor", "lint", *TARGET, "--diff", "my.cnf"]
    environment = {"PATH": os.environ["PATH"], "PYTHONPATH": str(CHECKOUT), "HOME": str(tmp_path)}
    ours, theirs = pty.openpty()
    subprocess.run(command, cwd=tmp_path, env=environment, stdout=theirs, timeout=600, check=False)
    os.close(theirs)
    seen = os.read(ours, 65536)
    os.close(ours)
    assert b"\x1b" not in seen
    assert b"# \\x1b[2J" in seen
    piped = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, timeout=600, check=False)
    assert b"# \x1b[2J" in piped.stdout
