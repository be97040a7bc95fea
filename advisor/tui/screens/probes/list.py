"""The probes as rows, and one of them in full."""

from __future__ import annotations

import time
from socket import gethostname
from typing import TYPE_CHECKING, NamedTuple

from textual import on
from textual.containers import VerticalScroll
from textual.content import Content
from textual.message import Message
from textual.widgets import Static

from advisor.core.model import format_size
from advisor.report import plural, wrap
from advisor.report.output import Paper
from advisor.report.probe import listing
from advisor.report.probe.figures import NO_SERVER, axis_name
from advisor.report.probe.listing import lasts
from advisor.tui.screens.probes.run import progress_text
from advisor.tui.text import replace_flags, safe_line, safe_text
from advisor.tui.workers import run_in_background

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from textual.app import ComposeResult

    from advisor.facts.probes import ProbeResult
    from advisor.tui.screens.probes.run import ProbeRun
    from advisor.tui.view import View
    from probes.experiment import ProbeEntry, RunPlan
    from probes.safety import Objection


NAME, FIGURE, DAY = 21, 7, 7  # columns of a row
HAS_RESULT, NO_RESULT, RUNNING = "●", "○", "▶"
LEAST = 30
LABEL = 10
SENTENCE = 40  # columns, at least: a shorter beginning says nothing
SHOWN = 3  # saved results shown with their answer


class ProbeAnswer(NamedTuple):
    """A saved result and its answer in one sentence."""

    result: ProbeResult
    answer: str

    @property
    def day(self) -> str:
        """Year, month and day, UTC."""
        return self.result.began_at[:10]


class ProbeStatus(NamedTuple):
    """The state of a probe: saved results, the newest first, objections to a run now, and the last failure.

    `objections` is None until they are checked; `checked_at` is the time of the check.
    """

    answers: tuple[ProbeAnswer, ...] = ()
    objections: tuple[Objection, ...] | None = None
    checked_at: str = ""
    failure: str = ""


def cannot_run_reason(view: View, name: str) -> str:
    """Why a probe cannot run from this audit, with the command that runs it; empty if it can."""
    command, facts = f"mycnf probe {name}", view.audited.facts
    if view.origin == "demo":
        return f"The demo is a recorded server and cannot be measured. To measure this host, run {command}"
    if not view.live:
        host = facts.server.variables.get("hostname") or "the server's host"
        here = " (this host, by its name)" if host == gethostname() else ""
        return f"A snapshot cannot be measured. Run {command} on {host}{here}, then collect a new snapshot"
    if facts.host is None:
        why = facts.reason_missing("host")
        return f"mycnf cannot confirm that the server runs on this host ({why}). To measure it anyway, run {command}"
    return ""


def probe_row(entry: ProbeEntry, status: ProbeStatus, width: int, *, runs: bool = False) -> Content:
    """One probe on one line, with as many columns as fit."""
    mark, style = (
        (RUNNING, "$text-accent") if runs else (HAS_RESULT, "$text-success") if status.answers else (NO_RESULT, "")
    )
    shown = Content.styled(mark, style) + safe_line(f" {entry.experiment.name:<{NAME}}")
    room = width - NAME - 2
    for words, taken in _cost_columns(entry, status):
        if room < taken:
            return shown
        shown += safe_line(f"{words:>{taken}}", "dim")
        room -= taken
    if room < SENTENCE:
        return shown
    last = status.answers[0].answer if status.answers else entry.experiment.question
    return shown + safe_line(f"  {last}", "" if status.answers else "dim")


def column_titles(width: int, *, here: bool = True) -> str:
    """The titles of the columns that fit; `here` if probes can run on this host."""
    named, room = [f"{HAS_RESULT} has a result"], width - NAME - 2
    shown = (("time", FIGURE), ("day", DAY), ("disk", FIGURE), ("memory", FIGURE)) if here else (("day", DAY),)
    for words, taken in shown:
        room -= taken
        if room >= 0:
            named.append(words)
    return " · ".join(named)


def _cost_columns(entry: ProbeEntry, status: ProbeStatus) -> Iterator[tuple[str, int]]:
    """Time, day of the newest answer, disk and memory; only the day if probes cannot run on this host."""
    plan, day = entry.plan, status.answers[0].day[5:] if status.answers else ""
    if not entry.directory:
        yield day, DAY
        return
    yield (lasts(plan.seconds) if plan else "-"), FIGURE
    yield day, DAY
    yield (format_size(plan.cost.disk) if plan and plan.cost.disk else "-"), FIGURE
    yield (format_size(plan.cost.memory) if plan and plan.cost.memory else "-"), FIGURE


def probe_summary(entry: ProbeEntry, status: ProbeStatus, width: int) -> Content:
    """The summary of a probe before a run: question, answers on this host, cost and objections."""
    width = max(LEAST, width)
    x = entry.experiment
    join_blocks = [
        Content.styled(wrap(x.question, width=width), "bold"),
        *_failure_lines(status, width),
        *(_answer_line(answers_by_probe, width) for answers_by_probe in status.answers[:SHOWN]),
        Content("\n").join(labelled_text(label, words, width) for label, words in cost_rows(entry) if words),
        *_objection_lines(entry, status, width),
    ]
    return Content("\n\n").join(block for block in join_blocks if block.plain)


