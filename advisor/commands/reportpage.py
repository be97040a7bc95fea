"""What the reports of one snapshot and of many have in common: where they go, and what they fail on."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from advisor.report import Page

FAIL_ON = "error"


def page_for(out: str | None, fail_on: str) -> Page:
    """What a report that goes to `out` depends on besides findings; colour is for a terminal alone."""
    from advisor.report import Page
    from advisor.report.output import colour_wanted, run_time, working_directory

    return Page(colour=colour_wanted(out), base=working_directory(), fail_on=fail_on, now=run_time())
