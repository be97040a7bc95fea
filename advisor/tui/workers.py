"""Run work that may block in daemon threads, so that quitting never waits for a hung server."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

from advisor.core import errors
from advisor.tui.messages import BackgroundMessage, WorkFailed

if TYPE_CHECKING:
    from collections.abc import Callable

    from textual.app import App
    from textual.message import Message
    from textual.message_pump import MessagePump


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
