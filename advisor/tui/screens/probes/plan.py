"""Plan probe runs on this host; these functions read the host, so call them in threads."""

from __future__ import annotations

import random
import time
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from advisor.core.errors import MycnfError
from probes import registry
from probes.checkpoints import find_matching_run, remaining_request
from probes.experiment import ProbeEntry, ProbeError, ProbeRequest, parse_duration
from probes.rounds import require_enough_time
from probes.safety import find_objections

if TYPE_CHECKING:
    from collections.abc import Callable

    from advisor.tui.start import ProbeSite
    from probes.experiment import Environment, Experiment, RunPlan
    from probes.results import KeptResult
    from probes.safety import Objection


class ProbeFormValues(NamedTuple):
    """The values of the dialog's fields: a time such as 60s or "", choices by name, names of refusals to override.

    `resume`: continue the earlier run.
    """

    directory: str
    time: str = ""
    choices: tuple[tuple[str, str], ...] = ()
    force: str = ""
    resume: bool = False


class PlannedRun(NamedTuple):
    """A run that can start; `earlier` is the saved run that it resumes."""

    experiment: Experiment
    environment: Environment
    request: ProbeRequest
    plan: RunPlan
    earlier: KeptResult | None = None


class RunPreview(NamedTuple):
    """The run as planned, with objections; `order` is set if there are none.

    `earlier` is the saved run that it can resume.
    """

    wish: ProbeFormValues
    entry: ProbeEntry
    objections: tuple[Objection, ...] = ()
    checked_at: str = ""
    order: PlannedRun | None = None
    earlier: KeptResult | None = None


def plan_entries(find: Callable[[str | None], ProbeSite]) -> tuple[ProbeEntry, ...]:
    """All probes as they would run at the site, or why they cannot."""
    try:
        site = find(None)
    except MycnfError as error:
        reason = str(error)
        return entries_without_plan(lambda _: reason)
    return tuple(_plan_entry(x, site, ProbeRequest(site.path)) for x in registry.load_all())


def entries_without_plan(reason: Callable[[str], str]) -> tuple[ProbeEntry, ...]:
    """All probes when none can run; `reason` returns why, by name."""
    return tuple(ProbeEntry(x, "", "", None, (reason(x.name),)) for x in registry.load_all())


def _plan_entry(experiment: Experiment, site: ProbeSite, request: ProbeRequest) -> ProbeEntry:
    """The probe with its plan, in the requested time."""
    try:
        plan = experiment.plan(site.environment, request)
        require_enough_time(plan, request)
    except MycnfError as error:
        return ProbeEntry(experiment, site.path, site.why, None, (str(error),))
    return ProbeEntry(experiment, site.path, site.why, replace(plan, seconds=request.seconds or plan.seconds))


def preview_run(find: Callable[[str | None], ProbeSite], experiment: Experiment, wish: ProbeFormValues) -> RunPreview:
    """Plan a run and check objections; takes a second if processor load must be sampled."""
    try:
        site = find(wish.directory or None)
        request = probe_request(experiment, wish, site.path)
    except MycnfError as error:
        return RunPreview(wish, ProbeEntry(experiment, wish.directory, "", None, (str(error),)))
    entry = _plan_entry(experiment, site, request)
    if entry.plan is None:
        return RunPreview(wish, entry)
    objections = tuple(
        o for o in find_objections(site.environment, request, entry.plan.cost) if not _is_overridden(o, request)
    )
    earlier, rest = _resumable_run(experiment, site, request)
    order = None
    if not objections:
        order = PlannedRun(experiment, site.environment, request, entry.plan)
        if wish.resume and rest is not None:
            order = order._replace(request=rest, earlier=earlier)
    return RunPreview(wish, entry, objections, time.strftime("%H:%M:%S"), order, earlier)


def _resumable_run(
    experiment: Experiment, site: ProbeSite, request: ProbeRequest
) -> tuple[KeptResult | None, ProbeRequest | None]:
    """The saved run that this one can resume, and the remaining request; None if it is complete."""
    plan = experiment.plan(site.environment, request)
    kept, _ = find_matching_run(experiment, site.environment, request, plan)
    rest = remaining_request(request, plan, kept.result) if kept else None
    return (kept, rest) if rest is not None else (None, None)


def probe_request(experiment: Experiment, wish: ProbeFormValues, directory: str) -> ProbeRequest:
    """Convert the form values to a request. Raises ProbeError for an invalid duration."""
    seconds = parse_duration(wish.time) if wish.time.strip() else None
    if wish.time.strip() and seconds is None:
        raise ProbeError(f"{wish.time!r} is not a duration. Write 60s, 10m or 3h")
    defaults = {choice.name: choice.default for choice in experiment.choices}
    return ProbeRequest(
        directory=directory,
        seconds=seconds,
        choices={name: value for name, value in wish.choices if value.strip() and value != defaults.get(name)},
        force=frozenset(wish.force.replace(",", " ").split()),
        seed=random.randrange(1 << 31),  # noqa: S311 - an order of blocks, not a secret
    )


def _is_overridden(objection: Objection, request: ProbeRequest) -> bool:
    return not objection.final and objection.name in request.force
