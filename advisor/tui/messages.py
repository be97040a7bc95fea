"""Messages that background threads post to the app: frozen values, never widgets."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.message import Message

if TYPE_CHECKING:
    from advisor.facts import Sample
    from advisor.facts.probes import ProbeResult
    from advisor.facts.workload import TopEvents
    from advisor.tui.screens.workload.samples import VariableChange
    from advisor.tui.view import View


class BackgroundMessage(Message):
    """A message of an audit source or a sampler; the app ignores it if `source` is no longer in use."""

    source: object | None = None


class AuditReady(BackgroundMessage):
    """An audit has finished."""

    def __init__(self, view: View) -> None:
        self.view = view
        super().__init__()


class WorkFailed(BackgroundMessage):
    """An audit failed; `reason` is one line with the remedy, `code` the exit code."""

    def __init__(self, reason: str, code: int) -> None:
        self.reason = reason
        self.code = code
        super().__init__()


class SampleRead(BackgroundMessage):
    """The server's counters were read again; `changes` are variables that have another value than before."""

    def __init__(self, sample: Sample, changes: tuple[VariableChange, ...] = ()) -> None:
        self.sample = sample
        self.changes = changes
        super().__init__()


class TopEventsRead(BackgroundMessage):
    """A summary table of events was read; `first` is the first reading of it since it was asked for."""

    def __init__(self, first: TopEvents, last: TopEvents) -> None:
        self.first = first
        self.last = last
        super().__init__()


class ConnectionLost(BackgroundMessage):
    """The connection to the server is lost; the sampler keeps reconnecting."""

    def __init__(self, reason: str) -> None:
        self.reason = reason
        super().__init__()


class ProbeResultReady(Message):
    """A probe on this host has a result, already saved if possible."""

    def __init__(self, result: ProbeResult) -> None:
        self.result = result
        super().__init__()


class Notice(Message):
    """One line for the user from a background thread; `severity` is information, warning or error."""

    def __init__(self, text: str, severity: str = "information") -> None:
        self.text = text
        self.severity = severity
        super().__init__()
