"""Estimate from few rounds how much each variant differs from the baseline, and how certain that is.

The order of variants within each round is random, so a disturbance that affects a whole round cancels out of the
differences within that round.
"""

from __future__ import annotations

import math
import statistics
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

SHARED_CORRELATION = 0.25  # squared correlation of two differences to one baseline, with equal noise
FALSE_CLAIM_RATE = 0.05  # share of runs without a difference that may claim one
# Standard deviations. Normal noise needs 0.84 for four of five runs; with the stalls of real hosts, or with a noisy
# baseline, it takes this many from five rounds on: simulated in tests/probes/stats/test_simulated.py.
POWER = 1.6
AUTOCORRELATION_ROUNDS = 10  # rounds; with fewer, the autocorrelation is only noise
CHANCE_CORRELATION = 0.1  # autocorrelation that noise alone often shows
MAXIMUM_CORRELATION = 0.8  # the largest autocorrelation that so few rounds can support


class MeanDifference(NamedTuple):
    """A mean difference with its standard error and degrees of freedom."""

    mean: float
    error: float
    freedom: float

    def half_width(self, comparisons: int = 1) -> float:
        """Half the width of the 95 % interval, or of the simultaneous interval for that many `comparisons`."""
        return _scale(t_quantile(family_alpha(comparisons), self.freedom), self.error)

    def detectable(self, comparisons: int) -> float:
        """The smallest true difference that four of five such runs claim; a claim needs the family's half width.

        It uses the usual approximation of the noncentral t distribution. With few rounds a run's own error is mostly
        smaller than the true one, so it is raised to the value that half of the runs would fall below.
        """
        if math.isinf(self.error):
            return math.inf
        claimed = t_quantile(family_alpha(comparisons), self.freedom)
        away = claimed * (1 - 1 / (4 * self.freedom)) + POWER * math.sqrt(1 + claimed**2 / (2 * self.freedom))
        return away * self.error / math.pow(1 - 2 / (9 * self.freedom), 1.5)


def family_alpha(comparisons: int) -> float:
    """The probability of a false claim in each of so many comparisons, for FALSE_CLAIM_RATE in all together."""
    return 1 - math.pow(1 - FALSE_CLAIM_RATE, 1 / comparisons)


def estimate_differences(rows: list[list[float]]) -> list[MeanDifference]:
    """The estimate for each row of differences, which has one difference per round.

    After one round the error is infinite.
    """
    rounds = len(rows[0])
    means = [statistics.fmean(row) for row in rows]
    if rounds < 2:  # noqa: PLR2004 - a variance takes two
        return [MeanDifference(mean, math.inf, 0) for mean in means]
    rests = [[value - mean for value in row] for row, mean in zip(rows, means, strict=True)]
    persistence = _variance_inflation(rests)
    spread = _variances(rests)
    return [
        MeanDifference(mean, math.sqrt(persistence * variance / rounds), freedom)
        for mean, (variance, freedom) in zip(means, spread, strict=True)
    ]


def _variances(rests: list[list[float]]) -> list[tuple[float, float]]:
    """Variance and degrees of freedom of each row: its own variance combined with the common one (credibility theory).

    Three rounds say little about one variant's noise. If the rows are similar, their variances are pooled; if they
    differ more than by chance, each keeps its own.
    """
    own_freedom = len(rests[0]) - 1
    own = [math.fsum(rest * rest for rest in row) / own_freedom for row in rests]
    common = statistics.fmean(own)
    if len(own) < 2 or not common:  # noqa: PLR2004 - one row has nothing in common
        return [(variance, own_freedom) for variance in own]
    chance = 2 / own_freedom
    unlike = max(0.0, statistics.variance(own) / common**2 - chance * (1 - SHARED_CORRELATION))
    weight = unlike / (unlike + chance)
    freedom = weight * own_freedom + (1 - weight) * _common_freedom(rests, own_freedom)
    return [(weight * variance + (1 - weight) * common, freedom) for variance in own]


