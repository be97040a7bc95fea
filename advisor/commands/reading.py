"""Read what the user named: files with their includes, or stdin in a file's place."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from advisor.exits import MycnfError
from advisor.optionfile import resolve
from advisor.optionfile.source import LARGEST, load

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from advisor.model import Target
    from advisor.optionfile.lines import Resolved


def stdin_bytes() -> bytes:
    """All of stdin; MycnfError where it is larger than any option file."""
    data = sys.stdin.buffer.read(LARGEST + 1)
    if len(data) > LARGEST:
        raise MycnfError(f"stdin is larger than {LARGEST >> 20}M, which no option file is; name the file that you mean")
    return data


def take_stdin(paths: Sequence[str], name: str) -> tuple[list[str], dict[str, bytes]]:
    """The paths with `name` in the place of `-`, and the bytes of stdin by that name where they are asked for."""
    given = {name: stdin_bytes()} if "-" in paths else {}
    return [name if path == "-" else path for path in paths], given


def read_resolved(paths: Sequence[str], target: Target, root: str | None, given: Mapping[str, bytes]) -> Resolved:
    """The files, read as one by the target's reader, with what they include; `given` are texts that are no files.

    Raises OptionFileError for a file that can't be read.
    """

    def loader(wanted: str) -> bytes:
        return given[wanted] if wanted in given else load(wanted).data

    chosen = loader if given else None
    return resolve(paths, flavour=target.flavour, version=target.version, root=root, loader=chosen)
