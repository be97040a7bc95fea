"""A report for strangers: no name and no address of the hosts, and everything else as it was."""

from __future__ import annotations

import json

import pytest
from audit_samples import audited, recorded
from msgspec.structs import replace

from advisor.analysis import run_rules
from advisor.analysis.anonymize import anonymize
from advisor.analysis.audited import AuditResult
from advisor.analysis.context import build_context
from advisor.core.model import Action, Confidence, Finding, LocalResult, Location, Severity, SkippedCheck
from advisor.facts import Accounts, Replication, SchemaRisks, Unavailable, VariableOrigin, VariableSetter
from advisor.facts.server import AutoIncrement, EngineTable, RedundantIndex, UnkeyedTable
from advisor.report import Page
from advisor.report.formats import names, render_audit
from rules import all_rules

WORDS = (
    "db7.corp.example, DB7 and /var/log/db7.err on 10.1.2.3 and fe80::12:3, not db70; 127.0.0.1, 10.11.19 at 05:01:05"
)
CLEARED = (
    "some-host, some-host and /var/log/some-host.err on some-address and some-address, "
    "not db70; 127.0.0.1, 10.11.19 at 05:01:05"
)


def named() -> AuditResult:
    """An audit in which each text that is not a rule's own holds names and addresses."""
    facts = recorded()
    variables = {**facts.server.variables, "hostname": "db7.corp.example", "wsrep_node_name": "node-b"}
    server = replace(
        facts.server,
        variables=variables,
        version_comment=WORDS,
        replication=Replication(({"Master_Host": "upstream.corp.example", "Source_Host": None},)),
    )
    finding = Finding(
        "TST001",
        "named-host",
        Severity.ERROR,
        Confidence.CERTAIN,
        WORDS,
        help=WORDS,
        option="report_host",
        value="node-b",
        location=Location("/etc/db7/my.cnf", 3),
        actions=(Action(f"report_host = {WORDS}", f"SET x = '{WORDS}'", WORDS, undo=WORDS, watch="Threads_running"),),
        local=LocalResult("scan", "2026-11-20T00:00:00", "worse", "measured on upstream"),
    )
    made = audited(finding, facts=replace(facts, server=server, lost=WORDS, unavailable=(Unavailable("host", WORDS),)))
    return made._replace(skipped=(SkippedCheck("TST002", WORDS),), suppressed=((finding, WORDS),))


@pytest.mark.parametrize("form", names("audit"))
def test_no_format_names_the_host(form: str) -> None:
    """Neither names, whole or without their domain, nor addresses of the network are in any format."""
    text = render_audit(form, anonymize(named()), Page()).lower()
    shortened = text.replace("db70", "")
    for word in ("db7", "node-b", "corp.example", "upstream", "10.1.2.3", "fe80::12:3"):
        assert word not in shortened


def test_accounts_keep_their_names_and_lose_their_hosts() -> None:
    """Hosts and networks that accounts may come from are taken out; names, wildcards and the host itself stay."""
    kind = Accounts("x", False, False, True, "there", 4, "app@shop.example, app@10.1.%, root@localhost, root@%")
    facts = recorded()
    made = anonymize(audited(facts=replace(facts, server=replace(facts.server, accounts=(kind,)))))
    accounts = made.facts.server.accounts
    assert accounts is not None
    assert accounts[0].names == "app@some-host, app@some-host, root@localhost, root@%"


def test_accounts_that_set_variables_lose_their_hosts() -> None:
    """The host of an account that ran SET is taken out of the facts, and of what findings quote of it."""
    facts = recorded()
    setter = VariableSetter("app@shop.example", 1795835520)
    server = replace(facts.server, origins={"sync_binlog": VariableOrigin("DYNAMIC", set_by=setter)})
    finding = Finding("TST001", "x", Severity.ERROR, Confidence.CERTAIN, "m", set_by=f"Set by {setter.words}.")
    made = anonymize(audited(finding, facts=replace(facts, server=server)))
    assert made.facts.server.origins["sync_binlog"].set_by == replace(setter, account="app@some-host")
    assert made.findings[0].set_by == "Set by app@some-host at 2026-11-28 03:12 UTC."


def test_what_is_no_name_stays() -> None:
    """Longer words, versions, times and the host's own addresses stay as they are."""
    cleared = anonymize(named())
    assert cleared.findings[0].message == CLEARED
    assert cleared.findings[0].actions[0].undo == CLEARED
    assert cleared.findings[0].value == "some-host"
    assert cleared.findings[0].location == Location("/etc/some-host/my.cnf", 3)
    assert cleared.skipped[0].reason == cleared.suppressed[0][1] == cleared.facts.lost == CLEARED


def test_the_rules_own_words_stay() -> None:
    """A host that is called as a rule or an option is changes neither."""
    facts = recorded()
    server = replace(facts.server, variables={**facts.server.variables, "hostname": "read_buffer_size"})
    finding = Finding("TST001", "read_buffer_size", Severity.ERROR, Confidence.CERTAIN, "m", option="read_buffer_size")
    (cleared,) = anonymize(audited(finding, facts=replace(facts, server=server))).findings
    assert (cleared.name, cleared.option) == ("read_buffer_size", "read_buffer_size")


@pytest.mark.parametrize("host", ["mysql", "localhost", "", "10.1.2.3"])
def test_names_that_identify_nothing(host: str) -> None:
    """A host that is called as every server's directories are leaves these alone; an address is one."""
    facts = recorded()
    server = replace(facts.server, variables={**facts.server.variables, "hostname": host})
    report = json.loads(render_audit("json", anonymize(audited(facts=replace(facts, server=server))), Page()))
    assert report["server"]["hostname"] == ("some-host" if host == "10.1.2.3" else host)
    assert report["host"]["storage"]["path"] == "/var/lib/mysql"


def test_names_of_tables_are_replaced() -> None:
    """Schemas, tables, columns and indexes have other names in findings and facts, the same name wherever it occurs."""
    risks = SchemaRisks(
        4,
        1,
        auto_increments=(AutoIncrement("shopdb", "or`ders", "orderno", "int", 2147483646),),
        without_key=(UnkeyedTable("shopdb", "secretlog", 20000),),
        other_engines=(EngineTable("shopdb", "or`ders", "MyISAM"),),
        redundant_indexes=(RedundantIndex("shopdb", "or`ders", "byname", "name,orderno", "bynames", "name,orderno,x"),),
    )
    left = Unavailable("schema.engines", "1 of 2 schemas with 9 tables were left out (`otherdb`): too many")
    facts = replace(recorded(), schema_risks=risks, unavailable=(left,))
    findings = run_rules(build_context(facts), [rule for rule in all_rules() if rule.family == "SCH"]).findings
    assert {finding.code for finding in findings} >= {"SCH001", "SCH006", "SCH007"}
    whole = audited(*findings, facts=facts)
    for form in names("audit"):
        report = render_audit(form, anonymize(whole), Page())
        for word in ("shopdb", "ders", "orderno", "secretlog", "byname", "otherdb"):
            assert word not in report
    cleared = anonymize(whole)
    assert cleared.facts.schema_risks is not None
    (column,) = cleared.facts.schema_risks.auto_increments or ()
    assert f"`{column.schema}`.`{column.table}`.`{column.column}` (int)" in cleared.findings[0].message
