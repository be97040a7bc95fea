"""The servers that were connected to lately: places and users, never a password."""

from __future__ import annotations

import json
import os
from contextlib import suppress
from typing import TYPE_CHECKING, NamedTuple

from advisor.core.errors import MycnfError
from advisor.state.directory import alone_in, make_state_folder
from advisor.state.private_file import replace_private
from advisor.tui.view import FOLDER, folder

if TYPE_CHECKING:
    from advisor.collect.connection.options import ConnectRequest

MOST = 5


class RecentConnection(NamedTuple):
    """One of them; empty where nothing was said."""

    socket: str = ""
    host: str = ""
    port: str = ""
    user: str = ""
    login_path: str = ""
    ssl_mode: str = ""
    ssl_ca: str = ""

    @property
    def words(self) -> str:
        """How it is listed."""
        place = self.socket or (f"{self.host}:{self.port or 3306}" if self.host else "")
        path = f"login path {self.login_path}" if self.login_path else ""
        where = " by ".join(part for part in (place, path) if part) or "the usual socket"
        tls = f", TLS {self.ssl_mode}" if self.ssl_mode else ", TLS" if self.ssl_ca else ""
        return (f"{self.user}@{where}" if self.user else where) + tls


def read() -> list[RecentConnection]:
    """The latest first; none where there is no file, or it can't be read as one."""
    try:
        with open(_path(), encoding="utf-8") as file:
            return [
                RecentConnection(*(str(entry.get(name, "")) for name in RecentConnection._fields))
                for entry in json.load(file)
            ][:MOST]
    except (OSError, ValueError, TypeError, AttributeError, RecursionError):
        return []


def remember(request: ConnectRequest) -> None:
    """Put a server first; where that can't be written nothing is lost but the list."""
    told = RecentConnection(*(str(getattr(request, name) or "") for name in RecentConnection._fields))
    with suppress(OSError, MycnfError), alone_in(make_state_folder(FOLDER)):
        known = [target._asdict() for target in (told, *(t for t in read() if t != told))][:MOST]
        replace_private(_path(), (json.dumps(known, indent=1) + "\n").encode("ascii"))


def _path() -> str:
    return os.path.join(folder(), "recent.json")
