"""Ansible action plugin of `mycnf fleet`; it runs on the control host and copies nothing to the audited host.

It templates the host's `mycnf_*` variables (including vault), passes them by a pipe to a mycnf process that reads the
server, and meanwhile runs a shell script on the host that creates a tar of its hardware facts. It is loaded by the
user's ansible, so it needs nothing of mycnf except the program that the environment names.
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
GRACE = 10.0  # seconds for the process to write its results when the time is up
LONGEST = 300  # maximum characters of an error message
TICK = 0.25  # seconds between two checks of the time and of the size of this process
# A host's tar takes a few hundred kilobytes. Endless output would be collected in this process without a limit.
LARGEST = 16 << 20  # maximum bytes that a shell may print; for pipes the kernel counts the bytes read
GROWTH = 96 << 20  # bytes by which this process may grow in the meantime: connection plugins keep several copies
BACKSTOP = 512 << 20  # the same as a kernel limit, for a plugin that reads in C code, where no signal handler runs
TOO_MUCH = "the host's shell printed too much, possibly endlessly"
_PRINTED = (string.ascii_letters + string.digits + string.punctuation).encode()
_BLANK = string.whitespace.encode()
# Converts output to one line of ASCII of the same length: ansible makes a list of the lines, which is many times as
# large if they are short.
PLAIN = bytes(byte if byte in _PRINTED else ord(" " if byte in _BLANK else "?") for byte in range(256))


class _LimitReached(BaseException):
    """The time or size limit of the host is reached; not an Exception, so that no handler in ansible swallows it."""


class ActionModule(ActionBase):  # type: ignore[misc] # ansible has no types
    """Collect the facts of one server; errors become the host's row and never a failure of the run."""

    def run(self, tmp: str | None = None, task_vars: dict[str, Any] | None = None) -> dict[str, Any]:  # noqa: ARG002
        """Read the server and its host concurrently within the time limit; the result is empty."""
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
            self._add_templated(f"mycnf_{name}", variables, job)
        self._ask(job, began + job["timeout"])
        return {"changed": False}

    def _add_templated(self, name: str, variables: dict[str, Any], job: dict[str, Any]) -> None:
        """Add one templated variable to the job, or the reason why it cannot be templated."""
        try:
            value = self._template(name, variables)
        except Exception as error:  # noqa: BLE001 - what templating raises differs by ansible's version
            undefined = "undefined" in type(error).__name__.lower()
            reason = str(error).split("\n")[0][:LONGEST] if undefined else type(error).__name__
            job["broken"].append(f"{name}: {reason}")
            return
        if value is not None and str(value) != "":
            job["variables"][name] = str(value)

    def _template(self, name: str, variables: dict[str, Any]) -> Any:
        return self._templar.template(variables[name]) if name in variables else None

    def _ask(self, job: dict[str, Any], until: float) -> None:
        """Let mycnf read the server while the host creates its tar; stop everything when the time is up."""
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
                # mycnf reads a local host itself.
                answer = {} if job["local"] else self._tar(process, until)
                with contextlib.suppress(subprocess.TimeoutExpired):
                    left = max(0.0, until - time.monotonic()) + GRACE
                    process.communicate(json.dumps(answer).encode() + b"\n", timeout=left)
            finally:
                if process.poll() is None:
                    process.kill()

    def _tar(self, process: subprocess.Popen[bytes], until: float) -> dict[str, str]:
        """The output of the host's shell, or the reason why there is none."""
        with open(os.environ["MYCNF_FLEET_SCRIPT"], encoding="utf-8") as file:
            script = file.read()
        # The script contains no secrets, and with no_log the reason of a failure would be hidden.
        self._connection._play_context.no_log = False  # noqa: SLF001
        self._connection.exec_command = _limit_output(self._connection.exec_command)
        try:
            with _limit_time_and_memory(until):
                result = self._low_level_execute_command(script)
        except _LimitReached as enough:
            reason = str(enough)
        except MemoryError:
            reason = TOO_MUCH
        except Exception as error:  # noqa: BLE001 - any connection plugin of the team's
            reason = str(error)[:LONGEST] or type(error).__name__
        else:
            return {"printed": result.get("stdout", "")}
        _end_children(process.pid)
        return {"reason": reason}


def _hosts_are_written() -> bool:
    """Whether the list of all hosts exists already; it is long in large fleets."""
    return os.path.exists(os.path.join(os.environ["MYCNF_FLEET_DIR"], "hosts.list"))


def _end_with_ansible() -> None:
    """Stop when ansible is killed, which does not stop its workers: each has its own session."""
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None).prctl(1, signal.SIGTERM, 0, 0, 0)  # PR_SET_PDEATHSIG; ansible signals its session
    ansible = multiprocessing.parent_process()
    if ansible is not None and os.getppid() != ansible.pid:  # it ended before the call
        os.kill(os.getpid(), signal.SIGTERM)


@contextlib.contextmanager
def _limit_time_and_memory(until: float) -> Iterator[None]:
    """Limit time and memory of the block; raises _LimitReached with the reason, or MemoryError."""
    (resident, data), read = _memory_limits(), _bytes_read()

    def look(_number: int, _frame: object) -> None:
        reason = "the host's shell gave no answer in time" if time.monotonic() > until else ""
        if _memory_limits()[0] - resident > GROWTH or _bytes_read() - read > LARGEST:
            reason = TOO_MUCH
        if reason:
            # Repeated later, in case the first exception is swallowed.
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
    """The resident and the data size of this process in bytes; zeros if the kernel does not report them."""
    try:
        with open("/proc/self/statm", "rb") as file:
            pages = [int(word) for word in file.read().split()]
    except OSError:
        return 0, 0
    return pages[1] * resource.getpagesize(), pages[5] * resource.getpagesize()


def _bytes_read() -> int:
    """Bytes that this thread has read, without those of ended children; zero if the kernel does not report it."""
    try:
        with open("/proc/thread-self/io", "rb") as file:
            return int(file.readline().split()[1])  # rchar
    except (OSError, ValueError, IndexError):
        return 0


def _limit_output(run: Any) -> Any:
    """A connection's exec_command with limited output, without line breaks that ansible would split."""

    def run_limited(*words: Any, **more: Any) -> tuple[int, Any, Any]:
        code, out, err = run(*words, **more)
        if isinstance(out, bytes):
            if len(out) > LARGEST:
                raise _LimitReached(TOO_MUCH)
            out = out.translate(PLAIN)
        return code, out, err[-LONGEST:] if isinstance(err, (bytes, str)) else err

    return run_limited


def _end_children(spared: int) -> None:
    """Kill processes that the connection left running, such as a hanging ssh."""
    try:
        with open(f"/proc/self/task/{os.getpid()}/children", encoding="ascii") as file:
            children = [int(word) for word in file.read().split()]
    except OSError:
        return
    for child in children:
        if child != spared:
            with contextlib.suppress(OSError):
                os.kill(child, signal.SIGKILL)
