"""Streams that take nothing: a full disk behind them, a closed other end, or none at all."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
from pathlib import Path

import pytest
from lxml import etree
from mycnf_command import CHECKOUT, Ended, check_run

from advisor.cli.parser import COMMANDS
from advisor.report.output import PLAIN

SNAPSHOT = str(CHECKOUT / "examples" / "snapshots" / "mariadb-10.11.json")
BAD = str(CHECKOUT / "examples" / "bad.cnf")
# Each command as it prints something without a server, or None where it prints nothing at all.
PRINTS: dict[str, tuple[str, ...] | None] = {
    "lint": ("--isolated", "--target", "mysql-8.4", BAD),
    "show": (BAD, "--target", "mysql-8.4"),
    "upgrade": ("--from", "mysql-5.7", "--to", "mysql-8.4", BAD),
    "audit": ("--isolated", "--snapshot", SNAPSHOT),
    "preflight": ("--snapshot", SNAPSHOT),
    "diff": (SNAPSHOT, "mariadb-10.11"),
    "collect": None,
    "report": ("--isolated", "--jobs", "1", SNAPSHOT, SNAPSHOT, "--format", "jsonl"),
    "history": (),
    "sample": ("--print-timer",),
    "probe": ("results",),
    "fleet": ("--help",),
    "suggest": ("--ram", "8G", "--cpus", "4"),
    "explain": ("BUF001",),
    "rules": (),
    "grants": ("--target", "mysql-8.4"),
    "completion": ("bash",),
}
MUCH = ("report", "--isolated", "--jobs", "1", *[SNAPSHOT] * 12, "--format", "jsonl")


def shell(words: tuple[str, ...], redirected: str, folder: Path, **more: str) -> Ended:
    """`mycnf` as a shell runs it, its streams sent elsewhere; the exit code is that of mycnf, before any pipe."""
    state = {"XDG_STATE_HOME": str(folder / "state"), "HOME": str(folder), "PYTHONPATH": str(CHECKOUT)}
    script = f'"$@" {redirected}; exit ${{PIPESTATUS[0]}}'
    command = ["bash", "-c", script, "bash", sys.executable, "-m", "advisor", *words]
    own = state | {"PATH": os.environ["PATH"]} | more
    done = subprocess.run(command, capture_output=True, text=True, env=own, cwd=folder, timeout=600, check=False)
    return check_run(done.returncode, done.stdout, done.stderr)


def test_every_command_is_tried() -> None:
    """A new command needs an entry here for what it prints."""
    assert PRINTS.keys() == COMMANDS.keys()


@pytest.mark.parametrize("command", [name for name, words in PRINTS.items() if words is not None])
def test_stdout_on_a_full_disk(command: str, tmp_path: Path) -> None:
    """One line says so, with exit code 2: a report that is cut off must not pass for a good one."""
    ended = shell((command, *(PRINTS[command] or ())), "> /dev/full", tmp_path)
    assert ended.code == 2
    assert ended.err.splitlines()[-1] == (
        "mycnf: cannot write the report to stdout: No space left on device; name a file on another disk with -o"
    )
    assert "Traceback" not in ended.err
    assert not list(tmp_path.rglob("mycnf-crash-*"))


@pytest.mark.parametrize("words", [("--help",), ("--version",), MUCH], ids=["help", "version", "much"])
@pytest.mark.parametrize(
    ("redirected", "why"), [("> /dev/full", "No space left on device"), (">&-", "Bad file descriptor")]
)
def test_what_others_print_or_is_long(words: tuple[str, ...], redirected: str, why: str, tmp_path: Path) -> None:
    """Help pages, and reports that don't wait for the end, fail the same way; also where stdout was closed."""
    ended = shell(words, redirected, tmp_path)
    assert ended.code == 2
    assert why in ended.err.splitlines()[-1]
    assert "Traceback" not in ended.err
    assert "Exception ignored" not in ended.err


