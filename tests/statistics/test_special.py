"""Distribution functions and a solver of our own, held to exact sums and to scipy."""

from __future__ import annotations

import math
import random
from decimal import Decimal, localcontext
from fractions import Fraction

import numpy as np
import pytest
from scipy import special, stats
from scipy.optimize import nnls

from deniable_statistics.special.binomial import at_least_of_each, binomial_masses, binomial_quantile
from deniable_statistics.special.binomial_mass import mass
from deniable_statistics.special.chi_squared import (
    chi_squared_quantile,
    chi_squared_sf,
    chi_squared_tails,
    noncentral_chi_squared_sf,
)
from deniable_statistics.special.deviance import deviance, exact_product
from deniable_statistics.special.hypergeometric import hypergeometric_masses
from deniable_statistics.special.incomplete_beta import beta_cdf, beta_cdfs, beta_quantile, beta_quantiles, beta_sf
from deniable_statistics.special.least_squares import non_negative_least_squares
from deniable_statistics.special.logarithms import log_factorial, x_log1p_y, x_log_y
from deniable_statistics.special.normal import normal_cdf
from deniable_statistics.special.stirling import stirling_error
from deniable_statistics.special.student import f_sf, t_sf, t_upper_quantile

BOUND = 1e-12
"""Largest relative error of a probability, which the documents state."""


def log_factorial_exactly(n: int) -> Decimal:
    """By Stirling's series with 50 digits, from 60 on, where 25 terms leave an error below 1e-50."""
    shift, z = Decimal(1), Decimal(n)
    while z < 60:
        z += 1
        shift *= z
    series, square = Decimal(0), 1 / (z * z)
    for k in range(25, 0, -1):
        bernoulli = Fraction(BERNOULLI[k])
        series = series * square + Decimal(bernoulli.numerator) / Decimal(bernoulli.denominator) / (2 * k * (2 * k - 1))
    two_pi = Decimal("6.28318530717958647692528676655900576839433879875021164194988918461563")
    return (two_pi * z).ln() / 2 + z * (z.ln() - 1) + series / z - shift.ln()


def _bernoulli(most: int) -> list[Fraction]:
    """The numbers ``B_2k`` by their recurrence, exactly; index ``k``."""
    found = [Fraction(1)]
    for m in range(1, 2 * most + 1):
        found.append(-sum((math.comb(m + 1, j) * found[j] for j in range(m)), Fraction(0)) / (m + 1))
    return found[::2]


BERNOULLI = _bernoulli(25)


def tail_exactly(count: int, n: int, p: float) -> Decimal:
    """``P(C >= count)``: the first probability with 50 digits, the others by their exact ratios."""
    lam = Decimal(p)
    logs = log_factorial_exactly(n) - log_factorial_exactly(count) - log_factorial_exactly(n - count)
    term = (logs + count * lam.ln() + (n - count) * (1 - lam).ln()).exp()
    total, odds, c = term, lam / (1 - lam), count
    while c < n and term > total * Decimal("1e-25"):
        term *= (n - c) * odds / (c + 1)
        total += term
        c += 1
    return total


def drawn_tails(number: int) -> list[tuple[int, int, float, float]]:
    """Counts of 10 to 10^7 reports up to 37 standard deviations above their mean, with their exact tails."""
    source, found = random.Random(7), list[tuple[int, int, float, float]]()
    with localcontext() as context:
        context.prec = 60
        while len(found) < number:
            n = round(10 ** source.uniform(1, 7))
            p = source.choice((source.random(), 10 ** -source.uniform(0, 6), 1 - 10 ** -source.uniform(0, 6)))
            count = round(n * p + source.uniform(2, 37) * math.sqrt(n * p * (1 - p)))
            if 0 < count <= n and (exact := tail_exactly(count, n, p)) > Decimal("1e-300"):
                found.append((count, n, p, float(exact)))
    return found


