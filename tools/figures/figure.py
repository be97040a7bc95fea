"""A measured figure and its promised limit."""

from __future__ import annotations

from typing import NamedTuple

UNMEASURED = "not measured"


class Figure(NamedTuple):
    """A figure; `relation` to the limit is <= or >=, or empty without a limit.

    `value` is None if it could not be measured, and `reason_missing` is the reason.
    """

    name: str
    value: float | None
    unit: str = ""
    relation: str = ""
    limit: float = 0
    reason_missing: str = ""

    @property
    def missed(self) -> bool:
        """Whether the figure was measured and misses its limit."""
        if self.value is None or not self.relation:
            return False
        return self.value > self.limit if self.relation == "<=" else self.value < self.limit

    @property
    def shown(self) -> str:
        """The value for a table, or the reason why there is none."""
        return f"{UNMEASURED}: {self.reason_missing}" if self.value is None else f"{self.value:.4g}"
