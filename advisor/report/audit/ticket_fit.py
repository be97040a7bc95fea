"""A ticket as long as every tracker takes: where it would be longer, the least important findings are told shorter."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from advisor.report.audit.ticket_findings import Forms

# Jira's default for a description; GitHub takes 65,536 characters and GitLab 1,048,576.
MOST = 32_767
BETWEEN = 2  # line ends between two blocks


class Fitted(NamedTuple):
    """The findings that are told as blocks, then those on one line each; the last `without` are not told at all.

    Of the blocks, the last `named` give their evidence by name alone.
    """

    blocks: list[str]
    lines: list[str]
    named: int
    without: int


def length(text: str) -> int:
    """As trackers count: in units of UTF-16, of which an emoji has two."""
    return len(text) + sum(character > "\uffff" for character in text)


def fitted(findings: Sequence[Forms], room: int, size: Callable[[str], int] = length) -> Fitted:
    """The findings in `room` characters, or what else `size` counts.

    Evidence goes first, from the last finding upwards, then all but one line.
    """
    sizes = [[*(size(form) + BETWEEN for form in finding), 0] for finding in findings]
    levels = [0] * len(findings)
    total = sum(size[0] for size in sizes)
    for level in (1, 2, 3):
        for order in reversed(range(len(findings))):
            if total <= room:
                break
            total += sizes[order][level] - sizes[order][level - 1]
            levels[order] = level
    told = list(zip(findings, levels, strict=True))
    return Fitted(
        [forms[level] for forms, level in told if level < 2],  # noqa: PLR2004 - the two long forms
        [forms.brief for forms, level in told if level == 2],  # noqa: PLR2004 - the short one
        levels.count(1),
        levels.count(3),
    )


def within(texts: Sequence[str], room: int) -> list[str]:
    """As many of the first texts as `room` characters take, each on lines of its own."""
    kept = []
    for text in texts:
        room -= length(text) + 1
        if room < 0:
            break
        kept.append(text)
    return kept
