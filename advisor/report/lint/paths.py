"""How reports for machines name a file: relative to where the run began, as the repository on the other side does."""

from __future__ import annotations

import os.path


def from_base(path: str, base: str) -> str:
    """The path below `base` without `./` and the like; one that lies elsewhere, or has no base, stays absolute."""
    plain = os.path.normpath(path)
    if not os.path.isabs(plain) or not base:
        return plain
    inside = plain.startswith(base.rstrip("/") + "/")
    return os.path.relpath(plain, base) if inside else plain
