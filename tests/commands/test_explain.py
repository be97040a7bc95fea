"""`mycnf explain` and `mycnf rules`, as their user runs them."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

import pymysql
import pytest

from rules import all_rules

if TYPE_CHECKING:
    from pathlib import Path

    from mycnf_command import Mycnf
    from real_servers import Start


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
        ("mysqlx_max_connections", "mysql-9.7", "mysqlx_max_connections, global, can be changed while the server runs"),
        ("mysqlx_wait_timeout", "mysql-9.7", "mysqlx_wait_timeout, global and session, can be changed"),
        ("read_only", "mysql-5.7", "read_only, global, can be changed while the server runs"),
        ("max_allowed_packet", "mysql-9.7", "can be changed while the server runs, with SET GLOBAL only"),  # error 1621
        ("net_buffer_length", "mariadb-11.8", "can be changed while the server runs, with SET GLOBAL only"),
        ("max_user_connections", "mariadb-11.4", "with SET GLOBAL only, unless it was 0 at the start"),  # error 1290
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
    printed = " ".join(mycnf("explain", option, "--target", target).out.split())
    assert "variable " in printed
    assert variable in printed


@pytest.mark.parametrize(
    ("option", "target", "takes"),
    [
        ("innodb_large_prefix", "mysql-5.7", "boolean, value optional"),  # innodb_large_prefix=OFF is taken
        ("external_locking", "mariadb-11.8", "boolean, value optional"),
        ("log_bin", "mariadb-11.8", "text, value optional"),  # a file name, though the variable is a boolean
        ("plugin_load", "mysql-8.0", "text, value required"),
        ("core_file", "mysql-9.7", "switch without a value variable"),
    ],
)
def test_what_an_option_takes(option: str, target: str, takes: str, mycnf: Mycnf) -> None:
    """A page says that a value may follow if a server of the target takes one."""
    assert f"takes {takes}" in " ".join(mycnf("explain", option, "--target", target).out.split())


def test_a_limit_that_is_not_known(mycnf: Mycnf) -> None:
    """A page does not say that a value has no upper bound because the catalog has none: 5.7 takes 4,294,967,295."""
    printed = mycnf("explain", "open_files_limit", "--target", "mysql-5.7").out
    assert "at least 0" in printed
    assert "bound" not in printed


@pytest.mark.parametrize(
    ("option", "rows"),
    [
        ("innodb_flush_method", ("MySQL 9.7.4 O_DIRECT (--verbose --help prints fsync)",)),
        ("log_error_verbosity", ("MySQL 8.0.43 2 (--verbose --help prints 1)", "MariaDB 11.8.9 no such option")),
        ("ssl_ca", ("MySQL 9.7.4 ca.pem MariaDB 10.6.24 no value",)),
        ("core_file", ("MySQL 9.7.4 off", "MariaDB 11.8.9 OFF")),
        ("replicate_do_db", ("MySQL 9.7.4 no value", "MariaDB 11.8.9 no value")),
        ("back_log", ("MySQL 8.0.43 depends on max_connections", "MySQL 9.7.4 10000")),
        ("pid_file", ("MariaDB 11.8.9 depends on the host name",)),
        ("log_tc", ("MySQL 9.7.4 tc.log",)),
        ("default_time_zone", ("MySQL 5.7.44 SYSTEM", "MariaDB 11.8.9 SYSTEM")),
    ],
)
def test_a_default(option: str, rows: tuple[str, ...], mycnf: Mycnf) -> None:
    """A default is the value of a running server without settings, or what it depends on."""
    printed = " ".join(mycnf("explain", option).out.split())
    assert [row for row in rows if row not in printed] == []


def test_the_default_of_the_target(mycnf: Mycnf) -> None:
    """The version that was asked about has the first row, if it is not the newest of its series."""
    printed = " ".join(mycnf("explain", "key_buffer_size", "--target", "mysql-8.0.15").out.split())
    assert "Default MySQL 8.0.15 8388608 (8M) MySQL 5.7.44" in printed


@pytest.mark.parametrize("width", [60, 80, 120])
def test_long_lists_fit_the_page(width: int) -> None:
    """A list of flags is broken at its commas, the value of a running server too."""
    from advisor.catalog import load
    from advisor.catalog.targets import parse_target
    from advisor.report.output import Paper
    from advisor.report.render.text import write
    from advisor.report.rules import of_option

    target = parse_target("mariadb-10.11")
    option = load(target).get("optimizer_switch")
    text = write(of_option("optimizer_switch", {target: option}, []), Paper(width))
    assert [line for line in text.splitlines() if len(line) > width] == []
    assert "not_null_range_scan=off" in text


def test_reserved_words_are_not_values(mycnf: Mycnf) -> None:
    """Places in the server's list of modes that no mode has any more are not shown."""
    assert "NOT_USED" not in mycnf("explain", "sql_mode").out


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
        assert "MySQL 8.0.43 ON" in " ".join(mycnf("explain", name).out.split())


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
    gone = mycnf("explain", "log_slow_queries")
    assert gone.code == 0
    assert "No supported series has this option. known to MySQL 5.5.62 replaced" in " ".join(gone.out.split())
    assert "no such option" not in gone.out
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
        ("BUF01", "did you mean BUF001?"),
        ("single-transaction", "options of clients and of mysqld_safe are not explained"),
        ("foreign_key_check", "did you mean foreign_key_checks?"),
        ("innodb_flush_log_at_commit", "did you mean innodb_flush_log_at_trx_commit?"),
        ("innodb_buffer_pool", "options that begin with it: innodb_buffer_pool_size, "),
        ("validate_password.policy", "it would belong to the component validate_password"),
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


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("time_zone", "SET GLOBAL or SET SESSION changes it. The option default_time_zone sets it at the start."),
        (
            "sql_log_bin",
            "A system variable of MySQL and MariaDB without an option: an option file cannot set it. SET S",
        ),
        (
            "gtid_executed",
            "A system variable of MySQL without an option: an option file cannot set it. It is read-only.",
        ),
        (
            "gtid_slave_pos",
            "A system variable of MariaDB without an option: an option file cannot set it. SET GLOBAL ch",
        ),
        ("tx_isolation", "A system variable of MySQL 5.7 and MariaDB without an option"),
    ],
)
def test_a_variable_without_an_option(name: str, words: str, mycnf: Mycnf) -> None:
    """A name of SHOW VARIABLES that no option file can set is explained: whose it is, what changes it."""
    ended = mycnf("explain", name)
    assert (ended.code, ended.err) == (0, "")
    assert words in " ".join(ended.out.split())
    option = json.loads(mycnf("explain", name, "--format", "json").out)["option"]
    assert words in option["description"]
    assert set(option["targets"].values()) == {None}


