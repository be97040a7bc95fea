"""The effect of the advice on the servers of examples/lab, as last measured by tools/lab, which takes an hour."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator

from figure import Figure

RESULTS = os.path.join("docs", "experiments", "lab.json")
LEAST_BETTER = 7


def figures(top: str) -> Iterator[Figure]:
    """How many servers in docs/experiments/lab.json became better and how many worse; see lab.md there."""
    with open(os.path.join(top, RESULTS), encoding="utf-8") as file:
        rows = list(json.load(file).values())
    verdicts = [row["verdict"] for row in rows]
    of = f"of {len(rows)}"
    yield Figure("lab servers better after the advice (lab.json)", verdicts.count("better"), of, ">=", LEAST_BETTER)
    yield Figure("lab servers worse after the advice (lab.json)", verdicts.count("worse"), of, "<=", 0)
