"""Where the configuration file lies; to read and check one is the work of `advisor.config.read`."""

from __future__ import annotations

import os

OWN_FILE = "mycnf.toml"
PYPROJECT = "pyproject.toml"
MAX_BYTES = 1 << 20
# What is in any file that has a table [tool.mycnf], however it is spelled, once space and quotes are gone.
_MARKS = (b"tool.mycnf", b"[tool]", b"\ntool={")


def find_configuration(folder: str) -> str | None:
    """The configuration file of a folder or of the closest one above it; a pyproject.toml needs our table."""
    folder = os.path.abspath(folder)
    while True:
        own = os.path.join(folder, OWN_FILE)
        if os.path.isfile(own):
            return own
        shared = os.path.join(folder, PYPROJECT)
        if os.path.isfile(shared) and _has_own_table(shared):
            return shared
        above = os.path.dirname(folder)
        if above == folder:
            return None
        folder = above


def _has_own_table(path: str) -> bool:
    """Whether a pyproject.toml holds our table; one that can't be read is ignored."""
    try:
        with open(path, "rb") as file:
            data = file.read(MAX_BYTES)
    except OSError:
        return False
    if b"mycnf" not in data:
        return False
    squeezed = data.translate(None, b" \t\"'")
    return any(mark in b"\n" + squeezed for mark in _MARKS) and has_mycnf_table(data)


def has_mycnf_table(data: bytes) -> bool:
    """Whether the bytes of a pyproject.toml have our table; an invalid one that names it counts."""
    import tomllib

    try:
        document = tomllib.loads(data.decode("utf-8-sig"))
    except (tomllib.TOMLDecodeError, RecursionError, ValueError):
        return b"tool.mycnf" in data
    tool = document.get("tool")
    return isinstance(tool, dict) and "mycnf" in tool
