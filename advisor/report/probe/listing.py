"""The experiments as a list, one of them described, what a run would do, and the results that are kept."""

from __future__ import annotations

from typing import TYPE_CHECKING

from advisor.core.errors import MycnfError
from advisor.core.model import format_duration, format_size
from advisor.redaction import escape_text
from advisor.report.probe import as_json
from advisor.report.probe.words import answer
from advisor.report.words import bold, plural, wrap

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from advisor.report.output import Paper
    from probes.experiment import Experiment, ProbeEntry
    from probes.results import KeptResult

COUNTED = 180  # seconds; a longer time is told in minutes
WORDS = {"host": "measures this host; no server is started", "server": "starts a throwaway server of its own"}


def listing(entries: Sequence[ProbeEntry], form: str, page: Paper) -> str:
    """Every experiment: name, kind, time, evidence and its question."""
    if form == "json":
        return as_json.listing(entries)
    _text_only(form)
    if not entries:
        return "No probe is known.\n"
    lines = []
    for e in entries:
        x = e.experiment
        head = f"{bold(f'{x.name:<22}', page.colour)} {x.kind:<7} {_time(e):>6}  {', '.join(x.evidence)}"
        lines += [head.rstrip(), wrap(escape_text(x.question), "  ", width=page.width)]
    lines += _before(entries, page)
    lines += ["", wrap("mycnf probe NAME runs one; --describe and --dry-run say what it does.", width=page.width)]
    return page.fitted("\n".join(lines) + "\n")


def _before(entries: Sequence[ProbeEntry], page: Paper) -> list[str]:
    """Each reason once, with the experiments that it keeps from running."""
    reasons: dict[str, list[str]] = {}
    for e in entries:
        for reason in e.refused:
            reasons.setdefault(reason, []).append(e.experiment.name)
    lines = (f"{', '.join(names)}: {reason}" for reason, names in reasons.items())
    return [line for reason in lines for line in ("", wrap(escape_text(reason), "", "  ", page.width))]


def description(e: ProbeEntry, form: str, page: Paper) -> str:
    """One experiment: question, evidence with the published numbers, choices, what it creates and can't show."""
    if form == "json":
        return as_json.listing([e])
    _text_only(form)
    x = e.experiment
    blocks = [
        f"{bold(x.name, page.colour)}: {escape_text(x.title)}\n{wrap(escape_text(x.question), width=page.width)}",
        wrap(f"{x.kind} probe: {WORDS.get(x.kind, '')}", width=page.width),
        _evidence(x, page),
        _choices(x, page),
        _plan(e, page),
    ]
    if e.plan is not None:
        blocks += [_list("What it can't show", e.plan.limits, page), _list("Notes", e.plan.notes, page)]
    return page.fitted("\n\n".join(block for block in blocks if block) + "\n")


def dry_run(e: ProbeEntry, form: str, page: Paper) -> str:
    """What a run would create and take, preparation apart, and what would be refused now."""
    if form == "json":
        return as_json.listing([e])
    _text_only(form)
    x = e.experiment
    blocks = [
        bold(f"{x.name} would run in {escape_text(e.directory)}", page.colour) + (f"\n  {e.why}" if e.why else "")
    ]
    blocks.append(_plan(e, page))
    if e.plan is not None:
        blocks.append(_list("Refused now", e.refused, page))
    return page.fitted("\n\n".join(block for block in blocks if block) + "\n")


def kept(results: Sequence[KeptResult], here: str, form: str, page: Paper) -> str:
    """The kept results, the newest first, each with its answer."""
    if form == "json":
        return as_json.kept(results, here)
    _text_only(form)
    if not results:
        return "No result is kept yet; mycnf probe lists what can be run.\n"
    lines = []
    for k in results:
        r = k.result
        other = "" if r.place.host == here else "another host"
        rounds = plural(r.rounds, "round")
        parts = (k.id, r.began_at[:16].replace("T", " "), r.probe, r.server or "", rounds, other)
        lines.append("  ".join(escape_text(part) for part in parts if part))
        lines.append(wrap(escape_text(answer(r)), "        ", width=page.width))
    lines += ["", "mycnf probe results ID shows one."]
    return page.fitted("\n".join(lines) + "\n")


def _text_only(form: str) -> None:
    if form != "text":
        raise MycnfError(f"--format {form} is for results; lists and descriptions come as text or json")


def _time(e: ProbeEntry) -> str:
    return lasts(e.plan.seconds) if e.plan else "-"


def lasts(seconds: float) -> str:
    """A plan's time: seconds to the second as long as people count in them."""
    return f"{seconds:.0f} s" if seconds <= COUNTED else format_duration(seconds)


def _evidence(x: Experiment, page: Paper) -> str:
    from advisor.report.evidence import passage
    from advisor.report.render.text import written
    from rules.core.areas import find_evidence

    known = [found for found in map(find_evidence, x.evidence) if found is not None]
    return "\n\n".join(written(passage(found), page) for found in known)


def _choices(x: Experiment, page: Paper) -> str:
    if not x.choices:
        return ""
    rows = tuple((c.name, c.default or "-", c.words) for c in x.choices)
    wide = max(len(row[0]) for row in rows)
    lines = [bold("Choices (--option NAME=VALUE)", page.colour)]
    for name, default, words in rows:
        lines.append(wrap(escape_text(f"{words} ({default})"), f"  {name:<{wide}}  ", " " * (wide + 4), page.width))
    return "\n".join(lines)


def _plan(e: ProbeEntry, page: Paper) -> str:
    if e.plan is None:
        return _list("Before it can run", e.refused, page)
    plan, cost = e.plan, e.plan.cost
    names = [variant.name for variant in plan.variants]
    rows = (
        (
            "compares",
            escape_text(", ".join(names)) + (f" (baseline {escape_text(plan.baseline)})" if len(names) > 1 else ""),
        ),
        ("measures", ", ".join(f"{m.name} ({m.unit})" if m.unit else m.name for m in plan.metrics)),
        ("server", escape_text(plan.server or "")),
        ("load by", escape_text(plan.driver)),
        ("prepares", f"for about {lasts(cost.prepare)}" if cost.prepare else "nothing"),
        ("takes", f"{lasts(plan.seconds)} for {plural(plan.rounds, 'round')}, preparation apart"),
        ("disk", format_size(cost.disk) if cost.disk else "none"),
        ("memory", format_size(cost.memory) if cost.memory else "little"),
        ("creates", escape_text("; ".join(cost.creates)) or "nothing"),
    )
    lines = [wrap(words, f"  {name:<9} ", " " * 12, page.width) for name, words in rows if words]
    return "\n".join([bold("What a run does", page.colour), *lines])


def _list(title: str, entries: Iterable[str], page: Paper) -> str:
    lines = [wrap(escape_text(entry), "  ", "    ", page.width) for entry in entries if entry]
    return "\n".join([bold(title, page.colour), *lines]) if lines else ""
