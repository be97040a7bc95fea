"""An audit as metrics for node_exporter's textfile collector, in the Prometheus text format 0.0.4."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, NamedTuple

from advisor.core.model import Severity
from advisor.redaction import escape_text, redact_value
from advisor.verdict.number import PORT

if TYPE_CHECKING:
    from collections.abc import Iterator

    from advisor.analysis.audited import AuditResult
    from advisor.report import Page

LONGEST = 200  # characters of a label's value


class Metric(NamedTuple):
    """A family of samples: its name without the prefix that all share, and what it shows. All are gauges."""

    name: str
    help: str


class Sample(NamedTuple):
    """One line of a family: its labels in their order, and the value."""

    labels: dict[str, str]
    value: float


METRICS = (
    Metric("info", "The server that was audited; always 1."),
    Metric("findings", "Findings of the last audit by severity."),
    Metric("finding", "A finding of the last audit; always 1."),
    Metric("put_aside_findings", "Suppressed findings of the last audit; no other metric counts them."),
    Metric("skipped_rules", "Rules that the last audit skipped because a privilege or a part of the facts is missing."),
    Metric(
        "last_audit_incomplete",
        "1 if the connection was lost while the last audit read the server (exit code 3), 0 if it read to the end.",
    ),
    Metric("last_audit_timestamp_seconds", "When the last audit read the server, in seconds since 1970."),
    Metric("memory_measured_bytes", "Memory that the server took when it was audited."),
    Metric("memory_likely_bytes", "Memory that the server is likely to take at its peak of connections."),
    Metric("memory_ceiling_bytes", "Memory that the server may take if every allowed connection uses every buffer."),
)


def report(audited: AuditResult, page: Page) -> str:  # noqa: ARG001 - every format is called alike
    """The whole file, families in the order of METRICS; one without samples is left out."""
    found = samples(audited, name_of(audited))
    return "".join(head(metric) + lines(metric, found[metric.name]) for metric in METRICS if found[metric.name])


def samples(audited: AuditResult, server: str) -> dict[str, list[Sample]]:
    """The samples of each family; `server` is the name that identifies this server."""
    by = {"server": server}
    severities = [f.severity for f in audited.findings]
    return {
        "info": [Sample({**by, "target": str(audited.context.target), "vendor": audited.facts.server.vendor}, 1)],
        # Severities without a finding count too, so that an alert sees a zero and no gap.
        "findings": [Sample({**by, "severity": s.value}, severities.count(s)) for s in Severity],
        "finding": list(_findings(audited, by)),
        "put_aside_findings": [Sample(by, len(audited.suppressed))],
        "skipped_rules": [Sample(by, len({skip.code for skip in audited.skipped}))],
        "last_audit_incomplete": [Sample(by, bool(audited.facts.lost))],
        "last_audit_timestamp_seconds": list(_taken_at(audited, by)),
        **_memory(audited, by),
    }


def name_of(audited: AuditResult) -> str:
    """The server's host, with its port where that is not everybody's; `server` where it names no host."""
    variables = audited.facts.server.variables
    host, port = variables.get("hostname") or "server", variables.get("port", PORT)
    return host if port in (PORT, "0", "") else f"{host}:{port}"


def head(metric: Metric) -> str:
    """The two lines that say what a family is."""
    return f"# HELP mycnf_{metric.name} {metric.help}\n# TYPE mycnf_{metric.name} gauge\n"


def lines(metric: Metric, family_samples: list[Sample]) -> str:
    """The samples, a line each; of samples with the same labels the first alone, as a second one spoils the file."""
    values: dict[str, float] = {}
    for labels, value in family_samples:
        values.setdefault(",".join(f'{name}="{_label(words)}"' for name, words in labels.items()), value)
    return "".join(f"mycnf_{metric.name}{{{labels}}} {value:.17g}\n" for labels, value in values.items())


def _findings(audited: AuditResult, by: dict[str, str]) -> Iterator[Sample]:
    for f in audited.findings:
        about = {"code": f.code, "name": f.name, "option": f.canonical or f.option or ""}
        yield Sample({**by, **about, "severity": f.severity.value, "confidence": f.confidence.value}, 1)


def _taken_at(audited: AuditResult, by: dict[str, str]) -> Iterator[Sample]:
    try:
        yield Sample(by, datetime.fromisoformat(audited.facts.taken_at).timestamp())
    except (ValueError, OverflowError):
        return


def _memory(audited: AuditResult, by: dict[str, str]) -> dict[str, list[Sample]]:
    from rules.sizing.memory import memory_budget

    estimate = memory_budget(audited.context)
    sizes = (estimate.measured, estimate.likely, estimate.ceiling) if estimate else (None, None, None)
    names = ("measured", "likely", "ceiling")
    return {
        f"memory_{name}_bytes": [Sample(by, size)] if size is not None else []
        for name, size in zip(names, sizes, strict=True)
    }


def _label(words: str) -> str:
    """A label's value by the rules of the format: backslash, double quote and line end are escaped."""
    shown = escape_text(redact_value("", words))[:LONGEST]
    return shown.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