def test_tails_of_up_to_ten_million_reports_have_twelve_digits_down_to_1e_300() -> None:
    cases = drawn_tails(60)
    counts, n, p, exact = (np.array(each) for each in zip(*cases, strict=True))
    assert exact.min() < 1e-200
    assert n.max() > 5e6
    alone = np.array([beta_cdf(count, size - count + 1, lam) for count, size, lam, _ in cases])
    opposite = np.array([beta_sf(size - count + 1, count, 1 - lam) for count, size, lam, _ in cases])
    assert abs(alone / exact - 1).max() < BOUND
    assert abs(beta_cdfs(counts, n - counts + 1, p) / exact - 1).max() < BOUND
    # 1 - lam is rounded, which moves a tail by the distance of the count from its mean, in units of the rounding.
    assert np.all(abs(opposite / exact - 1) < BOUND + 2e-16 * abs(counts - n * p) / np.minimum(p, 1 - p))


def test_tails_of_a_few_reports_are_their_sums_of_fractions() -> None:
    for n in (1, 2, 3, 7, 12, 30):
        for p in (Fraction(1, 2), Fraction(1, 1024), Fraction(3, 4), Fraction(1023, 1024)):
            masses_ = [math.comb(n, c) * p**c * (1 - p) ** (n - c) for c in range(n + 1)]
            for c in range(1, n + 1):
                exact = float(sum(masses_[c:]))
                assert beta_cdf(c, n - c + 1, float(p)) == pytest.approx(exact, rel=BOUND)
                assert beta_sf(c, n - c + 1, float(p)) == pytest.approx(float(sum(masses_[:c])), rel=BOUND)
                assert mass(c, n - c, float(p)) == pytest.approx(float(masses_[c]), rel=BOUND)


def test_incomplete_beta_of_parameters_that_are_not_whole() -> None:
    source = np.random.default_rng(3)
    a, b = 10 ** source.uniform(-3, 4, (2, 4000))
    spread = np.sqrt(a * b / (a + b + 1)) / (a + b)
    x = np.clip(a / (a + b) + spread * source.normal(0, 3, 4000), 1e-12, 1 - 1e-12)
    theirs = special.betainc(a, b, x)
    ours = beta_cdfs(a, b, x)
    # scipy's own error grows with the exponent: 8e-12 among the exact tails above.
    seen = theirs > 1e-280
    assert abs(ours[seen] / theirs[seen] - 1).max() < 1e-11
    alone = np.array([beta_cdf(*each) for each in zip(a, b, x, strict=True)])
    assert abs(alone - ours).max() < 1e-13


def test_ends_of_the_incomplete_beta_function() -> None:
    assert (beta_cdf(2, 3, 0), beta_cdf(2, 3, -1), beta_cdf(2, 3, 1), beta_sf(2, 3, 1)) == (0, 0, 1, 0)
    assert beta_cdfs([2, 2, 2], 3, [0, 1, 0.5]).round(12).tolist() == [0, 1, 0.6875]
    assert beta_cdfs([], 3, 0.5).shape == (0,)
    assert (beta_quantile(2, 3, 0), beta_quantile(2, 3, 1)) == (0, 1)


def test_quantiles_of_the_beta_distribution_lead_back() -> None:
    for a in (0.5, 1, 2.5, 30, 1e3, 1e6):
        for b in (0.5, 1, 7, 400, 1e6):
            for probability in (1e-200, 1e-12, 0.0005, 0.025, 0.5, 0.8, 1 - 1e-6):
                x = beta_quantile(a, b, probability)
                if 1e-250 < x < 0.9:
                    # How far a rounded x moves the probability: by its relative density.
                    slack = 2e-16 * x * stats.beta.pdf(x, a, b) / probability if x > 1e-100 else 0.0
                    assert beta_cdf(a, b, x) == pytest.approx(probability, rel=BOUND + 2 * slack)
                if probability > 1e-15:  # below, scipy has no number for some; of others it has eight digits
                    assert x == pytest.approx(special.betaincinv(a, b, probability), rel=1e-7, abs=1e-250)


