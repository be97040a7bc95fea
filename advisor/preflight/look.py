"""Lay what the next start reads beside what runs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from advisor.analysis.context import know
from advisor.catalog.targets import require_known
from advisor.core.model import Skipped
from advisor.preflight.changes import changes
from advisor.preflight.command import next_command
from advisor.preflight.coupled import couple
from advisor.preflight.item import Item, Kind, Preflight
from advisor.preflight.limits import clip
from advisor.preflight.outlook import outlooks, set_late
from advisor.preflight.refused import refusals
from advisor.preflight.sized import size
from advisor.preflight.sources import judge_start

if TYPE_CHECKING:
    from collections.abc import Iterator

    from advisor.facts import Facts
    from advisor.preflight.command import Command
    from rules.core.context import Known

WEIGHT = list(Kind)


def look(facts: Facts) -> Preflight:
    """What a restart would refuse, lose or change, worst first; what can't be told is skipped with its reason.

    Raises MycnfError for a server that is older than the catalogs.
    """
    now = know(facts)
    require_known(now.target)
    command = next_command(facts)
    start = judge_start(facts, command, now.catalog)
    views = outlooks(now, start)
    if facts.files is not None:
        clip(views, now, command)
        couple(views, now)
        size(views, now)
    set_late(views, now, start)
    items = sorted([*refusals(facts, command, start), *changes(facts, now, views)], key=_weight)
    return Preflight(now.target, facts, tuple(items), tuple(_skipped(facts, command, now)), command)


def _weight(item: Item) -> tuple[int, bool, str, int, str]:
    place = item.location
    by_place = (place.path, place.line) if place and item.kind is Kind.REFUSED else ("", 0)
    return (WEIGHT.index(item.kind), bool(item.cause), *by_place, item.variable or "")


def _skipped(facts: Facts, command: Command, now: Known) -> Iterator[Skipped]:
    """The parts of the next start that could not be read, so that silence is not taken for a clean bill."""
    files = facts.files
    if files is None:
        yield Skipped("files", facts.why_not("files"))
    else:
        for copy in files.files:
            if copy.text is None and copy.mode:
                yield Skipped("files", f"{copy.path} can't be read: run as root or as the server's account")
        corrupt = files.persisted_options is None and files.persisted_changed  # which is an item of its own
        if files.persisted and not corrupt and (files.persisted_options is None or files.persisted_problem):
            why = files.persisted_problem or "the snapshot is older than the reading of it; collect it again"
            yield Skipped("persisted", f"{files.persisted}: {why}")
    if command.note:
        yield Skipped("service", command.note)
    if not now.server.origins:
        yield Skipped("origins", facts.why_not("server.origins"))
