"""Quantiles of Student's t, which the standard library lacks."""

from __future__ import annotations

import math
from functools import lru_cache

STEPS = 60  # halvings of the search, which leave an error far below what samples know
TERMS = 300


def two_sided(alpha: float, freedom: float) -> float:
    """How many standard errors lie off zero, to either side, with the chance `alpha`.

    Degrees of freedom may be fractions; they are rounded down to quarters. Infinite below one.
    """
    return _two_sided(alpha, math.floor(freedom * 4) / 4) if freedom >= 1 else math.inf


@lru_cache(maxsize=1024)
def _two_sided(alpha: float, freedom: float) -> float:
    low, high = 0.0, 1e6
    for _ in range(STEPS):
        middle = (low + high) / 2
        if _tails(middle, freedom) > alpha:
            low = middle
        else:
            high = middle
    return high


def _tails(t: float, freedom: float) -> float:
    """The chance of a value further from zero than `t`."""
    return _incomplete_beta(freedom / 2, 0.5, freedom / (freedom + t * t))


def _incomplete_beta(a: float, b: float, x: float) -> float:
    if x <= 0 or x >= 1:
        return min(1.0, max(0.0, x))
    log_front = math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b) + a * math.log(x) + b * math.log1p(-x)
    if x < (a + 1) / (a + b + 2):
        return math.exp(log_front) * _continued_fraction(a, b, x) / a
    return 1 - math.exp(log_front) * _continued_fraction(b, a, 1 - x) / b


def _continued_fraction(a: float, b: float, x: float) -> float:
    """Lentz's way of adding up the fraction of the incomplete beta function."""
    c, d = 1.0, 1 / (1 - (a + b) * x / (a + 1))
    total = d
    for k in range(1, TERMS):
        even = k * (b - k) * x / ((a + 2 * k - 1) * (a + 2 * k))
        odd = -(a + k) * (a + b + k) * x / ((a + 2 * k) * (a + 2 * k + 1))
        for numerator in (even, odd):
            d = 1 / (1 + numerator * d)
            c = 1 + numerator / c
            total *= c * d
        if abs(c * d - 1) < 1e-12:  # noqa: PLR2004 - as near as a double gets
            break
    return total
