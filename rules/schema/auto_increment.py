"""SCH: the rule about AUTO_INCREMENT columns near the end of their type."""

from __future__ import annotations

from advisor.core.model import Confidence, Severity
from rules.core.context import MissingFact
from rules.core.rule import Docs, rule

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from advisor.core.model import Finding
    from advisor.facts.schema import AutoIncrement
    from rules.core.context import RuleContext

NEAR, AT_END = 0.80, 0.95  # of the greatest value
SOON, MONTH = 365.0, 30.0  # days
SMALL = 65535  # types up to this value mostly number fixed lists, which do not grow
LISTED = 3
RANK = (Severity.ERROR, Severity.WARNING, Severity.NOTE)


@rule(
    "SCH001",
    "auto-increment-near-end",
    confidence=Confidence.LIKELY,
    summary="An AUTO_INCREMENT column has nearly used up the values of its type; inserts fail at its end.",
    needs=("schema",),
    evidence=("SCH-01", "ASK-SCH-01"),
    docs=Docs(
        why="After the greatest value of its type every insert that needs a new one fails, with error 1062, 1467 "
        "or, on MariaDB, 167. At a constant rate the last 20 % last a quarter of the time since the first row, and the "
        "last 5 % a nineteenth. A change of the type copies the table, which takes hours or days for a "
        "large one. So 80 % is a warning and 95 % an error. With an "
        "earlier snapshot (--since) that was taken with --schema too, the rate decides: less than a year is a warning, "
        "less than 30 days, or less than a year above 95 %, an error. TINYINT and SMALLINT columns often number lists "
        "that do not grow: without a known rate they are one step less severe.",
        fix="Change the column to BIGINT, UNSIGNED where it is already. ALTER TABLE … MODIFY copies the table and "
        "blocks writes to it; gh-ost and pt-online-schema-change copy in the background. Write the whole definition "
        "of the column, with its comment. Columns that refer to it need the same type: change them too.",
        risk="The copy needs room for a second table, and replicas apply the ALTER after the source. Programs that "
        "hold the value in 32 bits fail above 2,147,483,647.",
        exceptions="Lists that get no new rows. A table that can start again at 1 after TRUNCATE.",
        reconsider_when="The next value, AUTO_INCREMENT in information_schema.TABLES, below 80 % of the type.",
    ),
)
def auto_increment_near_end(context: RuleContext) -> Iterator[Finding]:
    """Report columns above 80 % of their type, and those that reach its end within a year."""
    columns = context.schema.auto_increments
    if columns is None:
        raise MissingFact(context.reason_unread("schema.auto_increment"))
    rated = [(severity, column) for column in columns if (severity := _severity(column)) is not None]
    rated.sort(key=lambda pair: (RANK.index(pair[0]), -_used(pair[1])))
    if rated:
        listed = " ".join(_described(column) for _, column in rated[:LISTED])
        more = len(rated) - LISTED
        also = f" {more} more {'column is' if more == 1 else 'columns are'} near the end too." if more > 0 else ""
        yield auto_increment_near_end.finding(
            f"Inserts fail at the end of an AUTO_INCREMENT column. {listed}{also}",
            severity=rated[0][0],
            help=_remedy([column for _, column in rated]),
        )


def _remedy(columns: list[AutoIncrement]) -> str:
    if all(column.type.lower().startswith("bigint") for column in columns):
        return "find which statement inserted so large a value: a BIGINT column does not get there by counting"
    return "change the type to BIGINT in time: ALTER TABLE copies the table and blocks writes, gh-ost does not block"


def _used(column: AutoIncrement) -> float:
    return (column.next - 1) / column.greatest if column.greatest else 0.0


def days_left(column: AutoIncrement) -> float | None:
    """Days until the end at the rate since an earlier snapshot; None without a rate, or if nothing was inserted."""
    if not column.per_day or column.greatest is None:
        return None
    return max(0, column.greatest - column.next) / column.per_day


def _severity(column: AutoIncrement) -> Severity | None:
    used, days = _used(column), days_left(column)
    if days is not None:
        if days < MONTH or (used >= AT_END and days < SOON):
            return Severity.ERROR
        return Severity.WARNING if days < SOON else Severity.NOTE if used >= NEAR else None
    if used < NEAR:
        return None
    if column.per_day == 0:
        return Severity.NOTE
    small = column.greatest is not None and column.greatest <= SMALL
    rank = (0 if used >= AT_END else 1) + small
    return RANK[rank]


def _described(column: AutoIncrement) -> str:
    name = quoted_name(column.schema, column.table, column.column)
    percent = int(100 * _used(column))
    days = days_left(column)
    rate = ""
    if column.per_day is not None:
        rate = f" and {column.per_day:,.0f} values are used a day" if column.per_day else " and none was used since"
    left = f", which leaves {days:,.0f} days" if days is not None else ""
    return (
        f"{name} ({column.type}) has used {percent} %: the next value is {column.next:,} of "
        f"{column.greatest:,}{rate}{left}."
    )


def quoted_name(*parts: str) -> str:
    """A qualified name as statements write it."""
    return ".".join("`" + part.replace("`", "``") + "`" for part in parts)
