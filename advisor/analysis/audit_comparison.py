"""Compares an audit with an earlier one, and says why findings are gone."""

from __future__ import annotations

import copy
import re
from datetime import UTC, datetime

from msgspec.structs import replace

from advisor.analysis.audited import AuditComparison, AuditResult, Counter, Load, Setting
from advisor.core.model import AbsentPart, format_duration, format_wait
from advisor.redaction import redact_value
from rules import find_rule
from rules.core.context import MissingFact
from rules.core.counters import MINIMUM_UPTIME

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import Any

    from advisor.core.model import Finding
    from advisor.facts import Facts
    from advisor.facts.server import AutoIncrement
    from rules.core.context import RuleContext


WORK = ("questions", "queries")  # counters of statements; every server has at least one
OF_LOAD = ("workload", "sampled")


def loads(before: Facts, now: Facts) -> Load | None:
    """Return both loads; None if one is unknown."""
    then, present = _load(before), _load(now)
    return None if then is None or present is None else Load(then, present)


def _load(facts: Facts) -> float | None:
    for name in WORK:
        rate = facts.workload.rate(name) if facts.workload else None
        count = facts.server.counter(name)
        if rate is None and count is not None and facts.server.uptime:
            rate = count / facts.server.uptime
        if rate is not None:
            return rate
    return None


def reason_unjudged(finding: Finding, before: AuditResult, now: AuditResult) -> str:
    """Return why it is unknown whether the finding still applies; empty if it was checked."""
    if now.rule_codes and finding.code not in now.rule_codes:
        return "the rule was not run (--select, --ignore, no --schema, or the version)"
    if finding_key(finding) in map(finding_key, now.commented):
        return "suppressed by a comment in the server's files"
    reason = next((skip.reason for skip in now.skipped if skip.code == finding.code), "")
    if reason:
        return reason
    lost = [part for part in before.context.parts if before.context.has(part) and not now.context.has(part)]
    for part in lost:
        absent = now.context.parts[part]
        if isinstance(absent, AbsentPart) and not still_found(finding, _lacking(part, before)):
            return absent.reason
    up = now.facts.server.uptime
    if 0 < up < min(MINIMUM_UPTIME, before.facts.server.uptime) and rests_on_load(finding, before.context):
        return f"it is based on counters, which the restart reset {format_duration(up)} ago: {again(up)}"
    return ""


def again(up: float) -> str:
    """Return when the counters will be reliable."""
    return f"audit again in {format_wait(MINIMUM_UPTIME - up)}"


def rests_on_load(finding: Finding, known: RuleContext) -> bool:
    """Whether the finding is based on the server's counters."""
    if not known.has("server"):
        return False
    idle = _without(known, OF_LOAD)
    server = known.server
    idle.parts["server"] = replace(server, status={}, innodb_metrics={}, innodb_status="")
    return not still_found(finding, idle)


def still_found(finding: Finding, known: RuleContext) -> bool:
    """Whether its rule finds it in these facts."""
    rule = find_rule(finding.code)
    if rule is None:
        return True
    try:
        return any(finding_key(one) == finding_key(finding) for one in rule.check(known))
    except MissingFact:
        return False


def finding_key(finding: Finding) -> tuple[str, str]:
    """Return what identifies a finding: rule and option, not the text."""
    return finding.code, finding.canonical or finding.option or ""


def _lacking(part: str, audited: AuditResult) -> RuleContext:
    """Return the context without one collected part; without files, origins and lines are missing too."""
    if part != "files":
        return _without(audited.context, (part,))
    from advisor.analysis.context import build_context

    return build_context(replace(audited.facts, files=None))


def _without(known: RuleContext, parts: Iterable[str]) -> RuleContext:
    """Return the context with those parts absent."""
    lesser = copy.copy(known)
    lesser.parts = {**known.parts, **dict.fromkeys(parts, AbsentPart("left out"))}
    return lesser


# Variables that change on their own.
RESTLESS = re.compile(
    r"timestamp|gtid_(executed|purged|owned|\w*_pos|\w*_state)|last_gtid|innodb_redo_log_capacity_\w+"
    r"|innodb_thread_sleep_delay|wsrep_start_position"
)
COUNTER = re.compile(r"[A-Z]\w+")
DAY = 86400  # seconds
SHORTEST_RATE = 0.5  # days between snapshots; less shows the time of day rather than the rate
SAME = ("hostname", "port", "server_uuid", "datadir")  # these identify the server


def compare(before: AuditResult, now: AuditResult) -> AuditComparison:
    """Compare two audits; findings are identified by rule and option, not by their text."""
    then, present = _by_key(before), _by_key(now)
    load = loads(before.facts, now.facts)
    away = [finding for name, finding in then.items() if name not in present]
    reasons = {finding_key(finding): reason_unjudged(finding, before, now) for finding in away}
    judged = [finding for finding in away if not reasons[finding_key(finding)]]
    idle = [f for f in judged if load is not None and load.differs and rests_on_load(f, before.context)]
    new = tuple(finding for name, finding in present.items() if name not in then)
    return AuditComparison(
        taken_at=before.facts.taken_at,
        gone=tuple(finding for finding in judged if finding not in idle),
        new=new,
        unjudged=tuple((finding, reasons[finding_key(finding)]) for finding in away if reasons[finding_key(finding)]),
        idle=tuple(idle),
        load=load,
        unseen=tuple(finding for finding in new if reason_unjudged(finding, now, before)),
        kept=tuple(finding for key, finding in present.items() if key in then),
        settings=tuple(_settings(before.facts, now.facts)),
        counters=tuple(_counters(then.values(), before.facts, now.facts)),
        other=tuple(_identity_changes(before.facts, now.facts)),
    )


