"""A directory on a full disk."""

from __future__ import annotations

import contextlib
import resource
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


class Disk:
    """A directory, and the fault that prevents writing to its files."""

    def __init__(self, place: Path, how: str) -> None:
        self.place = place
        self.how = how

    @contextmanager
    def full(self) -> Iterator[None]:
        """In the block, existing files can be read and replaced, but nothing more can be written."""
        if self.how == "limit":
            soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
            resource.setrlimit(resource.RLIMIT_FSIZE, (16, hard))
            # Python would cut the compiled modules that it writes at the limit too, and not load them again.
            compiles, sys.dont_write_bytecode = sys.dont_write_bytecode, True
            try:
                yield
            finally:
                sys.dont_write_bytecode = compiles
                resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
            return
        ballast = self.place / "ballast"
        with ballast.open("wb", buffering=0) as file, contextlib.suppress(OSError):
            while True:
                file.write(bytes(4096))
        try:
            yield
        finally:
            ballast.unlink()

    def files(self) -> dict[str, bytes]:
        """All files in it except locks, which remain for the next user."""
        found = (path for path in self.place.rglob("*") if path.is_file() and path.name not in {"ballast", ".lock"})
        return {str(path.relative_to(self.place)): path.read_bytes() for path in found}
