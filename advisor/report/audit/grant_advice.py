"""What an account would need to see the parts of a server that it could not."""

from __future__ import annotations

from typing import TYPE_CHECKING

from advisor.collect.privileges import grants_for, quoted, schema_grants_for

if TYPE_CHECKING:
    from advisor.analysis.audited import Audited

NEEDS = "needs "
HEADING = "These grants let the account see more"


def helping(audited: Audited) -> list[tuple[str, str]]:
    """The GRANT statements for the parts that were not read, each with what to know before it is run.

    None where the privileges were not what lacked, or the account is not known, as in texts of other tools.
    """
    user = audited.facts.server.link.user
    reasons = [gap.reason for gap in audited.facts.unavailable if gap.reason.startswith(NEEDS)]
    lacking = {privilege for reason in reasons for privilege in reason.removeprefix(NEEDS).split(" and ")}
    return [
        (grant.statement(quoted(user)), grant.gives if grant.optional else grant.why)
        for grant in (*grants_for(audited.known.target), *schema_grants_for(audited.known.target))
        if user and grant.needed in lacking
    ]
