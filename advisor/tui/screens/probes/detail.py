"""The detail of a probe: description, run or result; long texts are rendered in threads."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, NamedTuple

from textual import on
from textual.containers import VerticalScroll
from textual.content import Content
from textual.message import Message
from textual.widgets import Static

from advisor.tui.screens.probes.list import join_blocks, probe_description, probe_summary
from advisor.tui.screens.probes.progress import progress_text
from advisor.tui.text import replace_flags
from advisor.tui.workers import run_in_background

if TYPE_CHECKING:
    from collections.abc import Callable

    from textual.app import ComposeResult

    from advisor.facts.probes import ProbeResult
    from advisor.tui.screens.probes.list import ProbeStatus
    from advisor.tui.screens.probes.run import ProbeRun
    from probes.experiment import ProbeEntry

TextKey = tuple[str, ...]  # identifies a long text


class DetailContent(NamedTuple):
    """What to draw: `run` while the probe runs, `result` to show the newest result in full."""

    entry: ProbeEntry
    status: ProbeStatus
    run: ProbeRun | None = None
    result: bool = False


class ProbeDetail(VerticalScroll):
    """The right side of the probes screen."""

    class TextReady(Message):
        """A long text is ready for that width."""

        def __init__(self, key: TextKey, width: int, text: str) -> None:
            self.key, self.width, self.text = key, width, text
            super().__init__()

    shown: DetailContent | None = None
    drawn_at = 0.0
    """Monotonic time at which a run was drawn last."""

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:  # noqa: A002 - textual's parameter name
        super().__init__(id=id, classes=classes)
        self._texts: dict[TextKey, str | None] = {}
        self._width = 0

    def compose(self) -> ComposeResult:
        """One text."""
        yield Static("", markup=False)

    def draw(self, shown: DetailContent) -> None:
        """Draw this content in the current width."""
        self.shown = shown
        room = self.scrollable_content_region
        if room.width <= 1:
            return
        if self._width != room.width - 1:
            self._texts.clear()
            self._width = room.width - 1
        self.border_title = shown.entry.experiment.name
        self.query_one(Static).update(self._content(shown, room.height))

    def clear_texts(self) -> None:
        """Drop rendered texts, as plan or directory changed."""
        self._texts.clear()

    @property
    def report(self) -> str:
        """The text of the displayed result; empty without one."""
        shown = self.shown
        if shown is None or shown.run is not None or not shown.result or not shown.status.answers:
            return ""
        return self._texts.get(_result_key(shown.status.answers[0].result)) or ""

    def _content(self, shown: DetailContent, height: int) -> Content:
        if shown.run is not None:
            self.drawn_at = time.monotonic()
            run, room = shown.run, (self._width, height)
            return progress_text(run.state, run.order, room, self.drawn_at, stopping=run.stopping)
        if shown.result and shown.status.answers:
            return self._result(shown.status.answers[0].result, self._width)
        return self._description(shown, self._width)

    def _description(self, shown: DetailContent, width: int) -> Content:
        more = self._text(("about", shown.entry.experiment.name), lambda: probe_description(shown.entry, width))
        return (
            probe_summary(shown.entry, shown.status, width)
            + Content("\n\n")
            + (join_blocks(more) if more else Content("…"))
        )

    def _result(self, result: ProbeResult, width: int) -> Content:
        text = self._text(_result_key(result), lambda: _report(result, width))
        return join_blocks(text) if text else Content("writing the report …")

    def _text(self, key: TextKey, write: Callable[[], str]) -> str | None:
        """A long text; None while it is being rendered."""
        if key not in self._texts:
            self._texts[key], width = None, self._width
            run_in_background(self.app, "probe-text", lambda: self.TextReady(key, width, write()), self)
        return self._texts[key]

    @on(TextReady)
    def _keep_text(self, message: TextReady) -> None:
        message.stop()
        if message.width == self._width:
            self._texts[message.key] = message.text
            if self.shown is not None:
                self.draw(self.shown)


def _result_key(result: ProbeResult) -> TextKey:
    return "result", result.probe, result.began_at


def _report(result: ProbeResult, width: int) -> str:
    from advisor.report.paper import Paper
    from advisor.report.probe.result import render

    return replace_flags(render(result, "text", Paper(width)).rstrip())
