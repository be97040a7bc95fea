"""What the user put aside, kept in the state directory: one file a server, never a file of the server's own."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING

from advisor.core.errors import MycnfError
from advisor.state.directory import alone_in, make_state_folder, state_folder
from advisor.state.private_file import replace_private
from advisor.tui.view import Aside

if TYPE_CHECKING:
    from advisor.facts import Server

FOLDER = "app"


def folder() -> str:
    """Where the app keeps its notes: $XDG_STATE_HOME/mycnf/app, ~/.local/state/mycnf/app without it."""
    return state_folder(FOLDER)


def path_of(server: Server) -> str:
    """The file on one server: the same after a restart, another for another server on this host."""
    from hashlib import sha256

    known = "\0".join(server.variables.get(name, "") for name in ("hostname", "datadir", "port"))
    return os.path.join(folder(), sha256(known.encode("utf-8", "surrogatepass")).hexdigest()[:16] + ".json")


def load(path: str) -> Aside:
    """What was put aside; nothing where there is no file, or it can't be read as one."""
    try:
        with open(path, encoding="utf-8") as file:
            told = json.load(file)
        seen, suppressed = told["seen"], told["suppressed"]
        return Aside(frozenset(map(str, seen)), tuple((str(key), str(reason)) for key, reason in suppressed.items()))
    except (OSError, ValueError, TypeError, KeyError, AttributeError):
        return Aside()


def change(path: str, before: Aside, after: Aside) -> Aside:
    """Keep what the user changed, beside what another app on the same server changed meanwhile; both together.

    Raises MycnfError where it can't be written.
    """
    try:
        with alone_in(make_state_folder(FOLDER)):
            both = _both(load(path), before, after)
            told = {"version": 1, "seen": sorted(both.seen), "suppressed": dict(both.suppressed)}
            replace_private(path, (json.dumps(told, indent=1) + "\n").encode("ascii"))
    except OSError as error:
        raise MycnfError(
            f"{path} can't be written ({error.strerror}): what you put aside lasts until you leave"
        ) from error
    return both


def _both(kept: Aside, before: Aside, after: Aside) -> Aside:
    seen = kept.seen - (before.seen - after.seen) | (after.seen - before.seen)
    was, wanted = dict(before.suppressed), dict(after.suppressed)
    reasons = {key: reason for key, reason in kept.suppressed if key in wanted or key not in was}
    reasons |= {key: reason for key, reason in wanted.items() if was.get(key) != reason}
    return Aside(seen, tuple(reasons.items()))
