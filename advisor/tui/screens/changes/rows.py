"""The selected findings as rows: what became of each since it was selected, and what the change set does with it."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, NamedTuple

from advisor.analysis.why_gone import loads, rests_on_load, unjudged
from advisor.core.errors import MycnfError
from advisor.fixing.change_files import APPLY, DIFF, ROLLBACK, TICKET, apply_sql, option_diff, rollback_sql
from advisor.fixing.change_set import build_change_set
from advisor.report.audit.ticket import short_ticket
from advisor.tui.screens.report.preview import absolute_path, save_report
from advisor.tui.view import finding_key
from rules.core.advice import advised_value

if TYPE_CHECKING:
    from advisor.core.model import Finding
    from advisor.fixing.change_set import ChangeSet
    from advisor.tui.view import SelectedFinding, View

DONE, STILL, UNJUDGED, NEW = "✓", "·", "?", " "
PRIVATE_FOLDER = 0o700


class ChangeRow(NamedTuple):
    """A selected finding: its state as a sign and in words, its change, and what is done with it."""

    finding: Finding
    sign: str
    state: str
    change: str
    place: str


class ChangeTexts(NamedTuple):
    """The rows of the change set and its files by name; an empty text means that there is no such file."""

    rows: tuple[ChangeRow, ...]
    files: dict[str, str]
    changes: ChangeSet


def change_texts(view: View) -> ChangeTexts:
    """Everything about the change set of this view."""
    selected = [_newest(view, choice) for choice in view.selected]
    changes = build_change_set(view.audited, selected)
    states = [change_state(view, choice) for choice in view.selected]
    # What is done is not applied again, but it can still be undone.
    left = [finding for finding, (sign, _) in zip(selected, states, strict=True) if sign != DONE]
    pending = build_change_set(view.audited, left)
    rows = tuple(
        ChangeRow(finding, *state, _change_words(finding), _place(changes, finding))
        for finding, state in zip(selected, states, strict=True)
    )
    files = {
        APPLY: apply_sql(view.audited, pending),
        ROLLBACK: rollback_sql(view.audited, changes),
        DIFF: option_diff(pending),
        TICKET: short_ticket(view.audited, selected, [words for _, words in states]),
    }
    return ChangeTexts(rows, files if selected else {}, changes)


def _newest(view: View, selected: SelectedFinding) -> Finding:
    """The finding as the present audit has it: values and lines may have moved since it was selected."""
    key = finding_key(selected.finding)
    return next((f for f in view.audited.findings if finding_key(f) == key), selected.finding)


def change_state(view: View, selected: SelectedFinding) -> tuple[str, str]:
    """What became of a selected finding, as a sign and in words; blank until a newer audit has been read."""
    before, now = selected.audited, view.audited
    if before.facts.taken_at == now.facts.taken_at:
        return NEW, ""
    key = finding_key(selected.finding)
    if any(finding_key(f) == key for f in (*now.findings, *(f for f, _ in now.suppressed))):
        return STILL, "still there"
    reason = unjudged(selected.finding, before, now)
    if reason:
        return UNJUDGED, f"not judged: {reason}"
    load = loads(before.facts, now.facts)
    if load is not None and load.differs and rests_on_load(selected.finding, before.known):
        return UNJUDGED, "not judged: the load differs"
    return DONE, "done"


def _change_words(finding: Finding) -> str:
    change = advised_value(finding)
    if change is None:
        return finding.name
    return f"{change.option}  {change.before} → {change.after}"


def _place(changes: ChangeSet, finding: Finding) -> str:
    """Where the change set has it: in the statements, in the diff, by hand, or nowhere."""
    own = [change for change in changes.changes if finding in change.findings]
    if not own:
        if finding not in changes.without_advice:
            return "left out: contradiction"
        return "by hand: see ticket" if finding.help else "nothing to change"
    parts = ["by hand"] if any(change.by_hand for change in own) else []
    parts += ["SQL"] if any(change.statement for change in own) else []
    parts += ["file"] if any(change.edits for change in own) else []
    parts += ["restart"] if any(change.action and change.action.restart for change in own) else []
    return " + ".join(parts)


def default_folder(view: View) -> str:
    """The directory that is offered for the files: named after the host and the time of the audit."""
    host = view.audited.facts.server.variables.get("hostname", "") or "server"
    bare = "".join(sign if sign.isalnum() or sign in "-." else "-" for sign in host)[:60].strip(".-") or "server"
    digits = "".join(sign for sign in view.audited.facts.taken_at[:16] if sign.isdigit())
    return f"mycnf-changes-{bare}-{digits}"


def save_files(view: View, typed: str, files: dict[str, str]) -> str:
    """Write the files into a directory of their own, mode 0600, and return its path; raises MycnfError."""
    folder = os.path.realpath(absolute_path(typed))
    try:
        os.makedirs(folder, PRIVATE_FOLDER, exist_ok=True)
        taken = sorted(set(os.listdir(folder)) & set(files))
    except OSError as error:
        raise MycnfError(f"cannot write into {folder}: {error.strerror}. Enter another directory") from error
    if taken:
        raise MycnfError(f"{folder} already holds {', '.join(taken)}. Enter another directory")
    for name, text in files.items():
        if text:
            save_report(text, os.path.join(folder, name), view.audited.facts)
    return folder
