"""The outcomes of the scenarios, saved as JSON and written as the page docs/experiments/scenarios.md."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator

from scenariorun import FIRST, Outcome


def keep(path: str, outcomes: dict[str, Outcome]) -> None:
    """Save the outcomes by scenario."""
    with open(path, "w", encoding="utf-8") as file:
        json.dump({name: outcomes[name]._asdict() for name in sorted(outcomes)}, file, indent=1)
        file.write("\n")


def saved_outcomes(path: str) -> dict[str, Outcome]:
    """The saved outcomes; empty without any."""
    if not os.path.exists(path):
        return {}
    with open(path, encoding="utf-8") as file:
        rows = json.load(file)
    lists = ("expected", "codes", "false", "refused", "applied")
    return {name: Outcome(**{**row, **{key: tuple(row[key]) for key in lists}}) for name, row in rows.items()}


def page(outcomes: list[Outcome], tuner: str) -> str:
    """The page, in Markdown; `tuner` names the release of MySQLTuner that was asked."""
    return "\n".join(_page(outcomes, tuner)).rstrip() + "\n"


def _page(outcomes: list[Outcome], tuner: str) -> Iterator[str]:
    faulty = [o for o in outcomes if o.expected]
    tuned = [o for o in outcomes if not o.expected]
    yield "# Scenarios: what an audit reports about servers that were broken on purpose\n"
    yield "Each folder of [examples/lab](../../examples/lab/README.md) with a `scenario.toml` starts real servers and"
    yield "breaks them. It defines beforehand what an audit must report and what it must not. The advice is then"
    yield f"applied as printed, and the servers are audited again. {tuner} was run on the same servers.\n"
    yield f"- fault among the first {FIRST} findings: **{sum(o.found for o in faulty)} of {len(faulty)}**;"
    yield f"  named by MySQLTuner: {sum(bool(o.tuner) for o in faulty)}"
    yield f"- servers in order without an error or warning: **{sum(o.found for o in tuned)} of {len(tuned)}**"
    yield f"- false findings: **{sum(len(o.false) for o in outcomes)}**"
    yield f"- printed statements that a server refused: **{sum(len(o.refused) for o in outcomes)}**"
    yield f"- after the advice: {_afterwards(faulty)}\n"
    yield "| scenario | server | fault at place | after the advice | MySQLTuner names it, of its warnings |"
    yield "|:--|:--|--:|:--|:--|"
    yield from map(line, outcomes)
    yield ""
    for outcome in outcomes:
        yield from _details(outcome)
    yield "Written by `make lab`; run it to have the page of your own machine."


def _afterwards(outcomes: list[Outcome]) -> str:
    words = ("gone", "better", "unchanged", "worse", "by hand")
    return ", ".join(f"**{sum(o.after == word for o in outcomes)}** {word}" for word in words)


def line(outcome: Outcome) -> str:
    """A scenario's row of the table."""
    where = f"{outcome.server}{'' if outcome.topology == 'single' else ', ' + outcome.topology}"
    if outcome.error:
        place = f"{outcome.rank}; " if outcome.rank else ""
        return f"| {outcome.name} | {where} | {place}broke off: {_cell(outcome.error)} | | |"
    place = str(outcome.rank or "not found") if outcome.expected else ("quiet" if outcome.found else "not quiet")
    named = "-" if outcome.tuner is None else f"{'yes' if outcome.tuner else 'no'}, {outcome.tuner_lines}"
    return f"| {outcome.name} | {where} | {place} | {outcome.after or '-'} | {named} |"


def _details(outcome: Outcome) -> Iterator[str]:
    yield f"## {outcome.name}\n"
    yield f"{outcome.title}\n"
    if outcome.expected:
        yield f"- expected: {', '.join(outcome.expected)}"
    yield f"- reported: {', '.join(outcome.codes) or 'nothing'}"
    yield from (f"- false: {_cell(text)}" for text in outcome.false)
    yield from (f"- applied: `{_cell(text)}`" for text in outcome.applied)
    yield from (f"- refused: `{_cell(text)}`" for text in outcome.refused)
    yield ""


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")