def test_many_quantiles_at_once_are_those_one_by_one() -> None:
    cases = [
        (a, b, probability)
        for a in (0.01, 0.5, 1, 2.5, 30, 1e3, 1e6)
        for b in (0.5, 1, 7, 400, 1e6)
        for probability in (0, 1e-200, 1e-12, 0.025, 0.5, 0.8, 1 - 1e-6, 1)
    ]
    alone = np.array([beta_quantile(*each) for each in cases])
    assert beta_quantiles(*np.array(cases).T) == pytest.approx(alone, rel=1e-12, abs=1e-259)
    few = cases[13:17]
    assert beta_quantiles(*np.array(few).T).tolist() == [beta_quantile(*each) for each in few]


def test_the_error_of_stirlings_formula_and_the_deviance() -> None:
    with localcontext() as context:
        context.prec = 50
        for z in (1, 2, 11, 12, 13, 100, 10**7):
            plain = (Decimal(2) * Decimal("3.14159265358979323846264338327950288419716939937510") * z).ln() / 2
            exact = log_factorial_exactly(z) - plain - z * (Decimal(z).ln() - 1)
            assert stirling_error(z) == pytest.approx(float(exact), abs=1e-15)
        for x, mean in ((1e7, 1e7 + 3), (5.0, 9.0), (1000.0, 1410.0), (3.0, 1e-5)):
            exact = Decimal(x) * (Decimal(x) / Decimal(mean)).ln() + Decimal(mean) - Decimal(x)
            assert deviance(x, mean) == pytest.approx(float(exact), rel=5e-15)
    source = random.Random(1)
    for _ in range(100):
        n, p = 10 ** source.uniform(0, 7), source.random()
        product, rest = exact_product(n, p)
        assert Fraction(product) + Fraction(rest) == Fraction(n) * Fraction(p)


