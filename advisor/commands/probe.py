"""`mycnf probe`: lists probes, runs one on this host as requested, and shows saved results."""

from __future__ import annotations

import os
import random
from typing import TYPE_CHECKING, NamedTuple

from advisor.commands.probe_place import current_host_id
from advisor.core import errors
from advisor.core.errors import MycnfError, did_you_mean, print_notice
from advisor.report.output import Paper, pair, write
from advisor.report.probe import listing
from probes import results
from probes.experiment import ProbeRequest, parse_duration

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Sequence

    from advisor.commands.probe_place import ProbeDirectory
    from advisor.facts.probes import ProbeResult
    from advisor.report.probe.words import Proof
    from probes.experiment import Choice, Environment, Experiment


RESULTS = "results"
PROVE = "prove"
OVERRIDABLE = ("full", "little", "busy", "neighbour")  # refusals, and the end of a run, that --force overrides


def run(args: argparse.Namespace) -> int:
    """List, describe or run probes, prove a rule's claim, or show saved results; 130 if the user ended a run."""
    reports = _reports(args)
    if args.name == RESULTS:
        return list_results(args.words, reports)
    if args.name == PROVE:
        return _prove(args, reports)
    if args.words:
        raise MycnfError(f"{args.words[0]!r} is not expected; run one probe at a time: mycnf probe {args.name}")
    if args.name is None:
        return _list(args, reports)
    return _run_named(args, reports)


def _reports(args: argparse.Namespace) -> list[tuple[str, str | None]]:
    """Return formats with their files, checked before a run that may take hours."""
    given = [*(args.reports or ()), *([("format", "json")] if args.json else [])]
    pairs = pair(dict.fromkeys(given))
    for _, path in pairs:
        if path not in (None, "-") and not os.path.isdir(os.path.dirname(os.path.abspath(str(path)))):
            raise MycnfError(f"can't write {path}: its directory doesn't exist; name another file with -o")
    return pairs


def _list(args: argparse.Namespace, reports: list[tuple[str, str | None]]) -> int:
    from advisor.commands.probe_place import choose_directory, make_environment, preview_run
    from probes import registry

    place = choose_directory(args.dir)
    here = make_environment(place.path, args.server, print_notice)
    experiments = registry.load_all()
    entries = [preview_run(experiment, here, place) for experiment in experiments]
    for form, path in reports:
        write(listing.listing(entries, form, Paper.to(path)), path)
    return errors.OK


def _run_named(args: argparse.Namespace, reports: list[tuple[str, str | None]]) -> int:
    from advisor.commands.probe_place import choose_directory, make_environment
    from probes import registry

    experiment = registry.load(args.name)
    place = choose_directory(args.dir)
    wish = make_probe_request(args, experiment, place.path)
    return _carry_out(
        args, _RunOrder(experiment, make_environment(place.path, args.server, print_notice), place, wish), reports
    )


def _prove(args: argparse.Namespace, reports: list[tuple[str, str | None]]) -> int:
    from advisor.commands.probe_place import choose_directory, make_environment
    from advisor.commands.probe_prove import find_claim, make_task
    from probes import registry

    rule, claim = find_claim(args.words)
    experiment = registry.load(str(rule.probe))
    place = choose_directory(args.dir)
    wish = make_probe_request(args, experiment, place.path)
    file = args.words[1] if len(args.words) > 1 else None
    task, here = make_task(rule, claim, file, make_environment(place.path, args.server, print_notice))
    return _carry_out(args, _RunOrder(experiment, here, place, task.wish(wish), task.proof), reports)


class _RunOrder(NamedTuple):
    """A requested run; `proof` evaluates its result for the rule to be proved."""

    experiment: Experiment
    environment: Environment
    place: ProbeDirectory
    wish: ProbeRequest
    proof: Callable[[ProbeResult], Proof] | None = None


def _carry_out(args: argparse.Namespace, order: _RunOrder, reports: list[tuple[str, str | None]]) -> int:
    from advisor.commands.probe_place import preview_run

    if args.describe or args.dry_run:
        entry = preview_run(order.experiment, order.environment, order.place, order.wish)
        page = listing.description if args.describe else listing.dry_run
        for form, path in reports:
            write(page(entry, form, Paper.to(path)), path)
        return errors.OK if args.describe or not entry.refused else errors.USAGE
    if order.place.why:
        print_notice(f"measuring in {order.place.path}, {order.place.why}")
    return _run(order, args.resume, reports)


