"""The directory of a run: the hosts, and a row and a snapshot for each, accessible only to the owner.

`hosts.list` has the hosts from the inventory of this run, `rows/NAME.row` the result for each, and
`snapshots/NAME.json` the facts about its server, as `mycnf collect` writes them.

The process of a host only writes its row. Rows that are read are checked by pydantic, which is imported only then: it
takes as much processor time to import as the process of a host needs to start.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import json
import os
import re
import shutil
import time
from contextlib import suppress
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from itertools import count
from typing import TYPE_CHECKING
from urllib.parse import quote

from advisor.core.errors import MycnfError, print_notice
from advisor.facts.snapshot import to_plain
from advisor.fleet.process_group import ENDING
from advisor.redaction import escape_text
from advisor.state.directory import make_private_folders, make_state_folder
from advisor.state.private_file import replace_private

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from collections.abc import Set as AbstractSet

    from pydantic import TypeAdapter


FOLDER = "fleet"
HOSTS, ROWS, SNAPSHOTS = "hosts.list", "rows", "snapshots"
EARLIER = "hosts.before"  # the list of the previous part, until --resume has its own

# Only snapshots have the extension .json, so that `mycnf report` accepts the directory.
ROW, SNAPSHOT = ".row", ".json"
PRIVATE = 0o700
LONGEST = 150  # characters of a file name without the extension
LARGEST = 64 << 20  # maximum bytes of a list of hosts; a hundred thousand hosts take four million
SCHEMA = "1.0"
UNREAD = "its machine was not read in time"  # until the machine has been read


def default_directory(now: str) -> str:
    """Create a directory for a run without an explicit one, below $XDG_STATE_HOME or ~/.local/state.

    Runs that start in the same second get separate directories. Raises MycnfError if it cannot be created.
    """
    first = os.path.join(make_state_folder(FOLDER), now.replace(":", ""))
    for number in count(1):
        place = first if number == 1 else f"{first}-{number}"
        try:
            os.mkdir(place, PRIVATE)
            os.chmod(place, PRIVATE)  # the umask may have restricted the mode
        except FileExistsError:
            continue
        except OSError as error:
            raise MycnfError(f"{place} cannot be created ({error.strerror}); name a directory with --dir") from error
        break
    return place


def file_name(host: str) -> str:
    """The file name for a host, without extension; unique for each host name, for any characters."""
    plain_name = quote(host, safe="@+,=", errors="surrogatepass")
    if plain_name.startswith("."):
        plain_name = f"%2E{plain_name[1:]}"
    if len(plain_name) > LONGEST:
        digest = hashlib.sha256(host.encode("utf-8", "surrogatepass")).hexdigest()[:16]
        plain_name = f"{plain_name[:LONGEST]}~{digest}"
    return plain_name


def snapshot_name(host: str) -> str:
    """The name of a host's snapshot, relative to the run directory."""
    return os.path.join(SNAPSHOTS, file_name(host) + SNAPSHOT)


def prepare_directory(folder: str, *, resume: bool) -> None:
    """Create the directory, or check the existing one for --resume; raises MycnfError if it is not suitable."""
    there = holds_run(folder)
    if resume and not there:
        raise MycnfError(f"{folder} contains no run to resume; omit --resume, or name the directory of a run")
    if there and not resume:
        raise MycnfError(f"{folder} already contains a run; continue it with --resume, or name another directory")
    try:
        if not os.path.isdir(folder):  # an existing directory keeps its mode
            make_private_folders(*os.path.split(os.path.abspath(folder)))
        make_private_folders(folder, ROWS)
        make_private_folders(folder, SNAPSHOTS)
    except OSError as error:
        raise MycnfError(f"{folder} can't be used ({error.strerror}); name another directory with --dir") from error


def holds_run(folder: str) -> bool:
    """Whether the directory contains a run with a list of hosts, which can be resumed."""
    lists = any(os.path.exists(os.path.join(folder, name)) for name in (HOSTS, EARLIER))
    return lists or _holds(os.path.join(folder, ROWS))


def _holds(folder: str) -> bool:
    try:
        return bool(os.listdir(folder))
    except OSError:
        return False


