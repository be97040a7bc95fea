"""`mycnf explain` and `mycnf rules`, as their user runs them."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

import pytest

from rules import all_rules

if TYPE_CHECKING:
    from pathlib import Path

    from mycnf_command import Mycnf


def test_a_rule_with_its_evidence(mycnf: Mycnf) -> None:
    """A rule's page has its sentence, its numbers, the curve, what to do and when to reconsider, 80 wide."""
    ended = mycnf("explain", "BUF001")
    assert ended.code == 0
    for part in ("BUF001 oversized-read-buffer", "128K", "65.2", "○", "How to fix", "Reconsider when"):
        assert part in ended.out
    assert all(len(line) <= 80 or "http" in line for line in ended.out.splitlines())


def test_every_rule_has_a_page() -> None:
    """Each rule can be explained, with all its evidence on the page and no line beyond the width but addresses."""
    from advisor.report.output import Paper
    from advisor.report.render.text import write
    from advisor.report.rules import of_rule
    from rules.core.areas import find_evidence

    for rule in all_rules():
        known = [e for e in map(find_evidence, rule.evidence) if e]
        text = write(of_rule(rule, known), Paper(72))
        assert all(identity in text for identity in rule.evidence), rule.code
        words = " ".join(text.split())
        assert all(" ".join(part.split()) in words for part in (rule.summary, rule.docs.why, rule.docs.fix)), rule.code
        assert [line for line in text.splitlines() if len(line) > 72 and "http" not in line] == [], rule.code


def test_plain_output_is_ascii_in_its_curve(mycnf: Mycnf) -> None:
    """A terminal that knows ASCII alone gets a curve of ASCII, and nothing that it can't print."""
    ended = mycnf("explain", "BUF001", env={"PYTHONIOENCODING": "ascii"})
    assert ended.code == 0
    assert ended.out.isascii()
    assert "x.....x" in ended.out


def test_a_rule_as_json(mycnf: Mycnf) -> None:
    """The JSON of a rule holds its words, its options and its evidence with the numbers."""
    rule = json.loads(mycnf("explain", "oversized-read-buffer", "--format", "json").out)["rule"]
    assert rule["code"] == "BUF001"
    assert rule["options"] == ["read_buffer_size"]
    assert rule["evidence"][0]["table"]["series"]["full table scan time"][0] == 45.2


@pytest.mark.parametrize("word", ["BUF001", "read_buffer_size"])
def test_every_format(word: str, mycnf: Mycnf, tmp_path: Path) -> None:
    """A rule and an option come as Markdown and as a page too, and into a file."""
    markdown = mycnf("explain", word, "--format", "markdown").out
    assert markdown.startswith("## ")
    assert ("| 2M | 65.2 |" in markdown) == (word == "BUF001")
    path = tmp_path / "page.html"
    assert mycnf("explain", word, "--format", "html", "-o", str(path)).out == ""
    page = path.read_text(encoding="utf-8")
    assert page.startswith("<!doctype html>")
    assert ("<svg " in page) == (word == "BUF001")


def test_an_option_for_a_target(mycnf: Mycnf) -> None:
    """An option's page has its range, its default in every series, and the rules about it."""
    ended = mycnf("explain", "--target", "mysql-9.7", "read-buffer-size")
    assert ended.code == 0
    for part in (
        "read_buffer_size",
        "As MySQL 9.7",
        "8,192",
        "MariaDB 10.11",
        "131072",
        "BUF002 pointless-read-buffer",
    ):
        assert part in ended.out


@pytest.mark.parametrize(
    ("option", "target", "variable"),
    [
        ("mysqlx_max_connections", "mysql-9.7", "mysqlx_max_connections, can be changed while the server runs"),
        ("performance_schema_instrument", "mysql-8.4", "none: only an option for the command line and option files"),
        ("innodb_status_file", "mysql-8.0", "none: only an option for the command line and option files"),
        ("innodb_purge_threads", "mariadb-10.6", "innodb_purge_threads, global since"),
        ("tcp_nodelay", "mariadb-11.8", "tcp_nodelay, session, can be changed"),  # SET GLOBAL: error 1238
        ("log_raw", "mysql-8.0.15", "none: only an option for the command line and option files"),
        ("log_raw", "mysql-8.0.19", "log_raw, global, can be changed while the server runs"),
    ],
)
def test_the_variable_of_an_option(option: str, target: str, variable: str, mycnf: Mycnf) -> None:
    """A page names a variable only if servers have it, and a restart only if it is known to need one."""
    assert f"variable {variable}" in " ".join(mycnf("explain", option, "--target", target).out.split())


