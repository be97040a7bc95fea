"""File systems in files, for probes that compare two of them on one disk; needs root."""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
from collections.abc import Iterator

SIZE = 6 << 30


def lacking(kinds: tuple[str, ...]) -> str:
    """Why they are not possible here; empty if they are."""
    if os.geteuid() != 0:
        return "needs root: mounts file systems that stand in files"
    missing = [f"mkfs.{kind}" for kind in kinds if shutil.which(f"mkfs.{kind}") is None]
    return f"needs {' and '.join(missing)}" if missing else ""


@contextlib.contextmanager
def mount_loops(directory: str, kinds: tuple[str, ...]) -> Iterator[dict[str, str]]:
    """A new file system of each kind, each in a file in `directory`, mounted: a dictionary from kind to mount point."""
    with contextlib.ExitStack() as stack:
        yield {kind: stack.enter_context(_one(directory, kind)) for kind in kinds}


@contextlib.contextmanager
def _one(directory: str, kind: str) -> Iterator[str]:
    image, place = os.path.join(directory, f"{kind}.image"), os.path.join(directory, kind)
    with open(image, "wb") as file:
        os.posix_fallocate(file.fileno(), 0, SIZE)
    os.mkdir(place)
    try:
        subprocess.run([f"mkfs.{kind}", "-q", image], check=True)
        subprocess.run(["mount", "-o", "loop", image, place], check=True)
        try:
            yield place
        finally:
            subprocess.run(["umount", place], check=True)
    finally:
        os.rmdir(place)
        os.remove(image)
