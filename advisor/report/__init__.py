"""One module a format, each a pure function of findings and facts; here is what those of lint are made from."""

from typing import NamedTuple

from advisor.model import Finding, Target


class Checked(NamedTuple):
    """One option file, checked for one target: its findings in the order of its lines.

    `sources` holds the text of each line that a finding points at, with secrets taken out, keyed by (path, line).
    """

    path: str
    target: Target
    findings: tuple[Finding, ...]
    sources: dict[tuple[str, int], str]
