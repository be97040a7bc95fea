"""The experiments as a list, one of them described, what a run would do, and the results that are kept."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from advisor.core.errors import MycnfError
from advisor.core.model import format_size
from advisor.facts.snapshot import to_plain
from advisor.report import plural
from advisor.report.document import Code, Document, Facts, Paragraph, Section, Table
from advisor.report.evidence import passage
from advisor.report.findings_json import dumps
from advisor.report.formats import render
from advisor.report.probe.result import VERSION, finite, titled_list
from advisor.report.probe.words import answer, run_time
from probes.experiment import list_names
from rules.core.areas import find_evidence

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from advisor.report.document import Block
    from advisor.report.output import Paper
    from probes.experiment import ProbeEntry
    from probes.results import KeptResult

HEADS = ("probe", "kind", "takes", "evidence", "question")
MOST_IDS = 5  # in a row of the text; with more, the question would not stand in its column
COUNTED = 181  # seconds; this time and longer ones are shown in minutes
WORDS = {"host": "measures this host; no server is started", "server": "starts its own throwaway server"}


def listing(entries: Sequence[ProbeEntry], form: str, page: Paper) -> str:
    """Every experiment: name, kind, time, evidence and its question; then what keeps which of them from running."""
    most = MOST_IDS if form == "text" else None
    rows = tuple(
        (Code(x.name), x.kind, lasts(e.plan.seconds) if e.plan else "-", _evidence_list(x.evidence, most), x.question)
        for e, x in ((e, e.experiment) for e in entries)
    )
    reasons: dict[str, list[str]] = {}
    for e in entries:
        for reason in e.refused:
            reasons.setdefault(reason, []).append(e.experiment.name)
    refused = (f"{', '.join(names)}: {reason}" for reason, names in reasons.items())
    last = "mycnf probe NAME runs one; --describe and --dry-run show what it does."
    blocks = (Table(HEADS, rows), titled_list("Before they can run", refused), Paragraph(last))
    title = ("mycnf probe", plural(len(entries), "experiment"))
    return _render_document(Document(title, blocks), form, page, partial(listing_json, entries))


def _evidence_list(ids: Sequence[str], most: int | None) -> str:
    """So many ids at most, of more one fewer with an ellipsis; all of them without a limit."""
    return ", ".join(ids if most is None or len(ids) <= most else (*ids[: most - 1], "…"))


def description(e: ProbeEntry, form: str, page: Paper) -> str:
    """One experiment: question, evidence with the published numbers, choices, what it creates and can't show."""
    x = e.experiment
    evidence = (passage(found) for found in map(find_evidence, x.evidence) if found is not None)
    blocks: list[Block] = [Paragraph(x.question), Paragraph(f"{x.kind} probe: {WORDS.get(x.kind, '')}"), *evidence]
    choices = tuple((choice.name, f"{choice.words} ({choice.default or '-'})") for choice in x.choices)
    label = max((len(name) for name, _ in choices), default=0) + 2
    blocks += [Section("Choices (--option NAME=VALUE)", (Facts(choices, label),)), _plan(e)]
    if e.plan is not None:
        blocks += [titled_list("What it cannot show", e.plan.limits), titled_list("Notes", e.plan.notes)]
    return _render_document(Document((f"{x.name}: {x.title}",), tuple(blocks)), form, page, partial(listing_json, [e]))


def dry_run(e: ProbeEntry, form: str, page: Paper) -> str:
    """What a run would create and take, preparation apart, and what would be refused now."""
    x = e.experiment
    place = Section("", (Paragraph((f"{x.name} would run in ", Code(e.directory))), Paragraph(e.why, indent=2)))
    refused = titled_list("Refused now", e.refused if e.plan is not None else ())
    document = Document((f"{x.name}: {x.title}",), (place, _plan(e), refused))
    return _render_document(document, form, page, partial(listing_json, [e]))