def delete_failed_rows(folder: str) -> None:
    """Delete the rows of unfinished hosts, and rename the list of hosts, because the inventory may differ.

    Raises OSError.
    """
    with suppress(FileNotFoundError):
        os.replace(os.path.join(folder, HOSTS), os.path.join(folder, EARLIER))
    for file in os.listdir(os.path.join(folder, ROWS)):
        path = os.path.join(folder, ROWS, file)
        row = _row_at(path)
        if row is None or not is_finished(folder, row.name):
            os.unlink(path)


def delete_begun_rows(folder: str) -> None:
    """Delete the rows of hosts that were interrupted without a result."""
    for file in new_rows(folder, frozenset()):
        row = row_in(folder, file)
        if row is not None and row.host == UNREAD and not row.snapshot:
            os.unlink(os.path.join(folder, ROWS, file))


def finished_hosts(folder: str) -> list[str]:
    """The hosts that need not be read again."""
    rows = (row_in(folder, file) for file in new_rows(folder, frozenset()))
    return [row.name for row in rows if row is not None and is_finished(folder, row.name)]


def remove_if_empty(folder: str) -> None:
    """Remove the directory of a run that read no host; a directory with any content is kept."""
    with suppress(OSError):
        for place in (os.path.join(folder, ROWS), os.path.join(folder, SNAPSHOTS), folder):
            os.rmdir(place)


def write_row(folder: str, row: HostRow) -> None:
    """Write the row of one host; raises OSError."""
    data = json.dumps(to_plain(row), ensure_ascii=True).encode("ascii")
    replace_private(os.path.join(folder, ROWS, file_name(row.name) + ROW), data + b"\n")


def read_row(folder: str, host: str) -> HostRow | None:
    """The row of a host; None without one, or if the file is damaged, so that the host is read again."""
    return _row_at(os.path.join(folder, ROWS, file_name(host) + ROW))


def new_rows(folder: str, seen: AbstractSet[str]) -> set[str]:
    """The names of row files that are not in `seen`."""
    return {file for file in os.listdir(os.path.join(folder, ROWS)) if file.endswith(ROW)} - seen


def row_in(folder: str, file: str) -> HostRow | None:
    """The row in that file; None if it is damaged."""
    return _row_at(os.path.join(folder, ROWS, file))


def hosts_of(folder: str) -> tuple[str, ...]:
    """The hosts of the run; empty until ansible has loaded the inventory."""
    return _host_names(os.path.join(folder, HOSTS))


def _host_names(path: str) -> tuple[str, ...]:
    try:
        return _names_adapter().validate_python(_read(path))
    except (OSError, ValueError, RecursionError):  # ValidationError is a ValueError
        return ()


def last_hosts_of(folder: str) -> tuple[str, ...]:
    """The hosts of the run, or of the previous part if the last one ended before it had any."""
    return hosts_of(folder) or _host_names(os.path.join(folder, EARLIER))


def rows_of(folder: str, hosts: Iterable[str] | None = None) -> tuple[HostRow, ...]:
    """A row for each host in inventory order; `unasked` for hosts without a result."""
    names = last_hosts_of(folder) if hosts is None else hosts
    return tuple(read_row(folder, name) or HostRow(name=name) for name in names)


def is_finished(folder: str, host: str) -> bool:
    """Whether a host need not be read again; a host interrupted while its machine was read does."""
    row = read_row(folder, host)
    return (
        row is not None
        and row.status is Status.AUDITED
        and row.host != UNREAD
        and row.schema.partition(".")[0] == SCHEMA.partition(".")[0]
        and os.path.isfile(os.path.join(folder, row.snapshot))
    )


def check_run(folder: str) -> None:
    """Raise MycnfError if the directory contains no run to report on."""
    if not last_hosts_of(folder):
        raise MycnfError(f"{escape_text(folder)} contains no run of mycnf fleet; name the directory of a run")


def _row_at(path: str) -> HostRow | None:
    try:
        return _row_adapter().validate_python(_read(path))
    except (OSError, ValueError, RecursionError):  # ValidationError is a ValueError
        return None


@cache
def _row_adapter() -> TypeAdapter[HostRow]:
    from pydantic import TypeAdapter  # not for the processes of hosts, which only write

    return TypeAdapter(HostRow)