def _run(order: _RunOrder, resume: bool, reports: list[tuple[str, str | None]]) -> int:
    from advisor.commands.probe_run import earlier_run, run_probe
    from probes.checkpoints import remaining_request

    experiment, here, wish = order.experiment, order.environment, order.wish
    plan = experiment.plan(here, wish)
    earlier = earlier_run(experiment, here, wish, plan) if resume else None
    left = remaining_request(wish, plan, earlier.result) if earlier else wish
    if earlier and left is None:
        print_notice(
            f"the saved run is complete ({earlier.result.rounds} rounds); ask for more with --rounds or --time"
        )
        show_result(earlier.result, reports, order.proof)
        return errors.OK
    result, code = run_probe(experiment, here, left or wish, earlier)
    if result is not None:
        show_result(result, reports, order.proof)
    return code


def list_results(words: Sequence[str], reports: list[tuple[str, str | None]]) -> int:
    """List the saved results, or show those named by id or probe (optionally after the word `show`)."""
    saved = results.read_all()
    for line in saved.damaged:
        print_notice(line)
    names = [w for w in words if w not in ("list", "show")]
    if names:
        return _show_named(saved, names, reports)
    here = current_host_id()
    for form, path in reports:
        write(listing.render_kept(saved.kept, here, form, Paper.to(path)), path)
    return errors.OK


def _show_named(saved: results.KeptResults, names: Sequence[str], reports: list[tuple[str, str | None]]) -> int:
    for name in names:
        kept = results.find_result(saved.kept, name)
        if kept is None:
            raise MycnfError(f"no saved result {name!r}; mycnf probe results lists them")
        show_result(kept.result, reports)
    return errors.OK


def show_result(
    result: ProbeResult,
    reports: list[tuple[str, str | None]],
    prove: Callable[[ProbeResult], Proof] | None = None,
) -> None:
    """Print a result in every requested format, beginning with what it proves about a rule."""
    from advisor.report.probe.result import render

    proof = prove(result) if prove else None
    own = {proof.claim.option: proof.before} if proof is not None and proof.own else {}
    for form, path in reports:
        write(render(result, form, Paper.to(path), proof, own), path)


def make_probe_request(args: argparse.Namespace, experiment: Experiment, directory: str) -> ProbeRequest:
    """Return the request for one run; the probe validates parameter values. Raises MycnfError for invalid options."""
    if args.rounds is not None and args.rounds < 1:
        raise MycnfError(f"--rounds {args.rounds} measures nothing; write 1 or more, 5 is better")
    return ProbeRequest(
        directory=directory,
        seconds=_seconds(args.time) if args.time is not None else None,
        rounds=args.rounds,
        choices=_choices(args, experiment),
        force=_overridden(args.force),
        seed=random.randrange(1 << 31) if args.seed is None else args.seed,  # noqa: S311 - an order, not a secret
    )


def _overridden(given: Sequence[str]) -> frozenset[str]:
    """Return the refusals named by --force, which may be lists."""
    names = frozenset(name.strip() for words in given for name in words.split(","))
    for name in sorted(names.difference(OVERRIDABLE)):
        hint = did_you_mean(name, OVERRIDABLE, f"it takes {', '.join(OVERRIDABLE)}")
        raise MycnfError(f"--force {name} overrides no refusal{hint}")
    return names


def _seconds(written: str) -> float:
    seconds = parse_duration(written)
    if seconds is None:
        raise MycnfError(f"--time {written} is not a valid time; write 60s, 10m or 3h")
    return seconds


def _choices(args: argparse.Namespace, experiment: Experiment) -> dict[str, str]:
    """Return the probe's parameters by their own names, from --option and from dedicated options."""
    known = {_plain_name(choice.name): choice for choice in experiment.choices}
    chosen: dict[str, str] = {}
    for name, value, spelling in _given_choices(args):
        choice = known.get(_plain_name(name))
        if choice is None:
            raise MycnfError(f"{experiment.name} has no parameter {spelling}{_hint(name, known, experiment)}")
        chosen[choice.name] = value
    return chosen


def _given_choices(args: argparse.Namespace) -> list[tuple[str, str, str]]:
    """Return name, value and spelling on the command line: first of --option, then of the dedicated options."""
    given = []
    for words in args.option:
        name, equals, value = words.partition("=")
        if not equals:
            raise MycnfError(f"--option {words} has no value; write --option NAME=VALUE")
        given.append((name.strip(), value.strip(), name))
    for name in ("set", "workload", "acceptable_qps"):
        value = getattr(args, name)
        if value is not None:
            given.append((name, value.strip(), f"--{name.replace('_', '-')}"))
    return given


def _hint(name: str, known: dict[str, Choice], experiment: Experiment) -> str:
    if not known:
        return "; it has no parameters"
    names = ", ".join(choice.name for choice in known.values())
    return did_you_mean(
        _plain_name(name), known, f"its parameters are {names}; see mycnf probe {experiment.name} --describe"
    )


def _plain_name(name: str) -> str:
    return name.lower().replace("_", "-")