def test_chi_squared_tails_are_their_finite_sums() -> None:
    with localcontext() as context:
        context.prec = 40
        for df in (2, 4, 10, 60, 400):
            for x in (1e-3, 1.0, 17.5, 300.0, 1300.0):
                h, term, total = Decimal(x) / 2, Decimal(1), Decimal(0)
                for j in range(df // 2):
                    total += term
                    term *= h / (j + 1)
                if (exact := float(total * (-h).exp())) > 1e-300:
                    assert chi_squared_sf(df, x) == pytest.approx(exact, rel=BOUND)
    freedom, values = np.array([1, 3, 5, 2001, 2001]), np.array([0.1, 700.0, 9.0, 5.0, 2300.0])
    assert chi_squared_tails(freedom, values) == pytest.approx(special.chdtrc(freedom, values), rel=2e-12)
    assert math.isnan(chi_squared_sf(3, math.nan))
    assert chi_squared_sf(3, 0) == 1


def test_quantiles_of_chi_squared_and_its_noncentral_tails() -> None:
    for df in (1, 2, 3, 9, 31, 500):
        for tail in (1e-300, 1e-12, 0.001, 0.05, 0.5, 0.9):
            assert chi_squared_quantile(df, tail) == pytest.approx(special.chdtri(df, tail), rel=BOUND)
        for noncentrality in (0, 0.01, 7, 60, 900):
            for x in (1, 20, 300):
                theirs = stats.ncx2.sf(x, df, noncentrality) if noncentrality else special.chdtrc(df, x)
                assert noncentral_chi_squared_sf(df, noncentrality, x) == pytest.approx(theirs, rel=1e-11, abs=1e-300)


def test_student_and_fisher_by_what_is_known_in_closed_form() -> None:
    for t in (1e-6, 0.1, 1, 12.7, 1e5):
        assert t_sf(t, 1) == pytest.approx(math.atan2(1, t) / math.pi, rel=BOUND)
        # (1 - t / sqrt(2 + t^2)) / 2, without its cancellation
        assert t_sf(t, 2) == pytest.approx(1 / (2 + t * t + t * math.sqrt(2 + t * t)), rel=BOUND)
        for df in (3.3, 10, 1e6):
            assert f_sf(t * t, 1, df) == pytest.approx(2 * t_sf(t, df), rel=BOUND)
            assert f_sf(t, 2, df) == pytest.approx(math.exp(-df / 2 * math.log1p(2 * t / df)), rel=1e-11)
    for tail in (1e-12, 0.001, 0.025, 0.2, 0.3, 0.49):
        for df in (1, 3.3, 10, 100):
            assert t_sf(t_upper_quantile(tail, df), df) == pytest.approx(tail, rel=BOUND)
    assert t_upper_quantile(0.5, 3) == 0
    assert f_sf(3.0, 2, math.inf) == pytest.approx(math.exp(-3))
    assert (t_sf(math.inf, 3), f_sf(0, 1, 3)) == (0, 1)
    assert math.isnan(f_sf(math.nan, 1, 3))


def test_binomials_of_arrays_at_their_ends() -> None:
    for n, p in ((1, 0.3), (2, 0.5), (100, 0.01), (5000, 0.7), (9, 0.0), (9, 1.0)):
        counts = np.arange(n + 1)
        theirs = stats.binom.pmf(counts, n, p)
        assert binomial_masses(counts, n, p) == pytest.approx(theirs, rel=1e-11, abs=1e-300)
        tails = at_least_of_each([-1, *counts.tolist(), n + 1], n, p)
        assert tails == pytest.approx([1, *stats.binom.sf(counts - 1, n, p).tolist(), 0], rel=1e-11, abs=1e-300)
        for probability in (1e-9, 0.2, 1 - 1e-9):
            assert binomial_quantile(probability, n, p) == max(stats.binom.ppf(probability, n, p), 0)


def test_hypergeometric_probabilities_are_quotients_of_whole_numbers() -> None:
    for population, drawn in ((2, 1), (9, 4), (40, 39), (300, 60)):
        found = hypergeometric_masses(population, drawn)
        ways = math.comb(population, drawn)
        for people in (0, 1, population // 3, population - 1, population):
            exact = [
                float(Fraction(math.comb(people, x) * math.comb(population - people, drawn - x), ways))
                for x in range(drawn + 1)
            ]
            assert found[people] == pytest.approx(exact, rel=BOUND)
    assert hypergeometric_masses(2000, 150).sum(axis=1) == pytest.approx(np.ones(2001), rel=BOUND)


def test_normal_tails_and_logarithms() -> None:
    z = np.array([-37.5, -8.0, -1.0, 0.0, 3.0])
    assert normal_cdf(z) == pytest.approx(special.ndtr(z), rel=1e-13)
    assert log_factorial([[0.0, 3.0], [10.0, 0.5]]) == pytest.approx(special.gammaln([[1, 4], [11, 1.5]]), rel=1e-14)
    x, y = np.array([0.0, 0.0, 3.0, 2.0]), np.array([0.0, 2.0, 0.5, 0.0])
    assert x_log_y(x, y).tolist() == special.xlogy(x, y).tolist()
    assert x_log1p_y(x, -y[[1, 2, 0, 3]] / 2).tolist() == special.xlog1py(x, -y[[1, 2, 0, 3]] / 2).tolist()


def test_least_squares_that_are_not_negative() -> None:
    source = np.random.default_rng(5)
    for _ in range(200):
        n, more = source.integers(1, 9, 2)
        matrix, target = source.normal(size=(n + more, n)), source.normal(size=n + more) * 10 ** source.uniform(-5, 5)
        ours, theirs = non_negative_least_squares(matrix, target), nnls(matrix, target)[0]
        assert ours is not None
        start = source.uniform(size=n) * source.integers(0, 2, n)
        for each in (ours, non_negative_least_squares(matrix, target, start)):
            assert each == pytest.approx(theirs, rel=1e-9, abs=1e-9 * max(abs(theirs).max(), 1e-300))