@cache
def _names_adapter() -> TypeAdapter[tuple[str, ...]]:
    from pydantic import TypeAdapter

    return TypeAdapter(tuple[str, ...])


def _read(path: str) -> object:
    with open(path, "rb") as file:
        return json.loads(file.read(LARGEST))


SCRATCH = "scratch"
PATIENCE = ENDING + 5  # seconds; by then a killed run has released its lock
LOOK = 0.2  # seconds between two attempts
_PART = re.compile(r".+\.(?:row|json|list)\.[0-9a-f]{8}\.part")  # partial files of replace_private


@contextlib.contextmanager
def lock_run(folder: str) -> Iterator[int | None]:
    """Lock the directory for this run; yields the locked handle, or None if locking is not supported.

    Processes that inherit the handle also hold the lock. After a killed run, this waits until all its processes have
    ended; raises MycnfError if another run is active.
    """
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        yield handle if _lock(handle, folder) else None
    finally:
        os.close(handle)


def _lock(handle: int, folder: str) -> bool:
    until, noticed = time.monotonic() + PATIENCE, False
    while True:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if not noticed:
                print_notice(f"waiting for the run in {folder} that has not ended yet")
                noticed = True
        except OSError:
            return False  # some network file systems cannot lock directories
        else:
            return True
        if time.monotonic() > until:
            raise MycnfError(
                f"another mycnf fleet is running in {folder}; wait until it ends, or name another directory"
            )
        time.sleep(LOOK)


def scratch_directory(folder: str) -> str:
    """The directory for temporary files of the run."""
    return os.path.join(folder, SCRATCH)


def make_scratch_directory(place: str) -> None:
    """Create the temporary directory; raises OSError."""
    os.mkdir(place, 0o700)
    os.chmod(place, 0o700)  # the umask may have restricted the mode


def remove_scratch_files(folder: str) -> None:
    """Remove the temporary files of a run, and partial files that killed processes left."""
    shutil.rmtree(os.path.join(folder, SCRATCH), ignore_errors=True)
    for place in (folder, os.path.join(folder, ROWS), os.path.join(folder, SNAPSHOTS)):
        with contextlib.suppress(OSError):
            for file in filter(_PART.fullmatch, os.listdir(place)):
                os.unlink(os.path.join(place, file))
    if os.path.exists(os.path.join(folder, HOSTS)):
        with contextlib.suppress(OSError):
            os.unlink(os.path.join(folder, EARLIER))


class Status(StrEnum):
    """The outcome, best first; `audited` and `lost` have a snapshot."""

    AUDITED = "audited"
    LOST = "lost"  # the connection was lost; what was read until then is saved
    REFUSED = "refused"  # connection refused
    DENIED = "denied"  # the server denied access to the account
    SILENT = "silent"  # no answer in time
    FAILED = "failed"  # anything else: invalid variables, unresolvable names, TLS, …
    UNASKED = "unasked"  # the run ended before this host


# The remedy for each status; messages for a single server name options that are variables in a fleet.
REMEDIES: Mapping[Status, str] = {
    Status.LOST: "continue with --resume once the server stays up",
    Status.REFUSED: "is the server running, and does it listen there? See mycnf_host and mycnf_port",
    Status.DENIED: "check mycnf_user and mycnf_password; mycnf grants prints the account to create",
    Status.SILENT: "check the address, firewalls and the server's load, or allow more time with --timeout",
    Status.FAILED: "see its address and variables in the inventory",
    Status.UNASKED: "continue with --resume",
}


@dataclass(frozen=True, kw_only=True)
class HostRow:
    """One host: its inventory groups, how it ended and why, where its server was looked for, and what was kept.

    `snapshot` is the file name relative to the run directory, empty without one. `host` is the reason why the machine
    under the server was not read, empty if it was. `seconds` is the total time.
    """

    name: str
    groups: tuple[str, ...] = ()
    status: Status = Status.UNASKED
    reason: str = ""
    place: str = ""
    snapshot: str = ""
    host: str = ""
    seconds: float = 0.0
    schema: str = SCHEMA

    @property
    def has_facts(self) -> bool:
        """Whether there are facts about its server, even incomplete ones."""
        return bool(self.snapshot)

    @property
    def remedy(self) -> str:
        """What to do; empty if nothing."""
        return REMEDIES.get(self.status, "")
