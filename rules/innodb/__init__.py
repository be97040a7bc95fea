"""Rules about InnoDB; here, where a server has none of its storage."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from rules.core.context import RuleContext


def is_aurora(context: RuleContext) -> bool:
    """Whether the server is Aurora, which has its own storage instead of InnoDB's files and flushing (DBLW-07)."""
    return context.has("server") and context.server.managed == "aurora"
