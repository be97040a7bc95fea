"""Run other tools on a lab's server: MySQLTuner and pt-variable-advisor, as their manuals recommend."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import tempfile

from labaudit import Told

from probes.sandbox import Sandbox

PATIENCE = 300.0  # seconds
LISTED = re.compile(r"^\[!!\] CVE-.*\n", re.MULTILINE)  # hundreds of lines; their number is reported too
COLOURS = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")
# MariaDB's client uses TCP with MySQLTuner's --socket, because a port is given too: ~/.my.cnf sets the socket.
TUNER = "mysqltuner"
PEERS = {
    TUNER: ("--nocolor", "--skippassword", "--user", "root", "--protocol", "socket"),
    "pt-variable-advisor": ("--socket", "{socket}", "--user", "root", "h=localhost"),
}


def missing(tuner: str = "") -> list[str]:
    """The tools that are not installed; `tuner` is a copy of mysqltuner.pl to run instead of the installed one."""
    return [name for name in PEERS if shutil.which(name) is None and not (tuner and name == TUNER)]


def nobody(sandbox: Sandbox) -> Told:  # noqa: ARG001 - asked like the others
    """Run none of the tools."""
    return {}


def ask_tools(sandbox: Sandbox, tuner: str = "") -> Told:
    """The output of each tool for a running server, including stderr."""
    programs = {TUNER: tuner or TUNER}
    return {name: _tool_output(programs.get(name, name), words, sandbox.socket) for name, words in PEERS.items()}


def mysqltuner_output(program: str, sandbox: Sandbox) -> str:
    """What this copy of mysqltuner.pl prints about a running server."""
    return _tool_output(program, PEERS[TUNER], sandbox.socket)


def _tool_output(name: str, words: tuple[str, ...], socket: str) -> str:
    with tempfile.TemporaryDirectory(prefix="lab-peer-") as home:
        with open(os.path.join(home, ".my.cnf"), "w", encoding="utf-8") as file:
            file.write(f"[client]\nuser=root\nsocket={socket}\n")
        command = [
            *(["perl", name] if name.endswith(".pl") else [name]),
            *(word.format(socket=socket) for word in words),
        ]
        with subprocess.Popen(
            command,
            cwd=home,
            env={**os.environ, "HOME": home},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            stdin=subprocess.DEVNULL,
            encoding="utf-8",
            errors="replace",
            start_new_session=True,
        ) as running:
            try:
                output, _ = running.communicate(timeout=PATIENCE)
            except subprocess.TimeoutExpired:  # it waits for a lock itself; its client is in its process group
                os.killpg(running.pid, signal.SIGKILL)
                output, _ = running.communicate()
    return LISTED.sub("", COLOURS.sub("", output))
