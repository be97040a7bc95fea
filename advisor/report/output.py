"""Where a report goes: stdout, or a file that is only replaced once the new one is whole."""

from __future__ import annotations

import os
import sys

from advisor.exits import MycnfError


def write(text: str, path: str | None) -> None:
    """Print `text`, or write it beside `path` and rename; MycnfError, the old file whole, where that fails."""
    if path is None or path == "-":
        sys.stdout.write(text)
        return
    beside = f"{path}.mycnf-{os.getpid()}"
    try:
        with open(beside, "w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        os.replace(beside, path)
    except OSError as error:
        if os.path.exists(beside):
            os.unlink(beside)
        raise MycnfError(f"can't write {path}: {error.strerror}; name another file with -o") from error


def colour_wanted(path: str | None) -> bool:
    """Whether the report goes to a terminal that wants colour (NO_COLOR and a dumb terminal don't)."""
    if path is not None or os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb":
        return False
    return sys.stdout.isatty()
