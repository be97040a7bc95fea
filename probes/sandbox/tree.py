"""The parts of a server that was unpacked somewhere else than it was built for."""

from __future__ import annotations

import os
from typing import NamedTuple

SHARES = ("share", "share/mysql", "share/mariadb")
PLUGINS = ("lib/plugin", "lib/mysql/plugin", "lib/mariadb/plugin", "lib64/mysql/plugin", "lib64/mariadb/plugin")


class Tree(NamedTuple):
    """Where a tree of files keeps a server's parts; None for what isn't there."""

    basedir: str | None = None
    share: str | None = None
    plugins: str | None = None


def tree_of(program: str) -> Tree:
    """The parts beside a program, as archives and packages lay them out: bin or sbin, share and lib side by side."""
    base = os.path.dirname(os.path.dirname(os.path.realpath(program)))
    shares = (os.path.join(base, name) for name in SHARES)
    share = next((path for path in shares if os.path.isfile(os.path.join(path, "charsets", "Index.xml"))), None)
    if share is None:
        return Tree()
    return Tree(base, share, next(filter(os.path.isdir, (os.path.join(base, name) for name in PLUGINS)), None))
