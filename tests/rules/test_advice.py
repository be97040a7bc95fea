"""What the rules advise: accepted by the server as written, without contradiction, and never less durable."""

from __future__ import annotations

import csv
import functools
import itertools
import re
from collections import defaultdict
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from mycnf_command import CHECKOUT
from rule_cases import Case, all_cases, cases_by_rule, context_of_case

from advisor.core.model import Action, Confidence, Edit, Finding, Fix, Severity
from advisor.verdict import Outcome, judge_value
from rules import all_rules, find_rule
from rules.core.advice import advise, advised_value, default_number, help_line
from rules.core.context import MissingFact, RuleContext
from rules.core.subject import SAFE, UNSAFE, remove_line, replace_value

if TYPE_CHECKING:
    from advisor.catalog import Catalog

CASES = all_cases()
BY_RULE = cases_by_rule(CASES)
DURABLE = {
    "innodb_flush_log_at_trx_commit": {"1"},
    "sync_binlog": {"1"},
    "innodb_doublewrite": {"ON"},
    "innodb_flush_method": {"O_DIRECT"},
}


ADVISED = re.compile(
    r"(STOP (ALL SLAVES|SLAVE|REPLICA); )?SET (?:GLOBAL|PERSIST(?:_ONLY)?) \w+ = ('([^']|'')*'|[\w.]+);(?(1) START \2;)"
)

# What the rules about blocked sessions print: a look at a session, its end, or what shows more. No setting is advised.
# Statements that set no option: those that look at sessions or end them, and those that change a table or the server.
NO_OPTION = re.compile(
    r"SELECT [A-Z_, ]+ FROM (performance_schema|information_schema)\.\w+"
    r"( JOIN performance_schema\.threads USING \(THREAD_ID\))? WHERE (PROCESSLIST_)?ID = \d+( ORDER BY EVENT_ID)?;"
    r"|SELECT [a-z_, ]+ FROM information_schema\.INNODB_TRX ORDER BY trx_started LIMIT 5;"
    r"|SELECT [a-z_, ]+ FROM sys\.schema_table_lock_waits;"
    r"|SELECT [A-Z_, ]+ FROM performance_schema\.table_handles JOIN performance_schema\.threads "
    r"ON THREAD_ID = OWNER_THREAD_ID WHERE INTERNAL_LOCK IS NOT NULL;"
    r"|SELECT [A-Z_, ]+ FROM performance_schema\.events_statements_history JOIN performance_schema\.threads "
    r"USING \(THREAD_ID\) WHERE EVENT_NAME = 'statement/sql/flush';"
    r"|KILL (QUERY )?\d+;|SHOW ENGINE INNODB STATUS;|XA RECOVER;|INSTALL SONAME 'metadata_lock_info';"
    r"|ALTER INSTANCE ENABLE INNODB REDO_LOG;|SET GLOBAL wsrep_provider_options = 'pc\.bootstrap=YES';"
    r"|SET GLOBAL wsrep_provider_pc_(bootstrap = ON|weight = \d+);"
    r"|ALTER TABLE \S+ (ALTER INDEX \S+ (INVISIBLE|VISIBLE|IGNORED|NOT IGNORED)|DROP INDEX \S+|ADD .*);"
    r"|UPDATE performance_schema\.setup_instruments SET ENABLED = 'YES' WHERE NAME = 'wait/lock/metadata/sql/mdl';"
)


def run(known: RuleContext) -> list[Finding]:
    """All findings of all rules, without the rules that lack something."""
    found: list[Finding] = []
    for rule in all_rules():
        if rule.concerns(known.target):
            try:
                found.extend(rule.check(known))
            except MissingFact:
                continue
    return found


def actions(findings: list[Finding]) -> list[Action]:
    """The actions of all findings."""
    return [action for finding in findings for action in finding.actions]


def option_and_value(action: Action) -> tuple[str, str]:
    """The option and the value of an action: of its line or argument, else of the statement that persists it."""
    if action.option_line:
        name, value = action.option_line.split(" = ")
    elif action.argument:
        name, value = action.argument.removeprefix("--").split("=")
    else:
        assert action.statement
        statement = re.sub(r"^STOP [A-Z ]+; (.*;) START .*$", r"\1", action.statement)
        name, value = statement.removesuffix(";").split(" ", 2)[2].split(" = ")
    return name.replace("-", "_"), value.strip("'")


