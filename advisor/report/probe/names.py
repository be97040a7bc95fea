"""Short names of variants: without what they all share, and parted into curves where several stand at one point."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from advisor.facts.probes import ProbeResult


def axis_name(result: ProbeResult) -> str:
    """What the variants differ in: the axis, or the option that all of their names begin with."""
    return result.axis or _shared(result).rstrip("=") or "variant"


def short(result: ProbeResult, name: str) -> str:
    """`2` for `innodb_flush_log_at_trx_commit=2` where all variants are values of that option."""
    return name.removeprefix(_shared(result))


def curve_of(result: ProbeResult) -> dict[str, str]:
    """Which curve each variant belongs to, by the parts of its name that don't tell its point; "" for the only one."""
    points = [arm.point for arm in result.arms]
    if None in points or len(set(points)) == len(points):
        return dict.fromkeys((arm.name for arm in result.arms), "")
    telling, by = _telling(result), _separator(result)
    found = {a.name: by.join(p for p in a.name.split(by) if p not in telling) for a in result.arms}
    places = {(found[arm.name], arm.point) for arm in result.arms}
    return found if len(places) == len(points) else {}


def labels(result: ProbeResult) -> dict[str, str]:
    """What stands under each variant's point: the parts of its name that tell it, or its short name."""
    if set(curve_of(result).values()) <= {""}:
        return {arm.name: short(result, arm.name) for arm in result.arms}
    telling, by = _telling(result), _separator(result)
    return {a.name: by.join(p for p in a.name.split(by) if p in telling) or a.name for a in result.arms}


def numeric(result: ProbeResult) -> bool:
    """Whether the variants stand on an axis of numbers, so that lines between them mean something."""
    return all(arm.point is not None for arm in result.arms) and bool(curve_of(result))


def _telling(result: ProbeResult) -> set[str]:
    """Parts of names that come with one point only."""
    points: dict[str, set[float | None]] = {}
    for arm in result.arms:
        for part in arm.name.split(_separator(result)):
            points.setdefault(part, set()).add(arm.point)
    return {part for part, where in points.items() if len(where) == 1}


def _separator(result: ProbeResult) -> str:
    """What stands between the parts of a name: commas, or spaces where there are none."""
    return ", " if any(", " in arm.name for arm in result.arms) else " "


def _shared(result: ProbeResult) -> str:
    """`option=` where every name begins with it."""
    heads = {arm.name.partition("=")[0] + "=" for arm in result.arms}
    shared = heads.pop() if len(heads) == 1 else ""
    return shared if all(arm.name.startswith(shared) for arm in result.arms) and len(result.arms) > 1 else ""
