"""How far a published measurement's server and machine are from this server and machine, in words."""

from __future__ import annotations

import re

from advisor.core import NamedTuple
from advisor.core.model import format_size
from advisor.report import plural

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Any

    from advisor.core.model import Target
    from rules.core.areas import Evidence


MEASURED = "measured"
OLD = 5  # years, from which on a measurement is called older
FAR = 4  # times the processors or the memory
VIRTUAL = "a virtual disk"

# What each kind of disk is called in the hardware of a source.
DISKS = {
    "NVMe": r"NVMe|PM1725|9[68]0 Pro",
    "SSD": r"\bSSD|Fusion-?IO|SM863|850 PRO",
    "rotating disks": r"spinning|SAS disk|\bdisks? RAID|drives RAID|-disk RAID",
}
CPUS = r"(\d+)[- ](?:cores?|(?:virtual |logical |Xeon )?CPUs|processors)\b|\((\d+) threads\)"
MEMORY = (r"([\d.]+) ?Gi?B (?:of )?(?:RAM|DDR\d|memory)", r"(?<![~\d.])([\d.]+) ?Gi?B(?! (?:buffer|pool|data|table))")

# A server's name stands before its versions; these others have versions that aren't a server's.
SERVER = r"(MySQL|MariaDB|Percona|XtraDB)|(sysbench|HammerDB|Linux|fio|tpcc)|(?<![\d.])(\d+\.\d+)(?:\.\d+(?:-[\d.]+)?)?"


class Here(NamedTuple):
    """This server and machine; None and an empty list mean unknown. `memory` is bytes."""

    server: Target
    assumed: bool
    year: int
    cpus: int | None
    memory: int | None
    disks: tuple[str, ...]

    def words(self) -> str:
        """In one line: MySQL 9.7.4 (assumed; --target names another), 2 processors, 24G of memory, a virtual disk."""
        return ", ".join(
            (
                self.server.label + (" (assumed; --target names another)" if self.assumed else ""),
                "processors unknown" if self.cpus is None else plural(self.cpus, "processor"),
                "memory unknown" if self.memory is None else f"{format_size(self.memory)} of memory",
                " and ".join(self.disks) or "disks unknown",
            )
        )

    def fields(self, evidence: Sequence[Evidence]) -> dict[str, Any]:
        """For programs: what is here, and of each measured source what is far, what is not said, and the words."""
        sources = [
            {
                "id": e.id,
                "far": list(differences_from(e, self)),
                "unstated": list(unstated_conditions(e)),
                "words": sentence(e, self),
            }
            for e in measured_sources(evidence)
        ]
        found = {"server": str(self.server), "assumed": self.assumed, "cpus": self.cpus, "memory": self.memory}
        return {**found, "disks": list(self.disks), "sources": sources}


def measured_sources(evidence: Sequence[Evidence]) -> list[Evidence]:
    """The sources whose numbers hang on a machine."""
    return [e for e in evidence if e.strength == MEASURED]


def sentence(e: Evidence, here: Here) -> str:
    """How near one source is, and what to expect of its numbers here."""
    differs, unsaid = list(differences_from(e, here)), list(unstated_conditions(e))
    missing = f" It does not state {_list_words(unsaid)}." if unsaid else ""
    if differs:
        hope = "the same ranking, not the same factors" if e.table else "the direction, not the size"
        return f"{e.id}: {', '.join(differs)}: expect {hope}.{missing}"
    if unsaid:
        return f"{e.id}: its stated conditions are close to this server's.{missing}"
    return f"{e.id}: similar to this server: expect numbers of about this size."


def differences_from(e: Evidence, here: Here) -> Iterator[str]:
    """In what the source is far from here."""
    year = re.search(r"\b(?:19|20)\d\d\b", f"{e.date} {e.versions}")
    if year and here.year - int(year[0]) >= OLD:
        yield f"{here.year - int(year[0])} years older"
    yield from _other_server(servers(e.versions), here.server)
    cpus, memory, disks = machine(e.hardware)
    if cpus and here.cpus and _is_far(cpus, here.cpus):
        yield plural(cpus, "processor")
    if memory and here.memory and _is_far(memory, here.memory):
        yield f"{format_size(memory)} of memory"
    if disks and here.disks and not set(disks) & set(here.disks):
        yield " and ".join(disks)


def unstated_conditions(e: Evidence) -> Iterator[str]:
    """What the source leaves out of its machine, and of its server."""
    if not servers(e.versions):
        yield "server"
    for name, known in zip(("processors", "memory", "disks"), machine(e.hardware), strict=True):
        if not known:
            yield name


def machine(hardware: str) -> tuple[int | None, int | None, tuple[str, ...]]:
    """Processors, bytes of memory and kinds of disks of a source's hardware, as far as its words say them."""
    cpus = re.search(CPUS, hardware)
    memory = next(filter(None, (re.search(pattern, hardware) for pattern in MEMORY)), None)
    disks = tuple(kind for kind, pattern in DISKS.items() if re.search(pattern, hardware))
    return (
        int(cpus[1] or cpus[2]) if cpus else None,
        round(float(memory[1]) * (1 << 30)) if memory else None,
        disks,
    )


def servers(versions: str) -> list[tuple[str, str]]:
    """The flavours and series that a source was measured on: ("mysql", "5.1"); the series is empty where not said."""
    flavour_series: list[tuple[str, str]] = []
    flavour = ""
    for server, other, series in re.findall(SERVER, versions):
        if server:
            flavour = "mariadb" if server == "MariaDB" else "mysql"
            flavour_series.append((flavour, ""))
        elif other:
            flavour = ""
        elif flavour:
            flavour_series = [pair for pair in flavour_series if pair != (flavour, "")] + [(flavour, series)]
    return list(dict.fromkeys(flavour_series))


def _other_server(servers: list[tuple[str, str]], here: Target) -> Iterator[str]:
    names = {"mysql": "MySQL", "mariadb": "MariaDB"}
    alike = [series for flavour, series in servers if flavour == here.flavour]
    if servers and ".".join(map(str, here.version[:2])) not in alike:
        yield "on " + ", ".join(f"{names[flavour]} {series}".strip() for flavour, series in servers)


def _list_words(words: list[str]) -> str:
    return " or ".join([", ".join(words[:-1]), words[-1]] if words[1:] else words)


def _is_far(one: float, other: float) -> bool:
    return max(one, other) >= FAR * min(one, other)
