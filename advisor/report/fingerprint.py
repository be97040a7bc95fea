"""What tells a finding from others in the next run too, when lines have moved and words have changed."""

from __future__ import annotations

from hashlib import sha256
from typing import TYPE_CHECKING

from advisor.report.where import from_base

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from advisor.model import Finding
    from advisor.report import Checked

LENGTH = 32


def fingerprinted(files: Sequence[Checked], base: str) -> Iterator[tuple[Checked, Finding, str]]:
    """Every finding with its fingerprint, 32 hexadecimal digits that no other finding of the run has.

    It is made of rule, file, group, option as written and, among findings that share these, the place in their order:
    a target named by its series would otherwise change every fingerprint with each release of the server.
    """
    seen: dict[str, int] = {}
    for checked in files:
        for finding in checked.findings:
            path = from_base(finding.location.path if finding.location else checked.path, base)
            key = "\0".join((finding.code, path, finding.group or "", finding.option or ""))
            seen[key] = seen.get(key, 0) + 1
            yield checked, finding, digest(f"{key}\0{seen[key]}")


def digest(key: str) -> str:
    """32 hexadecimal digits for a key."""
    return sha256(key.encode("utf-8", "surrogateescape")).hexdigest()[:LENGTH]
