"""Descriptions of options in one to three sentences: for options in rules and those most often set in option files."""

from __future__ import annotations

import os
import tomllib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from advisor.catalog.load import Option

FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "data", "descriptions")
_descriptions: dict[str, str] = {}


def all_descriptions() -> dict[str, str]:
    """Return the descriptions by option name, with underscores."""
    if not _descriptions:
        for name in sorted(os.listdir(FOLDER)):
            with open(os.path.join(FOLDER, name), "rb") as file:
                _descriptions.update(tomllib.load(file))
    return _descriptions


def describe_option(name: str, option: Option | None = None) -> str:
    """Return the description of an option, or of the option that it is an alias of; empty if there is none."""
    known = all_descriptions()
    return known.get(name) or known.get((option and option.alias_of) or "", "")
