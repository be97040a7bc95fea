"""One finding in full: what and why, the evidence, what to do and what to expect of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.content import Content

from advisor.core.model import Confidence
from advisor.redaction.secrets import redact_value
from advisor.report.finding import in_brief
from advisor.report.rules import page
from advisor.report.words import wrap
from advisor.tui.text import fold, line, plain
from advisor.tui.widgets.header import STYLES
from rules import find_rule
from rules.core.evidence import find_evidence

if TYPE_CHECKING:
    from collections.abc import Iterator

    from advisor.core.model import Action, Finding, Location
    from advisor.facts import OptionFiles
    from advisor.tui.view import View
    from rules.core.evidence import Evidence

AROUND = 2  # lines of the file before and after the one that a finding is about
LABEL = 8
GUTTER = "      │ "  # before what goes on of a line of the file
LEAST = 30


def detail(view: View, finding: Finding, width: int, *, ascii_only: bool = False) -> Content:
    """Everything that is known of a finding, at most `width` columns wide where words allow."""
    width = max(LEAST, width)
    blocks = [
        _head(finding),
        *_aside(view, finding, width),
        _about(finding),
        plain(wrap(finding.message, width=width)),
        *_file(view.audited.facts.files, finding.location, width),
        *_help(finding, width),
        *(_action(action, width) for action in finding.actions),
        *_local(finding, width),
        *(_evidence(e, width, ascii_only) for e in sources(finding)),
        *_words(finding, width),
    ]
    return Content("\n\n").join(block for block in blocks if block.plain)


def sources(finding: Finding) -> list[Evidence]:
    """The evidence that the finding rests on."""
    return [e for e in map(find_evidence, finding.evidence) if e is not None]


def _head(f: Finding) -> Content:
    here = " here" if f.local is not None and f.confidence is Confidence.MEASURED else ""
    name = Content.assemble((f"{f.code} {f.name}", "bold"), "\n", (f.severity.value, STYLES[f.severity]))
    return name + Content(f" · {f.confidence.value}{here}")


def _aside(view: View, f: Finding, width: int) -> list[Content]:
    reason = view.reason(f)
    if reason is None:
        return []
    return [plain(wrap(f"suppressed: {redact_value('', reason)}", width=width), "$text-warning")]


def _about(f: Finding) -> Content:
    what = f"{f.option} = {f.value or '(empty)'}" if f.option and f.value is not None else f.option or ""
    where = f"{f.location.path}:{f.location.line}" if f.location and f.location.line else ""
    return Content("\n").join(line(part, "bold") for part in (what, where) if part)


def _file(files: OptionFiles | None, at: Location | None, width: int) -> list[Content]:
    """The line with its neighbours, where the file was read."""
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
        whole = line(f"{mark}{number:>4} │ {words.rstrip()}").plain
        shown.append(Content.styled(fold(whole, width, GUTTER), style))
    return [Content("\n").join(shown)]


def _help(f: Finding, width: int) -> list[Content]:
    return [_labelled("help", f.help, width)] if f.help and not f.actions else []


def _action(a: Action, width: int) -> Content:
    return Content("\n").join(_labelled(label, text, width) for label, text in in_brief(a) if text)


def _labelled(label: str, text: str, width: int) -> Content:
    first, _, rest = fold(wrap(text, " " * LABEL, width=width), width, " " * LABEL).partition("\n")
    shown = Content.styled(f"{label:<{LABEL}}", "$text-accent") + plain(first[LABEL:])
    return shown + plain("\n" + rest) if rest else shown


def _local(f: Finding, width: int) -> list[Content]:
    return [_labelled("here", f.local.words, width)] if f.local else []


def _evidence(e: Evidence, width: int, ascii_only: bool) -> Content:
    return plain(page.passage(e, width, ascii_only))


def _words(f: Finding, width: int) -> Iterator[Content]:
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
            yield Content.styled(title, "bold") + plain("\n" + wrap(text, "  ", width=width))
