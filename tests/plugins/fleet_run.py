"""A fleet's inventory, and `mycnf fleet` as its user runs it, in a folder and with a home of their own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from live_server import Live
from mycnf_command import CHECKOUT, Ended

VAULT_PASSWORD = "of the vault"  # noqa: S105 - the tests' own
PATIENCE = 600  # seconds; a run takes some ten on a quiet host

Hosts = Mapping[str, Mapping[str, object]]


class Ground(NamedTuple):
    """A folder with an inventory in it, and `mycnf fleet` run there with a home of its own."""

    place: Path

    @property
    def run_directory(self) -> Path:
        """Where the run is kept."""
        return self.place / "run"

    def inventory(self, groups: Mapping[str, Hosts], **variables: object) -> None:
        """Write inventory.yml: hosts with their variables by group, and the variables of all."""
        children = {group: {"hosts": hosts} for group, hosts in groups.items()}
        written = {"all": {"children": children, "vars": variables}}
        (self.place / "inventory.yml").write_text(json.dumps(written))

    def vault(self, **variables: str) -> None:
        """Write group_vars of all hosts, encrypted by ansible's own program with VAULT_PASSWORD, which a file holds."""
        (self.place / "vault-password").write_text(f"{VAULT_PASSWORD}\n")
        folder = self.place / "group_vars"
        folder.mkdir()
        (folder / "all.yml").write_text(json.dumps(variables))
        program = str(Path(sys.executable).parent / "ansible-vault")
        words = [program, "encrypt", "--vault-password-file", "vault-password", "group_vars/all.yml"]
        subprocess.run(words, cwd=self.place, env=self.environment(), check=True, capture_output=True)

    def command(self, *words: str | Path) -> list[str]:
        """The command line, with the inventory, the run's directory and a short window."""
        run = [sys.executable, "-m", "advisor", "fleet", "--isolated", *map(str, words)]
        if "--from" in words:
            return run
        return [*run, "-i", "inventory.yml", "--dir", "run", *([] if "--window" in words else ["--window", "1"])]

    def environment(self, **more: str) -> dict[str, str]:
        """What a run finds in its environment."""
        home = self.place / "home"
        home.mkdir(exist_ok=True)
        # Names of a test's directories are too long for the socket that ssh would share connections by.
        alone = {"ANSIBLE_SSH_ARGS": "-C"}
        return {"PATH": os.environ["PATH"], "HOME": str(home), "PYTHONPATH": str(CHECKOUT), **alone, **more}

    def fleet(self, *words: str | Path, **environment: str) -> Ended:
        """Run it to its end."""
        done = subprocess.run(
            self.command(*words),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            cwd=self.place,
            env=self.environment(**environment),
            timeout=PATIENCE,
            check=False,
        )
        return Ended(done.returncode, done.stdout.decode(), done.stderr.decode())

    def report(self) -> dict[str, Any]:
        """The kept run as JSON."""
        ended = self.fleet("--from", "run", "--format", "json")
        report: dict[str, Any] = json.loads(ended.out)
        return report

    def rows(self) -> dict[str, dict[str, Any]]:
        """The hosts of that report by name."""
        return {host["host"]: host for host in self.report()["hosts"]}


class Servers(Protocol):
    """Starts a server that lives as long as the module's tests."""

    def __call__(self, name: str, *arguments: str) -> Live: ...
