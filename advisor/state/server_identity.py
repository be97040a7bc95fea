"""Which server it is, from one time to the next."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

_DIGITS = 12
_WITHOUT_UUID = ("hostname", "port", "datadir")


def server_id(variables: Mapping[str, str]) -> str:
    """Twelve digits of the server's own UUID; where it has none (MariaDB), of host name, port and data directory."""
    told = variables.get("server_uuid") or "\0".join(variables.get(name, "") for name in _WITHOUT_UUID)
    return hashlib.sha256(told.encode("utf-8", "surrogateescape")).hexdigest()[:_DIGITS]


def server_name(variables: Mapping[str, str]) -> str:
    """The server in words: db1, db1:3307."""
    host, port = variables.get("hostname") or "server", variables.get("port", "")
    return host if port in ("", "0", "3306") else f"{host}:{port}"
