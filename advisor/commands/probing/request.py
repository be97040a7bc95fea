"""The user's request for a probe, validated before anything is created."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

from advisor.core.errors import MycnfError, did_you_mean
from probes.choices import parse_duration
from probes.experiment import ProbeRequest

if TYPE_CHECKING:
    import argparse

    from probes.experiment import Choice, Experiment


def make_probe_request(args: argparse.Namespace, experiment: Experiment, directory: str) -> ProbeRequest:
    """Return the request for one run; the probe validates parameter values. Raises MycnfError for invalid options."""
    if args.rounds is not None and args.rounds < 1:
        raise MycnfError(f"--rounds {args.rounds} measures nothing; write 1 or more, 5 is better")
    return ProbeRequest(
        directory=directory,
        seconds=_seconds(args.time) if args.time is not None else None,
        rounds=args.rounds,
        choices=_choices(args, experiment),
        force=frozenset(name for words in args.force for name in words.split(",")),
        seed=random.randrange(1 << 31) if args.seed is None else args.seed,  # noqa: S311 - an order, not a secret
    )


def _seconds(written: str) -> float:
    seconds = parse_duration(written)
    if seconds is None:
        raise MycnfError(f"--time {written} is not a valid time; write 60s, 10m or 3h")
    return seconds


def _choices(args: argparse.Namespace, experiment: Experiment) -> dict[str, str]:
    """Return the probe's parameters by their own names, from --option and from dedicated options."""
    known = {_plain(choice.name): choice for choice in experiment.choices}
    chosen: dict[str, str] = {}
    for name, value, spelling in _given_choices(args):
        choice = known.get(_plain(name))
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
        _plain(name), known, f"its parameters are {names}; see mycnf probe {experiment.name} --describe"
    )


def _plain(name: str) -> str:
    return name.lower().replace("_", "-")
