"""Reads option files losslessly, and resolves their groups and includes."""

from __future__ import annotations

from advisor.optionfile.lines import groups_read
from advisor.optionfile.reader import parse, render
from advisor.optionfile.resolve import OptionFileError, load, resolve

TYPE_CHECKING = False
if TYPE_CHECKING:
    from advisor.optionfile.lines import OptionFile

__all__ = ["OptionFileError", "groups_read", "normalise", "parse", "read", "render", "resolve"]


def read(path: str, *, flavour: str = "mysql") -> OptionFile:  # noqa: ARG001 - both flavours read lines alike
    """Read one file without its includes; raises OptionFileError if it is not an option file."""
    return parse(load(path).data, path)


def normalise(name: str) -> str:
    """Return an option's name in lower case with underscores, for reports only: servers may be case-sensitive."""
    return name.lower().replace("-", "_")
