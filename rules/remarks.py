"""What a measurement of this host says beside a finding, where there are no two values to lay side by side."""

from __future__ import annotations

from typing import TYPE_CHECKING

from advisor.model import Confidence, Local
from advisor.sizes import waited

if TYPE_CHECKING:
    from advisor.model import Finding
    from rules.known import Known
    from rules.local import LocalAnswer

TOLD = "told"


def fact(known: Known, probe: str, name: str) -> tuple[float, LocalAnswer] | None:
    """A number that the newest run of an experiment found beside its samples, and that run."""
    for answer in known.probes:
        told = answer.facts.get(name) if answer.probe == probe else None
        if isinstance(told, float) and told > 0:
            return told, answer
    return None


def most_writes(known: Known) -> tuple[float, LocalAnswer] | None:
    """Pages a second that the disks under the data were seen to take: a bound, and no reason to ask for as many."""
    return fact(known, "random-write", "most_writes")


def _of_capacity(known: Known, finding: Finding) -> Finding | None:
    found, value = most_writes(known), known.number("innodb_io_capacity")
    if found is None or value is None:
        return None
    most, answer = found
    words = f"Here, probe of {answer.day}: the disk takes {most:,.0f} random page writes a second at most"
    if value > most:
        return finding._replace(
            confidence=Confidence.MEASURED, local=Local(answer.probe, answer.began_at, "worse", f"{words}.")
        )
    words += ", a bound and no reason to ask for as many."
    return finding._replace(local=Local(answer.probe, answer.began_at, TOLD, words))


def _of_syncs(known: Known, finding: Finding) -> Finding | None:
    found = fact(known, "commit-latency", "quickest_latency")
    if found is None:
        return None
    latency, answer = found
    way = answer.facts.get("quickest", "")
    words = f"Here, probe of {answer.day}: a synced write takes {waited(latency)} ({way})."
    return finding._replace(local=Local(answer.probe, answer.began_at, TOLD, words))


def _of_seeks(known: Known, finding: Finding) -> Finding | None:
    from rules.storage import one_read

    found = one_read(known)
    if found is None:
        return None
    latency, answer = found
    words = f"Here, probe of {answer.day}: a random read takes {waited(latency)}, so nothing turns."
    return finding._replace(local=Local(answer.probe, answer.began_at, TOLD, words))


REMARKS = {
    "oversized-io-capacity": _of_capacity,
    "lost-commits": _of_syncs,
    "unsynced-binary-log": _of_syncs,
    "file-system-without-barriers": _of_syncs,
    "flush-neighbors-on-ssd": _of_seeks,
}
