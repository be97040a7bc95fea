"""The recently used servers: addresses and users, never a password."""

from __future__ import annotations

import json
import os
from contextlib import suppress
from typing import TYPE_CHECKING, NamedTuple

from advisor.core.errors import MycnfError
from advisor.state.directory import lock_folder, make_state_folder
from advisor.state.private_file import replace_private
from advisor.tui.view import STATE_SUBDIRECTORY, app_state_directory

if TYPE_CHECKING:
    from advisor.collect.connection.options import ConnectRequest

MOST = 5


class RecentConnection(NamedTuple):
    """One recent server; fields that were not set are empty."""

    socket: str = ""
    host: str = ""
    port: str = ""
    user: str = ""
    login_path: str = ""
    ssl_mode: str = ""
    ssl_ca: str = ""

    @property
    def label(self) -> str:
        """The label in the list."""
        place = self.socket or (f"{self.host}:{self.port or 3306}" if self.host else "")
        path = f"login path {self.login_path}" if self.login_path else ""
        where = " by ".join(part for part in (place, path) if part) or "the default socket"
        tls = f", TLS {self.ssl_mode}" if self.ssl_mode else ", TLS" if self.ssl_ca else ""
        return (f"{self.user}@{where}" if self.user else where) + tls


def read() -> list[RecentConnection]:
    """The recent servers, the latest first; none if the file is missing or invalid."""
    try:
        with open(_path(), encoding="utf-8") as file:
            return [
                RecentConnection(*(str(entry.get(name, "")) for name in RecentConnection._fields))
                for entry in json.load(file)
            ][:MOST]
    except (OSError, ValueError, TypeError, AttributeError, RecursionError):
        return []


def remember(request: ConnectRequest) -> None:
    """Add a server at the top of the list; failing to write the list is ignored."""
    latest = RecentConnection(*(str(getattr(request, name) or "") for name in RecentConnection._fields))
    with suppress(OSError, MycnfError), lock_folder(make_state_folder(STATE_SUBDIRECTORY)):
        known = [target._asdict() for target in (latest, *(t for t in read() if t != latest))][:MOST]
        replace_private(_path(), (json.dumps(known, indent=1) + "\n").encode("ascii"))


def _path() -> str:
    return os.path.join(app_state_directory(), "recent.json")
