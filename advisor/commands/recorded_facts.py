"""Facts that were recorded: a snapshot, the texts of --from, or the recording that comes with mycnf."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from advisor.core import errors

if TYPE_CHECKING:
    import argparse

    from advisor.facts import Facts

DEMO = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "demo", "recording.json")


def load_recorded(args: argparse.Namespace) -> Facts | None:
    """The facts that the command line names a record of; None where it means a server."""
    if args.texts:
        return load_texts(args)
    if not args.snapshot and not args.demo:
        return None
    from advisor.facts.snapshot import load

    return load(args.snapshot or DEMO)


def load_texts(args: argparse.Namespace) -> Facts:
    """The facts that the texts of --from tell; MycnfError for what is no such text, or another source beside it."""
    from dataclasses import replace

    from advisor.collect.pasted import facts_of_texts
    from advisor.commands.connection import declared_host, is_declared

    if args.snapshot or args.demo:
        raise errors.MycnfError("--from and --snapshot or --demo name two servers; give one of them")
    facts = facts_of_texts(args.texts)
    return replace(facts, host=declared_host(args)) if is_declared(args) else facts
