"""VER: rules about the server's version."""

from __future__ import annotations

from typing import TYPE_CHECKING

from advisor.catalog.targets import END_OF_LIFE
from advisor.core.model import Confidence, Severity
from rules.core.context import MissingFact
from rules.core.rule import Docs, rule

if TYPE_CHECKING:
    from collections.abc import Iterator

    from advisor.core.model import Finding
    from rules.core.context import RuleContext

SOON = 183  # days before the end of support
YEARS_FROM = 24  # months; from here on periods are given in years
MONTHS = 30.44  # days in an average month


@rule(
    "VER001",
    "end-of-life",
    summary="The vendor's support of the series has ended, or ends within half a year.",
    needs=("server", "host"),
    evidence=("EOL-01",),
    docs=Docs(
        why="After the end of support faults, those of security included, are no longer fixed: a warning. The half "
        "year before it is a note.",
        fix="Plan the move to a supported series; mycnf lint --target reports what the option file needs for it.",
        risk="An upgrade changes defaults and removes options.",
        restart=True,
        exceptions="Vendors and distributions that still fix defects of the series, such as long-term Linux releases.",
        reconsider_when="A support contract for the series.",
    ),
)
def end_of_life(context: RuleContext) -> Iterator[Finding]:
    """Report a series whose support has ended by the host's clock, or ends soon."""
    end = END_OF_LIFE.get(context.target.flavour, {}).get(context.target.version[:2])
    now = context.host.os.time if context.host.os else None
    if now is None:
        raise MissingFact("the host's clock")
    if end is None:
        return
    left = _days_since_epoch(end) - now / 86400
    when = "-".join(f"{part:02}" for part in end if part)
    if left < SOON:
        state = f"ended {_period_text(-left)} ago" if left < 0 else f"ends in {_period_text(left)}"
        yield end_of_life.finding(
            f"The vendor's support of {context.target.label.rpartition('.')[0]} {state} ({when}).",
            severity=None if left < 0 else Severity.NOTE,
            help="plan the move to a supported series",
        )


def _days_since_epoch(date: tuple[int, int, int]) -> float:
    """Approximate days since 1970; day 0 is the end of the month."""
    year, month, day = date
    return (year - 1970) * 365.2425 + (month - 1) * MONTHS + (day or 30)


def _period_text(days: float) -> str:
    """A period in months, or in years from two years on."""
    months = round(days / MONTHS)
    if months >= YEARS_FROM:
        return f"{months // 12} years"
    return f"{months} month{'s' if months != 1 else ''}" if months else "less than a month"


@rule(
    "VER002",
    "newer-than-catalog",
    severity=Severity.NOTE,
    confidence=Confidence.CERTAIN,
    summary="The server is newer than what mycnf knows; it is judged by the nearest older version.",
    needs=("server",),
    evidence=("ASK-01",),
    docs=Docs(
        why="Options that came or went since the version that mycnf knows are not known to it.",
        fix="Update mycnf.",
        risk="None.",
        exceptions="None.",
        reconsider_when="A catalog of this version.",
    ),
)
def newer_than_catalog(context: RuleContext) -> Iterator[Finding]:
    """Report a server whose series or patch is newer than the catalog."""
    read_as = context.catalog.read_as
    if read_as.version[:2] < context.target.version[:2]:
        yield newer_than_catalog.finding(
            f"{context.target.label} is judged by what is known of {read_as.label}.",
            help="update mycnf for the options that changed since",
        )


@rule(
    "VER003",
    "older-than-catalog",
    severity=Severity.NOTE,
    confidence=Confidence.CERTAIN,
    summary="The server is older than all that mycnf knows; only its version, system and disks are judged.",
    needs=("server",),
    evidence=("ASK-01",),
    docs=Docs(
        why="What this server makes of an option, and which of them it has, isn't known to mycnf: advice on its "
        "settings would be a guess.",
        fix="Plan the move to a supported series; mycnf lint --target reports what the option file needs for it.",
        risk="An upgrade changes defaults and removes options.",
        exceptions="None.",
        reconsider_when="A catalog of this version.",
    ),
)
def older_than_catalog(context: RuleContext) -> Iterator[Finding]:
    """Report a server whose series is older than all catalogs."""
    read_as = context.catalog.read_as
    if read_as.version[:2] > context.target.version[:2]:
        oldest = f"{read_as.flavour}-{read_as.series}"
        yield older_than_catalog.finding(
            f"{context.target.label} is older than {oldest}, the oldest that mycnf knows: its options, memory and load "
            "are not judged, its version, system and disks are.",
            help=f"mycnf lint --target {oldest} FILE shows what its option file needs for an upgrade",
        )
