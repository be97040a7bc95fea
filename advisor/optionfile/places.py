"""Where an include line points to: home, another root, relative paths, the files of a directory."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

EXTENSION = ".cnf"
LONGEST_PATH = 508  # bytes; the servers pass over a longer one in silence


def is_relative(written: str) -> bool:
    """Whether a server takes the path from the directory that it was started in."""
    return not written.startswith(("/", "~"))


def candidates(written: str, including: str, root: str | None) -> list[str]:
    """The paths that an include line may mean here, best first.

    A relative one is taken from the working directory, as a server started here would take it, and else
    from beside the file that includes it: in a repository nobody knows where the server will be started.
    """
    if is_relative(written):
        return [written, os.path.join(os.path.dirname(including), written)]
    path = os.path.expanduser(written)
    return [path if root is None else os.path.join(root, path.lstrip("/"))]


def option_files(names: Iterable[str]) -> list[str]:
    """The names that `!includedir` reads, in the servers' order, which is that of the bytes."""
    return sorted((name for name in names if name.endswith(EXTENSION)), key=os.fsencode)
