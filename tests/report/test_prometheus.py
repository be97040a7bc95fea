"""The metrics of an audit, as readers of others take them."""

from __future__ import annotations

import json
import math
import shutil
import subprocess

import pytest
from audit_samples import HOSTILE, audited, nasty_audit, recorded
from hostile_findings import SECRET
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace
from prometheus_client import Metric
from prometheus_client.parser import text_string_to_metric_families

from advisor.__main__ import main
from advisor.analysis.audited import AuditResult
from advisor.core.model import Confidence, Finding, Severity
from advisor.report import Page
from advisor.report.audit.prometheus import LONGEST, METRICS, report


def read(text: str) -> dict[str, Metric]:
    """The families by name, as the outside parser reads them; each sample stands once."""
    families = list(text_string_to_metric_families(text))
    assert len({family.name for family in families}) == len(families)
    for family in families:
        labels = [tuple(sorted(sample.labels.items())) for sample in family.samples]
        assert len(set(labels)) == len(labels)
        assert family.type == "gauge"
        assert family.documentation
    return {family.name: family for family in families}


def value(families: dict[str, Metric], name: str, **labels: str) -> float:
    """The one sample of that family with these labels among its own."""
    (found,) = [s.value for s in families[name].samples if labels.items() <= s.labels.items()]
    return float(found)


def test_demo(capsys: pytest.CaptureFixture[str]) -> None:
    """Every finding, the counts by severity, the time, the rules that were skipped and the memory are there."""
    assert main(["audit", "--isolated", "--demo", "--format", "json"]) == 1
    printed = json.loads(capsys.readouterr().out)
    assert main(["audit", "--isolated", "--demo", "--format", "prometheus"]) == 1
    families = read(capsys.readouterr().out)
    for severity in Severity:
        count = sum(f["severity"] == severity.value for f in printed["findings"])
        assert value(families, "mycnf_findings", server="db1", severity=severity.value) == count
    keys = ("code", "name", "severity", "confidence")
    there = {(*(f[key] for key in keys), f["canonical"] or f["option"] or "") for f in printed["findings"]}
    labelled = [sample.labels for sample in families["mycnf_finding"].samples]
    assert {(*(labels[key] for key in keys), labels["option"]) for labels in labelled} == there
    assert value(families, "mycnf_last_audit_timestamp_seconds") == 1795237265
    assert value(families, "mycnf_skipped_rules") == len(
        {skip["code"] for skip in printed["skipped"] if skip["code"][3:].isdigit()}
    )
    assert 0 < value(families, "mycnf_memory_measured_bytes") <= value(families, "mycnf_memory_likely_bytes")
    assert value(families, "mycnf_memory_likely_bytes") < value(families, "mycnf_memory_ceiling_bytes")


@pytest.mark.parametrize(("lost", "number"), [("", 0), ("the connection was lost during 'SHOW GLOBAL STATUS'", 1)])
def test_an_incomplete_audit_shows(lost: str, number: int) -> None:
    """A lost connection is a 1, so that an alert distinguishes missing findings from a healthy server."""
    families = read(report(audited(facts=replace(recorded(), lost=lost)), Page()))
    assert value(families, "mycnf_last_audit_incomplete", server="db1") == number


def test_no_finding_is_a_zero() -> None:
    """A clean server has zeros, so that an alert distinguishes it from one without a report."""
    families = read(report(audited(), Page()))
    assert [sample.value for sample in families["mycnf_findings"].samples] == [0, 0, 0]
    assert "mycnf_finding" not in families


def test_one_series_a_finding() -> None:
    """Two findings that only their lines distinguish are one series: a second one would spoil the whole file."""
    found = Finding("TST001", "x", Severity.NOTE, Confidence.LIKELY, "m", option="a", canonical="a")
    families = read(report(audited(found, found._replace(message="another")), Page()))
    assert len(families["mycnf_finding"].samples) == 1
    assert value(families, "mycnf_findings", severity="note") == 2


def test_port_distinguishes_servers_of_one_host() -> None:
    """A port that is not everybody's stands behind the host's name."""
    facts = recorded()
    there = replace(facts, server=replace(facts.server, variables={**facts.server.variables, "port": "3307"}))
    assert value(read(report(audited(facts=there), Page())), "mycnf_info", server="db1:3307") == 1


def test_hostile_words_stay_in_their_labels() -> None:
    """Quotes, backslashes and line ends of a server's name come back as they were, or as harmless escapes."""
    families = read(report(nasty_audit(), Page()))
    assert {sample.labels["server"] for family in families.values() for sample in family.samples} == {
        HOSTILE.replace("\x1b", "\\x1b").replace("\u202e", "\\u202e").replace("\n", "\\x0a")
    }
    assert SECRET not in report(nasty_audit(), Page())


@given(st.text(), st.text())
@settings(max_examples=100)
def test_any_label(host: str, option: str) -> None:
    """For any name, the outside parser reads as many samples as there are, and the text is UTF-8."""
    made = report(_named(host, option), Page())
    made.encode()
    families = read(made)
    assert set(families) <= {f"mycnf_{metric.name}" for metric in METRICS}
    assert len(families["mycnf_finding"].samples) == 1
    (sample,) = families["mycnf_info"].samples
    assert len(sample.labels["server"]) <= LONGEST + len(":3306")
    assert not math.isnan(sample.value)


def _named(host: str, option: str) -> AuditResult:
    facts = recorded()
    variables = {**facts.server.variables, "hostname": host}
    found = Finding("TST001", "x", Severity.NOTE, Confidence.LIKELY, "m", option=option)
    return audited(found, facts=replace(facts, server=replace(facts.server, variables=variables)))


def test_promtool(capsys: pytest.CaptureFixture[str]) -> None:
    """Prometheus's own checker has no findings."""
    promtool = shutil.which("promtool")
    if promtool is None:
        pytest.skip("promtool is not installed: apt-get install prometheus")
    for text in (report(nasty_audit(), Page()), report(audited(), Page())):
        ran = subprocess.run([promtool, "check", "metrics"], input=text, capture_output=True, text=True, check=False)
        assert (ran.returncode, ran.stdout, ran.stderr) == (0, "", "")
