"""Keep a snapshot among those of its server, and let go of the oldest beyond what is kept."""

from __future__ import annotations

import contextlib
import hashlib
import os
import time
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from advisor.core.errors import MycnfError
from advisor.facts.size_limits import fitted
from advisor.facts.snapshot import written
from advisor.state.directory import alone_in, make_state_folder
from advisor.state.private_file import PART, replace_private
from advisor.state.server_identity import server_id

if TYPE_CHECKING:
    from advisor.facts import Facts

FOLDER = "history"
ENDING = ".json"
MOST = 100  # snapshots of a server, at two to four hundred kilobytes each
OLDEST = timedelta(days=800)
LEAST = 2  # stay however old they are: without two there is nothing to compare
AT_ONCE = 2  # go for their age each time: a clock that is years ahead for a day must not cost the whole history
WRITING = 60.0  # seconds after which nobody is still writing


def keep(facts: Facts) -> str:
    """Keep the facts in the history of their server and return where; the same facts twice are kept once.

    Of what was told in a text, or stands in a large snapshot, the parts that nobody could read again are left out.

    Raises MycnfError, what was kept before untouched, where there is no server in them or they can't be written.
    """
    if not facts.server.variables:
        raise MycnfError("no variables were read, so the server can't be told from others: nothing was kept")
    folder = make_state_folder(os.path.join(FOLDER, server_id(facts.server.variables)))
    data = written(fitted(facts))
    try:
        with alone_in(folder):
            path = os.path.join(folder, _name(folder, stamp(facts.taken_at), data))
            if not os.path.exists(path):
                replace_private(path, data)
            _let_go(folder)
    except OSError as error:
        raise MycnfError(
            f"the snapshot can't be kept in {folder} ({error.strerror}); free some space there, or set XDG_STATE_HOME"
        ) from error
    return path


def _name(folder: str, at: str, data: bytes) -> str:
    """The name of these facts in the folder: theirs where they are kept, else one behind all of the same second."""
    ending = f"-{hashlib.sha256(data).hexdigest()[:8]}{ENDING}"
    of_second = [name for name in names(folder) if name.startswith(at)]
    known = [name for name in of_second if name.endswith(ending)]
    after = f".{len(of_second):02}" if of_second else ""  # a point sorts behind the hyphen of the first
    return known[0] if known else f"{at}{after}{ending}"


def stamp(taken_at: str) -> str:
    """The time of a snapshot as names of files have it, which sort by time: 20261121T050100."""
    try:
        at = datetime.fromisoformat(taken_at)
        return (at if at.tzinfo else at.replace(tzinfo=UTC)).astimezone(UTC).strftime("%Y%m%dT%H%M%S")
    except (ValueError, OverflowError):
        return "00000000T000000"


def names(folder: str) -> list[str]:
    """The files of snapshots in a server's folder, the oldest first. Raises OSError."""
    return sorted(name for name in os.listdir(folder) if name.endswith(ENDING))


def _let_go(folder: str) -> None:
    """Remove what is beyond the number or the age that is kept, and the parts that a kill left."""
    kept = names(folder)
    eldest = stamp((datetime.now(UTC) - OLDEST).isoformat())
    aged = [name for name in kept[-MOST:-LEAST] if name < eldest]
    for name in kept[:-MOST] + aged[:AT_ONCE]:
        os.unlink(os.path.join(folder, name))
    for name in os.listdir(folder):
        path = os.path.join(folder, name)
        with contextlib.suppress(OSError):
            if name.endswith(PART) and time.time() - os.stat(path).st_mtime > WRITING:
                os.unlink(path)
