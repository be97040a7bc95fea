"""Hosts of a fleet behind a real sshd."""

from __future__ import annotations

import getpass
import os
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import NamedTuple

import pytest

from probes.sandbox.server import free_port

TOOLS = ("sh", "cat", "cp", "ln", "mkdir", "readlink", "rm", "sed", "tar", "tr", "uname", "od")
PATIENCE = 600.0  # seconds
SSHD = shutil.which("sshd", path=f"{os.environ['PATH']}{os.pathsep}/usr/sbin")


class Key(NamedTuple):
    """The private keys of host and user for one test, next to their public keys."""

    host: Path
    user: Path


def make_keys(place: Path) -> Key:
    """Create keys for one test; skips with a reason if there is no sshd, or none that can be run."""
    if SSHD is None or not shutil.which("ssh"):
        pytest.skip("there is no sshd: apt-get install openssh-server")
    if os.geteuid() == 0 and not os.path.isdir("/run/sshd"):
        os.mkdir("/run/sshd", 0o755)  # the privilege separation directory of root's sshd
    for name in Key._fields:
        words = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(place / name)]
        subprocess.run(words, check=True)
    return Key(*(place / name for name in Key._fields))


@contextmanager
def sshd(keys: Key, address: str, *before: str, **more: str) -> Iterator[int]:
    """A real sshd that accepts the key, on a separate port; `before` are arguments that put it into a namespace.

    `more` are configuration lines that replace the default ones.
    """
    port = free_port()
    settings = {
        "Port": port,
        "ListenAddress": address,
        "HostKey": keys.host,
        "AuthorizedKeysFile": f"{keys.user}.pub",
        "PidFile": "none",
        "UsePAM": "no",
        "StrictModes": "no",
        "PasswordAuthentication": "no",
        "PermitRootLogin": "prohibit-password",
        "SetEnv": f"PATH={bare(keys.host.parent)}",
        **more,
    }
    file = keys.host.parent / f"sshd-{port}.conf"
    file.write_text("".join(f"{name} {value}\n" for name, value in settings.items()))
    assert SSHD is not None
    with subprocess.Popen([*before, SSHD, "-D", "-e", "-f", str(file)], stderr=subprocess.PIPE) as process:
        try:
            _answers(process, address, port)
            yield port
        finally:
            process.terminate()


def bare(place: Path) -> Path:
    """A directory with the few programs of a small host, without Python."""
    tools = place / "tools"
    if not tools.exists():
        tools.mkdir()
        for name in TOOLS:
            (tools / name).symlink_to(shutil.which(name) or name)
    return tools


def _answers(process: subprocess.Popen[bytes], address: str, port: int) -> None:
    """Wait until the port has a listener."""
    until = time.monotonic() + PATIENCE
    while True:
        assert process.poll() is None, process.stderr and process.stderr.read()
        with closing(socket.socket()) as probe:
            if probe.connect_ex((address, port)) == 0:
                return
        assert time.monotonic() < until, f"no sshd answers at {address}:{port}"
        time.sleep(0.05)


def program(name: str) -> str:
    """The path of a program that small hosts do not have."""
    path = shutil.which(name)
    assert path is not None
    return path


def reached_by(keys: Key) -> dict[str, object]:
    """The variables with which ansible logs in."""
    known = keys.host.parent / "known_hosts"
    return {
        "ansible_user": getpass.getuser(),
        "ansible_ssh_private_key_file": str(keys.user),
        "ansible_ssh_common_args": f"-o StrictHostKeyChecking=accept-new -o UserKnownHostsFile={known} -F none",
    }
