"""`mycnf sample`: saves one sample of a server's counters, from cron or a timer, for the busiest hour in audits."""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING

from advisor.core import errors

if TYPE_CHECKING:
    import argparse

    from advisor.facts import Facts, SampledHours, Server, SpaceReading
    from advisor.state.sampling.ring import RingSample


def run(args: argparse.Namespace) -> int:
    """Sample the server in the connection options; prints nothing without a terminal, since cron mails output."""
    from advisor.report.output import write

    if args.print_timer:
        from advisor.state.sampling.timer import timer_text

        write(timer_text(sys.argv[1:]), None)
        return errors.OK
    if args.list:
        write(_list_samples(), None)
        return errors.OK
    _sample(args)
    return errors.OK


def _sample(args: argparse.Namespace) -> None:
    from advisor.collect.collect import read_variables_and_counters
    from advisor.commands.connection import request_of
    from advisor.core.errors import print_notice
    from advisor.state.directory import server_name
    from advisor.state.sampling.keep import save_sample
    from advisor.state.sampling.ring import RESOLUTION, SLOTS

    variables, sample = read_variables_and_counters(request_of(args))
    kept = save_sample(sample, variables, int(time.time()))
    if not sys.stderr.isatty():
        return
    if kept.too_soon:
        print_notice(f"the last sample is less than {RESOLUTION // 120} minutes old, so this one was not kept")
    else:
        print_notice(f"{kept.path} holds {kept.held:,} of {SLOTS:,} samples of {server_name(variables)}")


def _list_samples() -> str:
    from advisor.core.errors import print_notice
    from advisor.report.sample_list import listing
    from advisor.state.sampling.stored_rings import read_rings

    found, damaged = read_rings()
    for line in damaged:
        print_notice(line)
    return listing(found)


def load_samples(server: Server) -> SampledHours | None:
    """Return a summary of a server's samples, None if there are none; an unreadable ring is reported on stderr."""
    from advisor.state.sampling.busiest import summarize_samples

    return summarize_samples(_entries(server))


def load_spaces(facts: Facts) -> tuple[SpaceReading, ...]:
    """Return earlier readings of the free space on the server's disks: of its samples and its saved snapshots."""
    from advisor.core.errors import print_notice
    from advisor.facts import SpaceReading
    from advisor.facts.workload import SPACE
    from advisor.state.history.store import stored_spaces

    if facts.host is None or facts.host.storage is None or not facts.server.variables:
        return ()
    point = facts.host.storage.mount.point
    read = [(entry.time, [entry.counters.get(name) for name in SPACE]) for entry in _entries(facts.server)[::APART]]
    sampled = [SpaceReading(point, at, size, free) for at, (size, free) in read if size and free is not None]
    return (*sampled, *stored_spaces(facts.server.variables, print_notice))


APART = 18  # samples: three hours


def _entries(server: Server) -> list[RingSample]:
    """Return the samples of a server, oldest first; an unreadable ring is reported on stderr."""
    import os

    from advisor.core.errors import print_notice
    from advisor.state.sampling.keep import ring_path

    path = ring_path(server.variables)
    if not server.variables or not os.path.exists(path):
        return []
    from advisor.state.sampling import ring

    try:
        return ring.read(path)[1]
    except (OSError, ring.RingError) as error:
        print_notice(f"skipped the samples of this server: {error}")
        return []
