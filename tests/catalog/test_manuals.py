"""The catalogs and the sentences about an option's past, compared with manuals, sources and recorded help."""

from __future__ import annotations

import csv
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import advisor.catalog
from advisor.catalog import load
from advisor.catalog.targets import EXAMINED, SERIES, parse_target
from advisor.core.model import Target
from advisor.verdict import Outcome, judge_value

TOOLS = Path(__file__).resolve().parents[2] / "tools" / "catalog"
ELSEWHERE = Path(advisor.catalog.__file__).parent / "data" / "elsewhere.json"
TARGETS = sorted({*EXAMINED, *(Target(f, v) for f, series in SERIES.items() for v in series.values())})
PAST = re.compile(r"(\w+) was (removed|introduced) in (?:MySQL |MariaDB )?(\d[\d.]*\d)")
# A sentence of the past that names no version that a manual gives.
VAGUE = re.compile(r"removed after|came with|but not this version|\bto \d+\.\d+ know|know it since")
OF_MYSQL_84 = {
    "innodb_use_fdatasync": "TRUE",
    "temptable_use_mmap": "FALSE",
    "temptable_max_mmap": "0",
    "innodb_adaptive_hash_index": "FALSE",
    "innodb_change_buffering": "none",
    "innodb_doublewrite_files": "2",
    "innodb_doublewrite_pages": "128",
    "innodb_io_capacity": "10000",
    "innodb_log_buffer_size": "67108864",
    "innodb_page_cleaners": "1",
    "innodb_buffer_pool_in_core_file": "FALSE",
    "explain_json_format_version": "1",
    "innodb_parallel_read_threads": None,
    "innodb_purge_threads": None,
    "innodb_read_io_threads": None,
    "temptable_max_ram": None,
}
OF_MYSQL_80 = {
    "innodb_use_fdatasync": "FALSE",
    "temptable_use_mmap": "TRUE",
    "innodb_page_cleaners": "4",
    "innodb_parallel_read_threads": "4",
    "innodb_read_io_threads": "4",
    "temptable_max_ram": "1073741824",
}


Tables = dict[tuple[str, str, str], set[str]]


@pytest.fixture(scope="module")
def manuals() -> Tables:
    """The versions that the manuals' tables give, by flavour, option and event."""
    found: Tables = {}
    files = (("mysql", "events"), ("mysql", "manual"), ("mysql", "noted"), ("mariadb", "mariadb-events"))
    for flavour, file in files:
        with (TOOLS / "facts" / "changes" / f"{file}.tsv").open(encoding="utf-8", newline="") as table:
            for row in csv.DictReader(table, delimiter="\t"):
                if row.get("source") != "unconfirmed":
                    found.setdefault((flavour, row["name"], row["event"]), set()).add(row["value"])
    return found


def test_no_contradiction_stands_without_a_reason() -> None:
    """MySQL 8.4 and MariaDB 10.6, which no server was asked for, contradict their sources in explained facts alone."""
    command = [sys.executable, str(TOOLS / "contradictions.py")]
    done = subprocess.run(command, capture_output=True, text=True, check=True, env={**os.environ, "PYTHONPATH": ""})
    *found, counts = done.stdout.splitlines()
    assert [line for line in found if line.startswith("*")] == []
    reasons = (TOOLS / "facts" / "explained.tsv").read_text(encoding="utf-8").splitlines()[1:]
    assert len(found) == len(reasons), "a reason for what contradicts no longer"
    recorded, declared, changed, documented, of_mariadb = map(int, re.findall(r"\d+", counts))
    assert (recorded > 350, declared > 600, changed > 100) == (True,) * 3, counts
    assert (documented > 1500, of_mariadb > 300) == (True, True), counts


@pytest.mark.parametrize(("target", "defaults"), [("mysql-8.4", OF_MYSQL_84), ("mysql-8.0", OF_MYSQL_80)])
def test_the_defaults_that_8_4_changed(target: str, defaults: dict[str, str | None]) -> None:
    """Both sides of the manual's table of changed defaults; None where a default follows processors or memory."""
    catalog = load(parse_target(target))
    found = {name: option.default for name in defaults if (option := catalog.get(name)) is not None}
    assert found == defaults
    assert all(catalog.get(name).host for name, value in defaults.items() if value is None)


