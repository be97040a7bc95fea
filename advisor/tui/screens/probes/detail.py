"""One experiment beside the list: as a description, as a run, or as its result; long texts are written in threads."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, NamedTuple

from textual import on
from textual.containers import VerticalScroll
from textual.content import Content
from textual.message import Message
from textual.widgets import Static

from advisor.tui.screens.probes.list import blocks, head, rest
from advisor.tui.screens.probes.progress import growing
from advisor.tui.text import spoken
from advisor.tui.workers import in_background

if TYPE_CHECKING:
    from collections.abc import Callable

    from textual.app import ComposeResult

    from advisor.facts.probes import ProbeResult
    from advisor.report.probe.listing import Entry
    from advisor.tui.screens.probes.list import Standing
    from advisor.tui.screens.probes.run import ProbeRun

Key = tuple[str, ...]  # what a long text is of


class DetailContent(NamedTuple):
    """What is to be drawn: `run` where it is at work, `result` where the newest result is wanted in full."""

    entry: Entry
    standing: Standing
    run: ProbeRun | None = None
    result: bool = False


class Beside(VerticalScroll):
    """The right side of the screen of experiments."""

    class Written(Message):
        """A long text is ready, for that width."""

        def __init__(self, key: Key, width: int, text: str) -> None:
            self.key, self.width, self.text = key, width, text
            super().__init__()

    shown: DetailContent | None = None
    drawn = 0.0
    """The monotonic second of the last drawing of a run."""

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:  # noqa: A002 - the framework's word
        super().__init__(id=id, classes=classes)
        self._texts: dict[Key, str | None] = {}
        self._width = 0

    def compose(self) -> ComposeResult:
        """One text."""
        yield Static("", markup=False)

    def draw(self, shown: DetailContent) -> None:
        """Draw this, in the width that there is."""
        self.shown = shown
        room = self.scrollable_content_region
        if room.width <= 1:
            return
        if self._width != room.width - 1:
            self._texts.clear()
            self._width = room.width - 1
        self.border_title = shown.entry.experiment.name
        self.query_one(Static).update(self._content(shown, room.height))

    def forget(self) -> None:
        """Write descriptions anew, for another plan or place."""
        self._texts.clear()

    @property
    def report(self) -> str:
        """The text of the result that is shown; empty where none is."""
        shown = self.shown
        if shown is None or shown.run is not None or not shown.result or not shown.standing.answers:
            return ""
        return self._texts.get(_of_result(shown.standing.answers[0].result)) or ""

    def _content(self, shown: DetailContent, height: int) -> Content:
        if shown.run is not None:
            self.drawn = time.monotonic()
            run, room = shown.run, (self._width, height)
            return growing(run.state, run.order, room, self.drawn, stopping=run.stopping)
        if shown.result and shown.standing.answers:
            return self._result(shown.standing.answers[0].result, self._width)
        return self._about(shown, self._width)

    def _about(self, shown: DetailContent, width: int) -> Content:
        more = self._text(("about", shown.entry.experiment.name), lambda: rest(shown.entry, width))
        return head(shown.entry, shown.standing, width) + Content("\n\n") + (blocks(more) if more else Content("…"))

    def _result(self, result: ProbeResult, width: int) -> Content:
        text = self._text(_of_result(result), lambda: _report(result, width))
        return blocks(text) if text else Content("writing the report …")

    def _text(self, key: Key, write: Callable[[], str]) -> str | None:
        """A long text, None while it is being written."""
        if key not in self._texts:
            self._texts[key], width = None, self._width
            in_background(self.app, "probe-text", lambda: self.Written(key, width, write()), self)
        return self._texts[key]

    @on(Written)
    def _wrote(self, message: Written) -> None:
        message.stop()
        if message.width == self._width:
            self._texts[message.key] = message.text
            if self.shown is not None:
                self.draw(self.shown)


def _of_result(result: ProbeResult) -> Key:
    return "result", result.probe, result.began_at


def _report(result: ProbeResult, width: int) -> str:
    from advisor.report.paper import Paper
    from advisor.report.probe.result import render

    return spoken(render(result, "text", Paper(width)).rstrip())
