"""House rules: what they say and advise, and that built-in advice gives way to them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from rule_cases import Case, context_of_case

from advisor.analysis import run_rules, select_rules
from advisor.catalog import load
from advisor.catalog.targets import parse_target
from advisor.core.model import Action
from advisor.optionfile import resolve
from advisor.verdict import Outcome, judge_file, judge_value
from advisor.verdict.settings import Settings
from rules import file_rules
from rules.core.context import RuleContext
from rules.policy.house_rule import HouseRule, parse_number
from rules.policy.rules import defer_to_house_rules

if TYPE_CHECKING:
    from pathlib import Path

    from advisor.core.model import Finding


def findings(file: str, house: dict[str, Any], folder: Path, target: str = "mysql-8.4", **more: Any) -> list[Finding]:
    """All that the rules find in a file, house rules among them, in the order of the rules."""
    known = context_of_case(Case("", "", target, file=file, house=house, **more), folder)
    return list(run_rules(known, file_rules(house=True)).findings)


def of(found: list[Finding], code: str) -> Finding:
    """The one finding of that code."""
    (only,) = [f for f in found if f.code == code]
    return only


def test_house_rules_have_their_own_words(tmp_path: Path) -> None:
    """The message of the house follows what is wrong, and its severity counts."""
    asked = {"max_connections": {"maximum": 500, "message": "Ask the platform team", "severity": "error"}}
    found = of(findings("max_connections = 5000", asked, tmp_path), "HOU004")
    assert found.message.endswith("the maximum of the house rules is 500. Ask the platform team.")
    assert found.severity == "error"
    assert found.help == "write max_connections = 500"
    asked["max_connections"]["message"] = "Why so many?"
    assert of(findings("max_connections = 5000", asked, tmp_path), "HOU004").message.endswith("500. Why so many?")


@pytest.mark.parametrize(
    ("line", "minimum", "says"),
    [("64K", "128K", "is 64K, and the minimum of the house rules is 128K."), ("65536", "131072", "is 65536, and")],
)
def test_a_size_has_the_unit_of_the_house_rule(line: str, minimum: str, says: str, tmp_path: Path) -> None:
    """The value and its limit can be compared at a glance."""
    found = of(findings(f"sort_buffer_size = {line}", {"sort_buffer_size": {"minimum": minimum}}, tmp_path), "HOU003")
    assert says in found.message


@pytest.mark.parametrize(
    ("text", "line", "group"),
    [
        ("[client]\nport=1\n[mysqld-8.4]\n[MYSQLD]\n[mysqld]\nport=1\n", 5, "mysqld"),
        ("# nothing\n[server]\n", 2, "server"),
        ("[client]\nport=1\n", 1, None),
        ("\n", 1, None),
    ],
)
def test_where_a_missing_option_belongs(text: str, line: int, group: str | None, tmp_path: Path) -> None:
    """A missing option is reported at the header of [mysqld], else of another group of the server, else at line 1."""
    path = tmp_path / "x.cnf"
    path.write_text(text)
    target = parse_target("mysql-8.4")
    verdict = judge_file(resolve([str(path)]), load(target))
    settings = Settings.from_file(verdict)
    known = RuleContext(target, load(target), settings, verdict, house=(HouseRule("server_id", required=True),))
    found = of(list(run_rules(known, select_rules(["HOU"], None)).findings), "HOU001")
    assert found.location is not None
    assert (found.group, found.location.line) == (group, line)


def test_advice_keeps_to_all_the_rules(tmp_path: Path) -> None:
    """Several rules for one option advise one value, which keeps to each and which the server takes as it stands."""
    house = {"sort_buffer_size": [{"minimum": "1M"}, {"allowed": ["512K", "2M", "8M"]}, {"maximum": "4M"}]}
    found = [f for f in findings("sort_buffer_size = 256K", house, tmp_path) if f.code.startswith("HOU")]
    assert [f.code for f in found] == ["HOU003", "HOU005"]
    assert {a.option_line for f in found for a in f.actions} == {"sort_buffer_size = 2M"}
    assert {f.fix.edits[0].text for f in found} == {"2M"}


def test_a_server_gets_a_statement(tmp_path: Path) -> None:
    """On a running server the advice is a valid statement, regardless of the notation of the configuration."""
    house = {"sort_buffer_size": {"minimum": "1M"}, "general_log": {"allowed": [True]}}
    known = context_of_case(Case("", "", "mysql-8.0.15", server={}, house=house), tmp_path)
    found = run_rules(known, select_rules(["HOU"], None)).findings
    statements = {a.statement for f in found for a in f.actions}
    assert statements == {"SET GLOBAL sort_buffer_size = 1048576;", "SET GLOBAL general_log = ON;"}


def test_built_in_advice_gives_way(tmp_path: Path) -> None:
    """Advice that the house rules forbid is not given, beside a breach or without one; the finding itself stays."""
    for file, codes in (("read_buffer_size = 8M", set()), ("read_buffer_size = 512K", {"HOU003"})):
        found = findings(file, {"read_buffer_size": {"minimum": "1M"}}, tmp_path, target="mysql-5.7")
        assert {f.code for f in found if f.code.startswith("HOU")} == codes
        advised = {a.option_line for f in found for a in f.actions if f.canonical == "read_buffer_size"}
        assert advised <= {"read_buffer_size = 1M"}
    kept = of(
        findings("read_buffer_size = 8M", {"read_buffer_size": {"minimum": "1M"}}, tmp_path, "mysql-5.7"), "BUF001"
    )
    assert kept.help == "the house rules for read_buffer_size apply: at least 1M"


def test_built_in_advice_that_keeps_to_the_house_stays(tmp_path: Path) -> None:
    """Advice within what the house allows is given as ever."""
    house = {"read_buffer_size": {"maximum": "1M"}}
    found = of(findings("read_buffer_size = 8M", house, tmp_path, target="mysql-5.7"), "BUF001")
    assert found.actions


def test_a_required_line_is_not_to_be_removed(tmp_path: Path) -> None:
    """A deprecated option that the house requires is reported, without the advice to remove it."""
    house = {"innodb_flush_method": {"required": True}}
    found = of(findings("innodb_flush_method = O_DIRECT", house, tmp_path, target="mariadb-11.8"), "OPT008")
    assert "apply" in found.help
    assert found.fix is None


def test_an_overridden_line_may_go(tmp_path: Path) -> None:
    """Of a required option that is set twice the line without effect may still be removed."""
    house = {"max_connections": {"required": True}}
    found = of(findings("max_connections = 10\nmax_connections = 20", house, tmp_path), "OPT012")
    assert found.fix is not None


def test_refusals_keep_their_help(tmp_path: Path) -> None:
    """A line that the server refuses is fixed before anything else."""
    house = {"innodb_flush_method": {"allowed": ["O_DIRECT"]}}
    found = of(findings("innodb_flush_method = O_DIRCT", house, tmp_path), "OPT003")
    assert "house" not in found.help


def test_secrets_of_house_rules_are_masked(tmp_path: Path) -> None:
    """A value that is a secret is not shown, in the message neither."""
    known = context_of_case(
        Case(
            "",
            "",
            "mariadb-10.11",
            file="wsrep_sst_auth = root:kanarienvogel",
            house={"wsrep_sst_auth": {"allowed": ["x"]}},
        ),
        tmp_path,
    )
    assert "kanarienvogel" not in str(run_rules(known, select_rules(["HOU"], None)).findings)


@pytest.mark.parametrize("text", ["128K", "1", "0", "-1", "3g", "12E"])
def test_numbers_are_read_as_the_server_reads_them(text: str, tmp_path: Path) -> None:
    """A bound in the configuration is the number that the server reads in the same text."""
    catalog = context_of_case(Case("", "", "mysql-8.4", file="port=1"), tmp_path).catalog
    taken = judge_value("innodb_buffer_pool_size", text, catalog)
    if taken.outcome is Outcome.ACCEPTED:
        assert parse_number(text, "int") == int(taken.value or "")
    assert parse_number(text, "int") is not None


@pytest.mark.parametrize("text", ["", "x", "1.5", "10GB", "K", "1.5G", "nan"])
def test_what_is_no_whole_number(text: str) -> None:
    """Other texts are no bound of a whole number."""
    assert parse_number(text, "uint") is None


def test_words_of_a_rule() -> None:
    """A rule says in a few words what it asks."""
    assert HouseRule("x", minimum="1M", maximum="4M").requirement() == "at least 1M, at most 4M"
    assert HouseRule("x", allowed=("a", "b")).requirement() == "a or b"
    assert HouseRule("x", required=True).requirement() == "set"
    assert HouseRule("x", forbidden=True).requirement() == "not set"


def test_advice_for_another_option_is_not_held_to_the_rule(tmp_path: Path) -> None:
    """What a finding would write for an option without house rules is none of their business."""
    house = {"read_buffer_size": {"maximum": "1M"}}
    known = context_of_case(Case("", "", "mysql-5.7", file="read_buffer_size = 8M", house=house), tmp_path)
    found = of(list(run_rules(known, select_rules(["BUF001"], None)).findings), "BUF001")
    elsewhere = found._replace(actions=(Action(option_line="sort_buffer_size = 8M"),), fix=None)
    assert defer_to_house_rules(known, [elsewhere]) == [elsewhere]
