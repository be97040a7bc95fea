"""A fleet's inventory, and `mycnf fleet` as a user runs it, in a separate folder and home directory."""

from __future__ import annotations

import contextlib
import io
import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from live_server import Live
from mycnf_command import CHECKOUT, Ended, check_run

from advisor.__main__ import main

VAULT_PASSWORD = "of the vault"  # noqa: S105 - the tests' own
PATIENCE = 600  # seconds; a run takes about ten on a quiet host

Hosts = Mapping[str, Mapping[str, object]]


class Ground(NamedTuple):
    """A folder with an inventory, in which `mycnf fleet` runs with its own home directory."""

    place: Path

    @property
    def run_directory(self) -> Path:
        """The directory of the run."""
        return self.place / "run"

    def inventory(self, groups: Mapping[str, Hosts], **variables: object) -> None:
        """Write inventory.yml: hosts with their variables by group, and variables for all hosts."""
        children = {group: {"hosts": hosts} for group, hosts in groups.items()}
        written = {"all": {"children": children, "vars": variables}}
        (self.place / "inventory.yml").write_text(json.dumps(written))

    def vault(self, **variables: str) -> None:
        """Write the group_vars of all hosts, encrypted by ansible's own program; a file contains VAULT_PASSWORD."""
        (self.place / "vault-password").write_text(f"{VAULT_PASSWORD}\n")
        folder = self.place / "group_vars"
        folder.mkdir()
        (folder / "all.yml").write_text(json.dumps(variables))
        program = str(Path(sys.executable).parent / "ansible-vault")
        words = [program, "encrypt", "--vault-password-file", "vault-password", "group_vars/all.yml"]
        subprocess.run(words, cwd=self.place, env=self.environment(), check=True, capture_output=True)

    def command(self, *words: str | Path) -> list[str]:
        """The command line, with the inventory, the run directory and a short window."""
        run = [sys.executable, "-m", "advisor", "fleet", "--isolated", *map(str, words)]
        if "--from" in words:
            return run
        return [*run, "-i", "inventory.yml", "--dir", "run", *([] if "--window" in words else ["--window", "1"])]

    def environment(self, **more: str) -> dict[str, str]:
        """The environment of a run."""
        home = self.place / "home"
        home.mkdir(exist_ok=True)
        # The names of test directories are too long for the socket of shared ssh connections.
        alone = {"ANSIBLE_SSH_ARGS": "-C"}
        return {"PATH": os.environ["PATH"], "HOME": str(home), "PYTHONPATH": str(CHECKOUT), **alone, **more}

    def fleet(self, *words: str | Path, **environment: str) -> Ended:
        """Run the fleet to its end."""
        done = subprocess.run(
            self.command(*words),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            cwd=self.place,
            env=self.environment(**environment),
            timeout=PATIENCE,
            check=False,
        )
        return check_run(done.returncode, done.stdout.decode(), done.stderr.decode())

    def report(self) -> dict[str, Any]:
        """The saved run as JSON, by the command in this process: another one would import everything again."""
        with io.TextIOWrapper(io.BytesIO(), "utf-8") as out:
            with contextlib.redirect_stdout(out):
                main(["fleet", "--isolated", "--from", str(self.run_directory), "--format", "json"])
            out.seek(0)
            report: dict[str, Any] = json.load(out)
        return report

    def rows(self) -> dict[str, dict[str, Any]]:
        """The hosts of the report by name."""
        return {host["host"]: host for host in self.report()["hosts"]}


class Servers(Protocol):
    """Starts a server that runs until the module's tests are done."""

    def __call__(self, name: str, *arguments: str) -> Live: ...
