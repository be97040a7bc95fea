"""What every screen is given: one audit with its origin, frozen; a new one replaces it as a whole."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, NamedTuple

from advisor.core.errors import MycnfError
from advisor.state.directory import alone_in, make_state_folder, state_folder
from advisor.state.private_file import replace_private

if TYPE_CHECKING:
    from advisor.analysis.audited import Audited
    from advisor.core.model import Finding
    from advisor.facts import Sample, Server


class Aside(NamedTuple):
    """What the user put aside: findings seen, and findings suppressed with the reason, by key (see `key_of`)."""

    seen: frozenset[str] = frozenset()
    suppressed: tuple[tuple[str, str], ...] = ()

    def reason(self, finding: Finding) -> str | None:
        """Why a finding is suppressed; None where it isn't."""
        return dict(self.suppressed).get(key_of(finding))


class View(NamedTuple):
    """One audit as all screens see it.

    `origin` is live, snapshot or demo; `place` the socket, address or file in words; `taken` the seconds since 1970
    at which it was read. `samples` are the counters of the running server, the oldest first, None for a snapshot.
    """

    audited: Audited
    origin: str
    place: str
    taken: float
    aside: Aside = Aside()
    samples: tuple[Sample, ...] | None = None

    @property
    def live(self) -> bool:
        """Whether there is a server to ask again."""
        return self.origin == "live"

    @property
    def open_findings(self) -> tuple[Finding, ...]:
        """The findings that nobody suppressed."""
        return tuple(f for f in self.audited.findings if self.aside.reason(f) is None)

    @property
    def hidden(self) -> tuple[tuple[Finding, str], ...]:
        """The findings that were put aside, each with the reason: those that a baseline knows, and the user's."""
        reasons = dict(self.aside.suppressed)
        own = ((f, reasons[key]) for f in self.audited.findings if (key := key_of(f)) in reasons)
        return (*self.audited.aside, *own)

    def known(self, finding: Finding) -> str | None:
        """Why a baseline hides a finding; None where none does."""
        return next((reason for f, reason in self.audited.aside if f is finding), None)

    def reason(self, finding: Finding) -> str | None:
        """Why a finding is hidden; None where it isn't."""
        known = self.known(finding)
        return self.aside.reason(finding) if known is None else known


def key_of(finding: Finding) -> str:
    """What makes a finding the same one in the next audit: rule, option and file, not its value or line."""
    path = finding.location.path if finding.location else ""
    return f"{finding.code} {finding.canonical or finding.option or ''} {path}".strip()


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
