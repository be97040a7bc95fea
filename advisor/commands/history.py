"""`mycnf history`: what changed between saved snapshots, for one server or for all."""

from __future__ import annotations

import argparse
import os
from functools import partial
from typing import TYPE_CHECKING

from advisor.core import errors
from advisor.core.errors import MycnfError, print_notice

if TYPE_CHECKING:
    from collections.abc import Iterator

    from advisor.analysis.audited import AuditResult
    from advisor.commands.judge_facts import AuditRequest
    from advisor.facts import Facts
    from advisor.report.history import ServerHistory
    from advisor.state.history import StoredServer

ADD = "add"
# Arguments of an audit that do not apply to a history: every snapshot is judged by its content only.
UNUSED_ARGUMENTS = ("baseline", "write_baseline", "fail_on", "ram", "cpus", "disk", "host_tar")


def run(args: argparse.Namespace) -> int:
    """List the servers, or print the history of one; `add` saves snapshots made elsewhere."""
    if args.words[:1] == [ADD]:
        return _add(args.words[1:])
    if len(args.words) > 1:
        raise MycnfError(f"one server at a time, or all without a name; to keep snapshots: mycnf history {ADD} SNAP…")
    if args.last < 1:
        raise MycnfError(f"--last {args.last} is invalid; write the number of changes, 1 or more")
    from advisor.report.formats import render
    from advisor.report.history import as_json, listing, of_server
    from advisor.report.output import Paper, write

    summaries = list(_judge_histories(args))
    document = partial(of_server, summaries[0]) if args.words else partial(listing, summaries)
    own = {"json": partial(as_json, summaries)}
    write(render("history", args.format, Paper.of_width(args.output), document, own), args.output)
    return errors.OK


def keep_facts(facts: Facts) -> str:
    """Save the facts in the server's history, print the path and return it.

    Empty if not saved; incomplete facts are never saved, since they would look like changes.
    """
    from advisor.state.history import MAX_SNAPSHOTS, save_snapshot

    if facts.lost:
        print_notice("no snapshot saved for mycnf history: not all facts could be read")
        return ""
    path = save_snapshot(facts)
    if not os.path.exists(path):
        print_notice(
            f"not saved for mycnf history: {MAX_SNAPSHOTS} later snapshots of this server are saved, which is the "
            "maximum"
        )
        return ""
    print_notice(f"saved as {path}; mycnf history shows what changed")
    return path


def _add(paths: list[str]) -> int:
    from advisor.facts.snapshot import load
    from advisor.report import plural
    from advisor.state.history import MAX_SNAPSHOTS

    if not paths:
        raise MycnfError(f"mycnf history {ADD} needs a snapshot; mycnf collect -o SNAP makes one")
    kept = [keep_facts(facts) for facts in [load(path) for path in paths]]  # all are loaded before the first is saved
    gone = sum(bool(path) and not os.path.exists(path) for path in kept)
    if gone:
        print_notice(
            f"deleted {plural(gone, 'snapshot')} of these, the oldest first: mycnf keeps the {MAX_SNAPSHOTS} newest "
            "of a server"
        )
    return errors.OK


def _judge_histories(args: argparse.Namespace) -> Iterator[ServerHistory]:
    from advisor.commands.judge_facts import make_request
    from advisor.state.history import find_server, list_servers

    asked = make_request(argparse.Namespace(**{**dict.fromkeys(UNUSED_ARGUMENTS), **vars(args)}), one_host=False)
    kept = list_servers(print_notice)
    if args.words:
        yield _judge_history(find_server(kept, args.words[0]), asked, args.last)
        return
    for server in kept:
        yield _judge_history(server, asked, 1)


def _judge_history(kept: StoredServer, asked: AuditRequest, last: int) -> ServerHistory:
    """Return a server's newest changes; judges all its snapshots, since a finding may return after a long time."""
    from advisor.analysis.snapshot_history import changes_between, merge_empty_changes
    from advisor.commands.judge_facts import judge_facts
    from advisor.report.history import ServerHistory
    from advisor.state.history import newest_first

    seen: list[str] = []
    read: list[str] = []
    target = ""

    def audits() -> Iterator[AuditResult]:
        nonlocal target
        for path in kept.paths:
            for facts in newest_first([path], print_notice):
                audited = judge_facts(facts, asked)
                seen.append(facts.taken_at)
                read.append(path)
                target = audited.context.target.label
                yield audited

    changes = list(
        changes_between(audits()) if asked.args.format == "json" else merge_empty_changes(changes_between(audits()))
    )
    newest, older = tuple(reversed(changes[-last:])), max(0, len(changes) - last)
    return ServerHistory(kept._replace(paths=tuple(read)), target, seen[0], seen[-1], newest, older)
