"""The verdict on a file's text, and the comparison between two targets."""

from __future__ import annotations

from typing import Protocol

from advisor.catalog import load
from advisor.core.model import Target
from advisor.optionfile import resolve
from advisor.upgrade.change import UpgradeChanges
from advisor.verdict import FileVerdict, judge_file


class Moved(Protocol):
    """Compares a file's text between two targets; strings are parsed as targets."""

    def __call__(self, text: str, before: str | Target, after: str | Target) -> UpgradeChanges: ...


def verdict_on(text: str, target: Target) -> FileVerdict:
    """A target's verdict on a file's text."""
    data = text.encode("utf-8", "surrogateescape")
    resolved = resolve(["my.cnf"], flavour=target.flavour, version=target.version, loader=lambda _: data)
    return judge_file(resolved, load(target))
