"""SUP: rules about the comments that suppress findings.

They run after all other rules, on the findings of those: `advisor.analysis.suppress` makes their findings.
"""

from __future__ import annotations

from advisor.core.model import Severity
from rules.core import Docs, rule

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from advisor.core.model import Finding
    from rules.core.context import RuleContext

FAMILY = "SUP"
AFTER_ALL = ("findings",)


def _no_findings(context: RuleContext) -> Iterator[Finding]:  # noqa: ARG001 - what every rule is given
    """Yields nothing: the findings of these rules are made elsewhere."""
    yield from ()


unused_suppression = rule(
    "SUP001",
    "unused-suppression",
    severity=Severity.NOTE,
    summary="A comment suppresses a finding that does not exist.",
    needs=AFTER_ALL,
    docs=Docs(
        why="A suppression that hides nothing today hides the next mistake on its line. It is reported only if the "
        "rule that it names was run, for at least one of the targets.",
        fix="Remove the comment, or the code that is no longer needed.",
        risk="None: it suppresses nothing.",
        exceptions="A file that is linted for other targets, or together with other files, elsewhere.",
        reconsider_when="A run in which the suppression hides something.",
    ),
)(_no_findings)


malformed_suppression = rule(
    "SUP002",
    "malformed-suppression",
    severity=Severity.WARNING,
    summary="A comment that looks like a suppression has no effect.",
    needs=AFTER_ALL,
    docs=Docs(
        why="The comment does not have the syntax of a suppression, names a rule that does not exist, or is in a place "
        "where the server reads it as part of the value or path. The findings that it should hide are shown.",
        fix="Write `# mycnf: ignore[CODE] reason` on the line or on the line above it, or "
        "`# mycnf: ignore-file[CODE] reason` for the whole file; codes, names and families do. An end is written "
        "before the reason, year first: `until 2027-01-31`.",
        risk="None.",
        exceptions="None.",
        reconsider_when="Nothing.",
    ),
)(_no_findings)


unexplained_suppression = rule(
    "SUP003",
    "unexplained-suppression",
    severity=Severity.NOTE,
    summary="A suppression gives no reason.",
    needs=AFTER_ALL,
    docs=Docs(
        why="Those who read the line next year cannot tell a decision from a habit. A measurement with a date, or a "
        "ticket, lets them check it.",
        fix="Write the reason after the closing bracket.",
        risk="None.",
        exceptions="None.",
        reconsider_when="Nothing.",
    ),
)(_no_findings)


expired_suppression = rule(
    "SUP004",
    "expired-suppression",
    severity=Severity.NOTE,
    summary="The date until which a comment suppresses findings is past.",
    needs=AFTER_ALL,
    docs=Docs(
        why="The comment was written for a limited time, such as `until 2027-01-31`. That day is past in UTC, so the "
        "findings that it hid are reported again, each with its own severity.",
        fix="Fix what is reported again and remove the comment. If the reason still holds, write a later date.",
        risk="None.",
        exceptions="SOURCE_DATE_EPOCH is set for reproducible reports: its day is today's date then.",
        reconsider_when="The clock of the host that runs mycnf is wrong.",
    ),
)(_no_findings)
