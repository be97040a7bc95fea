"""Run ansible on each host: find the program, prepare its arguments and environment, and read its results."""

from __future__ import annotations

import contextlib
import json
import os
import pkgutil
import shutil
import subprocess
import sys
import tempfile
import time
from typing import IO, TYPE_CHECKING, NamedTuple

from advisor.core.errors import MycnfError
from advisor.core.signals import interrupt_on_signals
from advisor.fleet import guard, machine
from advisor.fleet.process_group import adopt_orphans, end_children
from advisor.fleet.run_directory import (
    ROW,
    UNREAD,
    HostRow,
    Status,
    delete_begun_rows,
    delete_failed_rows,
    file_name,
    finished_hosts,
    hosts_of,
    make_scratch_directory,
    new_rows,
    read_row,
    remove_scratch_files,
    row_in,
    scratch_directory,
    write_row,
)
from advisor.redaction import escape_text, redact_value

if TYPE_CHECKING:
    from collections.abc import Callable

ACTION = "mycnf_fleet"
PLUGINS = "plugins"
LOOK = 0.2  # seconds between two checks for finished hosts
_NOT_BEGUN = "Ansible cannot connect; for its message run: ansible {} -m ansible.builtin.raw -a true"
LONGEST = 500  # characters of ansible's output
INSTALL = (
    "mycnf fleet needs ansible: install mycnf with its extra, pipx install 'mycnf-advisor[fleet]', or ansible-core"
)
# Settings that would make ansible print more than needed, or in another format; options of this run only.
_QUIET = {
    "ANSIBLE_NO_LOG": "true",
    "ANSIBLE_DEBUG": "false",
    "ANSIBLE_VERBOSITY": "0",
    "ANSIBLE_LOAD_CALLBACK_PLUGINS": "false",
    "ANSIBLE_NOCOLOR": "true",
    "ANSIBLE_RETRY_FILES_ENABLED": "false",
    "ANSIBLE_ANY_ERRORS_FATAL": "false",
    "ANSIBLE_DEPRECATION_WARNINGS": "false",
}


class Fleet(NamedTuple):
    """The inventories, ansible's options and limits.

    Times are seconds per host; `forks` None means ansible's default.
    """

    folder: str
    inventories: tuple[str, ...] = ()
    limit: str | None = None
    forks: int | None = None
    timeout: float = 60.0
    window: float = 10.0
    vault: tuple[str, ...] = ()
    asks: bool = False


def run_fleet(fleet: Fleet, show: Callable[[HostRow, int, int], object], lock: int | None = None) -> None:
    """Read every host without a row, and call `show` with each new row, its number and the total.

    `lock` is the handle that locks the run directory. Raises MycnfError with ansible's message if the inventory gave
    no host. After Ctrl-C all started processes are stopped, and the results so far stay in the run directory; if mycnf
    is killed, a guard process does the same.
    """
    program = find_ansible()
    # SIGTERM and a closed terminal stop all started processes, as Ctrl-C does
    with interrupt_on_signals(), tempfile.TemporaryFile() as errors:
        try:
            remove_scratch_files(fleet.folder)  # left if an earlier run was killed together with its guard
            delete_failed_rows(fleet.folder)
            through = _run_guard(fleet, program, lock, errors, show)
            errors.seek(0)
            output = errors.read().decode("utf-8", "replace")
            if not hosts_of(fleet.folder):
                raise MycnfError(f"no host was contacted: {_error_line(output)}")
            _add_missing_rows(hosts_of(fleet.folder) if through else (), fleet.folder)
        except OSError as error:
            problem = (
                f"{error.filename} cannot be written ({error.strerror}); free some space, then continue with --resume"
            )
            raise MycnfError(problem) from error
        finally:
            remove_scratch_files(fleet.folder)


def _run_guard(
    fleet: Fleet, program: str, lock: int | None, errors: IO[bytes], show: Callable[[HostRow, int, int], object]
) -> bool:
    """Run ansible in a guard process and report the rows; returns whether ansible completed.

    No process is left running.
    """
    spared, place = finished_hosts(fleet.folder), scratch_directory(fleet.folder)
    lifeline, ours = os.pipe()
    with adopt_orphans() as before, os.fdopen(ours, "wb", 0) as held:  # the guard stops when our end is closed
        process = subprocess.Popen(
            guard.command(fleet.folder, lifeline, lock, [program, *_arguments(fleet)]),
            env=_environment(fleet, place),
            stdin=None if fleet.asks else subprocess.DEVNULL,
            stdout=errors,
            stderr=subprocess.STDOUT,
            pass_fds=[lifeline, *([] if lock is None else [lock])],
            process_group=0,
        )
        os.close(lifeline)
        try:
            _write_plugin_files(place, spared)  # not earlier: from now on the guard removes it if mycnf is killed
            with contextlib.suppress(BrokenPipeError):  # the guard has ended already; its exit code gives the reason
                held.write(guard.READY)
            _follow_rows(process, fleet.folder, spared, show)
        finally:
            held.close()
            if process.wait() < 0:  # the guard itself was killed
                end_children(before)
                delete_begun_rows(fleet.folder)
    return process.returncode in guard.THROUGH


