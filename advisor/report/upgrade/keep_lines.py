"""The lines that keep old defaults, as a fragment of an option file to paste or to include."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING

from advisor.redaction.secrets import escape_text
from advisor.report.upgrade.document import SCOPE, unread_versions, values_of
from advisor.report.words import wrap
from advisor.upgrade.change import Area

if TYPE_CHECKING:
    from collections.abc import Iterator

    from advisor.upgrade.change import DefaultChange, UpgradeChanges

COMMENT = "# "


def fragment(move: UpgradeChanges, *, every: bool = False) -> str:
    """A group [mysqld] with a line for each changed default, its reason above it; `every` adds those of little weight.

    What no line keeps is a comment.
    """
    wanted = [c for c in move.defaults if every or c.area is not Area.REST]
    way = f"{move.before.label} → {move.after.label}"
    if not wanted:
        unknown = "".join(f" What {label} changed is not known." for label in unread_versions(move))
        return f"{_comment(SCOPE)}\n{_comment(f'{way}: no default changes.{unknown}')}\n"
    head = f"{way}: lines that keep old defaults. Take those that you need, and read them after the lines there are."
    blocks = [f"{_comment(SCOPE)}\n{_comment(head)}\n[mysqld]"]
    for area, changes in groupby(wanted, key=lambda c: c.area):
        blocks += [f"# --- {area.value} ---", *("\n".join(_lines(change)) for change in changes)]
    return "\n\n".join(blocks) + "\n"


def _lines(change: DefaultChange) -> Iterator[str]:
    yield _comment(f"{change.option}: {values_of(change)}")
    if change.message:
        yield _comment(change.message)
    yield change.keep or _comment(f"Can't be kept: {change.lost}")


def _comment(text: str) -> str:
    return wrap(escape_text(text), COMMENT, COMMENT)
