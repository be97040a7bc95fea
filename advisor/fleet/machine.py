"""Host facts of a server from the tar that the host's shell created, if it is proved to be the server's host."""

from __future__ import annotations

import base64
import binascii
import os
import re
import tempfile
from typing import TYPE_CHECKING, Any, NamedTuple

from msgspec.structs import replace

from advisor.collect.collect import configured_directories
from advisor.collect.host import open_root, read_host, server_pids
from advisor.collect.host.host import host_from_options
from advisor.core.errors import MycnfError
from advisor.facts import Unavailable
from advisor.redaction import escape_text

if TYPE_CHECKING:
    from collections.abc import Mapping

    from advisor.collect.host import Root
    from advisor.facts import Facts, Host, Server


INSTEAD = "set mycnf_ram, mycnf_cpus and mycnf_disk"
DESCRIBED = frozenset({"mycnf_ram", "mycnf_cpus", "mycnf_disk"})
# The end of a collector's reason that names command-line options for a single server.
_OF_ONE = "give --ram, --cpus and --disk, or a tar of its host"


class MachineFacts(NamedTuple):
    """The facts with their host, and the reason if there is none (otherwise empty)."""

    facts: Facts
    reason: str


def with_host(
    facts: Facts, answer: Mapping[str, Any], variables: Mapping[str, str], scratch: str | None = None
) -> MachineFacts:
    """The facts with the host from the shell's tar, or as the variables describe it.

    The tar is written to the directory `scratch`, by default the system's. A host that the collector has already
    proved to be the server's is kept.
    """
    if facts.host is not None:
        return MachineFacts(facts, "")
    facts = replace(facts, unavailable=tuple(_in_variables(part) for part in facts.unavailable))
    if not answer and not DESCRIBED & variables.keys():
        return MachineFacts(facts, facts.reason_missing("host"))
    try:
        host = _described_host(variables) or _from_tar(facts.server, answer, scratch)
    except (ValueError, MycnfError) as error:
        reason = escape_text(" ".join(str(error).split()))
        return MachineFacts(_without_host(facts, f"{reason}: {INSTEAD}"), reason)
    return MachineFacts(_with_host(facts, host), "")


def _in_variables(part: Unavailable) -> Unavailable:
    return Unavailable(part.part, part.reason.replace(_OF_ONE, INSTEAD))


def _described_host(variables: Mapping[str, str]) -> Host | None:
    ram, cpus, disk = (variables.get(f"mycnf_{name}") for name in ("ram", "cpus", "disk"))
    if ram is cpus is disk is None:
        return None
    if disk not in (None, "hdd", "ssd", "nvme"):
        raise MycnfError(f"mycnf_disk: {disk[:20]!r} is unknown; use hdd, ssd or nvme")
    if cpus is not None and not (cpus.isascii() and cpus.isdigit()):
        raise MycnfError(f"mycnf_cpus: {cpus[:20]!r} is not a number of processors")
    try:
        return host_from_options(ram=ram, cpus=None if cpus is None else int(cpus), disk=disk, tar=None)
    except MycnfError as error:
        raise MycnfError(str(error).replace("--", "mycnf_")) from error


def _from_tar(server: Server, answer: Mapping[str, Any], scratch: str | None) -> Host:
    """The host in the shell's output; raises ValueError or ArchiveError with the reason if it is not available."""
    if "printed" not in answer:
        raise ValueError(str(answer.get("reason") or "the host's shell was not used"))
    with tempfile.TemporaryDirectory(prefix="mycnf-fleet-", dir=scratch) as place:
        path = os.path.join(place, "host.tar")
        with open(path, "wb") as file:
            file.write(unpack_tar(str(answer["printed"])))
        try:
            root = open_root(path)
        except MycnfError as error:
            raise ValueError(str(error).replace(f"{path}: ", "the tar ")) from error
        return read_host(
            root, _process_of(root, server), server.variables.get("datadir") or None, configured_directories(server)
        )


def _process_of(root: Root, server: Server) -> int:
    """The server's process in the tar; raises ValueError if the tar is from another machine.

    A name in the inventory proves nothing: an address may lead to a proxy, a container or a managed service. The tar
    must be from the host whose name the server reports, and contain a server that works in its data directory.
    """
    own = server.variables.get("hostname", "").split(".")[0]
    there = (root.read("/proc/sys/kernel/hostname") or "").strip().split(".")[0]
    if own and there and own != there:
        raise ValueError(f"the server calls itself {own}, the host that the shell runs on {there}")
    datadir = server.variables.get("datadir", "").rstrip("/")
    running = {pid: root.link(f"/proc/{pid}/cwd") for pid in server_pids(root)}
    pids = [pid for pid, directory in running.items() if (directory or "").rstrip("/") == datadir]
    if not pids and None not in running.values():
        raise ValueError(f"no server process on the host works in {datadir or 'the data directory'}")
    # One whose directory cannot be read may be this one, or one that is just ending beside others.
    if len(pids or running) > 1:
        raise ValueError(
            "several servers run on the host, and the account cannot see which is this one (root can: use become)"
        )
    return (pids or list(running))[0]


def _with_host(facts: Facts, host: Host) -> Facts:
    left = tuple(u for u in facts.unavailable if u.part.partition(".")[0] != "host")
    parts = tuple(Unavailable(f"host.{part.part}", part.reason) for part in host.skipped)
    return replace(facts, host=host, unavailable=left + parts)


def _without_host(facts: Facts, reason: str) -> Facts:
    left = tuple(u for u in facts.unavailable if u.part != "host")
    return replace(facts, host=None, unavailable=(*left, Unavailable("host", reason)))


BEGIN, END = "MYCNF-TAR-BEGIN", "MYCNF-TAR-END"
_BEGUN = re.compile(rf"{BEGIN}-(base64|hex)\s")
# Connection plugins may run the command in a terminal, which mixes in stderr, changes line ends and cannot transfer
# binary data. base64 is available except on the smallest systems, od is part of POSIX.
_WRAPPED = """host_tar() (
{script}
)
smaller() {{ if command -v gzip >/dev/null 2>&1; then gzip -c; else cat; fi; }}
if command -v base64 >/dev/null 2>&1; then
  echo {begin}-base64; host_tar 2>/dev/null | smaller | base64; echo {end}
elif command -v openssl >/dev/null 2>&1; then
  echo {begin}-base64; host_tar 2>/dev/null | smaller | openssl base64; echo {end}
else
  echo {begin}-hex; host_tar 2>/dev/null | smaller | od -An -v -tx1; echo {end}
fi
"""


def command() -> str:
    """The script for a POSIX shell on the host."""
    from advisor.collect.host.tar_script import host_tar_script

    return _WRAPPED.format(script=host_tar_script(), begin=BEGIN, end=END)


def unpack_tar(printed: str) -> bytes:
    """The tar in the shell's output, gzipped if the host has gzip; raises ValueError with one line if there is none.

    Time and memory depend only on the length of the output.
    """
    begun = None
    for begun in _BEGUN.finditer(printed):  # noqa: B007 - the last one counts
        pass
    text, end, _ = printed[begun.end() :].partition(END) if begun else ("", "", "")
    if begun is None or not end:
        raise ValueError("the host's shell did not run the script to the end")
    try:
        written = text.encode("ascii").translate(None, b" \t\r\n")
        data = base64.b64decode(written, validate=True) if begun[1] == "base64" else binascii.unhexlify(written)
    except (ValueError, binascii.Error) as error:
        raise ValueError("the output of the host's shell is damaged") from error
    if not data:
        raise ValueError("the host's shell created no tar: is tar installed there?")
    return data
