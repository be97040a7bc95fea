"""Where a run took place, in the few words that tell whether two results may be laid side by side."""

from __future__ import annotations

from typing import TYPE_CHECKING

from advisor.facts.probes import Place

if TYPE_CHECKING:
    from advisor.facts.storage import Storage
    from probes.experiment import Ground


def place_of(ground: Ground, directory: str) -> Place:
    """The host and the file system under `directory`, as the host's reader found them."""
    host = ground.host
    file_system, device = beneath(host.storage)
    return Place(
        host=ground.host_id,
        cpu=host.cpu.model_name if host.cpu else None,
        cpus=len(host.cpu.online) if host.cpu else None,
        memory=host.memory.total if host.memory else None,
        kernel=host.os.kernel if host.os else None,
        path=directory,
        file_system=file_system,
        device=device,
    )


def beneath(storage: Storage | None) -> tuple[str | None, str | None]:
    """The type of a file system and the disks beneath it, None where that can't be told."""
    if storage is None:
        return None, None
    return storage.mount.fs_type, ", ".join(disk.name for disk in storage.disks) or None
