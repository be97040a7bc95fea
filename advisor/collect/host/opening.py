"""Where the files of a host are opened: this machine's, those of a directory, or those of a tar."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from advisor.collect.host.root import DirectoryRoot, LiveRoot

if TYPE_CHECKING:
    from advisor.collect.host.root import Root


def open_root(path: str = "/") -> Root:
    """The host whose files stand at a path: / for this one, else a directory or a tar.

    Raises ArchiveError, which says what is wrong with the file, for anything else.
    """
    if os.path.isdir(path):
        return LiveRoot() if os.path.samefile(path, "/") else DirectoryRoot(path)
    from advisor.collect.host.archive import open_tar

    return open_tar(path)
