"""Connection and host options of the command line."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import argparse

    from advisor.collect.connection.options import ConnectRequest
    from advisor.facts import Host


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


def is_declared(args: argparse.Namespace) -> bool:
    """Whether the user described the host."""
    return any(x is not None for x in (args.ram, args.cpus, args.disk, args.host_tar))


def declared_host(args: argparse.Namespace) -> Host:
    """Return the host described by the options; raises MycnfError for an invalid size or count."""
    from advisor.collect.declared import host_from_options

    return host_from_options(ram=args.ram, cpus=args.cpus, disk=args.disk, tar=args.host_tar)
