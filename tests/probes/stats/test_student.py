"""Quantiles of Student's t and probabilities of the F distribution, against the printed tables."""

from __future__ import annotations

import math

import pytest

from probes.stats.estimate import t_quantile, variance_ratio_p


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


@pytest.mark.parametrize(
    ("ratio", "freedom", "divisor", "p"),
    [(161.4, 1, 1, 0.05), (3.98, 2, 11, 0.05), (7.10, 4, 20, 0.001), (999.0, 2, 2, 0.001)],
)
def test_printed_tables_of_ratios(ratio: float, freedom: int, divisor: int, p: float) -> None:
    """The probabilities of ratios of variances are those of every table of the F distribution."""
    assert variance_ratio_p(ratio, freedom, divisor) == pytest.approx(p, rel=5e-3)
