"""How reports for machines name a file and a finding, so that the next run names them alike."""

from __future__ import annotations

import os.path
from hashlib import sha256
from typing import TYPE_CHECKING

from advisor.analysis.engine import sort_by_place

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from advisor.core.model import Finding
    from advisor.report import Checked

LENGTH = 32
SHOWN = ""
SUPPRESSED = "suppressed"
BASELINED = "baselined"


def from_base(path: str, base: str) -> str:
    """The path below `base` without `./` and the like; one that lies elsewhere, or has no base, stays absolute."""
    plain = os.path.normpath(path)
    if not os.path.isabs(plain) or not base:
        return plain
    inside = plain.startswith(base.rstrip("/") + "/")
    return os.path.relpath(plain, base) if inside else plain


def fingerprinted(files: Sequence[Checked], base: str) -> Iterator[tuple[Checked, Finding, str, str]]:
    """Every finding, left out or not, with its fingerprint and with SHOWN, SUPPRESSED or BASELINED.

    A fingerprint is 32 hexadecimal digits that no other finding of the run has. It is made of rule, file, group, option
    as written and, among findings that share these, the place in their order. The target is no part of it: each release
    of a series would change it. Findings that are left out count, so that suppressing one changes no other.
    """
    seen: dict[str, int] = {}
    for checked in files:
        for finding, state in _in_order(checked):
            path = from_base(finding.location.path if finding.location else checked.path, base)
            key = "\0".join((finding.code, path, finding.group or "", finding.option or ""))
            seen[key] = seen.get(key, 0) + 1
            yield checked, finding, digest(f"{key}\0{seen[key]}"), state


def _in_order(c: Checked) -> Iterator[tuple[Finding, str]]:
    if not c.suppressed and not c.baselined:
        yield from ((finding, SHOWN) for finding in c.findings)
        return
    states = {id(f): SUPPRESSED for f in c.suppressed} | {id(f): BASELINED for f in c.baselined}
    for finding in sort_by_place([*c.findings, *c.suppressed, *c.baselined]):
        yield finding, states.get(id(finding), SHOWN)


def digest(key: str) -> str:
    """32 hexadecimal digits for a key."""
    return sha256(key.encode("utf-8", "surrogateescape")).hexdigest()[:LENGTH]