def test_variables_that_8_0_got_after_the_asked_server() -> None:
    """What 8.4 and 9.7 have as a variable is one of 8.0.43 too, and no option of a plugin that is not loaded."""
    old, *newer = (load(parse_target(name)) for name in ("mysql-8.0", "mysql-8.4", "mysql-9.7"))
    for name in old.options:
        option, later = old.get(name), [catalog.get(name) for catalog in newer]
        if option is not None and all(one is not None and one.variable for one in later):
            assert option.variable, name
            assert option.plugin in {one.plugin for one in later if one is not None}, name


@pytest.mark.parametrize(
    ("target", "name", "dynamic"),
    [
        ("mysql-8.0.43", "ssl_ca", True),
        ("mysql-8.0.16", "tls_version", True),
        ("mysql-8.0.15", "ssl_ca", False),
        ("mysql-8.0.43", "tls_ciphersuites", True),
        ("mysql-8.0.43", "skip_slave_start", False),
        ("mysql-8.0.23", "skip_slave_start", None),
    ],
)
def test_what_can_be_set_at_run_time_by_the_manual(target: str, name: str, dynamic: bool | None) -> None:
    """The TLS context since 8.0.16; skip_slave_start is a variable since 8.0.24."""
    option = load(parse_target(target)).get(name)
    assert option is not None
    assert option.dynamic is dynamic


@pytest.mark.parametrize("target", TARGETS, ids=str)
def test_every_sentence_of_the_past_is_the_manuals(target: Target, manuals: Tables) -> None:
    """Of every name that a catalog knows: a version in the verdict is in a manual's table, and fits the target."""
    catalog = load(target)
    count = 0
    for name in json.loads(ELSEWHERE.read_text(encoding="utf-8")):
        line = judge_value(name, None, catalog)
        assert not VAGUE.search(line.reason), line.reason
        for named, event, number in PAST.findall(line.reason):
            count += 1
            assert number in manuals[target.flavour, named, event], line.reason
            assert (tuple(map(int, number.split("."))) <= target.version) == (event == "removed"), line.reason
    assert count > 20


@pytest.mark.parametrize("target", TARGETS, ids=str)
def test_since_when_an_option_is_deprecated_or_known_is_the_manuals(target: Target, manuals: Tables) -> None:
    """What counts as documented is in a manual's table; the rest is reported without a version."""
    catalog = load(target)
    for name in catalog.options:
        option = catalog.get(name)
        assert option is not None
        for fact, event in (("since", "introduced"), ("deprecated", "deprecated")):
            if fact in option.documented:
                assert getattr(option, fact) in manuals[target.flavour, name, event], (name, fact)


@pytest.mark.parametrize(
    ("target", "name", "outcome", "reason"),
    [
        ("mysql-8.4", "ssl", Outcome.REMOVED, "ssl was removed in 8.4.0."),
        ("mysql-8.4", "skip_host_cache", Outcome.REMOVED, "skip_host_cache was removed in 8.3.0."),
        ("mysql-8.0", "thread_pool_size", Outcome.UNEXAMINED, "Percona Server (5.7, 8.0, 8.4) documents"),
        ("mysql-5.7", "thread_pool_stall_limit", Outcome.UNEXAMINED, "Percona Server (5.7, 8.0, 8.4) documents"),
        ("mysql-8.0", "thread_pool_algorithm", Outcome.UNKNOWN, "belongs to the plugin thread_pool"),
        ("mariadb-10.11", "character_set_collations", Outcome.UNKNOWN, "was introduced in MariaDB 11.2.1"),
        ("mariadb-10.6", "wsrep_replicate_myisam", Outcome.ACCEPTED, ""),
        ("mariadb-10.6", "wsrep_strict_ddl", Outcome.ACCEPTED, ""),
        ("mariadb-10.11", "wsrep_replicate_myisam", Outcome.REMOVED, "was removed in 10.7.0"),
        ("mariadb-11.4", "innodb_numa_interleave", Outcome.UNKNOWN, "Only servers built with libnuma"),
    ],
)
def test_sentences_that_were_wrong(target: str, name: str, outcome: Outcome, reason: str) -> None:
    """What used to be concluded from the builds that happened to be looked at."""
    line = judge_value(name, "1" if outcome is Outcome.ACCEPTED else None, load(parse_target(target)))
    assert line.outcome is outcome, line.reason
    assert reason in line.reason
