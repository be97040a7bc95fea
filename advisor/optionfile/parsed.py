"""The option files of one run, each parsed once, from the file system or from given texts."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from advisor.optionfile.lines import LineKind, OptionFile, Problem
from advisor.optionfile.reader import parse
from advisor.optionfile.source import OptionFileError, check, load

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from advisor.optionfile.groups import Dialect

# Our limits for all files together: judging an option takes three kilobytes, and servers have a thousand of them.
MAX_LINES = 30_000
MAX_OPTIONS = 10_000


class ParsedFiles:
    """Loads and parses files by path, and keeps them in the order of first use."""

    __slots__ = ("dialect", "files", "lines", "lister", "loader", "on_host", "options", "problems")

    def __init__(
        self,
        dialect: Dialect,
        loader: Callable[[str], bytes] | None,
        lister: Callable[[str], Iterable[str]] | None,
        *,
        on_host: bool,
    ) -> None:
        self.dialect = dialect
        self.loader = loader
        self.lister = lister or os.listdir
        self.on_host = on_host
        self.files: dict[str, OptionFile] = {}
        self.lines = self.options = 0
        self.problems: dict[Problem, None] = {}

    def add_problem(self, path: str, line: int, name: str, message: str) -> None:
        """Record a problem of a file once."""
        self.problems[Problem(path, line, name, message)] = None

    def get(self, path: str) -> OptionFile:
        """Return the file; raises OptionFileError if it cannot be read or is not an option file."""
        known = self.files.get(path)
        if known is None:
            known = self.files[path] = self._parse(path)
        return known

    def exists(self, path: str) -> bool:
        """Whether the file exists, readable or not."""
        if path in self.files:
            return True
        if self.loader is None:
            return os.path.lexists(path)
        try:
            self.get(path)
        except OptionFileError as error:
            return not isinstance(error.__cause__, FileNotFoundError)
        return True

    def _parse(self, path: str) -> OptionFile:
        data = self._load(path)
        if b"\0" in data:
            line = data[: data.index(b"\0")].count(b"\n") + 1
            self.add_problem(path, line, "nul-byte", "servers don't read what stands behind a NUL byte; take it out")
        lines = self.lines + data.count(b"\n")
        if lines > MAX_LINES:
            raise OptionFileError(f"{path}: beyond {MAX_LINES:,} lines, more than any server's option files have")
        file = parse(data, path, self.dialect)
        options = self.options + sum(1 for line in file.lines if line.kind is LineKind.OPTION)
        if options > MAX_OPTIONS:
            raise OptionFileError(f"{path}: beyond {MAX_OPTIONS:,} options, more than any server has")
        self.lines, self.options = lines, options
        return file

    def _load(self, path: str) -> bytes:
        if self.loader is None:
            source = load(path)
            if source.world_writable:
                self.add_problem(path, 0, "world-writable", f"{path} is writable for everybody, so servers ignore it")
                return b"" if self.on_host else source.data
            return source.data
        try:
            data = self.loader(path)
        except OSError as error:
            raise OptionFileError(f"{path}: can't be read ({error.strerror or 'it is not here'})") from error
        check(data, path)
        return data
