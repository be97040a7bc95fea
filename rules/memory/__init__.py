"""Rules about memory; here, which options limit a temporary table in memory."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from rules.core.context import RuleContext

ENGINE = "internal_tmp_mem_storage_engine"
TABLE = "tmp_table_size"
IN_MEMORY = (TABLE, "tmp_memory_table_size")
USERS = "max_heap_table_size"


def memory_table_limits(context: RuleContext) -> tuple[str, ...]:
    """The variables that limit an internal temporary table in memory on this server.

    MEMORY tables are also limited by max_heap_table_size; before MySQL 8.0.28 TempTable has only its shared limit.
    """
    target = context.target
    if target.since("mysql", 8, 0) and context.text(ENGINE) != "MEMORY":
        return (TABLE,) if target.since("mysql", 8, 0, 28) else ()
    # MariaDB has two names for one limit, and only the name in the file counts as explicitly configured.
    written = next((name for name in reversed(IN_MEMORY) if context.is_set(name)), TABLE)
    return written, USERS
