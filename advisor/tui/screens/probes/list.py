"""The experiments as rows and as texts: what each would answer and cost, what it answered here, what is against it."""

from __future__ import annotations

from socket import gethostname
from typing import TYPE_CHECKING, NamedTuple

from textual.content import Content

from advisor.core.sizes import about
from advisor.report.paper import Paper
from advisor.report.probe import listing
from advisor.report.probe.listing import lasts
from advisor.report.words import plural, wrap
from advisor.tui.text import line, plain, spoken

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from advisor.facts.probes import ProbeResult
    from advisor.report.probe.listing import Entry
    from advisor.tui.view import View
    from probes.experiment import RunPlan
    from probes.safety.objections import Objection

NAME, FIGURE, DAY = 21, 7, 7  # columns of a row
KEPT, NONE, RUNS = "●", "○", "▶"
LEAST = 30
LABEL = 10
SENTENCE = 12  # columns, at least
SHOWN = 3  # kept results that are told in full


class Answered(NamedTuple):
    """A kept result with the sentence that it comes to."""

    result: ProbeResult
    answer: str

    @property
    def day(self) -> str:
        """Year, month and day, UTC."""
        return self.result.began_at[:10]


class Standing(NamedTuple):
    """How an experiment stands: kept results, the newest first, what is against a run now, and why the last one failed.

    `against` is None while nobody has looked, `looked` says when somebody did.
    """

    answers: tuple[Answered, ...] = ()
    against: tuple[Objection, ...] | None = None
    looked: str = ""
    failed: str = ""


def lacking(view: View, name: str) -> str:
    """Why an experiment can't be run from this audit, with the command that runs it; empty where it can."""
    command, facts = f"mycnf probe {name}", view.audited.facts
    if view.origin == "demo":
        return f"the demo shows a recorded server, and nothing can be measured on that: {command} measures this host"
    if not view.live:
        host = facts.server.variables.get("hostname") or "the server's host"
        here = " (this host, by its name)" if host == gethostname() else ""
        return f"nothing can be measured on a snapshot: run {command} on {host}{here}, and collect anew"
    if facts.host is None:
        why = facts.why_not("host")
        return f"it isn't proved that the server runs on this host ({why}): {command} measures this host anyway"
    return ""


def row(entry: Entry, standing: Standing, width: int, *, runs: bool = False) -> Content:
    """One experiment on one line, with as many columns as there is room for."""
    mark, style = (RUNS, "$text-accent") if runs else (KEPT, "$text-success") if standing.answers else (NONE, "")
    shown = Content.styled(mark, style) + line(f" {entry.experiment.name:<{NAME}}")
    room = width - NAME - 2
    for words, columns in _figures(entry, standing):
        if room < columns:
            return shown
        shown += line(f"{words:>{columns}}", "dim")
        room -= columns
    if room < SENTENCE:
        return shown
    last = standing.answers[0].answer if standing.answers else entry.experiment.question
    return shown + line(f"  {last}", "" if standing.answers else "dim")


def columns(width: int, *, here: bool = True) -> str:
    """What the columns of a row are, as far as there is room for them; `here` where runs can take place."""
    named, room = [f"{KEPT} answered"], width - NAME - 2
    shown = (("time", FIGURE), ("day", DAY), ("disk", FIGURE), ("memory", FIGURE)) if here else (("day", DAY),)
    for words, taken in shown:
        room -= taken
        if room >= 0:
            named.append(words)
    return " · ".join(named)


def _figures(entry: Entry, standing: Standing) -> Iterator[tuple[str, int]]:
    """Time, day of the newest answer, disk and memory; of a host that isn't at hand the day alone is known."""
    plan, day = entry.plan, standing.answers[0].day[5:] if standing.answers else ""
    if not entry.directory:
        yield day, DAY
        return
    yield (lasts(plan.seconds) if plan else "-"), FIGURE
    yield day, DAY
    yield (about(plan.cost.disk) if plan and plan.cost.disk else "-"), FIGURE
    yield (about(plan.cost.memory) if plan and plan.cost.memory else "-"), FIGURE