def render_kept(results: Sequence[KeptResult], here: str, form: str, page: Paper) -> str:
    """The kept results, the newest first, each with its answer; as text without a title."""
    lines = tuple(line for k in results for line in _result(k, here))
    none = "No result is saved yet; mycnf probe lists the probes."
    last = "mycnf probe results ID shows one." if results else none
    title = () if form == "text" else ("mycnf probe", plural(len(results), "kept result"))
    return _render_document(
        Document(title, (Section("", lines), Paragraph(last))), form, page, partial(kept_json, results, here)
    )


def _result(k: KeptResult, here: str) -> tuple[Paragraph, Paragraph]:
    r = k.result
    other = "" if r.place.host == here else "another host"
    parts = (k.id, r.began_at[:16].replace("T", " "), r.probe, r.server or "", plural(r.rounds, "round"), other)
    return Paragraph((Code("  ".join(part for part in parts if part)),)), Paragraph(answer(r), indent=8)


def _render_document(document: Document, form: str, page: Paper, json: Callable[[], str]) -> str:
    if form == "svg":
        raise MycnfError("--format svg is for results; use text, markdown, html or json")
    return render("probe", form, page, lambda: document, {"json": json})


def lasts(seconds: float) -> str:
    """A plan's time: seconds to the second as long as people count in them."""
    return run_time(seconds, COUNTED)


def _plan(e: ProbeEntry) -> Section:
    if e.plan is None:
        return titled_list("Before it can run", e.refused)
    plan, cost = e.plan, e.plan.cost
    names = [variant.name for variant in plan.variants]
    rows = (
        ("compares", list_names(names) + (f" (baseline {plan.baseline})" if len(names) > 1 else "")),
        ("measures", ", ".join(f"{m.name} ({m.unit})" if m.unit else m.name for m in plan.metrics)),
        ("server", plan.server or ""),
        ("load by", plan.driver),
        ("prepares", f"for about {lasts(cost.prepare)}" if cost.prepare else "nothing"),
        ("takes", f"{lasts(plan.seconds)} for {plural(plan.rounds, 'round')}, preparation apart"),
        ("disk", format_size(cost.disk) if cost.disk else "none"),
        ("memory", format_size(cost.memory) if cost.memory else "little"),
        ("creates", "; ".join(cost.creates) or "nothing"),
    )
    return Section("What a run does", (Facts(rows),))


def listing_json(entries: Iterable[ProbeEntry]) -> str:
    """The experiments, each with what a run would take here."""
    return dumps(finite({"version": VERSION, "probes": [_entry_fields(e) for e in entries]}))


def kept_json(shelf: Iterable[KeptResult], here: str) -> str:
    """The kept results without their samples; `here` says which are of this host."""
    results = [
        {
            "id": k.id,
            "probe": k.result.probe,
            "server": k.result.server,
            "began_at": k.result.began_at,
            "seconds": k.result.seconds,
            "rounds": k.result.rounds,
            "ended": k.result.ended,
            "here": k.result.place.host == here,
            "answer": answer(k.result),
        }
        for k in shelf
    ]
    return dumps(finite({"version": VERSION, "results": results}))


def _entry_fields(e: ProbeEntry) -> dict[str, Any]:
    """One experiment: what it asks and takes, and what keeps it from running here."""
    x, plan = e.experiment, e.plan
    return {
        "name": x.name,
        "title": x.title,
        "question": x.question,
        "kind": x.kind,
        "evidence": list(x.evidence),
        "choices": [choice._asdict() for choice in x.choices],
        "directory": e.directory,
        "refused": list(e.refused),
        "plan": None
        if plan is None
        else {
            "seconds": plan.seconds,
            "rounds": plan.rounds,
            "variants": [variant.name for variant in plan.variants],
            "baseline": plan.baseline,
            "metrics": to_plain(plan.metrics),
            "driver": plan.driver,
            "server": plan.server,
            "parameters": plan.parameters,
            "limits": list(plan.limits),
            "notes": list(plan.notes),
            **plan.cost._asdict(),
        },
    }
