"""The option files that a running server reads, with their owners and modes."""

import errno
import os
import posixpath

from msgspec import Struct, field

WORLD_WRITABLE = 0o002


class FileCopy(Struct, frozen=True):
    """One option file as found: text without its secrets, owner and mode; `text` is None where it couldn't be read.

    `holds_secret` says that a value was taken out; `secret_lines` are the lines they stood on, 1-based. `changed` is
    when its content or owner last changed, in seconds since 1970 by the host's clock, 0 where it was not read.
    `closed` says that other accounts may read it by its mode, and that a directory above it keeps them out.
    """

    path: str
    text: str | None
    mode: int = 0
    uid: int = 0
    gid: int = 0
    secret_lines: tuple[int, ...] = ()
    included: bool = False
    changed: float = 0.0
    closed: bool = False

    @property
    def holds_secret(self) -> bool:
        """Whether the file itself contains a secret."""
        return bool(self.secret_lines)


class PersistedOption(Struct, frozen=True):
    """A variable of mysqld-auto.cnf, with the section that it is in; a secret's value is masked.

    What is in a section of static or early variables is read together with the options, all else is set when the
    server is up.
    """

    name: str
    value: str
    line: int = 1
    column: int = 1
    section: str = ""

    @property
    def static(self) -> bool:
        """Whether it cannot be set at run time and is passed to the server as an option."""
        return "static" in self.section

    @property
    def early(self) -> bool:
        """Whether the sizes of other variables depend on it."""
        return self.static or "parse_early" in self.section


class OptionFiles(Struct, frozen=True):
    """The option files in the order in which the server reads them, includes listed after the files that name them.

    `command_line` holds the server's own arguments with secrets taken out; `inferred` says that the list of files was
    concluded from the usual places, not named by the server's command line. `persisted` is the path of mysqld-auto.cnf
    where there is one: its values come last, and the server reports them as PERSISTED. `persisted_options` are what it
    holds, None where it was not read; `persisted_problem` says why nothing is taken of it, `persisted_changed` when it
    last changed. `folders` are the directories of `!includedir` lines that could be listed, empty ones too.
    """

    files: tuple[FileCopy, ...] = ()
    command_line: tuple[str, ...] = ()
    group_suffix: str = ""
    inferred: bool = False
    persisted: str = ""
    folders: tuple[str, ...] = ()
    persisted_options: tuple[PersistedOption, ...] | None = None
    persisted_problem: str = ""
    persisted_changed: float = 0.0

    @property
    def main_files(self) -> tuple[str, ...]:
        """The files that the server opens itself, in its order; the others are included by these."""
        return tuple(copy.path for copy in self.files if copy.text is not None and not copy.included)

    def read(self, path: str) -> bytes:
        """The bytes of a file as the server sees them: nothing of a world-writable one, which servers ignore.

        Raises FileNotFoundError for a file that this collection doesn't hold.
        """
        for copy in self.files:
            if copy.path == path and copy.text is not None:
                return b"" if copy.mode & WORLD_WRITABLE else _bytes(copy.text)
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), path)

    def names(self, folder: str) -> list[str]:
        """The names of this collection's files in a directory of an `!includedir`; FileNotFoundError for any other."""
        paths = [posixpath.normpath(copy.path) for copy in self.files]
        inside = posixpath.normpath(folder)
        if inside not in map(posixpath.normpath, self.folders):
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), folder)
        return [posixpath.basename(path) for path in paths if posixpath.dirname(path) == inside]


def _bytes(text: str) -> bytes:
    """The bytes of a file from its text; an edited snapshot may contain text that no file can."""
    try:
        return text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return text.encode("utf-8", "replace")


class Service(Struct, frozen=True):
    """A systemd service as its files have it now, secrets taken out.

    `name` is the unit's (mysqld@two.service); `unit_files` the unit and then its drop-ins in the order in which systemd
    applies them, `environment_files` the files that `EnvironmentFile=` names and that could be read. `environment`
    holds those variables named by the unit's command line that the running process was started with.
    """

    name: str
    unit_files: tuple[FileCopy, ...] = ()
    environment_files: tuple[FileCopy, ...] = ()
    environment: dict[str, str] = field(default_factory=dict)
