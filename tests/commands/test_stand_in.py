"""Targets that were not examined: every command says which version replaces them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from mycnf_command import CHECKOUT, Mycnf

COMMANDS = {
    "lint": ("lint", "my.cnf"),
    "show": ("show", "my.cnf"),
    "suggest": ("suggest", "--ram", "8G", "--cpus", "4"),
    "explain": ("explain", "max_connections"),
    "fix": ("lint", "--fix", "--diff", "my.cnf"),
    "grants": ("grants",),
    "diff": ("diff", "my.cnf", "my.cnf"),
}
# A newer server that runs, by its snapshot.
LIVE = {
    "audit": ("audit", "--snapshot", "facts.json", "--format", "text"),
    "preflight": ("preflight", "--snapshot", "facts.json"),
    "report": ("report", "facts.json"),
    "diff": ("diff", "facts.json", "default:mariadb-11.8"),
}
DEMO = CHECKOUT / "advisor" / "demo" / "recording.json"
README = CHECKOUT / "README.md"
FILE = "[mysqld]\nmax_connections = 200\n"


@pytest.mark.parametrize("words", COMMANDS.values(), ids=COMMANDS)
@pytest.mark.parametrize(
    ("named", "says"),
    [
        ("mysql-27.1", "MySQL 27.1 was not examined: it is read as MySQL 9.7.4"),
        ("mariadb-12.1", "MariaDB 12.1 was not examined: it is read as MariaDB 11.8.9"),
        ("mariadb-12.3", "no MariaDB 12.3.2 server was examined: its options come from the documentation"),
        ("mariadb-13.0", "MariaDB 13.0 was not examined: it is read as MariaDB 12.3.2"),
        ("mysql-8.0.99", "MySQL 8.0.99 was not examined: it is read as MySQL 8.0.43"),
    ],
)
def test_one_line_says_what_a_target_is_read_by(
    words: tuple[str, ...], named: str, says: str, mycnf: Mycnf, tmp_path: Path
) -> None:
    """The line is on stderr, once, with any file."""
    (tmp_path / "my.cnf").write_text(FILE)
    ended = mycnf(*words, "--target", named)
    assert ended.code in (0, 1)
    assert ended.err.count(says) == 1


@pytest.mark.parametrize("words", LIVE.values(), ids=LIVE)
def test_one_line_says_what_a_newer_server_is_read_by(words: tuple[str, ...], mycnf: Mycnf, tmp_path: Path) -> None:
    """The README promises it of a newer server: audits, reports, preflight and diff say so on stderr, once."""
    assert "A newer server is checked with the nearest lower version; the output says so." in README.read_text("utf-8")
    facts = json.loads(DEMO.read_text("utf-8"))
    facts["server"] |= {"flavour": "mariadb", "version": "13.0.1"}
    facts["server"]["variables"]["version"] = "13.0.1-MariaDB"
    (tmp_path / "facts.json").write_text(json.dumps(facts), "utf-8")
    ended = mycnf(*words)
    assert ended.code in (0, 1), ended.err
    assert ended.err.count("MariaDB 13.0.1 was not examined: it is read as MariaDB 12.3.2") == 1


def test_an_upgrade_says_what_it_does_not_know_about_a_newer_server(mycnf: Mycnf, tmp_path: Path) -> None:
    """What only a newer server may know is neither accepted nor refused, and its own defaults are not known."""
    (tmp_path / "my.cnf").write_text("[mysqld]\nnever_heard_of=1\n")
    ended = mycnf("upgrade", "--from", "mysql-9.7.4", "--to", "mysql-26.7", "my.cnf")
    assert "MySQL 26.7 was not examined: it is read as MySQL 9.7.4" in ended.err
    printed = " ".join(ended.out.split())
    assert "no default changes; what MySQL 26.7 changed is not known" in printed
    assert (
        "never_heard_of=1: MySQL 9.7.4 refuses it. never_heard_of does not exist up to MySQL 9.7.4; MySQL 26.7 was"
        in printed
    )
    assert "accepts it" not in printed


@pytest.mark.parametrize("words", COMMANDS.values(), ids=COMMANDS)
def test_an_examined_target_is_not_spoken_of(words: tuple[str, ...], mycnf: Mycnf, tmp_path: Path) -> None:
    """A version within the catalogs needs no line."""
    (tmp_path / "my.cnf").write_text(FILE)
    assert "examined" not in mycnf(*words, "--target", "mysql-8.0.36").err


@pytest.mark.parametrize(("words", "code"), [((), 0), (("--target", "mysql-9.7"), 0), (("--target", "mysql-9.7.4"), 1)])
def test_a_series_is_that_of_any_build(words: tuple[str, ...], code: int, mycnf: Mycnf, tmp_path: Path) -> None:
    """Percona's options are an error only for the exact version of MySQL Community that refused them."""
    (tmp_path / "my.cnf").write_text("[mysqld]\nuserstat = ON\nthread_handling = pool-of-threads\n")
    ended = mycnf("lint", *words, "--fail-on", "error", "my.cnf")
    assert ended.code == code
    assert "MySQL Community 9.7.4 does not have it" in " ".join(ended.out.split())
