"""Where a run took place, in the few words that tell whether two results may be laid side by side."""

from __future__ import annotations

from typing import TYPE_CHECKING

from advisor.facts.probes import Place

if TYPE_CHECKING:
    from probes.experiment import Ground


def place_of(ground: Ground, directory: str) -> Place:
    """The host and the file system under `directory`, as the host's reader found them."""
    host = ground.host
    storage = host.storage
    return Place(
        host=ground.host_id,
        cpu=host.cpu.model_name if host.cpu else None,
        cpus=len(host.cpu.online) if host.cpu else None,
        memory=host.memory.total if host.memory else None,
        kernel=host.os.kernel if host.os else None,
        path=directory,
        file_system=storage.mount.fs_type if storage else None,
        device=", ".join(disk.name for disk in storage.disks) or None if storage else None,
    )
