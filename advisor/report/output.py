"""Where a report goes: stdout, or a file that is only replaced once the new one is whole."""

from __future__ import annotations

import os
import sys

from advisor.exits import MycnfError


def write(text: str, path: str | None) -> None:
    """Print `text`, or write it beside `path` and rename; MycnfError, the old file whole, where that fails.

    A link stays a link, to the new file. What is no ordinary file, such as /dev/stdout or a FIFO, is written as it is.
    """
    if path is None or path == "-":
        sys.stdout.write(text)
        return
    place = os.path.realpath(path)
    beside = f"{place}.mycnf-{os.getpid()}"
    ordinary = os.path.isfile(place) or not os.path.lexists(path)
    try:
        with open(beside if ordinary else path, "w", encoding="utf-8") as file:
            file.write(text)
            if ordinary:
                file.flush()
                os.fsync(file.fileno())
        if ordinary:
            os.replace(beside, place)
    except OSError as error:
        if ordinary and os.path.exists(beside):
            os.unlink(beside)
        raise MycnfError(f"can't write {path}: {error.strerror}; name another file with -o") from error


def colour_wanted(path: str | None) -> bool:
    """Whether the report goes to a terminal that wants colour (NO_COLOR and a dumb terminal don't)."""
    if path is not None or os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb":
        return False
    return sys.stdout.isatty()


def working_directory() -> str:
    """Where the run began; "" where that directory is gone."""
    try:
        return os.getcwd()
    except OSError:
        return ""


def run_time() -> str:
    """Now in UTC, such as 2026-11-21T07:00:00; SOURCE_DATE_EPOCH, where it is set, makes reports repeat to the byte."""
    import time

    given = os.environ.get("SOURCE_DATE_EPOCH", "")
    return time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(int(given) if given.isdecimal() else None))