def find_ansible() -> str:
    """The path of `ansible`; raises MycnfError if there is none.

    The user's own one has its collections and plugins; otherwise it is the one next to Python.
    """
    beside = os.path.join(os.path.dirname(sys.executable), "ansible")
    path = shutil.which("ansible") or (beside if os.access(beside, os.X_OK) else None)
    if path is None:
        raise MycnfError(INSTALL)
    return path


def _arguments(fleet: Fleet) -> list[str]:
    # As with a playbook in the working directory: group_vars and host_vars next to it are used.
    words = ["all", "-m", ACTION, f"--playbook-dir={os.getcwd()}", *(f"--inventory={one}" for one in fleet.inventories)]
    words += [f"--limit={fleet.limit}"] if fleet.limit else []
    words += [f"--forks={fleet.forks}"] if fleet.forks else []
    return words + list(fleet.vault)


def _write_plugin_files(place: str, spared: list[str]) -> None:
    """Write the files for ansible: the plugin, the script for the hosts, and the list of finished hosts."""
    make_scratch_directory(place)
    plugins = os.path.join(place, PLUGINS)
    os.mkdir(plugins, 0o700)
    _write(os.path.join(plugins, f"{ACTION}.py"), pkgutil.get_data("advisor.fleet.plugin", f"{ACTION}.py") or b"")
    _write(os.path.join(place, "script"), machine.command().encode())
    _write(os.path.join(place, "spared"), json.dumps(spared).encode())


def _environment(fleet: Fleet, place: str) -> dict[str, str]:
    """The environment with the paths of the plugin and its files, which are written later; it contains no secret."""
    plugins = os.path.join(place, PLUGINS)
    given = os.environ.get("ANSIBLE_ACTION_PLUGINS")
    paths = [guard.package_path(), *filter(None, [os.environ.get("PYTHONPATH")])]
    return {
        **os.environ,
        **_QUIET,
        "ANSIBLE_ACTION_PLUGINS": f"{plugins}{os.pathsep}{given}" if given else plugins,
        "ANSIBLE_LOCAL_TEMP": os.path.join(place, "temporary"),  # otherwise left behind if ansible is stopped
        "MYCNF_FLEET_DIR": os.path.abspath(fleet.folder),
        "MYCNF_FLEET_WINDOW": str(fleet.window),
        "MYCNF_FLEET_TIMEOUT": str(fleet.timeout),
        "MYCNF_FLEET_PYTHON": sys.executable,
        "MYCNF_FLEET_PATH": os.pathsep.join(paths),
        "MYCNF_FLEET_SCRATCH": place,
        "MYCNF_FLEET_SCRIPT": os.path.join(place, "script"),
        "MYCNF_FLEET_SPARED": os.path.join(place, "spared"),
    }


def _write(path: str, data: bytes) -> None:
    with open(path, "wb") as file:
        file.write(data)


def _follow_rows(
    process: subprocess.Popen[bytes], folder: str, spared: list[str], show: Callable[[HostRow, int, int], object]
) -> None:
    """Report each row as it appears, until the guard has ended; unfinished rows only if ansible completed."""
    done = {file_name(name) + ROW for name in spared}
    hosts: tuple[str, ...] = ()
    ended = False
    while not ended:
        ended = process.poll() is not None
        hosts = hosts or hosts_of(folder)
        for file in sorted(new_rows(folder, done)) if hosts else ():
            row = row_in(folder, file)
            begun = row is not None and row.host == UNREAD  # its machine is still being read
            if row is not None and (not begun or (ended and process.returncode in guard.THROUGH)):
                done.add(file)
                show(row, len(done), len(hosts))
        if not ended:
            time.sleep(LOOK)


def _add_missing_rows(hosts: tuple[str, ...], folder: str) -> None:
    """Add rows for hosts that ansible failed to start a worker for: each worker starts by writing a row."""
    for name in hosts:
        if read_row(folder, name) is None:
            write_row(folder, HostRow(name=name, status=Status.FAILED, reason=_NOT_BEGUN.format(name)))


def _error_line(output: str) -> str:
    """Ansible's explanation in one line: errors if there are any, else warnings."""
    lines = [" ".join(line.split()) for line in output.splitlines() if line.strip()]
    picked = [line for line in lines if line.startswith(("ERROR", "[ERROR]"))] or [
        line for line in lines if line.startswith("[WARNING]")
    ]
    words = " ".join(picked or [line for line in lines if "FAILED" in line][:1] or lines[-1:])
    remedy = "check -i and --limit"
    if "vault" in words.lower():
        remedy = "give --vault-password-file, --vault-id or --ask-vault-password"
    return f"{escape_text(redact_value('', words))[:LONGEST]}; {remedy}"