def probe_description(entry: ProbeEntry, width: int) -> str:
    """The description of `mycnf probe NAME --describe` without its title and question; it reads files."""
    _, _, text = listing.description(entry, "text", Paper(max(LEAST, width))).split("\n\n", 2)
    return replace_flags(text.rstrip())


def cost_rows(entry: ProbeEntry) -> list[tuple[str, str]]:
    """Labels and texts for what a run needs and creates, or why it cannot be planned."""
    if entry.plan is None:
        return [("can't run", replace_flags(reason)) for reason in entry.refused]
    plan, cost = entry.plan, entry.plan.cost
    prepare = f", about {lasts(cost.prepare)} of preparation first" if cost.prepare else ""
    needs = [f"{format_size(cost.disk)} of disk"] if cost.disk else []
    needs += [f"{format_size(cost.memory)} of memory"] if cost.memory else []
    where = f"{entry.directory} ({entry.why.partition(';')[0]})" if entry.why else entry.directory
    return [
        ("takes", f"{lasts(plan.seconds)} for up to {plural(plan.rounds, 'round')} of {_variants(plan)}{prepare}"),
        ("needs", ", ".join(needs) or "almost nothing"),
        ("creates", "; ".join(cost.creates) or "nothing"),
        ("where", where),
        ("server", plan.server or ""),
    ]


def _variants(plan: RunPlan) -> str:
    return plural(len(plan.variants), "variant")


def objection_text(objection: Objection) -> str:
    """An objection with its name first, as typing the name overrides it."""
    return replace_flags(f"{objection.name}: {objection.words}: {objection.remedy}")


def labelled_text(label: str, words: str, width: int, style: str = "$text-accent") -> Content:
    """A label and its wrapped text."""
    first, _, more = wrap(words, " " * LABEL, width=width).partition("\n")
    shown = Content.styled(f"{label:<{LABEL}}", style) + safe_text(first[LABEL:])
    return shown + safe_text("\n" + more) if more else shown


def join_blocks(text: str) -> Content:
    """Make a long text safe to show, block by block, so that the length limit of safe_text does not cut it."""
    return Content("\n\n").join(safe_text(block) for block in text.split("\n\n"))


def _failure_lines(status: ProbeStatus, width: int) -> Iterator[Content]:
    if status.failure:
        yield labelled_text("no result", replace_flags(status.failure), width, "$text-error")


def _answer_line(answer: ProbeAnswer, width: int) -> Content:
    server = f" on {answer.result.server}" if answer.result.server else ""
    return labelled_text("answer", f"{answer.day}{server}: {answer.answer}", width, "$text-success")


def _objection_lines(entry: ProbeEntry, status: ProbeStatus, width: int) -> Iterator[Content]:
    if entry.plan is None or status.objections is None:
        return
    if not status.objections:
        yield labelled_text("refused", f"no objection at {status.checked_at}", width)
    for found in status.objections:
        yield labelled_text("refused", f"{objection_text(found)} (at {status.checked_at})", width, "$text-warning")


def answers_by_probe(results: Iterable[ProbeResult]) -> dict[str, tuple[ProbeAnswer, ...]]:
    """The results by probe, the newest first, with their answers; takes up to a second to compute."""
    from advisor.report.probe.words import answer

    answers: dict[str, tuple[ProbeAnswer, ...]] = {}
    for result in sorted(results, key=lambda r: r.began_at, reverse=True):
        answers[result.probe] = (*answers.get(result.probe, ()), ProbeAnswer(result, answer(result)))
    return answers


TextKey = tuple[str, ...]  # identifies a long text


class DetailContent(NamedTuple):
    """What to draw: `run` while the probe runs, `result` to show the newest result in full.

    `variables` are those of the audited server, for the mark in the chart.
    """

    entry: ProbeEntry
    status: ProbeStatus
    run: ProbeRun | None = None
    result: bool = False
    variables: Mapping[str, str] = NO_SERVER


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
        return self._texts.get(_result_key(shown.status.answers[0].result, shown.variables)) or ""

    def _content(self, shown: DetailContent, height: int) -> Content:
        if shown.run is not None:
            self.drawn_at = time.monotonic()
            run, room = shown.run, (self._width, height)
            return progress_text(run.state, run.order, room, self.drawn_at, stopping=run.stopping)
        if shown.result and shown.status.answers:
            return self._result(shown.status.answers[0].result, shown.variables, self._width)
        return self._description(shown, self._width)

    def _description(self, shown: DetailContent, width: int) -> Content:
        more = self._text(("about", shown.entry.experiment.name), lambda: probe_description(shown.entry, width))
        return (
            probe_summary(shown.entry, shown.status, width)
            + Content("\n\n")
            + (join_blocks(more) if more else Content("…"))
        )

    def _result(self, result: ProbeResult, variables: Mapping[str, str], width: int) -> Content:
        text = self._text(_result_key(result, variables), lambda: _report(result, variables, width))
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


def _result_key(result: ProbeResult, variables: Mapping[str, str]) -> TextKey:
    return "result", result.probe, result.began_at, variables.get(axis_name(result), "")


def _report(result: ProbeResult, variables: Mapping[str, str], width: int) -> str:
    from advisor.report.output import Paper
    from advisor.report.probe.result import render

    return replace_flags(render(result, "text", Paper(width), variables=variables).rstrip())
