"""Comparisons of lines of a file between two servers."""

from __future__ import annotations

from typing import Protocol

import pytest

from advisor.catalog.load import load
from advisor.catalog.targets import parse_target
from advisor.model import Target
from advisor.optionfile import resolve
from advisor.upgrade import compare
from advisor.upgrade.change import Move
from advisor.verdict import FileVerdict, judge_file


class Moved(Protocol):
    """Compares a file's text between two targets; what isn't a target yet is parsed."""

    def __call__(self, text: str, before: str | Target, after: str | Target) -> Move: ...


def verdict_on(text: str, target: Target) -> FileVerdict:
    """The verdict of a target on a file's text."""
    data = text.encode("utf-8", "surrogateescape")
    resolved = resolve(["my.cnf"], flavour=target.flavour, version=target.version, loader=lambda _: data)
    return judge_file(resolved, load(target))


@pytest.fixture(scope="session")
def moved() -> Moved:
    """The comparison of a text between two targets."""

    def compared(text: str, before: str | Target, after: str | Target) -> Move:
        old, new = (parse_target(t) if isinstance(t, str) else t for t in (before, after))
        return compare(verdict_on(text, old), verdict_on(text, new), ("my.cnf",))

    return compared
