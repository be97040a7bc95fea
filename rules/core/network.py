"""Network exposure: the addresses that the server listens on, and explicitly enabled switches."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from advisor.facts.host import Host
    from rules.core.context import RuleContext


LOOPBACK_NAMES = frozenset({"localhost", "::1"})
ADDRESS_VARIABLES = ("bind_address", "admin_address", "mysqlx_bind_address")
LOOPBACK_PREFIX = "127."
# What the control group of a process in a container is called, as seen from outside.
CONTAINER_GROUPS = ("docker", "libpod", "kubepods", "lxc", "machine.slice")
_TRUE = frozenset({"TRUE", "ON"})


def listens_to_other_hosts(context: RuleContext, name: str = "bind_address") -> bool:
    """Whether the server accepts TCP connections from other hosts at the addresses in the variable.

    False if the addresses are unknown.
    """
    setting = context.settings.get(name)
    if setting is None or context.text(name) is None or context.settings.on("skip_networking"):
        return False
    return any(not is_loopback(address) for address in setting.value.split(","))


def is_local_only(context: RuleContext) -> bool:
    """Whether only the local host can connect: TCP is disabled or all addresses are loopback addresses."""
    if context.settings.on("skip_networking"):
        return True
    configured = [name for name in ADDRESS_VARIABLES if context.text(name)]
    return "bind_address" in configured and not any(listens_to_other_hosts(context, name) for name in configured)


def is_socket_only(context: RuleContext) -> bool:
    """Whether MySQL 8.0 or later disables TCP because of skip_grant_tables (ASK-SEC-12)."""
    line = context.file_verdict.effective.get("skip_grant_tables")
    return context.target.since("mysql", 8, 0) and line is not None and line.value == "TRUE"


def is_loopback(address: str) -> bool:
    """Whether an address is a loopback address; MySQL allows a network namespace after it."""
    bare = address.partition("/")[0].strip().lower()
    return bare in LOOPBACK_NAMES or bare.startswith(LOOPBACK_PREFIX)


def is_switched_on(context: RuleContext, name: str) -> bool:
    """Whether an option is explicitly ON; in versions without a variable for it, its option line decides."""
    if context.settings.get(name) is not None:
        return context.is_set(name) and context.settings.on(name) is True
    line = context.file_verdict.effective.get(name)
    return line is not None and line.value in _TRUE


WSREP_ON, WSREP_PROVIDER = "wsrep_on", "wsrep_provider"


def has_provider(context: RuleContext) -> bool:
    """Whether wsrep_provider is set, even if only by a template."""
    named = context.is_set(WSREP_PROVIDER) or WSREP_PROVIDER in context.file_verdict.effective
    return named and context.text(WSREP_PROVIDER) not in {"", "NONE"}


def uses_galera(context: RuleContext) -> bool:
    """Whether the server is configured as a Galera node: wsrep_on is ON or a provider is set."""
    return context.text(WSREP_ON) == "ON" or has_provider(context)


def is_in_other_container(context: RuleContext) -> bool:
    """Whether the server runs in a container and mycnf outside, which reads the network limits of the host."""
    group, system = context.host.cgroup, context.host.os
    outside = system is not None and not system.containers
    return outside and group is not None and any(sign in group.path for sign in CONTAINER_GROUPS)


def is_group_hidden(host: Host) -> bool:
    """Whether the server's control group is in another container, so that its limits are not known."""
    from advisor.facts.host import HIDDEN_GROUP  # lazily: lint reads no facts

    return any(part.part == "cgroup" and part.reason == HIDDEN_GROUP for part in host.skipped)


STEPS = frozenset({"auto_increment_increment", "auto_increment_offset"})
READ_ONLY = frozenset({"read_only", "super_read_only"})  # a group sets them on all but its primary


def variables_set_by_cluster(context: RuleContext) -> frozenset[str]:
    """The variables that Galera or Group Replication sets on this running server, regardless of its files.

    A member that does not join its group at its start has them as its files say until it joins.
    """
    part = context.server.replication
    if part is not None and part.galera and context.text(WSREP_PROVIDER) not in {None, "", "NONE"}:
        return STEPS if context.settings.on("wsrep_auto_increment_control") else frozenset()
    if part is None or not part.group_state or not context.settings.on("group_replication_start_on_boot"):
        return frozenset()
    return STEPS | READ_ONLY