def with_schema_rates(before: Facts, now: Facts) -> Facts:
    """Add to AUTO_INCREMENT columns how many values they used a day since an earlier snapshot of the same server."""
    then, present = before.schema_risks, now.schema_risks
    if then is None or present is None or present.auto_increments is None or tuple(_identity_changes(before, now)):
        return now
    days = _days_between(then.taken_at, present.taken_at)
    if days is None or days < SHORTEST_RATE:
        return now
    earlier = {(one.schema, one.table, one.column, one.type): one.next for one in then.auto_increments or ()}
    rated = tuple(_with_rate(one, earlier, days) for one in present.auto_increments)
    return replace(now, schema_risks=replace(present, auto_increments=rated))


def _with_rate(column: AutoIncrement, earlier: dict[tuple[str, str, str, str], int], days: float) -> AutoIncrement:
    start = earlier.get((column.schema, column.table, column.column, column.type))
    return column if start is None or start > column.next else replace(column, per_day=(column.next - start) / days)


def _days_between(then: str, now: str) -> float | None:
    try:
        return (datetime.fromisoformat(now) - datetime.fromisoformat(then)).total_seconds() / DAY
    except (ValueError, OverflowError, TypeError):
        return None


def _by_key(audited: AuditResult) -> dict[tuple[str, str], Finding]:
    found = (*audited.findings, *(finding for finding, _ in audited.suppressed))
    return {finding_key(finding): finding for finding in found}


def _settings(before: Facts, now: Facts) -> Iterator[Setting]:
    then, present = before.server.variables, now.server.variables
    for name in sorted(then.keys() | present.keys()):
        if then.get(name) != present.get(name) and name not in SAME and not RESTLESS.fullmatch(name):
            yield Setting(name, then.get(name), present.get(name))


def _counters(findings: Iterable[Finding], before: Facts, now: Facts) -> Iterator[Counter]:
    watched: dict[str, dict[str, None]] = {}
    for finding in findings:
        for action in finding.actions:
            if action.watch and COUNTER.fullmatch(action.watch):
                watched.setdefault(action.watch, {})[finding.code] = None
    for name, codes in watched.items():
        rates = [facts.workload.rate(name.lower()) if facts.workload else None for facts in (before, now)]
        if rates[0] is not None and rates[1] is not None:
            yield Counter(name, rates[0], rates[1], tuple(codes))


def _identity_changes(before: Facts, now: Facts) -> Iterator[str]:
    for name in SAME:
        then, present = before.server.variables.get(name), now.server.variables.get(name)
        if then and present and then != present:
            yield f"{name} was {redact_value(name, then)} and is {redact_value(name, present)}"


def comparison_rows(since: AuditComparison) -> Iterator[tuple[str, str]]:
    """Yield the comparison as pairs of heading and plain text."""
    for difference in since.other:
        yield "another?", difference
    for finding in since.gone:
        yield "gone", _finding_label(finding)
    for finding in since.idle:
        yield "load differs", f"{_finding_label(finding)}: not found under a different load"
    for reason, findings in _by_reason(since).items():
        yield "not judged", f"{', '.join(map(_finding_label, findings))}: {reason}"
    for finding in since.new:
        yield "new", _finding_label(finding) + (" (not checked then)" if finding in since.unseen else "")
    if since.load is not None and (since.load.differs or since.idle):
        yield "load", since.load.words
    if since.kept:
        yield "still", ", ".join(dict.fromkeys(finding.code for finding in since.kept))
    for counter in since.counters:
        yield (
            "counter",
            f"{counter.name} {counter.before:,.1f} → {counter.after:,.1f} a second ({', '.join(counter.codes)})",
        )
    for name, before, after in since.settings:
        yield "set", f"{name} {value_text(name, before)} → {value_text(name, after)}"


def _by_reason(since: AuditComparison) -> dict[str, list[Finding]]:
    reasons: dict[str, list[Finding]] = {}
    for finding, reason in since.unjudged:
        reasons.setdefault(reason, []).append(finding)
    return reasons


def comparison_title(since: AuditComparison, now: str) -> str:
    """`since 2026-11-20 05:01 UTC, 2 d before`."""
    try:
        then = datetime.fromisoformat(since.taken_at).astimezone(UTC)
        passed = datetime.fromisoformat(now).astimezone(UTC) - then
    except (ValueError, OverflowError):
        return "since the earlier snapshot"
    return f"since {then:%Y-%m-%d %H:%M} UTC, {format_duration(max(0.0, passed.total_seconds()))} before"


def as_json(since: AuditComparison) -> dict[str, Any]:
    """Return the comparison as JSON data."""
    return {
        "taken_at": since.taken_at,
        "other": list(since.other),
        **{
            name: [_finding_fields(f) for f in found]
            for name, found in (
                ("gone", since.gone),
                ("new", since.new),
                ("kept", since.kept),
                ("load_differs", since.idle),
            )
        },
        "not_judged": [{**_finding_fields(f), "reason": reason} for f, reason in since.unjudged],
        "load": since.load and since.load._asdict(),
        "counters": [{**one._asdict(), "codes": list(one.codes)} for one in since.counters],
        "settings": [
            {
                "name": name,
                "before": before and redact_value(name, before),
                "after": after and redact_value(name, after),
            }
            for name, before, after in since.settings
        ],
    }


def _finding_fields(finding: Finding) -> dict[str, Any]:
    return {"code": finding.code, "name": finding.name, "option": finding.canonical or finding.option}


def _finding_label(finding: Finding) -> str:
    option = finding.canonical or finding.option
    return f"{finding.code} {finding.name}" + (f" ({option})" if option else "")


def value_text(name: str, value: str | None) -> str:
    """Return a value as reports of changes show it; `absent` for None."""
    return "absent" if value is None else redact_value(name, value) or "empty"
