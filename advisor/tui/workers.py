"""Work that may block runs in daemon threads, so that quitting never waits; they post frozen values, never widgets."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

from textual.message import Message

from advisor.core import errors

if TYPE_CHECKING:
    from collections.abc import Callable

    from textual.app import App
    from textual.message_pump import MessagePump

    from advisor.facts import Sample
    from advisor.facts.probes import ProbeResult
    from advisor.facts.workload import TopEvents
    from advisor.tui.screens.workload.rates import VariableChange
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


def run_in_background(
    app: App[Any],
    name: str,
    work: Callable[[], Message],
    to: MessagePump | None = None,
    source: object | None = None,
) -> threading.Thread:
    """Run `work` in a thread of that name and post the message that it returns, or WorkFailed with the reason.

    The message goes to `to`, by default the app; `source` identifies the audit source or sampler.

    The event loop would wait for the threads of an executor at its end; it does not wait for daemon threads.
    """

    def run() -> None:
        try:
            message = work()
        except errors.MycnfError as error:
            message = WorkFailed(str(error), error.code)
        except Exception as error:  # noqa: BLE001 - a thread has no caller: report the error in a message and a crash file
            from advisor.state.crash_report import write_crash_file

            message = WorkFailed(write_crash_file(error), errors.USAGE)
        if isinstance(message, BackgroundMessage):
            message.source = source
        (to or app).post_message(message)

    thread = threading.Thread(target=run, name=name, daemon=True)
    thread.start()
    return thread