def test_without_stderr_or_stdin_the_report_is_the_same(tmp_path: Path) -> None:
    """The messages about it are lost, and nothing of them gets into the report."""
    words = ("lint", "--isolated", BAD, "--format", "concise")  # says which server it took the file for
    usual = shell(words, "", tmp_path)
    assert "checked for" in usual.err
    for redirected in ("2> /dev/full", "2>&-", "<&- 2>&-"):
        ended = shell(words, redirected, tmp_path)
        assert (ended.code, ended.out) == (usual.code, usual.out), redirected


@pytest.mark.parametrize(
    "words",
    [
        ("lint", "--isolated", "--target", "mysql-8.4", "-"),
        ("lint", "--fix", "--isolated", "--target", "mysql-8.4", "-"),
        ("show", "--target", "mysql-8.4", "-"),
        ("diff", "-", "mysql-8.4"),
        ("audit", "--from", "-", "--format", "text"),
    ],
    ids=lambda words: f"{words[0]} {words[1]}",
)
def test_a_closed_stdin_is_no_empty_file(words: tuple[str, ...], tmp_path: Path) -> None:
    """Where nothing can be read, nothing was checked: one line says so, with exit code 2."""
    ended = shell(words, "<&-", tmp_path)
    assert (ended.code, ended.out) == (2, "")
    assert ended.err == "mycnf: stdin is closed, so nothing can be read from it (-); name a file, or pipe the text in\n"


def test_an_audit_on_a_terminal_without_stdin(tmp_path: Path) -> None:
    """The app needs a keyboard, so the report is printed where stdin was closed."""
    ours, theirs = os.openpty()
    words = [sys.executable, "-m", "advisor", "audit", "--isolated", "--snapshot", SNAPSHOT, "--fail-on", "never"]
    own = {"PATH": os.environ["PATH"], "HOME": str(tmp_path), "PYTHONPATH": str(CHECKOUT), "TERM": "xterm-256color"}
    process = subprocess.Popen(["bash", "-c", '"$@" <&-', "bash", *words], stdout=theirs, stderr=theirs, env=own)
    os.close(theirs)
    shown = b""
    with contextlib.suppress(OSError):  # what Linux answers once the other end is closed
        while piece := os.read(ours, 4096):
            shown += piece
    os.close(ours)
    assert process.wait(600) == 0, shown
    assert b"mycnf audit" in shown
    assert b"internal error" not in shown


def test_a_file_never_takes_the_place_of_a_closed_stream(tmp_path: Path) -> None:
    """With all three closed the next files would be 0, 1 and 2, and what is said would be written into them."""
    (tmp_path / "my.cnf").write_text("[mysqld]\nmax_binlog_size=4000\n")
    words = ("lint", "--isolated", "--target", "mysql-8.4", "my.cnf", "--fix", "--format", "json", "-o", "out.json")
    ended = shell(words, "<&- >&- 2>&-", tmp_path)
    assert ended.code in (0, 1)
    assert (tmp_path / "my.cnf").read_text() == "[mysqld]\nmax_binlog_size=4096\n"
    assert (tmp_path / "out.json").read_text().startswith("{")


@pytest.mark.parametrize(
    ("words", "redirected"), [(MUCH, "| head -c 1"), (MUCH, "2>&1 | head -c 1"), (("rules",), "| true")]
)
def test_a_closed_pipe(words: tuple[str, ...], redirected: str, tmp_path: Path) -> None:
    """A reader that goes away ends the run without a word; the code is that of an interruption, or of a run in time."""
    ended = shell(words, redirected, tmp_path)
    assert ended.code in (130, 0, 1)
    assert ended.err == ""


def test_characters_that_stdout_lacks(tmp_path: Path) -> None:
    """A terminal of another encoding gets the whole report, in look-alikes and escapes: never a ? for a character."""
    words = ("audit", "--isolated", "--snapshot", SNAPSHOT, "--format", "markdown")
    usual = shell(words, "", tmp_path, PYTHONIOENCODING="utf-8")
    assert not usual.out.isascii()
    ended = shell(words, "", tmp_path, PYTHONIOENCODING="ascii")
    assert ended.code == usual.code
    assert ended.out.count("?") == usual.out.count("?")
    assert ended.out == usual.out.translate(PLAIN).encode("ascii", "backslashreplace").decode()


