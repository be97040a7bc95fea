"""What is told of one snapshot among many: little enough to be handed from process to process."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from advisor.redaction.secrets import redact_value
from advisor.report.audit.prometheus import name_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from advisor.analysis.audited import Audited
    from advisor.core.model import Finding
    from advisor.report import Page

VALUE = 80  # characters of a value in a report of many


class Brief(NamedTuple):
    """One finding in brief; `about` is the option with its value."""

    code: str
    name: str
    severity: str
    about: str


class Told(NamedTuple):
    """One snapshot: what was found, or in `broken` why it could not be read.

    `own` says that what can't be read is a report that mycnf wrote itself; `pieces` are the parts of those formats that
    have one a snapshot, by name.
    """

    path: str
    broken: str = ""
    server: str = ""
    target: str = ""
    found: tuple[Brief, ...] = ()
    fails: bool = False
    own: bool = False
    pieces: dict[str, Any] = {}  # noqa: RUF012 - never changed


def tell(path: str, audited: Audited, forms: Sequence[str], page: Page) -> Told:
    """What the formats of these names need of one snapshot."""
    from advisor.analysis.engine import fails
    from advisor.report.formats import bulk_writer

    found = tuple(_brief(f) for f in audited.findings)
    makers = {form: bulk_writer(form).piece for form in forms}
    pieces = {form: make(path, audited, page) for form, make in makers.items() if make}
    failed = fails(audited.findings, page.fail_on)
    return Told(path, "", name_of(audited), str(audited.known.target), found, failed, pieces=pieces)


def _brief(f: Finding) -> Brief:
    return Brief(f.code, f.name, f.severity.value, _about(f))


def _about(f: Finding) -> str:
    name = f.canonical or f.option or ""
    if not name or f.value is None:
        return name
    value = redact_value(f.option or name, f.value) or "(empty)"
    return f"{name} = {value if len(value) <= VALUE else f'{value[: VALUE - 1]}…'}"
