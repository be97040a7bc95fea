"""`mycnf probe`: list the experiments, run one on this host, and look at what earlier runs showed."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, NamedTuple

from advisor.core import errors
from advisor.core.console import narrate
from advisor.core.errors import MycnfError
from advisor.report.output import pair, write
from advisor.report.paper import Paper

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable

    from advisor.commands.probing.place import ProbeDirectory
    from advisor.facts.probes import ProbeResult
    from advisor.report.probe.proof import Proof
    from probes.experiment import Environment, Experiment, ProbeRequest

KEPT = "results"
PROVE = "prove"


def run(args: argparse.Namespace) -> int:
    """List, describe or run experiments, prove a rule's claim, or show kept results; 130 where the user ended a run."""
    reports = _reports(args)
    if args.name == KEPT:
        from advisor.commands.probing.results import look

        return look(args.words, reports)
    if args.name == PROVE:
        return _prove(args, reports)
    if args.words:
        raise MycnfError(f"{args.words[0]!r} is one word too many; run one probe at a time: mycnf probe {args.name}")
    if args.name is None:
        return _list(args, reports)
    return _one(args, reports)


def _reports(args: argparse.Namespace) -> list[tuple[str, str | None]]:
    """Formats with their files, looked at before a run that may take hours."""
    given = [*(args.reports or ()), *([("format", "json")] if args.json else [])]
    pairs = pair(dict.fromkeys(given))
    for _, path in pairs:
        if path not in (None, "-") and not os.path.isdir(os.path.dirname(os.path.abspath(str(path)))):
            raise MycnfError(f"can't write {path}: its directory doesn't exist; name another file with -o")
    return pairs


def _list(args: argparse.Namespace, reports: list[tuple[str, str | None]]) -> int:
    from advisor.commands.probing.place import ground, outlook, spot
    from advisor.report.probe import listing
    from probes import registry

    place = spot(args.dir)
    here = ground(place.path, args.server, narrate)
    experiments = registry.load_all()
    entries = [outlook(experiment, here, place) for experiment in experiments]
    for form, path in reports:
        write(listing.listing(entries, form, Paper.to(path)), path)
    return errors.OK


def _one(args: argparse.Namespace, reports: list[tuple[str, str | None]]) -> int:
    from advisor.commands.probing.place import ground, spot
    from advisor.commands.probing.request import wanted
    from probes import registry

    experiment = registry.load(args.name)
    place = spot(args.dir)
    wish = wanted(args, experiment, place.path)
    return _carry_out(args, _Order(experiment, ground(place.path, args.server, narrate), place, wish), reports)


def _prove(args: argparse.Namespace, reports: list[tuple[str, str | None]]) -> int:
    from advisor.commands.probing.place import ground, spot
    from advisor.commands.probing.prove import claimed, task_of
    from advisor.commands.probing.request import wanted
    from probes import registry

    rule, claim = claimed(args.words)
    experiment = registry.load(str(rule.probe))
    place = spot(args.dir)
    wish = wanted(args, experiment, place.path)
    file = args.words[1] if len(args.words) > 1 else None
    task, here = task_of(rule, claim, file, ground(place.path, args.server, narrate))
    return _carry_out(args, _Order(experiment, here, place, task.wish(wish), task.proof), reports)


class _Order(NamedTuple):
    """A run that was asked for; `proof` says what its result means for the rule that it was made for."""

    experiment: Experiment
    environment: Environment
    place: ProbeDirectory
    wish: ProbeRequest
    proof: Callable[[ProbeResult], Proof] | None = None


def _carry_out(args: argparse.Namespace, order: _Order, reports: list[tuple[str, str | None]]) -> int:
    from advisor.commands.probing.place import outlook
    from advisor.report.probe import listing

    if args.describe or args.dry_run:
        entry = outlook(order.experiment, order.environment, order.place, order.wish)
        page = listing.description if args.describe else listing.dry_run
        for form, path in reports:
            write(page(entry, form, Paper.to(path)), path)
        return errors.OK if args.describe or not entry.refused else errors.USAGE
    if order.place.why:
        narrate(f"measuring in {order.place.path}, {order.place.why}")
    return _run(order, args.resume, reports)


def _run(order: _Order, resume: bool, reports: list[tuple[str, str | None]]) -> int:
    from advisor.commands.probing.results import show
    from advisor.commands.probing.run import earlier_run, go
    from probes.resume import remaining_request

    experiment, here, wish = order.experiment, order.environment, order.wish
    plan = experiment.plan(here, wish)
    earlier = earlier_run(experiment, here, wish, plan) if resume else None
    left = remaining_request(wish, plan, earlier.result) if earlier else wish
    if earlier and left is None:
        narrate(f"the kept run is complete ({earlier.result.rounds} rounds); ask for more with --rounds or --time")
        show(earlier.result, reports, order.proof)
        return errors.OK
    result, code = go(experiment, here, left or wish, earlier)
    if result is not None:
        show(result, reports, order.proof)
    return code
