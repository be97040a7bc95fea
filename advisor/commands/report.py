"""`mycnf report`: the findings of saved facts in any format, of one server or of many."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from advisor.commands.report_snapshots import FAIL_ON, page_for
from advisor.core import errors
from advisor.core.errors import MycnfError

if TYPE_CHECKING:
    import argparse

    from advisor.commands.judge_facts import AuditRequest


def run(args: argparse.Namespace) -> int:
    """Report one snapshot as an audit of it does, or many as one; 2 where one of many can't be read."""
    from advisor.commands.judge_facts import make_request
    from advisor.report.formats import names
    from advisor.report.output import pair

    if args.jobs is not None and args.jobs < 1:
        raise MycnfError(f"--jobs {args.jobs}: give the number of processes, 1 or more")
    pairs = pair(args.reports or ())
    args.write_baseline = None
    asked = make_request(args)
    alone = len(args.snapshots) == 1 and not os.path.isdir(args.snapshots[0])
    if alone and all(name in names("audit") for name, _ in pairs):  # Parquet is a table of many, be it of one
        return _one(args.snapshots[0], asked, pairs)
    from advisor.commands import report_snapshots

    return report_snapshots.run(args.snapshots, asked, pairs, args.jobs)


def _one(path: str, asked: AuditRequest, pairs: list[tuple[str, str | None]]) -> int:
    from advisor.analysis.engine import fails
    from advisor.commands.judge_facts import audit_facts
    from advisor.facts.snapshot import load
    from advisor.report.formats import render_audit
    from advisor.report.output import write

    fail_on = asked.args.fail_on or FAIL_ON
    audited = audit_facts(load(path), asked)
    made = [(render_audit(name, audited, page_for(out, fail_on)), out) for name, out in pairs]
    for text, out in made:
        write(text, out)
    return errors.FINDINGS if fails(audited.findings, fail_on) else errors.OK