def _common_freedom(rests: list[list[float]], own: int) -> float:
    """Degrees of freedom of the common variance: the more the rows are correlated, the fewer.

    Rows are correlated if the baseline is noisy. This is estimated from the sum of squared covariances, minus its
    expectation by chance, and the squared trace, minus 2 for its expectation by chance.
    """
    most = own * len(rests) / (1 + (len(rests) - 1) * SHARED_CORRELATION)
    if own < 2:  # noqa: PLR2004 - the correction divides by own - 1
        return own
    trace = math.fsum(rest * rest for row in rests for rest in row) / own
    squares = math.fsum(_covariance(a, b, own) ** 2 for a in rests for b in rests)
    squares = own**2 / ((own - 1) * (own + 2)) * (squares - trace**2 / own)
    return min(most, max(own, own * trace**2 / squares - 2)) if squares > 0 else most


def _covariance(a: list[float], b: list[float], freedom: int) -> float:
    return math.fsum(x * y for x, y in zip(a, b, strict=True)) / freedom


def _variance_inflation(rests: list[list[float]]) -> float:
    """The factor by which autocorrelation between rounds increases the variance of a mean, at least 1.

    The order of the variants leaves none, but a variant may have state of its own that persists between rounds.
    """
    rounds = len(rests[0])
    whole = math.fsum(rest * rest for row in rests for rest in row)
    if not whole or rounds < AUTOCORRELATION_ROUNDS:
        return 1.0
    seen = math.fsum(a * b for row in rests for a, b in pairwise(row)) / whole
    likeness = min(MAXIMUM_CORRELATION, max(0.0, (seen + 1 / rounds) / (1 - 1 / rounds) - CHANCE_CORRELATION))
    total = 2 * math.fsum((1 - step / rounds) * likeness**step for step in range(1, rounds))
    return (1 + total) / (1 - total / (rounds - 1)) if total < rounds - 1 else float(rounds)


def _scale(quantile: float, error: float) -> float:
    return math.inf if math.isinf(error) or math.isinf(quantile) else quantile * error


NORMAL_FREEDOM = 1e4  # degrees of freedom with which Student's t distribution is the normal distribution
BISECTION_STEPS = 60  # halvings of the search, whose remaining error is far below the accuracy of samples
FRACTION_TERMS = 300


def t_quantile(alpha: float, freedom: float) -> float:
    """The two-sided quantile of Student's t distribution with probability `alpha`.

    Fractional degrees of freedom are rounded down to quarters. Infinite below one.
    """
    return _t_quantile(alpha, math.floor(freedom * 4) / 4) if freedom >= 1 else math.inf


@lru_cache(maxsize=1024)
def _t_quantile(alpha: float, freedom: float) -> float:
    low, high = 0.0, 1e6
    for _ in range(BISECTION_STEPS):
        middle = (low + high) / 2
        if _two_sided_p(middle, freedom) > alpha:
            low = middle
        else:
            high = middle
    return high


def _two_sided_p(t: float, freedom: float) -> float:
    """The probability of a value further from zero than `t`."""
    return _incomplete_beta(freedom / 2, 0.5, freedom / (freedom + t * t))


def variance_ratio_p(ratio: float, freedom: int, divisor_freedom: int) -> float:
    """The probability that two estimates of one variance have this ratio or a larger one (the F distribution)."""
    return _incomplete_beta(divisor_freedom / 2, freedom / 2, divisor_freedom / (divisor_freedom + freedom * ratio))


def _incomplete_beta(a: float, b: float, x: float) -> float:
    if x <= 0 or x >= 1:
        return min(1.0, max(0.0, x))
    log_front = math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b) + a * math.log(x) + b * math.log1p(-x)
    if x < (a + 1) / (a + b + 2):
        return math.exp(log_front) * _continued_fraction(a, b, x) / a
    return 1 - math.exp(log_front) * _continued_fraction(b, a, 1 - x) / b


def _continued_fraction(a: float, b: float, x: float) -> float:
    """The continued fraction of the incomplete beta function by Lentz's method."""
    c, d = 1.0, 1 / (1 - (a + b) * x / (a + 1))
    total = d
    for k in range(1, FRACTION_TERMS):
        even = k * (b - k) * x / ((a + 2 * k - 1) * (a + 2 * k))
        odd = -(a + k) * (a + b + k) * x / ((a + 2 * k) * (a + 2 * k + 1))
        for numerator in (even, odd):
            d = 1 / (1 + numerator * d)
            c = 1 + numerator / c
            total *= c * d
        if abs(c * d - 1) < 1e-12:  # noqa: PLR2004 - as near as a double gets
            break
    return total
