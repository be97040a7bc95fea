"""A suggestion as an option file: above each line why, on what it rests, what it may cost and what to watch."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from advisor.catalog.load import load
from advisor.redaction.secrets import escape_text
from advisor.report.evidence import STRENGTHS
from advisor.report.findings_json import dumps
from advisor.report.words import wrap
from rules.core.evidence import find_evidence

if TYPE_CHECKING:
    from collections.abc import Iterator

    from advisor.core.model import Target
    from advisor.suggest import Suggestion
    from advisor.suggest.choices import SuggestedLine

COMMENT = "# "
WIDTH = 100
OPINION = "opinion"


def option_file(suggestion: Suggestion, host: str) -> str:
    """The whole file; `host` says in words for what machine it is. For a managed target, the list of parameters."""
    group = [] if suggestion.target.is_managed else ["[mysqld]"]
    blocks = ["\n".join(introduction(suggestion, host)), *group]
    blocks += ["\n".join([*remarks(choice), _line(suggestion.target, choice)]) for choice in suggestion.choices]
    return "\n\n".join(blocks) + "\n"


def _line(target: Target, choice: SuggestedLine) -> str:
    if not target.is_managed:
        return choice.line
    from rules.core.managed import service_value

    return f"{choice.option} = {service_value(target, load(target).get(choice.option), choice.value)}"


def introduction(suggestion: Suggestion, host: str) -> list[str]:
    """What stands at the top, as comments: for which server and host it is, and what was left out."""
    head = [
        f"For {suggestion.target.label} with the workload {suggestion.workload}, on {host}, by mycnf suggest.",
        "Only what differs from the defaults and is worth it. Once the server runs, mycnf audit shows what it needs.",
        *(f"Left out: {sentence}." for sentence in suggestion.omitted),
    ]
    return [comment(line) for line in head]


def remarks(choice: SuggestedLine) -> Iterator[str]:
    """What stands above the line of a choice, as comments."""
    yield comment(choice.reason)
    told = [f"Based on {_ground(choice)}."]
    told += [f"Risk: {choice.risk}."] if choice.risk else []
    told += [f"Watch {choice.watch}."] if choice.watch else []
    yield comment(" ".join(told))


def as_json(suggestion: Suggestion) -> str:
    """The same for programs."""
    lines: list[dict[str, Any]] = [
        {**choice._asdict(), "line": choice.line, "evidence": list(choice.evidence)} for choice in suggestion.choices
    ]
    for line in lines:
        del line["size"]
    told = {"target": str(suggestion.target), "workload": suggestion.workload, "left": list(suggestion.omitted)}
    return dumps({"version": 1, **told, "options": lines})


def comment(text: str) -> str:
    """Words as comment lines."""
    return wrap(escape_text(text), COMMENT, COMMENT, WIDTH)


def _ground(choice: SuggestedLine) -> str:
    known = [one for one in map(find_evidence, choice.evidence) if one is not None]
    return ", ".join(f"{one.id} ({STRENGTHS.get(one.strength, one.strength)})" for one in known) or OPINION
