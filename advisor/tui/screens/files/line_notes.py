"""The notes on one line of an option file, shown below the text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.content import Content

from advisor.facts.files import WORLD_WRITABLE
from advisor.optionfile.lines import LineKind
from advisor.redaction.secrets import redact_value
from advisor.report.words import wrap
from advisor.tui.screens.files.model import NodeState, running_setting
from advisor.tui.text import MUTED, SEVERITY_SIGNS, SEVERITY_STYLES, safe_text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from advisor.core.model import Finding
    from advisor.facts import OptionFiles
    from advisor.optionfile.lines import Line
    from advisor.tui.screens.files.model import FileNode, FilesModel, LineMark
    from advisor.tui.view import View
    from rules.core.context import RuleContext

LEAST = 30


def line_notes(view: View, model: FilesModel, node: FileNode, number: int, width: int) -> Content:
    """The notes on the file, the findings of the line, and what the server does with the line."""
    width, mark, context = max(LEAST, width), model.mark(node.path, number), view.audited.known
    line = next((line for line in model.lines.get(node.path, ()) if line.number == number), None)
    masked = ["The secret in this line is masked."] if _holds_secret(node, number) else []
    shown = [
        *(_wrapped(text, width, "$text-warning") for text in file_notes(node, view.audited.facts.files)),
        *(_finding(finding, width) for finding in mark.findings),
        *(_wrapped(text, width) for text in (*_server_notes(line, mark, context, model.groups), *masked)),
    ]
    return Content("\n").join(shown) if shown else safe_text(_no_notes(model), MUTED)


def _no_notes(model: FilesModel) -> str:
    return f"No findings on this line{'. n goes to the next line with a finding' if model.finding_lines() else ''}."


def _holds_secret(node: FileNode, number: int) -> bool:
    return node.copy is not None and number in node.copy.secret_lines


def file_notes(node: FileNode, files: OptionFiles | None) -> Iterator[str]:
    """The notes on the whole file."""
    copy = node.copy
    mode = f"mode {copy.mode:04o}, owner uid {copy.uid}" if copy else ""
    if node.state is NodeState.IGNORED and copy is not None and not copy.mode & WORLD_WRITABLE:
        yield "The server ignores this file: a file that the server ignores includes it."
    elif node.state is NodeState.IGNORED:
        yield f"This file is world-writable ({mode}), so the server ignores it. Run chmod o-w on it."
    elif node.state is NodeState.CLOSED:
        yield f"The file cannot be read ({mode}). Run mycnf as root or the server account. Binary files are not shown."
    elif node.state is NodeState.ABSENT:
        yield "An include line names this file, but it does not exist, or your account cannot read its directory."
    elif node.state is NodeState.PERSISTED:
        yield "Variables saved by SET PERSIST. They override all option files. RESET PERSIST removes one."
        if files is not None and files.persisted_problem:
            yield f"The file cannot be shown: {files.persisted_problem}."
    elif node.state is NodeState.COMMAND_LINE:
        yield "Options on the server's command line. They override all option files. The service unit sets them."


def _finding(finding: Finding, width: int) -> Content:
    head = Content.styled(f"{SEVERITY_SIGNS[finding.severity]} ", SEVERITY_STYLES[finding.severity])
    name = Content.styled(f"{finding.code} {finding.name}", "bold")
    text = wrap(finding.message + (f" Fix: {finding.help}." if finding.help else ""), "  ", width=width)
    return head + name + safe_text(f"\n{text}")


def _server_notes(line: Line | None, mark: LineMark, context: RuleContext, groups: frozenset[str]) -> Iterator[str]:
    verdict = mark.verdict
    if mark.overridden_by:
        yield f"~ Overridden by {mark.overridden_by}."
    if verdict is not None:
        if verdict.reason and not mark.findings:
            yield verdict.reason
        yield from _running_value(mark, context)
    elif line is not None and line.kind is LineKind.OPTION and line.group and line.group.lower() not in groups:
        yield f"The server does not read the group [{line.group}]."


def _running_value(mark: LineMark, context: RuleContext) -> Iterator[str]:
    """The value in effect, with its origin."""
    verdict = mark.verdict
    setting = running_setting(context, verdict) if verdict is not None else None
    if setting is not None:
        value = redact_value(setting.name, setting.value) or "an empty value"
        yield f"The server runs with {setting.name} = {value} ({setting.origin.value})."


def _wrapped(text: str, width: int, style: str = "") -> Content:
    return safe_text(wrap(text, "", "  ", width), style)
