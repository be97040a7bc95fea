"""Read directories of samples from pt-stalk, and from pt-mysql-summary and pt-summary with saved samples."""

from __future__ import annotations

import os
import re
from itertools import islice
from typing import TYPE_CHECKING

from advisor.collect.host.formats import key_values
from advisor.collect.host.memory import read_memory
from advisor.collect.host.system import read_system
from advisor.collect.pasted.facts import PastedFacts, TextError
from advisor.collect.pasted.lines import open_text, read_all
from advisor.collect.pasted.replicas import replica_rows
from advisor.collect.pasted.samples import innodb_text
from advisor.collect.pasted.text import read_plain
from advisor.facts.host import Cpu, Host, Mount, SkippedPart, Space

if TYPE_CHECKING:
    from collections.abc import Iterator

    from advisor.collect.host.root import FileId


SOURCE = "not read: only what pt-stalk collected of the host is known"
TABLES = ("variables", "mysqladmin")
INNODB = ("innodbstatus2", "innodbstatus1")  # the later sample first
REPLICA = ("replica-status", "slave-status")  # the name depends on the versions of tool and server
SESSIONS = "processlist"
_PARTS = (*TABLES, *INNODB, *REPLICA, SESSIONS, "meminfo", "sysctl", "procstat", "df")
_STALKED = re.compile(rf"(?P<prefix>.+)-(?P<part>{'|'.join(_PARTS)})")
_SAVED = {
    "mysql-variables": "variables",
    "mysql-status": "mysqladmin",
    "mysql-slave": "slave-status",
    "innodb-status": "innodbstatus1",
    "mysql-processlist": SESSIONS,
}
_DF = re.compile(r"(\S+) +(\d{1,18}) +\d+ +(\d{1,18}) +\d+% +(/.*)")
_CPU = re.compile(r"cpu(\d{1,5}) .*")
MOST_ENTRIES = 100_000


def read_directory(path: str) -> PastedFacts:
    """The newest samples in a directory; raises TextError if there are none."""
    files = _files(path)
    if not files.keys() & {"variables", "mysqladmin"}:
        raise TextError(
            f"{path} holds no samples of pt-stalk (*-variables, *-mysqladmin) nor of pt-mysql-summary "
            "(mysql-variables); give the directory that holds them, and of other texts the files themselves"
        )
    parts = {part: os.path.join(path, name) for part, name in files.items()}
    tables = {part: _tables(path, parts.pop(part)) for part in TABLES if part in parts}
    texts: dict[str, str] = {}
    sessions = _tables(path, parts.pop(SESSIONS)).sessions if SESSIONS in parts else None
    written = [told.at for told in tables.values()]
    for part, place in parts.items():
        with open_text(place) as text:
            written.append(text.at)
            texts[part] = innodb_text(text.lines) if part in INNODB else read_all(text)
    variables, counters = (tables.get(part, PastedFacts(path)) for part in TABLES)
    return PastedFacts(
        path,
        variables.variables[:1],
        counters.samples,
        next((texts[part] for part in INNODB if texts.get(part)), ""),
        _host(texts),
        mounts=tuple(_mounts(texts.get("df", ""))),
        at=max(written),
        counters_lack=counters.counters_lack,
        replicas=replica_rows("".join(texts.get(part, "") for part in REPLICA)),
        sessions=sessions,
    )


def _tables(path: str, place: str) -> PastedFacts:
    with open_text(place) as text:
        return read_plain(path, text.lines, text.at)


def _files(path: str) -> dict[str, str]:
    """The file names by content, for the newest prefix, which is a timestamp."""
    try:
        with os.scandir(path) as entries:
            ours = (entry.name for entry in entries if _STALKED.fullmatch(entry.name) or entry.name in _SAVED)
            names = sorted(islice(ours, MOST_ENTRIES))
    except OSError as error:
        raise TextError(f"{path} can't be read ({error.strerror}); check its owner and mode") from error
    found = [match for match in map(_STALKED.fullmatch, names) if match and match["prefix"] not in ("mysql", "innodb")]
    prefixes = sorted(match["prefix"] for match in found if match["part"] in ("variables", "mysqladmin"))
    if prefixes:
        return {match["part"]: match[0] for match in found if match["prefix"] == prefixes[-1]}
    return {part: name for name, part in _SAVED.items() if name in names}


def _host(told: dict[str, str]) -> Host | None:
    if not told.keys() & {"meminfo", "sysctl", "procstat"}:
        return None
    root = TextRoot(meminfo=told.get("meminfo", ""), stat=told.get("procstat", ""), sysctl=told.get("sysctl", ""))
    return Host(
        cpu=_cpu(told.get("procstat", "")),
        memory=read_memory(root),
        os=read_system(root),
        skipped=(SkippedPart("host", SOURCE),),
    )


def _cpu(stat: str) -> Cpu | None:
    numbers = sorted({int(match[1]) for match in map(_CPU.fullmatch, stat.split("\n")) if match})
    if not numbers:
        return None
    return Cpu(logical=len(numbers), online=tuple(numbers), kinds=(), cores=len(numbers), sockets=0)


def _mounts(text: str) -> Iterator[tuple[Mount, Space]]:
    """Each file system in df -k with its last values, in bytes."""
    last = {match[4]: match for match in map(_DF.fullmatch, text.split("\n")) if match}
    for point, match in last.items():
        yield Mount(point, "", match[1]), Space(int(match[2]) << 10, int(match[3]) << 10)


_SETTINGS = "/proc/sys/"


class TextRoot:
    """Copies of /proc/meminfo and /proc/stat, and /proc/sys from the output of `sysctl -a`."""

    def __init__(self, *, meminfo: str, stat: str, sysctl: str) -> None:
        self.files = {"/proc/meminfo": meminfo, "/proc/stat": stat}
        self.settings = key_values(sysctl, "=")

    def read(self, path: str, limit: int = 0) -> str | None:  # noqa: ARG002 - see Root
        """See Root."""
        if path.startswith(_SETTINGS):
            return self.settings.get(path.removeprefix(_SETTINGS).replace("/", "."))
        return self.files.get(path)

    def names(self, path: str) -> tuple[str, ...]:  # noqa: ARG002
        """See Root."""
        return ()

    def link(self, path: str) -> str | None:  # noqa: ARG002
        """See Root."""
        return None

    def real(self, path: str) -> str | None:  # noqa: ARG002
        """See Root."""
        return None

    def identify(self, path: str) -> FileId | None:  # noqa: ARG002
        """See Root."""
        return None

    def machine(self) -> str | None:
        """See Root."""
        return None

    def space(self, path: str) -> Space | None:  # noqa: ARG002
        """See Root."""
        return None