@pytest.mark.parametrize(
    "words", [("show",), ("lint", "--fail-on", "never"), ("lint", "--fail-on", "never", "--format", "csv")]
)
@pytest.mark.parametrize(
    ("encoding", "shown"), [("latin-1", b"Gr\xf6\xdfe\\u4f60"), ("ascii", b"Gr\\xf6\\xdfe\\u4f60")]
)
def test_values_are_escaped(words: tuple[str, ...], encoding: str, shown: bytes, tmp_path: Path) -> None:
    """A value keeps every character that the encoding has; another is its escape, and a byte of no UTF-8 stays."""
    (tmp_path / "my.cnf").write_bytes("[mysqld]\nlog_error = /var/Gr\xf6\xdfe\u4f60.err\nno_such = \u4f60\n".encode())
    ended = raw((*words, "--isolated", "--target", "mysql-8.4", "my.cnf"), tmp_path, encoding)
    assert ended.returncode == 0, ended.stderr
    assert b"Traceback" not in ended.stderr
    assert b"?" not in ended.stdout.replace(b"did you mean", b"").replace(b"?\n", b"\n")
    if words == ("show",):
        assert shown in ended.stdout


@pytest.mark.parametrize("form", ["html", "prometheus"])
def test_documents_that_declare_utf8(form: str, tmp_path: Path) -> None:
    """A page and metrics are the same bytes in every locale, as their formats ask."""
    words = ("audit", "--isolated", "--snapshot", SNAPSHOT, "--format", form)
    assert raw(words, tmp_path, "latin-1").stdout == raw(words, tmp_path, "utf-8").stdout


def raw(words: tuple[str, ...], folder: Path, encoding: str) -> subprocess.CompletedProcess[bytes]:
    """A run with its streams in this encoding, as bytes."""
    own = {"PATH": os.environ["PATH"], "HOME": str(folder), "PYTHONPATH": str(CHECKOUT), "PYTHONIOENCODING": encoding}
    own["SOURCE_DATE_EPOCH"] = "1795244400"
    command = [sys.executable, "-m", "advisor", *words]
    return subprocess.run(command, capture_output=True, env=own, cwd=folder, timeout=600, check=False)


def test_xml_is_what_it_says_in_any_locale(tmp_path: Path) -> None:
    """JUnit declares UTF-8, so it is valid where stdout has another encoding, and whole in each."""
    (tmp_path / "größe\N{BEER MUG}.cnf").write_text("[mysqld]\nno_such = 1\n")
    words = ("lint", "--isolated", "--target", "mysql-8.4", "--format", "junit", "größe\N{BEER MUG}.cnf")
    for encoding in ("utf-8", "latin-1", "ascii"):
        ended = shell(words, "", tmp_path, PYTHONIOENCODING=encoding)
        assert ended.code == 1
        assert etree.fromstring(ended.out.encode()).find("testsuite").get("name") == "größe\N{BEER MUG}.cnf"


@pytest.mark.parametrize("place", [(), ("-o", "/dev/stdout")])
def test_a_diff_of_a_file_that_is_no_utf8(place: tuple[str, ...], tmp_path: Path) -> None:
    """Its bytes stay as they are, for `patch` compares them."""
    (tmp_path / "latin.cnf").write_bytes(b"[mysqld]\n# Gr\xf6\xdfe\nmax_connections = 50\n")
    words = ("suggest", "--ram", "8G", "--cpus", "4", "--disk", "ssd", "--write-diff", "latin.cnf", *place)
    command = [sys.executable, "-m", "advisor", *words, "--target", "mysql-8.4"]
    own = {"PATH": os.environ["PATH"], "HOME": str(tmp_path), "PYTHONPATH": str(CHECKOUT), "PYTHONIOENCODING": "utf-8"}
    done = subprocess.run(command, capture_output=True, env=own, cwd=tmp_path, timeout=600, check=False)
    assert done.returncode == 0, done.stderr
    assert b"\n # Gr\xf6\xdfe\n" in done.stdout
