"""Put a report into a file of the user's: whole or not at all, for their eyes only, and nothing of the server's."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from advisor.core.errors import MycnfError
from advisor.state.private_file import replace_private

if TYPE_CHECKING:
    from advisor.facts import Facts


class TakenError(MycnfError):
    """There is a file of that name, and nobody said that it may be replaced."""


def place_of(typed: str) -> str:
    """The whole path that a typed name means, `~` and the directory of the run taken in. Raises MycnfError."""
    if not typed.strip():
        raise MycnfError("a name is wanted: type one")
    if "\0" in typed:
        raise MycnfError("no name of a file holds a null character; type another")
    return os.path.abspath(os.path.expanduser(typed.strip()))


def save(text: str, typed: str, facts: Facts, *, replace: bool = False) -> str:
    """Write the report with mode 0600 and give its whole path; a link stays a link.

    Raises TakenError where a file is there that may not be replaced, MycnfError where it can't be written or belongs to
    the server that the facts are of.
    """
    path = os.path.realpath(place_of(typed))
    _refuse(path, facts)
    if os.path.lexists(path) and not replace:
        raise TakenError(f"{path} is there already")
    try:
        replace_private(path, text.encode("utf-8", "backslashreplace"))
    except OSError as error:
        raise MycnfError(f"can't write {path}: {error.strerror}; name another place") from error
    return path


def _refuse(path: str, facts: Facts) -> None:
    if any(path == _real(copy.path) for copy in (facts.files.files if facts.files else ())):
        raise MycnfError(f"{path} is an option file of the server, which mycnf never writes; name another")
    data = facts.server.variables.get("datadir", "").rstrip("/")
    if os.path.isabs(data) and path.startswith(_real(data) + "/"):
        raise MycnfError(f"{path} is in the server's data directory, which mycnf never writes; name another")
    if os.path.isdir(path):
        raise MycnfError(f"{path} is a directory; add the name of a file")
    if os.path.lexists(path) and not os.path.isfile(path):
        raise MycnfError(f"{path} is no ordinary file; name another")
    if not os.path.isdir(os.path.dirname(path)):
        raise MycnfError(f"there is no directory {os.path.dirname(path)}; make it, or name another")


def _real(path: str) -> str:
    """Where a path of the server's leads on this host; itself where no path of this host can be written so."""
    try:
        return os.path.realpath(path)
    except ValueError:
        return path