# An option with a value, as findings print it: in a statement, a line, an argument or a sentence.
SETTING = re.compile(r"(?<![\w.-])(?:loose[_-])?([a-z][a-z0-9_-]*[a-z0-9]) ?= ?('[^']*'|[\w./:+%-]*[\w%])")
KEEPS_EFFECT = "the correction writes what the server makes of the line, the other finding advises another value"
# Pairs of rules that may name different values of one option in one report, and why both are right.
BOTH_RIGHT = {
    frozenset({"OPT003", "MOD002"}): "the correction keeps the character set that is meant, and its message names both",
    frozenset({"OPT001", "BIN001"}): KEEPS_EFFECT,
    frozenset({"OPT006", "BIN008"}): KEEPS_EFFECT,
    frozenset({"OPT006", "CON032"}): KEEPS_EFFECT,
    frozenset({"OPT006", "DUR001"}): KEEPS_EFFECT,
    frozenset({"OPT007", "BIN001"}): KEEPS_EFFECT,
    frozenset({"OPT008", "BIN001"}): KEEPS_EFFECT,
    frozenset({"OPT008"}): "each finding corrects a line of its own",
}


def named_values(finding: Finding, catalog: Catalog) -> dict[str, set[str]]:
    """By option, the values that a finding says to set, as the server takes them: several are alternatives."""
    texts = [finding.help, *(edit.text for edit in (finding.fix.edits if finding.fix else ()))]
    for action in finding.actions:
        texts += [action.option_line or "", action.argument or "", action.statement or ""]
    pairs = [pair for text in texts for pair in SETTING.findall(text)]
    corrected = advised_value(finding)
    if corrected is not None and corrected.after != "remove the line" and catalog.get(corrected.after) is None:
        pairs.append((corrected.option, corrected.after))  # no other name of the option
    values: dict[str, set[str]] = defaultdict(set)
    for name, value in pairs:
        option = catalog.get(name.replace("-", "_")) or catalog.find_variable(name.replace("-", "_"))
        if option is not None:
            text = value.strip("'")
            values[option.alias_of or option.name].add(judge_value(option.name, text, catalog).value or text)
    return values


def contradictions(findings: list[Finding], catalog: Catalog) -> list[tuple[str, str, str]]:
    """The options with the codes of two findings that have no value for them in common."""
    named = [(finding.code, named_values(finding, catalog)) for finding in findings]
    return sorted(
        (option, f"{code}: {values[option]}", f"{other}: {others[option]}")
        for (code, values), (other, others) in itertools.combinations(named, 2)
        for option in values.keys() & others.keys()
        if values[option].isdisjoint(others[option]) and frozenset({code, other}) not in BOTH_RIGHT
    )


@pytest.mark.parametrize(
    "target", ["mysql-5.7", "mysql-8.0", "mysql-8.4", "mysql-9.7", "mariadb-10.11", "mariadb-11.8"]
)
@pytest.mark.parametrize("name", ["bad.cnf", "refused.cnf"])
def test_no_two_findings_name_different_values(name: str, target: str, tmp_path: Path) -> None:
    """What findings of one report say to write agrees, also in their help and corrections; see the test below."""
    text = (CHECKOUT / "examples" / name).read_text("utf-8")
    known = context_of_case(Case("", "", target, text), tmp_path)
    assert contradictions(run(known), known.catalog) == []


def test_contradictions_are_noticed(tmp_path: Path) -> None:
    """Two findings contradict each other if they name values of an option, but none that both name."""
    catalog = known("mysql-9.7.4", tmp_path).catalog
    finding = Finding("AAA001", "a", Severity.NOTE, Confidence.LIKELY, "m.", "write max_connections = 100")
    same = finding._replace(code="AAA002", help="or max-connections=100, or max_connections = 200")
    line = finding._replace(code="AAA003", help="", actions=(Action("max_connections = 300"),))
    edit = finding._replace(
        code="AAA004", help="", option="max_connections", fix=Fix("safe", (Edit(1, 1, 1, 4, "400"),))
    )
    assert contradictions([finding, same], catalog) == []
    for other in (line, edit):
        value = str(300 if other is line else 400)
        expected = [("max_connections", "AAA001: {'100'}", f"{other.code}: {{'{value}'}}")]
        assert contradictions([finding, other], catalog) == expected


@pytest.mark.parametrize("rule", BY_RULE)
def test_advice_of_a_run(rule: str, tmp_path: Path) -> None:
    """Each advised line is taken as written by its target, no two advise different values, and none is less durable."""
    for number, case in enumerate(BY_RULE[rule]):
        folder = tmp_path / str(number)
        folder.mkdir()
        known = context_of_case(case, folder)
        advised: dict[str, set[str]] = defaultdict(set)
        findings = run(known)
        assert contradictions(findings, known.catalog) == [], str(case)
        for action in actions(findings):
            if NO_OPTION.fullmatch(action.statement or ""):
                continue
            name, value = option_and_value(action)
            if not name.startswith("group_replication_"):  # options of a plugin that a value alone does not load
                assert judge_value(name, value, known.catalog).outcome is Outcome.ACCEPTED, (str(case), action)
            advised[name].add(value)
            assert value in DURABLE.get(name, {value}), str(case)
            assert bool(action.statement) == bool(action.undo), str(case)
            for statement in filter(None, (action.statement, action.undo)):
                assert re.fullmatch(ADVISED, statement), (str(case), statement)
            assert action.restart or action.statement or not known.has("server") or known.server.managed, str(case)
        assert {name: values for name, values in advised.items() if len(values) > 1} == {}, str(case)


