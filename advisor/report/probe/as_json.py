"""Probes and their results as JSON: the field names are a contract, schemas/probe.schema.json."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from advisor.facts.snapshot import to_plain
from advisor.report.findings_json import dumps
from advisor.report.probe.words import answer
from probes.conclusion import conclude
from probes.results import result_fields

if TYPE_CHECKING:
    from collections.abc import Iterable

    from advisor.facts.probes import ProbeResult
    from advisor.report.probe.words import Proof
    from probes.experiment import ProbeEntry
    from probes.results import KeptResult

VERSION = 1


def report(result: ProbeResult, proof: Proof | None = None) -> str:
    """One result with what follows from it, for a rule too where it was made for one."""
    whole = {"version": VERSION, "result": result_fields(result), "conclusion": to_plain(conclude(result))}
    if proof:
        from advisor.report.probe.words import fields as proved

        whole["proof"] = proved(proof)
    return dumps(_finite(whole))


def listing(entries: Iterable[ProbeEntry]) -> str:
    """The experiments, each with what a run would take here."""
    return dumps(_finite({"version": VERSION, "probes": [entry(e) for e in entries]}))


def kept(shelf: Iterable[KeptResult], here: str) -> str:
    """The kept results without their samples; `here` tells those of this host."""
    found = [
        {
            "id": k.id,
            "probe": k.result.probe,
            "server": k.result.server,
            "began_at": k.result.began_at,
            "seconds": k.result.seconds,
            "rounds": k.result.rounds,
            "ended": k.result.ended,
            "here": k.result.place.host == here,
            "answer": answer(k.result),
        }
        for k in shelf
    ]
    return dumps(_finite({"version": VERSION, "results": found}))


def entry(e: ProbeEntry) -> dict[str, Any]:
    """One experiment: what it asks and takes, and what keeps it from running here."""
    x, plan = e.experiment, e.plan
    return {
        "name": x.name,
        "title": x.title,
        "question": x.question,
        "kind": x.kind,
        "evidence": list(x.evidence),
        "choices": [choice._asdict() for choice in x.choices],
        "directory": e.directory,
        "refused": list(e.refused),
        "plan": None
        if plan is None
        else {
            "seconds": plan.seconds,
            "rounds": plan.rounds,
            "variants": [variant.name for variant in plan.variants],
            "baseline": plan.baseline,
            "metrics": to_plain(plan.metrics),
            "driver": plan.driver,
            "server": plan.server,
            "parameters": plan.parameters,
            "limits": list(plan.limits),
            "notes": list(plan.notes),
            **plan.cost._asdict(),
        },
    }


def _finite(value: Any) -> Any:
    """The same with nothing in the place of numbers that JSON can't write."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {key: _finite(item) for key, item in value.items()}
    return [_finite(item) for item in value] if isinstance(value, list | tuple) else value
