"""`mycnf probe results`: the runs that are kept, as a list or one by one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from advisor.commands.probing.place import current_host_id
from advisor.core import errors
from advisor.core.console import narrate
from advisor.core.errors import MycnfError
from advisor.report.output import write
from advisor.report.paper import Paper
from advisor.report.probe import listing
from probes import results

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from advisor.facts.probes import ProbeResult
    from advisor.report.probe.proof import Proof


def list_results(words: Sequence[str], reports: list[tuple[str, str | None]]) -> int:
    """List the kept results, or show those that are named by id or probe (`show` before them may be said)."""
    found = results.read_all()
    for line in found.damaged:
        narrate(line)
    names = [w for w in words if w not in ("list", "show")]
    if names:
        return _show_named(found, names, reports)
    here = current_host_id()
    for form, path in reports:
        write(listing.kept(found.kept, here, form, Paper.to(path)), path)
    return errors.OK


def _show_named(found: results.KeptResults, names: Sequence[str], reports: list[tuple[str, str | None]]) -> int:
    for name in names:
        kept = results.find_result(found.kept, name)
        if kept is None:
            raise MycnfError(f"no result {name!r} is kept; mycnf probe results lists them")
        show_result(kept.result, reports)
    return errors.OK


def show_result(
    result: ProbeResult,
    reports: list[tuple[str, str | None]],
    prove: Callable[[ProbeResult], Proof] | None = None,
) -> None:
    """Print a result in every format that was asked for, each to its place, and first what it proves of a rule."""
    from advisor.report.probe.result import render

    proof = prove(result) if prove else None
    for form, path in reports:
        write(render(result, form, Paper.to(path), proof), path)
