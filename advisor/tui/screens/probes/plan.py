"""Looking at what experiments would do here: it reads the host, so it belongs into threads."""

from __future__ import annotations

import random
import time
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from advisor.core.errors import MycnfError
from advisor.report.probe.listing import Entry
from probes import registry
from probes.choices import parse_duration
from probes.experiment import ProbeError, ProbeRequest
from probes.resume import find_matching_run, remaining_request
from probes.rounds import require_enough_time
from probes.safety.objections import find_objections

if TYPE_CHECKING:
    from collections.abc import Callable

    from advisor.tui.start import Site
    from probes.experiment import Environment, Experiment, RunPlan
    from probes.results import KeptResult
    from probes.safety.objections import Objection


class Wish(NamedTuple):
    """What the user wrote: a time such as 60s or nothing, choices by name, names of refusals to be overridden.

    `goes_on` where the earlier run is to be gone on with.
    """

    directory: str
    time: str = ""
    choices: tuple[tuple[str, str], ...] = ()
    force: str = ""
    goes_on: bool = False


class Order(NamedTuple):
    """A run that may begin; `earlier` is the kept one that it goes on with."""

    experiment: Experiment
    ground: Environment
    wanted: ProbeRequest
    plan: RunPlan
    earlier: KeptResult | None = None


class RunOutlook(NamedTuple):
    """What came of looking: the run as it would be, and what is against it; `order` where nothing keeps it back.

    `earlier` is the kept run that it could go on with.
    """

    wish: Wish
    entry: Entry
    against: tuple[Objection, ...] = ()
    looked: str = ""
    order: Order | None = None
    earlier: KeptResult | None = None


def entries(find: Callable[[str | None], Site]) -> tuple[Entry, ...]:
    """All experiments as they would run at the site that is found, or why they can't."""
    try:
        site = find(None)
    except MycnfError as error:
        reason = str(error)
        return elsewhere(lambda _: reason)
    return tuple(_entry(x, site, ProbeRequest(site.path)) for x in registry.load_all())


def elsewhere(reason: Callable[[str], str]) -> tuple[Entry, ...]:
    """All experiments where none can be run; `reason` says of each, by its name, why."""
    return tuple(Entry(x, "", "", None, (reason(x.name),)) for x in registry.load_all())


def _entry(experiment: Experiment, site: Site, wanted: ProbeRequest) -> Entry:
    """The experiment with its plan, which takes the time that was asked for."""
    try:
        plan = experiment.plan(site.ground, wanted)
        require_enough_time(plan, wanted)
    except MycnfError as error:
        return Entry(experiment, site.path, site.why, None, (str(error),))
    return Entry(experiment, site.path, site.why, replace(plan, seconds=wanted.seconds or plan.seconds))


def look(find: Callable[[str | None], Site], experiment: Experiment, wish: Wish) -> RunOutlook:
    """What a run would do and what is against it now; takes a second where the processors have to be watched."""
    try:
        site = find(wish.directory or None)
        wanted = wanted_of(experiment, wish, site.path)
    except MycnfError as error:
        return RunOutlook(wish, Entry(experiment, wish.directory, "", None, (str(error),)))
    entry = _entry(experiment, site, wanted)
    if entry.plan is None:
        return RunOutlook(wish, entry)
    against = tuple(o for o in find_objections(site.ground, wanted, entry.plan.cost) if not _overridden(o, wanted))
    earlier, rest = _begun(experiment, site, wanted)
    order = None
    if not against:
        order = Order(experiment, site.ground, wanted, entry.plan)
        if wish.goes_on and rest is not None:
            order = order._replace(wanted=rest, earlier=earlier)
    return RunOutlook(wish, entry, against, time.strftime("%H:%M:%S"), order, earlier)


def _begun(experiment: Experiment, site: Site, wanted: ProbeRequest) -> tuple[KeptResult | None, ProbeRequest | None]:
    """The kept run that this one could go on with, and what is left of it; nothing where that is complete."""
    plan = experiment.plan(site.ground, wanted)
    kept, _ = find_matching_run(experiment, site.ground, wanted, plan)
    rest = remaining_request(wanted, plan, kept.result) if kept else None
    return (kept, rest) if rest is not None else (None, None)


def wanted_of(experiment: Experiment, wish: Wish, directory: str) -> ProbeRequest:
    """The wish as experiments take it. Raises ProbeError for a time that is none."""
    seconds = parse_duration(wish.time) if wish.time.strip() else None
    if wish.time.strip() and seconds is None:
        raise ProbeError(f"{wish.time!r} is no time to measure for: write 60s, 10m or 3h")
    defaults = {choice.name: choice.default for choice in experiment.choices}
    return ProbeRequest(
        directory=directory,
        seconds=seconds,
        choices={name: value for name, value in wish.choices if value.strip() and value != defaults.get(name)},
        force=frozenset(wish.force.replace(",", " ").split()),
        seed=random.randrange(1 << 31),  # noqa: S311 - an order, no secret
    )


def _overridden(found: Objection, wanted: ProbeRequest) -> bool:
    return not found.final and found.name in wanted.force
