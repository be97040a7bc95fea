"""Where audits come from: functions that the command makes of its arguments, so that the app knows no command line."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import TYPE_CHECKING

from advisor.facts.record import record
from advisor.tui.view import View

if TYPE_CHECKING:
    from collections.abc import Callable

    from advisor.collect.connection.session import Session
    from advisor.facts import Facts, Workload
    from advisor.facts.probes import ProbeResult
    from advisor.report.audited import Audited


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
    from probes.results import Kept, latest, shelf

    found = shelf()
    newest_first = found._replace(kept=(Kept("", "", result), *found.kept))
    return replace(facts, probes=latest(newest_first, result.place.host))
