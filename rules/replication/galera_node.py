"""GAL: rules about how a Galera node applies write sets and caches them for other nodes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from advisor.core.model import Confidence, Severity
from advisor.core.sizes import format_size
from advisor.verdict.number import parse_digits
from rules.core.advice import advise, help_line, present
from rules.core.network import uses_galera
from rules.core.rule import Docs, rule
from rules.core.subject import variable_subject
from rules.replication.galera import MARIADB, OPTIONS, provider_options

if TYPE_CHECKING:
    from collections.abc import Iterator

    from advisor.core.model import Finding
    from rules.core.context import RuleContext

APPLIERS = "wsrep_slave_threads"
NO_KEY = "wsrep_certify_nonpk"
CACHE = "GCACHE.SIZE"
SMALL = 128 << 20  # bytes; the provider's default
UNITS = {"K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}


@rule(
    "GAL011",
    "single-galera-applier",
    severity=Severity.NOTE,
    confidence=Confidence.LIKELY,
    summary="The node applies the other nodes' transactions one by one.",
    targets=MARIADB,
    options=(APPLIERS,),
    evidence=("GAL-07", "GAL-01"),
    docs=Docs(
        why="A node whose queue of received transactions grows pauses the whole cluster (flow control). More appliers "
        "work side by side on transactions that do not depend on each other; wsrep_cert_deps_distance tells how many "
        "those are on average. No published number says which count is best.",
        fix="Raise wsrep_slave_threads, not beyond wsrep_cert_deps_distance of a busy hour.",
        risk="Each applier is a session with its memory. Tables without a primary key are applied in series anyway.",
        exceptions="Nodes whose queue stays empty (wsrep_local_recv_queue_avg), and one applier as a remedy for "
        "appliers that conflict.",
        reconsider_when="wsrep_local_recv_queue_avg near 0 and wsrep_flow_control_paused at 0 over a busy hour.",
    ),
)
def single_galera_applier(context: RuleContext) -> Iterator[Finding]:
    """Report an explicitly configured single applier thread."""
    if uses_galera(context) and context.is_set(APPLIERS) and context.number(APPLIERS) == 1:
        yield single_galera_applier.finding(
            "One thread applies what all other nodes write; where its queue grows, the whole cluster is paused.",
            variable_subject(context, APPLIERS),
            help=f"raise {APPLIERS}, not beyond wsrep_cert_deps_distance of a busy hour",
        )


@rule(
    "GAL012",
    "small-galera-cache",
    severity=Severity.NOTE,
    confidence=Confidence.LIKELY,
    summary="A node that was disconnected for a while needs a full copy of the data (SST).",
    targets=MARIADB,
    options=(OPTIONS,),
    evidence=("GAL-08",),
    docs=Docs(
        why="A node that returns gets the write sets that it lacks from the cache of another (IST). If they are no "
        "longer there, it gets a full copy (SST). The rule reports an explicit gcache.size up to the default of 128M.",
        fix="Size gcache.size by the bytes that are replicated (wsrep_replicated_bytes and wsrep_received_bytes) in "
        "the longest time that a node is away.",
        risk="A file of that size in the data directory of each node.",
        restart=True,
        exceptions="Databases that are copied in minutes, and clusters that write little.",
        reconsider_when="Maintenance after which nodes came back by IST.",
    ),
)
def small_galera_cache(context: RuleContext) -> Iterator[Finding]:
    """Report an explicitly configured gcache.size of the default or less."""
    size = _size_bytes(provider_options(context).get(CACHE, ""))
    if uses_galera(context) and context.is_set(OPTIONS) and size is not None and size <= SMALL:
        yield small_galera_cache.finding(
            f"A node that was away while the others wrote more than {format_size(size)} "
            "(gcache.size) needs a full copy.",
            variable_subject(context, OPTIONS),
            help="size gcache.size by what is replicated while a node is away for maintenance",
        )


def _size_bytes(text: str) -> int | None:
    """Bytes of a size such as 128M; None for other notations."""
    number = parse_digits(text[:-1] if text[-1:] in UNITS else text)
    return None if number is None else number * UNITS.get(text[-1:], 1)


@rule(
    "GAL013",
    "galera-without-certification-keys",
    severity=Severity.NOTE,
    confidence=Confidence.LIKELY,
    summary="Tables without a primary key are not certified.",
    targets=MARIADB,
    options=(NO_KEY,),
    evidence=("GAL-09",),
    docs=Docs(
        why="Certification compares the keys of changed rows, and finds changes of one row on two nodes. For tables "
        "without a primary key MariaDB makes keys; with wsrep_certify_nonPK = OFF it does not. The default is ON. No "
        "provider was available to test the consequences.",
        fix="Remove the line, and give each table a primary key.",
        risk="None known.",
        exceptions="Databases in which each table has a primary key: there the option changes nothing.",
        reconsider_when="No table without a primary key.",
    ),
)
def galera_without_certification_keys(context: RuleContext) -> Iterator[Finding]:
    """Report disabled certification of tables without a primary key."""
    if uses_galera(context) and context.explicit_switch(NO_KEY) is False:
        action = advise(context, NO_KEY, "ON")
        yield galera_without_certification_keys.finding(
            "Changes of tables without a primary key are not certified, so conflicts of two nodes can go unnoticed.",
            variable_subject(context, NO_KEY),
            help=help_line(action),
            actions=present(action),
        )
