"""Findings as JSON lines: one a line, with the file and target that it was found in, for grep, jq and log shippers."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from advisor.report.findings_json import audited as audit_finding
from advisor.report.findings_json import finding

if TYPE_CHECKING:
    from collections.abc import Sequence

    from advisor.analysis.audited import Audited
    from advisor.report import Checked, Page


def report(files: Sequence[Checked], page: Page) -> str:  # noqa: ARG001 - every format is called alike
    """One object a finding; nothing where nothing was found."""
    found = ({"file": c.path, "target": str(c.target), **finding(f)} for c in files for f in c.findings)
    return "".join(json.dumps(entry, ensure_ascii=True) + "\n" for entry in found)


def audit(audited: Audited, page: Page) -> str:  # noqa: ARG001 - every format is called alike
    """The same of one server, with its name."""
    about = {"server": audited.facts.server.variables.get("hostname"), "target": str(audited.known.target)}
    found = ({**about, **audit_finding(f)} for f in audited.findings)
    return "".join(json.dumps(entry, ensure_ascii=True) + "\n" for entry in found)
