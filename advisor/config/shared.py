"""Whether a pyproject.toml, which many tools share, speaks to mycnf."""

from __future__ import annotations

import tomllib


def has_table(data: bytes) -> bool:
    """Whether the bytes of a pyproject.toml have our table; a broken one that names it counts, so that it is told."""
    try:
        found = tomllib.loads(data.decode("utf-8-sig"))
    except (tomllib.TOMLDecodeError, RecursionError, ValueError):
        return b"tool.mycnf" in data
    tool = found.get("tool")
    return isinstance(tool, dict) and "mycnf" in tool
