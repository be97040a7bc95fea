"""The host as the user describes it, where it can't be read: --ram, --cpus, --disk, --host-tar."""

from __future__ import annotations

from typing import TYPE_CHECKING

from advisor.model import Absent

if TYPE_CHECKING:
    import argparse

    from advisor.facts import Host


def declared_host(args: argparse.Namespace) -> Host | Absent:
    """The host that the options describe; absent, with the remedy, where they say nothing."""
    if not (args.ram or args.cpus or args.disk or args.host_tar):
        return Absent("the host under the server (--ram, --cpus, --disk, or an audit on it)")
    from advisor.collect.declared import host_from_words

    return host_from_words(ram=args.ram, cpus=args.cpus, disk=args.disk, tar=args.host_tar)
