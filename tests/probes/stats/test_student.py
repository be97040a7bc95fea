"""Quantiles of Student's t, against the printed tables."""

from __future__ import annotations

import math

import pytest

from probes.stats.estimate import t_quantile


@pytest.mark.parametrize(
    ("alpha", "freedom", "printed"),
    [(0.05, 1, 12.706), (0.05, 2, 4.303), (0.05, 4, 2.776), (0.01, 10, 3.169), (0.4, 7, 0.896), (0.05, 1000, 1.962)],
)
def test_printed_tables(alpha: float, freedom: float, printed: float) -> None:
    """The quantiles are those that every table of Student's t prints."""
    assert t_quantile(alpha, freedom) == pytest.approx(printed, abs=6e-4)


def test_fractions_lie_between() -> None:
    """A fraction of a degree of freedom lies between its neighbours, and less than one says nothing."""
    assert t_quantile(0.05, 4) > t_quantile(0.05, 4.5) > t_quantile(0.05, 5)
    assert math.isinf(t_quantile(0.05, 0.9))
