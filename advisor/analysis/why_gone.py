"""Why a finding of an earlier audit is not found any more: fixed, not checked, or based on another load."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING

from msgspec.structs import replace

from advisor.analysis.audited import Load
from advisor.core.model import AbsentPart
from advisor.core.sizes import format_duration
from rules import find_rule
from rules.core.context import MissingFact
from rules.core.counters import MINIMUM_UPTIME

if TYPE_CHECKING:
    from collections.abc import Iterable

    from advisor.analysis.audited import Audited
    from advisor.core.model import Finding
    from advisor.facts import Facts
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


def unjudged(finding: Finding, before: Audited, now: Audited) -> str:
    """Return why it is unknown whether the finding still applies; empty if it was checked."""
    if now.asked and finding.code not in now.asked:
        return "the rule was not asked (--select, --ignore, no --schema, or the version)"
    reason = next((skip.reason for skip in now.skipped if skip.code == finding.code), "")
    if reason:
        return f"needs {reason}"
    lost = [part for part in before.known.parts if before.known.has(part) and not now.known.has(part)]
    for part in lost:
        absent = now.known.parts[part]
        if isinstance(absent, AbsentPart) and not still_found(finding, _lacking(part, before)):
            return f"needs {absent.reason}"
    up = now.facts.server.uptime
    if 0 < up < min(MINIMUM_UPTIME, before.facts.server.uptime) and rests_on_load(finding, before.known):
        return f"it is based on counters, which the restart reset {format_duration(up)} ago: {again(up)}"
    return ""


def again(up: float) -> str:
    """Return when the counters will be reliable."""
    return f"audit again in {format_duration(MINIMUM_UPTIME - up)}"


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
        return any(key(one) == key(finding) for one in rule.check(known))
    except MissingFact:
        return False


def key(finding: Finding) -> tuple[str, str]:
    """Return what identifies a finding: rule and option, not the text."""
    return finding.code, finding.canonical or finding.option or ""


def _lacking(part: str, audited: Audited) -> RuleContext:
    """Return the context without one collected part; without files, origins and lines are missing too."""
    if part != "files":
        return _without(audited.known, (part,))
    from advisor.analysis.context import build_context

    return build_context(replace(audited.facts, files=None))


def _without(known: RuleContext, parts: Iterable[str]) -> RuleContext:
    """Return the context with those parts absent."""
    lesser = copy.copy(known)
    lesser.parts = {**known.parts, **dict.fromkeys(parts, AbsentPart("left out"))}
    return lesser
