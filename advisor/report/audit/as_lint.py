"""An audit in the formats of lint: the findings of one server."""

from __future__ import annotations

from typing import TYPE_CHECKING

from advisor.redaction.secrets import escape_text
from advisor.report import Checked
from rules.core.statements import action_place, permanent_setting

if TYPE_CHECKING:
    from collections.abc import Iterator

    from advisor.analysis.audited import Audited
    from advisor.core.model import Action, Finding
    from advisor.report import AuditWriter, LintWriter, Page


def written_as_lint(write: LintWriter) -> AuditWriter:
    """The writer of an audit in a format of lint: its findings as those of one file, what to do in their help."""

    def report(audited: Audited, page: Page) -> str:
        findings = tuple(with_advice(f) for f in audited.findings)
        baselined = tuple(f for f, _ in audited.suppressed)
        return write([Checked("", audited.known.target, findings, {}, baselined=baselined)], page)

    return report


def concise(audited: Audited, page: Page) -> str:  # noqa: ARG001 - every format is called alike
    """One line a finding."""
    lines = [f"{f.severity.value}: {f.code} {f.name} {f.canonical or ''}: {f.message}" for f in audited.findings]
    return "".join(escape_text(line.replace(" : ", ": ")) + "\n" for line in lines)


def with_advice(f: Finding) -> Finding:
    """The finding with its actions in its help and its local evidence in its message, all that these can say."""
    if f.local:
        f = f._replace(message=f"{f.message} {f.local.words}")
    steps = [step for a in f.actions for step in _steps(a)]
    return f._replace(help=". ".join(steps)) if steps else f


def _steps(a: Action) -> Iterator[str]:
    if a.statement:
        yield f"Do now: {a.statement.rstrip(';')}"
    if a.option_line:
        yield f"Keep in {action_place(a) or 'the option file'}: {a.option_line}"
    if a.argument:
        yield f"Keep in {action_place(a)}: {a.argument} in place of {a.replaces or 'the option'}"
    risk = ", ".join(part for part in (a.risk, "it needs a restart" if a.restart else "") if part)
    if risk and (a.statement or permanent_setting(a)):
        yield f"Risk: {risk}"
