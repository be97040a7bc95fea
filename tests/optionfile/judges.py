"""The judges of the reader: my_print_defaults, and each real server's own --print-defaults."""

from __future__ import annotations

import subprocess
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from advisor.core.model import Target
from advisor.optionfile import groups_read, resolve
from advisor.optionfile.lines import Line, LineKind, ResolvedFiles

MASK = "--password=*****"  # what MySQL's servers print in place of an option that begins so


class PrintDefaults(NamedTuple):
    """MariaDB's my_print_defaults."""

    program: str

    def arguments(self, path: Path, *groups: str, cwd: Path | None = None) -> bytes | None:
        """The options of the groups, a newline behind each; None where it refuses the file."""
        command = [self.program, f"--defaults-file={path}", *groups]
        run = subprocess.run(command, capture_output=True, timeout=600, check=False, cwd=cwd)
        return None if run.returncode else run.stdout


class Server(NamedTuple):
    """A real server that can be asked for the arguments it would start with."""

    target: Target
    program: str

    def arguments(self, path: Path, *more: str) -> bytes | None:
        """The options of the server's groups, a blank behind each; None where it refuses the file."""
        command = [self.program, f"--defaults-file={path}", *more, "--print-defaults"]
        run = subprocess.run(command, capture_output=True, timeout=600, check=False)
        return None if run.returncode else run.stdout.partition(b"\n")[2].removesuffix(b"\n")

    def resolved(self, path: Path, *, on_host: bool = False) -> ResolvedFiles:
        """The file as we read it for this server."""
        flavour, version = self.target.flavour, self.target.version
        return resolve([str(path)], flavour=flavour, version=version, on_host=on_host)

    def foreseen(self, path: Path, suffix: str = "", *, on_host: bool = False) -> bytes | None:
        """The same as `arguments`, as the reader foresees it."""
        mask = MASK if self.target.is_mysql else ""
        resolved = self.resolved(path, on_host=on_host)
        return foreseen(resolved, groups_read(self.target, suffix=suffix), " ", mask)


def foreseen(resolved: ResolvedFiles, groups: Iterable[str], end: str = "\n", mask: str = "") -> bytes | None:
    """What a program that reads these groups is started with; None where it stops at a line.

    `mask` replaces a password where the program doesn't print it.
    """
    stops = (
        x.kind is LineKind.REJECTED or (x.kind is LineKind.OPTION and x.group is None) for x in resolved.files[0].lines
    )
    if any(stops):
        return None
    read = frozenset(groups)
    arguments = [_argument(p.line, mask) + end for p in resolved.options if (p.line.group or "").lower() in read]
    return "".join(arguments).encode("utf-8", "surrogateescape")


def _argument(line: Line, mask: str) -> str:
    if mask and (line.name or "").startswith("password"):
        return mask
    return f"--{line.name}" if line.value is None else f"--{line.name}={line.value}"
