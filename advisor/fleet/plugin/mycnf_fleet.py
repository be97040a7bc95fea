"""What ansible runs for each host of `mycnf fleet`: an action, on the control host; nothing is put on the host itself.

It templates the host's `mycnf_*` variables (vault and all), hands them by a pipe to a process of mycnf that asks the
server, and meanwhile has a shell on the host make a tar of what says how the machine is built. It is read by the
ansible that the team has, so it needs nothing of mycnf but the program that the environment names.
"""

from __future__ import annotations

import contextlib
import ctypes
import json
import multiprocessing
import os
import resource
import signal
import string
import subprocess
import time
from typing import TYPE_CHECKING, Any

from ansible.plugins.action import ActionBase

if TYPE_CHECKING:
    from collections.abc import Iterator

NAMES = (
    *("host", "port", "socket", "user", "password", "defaults_file", "defaults_group_suffix", "login_path"),
    *("ssl_mode", "ssl_ca", "ssl_cert", "ssl_key", "ram", "cpus", "disk"),
)
GRACE = 10.0  # seconds for the process to write down what it has, once the time is up
LONGEST = 300  # characters of an error's text
TICK = 0.25  # seconds between two looks at the time and at what this process has grown to
# A host's tar takes a few hundred kilobytes. What is printed without end grows in here, whole, as fast as it comes.
LARGEST = 16 << 20  # bytes that a shell may print; of pipes the kernel counts what was read
GROWTH = 96 << 20  # bytes by which this process may grow meanwhile: connection plugins hold several copies
BACKSTOP = 512 << 20  # the same to the kernel, for a plugin that reads on in C, where no signal is heard
TOO_MUCH = "the host's shell printed too much, maybe without end"
_PRINTED = (string.ascii_letters + string.digits + string.punctuation).encode()
_BLANK = string.whitespace.encode()
# One line of ASCII, as long as before: ansible has a list made of the lines, many times as large where they are short.
PLAIN = bytes(byte if byte in _PRINTED else ord(" " if byte in _BLANK else "?") for byte in range(256))


class _LimitReached(BaseException):
    """The host has had its time or its share; no `except Exception` on the way may swallow it."""


class ActionModule(ActionBase):  # type: ignore[misc] # ansible has no types
    """Collect the facts of one server; whatever goes wrong becomes its row, and never a failure of the run."""

    def run(self, tmp: str | None = None, task_vars: dict[str, Any] | None = None) -> dict[str, Any]:  # noqa: ARG002
        """Ask the server and its host at once, within the time; the result says nothing."""
        began = time.monotonic()
        _end_with_ansible()
        variables = task_vars or {}
        with open(os.environ["MYCNF_FLEET_SPARED"], encoding="utf-8") as file:
            if variables["inventory_hostname"] in json.load(file):
                return {"changed": False}
        local = self._connection.transport == "local"
        job = {
            "name": variables["inventory_hostname"],
            "parent": os.getpid(),
            "groups": self._template("group_names", variables) or [],
            "hosts": [] if _hosts_are_written() else self._template("ansible_play_hosts_all", variables) or [],
            "address": str(self._template("ansible_host", variables) or variables["inventory_hostname"]),
            "local": local,
            "folder": os.environ["MYCNF_FLEET_DIR"],
            "scratch": os.environ["MYCNF_FLEET_SCRATCH"],
            "window": float(os.environ["MYCNF_FLEET_WINDOW"]),
            "timeout": float(os.environ["MYCNF_FLEET_TIMEOUT"]),
            "variables": {},
            "broken": [],
        }
        for name in NAMES:
            self._templated(f"mycnf_{name}", variables, job)
        self._ask(job, began + job["timeout"])
        return {"changed": False}

    def _templated(self, name: str, variables: dict[str, Any], job: dict[str, Any]) -> None:
        """One variable, templated; of one that can't be, why."""
        try:
            value = self._template(name, variables)
        except Exception as error:  # noqa: BLE001 - what templating raises differs by ansible's version
            undefined = "undefined" in type(error).__name__.lower()
            said = str(error).split("\n")[0][:LONGEST] if undefined else type(error).__name__
            job["broken"].append(f"{name}: {said}")
            return
        if value is not None and str(value) != "":
            job["variables"][name] = str(value)

    def _template(self, name: str, variables: dict[str, Any]) -> Any:
        return self._templar.template(variables[name]) if name in variables else None

    def _ask(self, job: dict[str, Any], until: float) -> None:
        """Let mycnf ask the server while the host makes its tar; end it all when the time is up."""
        command = [os.environ["MYCNF_FLEET_PYTHON"], "-P", "-m", "advisor.fleet.host"]
        environment = {**os.environ, "PYTHONPATH": os.environ["MYCNF_FLEET_PATH"]}
        with subprocess.Popen(
            command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        ) as process:
            try:
                with contextlib.suppress(BrokenPipeError):
                    assert process.stdin is not None  # noqa: S101 - a pipe, as asked for
                    process.stdin.write(json.dumps(job).encode() + b"\n")
                    process.stdin.flush()
                # A local host is read by mycnf itself.
                answer = {} if job["local"] else self._tar(process, until)
                with contextlib.suppress(subprocess.TimeoutExpired):
                    left = max(0.0, until - time.monotonic()) + GRACE
                    process.communicate(json.dumps(answer).encode() + b"\n", timeout=left)
            finally:
                if process.poll() is None:
                    process.kill()

    def _tar(self, process: subprocess.Popen[bytes], until: float) -> dict[str, str]:
        """What the host's shell printed, or why there is nothing."""
        with open(os.environ["MYCNF_FLEET_SCRIPT"], encoding="utf-8") as file:
            script = file.read()
        # The script is no secret, and without this the reason of a failure would be hidden with the rest.
        self._connection._play_context.no_log = False  # noqa: SLF001
        self._connection.exec_command = _limit_output(self._connection.exec_command)
        try:
            with _limit_time_and_memory(until):
                told = self._low_level_execute_command(script)
        except _LimitReached as enough:
            reason = str(enough)
        except MemoryError:
            reason = TOO_MUCH
        except Exception as error:  # noqa: BLE001 - any connection plugin of the team's
            reason = str(error)[:LONGEST] or type(error).__name__
        else:
            return {"printed": told.get("stdout", "")}
        _end_children(process.pid)
        return {"reason": reason}


