"""Runs ansible for `mycnf fleet`; once either of the two is gone it ends and puts away whatever the run has begun.

It is a process of its own, in a process group of its own, so that it outlives mycnf however that is killed. It learns
of that by a pipe whose other end mycnf holds: where that is closed, the run is to end. It begins before the run makes
anything that is to be put away, and waits for mycnf's word that all is made.
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

THROUGH = frozenset((0, 2, 4, 6, 8))  # exit codes of an ansible that came to its end, hosts failed or not
ENDED = 254  # the exit code where it did not, beside those that ansible has itself
FORSAKEN = 15.0  # seconds without any worker after which ansible waits, for ever, for one that was killed
LOOK = 0.2  # seconds between two looks at ansible
READY = b"."  # mycnf's word
# -P: nothing is imported from the working directory. The environment, PYTHONPATH too, is the one that ansible gets.
_BEGIN = "import sys; sys.path.insert(0, sys.argv.pop(1)); from advisor.fleet.guard import main; sys.exit(main())"


def command(folder: str, lifeline: int, lock: int | None, words: list[str]) -> list[str]:
    """The command line of a guard over a run in `folder`, with the handles that it inherits, and ansible's words."""
    handles = (str(lifeline), "" if lock is None else str(lock))
    return [sys.executable, "-P", "-c", _BEGIN, package_path(), folder, *handles, str(os.getpgrp()), *words]


def package_path() -> str:
    """Where our packages are imported from: a directory, or a zipapp."""
    return os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def main() -> int:
    """Run ansible; its exit code, or ENDED where it did not come to its end."""
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
    """Leave signals to mycnf. They are heard and not ignored, for ansible would inherit that."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, lambda *_: None)


def _start_ansible(words: list[str], handles: list[int], group: int) -> subprocess.Popen[bytes]:
    begin = partial(_become_ansible, group, os.getpid())
    return subprocess.Popen(words, pass_fds=handles, preexec_fn=begin)  # noqa: PLW1509 - there are no threads


def _become_ansible(group: int, guard: int) -> None:
    """With mycnf in the terminal's foreground, where it may ask for a password; and with us in its end."""
    signal.signal(signal.SIGHUP, signal.SIG_IGN)  # it would be gone at once, and nobody would tell its workers
    try:
        os.setpgid(0, group)
    except OSError:
        os._exit(1)  # mycnf is gone already
    end_with_parent(guard)


def _wait_for_end(process: subprocess.Popen[bytes], lifeline: int) -> int:
    """Wait until ansible has ended, mycnf has, or ansible waits for a worker that is gone."""
    seen = 0.0  # when it last had a worker
    while process.poll() is None:
        if select.select([lifeline], [], [], LOOK)[0]:
            return ENDED
        now = time.monotonic()
        if children_of(process.pid):
            seen = now
        elif seen and now - seen > FORSAKEN:
            return ENDED
    return process.returncode if process.returncode >= 0 else ENDED
