"""The report of the app: its formats, what it omits and masks, and its file name."""

from __future__ import annotations

import re
from datetime import datetime
from typing import TYPE_CHECKING

from advisor.redaction.secrets import MASK
from advisor.report import formats
from advisor.report.words import plural

if TYPE_CHECKING:
    from advisor.analysis.audited import Audited
    from advisor.report.formats import Format
    from advisor.tui.view import View

FAIL_ON = "error"  # the default of mycnf audit
FIRST = "markdown"


def report_formats() -> list[Format]:
    """The formats of an audit report, the Markdown ticket first."""
    return sorted(formats.formats_of("audit"), key=lambda form: form.name != FIRST)


def without_hidden(view: View) -> Audited:
    """The audit with hidden findings listed as suppressed; findings marked as seen stay."""
    return view.audited._replace(findings=view.open_findings, suppressed=view.hidden)


def render_report(view: View, form: Format, *, named: bool = True) -> str:
    """Render the whole report; call it in a thread, as it takes up to a second.

    Without `named`, host names and addresses are removed.
    """
    from advisor.analysis.anonymize import anonymize
    from advisor.report import Page
    from advisor.report.output import run_time, working_directory

    audited = without_hidden(view)
    page = Page(base=working_directory(), fail_on=FAIL_ON, now=run_time())
    return formats.render_audit(form.name, audited if named else anonymize(audited), page)


def privacy_note(view: View, text: str, *, named: bool = True) -> str:
    """What the report omits, masks and includes."""
    hidden = len(without_hidden(view).suppressed)
    masked = text.count(MASK)
    left_out = f"{plural(hidden, 'hidden finding')} left out." if hidden else "No hidden findings."
    secrets = f"{plural(masked, 'secret')} masked as {MASK}." if masked else "No secrets to mask."
    names = (
        "Host names and addresses are included; n removes them."
        if named
        else "Host names and addresses are removed; n includes them."
    )
    return f"{left_out} {secrets} {names} Paths and values are included. Read the report before you pass it on."


def default_name(view: View, form: Format, *, named: bool = True) -> str:
    """`db1-20261121-0631.md`: the host, and the local time at which it was read."""
    host = named and re.sub(
        r"[^A-Za-z0-9._-]+", "-", view.audited.facts.server.variables.get("hostname", "")[:40]
    ).strip(".-")
    return f"{host or 'server'}-{_read_at(view):%Y%m%d-%H%M}.{form.extension}"


def _read_at(view: View) -> datetime:
    try:
        return datetime.fromisoformat(view.audited.facts.taken_at).astimezone()
    except (ValueError, OverflowError):
        return datetime.fromtimestamp(view.read_at).astimezone()


def change_extension(name: str, old: Format, new: Format) -> str:
    """Replace the extension of the old format by that of the new one."""
    ending = f".{old.extension}"
    return f"{name.removesuffix(ending)}.{new.extension}" if name.endswith(ending) else name
