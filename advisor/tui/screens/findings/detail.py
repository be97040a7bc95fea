"""One finding in full: cause, evidence, actions and their risk."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from textual.content import Content

from advisor.core.model import Confidence
from advisor.redaction import redact_value
from advisor.report import wrap
from advisor.report.evidence import newest_result, passage
from advisor.report.finding import in_brief, shown_help
from advisor.report.output import Paper
from advisor.report.render.text import block_text
from advisor.tui.text import SEVERITY_STYLES, fold, join_lines, safe_line, safe_text
from rules import find_rule
from rules.core.areas import find_evidence

if TYPE_CHECKING:
    from collections.abc import Iterator

    from advisor.core.model import Action, Finding, Location
    from advisor.facts import Facts, OptionFiles
    from advisor.tui.view import View
    from rules.core.areas import Evidence

AROUND = 2  # lines of the file before and after the line of the finding
LABEL = 8
GUTTER = "      │ "  # before the continuation of a line of the file
LEAST = 30
COUNTER = re.compile(r"\b[A-Z][A-Za-z]*(?:_[A-Za-z]+)+\b|\bUptime\b|\bQuestions\b")


def finding_detail(view: View, finding: Finding, width: int, *, ascii_only: bool = False) -> Content:
    """Everything about a finding, wrapped to `width` columns."""
    width = max(LEAST, width)
    blocks = [
        _head(finding) + _keys(view, finding, width),
        *_suppression(view, finding, width),
        _subject(finding),
        safe_text(wrap(finding.set_by, width=width)) if finding.set_by else Content(""),
        safe_text(wrap(finding.message, width=width)),
        *_file_context(view.audited.facts.files, finding.location, width),
        *_help(finding, width),
        *(_action(action, width) for action in finding.actions),
        *_local_result(finding, width),
        *(_evidence(e, finding, view.audited.facts, width, ascii_only) for e in evidence_of(finding)),
        *_rule_texts(finding, width),
    ]
    return Content("\n\n").join(block for block in blocks if block.plain)


def evidence_of(finding: Finding) -> list[Evidence]:
    """The evidence for the finding."""
    return [e for e in map(find_evidence, finding.evidence) if e is not None]


def _head(f: Finding) -> Content:
    here = " here" if f.local is not None and f.confidence is Confidence.MEASURED else ""
    name = Content.assemble((f"{f.code} {f.name}", "bold"), "\n", (f.severity.value, SEVERITY_STYLES[f.severity]))
    return name + Content(f" · {f.confidence.value}{here}")


def _keys(view: View, f: Finding, width: int) -> Content:
    """The keys that lead from the finding elsewhere, on a line of their own."""
    rule = find_rule(f.code)
    places = {
        "l line of the file": any(at and at.line for at in (f.location, *(a.place for a in f.actions))),
        "v variable": f.canonical is not None,
        "w counters": _is_charted(view, f),
        "p probe": rule is not None and rule.probe is not None,
    }
    keys = join_lines((key for key, leads in places.items() if leads), width, "  ")
    return Content.styled(f"\n{keys}", "dim") if keys else Content("")


def _is_charted(view: View, f: Finding) -> bool:
    from advisor.tui.screens.workload.counters import series_of  # after the first findings are shown

    return series_of(counters_of(view, f), view.latest_sample) is not None


def _suppression(view: View, f: Finding, width: int) -> list[Content]:
    reason = view.hidden_reason(f)
    if reason is None:
        return []
    return [safe_text(wrap(f"suppressed: {redact_value('', reason)}", width=width), "$text-warning")]


def _subject(f: Finding) -> Content:
    what = f"{f.option} = {f.value or '(empty)'}" if f.option and f.value is not None else f.option or ""
    where = f"{f.location.path}:{f.location.line}" if f.location and f.location.line else ""
    return Content("\n").join(safe_line(part, "bold") for part in (what, where) if part)


def _file_context(files: OptionFiles | None, at: Location | None, width: int) -> list[Content]:
    """The line of the finding with its neighbours, if the file was read."""
    if files is None or at is None or not at.line:
        return []
    text = next((copy.text for copy in files.files if copy.path == at.path), None)
    if text is None:
        return []
    lines = text.split("\n")
    first = max(1, at.line - AROUND)
    shown = []
    for number, words in enumerate(lines[first - 1 : at.line + AROUND], first):
        mark, style = (">", "bold") if number == at.line else (" ", "dim")
        whole = safe_line(f"{mark}{number:>4} │ {words.rstrip()}").plain
        shown.append(Content.styled(fold(whole, width, GUTTER), style))
    return [Content("\n").join(shown)]


def _help(f: Finding, width: int) -> list[Content]:
    return [_label_text("help", shown_help(f), width)] if shown_help(f) else []


def _action(a: Action, width: int) -> Content:
    return Content("\n").join(_label_text(label, text, width) for label, text in in_brief(a) if text)


def _label_text(label: str, text: str, width: int) -> Content:
    first, _, rest = fold(wrap(text, " " * LABEL, width=width), width, " " * LABEL).partition("\n")
    shown = Content.styled(f"{label:<{LABEL}}", "$text-accent") + safe_text(first[LABEL:])
    return shown + safe_text("\n" + rest) if rest else shown


def _local_result(f: Finding, width: int) -> list[Content]:
    return [_label_text("here", f.local.words, width)] if f.local else []


def _evidence(e: Evidence, f: Finding, facts: Facts, width: int, ascii_only: bool) -> Content:
    """One piece of evidence; its chart has this host's curve where the newest probe on it measured the same."""
    newest = newest_result(e, facts.probes)
    return safe_text(fold(block_text(passage(e, f, newest), Paper(width, plain=ascii_only)), width, " " * LABEL))


def _rule_texts(f: Finding, width: int) -> Iterator[Content]:
    rule = find_rule(f.code)
    if rule is None:
        return
    for title, text in (
        ("Why", rule.docs.why),
        ("Exceptions", rule.docs.exceptions),
        ("Sources disagree", rule.docs.disagree),
        ("Reconsider when", rule.docs.reconsider_when),
        ("Measure it here", f"screen 6, or mycnf probe {rule.probe}" if rule.probe else ""),
    ):
        if text:
            yield Content.styled(title, "bold") + safe_text("\n" + wrap(text, "  ", width=width))


def counters_of(view: View, finding: Finding) -> list[str]:
    """The status counters that a finding is about: those to watch, then those that its text names."""
    watched = [action.watch for action in finding.actions if action.watch]
    named = COUNTER.findall(f"{finding.message} {finding.help}")
    rule = find_rule(finding.code)
    more = COUNTER.findall(f"{rule.summary} {rule.docs.why} {rule.docs.reconsider_when}") if rule else []
    status = view.audited.facts.server.status
    return [name for name in dict.fromkeys((*watched, *named, *more)) if name.lower() in status]
