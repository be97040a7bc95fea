"""Work that may block, in threads that nobody waits for: quitting never depends on a server that hangs."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

from advisor.core import errors
from advisor.tui.messages import Failed, Told

if TYPE_CHECKING:
    from collections.abc import Callable

    from textual.app import App
    from textual.message import Message
    from textual.message_pump import MessagePump


def in_background(
    app: App[Any],
    name: str,
    work: Callable[[], Message],
    to: MessagePump | None = None,
    source: object | None = None,
) -> threading.Thread:
    """Run `work` in a thread of that name and post the message that it gives, or Failed with its reason.

    The message goes to `to`, the app itself without it; `source` is what it tells of.

    Threads of an executor would be waited for at the end of the event loop; daemon threads are not.
    """

    def run() -> None:
        try:
            message = work()
        except errors.MycnfError as error:
            message = Failed(str(error), error.code)
        except Exception as error:  # noqa: BLE001 - a thread has no caller: the unexpected becomes a line and a file
            from advisor.state.crash_report import write_crash_file

            message = Failed(write_crash_file(error), errors.USAGE)
        if isinstance(message, Told):
            message.source = source
        (to or app).post_message(message)

    thread = threading.Thread(target=run, name=name, daemon=True)
    thread.start()
    return thread
