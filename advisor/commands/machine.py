"""The host as the user describes it, where it can't be read: --ram, --cpus, --disk, --host-tar."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import argparse

    from advisor.facts import Host


def is_declared(args: argparse.Namespace) -> bool:
    """Whether the user said anything about the host."""
    return any(x is not None for x in (args.ram, args.cpus, args.disk, args.host_tar))


def declared_host(args: argparse.Namespace) -> Host:
    """The host that the options describe; MycnfError for a size or a count that is none."""
    from advisor.collect.declared import host_from_words

    return host_from_words(ram=args.ram, cpus=args.cpus, disk=args.disk, tar=args.host_tar)
