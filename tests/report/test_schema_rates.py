"""How many values AUTO_INCREMENT columns use a day, between two snapshots."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from audit_samples import recorded
from msgspec.structs import replace

from advisor.analysis.audit_comparison import with_schema_rates
from advisor.facts import Facts, SchemaRisks
from advisor.facts.server import AutoIncrement


@pytest.mark.parametrize(
    ("days", "then", "per_day"),
    [
        (10.0, 2_000_000_000, 1_000_000.0),
        (10.0, 2_010_000_000, 0.0),
        (0.4, 2_000_000_000, None),
        (10.0, 2_020_000_000, None),
    ],
)
def test_values_a_day_between_two_snapshots(days: float, then: int, per_day: float | None) -> None:
    """AUTO_INCREMENT columns have their rate since an earlier snapshot, half a day old at least; a reset has none."""
    at = datetime(2026, 11, 20, 12, tzinfo=UTC)

    def facts(moment: datetime, following: int) -> Facts:
        column = AutoIncrement("shop", "orders", "id", "int", following)
        risks = SchemaRisks(1, 1, moment.isoformat(), auto_increments=(column,))
        return replace(recorded(), schema_risks=risks)

    made = with_schema_rates(facts(at - timedelta(days=days), then), facts(at, 2_010_000_000))
    assert made.schema_risks is not None
    (column,) = made.schema_risks.auto_increments or ()
    assert column.per_day == per_day


def test_no_rate_without_definitions() -> None:
    """Facts without --schema, on either side, stay as they are."""
    with_risks = replace(recorded(), schema_risks=SchemaRisks(0, 0, auto_increments=()))
    for before, now in ((recorded(), with_risks), (with_risks, recorded())):
        assert with_schema_rates(before, now) is now
