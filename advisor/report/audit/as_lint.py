"""An audit in the formats of lint; its JSON also has the server, the host, the window and what was skipped."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from advisor.analysis.audit_comparison import as_json
from advisor.facts.snapshot import to_plain
from advisor.redaction import escape_text, redact_value
from advisor.report import CheckedFile
from advisor.report.audit.document import missing_grants
from advisor.report.findings_json import VERSION, dumps
from advisor.report.findings_json import audited_finding as finding
from advisor.report.lint import hedged_message
from rules.core.statements import action_place, permanent_setting

if TYPE_CHECKING:
    from collections.abc import Iterator

    from advisor.analysis.audited import AuditResult
    from advisor.core.model import Action, Finding
    from advisor.facts import Facts, SampledHours
    from advisor.report import AuditWriter, LintWriter, Page


def written_as_lint(write: LintWriter) -> AuditWriter:
    """The writer of an audit in a format of lint: its findings as those of one file, what to do in their help."""

    def report(audited: AuditResult, page: Page) -> str:
        findings = tuple(with_advice(f) for f in audited.findings)
        baselined = tuple(f for f, _ in audited.suppressed)
        return write([CheckedFile("", audited.context.target, findings, {}, baselined=baselined)], page)

    return report


def concise(audited: AuditResult, page: Page) -> str:  # noqa: ARG001 - every format is called alike
    """One line a finding."""
    heads = ((f, f"{f.severity.value}: {f.code} {f.name} {f.canonical or ''}") for f in audited.findings)
    lines = [f"{head}: {hedged_message(f)}" for f, head in heads]
    return "".join(escape_text(line.replace(" : ", ": ")) + "\n" for line in lines)


def with_advice(f: Finding) -> Finding:
    """The finding with its actions in its help and its local evidence in its message, all that these can say."""
    if f.local:
        f = f._replace(message=f"{f.message} {f.local.words}")
    steps = [step for a in f.actions for step in _steps(a)]
    return f._replace(help=". ".join(steps)) if steps else f


def _steps(a: Action) -> Iterator[str]:
    if a.statement:
        yield f"Do now: {a.statement.rstrip(';')}"
    if a.option_line:
        yield f"Keep in {action_place(a) or 'the option file'}: {a.option_line}"
    if a.argument:
        yield f"Keep in {action_place(a)}: {a.argument} in place of {a.replaces or 'the option'}"
    risk = ", ".join(part for part in (a.risk, "it needs a restart" if a.restart else "") if part)
    if risk and (a.statement or permanent_setting(a)):
        yield f"Risk: {risk}"


def audit_as_json(audited: AuditResult, page: Page) -> str:  # noqa: ARG001 - every format is called alike
    """The whole audit; `skipped` names rules, and parts of the facts, with what they need, and suppressed findings."""
    facts = audited.facts
    skipped = [{"code": s.code, "reason": s.reason} for s in audited.skipped]
    skipped += [{"code": u.part, "reason": u.reason} for u in facts.unavailable]
    skipped += [{"code": f.code, "reason": f"suppressed: {redact_value('', why)}"} for f, why in audited.suppressed]
    grants = [{"statement": sql, "why": why} for sql, why in missing_grants(audited)]
    since = {"since": as_json(audited.since)} if audited.since else {}
    return dumps(
        {
            "version": VERSION,
            "server": _server_fields(facts, str(audited.context.target)),
            "host": to_plain(facts.host) if facts.host else None,
            "window": facts.workload.seconds if facts.workload else None,
            "findings": [finding(f) for f in audited.findings],
            "skipped": skipped,
            **({"grants": grants} if grants else {}),
            "fine": [one._asdict() for one in audited.passed],
            **(_sampled_fields(facts.sampled) if facts.sampled else {}),
            **since,
        }
    )


def _sampled_fields(sampled: SampledHours) -> dict[str, Any]:
    """What is known of other hours; the hours themselves are in the findings based on them."""
    hours = [{"of": hour.of, "began_at": hour.began_at, "ended_at": hour.ended_at} for hour in sampled.hours]
    return {"sampled": {"since": sampled.since, "until": sampled.until, "samples": sampled.samples, "hours": hours}}


def _server_fields(facts: Facts, target: str) -> dict[str, Any]:
    server = facts.server
    return {
        "target": target,
        "version": server.version,
        "version_comment": server.version_comment,
        "vendor": server.vendor,
        "managed": server.managed or None,
        "hostname": server.variables.get("hostname"),
        "uptime": server.uptime,
        "taken_at": facts.taken_at,
        "statements": facts.statements,
        "seconds": facts.seconds,
    }
