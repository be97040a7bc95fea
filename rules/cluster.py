"""Whether a MariaDB server is to be a node of a Galera cluster."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rules.known import Known

ON, PROVIDER = "wsrep_on", "wsrep_provider"


def has_provider(known: Known) -> bool:
    """Whether somebody names the library that does the work, be it by a template."""
    named = known.chosen(PROVIDER) or PROVIDER in known.file_verdict.effective
    return named and known.text(PROVIDER) not in {"", "NONE"}


def in_use(known: Known) -> bool:
    """Whether the server is to be a node: replication switched on, or a provider named."""
    return known.text(ON) == "ON" or has_provider(known)
