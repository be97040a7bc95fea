"""Run the tools that the provisioner leans on, and turn their failures into one line."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from typing import TYPE_CHECKING

from provisioning.shelf import ProvisionError

if TYPE_CHECKING:
    from pathlib import Path


def tool(name: str, package: str) -> str:
    """The path of a program; raises ProvisionError that names the package when it is missing."""
    found = shutil.which(name)
    if found is None:
        raise ProvisionError(f"{name} is not installed: apt-get install {package}")
    return found


def run(command: list[str], cwd: Path | None = None, timeout: float = 1800) -> str:
    """Run a command in the C locale and return its stdout; a failure becomes a ProvisionError."""
    environment = {**os.environ, "LC_ALL": "C.UTF-8", "DEBIAN_FRONTEND": "noninteractive"}
    try:
        done = subprocess.run(
            command,
            cwd=cwd,
            env=environment,
            timeout=timeout,
            check=False,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
        )
    except subprocess.TimeoutExpired:
        raise ProvisionError(f"{os.path.basename(command[0])} took longer than {timeout:.0f} s; run it again") from None
    if done.returncode != 0:
        raise ProvisionError(f"{os.path.basename(command[0])} failed: {_reason(done.stderr + done.stdout)}")
    return done.stdout


def _reason(output: str) -> str:
    plain = re.sub(r"\x1b\[[0-9;]*m", "", output)
    lines = [line.strip() for line in plain.splitlines() if line.strip()]
    errors = [line for line in lines if line.startswith(("E:", "[ERROR]", "Err:"))]
    return (errors or lines or ["it said nothing"])[0][:300]
