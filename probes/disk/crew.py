"""The processes of the driver, from outside: so that nothing else that we do takes time from what is measured."""

from __future__ import annotations

import contextlib
import json
import select
import subprocess
import sys
import time
from typing import TYPE_CHECKING, Any, Self

from probes.disk.worker import END
from probes.experiment import ProbeError

if TYPE_CHECKING:
    from types import TracebackType

    from probes.stopping import Stop

BOOT = "import json, sys; sys.path[:] = json.loads(sys.argv[1]); from probes.disk.worker import work; work()"
GRACE = 60.0  # seconds that the last request of a measurement may take
POLL = 0.02
ENDING = 5.0


class Crew:
    """Some processes that wait for tasks; leaving the context ends them."""

    def __init__(self, count: int) -> None:
        self._processes: list[subprocess.Popen[bytes]] = []
        try:
            for _ in range(count):
                self._processes.append(_start())
        except OSError as error:
            self.close()
            raise ProbeError(f"the driver can't be started ({error.strerror}): lower the number of readers") from error

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def run(self, tasks: list[dict[str, Any]], seconds: float, stop: Stop) -> list[dict[str, Any]]:
        """Do the tasks at the same time, a process each, for so long; the reports, of what was done once `stop` is set.

        Raises ProbeError where one breaks off.
        """
        doing = self._processes[: len(tasks)]
        for process, task in zip(doing, tasks, strict=True):
            _tell(process, task)
        self._answers(doing, GRACE, stop)
        for process in doing:
            _tell(process, seconds)
        return self._answers(doing, seconds + GRACE, stop)

    def close(self) -> None:
        """End them all; the second time nothing happens."""
        for process in self._processes:
            with contextlib.suppress(OSError):
                if process.stdin:
                    process.stdin.close()
        deadline = time.monotonic() + ENDING
        for process in self._processes:
            try:
                process.wait(max(0.0, deadline - time.monotonic()))
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
            if process.stdout:
                process.stdout.close()
        self._processes.clear()

    def _answers(self, doing: list[subprocess.Popen[bytes]], patience: float, stop: Stop) -> list[dict[str, Any]]:
        deadline = time.monotonic() + patience
        told = False
        answers = []
        for process in doing:
            while not _waiting(process):
                if stop.is_set() and not told:
                    told = True
                    for other in doing:
                        _tell(other, END)
                if time.monotonic() > deadline:
                    raise ProbeError(
                        f"the disk has not answered for {GRACE:.0f} s: see the kernel's log for its errors"
                    )
            answers.append(_answer(process))
        return answers


def _start() -> subprocess.Popen[bytes]:
    # In a group of its own: Ctrl-C is said to us, and we say it to the driver.
    return subprocess.Popen(
        [sys.executable, "-I", "-S", "-c", BOOT, json.dumps(sys.path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        bufsize=0,
        process_group=0,
    )


def _tell(process: subprocess.Popen[bytes], words: Any) -> None:
    assert process.stdin  # noqa: S101 - it was started with one
    try:
        process.stdin.write(json.dumps(words).encode() + b"\n")
    except OSError as error:
        raise ProbeError("a process of the driver has ended, perhaps for want of memory: run it again") from error


def _waiting(process: subprocess.Popen[bytes]) -> bool:
    """Whether an answer is there, after a short wait for it."""
    assert process.stdout  # noqa: S101 - it was started with one
    return bool(select.select([process.stdout], [], [], POLL)[0])


def _answer(process: subprocess.Popen[bytes]) -> dict[str, Any]:
    assert process.stdout  # noqa: S101 - it was started with one
    line = process.stdout.readline()
    if not line:
        raise ProbeError("a process of the driver has ended, perhaps for want of memory: run it again")
    answer: dict[str, Any] = json.loads(line)
    if "broken" in answer:
        raise ProbeError(f"the disk or its file system refused: {answer['broken']}")
    return answer
