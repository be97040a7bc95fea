"""Connection and host options of the command line."""

from __future__ import annotations

from typing import TYPE_CHECKING

from advisor.core.errors import MycnfError

if TYPE_CHECKING:
    import argparse

    from advisor.collect.connection.options import ConnectRequest
    from advisor.collect.server.schema import SchemaLimits
    from advisor.facts import Facts, Host

MAX_SCHEMA_TIME = 60.0  # seconds; all answers of an audit together have two minutes
MAX_WINDOW = 3000.0  # seconds; the servers close a session that was idle for 3600, as it asks them to

# Options of how a running server is read, with the defaults of the command line.
READING: dict[str, float] = {"window": 10.0, "schema": False, "schema_time": 5.0, "schema_tables": 1000}
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
    """Return the connection options of the command line."""
    from advisor.collect.connection.options import ConnectRequest

    return ConnectRequest(**{name: getattr(args, name) for name in CONNECTION})


def check_window(seconds: float) -> None:
    """Raise MycnfError for a sampling window that is no time, or longer than the session stays open while idle."""
    if not 0 <= seconds <= MAX_WINDOW:
        raise MycnfError(
            f"--window {seconds:g} is not a valid time; write 1 to {MAX_WINDOW:g} seconds, or 0 for no window"
        )


def refuse_server(args: argparse.Namespace, source: str) -> None:
    """Raise MycnfError if the command line has an option for a running server beside `source`, which is read instead.

    Options of the reading count if they differ from their defaults.
    """
    reading = (name for name, usual in READING.items() if getattr(args, name, usual) != usual)
    if given := connection_option(args) or next((f"--{name.replace('_', '-')}" for name in reading), ""):
        raise MycnfError(f"{source} is read in place of a running server, so {given} has no effect; omit one of them")


def connection_option(args: argparse.Namespace) -> str:
    """Return the first connection option of the command line, "" without any."""
    given = next((name for name in CONNECTION if getattr(args, name, None) not in (None, False)), "")
    return f"--{given.replace('_', '-')}" if given else ""


def schema_limits(args: argparse.Namespace, *, requested: bool = False) -> SchemaLimits | None:
    """Return the limits of --schema, None without it unless requested; raises MycnfError for invalid numbers.

    Commands that compare settings, such as diff, have no such option.
    """
    if not getattr(args, "schema", False) and not requested:
        return None
    from advisor.collect.server.schema import SchemaLimits

    if not 0 < args.schema_time <= MAX_SCHEMA_TIME:
        raise MycnfError(f"--schema-time {args.schema_time:g}: write 1 to {MAX_SCHEMA_TIME:g} seconds")
    if args.schema_tables < 0:
        raise MycnfError(f"--schema-tables {args.schema_tables}: write the number of tables, 0 for none")
    return SchemaLimits(args.schema_time, args.schema_tables)


def is_declared(args: argparse.Namespace) -> bool:
    """Whether the user described the host."""
    return any(x is not None for x in (args.ram, args.cpus, args.disk, args.host_tar))


def declared_host(args: argparse.Namespace, read: Host | None = None) -> Host:
    """Return the host as the options and what was read describe it; raises MycnfError for an invalid size or count."""
    from advisor.collect.host.host import host_from_options

    return host_from_options(ram=args.ram, cpus=args.cpus, disk=args.disk, tar=args.host_tar, read=read)


def apply_declared_host(facts: Facts, args: argparse.Namespace) -> Facts:
    """Return the facts with their host as the options describe it, if they do; what they leave out stays as read."""
    from msgspec.structs import replace

    return replace(facts, host=declared_host(args, facts.host)) if is_declared(args) else facts
