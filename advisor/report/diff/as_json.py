"""Two sides as JSON: the field names are a contract, published in schemas/diff.schema.json."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from advisor.compare.values import Category
from advisor.redaction.secrets import redact_value
from advisor.report.diff.words import members_of
from advisor.report.findings_json import dumps

if TYPE_CHECKING:
    from advisor.compare.values import Comparison, OneSided, SettingPair, Side, SideSetting

VERSION = 1


def report(found: Comparison, *, every: bool = False) -> str:
    """The whole comparison, what matters first; `every` says that what differs by nature counts."""
    return dumps(
        {
            "version": VERSION,
            "differs": found.differs(by_nature=every),
            "a": _side(found.a),
            "b": _side(found.b),
            "differences": [_pair(pair) for pair in found.of(Category.DIFFERS)],
            "only_a": [_alone(one) for one in found.only_a],
            "only_b": [_alone(one) for one in found.only_b],
            "by_nature": [_pair(pair) for pair in found.of(Category.BY_NATURE)],
            "by_host": [_pair(pair) for pair in found.of(Category.BY_HOST)],
            "not_told": [{"variable": pair.name, "reason": pair.reason} for pair in found.of(Category.UNDETERMINED)],
            "not_shown": [_held(held) for held in found.not_shown],
            "alike": len(found.of(Category.ALIKE)),
        }
    )


def _side(side: Side) -> dict[str, Any]:
    return {
        "kind": side.kind.value,
        "name": side.name,
        "target": str(side.target),
        "hostname": side.server_name or None,
        "taken_at": side.taken_at or None,
    }


def _pair(pair: SettingPair) -> dict[str, Any]:
    members = members_of(pair)
    return {
        "variable": pair.name,
        "also": list(pair.other_names),
        "area": pair.area.value,
        "a": _held(pair.a),
        "b": _held(pair.b),
        "members_a": None if members is None else list(members.only_a),
        "members_b": None if members is None else list(members.only_b),
        "derived": pair.derived,
        "reason": pair.reason or None,
    }


def _alone(one: OneSided) -> dict[str, Any]:
    return {**_held(one.setting), "area": one.area.value, "counts": one.counts}


def _held(held: SideSetting) -> dict[str, Any]:
    place = held.location
    return {
        "name": held.name,
        "value": _masked(held, held.value),
        "raw": _masked(held, held.raw),
        "value_there": held.converted_value,
        "origin": held.origin.value,
        "path": place.path if place else None,
        "line": place.line if place and place.line else None,
    }


def _masked(held: SideSetting, value: str | None) -> str | None:
    return None if value is None else redact_value(held.name, value)
