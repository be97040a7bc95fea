"""For any input, lint and show end with one clear line and the documented exit code."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from mycnf_command import CHECKOUT, Mycnf

GOOD = "[mysqld]\nmax_connections = 200\n"


def one_line(err: str) -> str:
    """The single line on stderr; a traceback or a second line fails."""
    lines = err.splitlines()
    assert len(lines) == 1, err
    assert "Traceback" not in err
    return lines[0]


def test_directory(mycnf: Mycnf, tmp_path: Path) -> None:
    """A directory is refused by name."""
    ended = mycnf("lint", "--target", "mysql-8.0", tmp_path)
    assert ended.code == 2
    assert "directory" in one_line(ended.err)


def test_fifo_and_device(mycnf: Mycnf, tmp_path: Path) -> None:
    """A FIFO or an endless device is refused without waiting for it."""
    fifo = tmp_path / "fifo.cnf"
    os.mkfifo(fifo)
    for path in (fifo, Path("/dev/zero")):
        ended = mycnf("lint", "--target", "mysql-8.0", path)
        assert ended.code == 2
        one_line(ended.err)


def test_missing_file(mycnf: Mycnf) -> None:
    """A file that isn't there is named."""
    ended = mycnf("lint", "--target", "mysql-8.0", "nowhere.cnf")
    assert ended.code == 2
    assert "nowhere.cnf" in one_line(ended.err)


@pytest.mark.parametrize("words", [("lint", ""), ("show", ""), ("report", ""), ("diff", "", "")])
def test_an_empty_name_is_seen_in_the_message(mycnf: Mycnf, words: tuple[str, ...]) -> None:
    """The name that a script's unset variable leaves is quoted, as nothing else of it would be seen."""
    ended = mycnf(*words)
    assert ended.code == 2
    assert one_line(ended.err).startswith("mycnf: ''")


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads every file: needs an ordinary user")
def test_unreadable_file(mycnf: Mycnf, tmp_path: Path) -> None:
    """A file that may not be read is named."""
    secret = tmp_path / "secret.cnf"
    secret.write_text(GOOD)
    secret.chmod(0)
    ended = mycnf("lint", "--target", "mysql-8.0", secret)
    assert ended.code == 2
    assert "secret.cnf" in one_line(ended.err)


def test_binary_file(mycnf: Mycnf, tmp_path: Path) -> None:
    """A program given by mistake is refused as what it is."""
    program = tmp_path / "mysqld.cnf"
    program.write_bytes(b"\x7fELF\x02\x01\x01" + bytes(range(256)) * 40)
    ended = mycnf("lint", "--target", "mysql-8.0", program)
    assert ended.code == 2
    one_line(ended.err)


def test_one_line_of_100_megabytes(mycnf: Mycnf, tmp_path: Path) -> None:
    """A file no server would read is refused at once."""
    long = tmp_path / "long.cnf"
    with long.open("wb") as file:
        file.truncate(100 << 20)
        file.seek(0)
        file.write(b"[mysqld]\nport=")
    ended = mycnf("lint", "--target", "mysql-8.0", long)
    assert ended.code == 2
    one_line(ended.err)


def test_the_rest_is_still_reported(mycnf: Mycnf, tmp_path: Path) -> None:
    """One unreadable file costs none of the others, and the JSON stays whole."""
    good = tmp_path / "good.cnf"
    good.write_text(GOOD)
    ended = mycnf("lint", "--format", "json", "--target", "mysql-8.0", "nowhere.cnf", good)
    assert ended.code == 2
    assert [f["path"] for f in json.loads(ended.out)["files"]] == [str(good)]


def test_include_cycle(mycnf: Mycnf, tmp_path: Path) -> None:
    """Files that include each other end in a finding, not in a loop."""
    a, b = tmp_path / "a.cnf", tmp_path / "b.cnf"
    a.write_text(f"{GOOD}!include {b}\n")
    b.write_text(f"[mysqld]\n!include {a}\n")
    ended = mycnf("lint", "--format", "json", "--target", "mysql-8.0", a)
    assert ended.code in (0, 1)
    assert "include" in json.dumps(json.loads(ended.out)["files"][0]["findings"])


def test_unknown_target_names_the_known(mycnf: Mycnf, tmp_path: Path) -> None:
    """An unknown target is answered with those that are known, services among them."""
    ended = mycnf("lint", "--target", "postgres-16", tmp_path / "x.cnf")
    assert ended.code == 2
    assert "mysql-8.4" in one_line(ended.err)
    assert "aurora-mysql-3" in ended.err
    assert "did you mean rds-mysql-8.0?" in mycnf("lint", "--target", "rds-8.0", tmp_path / "x.cnf").err


def test_unknown_rule(mycnf: Mycnf, tmp_path: Path) -> None:
    """A rule that isn't there is no silent all-clear."""
    good = tmp_path / "good.cnf"
    good.write_text(GOOD)
    ended = mycnf("lint", "--target", "mysql-8.0", "--select", "BUF999", good)
    assert ended.code == 2
    assert "BUF999" in one_line(ended.err)


