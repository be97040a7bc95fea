"""No two rules pull at one option, and advice that was followed is not followed by its opposite.

test_advice.py holds the first of each case of a rule.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from rule_cases import all_cases

from advisor.analysis import run_rules
from advisor.catalog import load
from advisor.catalog.targets import EXAMINED, SERIES, parse_target
from advisor.collect.host.host import host_from_options
from advisor.core.model import Target
from advisor.optionfile import resolve
from advisor.verdict import judge_file, judge_value
from advisor.verdict.settings import Settings
from rules import all_rules, file_rules, rule_modules_for
from rules._index import ANY_OPTION
from rules.core.context import RuleContext

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from advisor.catalog import Catalog
    from advisor.core.model import Finding

RULES = all_rules()
EACH = 90  # of the recorded files, one in so many for each server, and others for the next
HOST = host_from_options(ram="8G", cpus=4, disk="ssd", tar=None)
TARGETS = [Target(flavour, patch) for flavour, series in SERIES.items() for patch in series.values()]
# What firing cases have in their files: settings that are worth a rule.
SETTINGS = sorted(
    {
        line.strip()
        for case in all_cases()
        if case.finds
        for line in case.file.splitlines()
        if "=" in line and not line.lstrip().startswith(("#", "["))
    }
)


def advised(findings: Iterable[Finding], catalog: Catalog) -> dict[str, set[str | None]]:
    """By option, the values that the findings of a run advise, as the server takes them."""
    values: dict[str, set[str | None]] = {}
    for line in (action.option_line for found in findings for action in found.actions if action.option_line):
        name, _, value = line.partition(" = ")
        values.setdefault(name, set()).add(judge_value(name, value, catalog).value)
    return values


def linted(text: str, target: Target) -> RuleContext:
    """A file on the host that is assumed here."""
    data = text.encode("utf-8", "surrogateescape")
    resolved = resolve(["my.cnf"], flavour=target.flavour, version=target.version, loader=lambda _: data)
    verdict = judge_file(resolved, load(target))
    return RuleContext(target, verdict.catalog, Settings.from_file(verdict), verdict, host=HOST)


def recorded(shared: Path, server: str) -> list[Path]:
    """Some of the files that people really use: each server has others, so that together they see many."""
    servers = sorted(map(str, EXAMINED))
    first = EACH * servers.index(server) // len(servers)
    files = sorted((shared / "corpus" / "files").glob("*"))[first::EACH]
    assert files
    return files


def refuted(known: RuleContext, text: str) -> dict[str, set[str | None]]:
    """The options of which a run advises two values, or another value once its advice was followed."""
    first = advised(run_rules(known, RULES).findings, known.catalog)
    torn = {name: values for name, values in first.items() if len(values) > 1}
    followed = "".join(f"{name} = {value}\n" for name, values in first.items() for value in values if value)
    then = linted(f"{text}\n[mysqld]\n{followed}", known.target)
    again = advised(run_rules(then, RULES).findings, known.catalog)
    return torn | {name: again[name] for name in first if again.get(name, first[name]) != first[name]}


@example(["innodb_buffer_pool_instances = 16", "innodb_buffer_pool_size = 7800M"], parse_target("mysql-5.7.44"))
@given(st.lists(st.sampled_from(SETTINGS), min_size=1, max_size=12), st.sampled_from(TARGETS))
def test_any_bad_settings(lines: list[str], target: Target) -> None:
    """For any combination of bad settings, each option is advised one value, which stays advised."""
    text = "\n".join(["[mysqld]", *lines])
    assert refuted(linted(text, target), text) == {}


@pytest.mark.parametrize(
    "server", ["mysql-5.7.22", "mysql-8.0.15", "mysql-9.7.4", "mariadb-10.11.19", "mariadb-11.8.9"]
)
def test_option_files_of_the_world(server: str, shared: Path) -> None:
    """The same holds for files that people really use."""
    target = parse_target(server)
    torn = {}
    for path in recorded(shared, server):
        text = path.read_text("utf-8", "surrogateescape")
        if found := refuted(linted(text, target), text):
            torn[path.name] = found
    assert torn == {}


@pytest.mark.parametrize("server", ["mysql-5.7.22", "mysql-9.7.4", "mariadb-10.11.19"])
def test_families_that_sleep_would_have_said_nothing(server: str, shared: Path) -> None:
    """On files that people really use, the families that lint imports for a file find all that there is."""
    target = parse_target(server)
    for path in recorded(shared, server):
        known = linted(path.read_text("utf-8", "surrogateescape"), target)
        woken = {*ANY_OPTION, *rule_modules_for(known.file_verdict.effective, target)}
        for rule in file_rules():
            if rule.function.__module__ not in woken and rule.concerns(target):
                assert list(rule.check(known)) == [], path.name
