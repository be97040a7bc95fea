"""What the app is started with."""

from __future__ import annotations

import time
from dataclasses import field, replace
from typing import TYPE_CHECKING, NamedTuple, Protocol

from advisor.facts.record import record
from advisor.tui.view import View

if TYPE_CHECKING:
    from collections.abc import Callable

    from advisor.analysis.audited import Audited
    from advisor.collect.connection.options import ConnectRequest
    from advisor.collect.connection.session import Session
    from advisor.core.model import Finding
    from advisor.facts import Facts, Workload
    from advisor.facts.probes import ProbeResult
    from probes.experiment import Environment


class Connect(Protocol):
    """Makes a feed of what the connect screen asked for; with no password that of the option files is taken."""

    def __call__(self, request: ConnectRequest, password: str = "") -> Feed:
        """A feed; raises MycnfError where the request can't be meant."""


class Site(NamedTuple):
    """A directory of this host where experiments can take place, with the host as it was read for it.

    `why` says why it was chosen; it is empty where the user named it.
    """

    path: str
    why: str
    ground: Environment


@record(frozen=True)
class Opening:
    """What to read first, and the user's preferences.

    `connect` is None where only files are read; `request` is what the command line said, `reason` why that gave no
    feed. `keymap` has keys by id of the binding. `site` looks at this host for the experiments, in the directory that
    it is given or in one that it chooses; it may block, and raises MycnfError. None where no server of it is read.
    `baseline` gives the path of the baseline in use, or nothing; `aside` writes into it why a finding is put aside,
    or without a reason takes it out. Both raise MycnfError.
    """

    feed: Feed | None
    connect: Connect | None = None
    request: ConnectRequest | None = None
    reason: str = ""
    theme: str = "textual-dark"
    keymap: dict[str, str] = field(default_factory=dict)
    site: Callable[[str | None], Site] | None = None
    aside: Callable[[Finding, str], None] | None = None
    baseline: Callable[[], str] = str


@record(frozen=True)
class Feed:
    """A server, snapshot or recording that can be read again.

    `origin` is live, snapshot or demo, `place` says where in words. `read` gives everything as it is now, without a
    sampling window, `judge` asks the rules; both raise MycnfError and may block. `session` opens one more session on
    a running server, for the counters alone; None where there is none.
    """

    origin: str
    place: str
    read: Callable[[], Facts]
    judge: Callable[[Facts], Audited]
    session: Callable[[], Session] | None = None

    def view(self, workload: Workload | None = None) -> View:
        """Read and judge, with a window of samples where there is one already. Raises MycnfError."""
        facts = self.read()
        return self.judged(with_window(facts, workload) if workload else facts)

    def judged(self, facts: Facts) -> View:
        """The audit of facts that were read already."""
        return View(self.judge(facts), self.origin, self.place, time.time(), samples=() if self.session else None)


def with_window(facts: Facts, workload: Workload) -> Facts:
    """The facts with a window of samples in place of the reason why there was none."""
    rest = tuple(part for part in facts.unavailable if part.part != "workload")
    return replace(facts, workload=workload, unavailable=rest)


def with_result(facts: Facts, result: ProbeResult) -> Facts:
    """The facts with what is known of this host by now: the result that was just made and, of other kinds, the kept."""
    from probes.results import KeptResult, latest_results, read_all

    found = read_all()
    newest_first = found._replace(kept=(KeptResult("", "", result), *found.kept))
    return replace(facts, probes=latest_results(newest_first, result.place.host))
