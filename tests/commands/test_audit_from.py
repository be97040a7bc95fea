"""`mycnf audit --from`: texts judged as their sender would want them, in one line where they can't be."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pathlib import Path

    from mycnf_command import Mycnf

ROWS = {
    "version": "8.0.36",
    "version_comment": "MySQL Community Server - GPL",
    "hostname": "db1",
    "sort_buffer_size": "67108864",
}
STATUS = "Uptime\t{}\nQuestions\t{}\nMax_used_connections\t12\nThreads_connected\t3\n"


@pytest.fixture
def texts(tmp_path: Path) -> list[str]:
    """Variables with one that was set explicitly, and two samples of counters."""
    (tmp_path / "variables").write_text("".join(f"{n}\t{v}\n" for n, v in ROWS.items()), "utf-8")
    (tmp_path / "status").write_text(f"{STATUS.format(90000, 100)}\n{STATUS.format(90010, 300)}", "utf-8")
    return [str(tmp_path / name) for name in ("variables", "status")]


def test_texts_are_audited(mycnf: Mycnf, texts: list[str]) -> None:
    """The explicit setting is found, the window is the samples', and what text lacks is skipped with that reason."""
    ended = mycnf("audit", "--isolated", "--from", *texts, "--format", "json")
    report = json.loads(ended.out)
    assert [(f["code"], f["canonical"]) for f in report["findings"]] == [("BUF003", "sort_buffer_size")]
    assert (ended.code, report["window"], report["server"]["hostname"]) == (0, 10.0, "db1")
    reasons = {entry["code"]: entry["reason"] for entry in report["skipped"]}
    assert "came from text" in reasons["files"]
    assert "came from text" in reasons["server.replication"]


def test_each_from_counts(mycnf: Mycnf, texts: list[str]) -> None:
    """Two texts by two --from are those of one: the first is not replaced by the second."""
    together = mycnf("audit", "--isolated", "--from", *texts, "--format", "jsonl")
    apart = mycnf("audit", "--isolated", "--from", texts[1], "--from", texts[0], "--format", "jsonl")
    assert "BUF003" in together.out
    assert apart == together


@pytest.mark.parametrize(
    "given",
    [
        ("--socket", "s"),
        ("--host", "db1"),
        ("--port", "3307"),
        ("--user", "root"),
        ("--ask-password",),
        ("--defaults-file", "my.cnf"),
        ("--login-path", "db1"),
        ("--ssl-mode", "required"),
    ],
)
def test_texts_and_a_server(given: tuple[str, ...], mycnf: Mycnf, texts: list[str]) -> None:
    """A server beside texts or a snapshot is refused: it would not be read."""
    for words in (("audit", "--from", *texts), ("audit", "--demo"), ("preflight", "--snapshot", texts[0])):
        ended = mycnf(*words, "--format", "text", *given)
        assert (ended.code, ended.out, ended.err.count("\n")) == (2, "", 1)
        assert f"{words[1]} is read in place of a running server, so {given[0]} has no effect" in ended.err


@pytest.mark.parametrize("given", [("--window", "30"), ("--schema",), ("--schema-time", "9"), ("--schema-tables", "5")])
def test_texts_and_how_a_server_is_read(given: tuple[str, ...], mycnf: Mycnf, texts: list[str]) -> None:
    """A window or the tables' definitions cannot be read from saved facts; the defaults are no such options."""
    for words in (("audit", "--from", *texts), ("audit", "--snapshot", texts[0]), ("audit", "--demo")):
        ended = mycnf(*words, "--format", "text", *given)
        assert (ended.code, ended.out, ended.err.count("\n")) == (2, "", 1)
        assert f"{words[1]} is read in place of a running server, so {given[0]} has no effect" in ended.err
    assert "has no effect" not in mycnf("audit", "--demo", "--window", "10", "--format", "concise").err


def test_the_report_says_where_it_came_from(mycnf: Mycnf, texts: list[str]) -> None:
    """Text for people names no statements that were never sent, and the user's description of the host is used."""
    ended = mycnf("audit", "--isolated", "--from", *texts, "--ram", "64G", "--format", "text")
    assert "read from text" in ended.out.splitlines()[0] + ended.out.splitlines()[1]
    assert "64G" in ended.out
    assert max(map(len, ended.out.splitlines())) <= 80


@pytest.mark.parametrize("form", ["text", "html", "markdown"])
def test_what_the_text_leaves_out_is_no_zero(mycnf: Mycnf, texts: list[str], form: str) -> None:
    """Without counters the uptime is unknown, and without log_bin whether the server logs."""
    with open(texts[0], "a") as file:
        file.write("innodb_flush_log_at_trx_commit\t1\n")
    alone = mycnf("audit", "--isolated", "--from", texts[0], "--format", form).out
    assert "BUF003" in alone
    assert " 0 s ·" not in alone.lower()
    assert "up 0 s" not in alone.lower()
    assert "no binary log" not in alone
    with open(texts[0], "a") as file:
        file.write("log_bin\tOFF\n")
    both = mycnf("audit", "--isolated", "--from", *texts, "--format", form).out
    assert "up 1 d" in both.lower()
    # The ticket names what passed without its figures.
    assert ("no binary log" in both) is (form != "markdown")


def test_text_from_a_pipe(mycnf: Mycnf, texts: list[str]) -> None:
    """A dash is what another program prints."""
    with open(texts[0], "rb") as file:
        ended = mycnf("audit", "--isolated", "--from", "-", "--format", "concise", stdin=file.read())
    assert "oversized-sort-buffer" in ended.out


@pytest.mark.parametrize("more", [("--snapshot", "s"), ("--demo",)])
def test_one_source_alone(mycnf: Mycnf, texts: list[str], more: tuple[str, ...]) -> None:
    """Texts and a snapshot are two servers: one line, exit code 2."""
    ended = mycnf("audit", "--from", *texts, *more, "--format", "text")
    assert (ended.code, ended.out) == (2, "")
    assert ended.err.count("\n") == 1
