"""From where a server can be reached: the addresses that it listens on, and switches that somebody turned on."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rules.core.context import RuleContext


OWN_NAMES = frozenset({"localhost", "::1"})
LISTENED_AT = ("bind_address", "admin_address", "mysqlx_bind_address")
OWN_NETWORK = "127."
_TRUE = frozenset({"TRUE", "ON"})


def beyond_the_host(known: RuleContext, name: str = "bind_address") -> bool:
    """Whether the server takes TCP connections from other hosts at the addresses of that variable; False if unknown."""
    setting = known.settings.get(name)
    if setting is None or known.text(name) is None or known.settings.on("skip_networking"):
        return False
    return any(not _is_own(address) for address in setting.value.split(","))


def only_from_here(known: RuleContext) -> bool:
    """Whether only the server's own host can reach it: without TCP, or with all its addresses the host's own."""
    if known.settings.on("skip_networking"):
        return True
    told = [name for name in LISTENED_AT if known.text(name)]
    return "bind_address" in told and not any(beyond_the_host(known, name) for name in told)


def by_socket_alone(known: RuleContext) -> bool:
    """Whether MySQL 8.0 or later takes no TCP connection because its accounts are switched off (ASK-SEC-12)."""
    line = known.file_verdict.effective.get("skip_grant_tables")
    return known.target.since("mysql", 8, 0) and line is not None and line.value == "TRUE"


def _is_own(address: str) -> bool:
    """Whether an address is the host's own; MySQL lets the name of a network namespace follow it."""
    bare = address.partition("/")[0].strip().lower()
    return bare in OWN_NAMES or bare.startswith(OWN_NETWORK)


def switched_on(known: RuleContext, name: str) -> bool:
    """Whether somebody switched an option on; some versions have no variable for it, so its line tells."""
    if known.settings.get(name) is not None:
        return known.chosen(name) and known.settings.on(name) is True
    line = known.file_verdict.effective.get(name)
    return line is not None and line.value in _TRUE


ON, PROVIDER = "wsrep_on", "wsrep_provider"


def has_provider(known: RuleContext) -> bool:
    """Whether somebody names the library that does the work, be it by a template."""
    named = known.chosen(PROVIDER) or PROVIDER in known.file_verdict.effective
    return named and known.text(PROVIDER) not in {"", "NONE"}


def in_use(known: RuleContext) -> bool:
    """Whether the server is to be a node: replication switched on, or a provider named."""
    return known.text(ON) == "ON" or has_provider(known)
