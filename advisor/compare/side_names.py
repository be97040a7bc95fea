"""Parses a side of a comparison from the command line: a file, a snapshot, a server, or a target's defaults."""

from __future__ import annotations

import os
import re
import stat
from typing import TYPE_CHECKING, NamedTuple

from advisor.catalog.targets import NAMES, SERIES, parse_target
from advisor.compare.values import SideKind
from advisor.core.errors import MycnfError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from advisor.core.model import Target

STDIN = "-"
DEFAULT_PORT = 3306
SIDE_FORMS = (
    "write a path, server, socket:PATH, HOST:PORT, defaults:FILE, login:NAME, group:SUFFIX, "
    "or a target such as mysql-8.4"
)
_HOST_PORT = r"(?:(?P<user>[^@\s]+)@)?(?P<host>\[[0-9a-fA-F:]+\]|[^:@/\s]+)(?::(?P<port>[0-9]{1,5}))?"
_NO_PLACE: Mapping[str, str | int | None] = {"socket": None, "host": None, "port": None}
_HEADER_BYTES = 4096


class NamedSide(NamedTuple):
    """A side as named on the command line. `place` holds connection settings that override the options."""

    kind: SideKind
    word: str
    paths: tuple[str, ...] = ()
    place: Mapping[str, str | int | None] = {}
    target: Target | None = None


def parse_side(word: str) -> NamedSide:
    """Parse a side; raises MycnfError, with the valid forms, if it is invalid or cannot be read."""
    prefix, colon, rest = word.partition(":")
    if colon and prefix in PREFIXES:
        if not rest:
            raise MycnfError(f"{word} is incomplete; write a name after the colon")
        return PREFIXES[prefix](word, rest)
    if word == "server":
        return NamedSide(SideKind.SERVER, word)
    if word == STDIN:
        return NamedSide(SideKind.FILE, word, (word,))
    if os.path.lexists(word):
        return _by_path(word, word)
    return _no_path(word)


def _no_path(word: str) -> NamedSide:
    parts = word.split(",")
    if len(parts) > 1 and all(part == STDIN or os.path.isfile(part) for part in parts):
        return NamedSide(SideKind.FILE, word, tuple(parts))
    if _is_target(word):
        return NamedSide(SideKind.DEFAULTS, word, target=parse_target(word))
    found = re.fullmatch(_HOST_PORT, word)
    if found and found["port"] and "/" not in word:
        return _tcp(word, word)
    raise MycnfError(f"{word or repr(word)}: no such file, server or target; {SIDE_FORMS}")


def _is_target(word: str) -> bool:
    """Whether a word is meant as a target: its flavour, build or service is one, whatever the version."""
    return word.partition("-")[0].lower() in SERIES or word.rpartition("-")[0].lower() in NAMES


def _by_path(word: str, path: str) -> NamedSide:
    """Return a server for a socket; a file is a snapshot or option file by its first bytes."""
    try:
        mode = os.stat(path).st_mode
        if stat.S_ISSOCK(mode):
            return _socket(word, path)
        if stat.S_ISDIR(mode):
            raise MycnfError(f"{path} is a directory; name an option file or a snapshot in it")
        kind = SideKind.SNAPSHOT if stat.S_ISREG(mode) and _is_snapshot(path) else SideKind.FILE
    except OSError as error:
        raise MycnfError(f"{path} can't be read ({error.strerror}); check its owner and mode") from error
    return NamedSide(kind, word, (path,))


def _is_snapshot(path: str) -> bool:
    with open(path, "rb") as file:
        start = file.read(_HEADER_BYTES).lstrip()
    return start.startswith(b"{") and b'"schema"' in start


def _file(word: str, path: str) -> NamedSide:
    return _no_path(path)._replace(word=word) if "," in path else _by_path(word, path)._replace(kind=SideKind.FILE)


def _snapshot(word: str, path: str) -> NamedSide:
    return NamedSide(SideKind.SNAPSHOT, word, (path,))


def _socket(word: str, path: str) -> NamedSide:
    return NamedSide(SideKind.SERVER, word, place={**_NO_PLACE, "socket": path})


def _tcp(word: str, text: str) -> NamedSide:
    match = re.fullmatch(_HOST_PORT, text)
    if match is None:
        raise MycnfError(f"{word}: {text} is not a host; write tcp:HOST, tcp:HOST:PORT or tcp:USER@HOST:PORT")
    port = int(match["port"] or DEFAULT_PORT)
    if not 0 < port < 1 << 16:
        raise MycnfError(f"{word}: {port} is not a TCP port; write a number from 1 to 65535")
    user = {"user": match["user"]} if match["user"] else {}
    return NamedSide(
        SideKind.SERVER, word, place={"socket": None, "host": match["host"].strip("[]"), "port": port, **user}
    )


def _defaults(word: str, text: str) -> NamedSide:
    """Parse `defaults:`, which may be followed by a client's option file or by a target."""
    if _is_target(text) and not os.path.exists(text):
        return _target(word, text)
    return NamedSide(SideKind.SERVER, word, place={**_NO_PLACE, "defaults_file": text})


def _login(word: str, name: str) -> NamedSide:
    return NamedSide(SideKind.SERVER, word, place={**_NO_PLACE, "login_path": name})


def _group(word: str, suffix: str) -> NamedSide:
    return NamedSide(SideKind.SERVER, word, place={**_NO_PLACE, "defaults_group_suffix": suffix})


def _target(word: str, text: str) -> NamedSide:
    return NamedSide(SideKind.DEFAULTS, word, target=parse_target(text))


PREFIXES = {
    "file": _file,
    "snapshot": _snapshot,
    "socket": _socket,
    "tcp": _tcp,
    "defaults": _defaults,
    "login": _login,
    "group": _group,
    "default": _target,
}
