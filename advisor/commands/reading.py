"""Read what the user named: a file with its includes, or stdin in a file's place."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from advisor.exits import MycnfError
from advisor.optionfile import read, render, resolve

if TYPE_CHECKING:
    from advisor.optionfile.lines import Resolved

LARGEST = 32 << 20


def stdin_bytes() -> bytes:
    """All of stdin; MycnfError where it is larger than any option file."""
    data = sys.stdin.buffer.read(LARGEST + 1)
    if len(data) > LARGEST:
        raise MycnfError("stdin is larger than 32M, which no option file is; name the file that you mean")
    return data


def read_resolved(path: str, flavour: str, root: str | None, data: bytes | None = None) -> Resolved:
    """The file and what it includes; `data` stands in for the file itself where it came by stdin."""
    if data is None:
        return resolve([path], flavour=flavour, root=root)

    def loader(wanted: str) -> bytes:
        return data if wanted == path else render(read(wanted, flavour=flavour))

    return resolve([path], flavour=flavour, root=root, loader=loader)
