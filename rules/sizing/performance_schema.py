"""The memory that configured sizes add to performance_schema, which servers take in full at their start and keep."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from rules.core.context import RuleContext

DIGESTS, HISTORY = "performance_schema_digests_size", "performance_schema_events_statements_history_long_size"
DIGEST_TEXT, STATEMENT_TEXT = "performance_schema_max_digest_length", "performance_schema_max_sql_text_length"
SCHEMA_SIZES = (DIGESTS, HISTORY, DIGEST_TEXT, STATEMENT_TEXT)
TEXT = 1024  # bytes; the default of both lengths
# Bytes of a row without its texts (MEM-03).
DIGEST_ROW, DIGEST_ROW_WITHOUT_SAMPLE, HISTORY_ROW = 4096, 512, 1400
SESSION_TEXTS = 2 * 10 * 256  # 10 current and 10 past statements for each of 256 threads


def configured_schema_sizes(context: RuleContext) -> list[str]:
    """The sizes that are set explicitly."""
    return [name for name in SCHEMA_SIZES if context.is_set(name)]


def schema_growth(context: RuleContext) -> int:
    """What the configured sizes add to those by default, in bytes; 0 with performance_schema off."""
    names = configured_schema_sizes(context)
    if not names or not context.settings.on("performance_schema"):
        return 0
    given = {name: size for name in names if (size := context.number(name)) is not None and size >= 0}
    digests, statements = (10_000, 10_000) if context.target.is_mysql else (5_000, 1_000)
    defaults = {DIGESTS: digests, HISTORY: statements, DIGEST_TEXT: TEXT, STATEMENT_TEXT: TEXT}
    digest_row = DIGEST_ROW if context.target.since("mysql", 8, 0) else DIGEST_ROW_WITHOUT_SAMPLE
    return max(0, _schema_bytes(defaults | given, digest_row) - _schema_bytes(defaults, digest_row))


def _schema_bytes(sizes: dict[str, int], digest_row: int) -> int:
    """Rows of digests and of statements, and the texts of these and of the sessions' last statements."""
    rows = sizes[DIGESTS] * digest_row + sizes[HISTORY] * HISTORY_ROW
    digests = sizes[DIGEST_TEXT] * (sizes[DIGESTS] + sizes[HISTORY] + SESSION_TEXTS)
    return rows + digests + sizes[STATEMENT_TEXT] * (sizes[HISTORY] + SESSION_TEXTS)
