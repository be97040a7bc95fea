"""A run's directory: who was to be asked, a row and a snapshot for each host as they come, all its owner's alone.

`hosts.list` names the hosts that the inventory gave for this run, `rows/NAME.row` says what came of each, and
`snapshots/NAME.json` are the facts of its server, as `mycnf collect` writes them.
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
from functools import cache
from itertools import count
from typing import TYPE_CHECKING
from urllib.parse import quote

from advisor.core.console import print_notice
from advisor.core.errors import MycnfError
from advisor.facts.codec import to_plain
from advisor.fleet.process_group import ENDING
from advisor.fleet.row import SCHEMA, UNREAD, HostRow, Status
from advisor.redaction.secrets import escape_text
from advisor.state.directory import make_private_folders, make_state_folder
from advisor.state.private_file import replace_private

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from collections.abc import Set as AbstractSet

    from pydantic import TypeAdapter


FOLDER = "fleet"
HOSTS, ROWS, SNAPSHOTS = "hosts.list", "rows", "snapshots"
EARLIER = "hosts.before"  # the list of the part before, until --resume has one of its own
# Only snapshots end as such do, so that `mycnf report` takes the directory as it is.
ROW, SNAPSHOT = ".row", ".json"
PRIVATE = 0o700
LONGEST = 150  # characters of a file's name before the ending
LARGEST = 64 << 20  # bytes of a list of hosts: a hundred thousand take four


def default_directory(now: str) -> str:
    """A new directory for a run that nobody named one for, below $XDG_STATE_HOME, or ~/.local/state without it.

    Two runs that begin in the same second have one each. Raises MycnfError where it can't be made.
    """
    first = os.path.join(make_state_folder(FOLDER), now.replace(":", ""))
    for number in count(1):
        place = first if number == 1 else f"{first}-{number}"
        try:
            os.mkdir(place, PRIVATE)
            os.chmod(place, PRIVATE)  # of which the umask may have taken a part
        except FileExistsError:
            continue
        except OSError as error:
            raise MycnfError(f"{place} can't be made ({error.strerror}); name a directory with --dir") from error
        break
    return place


def file_name(host: str) -> str:
    """A file's name, without its ending, for a host: another for another, whatever characters the inventory gives."""
    plain_name = quote(host, safe="@+,=", errors="surrogatepass")
    if plain_name.startswith("."):
        plain_name = f"%2E{plain_name[1:]}"
    if len(plain_name) > LONGEST:
        told = hashlib.sha256(host.encode("utf-8", "surrogatepass")).hexdigest()[:16]
        plain_name = f"{plain_name[:LONGEST]}~{told}"
    return plain_name


def snapshot_name(host: str) -> str:
    """The name of a host's snapshot below the run directory."""
    return os.path.join(SNAPSHOTS, file_name(host) + SNAPSHOT)


def prepare_directory(folder: str, *, resume: bool) -> None:
    """Make the directory, or take one that holds a run to go on with. Raises MycnfError where it can't be had so."""
    there = holds_run(folder)
    if resume and not there:
        raise MycnfError(f"{folder} holds no run to go on with; leave --resume out, or name the directory of one")
    if there and not resume:
        raise MycnfError(f"{folder} holds a run already; go on with it by --resume, or name another directory")
    try:
        if not os.path.isdir(folder):  # one that its owner made stays as open as that wanted it
            make_private_folders(*os.path.split(os.path.abspath(folder)))
        make_private_folders(folder, ROWS)
        make_private_folders(folder, SNAPSHOTS)
    except OSError as error:
        raise MycnfError(f"{folder} can't be used ({error.strerror}); name another directory with --dir") from error


def holds_run(folder: str) -> bool:
    """Whether a run has named its hosts there, so that one can go on with it."""
    lists = any(os.path.exists(os.path.join(folder, name)) for name in (HOSTS, EARLIER))
    return lists or _holds(os.path.join(folder, ROWS))


def _holds(folder: str) -> bool:
    try:
        return bool(os.listdir(folder))
    except OSError:
        return False


