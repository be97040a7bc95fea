"""A real headless Chromium, driven over its DevTools pipe; it opens files and has no network."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

PATIENCE = 600.0  # seconds
SWITCHES = (
    *("--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run"),
    *("--disable-background-networking", "--disable-component-update", "--remote-debugging-pipe"),
)
# The axe-core options by colour scheme: in the dark scheme only the colours differ. Of the rules that pass, one element
# each is enough: axe-core describes all of them otherwise, which takes most of its time on a long page.
ASKED = {
    "light": "{resultTypes: ['violations']}",
    "dark": "{resultTypes: ['violations'], runOnly: ['color-contrast']}",
}
FIRST_FREE = 10  # first free descriptor; the browser uses 3 and 4


class Tab:
    """An open page.

    `messages` are its console messages, exceptions and violations of its policy; `asked` are its allowed requests.
    """

    def __init__(self, pipe: _Pipe, session: str) -> None:
        self._pipe, self._session = pipe, session
        self.messages: list[str] = []
        self._asked: dict[str, str] = {}

    @property
    def asked(self) -> list[str]:
        """The requested addresses, except those that the page's policy blocked."""
        return list(self._asked.values())

    def call(self, method: str, **parameters: Any) -> dict[str, Any]:
        """The browser's answer; AssertionError if it reports an error."""
        number = self._pipe.send(method, parameters, self._session)
        while True:
            message = self._pipe.next()
            if message.get("id") == number:
                assert "error" not in message, message
                found: dict[str, Any] = message["result"]
                return found
            self._note(message)

    def run(self, script: str) -> Any:
        """The value of an expression; promises are awaited."""
        found = self.call("Runtime.evaluate", expression=script, awaitPromise=True, returnByValue=True)
        assert "exceptionDetails" not in found, found["exceptionDetails"]
        return found["result"].get("value")

    def open(self, path: Path) -> None:
        """Load a file completely."""
        self.messages.clear()
        self._asked.clear()
        self.call("Page.navigate", url=path.as_uri())
        ended = time.monotonic() + PATIENCE
        while self.run("document.readyState + location.protocol") != "completefile:":
            assert time.monotonic() < ended, "the page never loads"

    def _note(self, message: dict[str, Any]) -> None:
        method, words = message.get("method"), message.get("params", {})
        if method == "Runtime.consoleAPICalled":
            self.messages.append(f"{words['type']}: {[one.get('value') for one in words['args']]}")
        elif method == "Runtime.exceptionThrown":
            self.messages.append(str(words["exceptionDetails"]))
        elif method == "Log.entryAdded":
            self.messages.append(f"{words['entry']['level']}: {words['entry']['text']}")
        elif method == "Network.requestWillBeSent":
            self._asked[words["requestId"]] = words["request"]["url"]
        elif method == "Network.loadingFailed" and words.get("blockedReason") == "csp":
            del self._asked[words["requestId"]]


class _Pipe:
    """Messages to and from the browser, each terminated by a zero byte."""

    def __init__(self, to: int, back: int) -> None:
        self._to, self._back = to, back
        self._rest = b""
        self._number = 0

    def send(self, method: str, parameters: dict[str, Any], session: str = "") -> int:
        self._number += 1
        message = {"id": self._number, "method": method, "params": parameters}
        os.write(self._to, json.dumps(message | ({"sessionId": session} if session else {})).encode() + b"\0")
        return self._number

    def next(self) -> dict[str, Any]:
        while b"\0" not in self._rest:
            data = os.read(self._back, 1 << 20)
            assert data, "the browser is gone"
            self._rest += data
        message, _, self._rest = self._rest.partition(b"\0")
        found: dict[str, Any] = json.loads(message)
        return found

    def answer(self, number: int) -> dict[str, Any]:
        while (message := self.next()).get("id") != number:
            pass
        found: dict[str, Any] = message["result"]
        return found


@contextlib.contextmanager
def browsing() -> Iterator[Tab]:
    """A tab in a new browser, which is closed at the end; skips with a reason without Chromium."""
    program = next(
        (found for name in ("chromium", "chromium-browser", "google-chrome") if (found := shutil.which(name))), None
    )
    if program is None:
        pytest.skip("Chromium is not installed: apt-get install chromium")
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as home:
        process, pipe = _started(program, home)
        try:
            yield _tab(pipe)
        finally:
            _ended(process, pipe)


def _ended(process: subprocess.Popen[bytes], pipe: _Pipe) -> None:
    """Close the browser with its helper processes, which would continue to write to its folder if it were killed."""
    with contextlib.suppress(OSError):
        pipe.send("Browser.close", {})
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(10)
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def _started(program: str, home: str) -> tuple[subprocess.Popen[bytes], _Pipe]:
    to, back = os.pipe(), os.pipe()

    def place() -> None:
        os.dup2(os.dup2(to[0], FIRST_FREE), 3)
        os.dup2(os.dup2(back[1], FIRST_FREE + 1), 4)

    command = [program, *SWITCHES, f"--user-data-dir={home}", "about:blank"]
    process = subprocess.Popen(
        command,
        preexec_fn=place,  # noqa: PLW1509 - the two pipes need numbers of their own
        close_fds=False,
        start_new_session=True,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    os.close(to[0])
    os.close(back[1])
    return process, _Pipe(to[1], back[0])


def _tab(pipe: _Pipe) -> Tab:
    target = pipe.answer(pipe.send("Target.createTarget", {"url": "about:blank"}))["targetId"]
    attached = pipe.answer(pipe.send("Target.attachToTarget", {"targetId": target, "flatten": True}))
    tab = Tab(pipe, attached["sessionId"])
    for domain in ("Page", "Runtime", "Log", "Network"):
        tab.call(f"{domain}.enable")
    return tab
