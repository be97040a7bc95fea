"""The shell launchers that start a program with the libraries unpacked beside it."""

from __future__ import annotations

import contextlib
import os
import shlex
from pathlib import Path

# Tests start them by their whole path some thousand times, and a shell that finds its folder itself forks three times.
HEAD = """#!/bin/sh
# Starts {program} with the libraries that were unpacked beside it.
case $0 in
/*) here=${{0%/*}} ;;
*) here=$(cd "$(dirname "$0")" && pwd) ;;
esac
"""


def write_launcher(folder: Path, name: str, program: Path, libraries: list[Path], loader: Path | None) -> str:
    """Write an executable launcher `name` into `folder` for `program` in it, unless it is there; returns its name.

    With a loader, that loader starts the program, so nothing of the system's C library is mixed in.
    """
    target = _beside(folder, program)
    path = ":".join(f"$here/{library.relative_to(folder)}" for library in libraries)
    if loader is not None:
        start = f'exec {_beside(folder, loader)} --library-path "{path}" {target} "$@"'
    elif path:
        start = f'LD_LIBRARY_PATH="{path}${{LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}}" exec {target} "$@"'
    else:
        start = f'exec {target} "$@"'
    text = HEAD.format(program=shlex.quote(program.name)) + start + "\n"
    with contextlib.suppress(FileNotFoundError):
        if (folder / name).read_text(encoding="utf-8") == text:
            return name
    beside = folder / f".{name}.new"  # renamed, for a shell that runs the old one still reads it
    beside.write_text(text, encoding="utf-8")
    beside.chmod(0o755)
    os.replace(beside, folder / name)
    return name


def _beside(folder: Path, file: Path) -> str:
    return '"$here"/' + shlex.quote(str(file.relative_to(folder)))
