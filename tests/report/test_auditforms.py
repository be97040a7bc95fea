"""An audit in the formats that lint has too, of the recorded server."""

from __future__ import annotations

import json
import re
import unicodedata

import pytest
from audit_samples import audited, recorded
from jsonschema import Draft4Validator
from lxml import etree
from msgspec.structs import replace
from mycnf_command import CHECKOUT

from advisor.__main__ import main
from advisor.core.model import Action, Confidence, Finding, Severity
from advisor.facts import Replication
from advisor.facts.server import GroupMember
from advisor.report import Page
from advisor.report.formats import names, render_audit

SNAPSHOT = CHECKOUT / "examples" / "snapshots" / "mariadb-10.11.json"


def printed(capsys: pytest.CaptureFixture[str], form: str) -> str:
    """The audit of the recorded server in that format; it has an error, which fails it."""
    assert main(["audit", "--isolated", "--snapshot", str(SNAPSHOT), "--format", form]) == 1
    return capsys.readouterr().out


def findings(capsys: pytest.CaptureFixture[str]) -> list[dict[str, object]]:
    """The findings as JSON has them."""
    found: list[dict[str, object]] = json.loads(printed(capsys, "json"))["findings"]
    return found


def test_text_ends_with_the_next_step(capsys: pytest.CaptureFixture[str]) -> None:
    """One line names the worst finding's explanation, and a probe for the first finding that one would settle."""
    *_, before, last = printed(capsys, "text").splitlines()
    assert before == ""
    assert last == "next  mycnf explain SEC003 · mycnf probe session-buffers (tests BUF003)"


def test_what_to_do_comes_before_the_evidence(capsys: pytest.CaptureFixture[str]) -> None:
    """In each finding of a text, the statement and the line stand above the evidence."""
    for block in printed(capsys, "text").split("\n\n"):
        rows = [line[2:12].strip() for line in block.splitlines() if line.startswith("  ")]
        if "evidence" in rows:
            assert not {"do now", "keep", "undo", "help"} & set(rows[rows.index("evidence") :])


def test_lines(capsys: pytest.CaptureFixture[str]) -> None:
    """JSON lines hold the findings of the JSON report, with the server's name and target."""
    lines = [json.loads(line) for line in printed(capsys, "jsonl").splitlines()]
    assert {(line.pop("server"), line.pop("target")) for line in lines} == {("db1", "mariadb-10.11.19")}
    assert lines == findings(capsys)


def test_sarif(capsys: pytest.CaptureFixture[str], sarif_validator: Draft4Validator) -> None:
    """The log is valid; a finding of no file has no location, and no artifact represents the server."""
    log = json.loads(printed(capsys, "sarif"))
    sarif_validator.validate(log)
    (run,) = log["runs"]
    places = {(f["code"], f["message"]): f["path"] for f in findings(capsys)}
    assert len(run["results"]) == len(places)
    assert run["artifacts"] == []
    for result in run["results"]:
        (path,) = {p for (code, words), p in places.items() if result["ruleId"] == code and words in _text(result)}
        uris = [place["physicalLocation"]["artifactLocation"]["uri"] for place in result["locations"]]
        assert uris == ([f"file://{path}"] if path else [])


def _text(result: dict[str, dict[str, str]]) -> str:
    return result["message"]["text"].replace("{{", "{").replace("}}", "}")


def test_junit(capsys: pytest.CaptureFixture[str], junit_schema: etree.XMLSchema) -> None:
    """The document is valid; what is no error passes, as --fail-on is error for audits."""
    root = etree.fromstring(printed(capsys, "junit").encode())
    junit_schema.assertValid(root)
    severities = [f["severity"] for f in findings(capsys)]
    assert len(list(root.iter("testcase"))) == len(severities)
    assert len(list(root.iter("failure"))) == severities.count("error") > 0


@pytest.mark.parametrize("form", names("audit"))
def test_every_format_names_the_rules(form: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Each format of an audit has the code of every finding, and no control character but line ends and tabs."""
    text = printed(capsys, form).replace("\r\n", "\n")
    assert {str(f["code"]) for f in findings(capsys)} <= set(re.findall(r"\b[A-Z]{3}\d{3}\b", text))
    assert not [c for c in text if unicodedata.category(c) == "Cc" and c not in "\n\t"]


REPLICA = {"Slave_IO_Running": "Yes", "Slave_SQL_Running": "Yes", "Seconds_Behind_Master": "3"}
DB1 = {"Master_Host": "db1", "Master_Port": "3306", "Connection_name": "eu", **REPLICA}
DB2 = {"Master_Host": "db2", "Master_Port": "3307", "Connection_name": "us", "Slave_IO_Running": "Yes"}
OWN = GroupMember("ONLINE", "PRIMARY", "8.0.36", own=True)
NODE = {"wsrep_cluster_status": "Primary", "wsrep_cluster_size": "3", "wsrep_local_state_comment": "Donor/Desynced"}


@pytest.mark.parametrize("form", ["text", "markdown", "html"])
@pytest.mark.parametrize(
    ("replication", "words"),
    [
        (Replication((DB1, DB2), replicas_connected=1), [
            "replica of db2:3307 of channel us: applier not running, lag unknown · replica of db1 of channel eu",
            "lag 3 s · source of 1 replica"]),
        (Replication((DB1,) * 5), ["replica of db1 of channel eu: lag 3 s · 2 more channels"]),
        (Replication(group_members=3, members=(OWN,)), [
            "member of a replication group of 3: this server ONLINE, PRIMARY"]),
        (Replication(galera=True), ["Galera cluster of 3 nodes: Primary, this node Donor/Desynced"]),
    ],
    ids=["channels", "many", "group", "cluster"],
)  # fmt: skip
def test_the_role_of_a_server_is_among_the_facts(form: str, replication: Replication, words: list[str]) -> None:
    """Reports for people say what a server replicates and how far it is behind, a channel with a problem first."""
    facts = recorded()
    wsrep = {"wsrep_on": "ON", "wsrep_provider": "/usr/lib/galera.so"} if replication.galera else {}
    server = replace(facts.server, replication=replication, variables=facts.server.variables | wsrep)
    server = replace(server, status=server.status | (NODE if replication.galera else {}))
    text = " ".join(render_audit(form, audited(facts=replace(facts, server=server)), Page()).replace("`", "").split())
    assert all(part in text for part in words)


@pytest.mark.parametrize(("option_line", "shown"), [(None, True), ("big_tables = OFF", False)])
def test_a_line_that_statements_leave_is_to_be_removed(option_line: str | None, shown: bool) -> None:
    """Beside a statement alone, the text of a finding says that the line has to go; a new line says it itself."""
    remove = "remove the line, OFF is the default"
    actions = (Action(statement="SET GLOBAL big_tables = OFF;", option_line=option_line),)
    finding = Finding("TMP002", "temporary", Severity.WARNING, Confidence.MEASURED, "On disk.", remove, actions=actions)
    for form in ("text", "markdown", "html"):
        assert (remove in render_audit(form, audited(finding), Page())) is shown
