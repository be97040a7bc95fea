"""Runs ansible for `mycnf fleet`; if either of them ends, it stops and removes everything that the run started.

It is a separate process in its own process group, so that it outlives mycnf even if that is killed. It detects that by
a pipe whose other end mycnf holds: when that is closed, the run has to stop. It starts before the run creates anything
that has to be removed, and waits for mycnf's signal that everything is prepared.
"""

from __future__ import annotations

import os
import select
import signal
import subprocess
import sys
import time
from functools import partial

from advisor.fleet.process_group import adopt_orphans, children_of, end_children, end_with_parent
from advisor.fleet.run_directory import delete_begun_rows, remove_scratch_files

THROUGH = frozenset((0, 2, 4, 6, 8))  # exit codes of an ansible that completed, with or without failed hosts
ENDED = 254  # the exit code if it did not complete; ansible itself does not use it
FORSAKEN = 15.0  # seconds without any worker; then ansible is waiting forever for a worker that was killed
LOOK = 0.2  # seconds between two checks of ansible
READY = b"."  # sent by mycnf when everything is prepared
# -P: nothing is imported from the working directory. The environment, including PYTHONPATH, is passed to ansible.
_BEGIN = "import sys; sys.path.insert(0, sys.argv.pop(1)); from advisor.fleet.guard import main; sys.exit(main())"


def command(folder: str, lifeline: int, lock: int | None, words: list[str]) -> list[str]:
    """The command line of a guard for a run in `folder`, with its inherited handles and ansible's arguments."""
    handles = (str(lifeline), "" if lock is None else str(lock))
    return [sys.executable, "-P", "-c", _BEGIN, package_path(), folder, *handles, str(os.getpgrp()), *words]


def package_path() -> str:
    """The path from which mycnf's packages are imported: a directory or a zipapp."""
    return os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def main() -> int:
    """Run ansible; returns its exit code, or ENDED if it did not complete."""
    folder, lifeline, lock, group, *words = sys.argv[1:]
    _discard_signals()
    code = ENDED
    with adopt_orphans():
        try:
            if os.read(int(lifeline), len(READY)):
                process = _start_ansible(words, [int(lock)] if lock else [], int(group))
                code = _wait_for_end(process, int(lifeline))
        except OSError as error:
            print(f"{words[0]} can't be started ({error.strerror})", file=sys.stderr)
        if code not in THROUGH:
            end_children(frozenset())
            delete_begun_rows(folder)
    remove_scratch_files(folder)
    return code


def _discard_signals() -> None:
    """Leave signals to mycnf: handle them without effect, because ansible would inherit ignored signals."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, lambda *_: None)


def _start_ansible(words: list[str], handles: list[int], group: int) -> subprocess.Popen[bytes]:
    begin = partial(_become_ansible, group, os.getpid())
    return subprocess.Popen(words, pass_fds=handles, preexec_fn=begin)  # noqa: PLW1509 - there are no threads


def _become_ansible(group: int, guard: int) -> None:
    """Join mycnf's process group, so that ansible can prompt for a password, and die with the guard."""
    signal.signal(signal.SIGHUP, signal.SIG_IGN)  # otherwise ansible would end at once without stopping its workers
    try:
        os.setpgid(0, group)
    except OSError:
        os._exit(1)  # mycnf has ended already
    end_with_parent(guard)


def _wait_for_end(process: subprocess.Popen[bytes], lifeline: int) -> int:
    """Wait until ansible has ended, mycnf has ended, or ansible waits for a worker that no longer exists."""
    seen = 0.0  # time of the last check with a worker
    while process.poll() is None:
        if select.select([lifeline], [], [], LOOK)[0]:
            return ENDED
        now = time.monotonic()
        if children_of(process.pid):
            seen = now
        elif seen and now - seen > FORSAKEN:
            return ENDED
    return process.returncode if process.returncode >= 0 else ENDED
