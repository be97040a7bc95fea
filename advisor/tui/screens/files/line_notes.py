"""What is said of one line of an option file, below the text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.content import Content

from advisor.facts.files import WORLD_WRITABLE
from advisor.optionfile.lines import LineKind
from advisor.redaction.secrets import redact_value
from advisor.report.words import wrap
from advisor.tui.screens.files.model import NodeState, setting_of
from advisor.tui.text import MUTED, plain
from advisor.tui.widgets.header import SIGNS, STYLES

if TYPE_CHECKING:
    from collections.abc import Iterator

    from advisor.core.model import Finding
    from advisor.facts import OptionFiles
    from advisor.optionfile.lines import Line
    from advisor.tui.screens.files.model import Book, Mark, Node
    from advisor.tui.view import View
    from rules.core.context import RuleContext

LEAST = 30


def words(view: View, book: Book, node: Node, number: int, width: int) -> Content:
    """The findings of a line, what the server makes of it, and what is to be known of its file."""
    width, mark, known = max(LEAST, width), book.mark(node.path, number), view.audited.known
    line = next((line for line in book.lines.get(node.path, ()) if line.number == number), None)
    masked = ["The secret of this line is masked."] if _holds_secret(node, number) else []
    shown = [
        *(_wrapped(text, width, "$text-warning") for text in of_file(node, view.audited.facts.files)),
        *(_finding(finding, width) for finding in mark.findings),
        *(_wrapped(text, width) for text in (*_of_line(line, mark, known, book.groups), *masked)),
    ]
    return Content("\n").join(shown) if shown else plain(_nothing(book), MUTED)


def _nothing(book: Book) -> str:
    return f"Nothing is to be said of this line{'; n goes to the next that has a finding' if book.stops() else ''}."


def _holds_secret(node: Node, number: int) -> bool:
    return node.copy is not None and number in node.copy.secret_lines


def of_file(node: Node, files: OptionFiles | None) -> Iterator[str]:
    """What is to be known of a whole file, if anything."""
    copy = node.copy
    mode = f"mode {copy.mode:04o}, owner uid {copy.uid}" if copy else ""
    if node.state is NodeState.IGNORED and copy is not None and not copy.mode & WORLD_WRITABLE:
        yield "It is included by a file that servers ignore, so nothing that it says counts."
    elif node.state is NodeState.IGNORED:
        yield f"Everybody may write to this file ({mode}), so servers ignore it: nothing that it says counts."
    elif node.state is NodeState.CLOSED:
        yield f"It couldn't be read ({mode}): run mycnf as root or as the server's account. A binary file isn't shown."
    elif node.state is NodeState.ABSENT:
        yield "It is named by an include line, but isn't there, or its directory is closed to your account."
    elif node.state is NodeState.PERSISTED:
        yield "What SET PERSIST keeps: it counts over all option files. RESET PERSIST takes a line out."
        if files is not None and files.persisted_problem:
            yield f"It can't be shown: {files.persisted_problem}."
    elif node.state is NodeState.SPOKEN:
        yield "What the server was started with: it counts over all option files. It stands in the service's unit."


def _finding(finding: Finding, width: int) -> Content:
    head = Content.styled(f"{SIGNS[finding.severity]} ", STYLES[finding.severity])
    name = Content.styled(f"{finding.code} {finding.name}", "bold")
    text = wrap(finding.message + (f" To do: {finding.help}." if finding.help else ""), "  ", width=width)
    return head + name + plain(f"\n{text}")


def _of_line(line: Line | None, mark: Mark, known: RuleContext, groups: frozenset[str]) -> Iterator[str]:
    verdict = mark.verdict
    if mark.by:
        yield f"~ Overridden by {mark.by}."
    if verdict is not None:
        if verdict.reason and not mark.findings:
            yield verdict.reason
        yield from _runs(mark, known)
    elif line is not None and line.kind is LineKind.OPTION and line.group and line.group.lower() not in groups:
        yield f"The server doesn't read the group [{line.group}]."


def _runs(mark: Mark, known: RuleContext) -> Iterator[str]:
    """What the server runs with, and why where it isn't this line's doing."""
    verdict = mark.verdict
    setting = setting_of(known, verdict) if verdict is not None else None
    if setting is not None:
        value = redact_value(setting.name, setting.value) or "an empty value"
        yield f"The server runs with {setting.name} = {value} ({setting.origin.value})."


def _wrapped(text: str, width: int, style: str = "") -> Content:
    return plain(wrap(text, "", "  ", width), style)
