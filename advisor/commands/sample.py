"""`mycnf sample`: saves one sample of a server's counters, and prints the cron line or systemd units that run it."""

from __future__ import annotations

import os
import shlex
import shutil
import sys
import time
from typing import TYPE_CHECKING

from advisor.commands.connection import CONNECTION
from advisor.core import errors

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator

    from advisor.facts import Facts, SampledHours, Server, SpaceReading
    from advisor.state.sample_ring import RingSample


PATHS = frozenset({"socket", "defaults_file", "defaults_extra_file", "ssl_ca", "ssl_cert", "ssl_key"})
TEXT = """\
# The password belongs into an option file of its owner alone (chmod 600), named by --defaults-file, not here.

# --- cron: crontab -e, as the user whose audits are to know the samples -------
*/10 * * * * {cron}

# --- systemd, for that user: ~/.config/systemd/user/mycnf-sample.service ------
[Unit]
Description=Sample a database server's counters for mycnf

[Service]
Type=oneshot
ExecStart={unit}
TimeoutStartSec=120

# --- and ~/.config/systemd/user/mycnf-sample.timer ----------------------------
[Unit]
Description=Sample a database server's counters every ten minutes

[Timer]
OnCalendar=*:0/10
AccuracySec=30s

[Install]
WantedBy=timers.target

# Then: systemctl --user enable --now mycnf-sample.timer; loginctl enable-linger
"""


def run(args: argparse.Namespace) -> int:
    """Sample the server in the connection options; prints nothing without a terminal, since cron mails output."""
    from advisor.report.output import write

    if args.print_timer and args.list:
        raise errors.MycnfError("--print-timer and --list print different things; omit one of them")
    if args.print_timer:
        write(timer_text(args), None)
        return errors.OK
    if args.list:
        from advisor.commands.connection import connection_option

        if given := connection_option(args):
            raise errors.MycnfError(f"--list lists all sampled servers, so {given} has no effect; omit one of them")
        write(_list_samples(), None)
        return errors.OK
    _sample(args)
    return errors.OK


def _sample(args: argparse.Namespace) -> None:
    from advisor.collect.collect import read_variables_and_counters
    from advisor.commands.connection import request_of
    from advisor.core.errors import print_notice
    from advisor.state.directory import server_name
    from advisor.state.sample_ring import RESOLUTION, SLOTS, save_sample

    variables, sample = read_variables_and_counters(request_of(args))
    kept = save_sample(sample, variables, int(time.time()))
    if not sys.stderr.isatty():
        return
    if kept.too_soon:
        print_notice(f"the last sample is less than {RESOLUTION // 120} minutes old, so this one was not saved")
    else:
        print_notice(f"{kept.path} holds {kept.held:,} of {SLOTS:,} samples of {server_name(variables)}")


def _list_samples() -> str:
    from advisor.core.errors import print_notice
    from advisor.report.history import sample_listing
    from advisor.state.busiest_hours import read_rings

    rings, damaged = read_rings()
    for line in damaged:
        print_notice(line)
    return sample_listing(rings)


def load_samples(server: Server) -> SampledHours | None:
    """Return a summary of a server's samples, None if there are none; an unreadable ring is reported on stderr.

    None also if no sample was taken for as long as a ring lasts: such an hour says nothing about the load of now, and
    what it reported could never be mended.
    """
    from advisor.core.errors import print_notice
    from advisor.state.busiest_hours import summarize_samples
    from advisor.state.sample_ring import RESOLUTION, SLOTS

    entries = _entries(server)
    days = (time.time() - max((entry.time for entry in entries), default=0)) / 86400
    if entries and days > SLOTS * RESOLUTION / 86400:
        print_notice(f"skipped the samples of this server: the newest is {days:.0f} days old; see mycnf sample")
        return None
    return summarize_samples(entries)


def load_spaces(facts: Facts) -> tuple[SpaceReading, ...]:
    """Return earlier readings of the free space on the server's disks: of its samples and its saved snapshots."""
    from advisor.core.errors import print_notice
    from advisor.facts import SpaceReading
    from advisor.facts.workload import SPACE
    from advisor.state.history import stored_spaces

    if facts.host is None or facts.host.storage is None or not facts.server.variables:
        return ()
    point = facts.host.storage.mount.point
    read = [(entry.time, [entry.counters.get(name) for name in SPACE]) for entry in _entries(facts.server)[::APART]]
    sampled = [SpaceReading(point, at, size, free) for at, (size, free) in read if size and free is not None]
    return (*sampled, *stored_spaces(facts.server.variables, print_notice))


APART = 18  # samples: three hours


def _entries(server: Server) -> list[RingSample]:
    """Return the samples of a server, oldest first; an unreadable ring is reported on stderr."""
    from advisor.core.errors import print_notice
    from advisor.state.sample_ring import ring_path

    path = ring_path(server.variables)
    if not server.variables or not os.path.exists(path):
        return []
    from advisor.state import sample_ring

    try:
        return sample_ring.read(path)[1]
    except (OSError, sample_ring.RingError) as error:
        print_notice(f"skipped the samples of this server: {error}")
        return []


def timer_text(args: argparse.Namespace) -> str:
    """Return the cron line and the systemd units that sample the server of these arguments, from any directory."""
    command = shlex.join([*_program(sys.argv[0]), "sample", *_connection_words(args)])
    # cron ends a command at a percent sign; systemd expands it, and a dollar sign even within quotes.
    unit = command.replace("%", "%%").replace("$", "$$")
    return TEXT.format(cron=command.replace("%", "\\%"), unit=unit)


def _connection_words(args: argparse.Namespace) -> Iterator[str]:
    """Yield the connection options with absolute paths: cron and systemd run a command in a directory of theirs."""
    for name in CONNECTION:
        value = getattr(args, name)
        if value is not None and name != "ask_password":
            yield f"--{name.replace('_', '-')}"
            yield os.path.abspath(value) if name in PATHS else str(value)


def _program(started: str) -> list[str]:
    """Return how to start this very mycnf, given sys.argv[0]: cron and systemd search few directories."""
    path = os.path.abspath(started)
    if path.endswith(".pyz"):
        return [sys.executable, path]
    if os.path.basename(path) == "mycnf" and os.access(path, os.X_OK):
        return [path]
    found = shutil.which("mycnf")
    return [os.path.abspath(found) if found else "mycnf"]