def test_what_is_not_known_of_a_variable(mycnf: Mycnf) -> None:
    """The page of a plugin's option does not deny a variable that only a server with the plugin would show."""
    assert "variable" not in mycnf("explain", "mysqlx_max_connections", "--target", "mysql-5.7").out


def test_the_default_of_a_size(mycnf: Mycnf) -> None:
    """A default in bytes has its size in units beside it."""
    printed = " ".join(mycnf("explain", "innodb_log_buffer_size").out.split())
    assert "MySQL 8.0.43 16777216 (16M)" in printed
    assert "MariaDB 12.3.2 16777216 (16M) (from documents)" in printed


def test_an_empty_default(mycnf: Mycnf) -> None:
    """A series with an empty default has its row."""
    printed = " ".join(mycnf("explain", "init_connect").out.split())
    assert "MySQL 5.7.44 (empty)" in printed
    assert "MariaDB 12.3.2 (empty) (from documents)" in printed


@pytest.mark.parametrize(
    ("option", "rows"),
    [
        ("max_connections", ("MySQL 5.7.44 151, lower with", "MariaDB 11.8.9 151, lower with")),
        ("table_open_cache", ("MySQL 5.7.44 2000, lower with", "MySQL 8.0.43 4000, lower with", "11.8.9 2000, lower")),
    ],
)
def test_a_default_that_the_host_may_lower(option: str, rows: tuple[str, ...], mycnf: Mycnf) -> None:
    """The number that a server takes where it may open enough files, and that it may be lower."""
    printed = " ".join(mycnf("explain", option).out.split())
    assert all(row in printed for row in rows)


def test_the_new_name_has_the_default_of_the_old(mycnf: Mycnf) -> None:
    """MySQL 8.0 logs what a replica applies, under both names of the option."""
    for name in ("log_replica_updates", "log_slave_updates"):
        assert "MySQL 8.0.43 TRUE" in " ".join(mycnf("explain", name).out.split())


def test_an_option_that_differs_between_series(mycnf: Mycnf) -> None:
    """What holds for some series only is headed by the newest of each flavour: 3 is MariaDB's alone."""
    printed = mycnf("explain", "innodb_flush_log_at_trx_commit").out
    words = ("As MySQL 9.7.4 knows it", "0 to 2", "As MariaDB 12.3.2 knows it", "0 to 3")
    assert sorted(map(printed.index, words)) == list(map(printed.index, words))


def test_an_option_that_both_flavours_take_alike(mycnf: Mycnf) -> None:
    """Facts that the newest of both flavours share are one section, with both as its head."""
    printed = mycnf("explain", "open_files_limit").out
    assert printed.count("As MySQL 9.7.4 and MariaDB 12.3.2 know it") == printed.count(" know") == 1


def test_an_option_that_is_gone(mycnf: Mycnf) -> None:
    """An option of old versions is shown with its versions, and a target without it says so."""
    gone = mycnf("explain", "tx_isolation")
    assert gone.code == 0
    assert "known to MySQL" in gone.out or "MySQL 5.7" in gone.out
    without = mycnf("explain", "table_cache", "--target", "mysql-9.7").out
    heads = ("MySQL 9.7.4 has no such option.", "known to MySQL", "replaced by table_open_cache", "As MariaDB 12.3")
    assert [head for head in heads if head not in without] == []
    assert sorted(map(without.index, heads)) == list(map(without.index, heads))