def head(entry: Entry, standing: Standing, width: int) -> Content:
    """What matters of an experiment before it is run: question, what was answered here, cost, what is against it."""
    width = max(LEAST, width)
    x = entry.experiment
    blocks = [
        Content.styled(x.name, "bold") + plain(f"\n{wrap(x.question, width=width)}"),
        *_failed(standing, width),
        *(_told(answered, width) for answered in standing.answers[:SHOWN]),
        Content("\n").join(labelled(label, words, width) for label, words in costs(entry) if words),
        *_against(entry, standing, width),
    ]
    return Content("\n\n").join(block for block in blocks if block.plain)


def rest(entry: Entry, width: int) -> str:
    """The description that `mycnf probe NAME --describe` gives, but for its first lines; it reads files."""
    _, _, text = listing.description(entry, "text", Paper(max(LEAST, width))).partition("\n\n")
    return spoken(text.rstrip())


def costs(entry: Entry) -> list[tuple[str, str]]:
    """Label and words for what a run takes and makes; why there is none where it can't be planned."""
    if entry.plan is None:
        return [("can't run", spoken(reason)) for reason in entry.refused]
    plan, cost = entry.plan, entry.plan.cost
    prepare = f", about {lasts(cost.prepare)} of preparation before" if cost.prepare else ""
    needs = [f"{about(cost.disk)} of disk"] if cost.disk else []
    needs += [f"{about(cost.memory)} of memory"] if cost.memory else []
    where = f"{entry.directory} ({entry.why.partition(';')[0]})" if entry.why else entry.directory
    return [
        ("takes", f"{lasts(plan.seconds)} for up to {plural(plan.rounds, 'round')} of {_variants(plan)}{prepare}"),
        ("needs", ", ".join(needs) or "next to nothing"),
        ("creates", "; ".join(cost.creates) or "nothing"),
        ("where", where),
        ("server", plan.server or ""),
    ]


def _variants(plan: RunPlan) -> str:
    return plural(len(plan.variants), "variant")


def objection(found: Objection) -> str:
    """A reason not to run, with its name first, for that is what overrides it."""
    return spoken(f"{found.name}: {found.words}: {found.remedy}")


def labelled(label: str, words: str, width: int, style: str = "$text-accent") -> Content:
    """A label, and words wrapped beside it."""
    first, _, more = wrap(words, " " * LABEL, width=width).partition("\n")
    shown = Content.styled(f"{label:<{LABEL}}", style) + plain(first[LABEL:])
    return shown + plain("\n" + more) if more else shown


def blocks(text: str) -> Content:
    """A long text as it may be shown, none of its parts cut for the length of the whole."""
    return Content("\n\n").join(plain(block) for block in text.split("\n\n"))


def _failed(standing: Standing, width: int) -> Iterator[Content]:
    if standing.failed:
        yield labelled("no result", spoken(standing.failed), width, "$text-error")


def _told(answered: Answered, width: int) -> Content:
    server = f" on {answered.result.server}" if answered.result.server else ""
    return labelled("answer", f"{answered.day}{server}: {answered.answer}", width, "$text-success")


def _against(entry: Entry, standing: Standing, width: int) -> Iterator[Content]:
    if entry.plan is None or standing.against is None:
        return
    if not standing.against:
        yield labelled("refused", f"nothing is against it, at {standing.looked}", width)
    for found in standing.against:
        yield labelled("refused", f"{objection(found)} (at {standing.looked})", width, "$text-warning")


def answered(results: Iterable[ProbeResult]) -> dict[str, tuple[Answered, ...]]:
    """The results by experiment, the newest first, each with its answer; takes up to a second of computing."""
    from advisor.report.probe.words import answer

    found: dict[str, tuple[Answered, ...]] = {}
    for result in sorted(results, key=lambda r: r.began_at, reverse=True):
        found[result.probe] = (*found.get(result.probe, ()), Answered(result, answer(result)))
    return found