def test_stdin(mycnf: Mycnf) -> None:
    """A file may come by stdin, under the name given."""
    ended = mycnf(
        "lint", "--target", "mysql-8.0", "--stdin-filename", "db1.cnf", "-", stdin=b"[mysqld]\nno_such_thing=1\n"
    )
    assert ended.code == 1
    assert ended.out.startswith("db1.cnf:2:1")


def test_closed_pipe(mycnf: Mycnf, tmp_path: Path) -> None:
    """A reader that goes away leaves no traceback behind."""
    many = tmp_path / "many.cnf"
    many.write_text("[mysqld]\n" + "".join(f"nothing_{i}=1\n" for i in range(5000)))
    command = f"{sys.executable} -m advisor lint --target mysql-8.0 {many} | head -1"
    done = subprocess.run(["bash", "-c", command], capture_output=True, cwd=CHECKOUT, timeout=600, check=False)
    assert b"Traceback" not in done.stderr
    assert b"Exception ignored" not in done.stderr


def test_output_that_cannot_be_written(mycnf: Mycnf, tmp_path: Path) -> None:
    """A report that can't be written says so, and what stood there stays."""
    good = tmp_path / "good.cnf"
    good.write_text(GOOD)
    ended = mycnf("lint", "--target", "mysql-8.0", "-o", tmp_path / "no" / "where.txt", good)
    assert ended.code == 2
    assert "where.txt" in one_line(ended.err)


@pytest.mark.parametrize("name", ["main.tfvars", "params.pp", "db.nix"])
def test_another_language_is_one_line_and_code_2(name: str, mycnf: Mycnf, tmp_path: Path) -> None:
    """A file of another language gets no finding per line: its kind is reported once, and other files as usual."""
    (tmp_path / name).write_text("max_connections = 500\nport = 1\n")
    (tmp_path / "my.cnf").write_text("[mysqld]\nno_such_thing = 1\n")
    ended = mycnf("lint", "--target", "mysql-9.7", "--format", "concise", name, "my.cnf")
    assert ended.code == 2
    assert ended.err.count("\n") == 1
    assert f"{name}: " in ended.err
    assert "is not read" in ended.err
    assert [line.split(":")[0] for line in ended.out.splitlines()] == ["my.cnf"]


@pytest.mark.parametrize(
    "words",
    [
        ("lint", "--target", "mysql-8.0", "my.cnf", "-o", "./my.cnf"),
        ("show", "./my.cnf", "-o", "my.cnf"),
        ("upgrade", "--from", "mysql-5.7", "--to", "mysql-8.0", "my.cnf", "-o", "my.cnf"),
        ("diff", "my.cnf", "mysql-8.0", "-o", "my.cnf"),
        ("suggest", "--target", "mysql-8.0", "--write-diff", "my.cnf", "-o", "my.cnf"),
        ("report", "my.cnf", "--format", "json", "-o", "my.cnf"),
        ("lint", "my.cnf", "--write-baseline", "new.json", "-o", "new.json"),
        ("lint", "my.cnf", "--format", "json", "-o", "new.json", "--format", "csv", "-o", "./new.json"),
    ],
)
def test_no_report_replaces_a_file_that_is_named(words: tuple[str, ...], mycnf: Mycnf, tmp_path: Path) -> None:
    """A report is never written over the option file that it is about, nor over another file of the same run."""
    (tmp_path / "my.cnf").write_text(GOOD)
    ended = mycnf(*words)
    assert (ended.code, ended.out) == (2, "")
    one_line(ended.err)
    assert ((tmp_path / "new.json").exists(), (tmp_path / "my.cnf").read_text()) == (False, GOOD)


def test_ask_password_without_a_terminal(tmp_path: Path) -> None:
    """Without a terminal the password is a line of stdin, and without one there the reason is one line."""
    command = [sys.executable, "-m", "advisor", "audit", "--socket", "gone.sock", "--ask-password"]
    environment = {"PATH": os.environ["PATH"], "PYTHONPATH": str(CHECKOUT), "HOME": str(tmp_path)}
    for text, why in (("", "there is no terminal"), ("secret\n", "there is no server socket")):
        ended = subprocess.run(
            command, cwd=tmp_path, env=environment, input=text, capture_output=True, text=True,
            start_new_session=True, timeout=600, check=False,
        )  # fmt: skip
        assert (ended.returncode, ended.stdout, why in one_line(ended.stderr)) == (3, "", True)


def test_a_root_that_is_none(mycnf: Mycnf, tmp_path: Path) -> None:
    """A mistyped --root is one line: otherwise each absolute include would be reported as missing on the server."""
    (tmp_path / "my.cnf").write_text(f"!includedir /etc/mysql/conf.d\n{GOOD}")
    moved = ("upgrade", "--from", "mysql-5.7", "--to", "mysql-8.0", "my.cnf")
    for words in (
        ("lint", "my.cnf"),
        ("lint", "--diff", "my.cnf"),
        ("show", "my.cnf"),
        moved,
        ("diff", "my.cnf", "mysql-8.0"),
    ):
        ended = mycnf(*words, "--root", "rootfs")
        assert (ended.code, ended.out) == (2, ""), words
        assert "--root rootfs is not a directory" in one_line(ended.err)


