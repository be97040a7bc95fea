"""Leave out of an audit what a baseline knows, or write today's findings as one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from advisor.analysis import baseline
from advisor.commands.leaving_out import refuse_other
from advisor.core.console import narrate
from advisor.report.output import write
from advisor.report.words import plural
from advisor.state.file_lock import alone_with

if TYPE_CHECKING:
    import argparse

    from advisor.core.model import Finding
    from advisor.report.audited import Audited

SERVER = "<server>"  # the place of a finding that no file holds


def past_baseline(audited: Audited, args: argparse.Namespace, *, silent: bool = False) -> Audited:
    """The audit without what --baseline knows, or without anything once --write-baseline has kept it all.

    `silent` leaves it to the caller to tell how many were left out.
    Raises MycnfError for a file that is no baseline, or holds anything else and would be lost.
    """
    reading = baseline.Reading(SERVER, audited.findings, ())
    if args.write_baseline:
        refuse_other(args.write_baseline)
        write(baseline.render([reading], args.write_baseline), args.write_baseline)
        narrate(f"wrote {plural(len(audited.findings), 'finding')} to {args.write_baseline}")
        return audited._replace(findings=())
    if not args.baseline:
        return audited
    known = baseline.read(args.baseline)
    (split,) = baseline.apply(known, [reading])
    if split.known and not silent:
        narrate(f"{plural(len(split.known), 'finding')} left out, as {args.baseline} knows them")
    told = tuple((finding, baseline.told(known, finding, SERVER)) for finding in split.known)
    return audited._replace(findings=split.new, aside=(*audited.aside, *told))


def put_aside(path: str, finding: Finding, reason: str) -> None:
    """Write into a baseline why somebody put a finding of a server aside; without a reason take it out again.

    Raises MycnfError for a file that is no baseline or can't be written.
    """
    with alone_with(path):
        write(baseline.amended(path, finding, SERVER, reason), path)
