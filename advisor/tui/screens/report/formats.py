"""The report that the app makes: its formats, what is left out and masked, and what it is called."""

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

FAIL_ON = "error"  # as audits have it
FIRST = "markdown"


def choices() -> list[Format]:
    """The formats of an audit's report, a ticket first."""
    return sorted(formats.formats_of("audit"), key=lambda form: form.name != FIRST)


def reported(view: View) -> Audited:
    """The audit without the findings that the user hid, which are told of as put aside; those marked as seen stay."""
    return view.audited._replace(findings=view.open_findings, aside=view.hidden)


def render(view: View, form: Format, *, named: bool = True) -> str:
    """The whole report; it takes up to a second and imports what the format needs, so call it in the background.

    Without `named` the hosts' names and addresses are taken out.
    """
    from advisor.analysis.anonymize import nameless
    from advisor.report import Page
    from advisor.report.output import run_time, working_directory

    audited = reported(view)
    page = Page(base=working_directory(), fail_on=FAIL_ON, now=run_time())
    return formats.render_audit(form.name, audited if named else nameless(audited), page)


def warnings(view: View, text: str, *, named: bool = True) -> str:
    """What the report leaves out, and what it masks and what not."""
    hidden = len(reported(view).aside)
    masked = text.count(MASK)
    left_out = f"{plural(hidden, 'hidden finding')} left out." if hidden else "No finding is hidden."
    secrets = f"{plural(masked, 'secret')} masked as {MASK}." if masked else "No secret to mask."
    names = (
        "Host names and addresses stay, n takes them out;"
        if named
        else "Host names and addresses are out, n shows them;"
    )
    return f"{left_out} {secrets} {names} paths and values stay. Read it before it leaves your hands."


def default_name(view: View, form: Format, *, named: bool = True) -> str:
    """`db1-20261121-0631.md`: the host, and when it was read by the clock of this terminal."""
    host = named and re.sub(
        r"[^A-Za-z0-9._-]+", "-", view.audited.facts.server.variables.get("hostname", "")[:40]
    ).strip(".-")
    return f"{host or 'server'}-{_read_at(view):%Y%m%d-%H%M}.{form.extension}"


def _read_at(view: View) -> datetime:
    try:
        return datetime.fromisoformat(view.audited.facts.taken_at).astimezone()
    except (ValueError, OverflowError):
        return datetime.fromtimestamp(view.taken).astimezone()


def renamed(name: str, old: Format, new: Format) -> str:
    """The name with the ending of another format, where it has that of the old one."""
    ending = f".{old.extension}"
    return f"{name.removesuffix(ending)}.{new.extension}" if name.endswith(ending) else name
