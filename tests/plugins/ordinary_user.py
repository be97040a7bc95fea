"""Servers that run under an ordinary account if tests run as root, because users' servers do not run as root.

Root's files stay owned by root, including the servers' programs, which that account may not be able to read. So the
process keeps the capability to bypass file permissions, and no other capability of root.
"""

from __future__ import annotations

import dataclasses
import os
import shlex
import shutil
import time
from pathlib import Path

import pytest

from advisor.catalog.targets import END_OF_LIFE
from probes.sandbox import Binary, Sandbox
from probes.sandbox.datadir import copy_template
from probes.sandbox.scratch import Scratch

NOBODY = "65534"
RIGHTS = "+dac_override,+fowner"
DAY = 86400  # seconds
SLOWEST_START = 540.0  # seconds: MariaDB 11.4 makes a key of 4096 bits, which takes minutes on a busy host


def start_as_ordinary_user(
    binary: Binary, folder: Path, templates: Path, *arguments: str, option_file: Path | None = None
) -> Sandbox:
    """Start the server, under the account `nobody` if tests run as root, else under the tests' own account.

    Skips if root has no setpriv. `folder` takes the script that executes the server; the caller closes the sandbox.
    """
    file = None if option_file is None else str(option_file)
    sandbox = Sandbox(_demoted(binary, folder), Scratch(), None, file, arguments)
    try:
        copy_template(binary, str(templates), sandbox.datadir)
        _hand_over(sandbox)
        sandbox.restart(timeout=SLOWEST_START)
        assert os.stat(f"/proc/{sandbox.pid}").st_uid != 0
    except BaseException:
        sandbox.close()
        raise
    return sandbox


def _hand_over(sandbox: Sandbox) -> None:
    """Give the account access to the data directory and the path to it.

    The server checks these by access(), which ignores capabilities.
    """
    if os.geteuid() != 0:
        return
    os.chmod(sandbox.directory, 0o711)  # noqa: S103 - the way alone
    Path(sandbox.error_log).touch()
    held = [os.path.join(place, name) for place, _, names in os.walk(sandbox.datadir) for name in (".", *names)]
    for path in (sandbox.error_log, *held):
        os.chown(path, int(NOBODY), int(NOBODY))


def _demoted(binary: Binary, folder: Path) -> Binary:
    if os.geteuid() != 0:
        return binary
    if not shutil.which("setpriv"):
        pytest.skip("a server that root starts under another account needs setpriv (util-linux)")
    words = ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups", "--pdeathsig=KILL"]
    words += [f"--inh-caps={RIGHTS}", f"--ambient-caps={RIGHTS}", binary.program]
    script = folder / "server"
    script.write_text(f'#!/bin/sh\nexec {shlex.join(words)} "$@"\n')
    script.chmod(0o755)
    return dataclasses.replace(binary, program=str(script))


def past_support(binary: Binary) -> set[str]:
    """VER001 if the series' support has ended by today, by the dates of the rule; otherwise empty."""
    flavour, version = binary.target.flavour, binary.target.version[:2]
    year, month, day = END_OF_LIFE[flavour].get(version, (9999, 12, 31))
    today = time.gmtime(time.time())
    return {"VER001"} if (year, month, day or 31) < (today.tm_year, today.tm_mon, today.tm_mday) else set()
