"""What ansible runs for each host of `mycnf fleet`: an action, on the control host; nothing is put on the host itself.

It templates the host's `mycnf_*` variables (vault and all), hands them by a pipe to a process of mycnf that asks the
server, and meanwhile has a shell on the host make a tar of what says how the machine is built. It is read by the
ansible that the team has, so it needs nothing of mycnf but the program that the environment names.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import time
from typing import Any, NoReturn

from ansible.plugins.action import ActionBase

NAMES = (
    *("host", "port", "socket", "user", "password", "defaults_file", "defaults_group_suffix", "login_path"),
    *("ssl_mode", "ssl_ca", "ssl_cert", "ssl_key", "ram", "cpus", "disk"),
)
GRACE = 10.0  # seconds for the process to write down what it has, once the time is up
LONGEST = 300  # characters of an error's text


class _TimeUp(BaseException):
    """The host has had its time; no `except Exception` on the way may swallow it."""


class ActionModule(ActionBase):  # type: ignore[misc] # ansible has no types
    """Collect the facts of one server; whatever goes wrong becomes its row, and never a failure of the run."""

    def run(self, tmp: str | None = None, task_vars: dict[str, Any] | None = None) -> dict[str, Any]:  # noqa: ARG002
        """Ask the server and its host at once, within the time; the result says nothing."""
        began = time.monotonic()
        variables = task_vars or {}
        with open(os.environ["MYCNF_FLEET_SPARED"], encoding="utf-8") as file:
            if variables["inventory_hostname"] in json.load(file):
                return {"changed": False}
        local = self._connection.transport == "local"
        job = {
            "name": variables["inventory_hostname"],
            "groups": self._template("group_names", variables) or [],
            "hosts": [] if _named() else self._template("ansible_play_hosts_all", variables) or [],
            "address": str(self._template("ansible_host", variables) or variables["inventory_hostname"]),
            "local": local,
            "folder": os.environ["MYCNF_FLEET_DIR"],
            "window": float(os.environ["MYCNF_FLEET_WINDOW"]),
            "timeout": float(os.environ["MYCNF_FLEET_TIMEOUT"]),
            "variables": {},
            "broken": [],
        }
        for name in NAMES:
            self._take(f"mycnf_{name}", variables, job)
        self._ask(job, began + job["timeout"])
        return {"changed": False}

    def _take(self, name: str, variables: dict[str, Any], job: dict[str, Any]) -> None:
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
        command = [os.environ["MYCNF_FLEET_PYTHON"], "-m", "advisor.fleet.one"]
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
        signal.signal(signal.SIGALRM, _time_up)
        # Again and again, should the first be swallowed on the way.
        signal.setitimer(signal.ITIMER_REAL, max(0.1, until - time.monotonic()), 1.0)
        try:
            with open(os.environ["MYCNF_FLEET_SCRIPT"], encoding="utf-8") as file:
                script = file.read()
            # The script is no secret, and without this the reason of a failure would be hidden with the rest.
            self._connection._play_context.no_log = False  # noqa: SLF001
            told = self._low_level_execute_command(script)
        except _TimeUp:
            _end_children(process.pid)
            return {"reason": "the host's shell gave no answer in time"}
        except Exception as error:  # noqa: BLE001 - any connection plugin of the team's
            return {"reason": str(error)[:LONGEST] or type(error).__name__}
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
        return {"printed": told.get("stdout", ""), "said": told.get("stderr", "")[-LONGEST:]}


def _named() -> bool:
    """Whether the list of all hosts has been written already: it is long where there are many."""
    return os.path.exists(os.path.join(os.environ["MYCNF_FLEET_DIR"], "hosts.list"))


def _time_up(_number: int, _frame: object) -> NoReturn:
    raise _TimeUp


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
