"""Changes between snapshots of one server: variables with their origins, and new, gone or returned findings."""

from __future__ import annotations

from advisor.analysis.audit_comparison import compare, finding_key
from advisor.core import NamedTuple
from advisor.core.model import Origin
from advisor.verdict.settings import is_same_value
from rules.core.counters import MINIMUM_UPTIME

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from advisor.analysis.audited import AuditComparison, AuditResult
    from advisor.core.model import Finding, Setting
    from advisor.facts import ProbeResult

Key = tuple[str, str]


class ChangedSetting(NamedTuple):
    """A variable with its values before and after, None if it did not exist, and the origin of the later value."""

    name: str
    before: str | None
    after: str | None
    source: str


class Change(NamedTuple):
    """The differences between one snapshot and the one before; times are UTC in ISO 8601.

    `back` are findings that existed before and were gone in the previous snapshot. A finding that could not be checked,
    or that a comment suppresses, is neither gone nor new afterwards; it is gone once it is checked and not found.
    `unseen` are the new findings that could not be checked in the previous snapshot. `restarted` means that the server
    was started in between; `probes` are probe results saved since.
    """

    before: str
    at: str
    settings: tuple[ChangedSetting, ...]
    new: tuple[Finding, ...]
    gone: tuple[Finding, ...]
    back: tuple[Finding, ...]
    still: int
    restarted: bool
    probes: tuple[ProbeResult, ...]
    unseen: tuple[Finding, ...] = ()

    @property
    def is_empty(self) -> bool:
        """Whether nothing that is reported changed."""
        return not (self.settings or self.new or self.gone or self.back or self.restarted or self.probes)


class UncheckedFinding(NamedTuple):
    """A finding that was not checked since it was found; `parts` are the facts that it needs and that were missing."""

    finding: Finding
    parts: frozenset[str] = frozenset()


def changes_between(audits: Iterable[AuditResult]) -> Iterator[Change]:
    """Yield the changes from each audit of one server to the next, oldest first; holds only two audits at a time."""
    before: AuditResult | None = None
    ever: set[Key] = set()
    unchecked: dict[Key, UncheckedFinding] = {}
    for now in audits:
        present = {finding_key(finding) for finding in _all(now)}
        if before is not None:
            since = compare(before, now)
            held = {finding_key(finding) for finding in _all(before)} | unchecked.keys()
            waiting = {key: one for key, one in unchecked.items() if key not in present}
            still_unchecked = {key: one for key, one in waiting.items() if not _is_checked(one, now)}
            gone = [one.finding for key, one in waiting.items() if key in ever and key not in still_unchecked]
            change = _change(before, now, since, ever, held)
            yield change._replace(gone=(*change.gone, *gone))
            unchecked = still_unchecked | _newly_unchecked(since, before, now)
        commented = {finding_key(finding): UncheckedFinding(finding) for finding in now.commented}
        unchecked = {key: one for key, one in (unchecked | commented).items() if key not in present}
        ever |= present
        before = now


def _newly_unchecked(since: AuditComparison, before: AuditResult, now: AuditResult) -> dict[Key, UncheckedFinding]:
    """Return what the audit before found and this one could not check."""
    parts = frozenset(part for part in before.context.parts if before.context.has(part) and not now.context.has(part))
    return {finding_key(finding): UncheckedFinding(finding, parts) for finding, _ in since.unjudged}


def _is_checked(unchecked: UncheckedFinding, now: AuditResult) -> bool:
    """Whether this audit would have found it, if it still existed."""
    code = unchecked.finding.code
    if now.rule_codes and code not in now.rule_codes:
        return False
    if any(skip.code == code for skip in now.skipped) or finding_key(unchecked.finding) in map(
        finding_key, now.commented
    ):
        return False
    just_started = 0 < now.facts.server.uptime < MINIMUM_UPTIME  # counters that it may be based on were reset
    return not just_started and all(now.context.has(part) for part in unchecked.parts)


def merge_empty_changes(changes: Iterable[Change]) -> Iterator[Change]:
    """Merge consecutive empty changes into one."""
    held: Change | None = None
    for change in changes:
        if held is not None and held.is_empty and change.is_empty:
            held = change._replace(before=held.before)
            continue
        if held is not None:
            yield held
        held = change
    if held is not None:
        yield held


def _change(before: AuditResult, now: AuditResult, since: AuditComparison, ever: set[Key], held: set[Key]) -> Change:
    """Return the change; `held` are the findings before and those that could not be checked then."""
    present = {finding_key(finding): finding for finding in _all(now)}
    came = [finding for key, finding in present.items() if key not in held]
    unseen = {finding_key(finding) for finding in since.unseen}
    new = tuple(finding for finding in came if finding_key(finding) not in ever)
    return Change(
        before=before.facts.taken_at,
        at=now.facts.taken_at,
        settings=tuple(ChangedSetting(*setting, source=_source(now, setting.name)) for setting in since.settings),
        new=new,
        gone=(*since.gone, *since.idle),
        back=tuple(finding for finding in came if finding_key(finding) in ever),
        still=len(present) - len(came),
        restarted=_has_restarted(before, now),
        probes=_probes(before, now),
        unseen=tuple(finding for finding in new if finding_key(finding) in unseen),
    )


STARTS_AGREE = 120  # seconds by which the computed start time of one server may vary, since clocks are adjusted


def _has_restarted(before: AuditResult, now: AuditResult) -> bool:
    earlier, later = _start_time(before), _start_time(now)
    return earlier is not None and later is not None and later - earlier > STARTS_AGREE


def _start_time(audited: AuditResult) -> float | None:
    """Return when the server was started, in seconds since 1970; None if unknown."""
    from datetime import datetime

    try:
        taken = datetime.fromisoformat(audited.facts.taken_at).timestamp()
    except (ValueError, OverflowError):
        return None
    uptime = audited.facts.server.counter("uptime")
    return None if uptime is None else taken - uptime


def _source(now: AuditResult, name: str) -> str:
    """Return the origin of a variable's value as text; empty if it is gone or unknown."""
    setting = now.context.settings.get(name)
    if setting is None or now.context.catalog.find_variable(name) is None:  # nothing sets version or unknown variables
        return ""
    if not now.context.server.origins and not _is_source_known(now, name):
        return ""
    place = setting.location
    if place is not None and place.path:
        return f"{place.path}:{place.line}" if place.line else place.path
    origin = Origin.PERSISTED if setting.origin is Origin.RUNTIME and _is_persisted(now, setting) else setting.origin
    return {"compiled": "default", "unknown": ""}.get(origin.value, origin.value)


def _is_source_known(now: AuditResult, name: str) -> bool:
    """Whether the files show where a value comes from; only MySQL 5.7 does not report it."""
    from advisor.preflight.autosized import is_source_known
    from advisor.preflight.next_values import lines_by_variable

    known = now.context
    return is_source_known(name, lines_by_variable(known.file_verdict, known.catalog).get(name), known)


def _is_persisted(now: AuditResult, setting: Setting) -> bool:
    """Whether SET PERSIST saved the value too, which the server calls set at run time until its next start."""
    persisted = (now.facts.files.persisted_options if now.facts.files else None) or ()
    return any(one.name == setting.name and is_same_value(one.value, setting.value) for one in persisted)


def _probes(before: AuditResult, now: AuditResult) -> tuple[ProbeResult, ...]:
    known = {(result.probe, result.began_at) for result in before.facts.probes}
    return tuple(result for result in now.facts.probes if (result.probe, result.began_at) not in known)


def _all(audited: AuditResult) -> list[Finding]:
    return [*audited.findings, *(finding for finding, _ in audited.suppressed)]