# Those that an option sets on some servers, that MariaDB sets in sessions too, and that need a cluster.
ELSEWHERE = ("port", "socket", "version", "sql_slave_skip_counter", "wsrep_gtid_seq_no")


def _error_of(cursor: pymysql.cursors.Cursor, statement: str) -> int:
    """The number of the error that a statement ends with; 0 for none."""
    try:
        cursor.execute(statement)
    except pymysql.Error as error:
        return int(error.args[0])
    return 0


@pytest.mark.servers
def test_the_statement_that_sets_a_variable(server_name: str, start: Start) -> None:
    """A server has the scope that is said of its variables without an option: errors 1238, 1228 and 1229 refuse."""
    from advisor.verdict.formats import find_statement

    wrong = []
    with start(server_name).connect(autocommit=True) as connection, connection.cursor() as cursor:
        cursor.execute("SHOW VARIABLES")
        for name in sorted(name for name, _ in cursor.fetchall() if find_statement(name) is not None):
            if name in ELSEWHERE:
                continue
            said = find_statement(name) or ""
            for scope in ("GLOBAL", "SESSION"):
                error = _error_of(cursor, f"SET {scope} `{name}` = DEFAULT")
                if (error in (1228, 1229, 1231, 1238)) == (f"SET {scope}" in said):
                    wrong.append((name, scope, said))
    assert wrong == []


@pytest.mark.parametrize(
    ("written", "note", "page"),
    [
        (
            "skip-log-bin",
            "skip_log_bin is log_bin with the prefix skip_, which turns a switch off",
            "Enables the binary",
        ),
        ("loose_max_connections", "prefix loose_, which lets a server without the option start.", "range 1 to 100,000"),
        ("hot.key_buffer_size", "is key_buffer_size of the key cache hot.", "MyISAM"),
        ("@@global.max_connections", "", "max_connections, global"),
        ("--max_connections=500", "", "max_connections, global"),
    ],
)
def test_a_name_as_files_and_statements_have_it(written: str, note: str, page: str, mycnf: Mycnf) -> None:
    """A prefix, a key cache, a scope and a value around the name of an option lead to its page."""
    ended = mycnf("explain", "--", written)
    assert ended.code == 0
    printed = " ".join(ended.out.split())
    assert note in printed
    assert page in printed


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


def test_a_newer_target_has_the_defaults_of_the_one_by_which_it_is_read(mycnf: Mycnf) -> None:
    """No document describes it; of MariaDB 12.3 there are documents."""
    text = mycnf("explain", "innodb_buffer_pool_size", "--target", "mysql-27.1").out
    assert "MySQL 27.1        134217728 (128M) (as of MySQL 9.7.4)\n" in text
    assert "MariaDB 12.3.2    134217728 (128M) (from documents)\n" in text
