"""`mycnf preflight`: what the next restart of a running server would refuse, lose or change."""

from __future__ import annotations

import os
from functools import partial
from typing import TYPE_CHECKING

from msgspec.structs import replace

from advisor.analysis import RANK
from advisor.analysis.restart import check_restart
from advisor.catalog.targets import stand_in_note
from advisor.core import errors
from advisor.core.errors import print_notice
from advisor.core.model import Severity
from advisor.report.formats import render
from advisor.report.output import write

if TYPE_CHECKING:
    import argparse

    from advisor.facts import Facts
    from advisor.preflight.item import Preflight


def run(args: argparse.Namespace) -> int:
    """Report on a server or a snapshot; returns 1 if a restart would refuse, lose or change something."""
    outcome = check_restart(_with_next_start(_facts(args), args))
    if sentence := stand_in_note(outcome.target):
        print_notice(sentence)
    write(_render(outcome, args), args.output)
    if outcome.facts.lost:
        print_notice(outcome.facts.lost)
        return errors.CONNECTION
    return errors.FINDINGS if _fails(outcome, args.fail_on) else errors.OK


def _facts(args: argparse.Namespace) -> Facts:
    if args.snapshot:
        from advisor.commands.connection import refuse_server
        from advisor.facts.snapshot import load

        refuse_server(args, "--snapshot")
        return load(args.snapshot)
    from advisor.collect.collect import CollectRequest, collect
    from advisor.collect.connection.options import ConnectRequest
    from advisor.commands.connection import CONNECTION

    return collect(CollectRequest(ConnectRequest(**{name: getattr(args, name) for name in CONNECTION}), window=0))


def _with_next_start(facts: Facts, args: argparse.Namespace) -> Facts:
    """Return the facts with the service and files of the next start: of --root and --service, or as the unit says."""
    from advisor.collect.collect import reread_option_files
    from advisor.preflight.start_command import next_command

    running = next_command(replace(facts, service=None)).leading
    if args.root is not None or args.service:
        facts = _of_service(facts, args)
    leading = next_command(facts).leading
    if args.root is not None:
        return reread_option_files(facts, leading, args.root)
    return facts if args.snapshot or facts.files is None or leading == running else reread_option_files(facts, leading)


def _of_service(facts: Facts, args: argparse.Namespace) -> Facts:
    """Return the facts with the service of --root and --service; raises MycnfError if there is no such unit."""
    from advisor.collect.collect import service_below

    if args.root is not None and not os.path.isdir(args.root):
        raise errors.MycnfError(f"--root {args.root} is not a directory; name one with a copy of the host's files")
    if args.snapshot and args.root is None:
        raise errors.MycnfError("--service cannot be read for a snapshot; name a copy of its files with --root")
    name = args.service or ""
    service = service_below(facts, args.root or "/", name if "." in name or not name else f"{name}.service")
    if name and service is None:
        where = f"below {args.root}" if args.root else "on this host"
        raise errors.MycnfError(f"there is no unit {name} {where}; systemctl list-units --type=service lists the names")
    return replace(facts, service=service)


def _render(outcome: Preflight, args: argparse.Namespace) -> str:
    from advisor.report import preflight
    from advisor.report.output import Paper
    from advisor.report.preflight import document

    own = {"json": partial(preflight.as_json, outcome)}
    return render("preflight", args.format, Paper.of_width(args.output), partial(document, outcome), own)


def _fails(outcome: Preflight, fail_on: str) -> bool:
    if fail_on == "never":
        return False
    return any(RANK[item.severity] <= RANK[Severity(fail_on)] for item in outcome.items)
