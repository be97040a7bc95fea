"""A result of an experiment, printed as it was asked for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from advisor.report.output import write
from advisor.report.paper import Paper

if TYPE_CHECKING:
    from collections.abc import Callable

    from advisor.facts.probes import ProbeResult
    from advisor.report.proof import Proof


def show(
    result: ProbeResult,
    reports: list[tuple[str, str | None]],
    prove: Callable[[ProbeResult], Proof] | None = None,
) -> None:
    """Print a result in every format that was asked for, each to its place, and first what it proves of a rule."""
    from advisor.report.proberesult import render

    proof = prove(result) if prove else None
    for form, path in reports:
        write(render(result, form, Paper.to(path), proof), path)
