"""Where a probe runs: the directory under test, this host, and the server programs on it."""

from __future__ import annotations

import os
import tempfile
from typing import TYPE_CHECKING, NamedTuple

from advisor.collect.host import open_root, read_host
from advisor.core.errors import MycnfError, print_notice
from probes.experiment import Environment, ProbeEntry, ProbeRequest
from probes.host_identity import host_id
from probes.leftovers import remove_leftovers
from probes.results import make_results_folder, results_folder
from probes.safety import find_objections
from probes.safety.neighbours import find_other_servers, open_latency_session, running_programs

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from probes.experiment import Experiment, RunPlan
    from probes.sandbox import Binary


IN_MEMORY = frozenset({"tmpfs", "ramfs"})


class ProbeDirectory(NamedTuple):
    """The directory under test, and why it was chosen; `why` is empty if the user named it."""

    path: str
    why: str = ""


def choose_directory(given: str | None) -> ProbeDirectory:
    """Return the directory that the user named, or one on the file system of this host's data directory.

    Without a running server it is a directory for temporary files that is not in memory. Raises MycnfError if a named
    directory does not exist.
    """
    if given is not None:
        if not os.path.isdir(given):
            raise MycnfError(f"--dir {given} is not a directory; name one on the file system to measure")
        return ProbeDirectory(os.path.realpath(given))
    for datadir in (n.datadir for n in find_other_servers() if n.datadir):
        path = next(
            (
                p
                for p in (*_temporary_directories(), *_parent_directories(datadir))
                if _is_writable(p) and _same_device(p, datadir)
            ),
            None,
        )
        if path is not None:
            return ProbeDirectory(path, f"on the file system of {datadir}")
        print_notice(
            f"no writable directory on the file system of {datadir}, so the run may measure another disk: see --dir"
        )
    for path in _temporary_directories():
        if _is_writable(path) and file_system(path) not in IN_MEMORY:
            return ProbeDirectory(path, "for temporary files; name the data directory's file system with --dir")
    return ProbeDirectory(tempfile.gettempdir(), "in memory; name a directory on a disk with --dir")


def make_environment(path: str, programs: Sequence[str] | None, report: Callable[[str], None]) -> Environment:
    """Return this host with the storage under `path`, and the named server programs, or those that it has."""
    from probes.sandbox import host_binaries

    binaries = [_binary(given) for given in programs] if programs else host_binaries(running_programs())
    return Environment(
        host=read_host(open_root("/"), datadir=path),
        host_id=current_host_id(),
        binaries=tuple(binaries),  # in PATH order: the first is the host's default
        report=report,
        open_latency_session=open_latency_session,
        remove_leftovers=remove_leftovers,
    )


def current_host_id() -> str:
    """Return the id that distinguishes this host's results."""
    try:
        return host_id(make_results_folder())
    except MycnfError:
        return host_id(results_folder())


def file_system(path: str) -> str:
    """Return the type of a path's file system, such as ext4; empty if unknown."""
    from advisor.collect.host import read_devices, trace_storage

    root = open_root("/")
    storage = trace_storage(root, path, read_devices(root))
    return storage.mount.fs_type if storage else ""


def _binary(given: str) -> Binary:
    """Return the server program at a path, on PATH, or of a target such as mysql-8.0 among those of this host."""
    import shutil

    from probes.sandbox import describe_binary, host_binaries

    if (found := shutil.which(given)) is not None:
        return describe_binary(os.path.abspath(found))
    for binary in host_binaries(running_programs()):
        if f"{binary.target}.".startswith(f"{given}."):
            return binary
    raise MycnfError(f"--server {given} is not an executable; name the path of a mysqld or mariadbd")


def _temporary_directories() -> tuple[str, ...]:
    return tempfile.gettempdir(), "/var/tmp"  # noqa: S108 - scratch directories of mode 0700 are made in there


def _parent_directories(datadir: str) -> Iterator[str]:
    """Yield the directories above a data directory, nearest first."""
    path = os.path.dirname(os.path.realpath(datadir))
    while path != os.path.dirname(path):
        yield path
        path = os.path.dirname(path)


def _is_writable(path: str) -> bool:
    return os.path.isdir(path) and os.access(path, os.W_OK | os.X_OK)


def _same_device(path: str, other: str) -> bool:
    try:
        return os.stat(path).st_dev == os.stat(other).st_dev
    except OSError:
        return False


def preview_run(
    experiment: Experiment, environment: Environment, place: ProbeDirectory, wanted: ProbeRequest | None = None
) -> ProbeEntry:
    """Return the plan of a run, or why there is none; with `wanted` also why it would be refused (takes a second)."""
    wish = wanted or ProbeRequest(place.path)
    try:
        plan = experiment.plan(environment, wish)
    except MycnfError as error:
        return ProbeEntry(experiment, place.path, place.why, None, (str(error),))
    refused = _objections(environment, wish, plan) if wanted else ()
    return ProbeEntry(experiment, place.path, place.why, plan, refused)


def _objections(environment: Environment, wanted: ProbeRequest, plan: RunPlan) -> tuple[str, ...]:
    found = find_objections(environment, wanted, plan.cost)
    return tuple(str(o) for o in found if o.final or o.name not in wanted.force)
