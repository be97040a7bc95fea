"""`mycnf collect`: saves the facts of an audit, to analyse them elsewhere."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from advisor.commands.connection import apply_declared_host, declared_host, is_declared
from advisor.core import errors
from advisor.core.errors import print_notice

if TYPE_CHECKING:
    import argparse

    from advisor.facts import Facts, ProbeResult


STDOUT = "-"


def run(args: argparse.Namespace) -> int:
    """Write the snapshot; if the connection is lost, saves what was read and returns 3."""
    from advisor.facts.snapshot import encode_snapshot, save
    from advisor.report.output import write

    if args.output is None and not args.keep:
        raise errors.MycnfError("name a file for the snapshot with -o SNAP, or save it for mycnf history with --keep")
    facts = collect_facts(args)
    if args.output == STDOUT:
        write(encode_snapshot(facts).decode("ascii"), None)
    elif args.output is not None:
        save(facts, args.output)
    if args.keep:
        from advisor.commands.history import keep_facts

        keep_facts(facts)
    for part in facts.unavailable:
        print_notice(f"not collected: {part.part}: {part.reason}")
    if facts.lost:
        print_notice(facts.lost)
        return errors.CONNECTION
    if args.output is not None:
        place = "the snapshot on stdout" if args.output == STDOUT else args.output
        print_notice(f"{place} has the facts of {facts.statements} statements and the host; secrets are masked")
    return errors.OK


def collect_facts(args: argparse.Namespace) -> Facts:
    """The facts of the server that the connection options name, with its host as the user described it, if at all."""
    from msgspec.structs import replace

    from advisor.collect.collect import CollectRequest, collect
    from advisor.commands.connection import check_window, request_of, schema_limits
    from advisor.commands.sample import load_samples, load_spaces
    from advisor.facts.snapshot import fit_snapshot

    check_window(args.window)
    if is_declared(args):
        declared_host(args)  # mistakes are reported before a statement is sent
    facts = collect(CollectRequest(request_of(args), window=args.window, schema=schema_limits(args)))
    if facts.host is not None:  # set only for a server on this host, so results measured here apply
        facts = replace(facts, probes=load_probe_results())
    facts = replace(facts, sampled=load_samples(facts.server), spaces=load_spaces(facts))
    return fit_snapshot(apply_declared_host(facts, args))


def load_probe_results() -> tuple[ProbeResult, ...]:
    """Return the latest saved probe results of this host; invalid files are reported on stderr and skipped."""
    from probes.host_identity import host_id
    from probes.results import latest_results, read_all, results_folder

    results = read_all()
    for line in results.damaged:
        print_notice(line)
    return latest_results(results, host_id(results_folder())) if results.kept else ()


DEMO = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "demo", "recording.json")
DEMO_SERIES = os.path.join(os.path.dirname(DEMO), "series.json")


def load_recorded(args: argparse.Namespace) -> Facts | None:
    """Return the recorded facts named on the command line; None if it names a server."""
    if args.texts:
        return load_texts(args)
    return load_snapshot(args) if args.snapshot or args.demo else None


def load_snapshot(args: argparse.Namespace) -> Facts:
    """Return the facts of --snapshot or --demo, with the host as the options describe it; MycnfError for both."""
    from advisor.facts.snapshot import load

    if args.snapshot and args.demo:
        raise errors.MycnfError("--snapshot and --demo are two different servers; use one of them")
    return apply_declared_host(load(args.snapshot or DEMO), args)


def load_texts(args: argparse.Namespace) -> Facts:
    """The facts in the texts of --from; MycnfError for what is no such text, or another source beside it."""
    from advisor.collect.pasted import facts_of_texts

    if args.snapshot or args.demo:
        raise errors.MycnfError("--from and --snapshot or --demo are different servers; use one of them")
    return apply_declared_host(facts_of_texts(args.texts), args)
