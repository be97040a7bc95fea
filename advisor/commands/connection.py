"""What a command line says about the way to a server."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import argparse

    from advisor.collect.connection.options import ConnectRequest

CONNECTION = (
    "socket",
    "host",
    "port",
    "user",
    "ask_password",
    "defaults_file",
    "defaults_extra_file",
    "defaults_group_suffix",
    "login_path",
    "ssl_mode",
    "ssl_ca",
    "ssl_cert",
    "ssl_key",
)


def request_of(args: argparse.Namespace) -> ConnectRequest:
    """What the command line says about the connection."""
    from advisor.collect.connection.options import ConnectRequest

    return ConnectRequest(**{name: getattr(args, name) for name in CONNECTION})
