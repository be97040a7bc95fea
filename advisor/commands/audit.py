"""`mycnf audit`: a running server, its host and its files, judged with evidence."""

from __future__ import annotations

import os
from dataclasses import replace
from typing import TYPE_CHECKING

from advisor import exits
from advisor.assemble import know
from advisor.commands.machine import declared_host, is_declared
from advisor.engine import by_weight, choose, fails
from advisor.engine import run as run_rules
from advisor.narration import narrate
from advisor.report import Page
from advisor.report.audited import Audited
from advisor.report.output import colour_wanted, write

if TYPE_CHECKING:
    import argparse

    from advisor.facts import Facts
    from advisor.model import Finding
    from rules.houserule import HouseRule
    from rules.known import Known
    from rules.registry import Rule

FAIL_ON = "error"
SUPPRESSIONS = "SUP"


def run(args: argparse.Namespace) -> int:
    """Audit a server or a snapshot; of a server lost on the way, what was collected is reported, exit code 3."""
    if args.list_statements:
        from advisor.collect.statements import listing

        write(listing(), args.output)
        return exits.OK
    args, house = _configured(args)
    rules = choose(args.select, args.ignore)
    facts = _facts(args)
    audited = audit_facts(facts, rules, args, house)
    write(_render(audited, args), args.output)
    if facts.lost:
        narrate(facts.lost)
        return exits.CONNECTION
    return exits.FINDINGS if fails(audited.findings, args.fail_on or FAIL_ON) else exits.OK


def _configured(args: argparse.Namespace) -> tuple[argparse.Namespace, tuple[HouseRule, ...] | None]:
    """The arguments over the configuration of the folder that mycnf runs in, and its house rules."""
    from advisor.commands.configured import configuration_of, settled

    config = configuration_of(args, os.getcwd())
    return (args, None) if config is None else (settled(args, config), config.house)


def _facts(args: argparse.Namespace) -> Facts:
    if args.snapshot:
        from advisor.snapshot import load

        return load(args.snapshot)
    from advisor.commands.collect import collect_facts

    return collect_facts(args)


def audit_facts(
    facts: Facts, rules: list[Rule], args: argparse.Namespace, house: tuple[HouseRule, ...] | None = None
) -> Audited:
    """Ask the rules about collected facts; a host that the user described stands in where none was read."""
    if facts.host is None and is_declared(args):
        facts = replace(facts, host=declared_host(args))
    known = know(facts, house)
    found = run_rules(known, rules)
    return Audited(facts, known, tuple(by_weight(_not_suppressed(known, found.findings))), found.skipped)


def _not_suppressed(known: Known, findings: tuple[Finding, ...]) -> tuple[Finding, ...]:
    """The findings that no comment in the server's own files hides; what is wrong with such comments, lint tells."""
    from advisor.suppress import Reading, suppress

    (done,) = suppress([Reading(known.file_verdict.resolved, known.target, findings, frozenset())])
    return tuple(f for f in done.kept if f.code[:3] != SUPPRESSIONS)


def _render(audited: Audited, args: argparse.Namespace) -> str:
    if args.format == "json":
        from advisor.report import auditjson

        return auditjson.report(audited)
    if args.format not in ("text", "concise"):
        from advisor.report import auditforms

        return auditforms.report(audited, args.format, _page(args))
    from advisor.report import audittext

    if args.format == "concise":
        return audittext.concise(audited)
    return audittext.report(audited, colour_wanted(args.output))


def _page(args: argparse.Namespace) -> Page:
    from advisor.report.output import run_time, working_directory

    return Page(base=working_directory(), fail_on=args.fail_on or FAIL_ON, now=run_time())
