"""Identify this host in saved results by a salted hash that does not reveal its machine id."""

from __future__ import annotations

import hashlib
import os
import secrets
from typing import TYPE_CHECKING

from advisor.facts.probes import RunPlace

if TYPE_CHECKING:
    from advisor.facts.storage import Storage
    from probes.experiment import Environment


MACHINE_ID = "/etc/machine-id"
SALT = "mycnf probes"  # machine-id(5) requires an application-specific hash of the id
DIGITS = 16


def host_id(state: str, machine_id: str = MACHINE_ID) -> str:
    """A hash of the machine id or, if there is none, of a random number that is kept in the folder `state`.

    It is "unknown" if neither is available (a container without an id and a state folder that cannot be written).
    """
    known = _read_id(machine_id) or _own_id(state)
    return hashlib.sha256(f"{SALT} {known}".encode()).hexdigest()[:DIGITS] if known else "unknown"


def _own_id(state: str) -> str:
    """A random number, created once per host name, because a home directory may be shared by several hosts."""
    place = os.path.join(state, "host-id")
    number = _read_id(place)
    if not number:
        from advisor.state.private_file import replace_private

        number = secrets.token_hex(16)
        try:
            replace_private(place, f"{number}\n".encode())
        except OSError:
            return ""
    return f"{number} {os.uname().nodename}"


def _read_id(path: str) -> str:
    try:
        with open(path, encoding="ascii", errors="replace") as file:
            text = file.read(100).strip()
    except OSError:
        return ""
    return "" if text == "uninitialized" else text  # systemd writes this value until the first boot is complete


def run_place(environment: Environment, directory: str) -> RunPlace:
    """The host and the file system under `directory`."""
    host = environment.host
    file_system, device = file_system_of(host.storage)
    return RunPlace(
        host=environment.host_id,
        cpu=host.cpu.model_name if host.cpu else None,
        cpus=len(host.cpu.online) if host.cpu else None,
        memory=host.memory.total if host.memory else None,
        kernel=host.os.kernel if host.os else None,
        path=directory,
        file_system=file_system,
        device=device,
    )


def file_system_of(storage: Storage | None) -> tuple[str | None, str | None]:
    """The file system type and the names of its disks; None if unknown."""
    if storage is None:
        return None, None
    return storage.mount.fs_type, ", ".join(disk.name for disk in storage.disks) or None
