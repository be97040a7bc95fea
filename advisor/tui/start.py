"""Options that the app starts with, and the sources that it reads."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, NamedTuple, Protocol

from msgspec import Struct, field
from msgspec.structs import replace

from advisor.tui.view import View

if TYPE_CHECKING:
    from collections.abc import Callable

    from advisor.analysis.audited import AuditResult
    from advisor.collect.connection.options import ConnectRequest
    from advisor.collect.connection.session import Session
    from advisor.core.model import Finding
    from advisor.facts import Facts, Workload
    from advisor.facts.probes import ProbeResult
    from probes.experiment import Environment


class SourceFactory(Protocol):
    """Makes a source from a connect request; without a password, uses the one of the option files."""

    def __call__(self, request: ConnectRequest, password: str = "") -> AuditSource:
        """Raises MycnfError for an invalid request."""


class ProbeSite(NamedTuple):
    """A directory of this host where probes can run, with the facts about the host.

    `why` is the reason for choosing the directory; empty if the user named it.
    """

    path: str
    why: str
    environment: Environment


class StartOptions(Struct, frozen=True):
    """What to read first, and the user's preferences.

    `connect` is None if the app reads only files. `request` comes from the command line; `reason` says why it gave no
    source. `keymap` has keys by id of the binding. `site` inspects this host for probes, in the given directory or in
    one that it chooses; it may block, and raises MycnfError. It is None if the app reads no server of this host.
    `baseline` returns the path of the baseline in use, or "". `change_baseline` adds a finding with a reason, or
    removes it if the reason is empty. `first_start` shows the hint of three lines. Both raise MycnfError.
    """

    feed: AuditSource | None
    connect: SourceFactory | None = None
    request: ConnectRequest | None = None
    reason: str = ""
    theme: str = "textual-dark"
    first_start: bool = False
    keymap: dict[str, str] = field(default_factory=dict)
    site: Callable[[str | None], ProbeSite] | None = None
    change_baseline: Callable[[Finding, str], None] | None = None
    baseline: Callable[[], str] = str


class AuditSource(Struct, frozen=True):
    """A server, snapshot or recording that can be read again.

    `origin` is live, snapshot or demo; `place` is its address or path for display. `read` returns the current facts
    without a sampling window, `judge` runs the rules; both may block and raise MycnfError. `session` opens another
    session on a running server, used only for the counters; None without a server. `read_schema` reads the facts with
    the definitions of tables, which later calls of `read` keep; None without a server. `series` is the path of samples
    that were recorded; empty without.
    """

    origin: str
    place: str
    read: Callable[[], Facts]
    judge: Callable[[Facts], AuditResult]
    session: Callable[[], Session] | None = None
    read_schema: Callable[[], Facts] | None = None
    series: str = ""

    def read_view(self, workload: Workload | None = None, *, schema: bool = False) -> View:
        """Read and judge the facts, with a window of samples if one exists. Raises MycnfError."""
        facts = self.read_schema() if schema and self.read_schema is not None else self.read()
        return self.judge_facts(with_window(facts, workload) if workload else facts)

    def judge_facts(self, facts: Facts) -> View:
        """Run the rules on facts that have been read."""
        view = View(self.judge(facts), self.origin, self.place, time.time(), samples=() if self.session else None)
        return _with_series(view, self.series) if self.series else view


def _with_series(view: View, path: str) -> View:
    """The view with a recorded series, which ends where the window of the snapshot does."""
    from advisor.tui.screens.workload.rates import load_series

    workload = view.audited.facts.workload
    series = load_series(path, workload.last.at if workload else 0.0)
    return view._replace(samples=series.samples, changes=series.changes, series_about=series.about)


def with_window(facts: Facts, workload: Workload) -> Facts:
    """The facts with a window of samples instead of the reason why it is missing."""
    rest = tuple(part for part in facts.unavailable if part.part != "workload")
    return replace(facts, workload=workload, unavailable=rest)


def with_result(facts: Facts, result: ProbeResult) -> Facts:
    """The facts with the newest probe results of this host: this one, and the saved results of other probes."""
    from probes.results import KeptResult, latest_results, read_all

    found = read_all()
    newest_first = found._replace(kept=(KeptResult("", "", result), *found.kept))
    return replace(facts, probes=latest_results(newest_first, result.place.host))