def _hosts_are_written() -> bool:
    """Whether the list of all hosts has been written already: it is long where there are many."""
    return os.path.exists(os.path.join(os.environ["MYCNF_FLEET_DIR"], "hosts.list"))


def _end_with_ansible() -> None:
    """Where ansible is killed nobody tells its workers, and each is in a session of its own."""
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None).prctl(1, signal.SIGTERM, 0, 0, 0)  # PR_SET_PDEATHSIG; ansible hands it on to its session
    ansible = multiprocessing.parent_process()
    if ansible is not None and os.getppid() != ansible.pid:  # it was gone before that could be asked for
        os.kill(os.getpid(), signal.SIGTERM)


@contextlib.contextmanager
def _limit_time_and_memory(until: float) -> Iterator[None]:
    """Bound the time and the memory of the block: _Enough, with what to say of it, or MemoryError."""
    (resident, data), read = _memory_limits(), _bytes_read()

    def look(_number: int, _frame: object) -> None:
        reason = "the host's shell gave no answer in time" if time.monotonic() > until else ""
        if _memory_limits()[0] - resident > GROWTH or _bytes_read() - read > LARGEST:
            reason = TOO_MUCH
        if reason:
            # Once more later, should this one be swallowed on the way.
            signal.setitimer(signal.ITIMER_REAL, 4 * TICK, 4 * TICK)
            raise _LimitReached(reason)

    soft, hard = resource.getrlimit(resource.RLIMIT_DATA)
    if soft == hard == resource.RLIM_INFINITY and data:
        resource.setrlimit(resource.RLIMIT_DATA, (data + BACKSTOP, hard))
    signal.signal(signal.SIGALRM, look)
    signal.setitimer(signal.ITIMER_REAL, TICK, TICK)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        resource.setrlimit(resource.RLIMIT_DATA, (soft, hard))


def _memory_limits() -> tuple[int, int]:
    """Bytes that this process has resident, and that it may write to; zeros where the kernel doesn't tell."""
    try:
        with open("/proc/self/statm", "rb") as file:
            pages = [int(word) for word in file.read().split()]
    except OSError:
        return 0, 0
    return pages[1] * resource.getpagesize(), pages[5] * resource.getpagesize()


def _bytes_read() -> int:
    """Bytes that this thread has read so far, without what ended children have; zero where the kernel doesn't tell."""
    try:
        with open("/proc/thread-self/io", "rb") as file:
            return int(file.readline().split()[1])  # rchar
    except (OSError, ValueError, IndexError):
        return 0


def _limit_output(run: Any) -> Any:
    """A connection's exec_command that gives no more than is to be read, without what ansible would blow up."""

    def bounded(*words: Any, **more: Any) -> tuple[int, Any, Any]:
        code, out, err = run(*words, **more)
        if isinstance(out, bytes):
            if len(out) > LARGEST:
                raise _LimitReached(TOO_MUCH)
            out = out.translate(PLAIN)
        return code, out, err[-LONGEST:] if isinstance(err, (bytes, str)) else err

    return bounded


def _end_children(spared: int) -> None:
    """End what the connection started and left running, such as an ssh that waits for ever."""
    try:
        with open(f"/proc/self/task/{os.getpid()}/children", encoding="ascii") as file:
            children = [int(word) for word in file.read().split()]
    except OSError:
        return
    for child in children:
        if child != spared:
            with contextlib.suppress(OSError):
                os.kill(child, signal.SIGKILL)
