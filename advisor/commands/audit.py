"""`mycnf audit`: checks a running server, its host and its option files, in the app or as a report."""

from __future__ import annotations

import os
import sys
import textwrap
from typing import TYPE_CHECKING

from advisor.core import errors

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterable

    from advisor.analysis.audited import AuditResult
    from advisor.collect.connection.statement import Statement
    from advisor.commands.judge_facts import AuditRequest
    from advisor.facts import Facts
    from advisor.report import Page

FAIL_ON = "error"
COMPARED = frozenset({"text", "json", "markdown", "html"})  # formats that have the comparison with an earlier audit
HEADING = (
    "Every statement that mycnf can send to a server. Ours carry the tag /* mycnf */; "
    "{number} stands for digits, {name} for the name of a schema in hexadecimal, nothing else varies."
)


def run(args: argparse.Namespace) -> int:
    """Audit a server or a snapshot; if the connection is lost, reports what was collected and returns 3."""
    if args.list_statements:
        from advisor.report.output import write

        write(statement_listing(), args.output)
        return errors.OK
    recorded = {"--from": args.texts, "--snapshot": args.snapshot, "--demo": args.demo}
    if source := next((flag for flag, given in recorded.items() if given), None):
        from advisor.commands.connection import refuse_server

        refuse_server(args, source)
    if _on_screen(args):  # rules are imported after the first frame
        from advisor.commands import app

        return app.run(args)
    return _report(args)


def statement_listing() -> str:
    """The closed list as documentation: text, servers, privilege and purpose of each statement."""
    from advisor.collect.connection.statements import STATEMENTS

    return "\n\n".join([HEADING, *(_listing_entry(statement) for statement in STATEMENTS)]) + "\n"


def _listing_entry(statement: Statement) -> str:
    needs = f" · needs {statement.needs}" if statement.needs else ""
    sender = " · sent by the driver" if statement.driver else ""
    why = textwrap.fill(statement.why, 100, initial_indent="    why: ", subsequent_indent="         ")
    return f"{statement.text()}\n    for: {statement.servers}{needs}{sender}\n{why}"


def _on_screen(args: argparse.Namespace) -> bool:
    """Whether to run the app: all streams are terminals (it draws on stderr), and no format or file is requested."""
    if args.keep or any(x is not None for x in (args.format, args.output, args.write_baseline, args.since)):
        return False
    able = os.environ.get("TERM", "dumb") not in ("", "dumb", "unknown")
    return able and all(stream is not None and stream.isatty() for stream in (sys.stdin, sys.stdout, sys.stderr))


def _report(args: argparse.Namespace) -> int:
    from advisor.analysis import fails
    from advisor.catalog.targets import stand_in_note
    from advisor.commands.judge_facts import make_request
    from advisor.core.errors import print_notice
    from advisor.report.formats import render_audit
    from advisor.report.output import write

    asked = make_request(args)
    earlier = _earlier(args.since)
    if args.keep and args.demo:
        raise errors.MycnfError("--demo is a recorded server, so --keep has nothing to save; omit one of them")
    try:
        facts = _facts(args)  # without the configuration, whose host counts only where none was read
    except errors.NoListenerError as error:
        end = "" if str(error).endswith("?") else "."
        without = "mycnf lint FILE checks the option file of a stopped server, mycnf audit --demo audits a recorded one"
        raise errors.NoListenerError(f"{error}{end} {without}") from error
    args = asked.args
    if earlier is not None:
        warn_uncompared([args.format or "text"])
        from advisor.analysis.audit_comparison import with_schema_rates

        facts = with_schema_rates(earlier, facts)
    if args.keep:
        from advisor.commands.history import keep_facts

        keep_facts(facts)
    audited = audit_since(facts, earlier, asked)
    if sentence := stand_in_note(audited.context.target):
        print_notice(sentence)
    write(render_audit(args.format or "text", audited, _page(args)), args.output)
    if facts.lost:
        print_notice(facts.lost)
        return errors.CONNECTION
    return errors.FINDINGS if fails(audited.findings, args.fail_on or FAIL_ON) else errors.OK


def audit_since(facts: Facts, earlier: Facts | None, asked: AuditRequest) -> AuditResult:
    """Judge the facts, and compare the audit with that of an earlier snapshot if there is one."""
    from advisor.commands.judge_facts import audit_facts, judge_facts

    if earlier is None:
        return audit_facts(facts, asked)
    from advisor.analysis.audit_comparison import compare, with_schema_rates

    audited = audit_facts(add_earlier_spaces(with_schema_rates(earlier, facts), earlier), asked)
    return audited._replace(since=compare(judge_facts(earlier, asked), audited))


def warn_uncompared(formats: Iterable[str]) -> None:
    """Print a notice on each format that has the findings of today alone, although --since was given."""
    from advisor.core.errors import print_notice

    for name in formats:
        if name not in COMPARED:
            print_notice(
                f"--format {name} does not include the comparison of --since; text, json, markdown and html do"
            )


def add_earlier_spaces(facts: Facts, earlier: Facts | None) -> Facts:
    """Add the free space in the earlier snapshot, if it is of the same server, to what is known of the disks."""
    from advisor.state.directory import server_id

    if earlier is None or server_id(earlier.server.variables) != server_id(facts.server.variables):
        return facts
    from msgspec.structs import replace

    from advisor.state.history import spaces_of

    return replace(facts, spaces=(*facts.spaces, *earlier.spaces, *spaces_of(earlier)))


def _earlier(path: str | None) -> Facts | None:
    """Load the snapshot to compare with, before a statement is sent."""
    if path is None:
        return None
    from advisor.facts.snapshot import load

    return load(path)


def _facts(args: argparse.Namespace) -> Facts:
    from advisor.commands.collect import load_recorded

    if (facts := load_recorded(args)) is not None:
        return facts
    from advisor.commands.collect import collect_facts

    return collect_facts(args)


def _page(args: argparse.Namespace) -> Page:
    from advisor.report import Page
    from advisor.report.output import colour_wanted, run_time

    colour = colour_wanted(args.output)
    return Page(colour=colour, fail_on=args.fail_on or FAIL_ON, now=run_time())
