"""An audit beside an earlier one of the same server: what is gone, new or still there, and whether advice helped."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, NamedTuple

from advisor.redact import redact_value
from advisor.sizes import lasted

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from advisor.facts import Facts
    from advisor.model import Finding
    from advisor.report.audited import Audited

# Variables that move by themselves.
RESTLESS = re.compile(
    r"timestamp|gtid_(executed|purged|owned|\w*_pos|\w*_state)|last_gtid|innodb_redo_log_capacity_\w+"
)
COUNTER = re.compile(r"[A-Z]\w+")
SAME = ("hostname", "port", "server_uuid", "datadir")  # what tells one server from another


class Setting(NamedTuple):
    """A variable with its values then and now; one that wasn't there is None."""

    name: str
    before: str | None
    after: str | None


class Counter(NamedTuple):
    """A status counter that advice asked to watch, as rates a second then and now, and the rules that asked."""

    name: str
    before: float
    after: float
    codes: tuple[str, ...]


class Since(NamedTuple):
    """What came of an earlier audit; `taken_at` is when that was, `other` says in what the server is another one."""

    taken_at: str
    gone: tuple[Finding, ...]
    new: tuple[Finding, ...]
    kept: tuple[Finding, ...]
    settings: tuple[Setting, ...]
    counters: tuple[Counter, ...]
    other: tuple[str, ...] = ()


def compare(before: Audited, now: Audited) -> Since:
    """The earlier audit against this one; findings are told apart by rule and option, whatever their words."""
    then, present = _by_key(before), _by_key(now)
    return Since(
        taken_at=before.facts.taken_at,
        gone=tuple(finding for key, finding in then.items() if key not in present),
        new=tuple(finding for key, finding in present.items() if key not in then),
        kept=tuple(finding for key, finding in present.items() if key in then),
        settings=tuple(_settings(before.facts, now.facts)),
        counters=tuple(_counters(then.values(), before.facts, now.facts)),
        other=tuple(_other(before.facts, now.facts)),
    )


def _by_key(audited: Audited) -> dict[tuple[str, str], Finding]:
    found = (*audited.findings, *(finding for finding, _ in audited.aside))
    return {(finding.code, finding.canonical or finding.option or ""): finding for finding in found}


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


def _other(before: Facts, now: Facts) -> Iterator[str]:
    for name in SAME:
        then, present = before.server.variables.get(name), now.server.variables.get(name)
        if then and present and then != present:
            yield f"{name} was {redact_value(name, then)} and is {redact_value(name, present)}"


def rows(since: Since) -> Iterator[tuple[str, str]]:
    """The comparison as pairs of a heading and words, plain text."""
    for told in since.other:
        yield "another?", told
    for finding in since.gone:
        yield "gone", _named(finding)
    for finding in since.new:
        yield "new", _named(finding)
    if since.kept:
        yield "still", ", ".join(dict.fromkeys(finding.code for finding in since.kept))
    for counter in since.counters:
        yield (
            "counter",
            f"{counter.name} {counter.before:,.1f} → {counter.after:,.1f} a second ({', '.join(counter.codes)})",
        )
    for name, before, after in since.settings:
        yield "set", f"{name} {_value(name, before)} → {_value(name, after)}"


def title(since: Since, now: str) -> str:
    """`since 2026-11-20 05:01 UTC, 2 d before`."""
    try:
        then = datetime.fromisoformat(since.taken_at).astimezone(UTC)
        passed = datetime.fromisoformat(now).astimezone(UTC) - then
    except (ValueError, OverflowError):
        return "since the earlier snapshot"
    return f"since {then:%Y-%m-%d %H:%M} UTC, {lasted(max(0.0, passed.total_seconds()))} before"


def as_json(since: Since) -> dict[str, Any]:
    """The comparison for programs."""
    return {
        "taken_at": since.taken_at,
        "other": list(since.other),
        **{
            name: [{"code": f.code, "name": f.name, "option": f.canonical or f.option} for f in found]
            for name, found in (("gone", since.gone), ("new", since.new), ("kept", since.kept))
        },
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


def _named(finding: Finding) -> str:
    option = finding.canonical or finding.option
    return f"{finding.code} {finding.name}" + (f" ({option})" if option else "")


def _value(name: str, value: str | None) -> str:
    return "absent" if value is None else redact_value(name, value) or "empty"