def test_an_option_as_json(mycnf: Mycnf) -> None:
    """The JSON of an option has one entry for each series, null where it has none, and the rules' codes."""
    option = json.loads(mycnf("explain", "query_cache_size", "--format", "json").out)["option"]
    assert option["targets"]["mysql-9.7.4"] is None
    assert option["targets"]["mariadb-10.11.19"]["default"] == "1048576"
    assert option["rules"] == ["BUF008", "BUF009"]


@pytest.mark.parametrize(
    ("word", "meant"),
    [
        ("innodb_bufer_pool_size", "innodb_buffer_pool_size"),
        ("oversized-read-bufer", "oversized-read-buffer"),
        ("no such thing at all", "mycnf rules"),
        (
            "innodb_show_locks_hel",
            "did you mean innodb_show_locks_held, which Percona Server (5.7, 8.0, 8.4) documents?",
        ),
        (
            "log_warnings_suppress",
            "which Percona Server (5.7, 8.0, 8.4) documents: no Percona Server that mycnf knows has it",
        ),
        ("named_pipe", "named_pipe, which exists on Windows only: it knows MySQL Community and MariaDB on Linux"),
    ],
)
def test_an_unknown_word(word: str, meant: str, mycnf: Mycnf) -> None:
    """A word that is neither rule nor option is one line with the nearest name, exit code 2."""
    ended = mycnf("explain", word)
    assert (ended.code, ended.out) == (2, "")
    assert meant in ended.err
    assert ended.err.count("\n") == 1


def test_rules_as_text(mycnf: Mycnf) -> None:
    """Every rule stands on a line of its own."""
    ended = mycnf("rules")
    assert ended.code == 0
    assert all(any(line.startswith(f"{r.code}  {r.name}") for line in ended.out.splitlines()) for r in all_rules())


def test_rules_as_json(mycnf: Mycnf) -> None:
    """The JSON has the fields of the contract for every rule."""
    listed = json.loads(mycnf("rules", "--format", "json").out)
    assert listed["version"] == 1
    assert [r["code"] for r in listed["rules"]] == [r.code for r in all_rules()]
    fields = "code name family severity confidence summary targets needs evidence probe fix"
    assert all(list(r) == fields.split() for r in listed["rules"])


def test_rules_as_markdown(mycnf: Mycnf) -> None:
    """`mycnf rules --format markdown` is every rule on one page."""
    ended = mycnf("rules", "--format", "markdown")
    assert ended.code == 0
    assert re.findall(r"^## ([A-Z]{3}\d{3}) ", ended.out, re.MULTILINE) == [r.code for r in all_rules()]


def test_how_near_the_sources_are(mycnf: Mycnf) -> None:
    """A measured rule says what is here, by the user's words where they are given, and how far each source is."""
    ended = mycnf("explain", "BUF001", "--target", "mariadb-10.11", "--ram", "64G", "--cpus", "8", "--disk", "nvme")
    assert (ended.code, ended.err) == (0, "")
    printed = " ".join(ended.out.split())
    assert "Here: MariaDB 10.11.19, 8 processors, 64G of memory, NVMe." in printed
    assert "on MySQL 5.1, 8 processors" not in printed
    assert "2G of memory, rotating disks: expect the same ranking, not the same factors." in printed


def test_an_assumed_server(mycnf: Mycnf) -> None:
    """Without --target the newest series that the rule is for is held against the sources, and said to be assumed."""
    report = json.loads(mycnf("explain", "BUF001", "--format", "json").out)["here"]
    assert report["server"].startswith("mariadb-")
    assert report["assumed"]
    assert "(assumed; --target names another)" in " ".join(mycnf("explain", "BUF001").out.split())


def test_a_rule_without_a_measurement(mycnf: Mycnf) -> None:
    """Where nothing was measured there is nothing to be near to."""
    assert "How near" not in mycnf("explain", "unknown-option").out
    assert json.loads(mycnf("explain", "unknown-option", "--format", "json").out)["here"] is None


def test_a_memory_that_is_no_size(mycnf: Mycnf) -> None:
    """A slip in --ram is one line and a usage error."""
    ended = mycnf("explain", "BUF001", "--ram", "many")
    assert (ended.code, ended.err.count("\n")) == (2, 1)
