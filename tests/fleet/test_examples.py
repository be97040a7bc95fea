"""The files of examples/fleet do what they say, with the real ansible."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from fleet_run import PATIENCE, Ground
from live_server import Live
from mycnf_command import CHECKOUT
from real_servers import Server

from advisor.facts.snapshot import load

EXAMPLES = CHECKOUT / "examples" / "fleet"
BIN = Path(sys.executable).parent


def ansible(ground: Ground, *words: str) -> subprocess.CompletedProcess[str]:
    """One of ansible's programs, run to its end."""
    run = [str(BIN / words[0]), *words[1:]]
    environment = ground.environment()
    return subprocess.run(
        run, cwd=ground.place, env=environment, capture_output=True, text=True, timeout=PATIENCE, check=False
    )


def test_the_inventory(ground: Ground) -> None:
    """ansible reads it, and its groups and variables are those of docs/fleet.md."""
    done = ansible(ground, "ansible-inventory", "-i", str(EXAMPLES / "inventory.yml"), "--list")
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    page = (CHECKOUT / "docs" / "fleet.md").read_text()
    used = {name for host in report["_meta"]["hostvars"].values() for name in host if name.startswith("mycnf_")}
    assert {"mycnf_password", "mycnf_ram", "mycnf_socket"} <= used
    assert all(f"`{name}`" in page for name in used)


@pytest.mark.parametrize("name", ["mariadb-10.11"])
def test_the_playbook(name: str, ground: Ground, server: Server, local: Callable[[Live], dict[str, object]]) -> None:
    """It leaves a snapshot of each server, and no file with the account."""
    live = Live(name, server(name))
    shutil.copy(EXAMPLES / "collect.yml", ground.place)
    secret = "5ecret.of.the.example"  # noqa: S105 - looked for in what is left
    with live.user("example", f"IDENTIFIED BY '{secret}'"):
        host = {**local(live), "mycnf_user": "example", "mycnf_password": secret}
        ground.inventory({"db": {"one": host}})
        ours = f"mycnf={BIN / 'mycnf'}"
        done = ansible(ground, "ansible-playbook", "-i", "inventory.yml", "-e", ours, "collect.yml")
    assert done.returncode == 0, done.stdout + done.stderr
    (left,) = (ground.place / "snapshots").iterdir()
    assert left.name == "one.json"
    assert load(str(left)).server.flavour == "mariadb"
    assert secret not in done.stdout + done.stderr + left.read_text()


def test_variables_beside_the_working_directory(ground: Ground) -> None:
    """group_vars of the folder that mycnf runs in count, wherever the inventory lies, as with ansible itself."""
    elsewhere = ground.place / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "hosts.ini").write_text("[db]\none ansible_connection=local mycnf_host=127.0.0.1\n")
    (ground.place / "group_vars").mkdir()
    (ground.place / "group_vars" / "db.yml").write_text("mycnf_port: 70000\n")
    run = [sys.executable, "-m", "advisor", "fleet", "--isolated", "-i", "elsewhere/hosts.ini", "--dir", "run"]
    environment = ground.environment()
    done = subprocess.run(run, cwd=ground.place, env=environment, capture_output=True, timeout=PATIENCE, check=False)
    assert done.returncode == 3
    assert "mycnf_port: '70000' is not a TCP port" in done.stdout.decode().replace("\n", " ").replace("         ", "")
