"""What an option does, in one to three sentences: for options of rules and for those that option files set most."""

from __future__ import annotations

import os
import tomllib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from advisor.catalog.load import Option

FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "data", "descriptions")
_descriptions: dict[str, str] = {}


def all_descriptions() -> dict[str, str]:
    """The paragraphs by the option's name, with underscores."""
    if not _descriptions:
        for name in sorted(os.listdir(FOLDER)):
            with open(os.path.join(FOLDER, name), "rb") as file:
                _descriptions.update(tomllib.load(file))
    return _descriptions


def describe_option(name: str, option: Option | None = None) -> str:
    """What the option does, or the option that this alias stands for; empty where there is no paragraph."""
    known = all_descriptions()
    return known.get(name) or known.get((option and option.alias_of) or "", "")
