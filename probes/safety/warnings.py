"""What makes short measurements on a host doubtful, said before they begin."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from advisor.facts.host import Host

# As the firmware names the machine: families of instances whose processors are paid by credits.
BURSTING = ("t2.", "t3.", "t3a.", "t4g.", "Standard_B", "e2-micro", "e2-small", "e2-medium", "f1-micro", "g1-small")


def cautions(host: Host) -> Iterator[str]:
    """Sentences on what may flatter or spoil a short run on this host."""
    system = host.os
    if system and system.cloud:
        yield (
            f"This is a machine of {system.cloud}: its disks may run on burst credits, so a short run can be faster "
            "than the disk stays. Repeat with a longer --time before you rely on it."
        )
    if system and system.product and system.product.startswith(BURSTING):
        yield f"{system.product} pays for its processors with credits: once they are spent, all of this is slower."
    if system and system.containers:
        yield "This is a container: its neighbours on the same host can't be seen from here, and may share the disk."
    kinds = host.cpu.kinds if host.cpu else ()
    if len(kinds) > 1:
        yield "This machine has different kinds of cores: which one a measurement ran on is not controlled."