def test_a_size_that_nothing_needs_is_checked_too(mycnf: Mycnf, tmp_path: Path) -> None:
    """A mistake in --ram is reported even where no formula and no snapshot without a host makes use of it."""
    (tmp_path / "my.cnf").write_text(GOOD)
    recording = CHECKOUT / "advisor" / "demo" / "recording.json"
    for words in (("show", "my.cnf"), ("diff", "my.cnf", "mysql-8.0"), ("report", recording, tmp_path)):
        ended = mycnf(*words, "--ram", "plenty")
        assert (ended.code, ended.out) == (2, ""), words
        assert "'plenty' is not a size" in one_line(ended.err)


@pytest.mark.parametrize("window", ["nan", "inf", "-1", "4000"])
def test_a_window_that_is_none(window: str, mycnf: Mycnf) -> None:
    """A window that is no time, or outlasts the session, is refused before a server is asked anything."""
    for words in (("audit", "--format", "text"), ("collect", "-o", "snap.json")):
        ended = mycnf(*words, "--socket", "none", f"--window={window}")
        assert (ended.code, ended.out) == (2, "")
        assert "is not a valid time; write 1 to 3000 seconds, or 0 for no window" in one_line(ended.err)


def test_a_port_in_the_host(mycnf: Mycnf) -> None:
    """A host with its port, as diff takes it, is answered with the two options; an IPv6 address is a host."""
    ended = mycnf("audit", "--host", "db1:3307", "--format", "text")
    assert (ended.code, ended.out) == (2, "")
    assert one_line(ended.err) == "mycnf: --host db1:3307 has a port in it; write --host db1 --port 3307"
    assert mycnf("audit", "--host", "::1", "--port", "1", "--format", "text").code == 3


def test_one_report_has_one_file(mycnf: Mycnf, tmp_path: Path) -> None:
    """Where a command writes one report, a second -o or --format is refused: the first would have no effect."""
    (tmp_path / "my.cnf").write_text(GOOD)
    for words in (("show", "my.cnf"), ("explain", "BUF001"), ("audit", "--demo", "--format", "json"), ("history",)):
        ended = mycnf(*words, "-o", "a", "--o=b")
        assert (ended.code, ended.out) == (2, ""), words
        assert one_line(ended.err) == f"mycnf: -o can be given once: mycnf {words[0]} writes one report"
    for command in (("show", "my.cnf"), ("rules",), ("audit", "--demo"), ("diff", "my.cnf", "mysql-8.4")):
        ended = mycnf(*command, "--format", "json", "--form=text")
        assert (ended.code, ended.out) == (2, ""), command
        assert one_line(ended.err) == f"mycnf: --format can be given once: mycnf {command[0]} writes one report"
    assert mycnf("lint", "my.cnf", "--isolated", "--format", "json", "-o", "a", "--format", "csv", "-o", "b").code == 0
    assert {path.name for path in tmp_path.iterdir()} == {"my.cnf", "home", "a", "b"}


@pytest.mark.parametrize(
    ("words", "named"),
    [
        (("--defaults-file", "none.cnf"), "--defaults-file none.cnf does not exist"),
        (("--defaults-extra-file", "none.cnf"), "--defaults-extra-file none.cnf does not exist"),
        (("--defaults-file", "port.cnf"), "port='many' in port.cnf is not a TCP port"),
        (("--defaults-file", "mode.cnf"), "ssl-mode 'strong' is unknown"),
        (("--login-path", "db1"), "--login-path db1"),
    ],
)
@pytest.mark.parametrize("command", [("audit", "--format", "text"), ("collect", "-o", "x.json"), ("preflight",)])
def test_wrong_options_of_a_connection(
    command: tuple[str, ...], words: tuple[str, str], named: str, mycnf: Mycnf, tmp_path: Path
) -> None:
    """No server was tried, so the exit code is that of wrong usage, and not that of a server that cannot be reached."""
    (tmp_path / "port.cnf").write_text("[client]\nport = many\n")
    (tmp_path / "mode.cnf").write_text("[client]\nssl-mode = strong\n")
    ended = mycnf(*command, *words, env={"MYSQL_TEST_LOGIN_FILE": str(tmp_path / "none")})
    assert (ended.code, ended.out, ended.err.count("\n")) == (2, "", 1)
    assert ended.err.startswith(f"mycnf: {named}")


@pytest.mark.parametrize(
    "words", [("show", "--target", "mysql-8.0"), ("upgrade", "--from", "mysql-5.7", "--to", "mysql-8.0")]
)
def test_stdin_twice(words: tuple[str, ...], mycnf: Mycnf) -> None:
    """Stdin can be read only once, so a second - is refused instead of taken as a copy of the first."""
    ended = mycnf(*words, "-", "-")
    assert (ended.code, ended.out) == (2, "")
    assert one_line(ended.err) == "mycnf: - is stdin and can be read only once: name it once"
