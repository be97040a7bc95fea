"""Read what the user named: files with their includes, or stdin in a file's place."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from advisor.exits import MycnfError
from advisor.optionfile import resolve
from advisor.optionfile.source import LARGEST, load

if TYPE_CHECKING:
    from collections.abc import Sequence

    from advisor.model import Target
    from advisor.optionfile.lines import Resolved


def stdin_bytes() -> bytes:
    """All of stdin; MycnfError where it is larger than any option file."""
    data = sys.stdin.buffer.read(LARGEST + 1)
    if len(data) > LARGEST:
        raise MycnfError(f"stdin is larger than {LARGEST >> 20}M, which no option file is; name the file that you mean")
    return data


def read_resolved(paths: Sequence[str], target: Target, root: str | None, data: bytes | None = None) -> Resolved:
    """The files, read as one by the target's reader, with what they include; `data` stands in for the first one.

    Raises OptionFileError for a file that can't be read.
    """

    def loader(wanted: str) -> bytes:
        if data is not None and wanted == paths[0]:
            return data
        return load(wanted).data

    chosen = loader if data is not None else None
    return resolve(paths, flavour=target.flavour, version=target.version, root=root, loader=chosen)