def delete_failed_rows(folder: str) -> None:
    """Take away what an earlier part of the run did not get done, and the list of hosts: the inventory may differ.

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
    """Take away the rows of hosts whose asking was ended before anything came of it."""
    for file in new_rows(folder, frozenset()):
        row = row_in(folder, file)
        if row is not None and row.host == UNREAD and not row.snapshot:
            os.unlink(os.path.join(folder, ROWS, file))


def finished_hosts(folder: str) -> list[str]:
    """The hosts that need no asking again."""
    rows = (row_in(folder, file) for file in new_rows(folder, frozenset()))
    return [row.name for row in rows if row is not None and is_finished(folder, row.name)]


def remove_if_empty(folder: str) -> None:
    """Take away the directory of a run that asked nobody; one that holds anything stays."""
    with suppress(OSError):
        for place in (os.path.join(folder, ROWS), os.path.join(folder, SNAPSHOTS), folder):
            os.rmdir(place)


def write_row(folder: str, row: HostRow) -> None:
    """Write what came of one host. Raises OSError."""
    data = json.dumps(to_plain(row), ensure_ascii=True).encode("ascii")
    replace_private(os.path.join(folder, ROWS, file_name(row.name) + ROW), data + b"\n")


def read_row(folder: str, host: str) -> HostRow | None:
    """What came of a host so far; None where nothing has, or the file is damaged, so that it is asked again."""
    return _row_at(os.path.join(folder, ROWS, file_name(host) + ROW))


def new_rows(folder: str, seen: AbstractSet[str]) -> set[str]:
    """The names of the files of rows that are not among those."""
    return {file for file in os.listdir(os.path.join(folder, ROWS)) if file.endswith(ROW)} - seen


def row_in(folder: str, file: str) -> HostRow | None:
    """The row in a file of that name; None for one that is damaged."""
    return _row_at(os.path.join(folder, ROWS, file))


def hosts_of(folder: str) -> tuple[str, ...]:
    """The hosts that the run is about; none where ansible hasn't got as far as to name them."""
    return _host_names(os.path.join(folder, HOSTS))


def _host_names(path: str) -> tuple[str, ...]:
    try:
        return _names_adapter().validate_python(_read(path))
    except (OSError, ValueError, RecursionError):  # ValidationError is a ValueError
        return ()


def last_hosts_of(folder: str) -> tuple[str, ...]:
    """The same, or the hosts of the part before where the last was ended before it had any."""
    return hosts_of(folder) or _host_names(os.path.join(folder, EARLIER))


def rows_of(folder: str, hosts: Iterable[str] | None = None) -> tuple[HostRow, ...]:
    """A row for each host of the run, in the inventory's order; one that nothing came of is `unasked`."""
    names = last_hosts_of(folder) if hosts is None else hosts
    return tuple(read_row(folder, name) or HostRow(name=name) for name in names)


def is_finished(folder: str, host: str) -> bool:
    """Whether a host needs no asking again. One that was ended while its machine was still being read does."""
    row = read_row(folder, host)
    return (
        row is not None
        and row.status is Status.AUDITED
        and row.host != UNREAD
        and row.schema.partition(".")[0] == SCHEMA.partition(".")[0]
        and os.path.isfile(os.path.join(folder, row.snapshot))
    )


def check_run(folder: str) -> None:
    """Raise MycnfError where the directory holds no run to report on."""
    if not last_hosts_of(folder):
        raise MycnfError(f"{escape_text(folder)} holds no run of mycnf fleet; name the directory of one")


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
PATIENCE = ENDING + 5  # seconds: a run that was killed has let go by then
LOOK = 0.2  # seconds between two tries
_PART = re.compile(r".+\.(?:row|json|list)\.[0-9a-f]{8}\.part")  # as privatefile names them


@contextlib.contextmanager
def lock_run(folder: str) -> Iterator[int | None]:
    """Keep the directory for this run: gives the open handle that holds it, None where nothing can be locked.

    Processes that inherit the handle hold it too. A run that was killed is waited for until all it began has ended;
    raises MycnfError where another one goes on.
    """
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        yield handle if _lock(handle, folder) else None
    finally:
        os.close(handle)


def _lock(handle: int, folder: str) -> bool:
    until, told = time.monotonic() + PATIENCE, False
    while True:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if not told:
                print_notice(f"waiting for the run in {folder} that has not ended yet")
                told = True
        except OSError:
            return False  # some network file systems lock no directories
        else:
            return True
        if time.monotonic() > until:
            raise MycnfError(f"another mycnf fleet works in {folder}; wait for its end, or name another directory")
        time.sleep(LOOK)


def scratch_directory(folder: str) -> str:
    """The directory for what is needed while the run goes on."""
    return os.path.join(folder, SCRATCH)


def make_scratch_directory(place: str) -> None:
    """Make that directory. Raises OSError."""
    os.mkdir(place, 0o700)
    os.chmod(place, 0o700)  # of which the umask may have taken a part


def remove_scratch_files(folder: str) -> None:
    """Take away what a run needed, and what a process that was killed left half written."""
    shutil.rmtree(os.path.join(folder, SCRATCH), ignore_errors=True)
    for place in (folder, os.path.join(folder, ROWS), os.path.join(folder, SNAPSHOTS)):
        with contextlib.suppress(OSError):
            for file in filter(_PART.fullmatch, os.listdir(place)):
                os.unlink(os.path.join(place, file))
    if os.path.exists(os.path.join(folder, HOSTS)):
        with contextlib.suppress(OSError):
            os.unlink(os.path.join(folder, EARLIER))
