"""Parts that a server on the shelf is started with: Galera's provider, and the programs that copy a node's data."""

from __future__ import annotations

import contextlib
import json
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

from provisioning import debian
from provisioning.launcher import write_launcher
from provisioning.recipes import PARTS
from provisioning.shelf import ProvisionError, lock, placing, shelf

if TYPE_CHECKING:
    from pathlib import Path

FILE = "part.json"
PROVIDER = "root/usr/lib/libgalera_smm.so"
# What wsrep_sst_rsync calls; each gets a launcher, so that one folder on PATH is enough.
PROGRAMS = ("rsync", "lsof")
# A daemon that root starts writes as the account `nobody`, who may not write to a node's data directory.
AS_OWNER = """#!/bin/sh
here=$(cd "$(dirname "$0")" && pwd)
case " $* " in *" --daemon "*) set -- "$@" "--dparam=uid=$(id -u)" "--dparam=gid=$(id -g)" ;; esac
exec "$here"/real-rsync "$@"
"""


@dataclass(frozen=True)
class Part:
    """A part on the shelf: the version of its first package, its library, and the folder of its launchers."""

    name: str
    version: str
    library: str
    programs: str


def provision_part(name: str) -> Part:
    """Unpack a part, if it is not on the shelf yet; raises ProvisionError that says why it can't be had."""
    with contextlib.suppress(ProvisionError):
        return check_part(name)
    with lock(name):
        with contextlib.suppress(ProvisionError):
            return check_part(name)  # another process was faster
        with placing(name) as folder:
            _build(name, folder)
        return check_part(name)


def check_part(name: str) -> Part:
    """The part on the shelf, with absolute paths; raises ProvisionError if it is not there."""
    folder = shelf() / name
    try:
        fields = json.loads((folder / FILE).read_text(encoding="utf-8"))
        part = Part(**fields)
    except (OSError, ValueError, TypeError):
        raise ProvisionError(f"not unpacked: run python tests/servers/provision.py {name}") from None
    missing = [path for path in (part.library, *PROGRAMS) if not (folder / path).is_file()]
    if missing:
        raise ProvisionError(f"{', '.join(missing)} is missing: remove {folder}")
    return Part(name, part.version, str(folder / part.library), str(folder))


def _build(name: str, folder: Path) -> None:
    recipe, root = PARTS[name], folder / "root"
    root.mkdir()
    versions = debian.unpack(recipe.suite, recipe.libraries_of, recipe.extras, root)
    libraries, loader = debian.library_folders(root), debian.loader(root)
    write_launcher(folder, "lsof", root / "usr/bin/lsof", libraries, loader)
    write_launcher(folder, "real-rsync", root / "usr/bin/rsync", libraries, loader)
    (folder / "rsync").write_text(AS_OWNER, encoding="utf-8")
    (folder / "rsync").chmod(0o755)
    part = Part(name, versions[recipe.libraries_of[0]], PROVIDER, "")
    (folder / FILE).write_text(json.dumps(asdict(part), indent=2, sort_keys=True) + "\n", encoding="utf-8")
