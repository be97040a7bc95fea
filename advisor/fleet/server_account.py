"""The address and account of a host's server, from the host's `mycnf_*` variables."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from advisor.collect.connection.options import HIGHEST_PORT, SSL_MODES, Account, ConnectRequest, resolve_account
from advisor.core.errors import MycnfError

if TYPE_CHECKING:
    from collections.abc import Mapping


def account_of(variables: Mapping[str, str], *, address: str, local: bool) -> Account:
    """The account for the server of a host.

    Without `mycnf_host`, the server of a remote host is at the address that ansible connects to, even if an option
    file names another host, because one such file may serve the whole fleet; the server of a local host is at a
    socket. Raises MycnfError for invalid variables, ConnectError if no socket or file is found.
    """
    request = ConnectRequest(
        user=variables.get("mycnf_user"),
        defaults_file=variables.get("mycnf_defaults_file"),
        defaults_group_suffix=variables.get("mycnf_defaults_group_suffix"),
        login_path=variables.get("mycnf_login_path"),
        ssl_ca=variables.get("mycnf_ssl_ca"),
        ssl_cert=variables.get("mycnf_ssl_cert"),
        ssl_key=variables.get("mycnf_ssl_key"),
        socket=_socket(variables, local),
        host=variables.get("mycnf_host") or (None if local else _reachable(address)),
        port=_port(variables.get("mycnf_port")),
        ssl_mode=_ssl_mode(variables.get("mycnf_ssl_mode")),
    )
    chosen = resolve_account(request)
    password = variables.get("mycnf_password")
    if password is None:
        return chosen
    return replace(
        chosen, password=password.encode("utf-8", "surrogateescape"), credential_source="password from mycnf_password"
    )


def _socket(variables: Mapping[str, str], local: bool) -> str | None:
    path = variables.get("mycnf_socket")
    if path and not local:
        raise MycnfError(
            "mycnf_socket is for hosts with ansible_connection=local: the socket of another host can't be reached "
            "from here; give mycnf_host and mycnf_port"
        )
    return path


def _reachable(address: str) -> str:
    # For the servers' clients `localhost` means a local socket, which the end of a tunnel is not.
    return "127.0.0.1" if address == "localhost" else address


def _port(text: str | None) -> int | None:
    if text is None:
        return None
    if not (text.isascii() and text.isdigit()) or not 0 < int(text[:6]) <= HIGHEST_PORT:
        raise MycnfError(f"mycnf_port: {text[:20]!r} is not a TCP port; write a number from 1 to {HIGHEST_PORT}")
    return int(text)


def _ssl_mode(text: str | None) -> str | None:
    if text is not None and text.lower().replace("_", "-") not in SSL_MODES:
        raise MycnfError(f"mycnf_ssl_mode: {text[:20]!r} is unknown; use one of {', '.join(SSL_MODES)}")
    return text
