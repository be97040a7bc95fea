"""A fleet as JSON; schemas/fleet.schema.json says what each field is."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from advisor.redaction.secrets import redact_value
from advisor.report.findings_json import VERSION, dumps
from advisor.report.findings_json import audited as finding
from advisor.report.fleet.survey import by_rule, by_series

if TYPE_CHECKING:
    from advisor.fleet.outliers import Outlier, PeerGroup
    from advisor.fleet.row import HostRow
    from advisor.report.fleet.survey import Judged, Survey


def report(survey: Survey) -> str:
    """Every host with its findings, then the same by rule, by version, and who differs from whom."""
    judged = {one.row.name: one for one in survey.judged}
    rows = [*(one.row for one in survey.judged), *survey.absent]
    return dumps(
        {
            "version": VERSION,
            "made_at": survey.now,
            "directory": survey.folder,
            "hosts": [_host(row, judged.get(row.name)) for row in sorted(rows, key=lambda row: row.name)],
            "rules": [
                {"code": s.code, "name": s.name, "severity": s.severity.value, "hosts": list(s.hosts)}
                for s in by_rule(survey.judged)
            ],
            "versions": [
                {"version": s.label, "support_ends": s.ends or None, "ended": s.ended, "hosts": list(s.hosts)}
                for s in by_series(survey.judged, survey.now)
            ],
            "outliers": [_outlier(one) for one in survey.outliers],
            "equals": [_equals(one) for one in survey.equals],
        }
    )


def _host(row: HostRow, one: Judged | None) -> dict[str, Any]:
    return {
        "host": row.name,
        "groups": list(row.groups),
        "status": row.status.value,
        "reason": redact_value("", row.reason) or None,
        "place": row.place or None,
        "seconds": row.seconds,
        "snapshot": row.snapshot or None,
        "machine": None if one is None else (row.host or "read"),
        "target": str(one.target) if one else None,
        "vendor": one.vendor if one else None,
        "hostname": one.hostname if one else None,
        "findings": [finding(f) for f in one.findings] if one else [],
        "skipped": [{"code": s.code, "reason": s.reason} for s in one.skipped] if one else [],
    }


def _outlier(one: Outlier) -> dict[str, Any]:
    return {
        "group": one.group,
        "series": one.series,
        "variable": one.variable,
        "usual": redact_value(one.variable, one.usual),
        "members": one.members,
        "set": one.is_set,
        "others": [
            {"host": name, "value": redact_value(one.variable, v.text), "set": v.is_set, "where": v.where or None}
            for name, v in one.others
        ],
    }


def _equals(one: PeerGroup) -> dict[str, Any]:
    return {
        "kind": one.kind,
        "name": one.name,
        "members": list(one.members),
        "versions": list(one.versions),
        "differences": [
            {
                "variable": d.variable,
                "set": d.is_set,
                "values": [{"value": redact_value(d.variable, v), "hosts": list(names)} for v, names in d.values],
            }
            for d in one.differences
        ],
    }
