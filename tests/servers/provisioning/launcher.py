"""The shell launchers that start a program with the libraries unpacked beside it."""

from __future__ import annotations

import shlex
from pathlib import Path

HEAD = """#!/bin/sh
# Starts {program} with the libraries that were unpacked beside it.
here=$(cd "$(dirname "$0")" && pwd)
"""


def write_launcher(folder: Path, name: str, program: Path, libraries: list[Path], loader: Path | None) -> str:
    """Write an executable launcher `name` into `folder` for `program` in it; returns its name.

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
    file = folder / name
    file.write_text(HEAD.format(program=shlex.quote(program.name)) + start + "\n", encoding="utf-8")
    file.chmod(0o755)
    return name


def _beside(folder: Path, file: Path) -> str:
    return '"$here"/' + shlex.quote(str(file.relative_to(folder)))