def test_counters_to_watch_exist(shared: Path, tmp_path: Path) -> None:
    """Every counter that a rule says to watch is one that a server of its version has."""
    missing = []
    for case in CASES:
        status = shared / "catalog" / "servers" / case.target / "global-status.tsv"
        rule = find_rule(case.rule)
        if not case.finds or rule is None or not status.is_file():
            continue
        names = counters(status)  # of a server that is in no Galera cluster
        found = list(rule.check(context_of_case(case, tmp_path)))
        missing += [
            (case.target, a.watch)
            for a in actions(found)
            if a.watch and not a.watch.startswith("wsrep_") and a.watch not in names
        ]
    assert missing == []


@functools.cache
def counters(status: Path) -> frozenset[str]:
    """The names in a table of status counters."""
    with status.open(encoding="utf-8") as file:
        return frozenset(row[0] for row in csv.reader(file, delimiter="\t") if row)


def known(target: str, tmp_path: Path, file: str = "", server: dict[str, object] | None = None) -> RuleContext:
    """What may be known of a small case."""
    made: RuleContext = context_of_case(Case("", "", target, file, server=server), tmp_path)
    return made


def test_no_advice_for_an_option_that_the_target_lacks(tmp_path: Path) -> None:
    """Nothing is advised that the target doesn't know, or would change."""
    assert advise(known("mysql-9.7.4", tmp_path), "query_cache_size", 0) is None
    assert advise(known("mysql-9.7.4", tmp_path), "innodb_flush_log_at_trx_commit", 7) is None
    assert help_line(None) == ""
    assert default_number(known("mysql-9.7.4", tmp_path), "query_cache_size") is None


def test_offline_there_is_no_statement(tmp_path: Path) -> None:
    """Of a file alone the advice is a line; of a running server it is a statement with its undo too."""
    line = advise(known("mysql-9.7.4", tmp_path), "sort_buffer_size", 262144, size=True)
    assert line == Action("sort_buffer_size = 256K")
    both = advise(known("mysql-9.7.4", tmp_path, "sort_buffer_size = 1M", {}), "sort_buffer_size", 262144, size=True)
    assert both is not None
    assert both.statement == "SET GLOBAL sort_buffer_size = 262144;"
    assert both.undo == "SET GLOBAL sort_buffer_size = 1048576;"


def test_what_needs_a_restart_says_so(tmp_path: Path) -> None:
    """A variable that can't be set while the server runs has no statement."""
    for action in (
        advise(known("mysql-9.7.4", tmp_path, server={}), "innodb_buffer_pool_instances", 8),
        advise(known("mysql-9.7.4", tmp_path, server={}), "innodb_doublewrite", "ON", live=False),
    ):
        assert action is not None
        assert action.restart
        assert action.statement is None


def test_on_a_managed_platform_it_is_a_parameter_group(tmp_path: Path) -> None:
    """Where SET GLOBAL is not allowed, the advice is a line for the parameter group."""
    action = advise(known("mysql-8.0.43", tmp_path, server={"managed": "rds"}), "sort_buffer_size", 262144)
    assert action is not None
    assert action.statement is None
    assert "DB parameter group" in action.risk


def test_words_are_quoted(tmp_path: Path) -> None:
    """A value that is a word goes into the statement in quotes."""
    action = advise(known("mariadb-10.11", tmp_path, server={}), "binlog_format", "ROW")
    assert action is not None
    assert action.statement == "SET GLOBAL binlog_format = 'ROW';"


def test_edits(tmp_path: Path) -> None:
    """A value is replaced where it stands, a line is removed whole, and a line without a value has none to replace."""
    with_value, without = (
        v.placed.line for v in known("mysql-9.7.4", tmp_path, "port = 1\nread_only").file_verdict.lines
    )
    fix = replace_value(with_value, "2", UNSAFE)
    assert fix is not None
    assert [(e.line, e.column, e.end_column, e.text) for e in fix.edits] == [(2, 8, 9, "2")]
    assert replace_value(without, "2", SAFE) is None
    assert [(e.line, e.end_line, e.text) for e in remove_line(without, SAFE).edits] == [(3, 4, "")]
