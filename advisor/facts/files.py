"""The option files that a running server reads, with their owners and modes."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class FileCopy:
    """One option file as found: its text with secrets taken out, owner and mode; `text` is None where it couldn't be read.

    `holds_secret` says that a value was taken out; `secret_lines` are the lines they stood on, 1-based.
    """

    path: str
    text: str | None
    mode: int = 0
    uid: int = 0
    gid: int = 0
    secret_lines: tuple[int, ...] = ()
    included: bool = False

    @property
    def holds_secret(self) -> bool:
        """Whether something secret stands in the file itself."""
        return bool(self.secret_lines)


@dataclass(frozen=True, slots=True)
class Files:
    """The option files in the order in which the server reads them, includes listed after the files that name them.

    `command_line` holds the server's own arguments with secrets taken out; `inferred` says that the list of files was concluded from
    the usual places, not told by the server or its command line.
    """

    files: tuple[FileCopy, ...] = ()
    command_line: tuple[str, ...] = ()
    group_suffix: str = ""
    inferred: bool = False

    def read(self, path: str) -> bytes:
        """The bytes of a file of this collection; raises FileNotFoundError for one that it doesn't hold."""
        for copy in self.files:
            if copy.path == path and copy.text is not None:
                return copy.text.encode("utf-8", "surrogateescape")
        raise FileNotFoundError(path)
