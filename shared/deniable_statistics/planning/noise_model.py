"""The noise that a mechanism adds to the estimate of one share, known before anybody has answered."""

from __future__ import annotations

import functools
import itertools
import math
from dataclasses import dataclass, replace

import numpy as np

from deniable.errors import ParameterError
from deniable.exact import Number, rational
from deniable.mechanisms import Mechanism, Warner
from deniable_statistics.authoring.selection import choose_for_choice
from deniable_statistics.designs.of_mechanisms import design_of
from deniable_statistics.intervals import check_confidence_level, share_interval
from deniable_statistics.planning.checks import check_people, check_share
from deniable_statistics.planning.precision import Precision
from deniable_statistics.special.binomial import binomial_masses, binomial_quantile

NEGLECTED = 1e-9
"""Probability of the counts in each tail that are left out of an expected width. No width exceeds 1, so they do not
matter."""

MOST_INTERVALS = 400
"""Largest number of intervals that are computed for an expected width; among more counts widths are interpolated."""


def least_noise(options: int, epsilon: Number) -> Mechanism:
    """The best mechanism for a yes-no question (two options) or a choice, at this epsilon.

    >>> str(least_noise(2, 1)), str(least_noise(11, 1.5))
    ('warner', 'subset of 2')
    """
    return Warner.from_epsilon(epsilon) if options == 2 else choose_for_choice(options, epsilon).best


@dataclass(frozen=True)
class NoiseModel:
    """The noise of one option of a question.

    Attributes
    ----------
    noise_if_true, noise_if_other : float
        Variance that the mechanism adds to one report's unbiased score of the option, if the option is the respondent's
        truth and if another option is.
    epsilon : float
        Privacy loss of one answer to the whole question; infinite if asked directly.
    sensitivity : float
        Largest change, in the L1 norm, that one person's answer makes in the counts of the question; a curator's noise
        must hide it.
    support : tuple of float, or None
        ``a = P(report supports the option | it is true)`` and ``b = P(report supports the option | another is true)``;
        None where the counts are not binomials.
    drawn : float
        Share of the respondents whose reports carry information on the option: 1, unless devices draw the questions
        that they ask or the boxes that they report.

    Notes
    -----
    A report's score is unbiased for the indicator of the option whatever the truth is, so by the law of total
    variance one report contributes ``V(f) = f (1 - f) + f noise_if_true + (1 - f) noise_if_other``: sampling, and
    noise. With supports the noises are ``a (1 - a) / (a - b)^2`` and ``b (1 - b) / (a - b)^2``, and ``V(f)`` is the
    familiar ``lam (1 - lam) / (a - b)^2`` with ``lam = b + (a - b) f`` [1]_.

    References
    ----------
    .. [1] S. L. Warner, "Randomized response: a survey technique for eliminating evasive answer bias",
       Journal of the American Statistical Association 60 (1965), 63-69.

    Examples
    --------
    Two fair coins: 3/4 x 1/4 / (1/2)^2 = 3/4, to which a share of one half adds 1/4 of its own:

    >>> from deniable import TwoCoin
    >>> noise = NoiseModel.through(TwoCoin("1/2", "1/2"))
    >>> noise.noise_if_true, noise.noise_if_other, noise.variance(0.5)
    (0.75, 0.75, 1.0)
    """

    noise_if_true: float
    noise_if_other: float
    epsilon: float = math.inf
    sensitivity: float = 1.0
    support: tuple[float, float] | None = None
    drawn: float = 1.0

    @classmethod
    def directly(cls) -> NoiseModel:
        """Without noise: every report is the truth."""
        return cls(0.0, 0.0, support=(1.0, 0.0))

    @classmethod
    def with_support(cls, support: tuple[Number, Number]) -> NoiseModel:
        """A yes-no design from its two probabilities of a supporting report.

        Raises
        ------
        ParameterError
            If they are not probabilities, or equal.

        Examples
        --------
        >>> round(NoiseModel.with_support(("5/6", "1/6")).epsilon, 4)      # ln 5
        1.6094
        """
        a, b = (check_share(float(rational(each, "support")), "support") for each in support)
        if a == b:
            raise ParameterError(f"support: must be two different probabilities, got {a:g} twice")
        # Both reports, yes and no, under either truth: the worst of the four ratios is exp(epsilon).
        ratios = [(a, b), (b, a), (1 - a, 1 - b), (1 - b, 1 - a)]
        # A report that only one truth can send proves it; one that neither can send says nothing.
        epsilon = max(math.log(p / q) if p and q else math.inf * (p > q) for p, q in ratios if p or q)
        return cls(a * (1 - a) / (a - b) ** 2, b * (1 - b) / (a - b) ** 2, epsilon, support=(a, b))

    @classmethod
    def through(cls, mechanism: Mechanism, option: int | None = None) -> NoiseModel:
        """The noise of one option under a mechanism; by default of the last option, yes in a yes-no question."""
        options = cls.options_of(mechanism)
        v = len(options) - 1 if option is None else option
        if not 0 <= v < len(options):
            raise ParameterError(f"option: must be an integer in [0, {len(options)}), got {v}")
        return options[v]

    @classmethod
    def with_least(cls, options: int, epsilon: Number) -> NoiseModel:
        """The noise of the best mechanism for a yes-no question (two options) or a choice, at this epsilon."""
        return cls.through(least_noise(options, epsilon))

    @classmethod
    def options_of(cls, mechanism: Mechanism) -> tuple[NoiseModel, ...]:
        """The noise of every option of a question under a mechanism.

        Where the noise depends on which other option is true, it is averaged over the others: people who do not choose
        the option are taken to be spread equally over the rest.

        Raises
        ------
        ParameterError
            If the mechanism's reports do not tell the shares of the options.
        """
        design = design_of(mechanism)
        # L1 sensitivity: an answer changes one free count of a yes-no question, two of a choice, all of boxes.
        moved = float(min(mechanism.k - 1, 2) if design.is_exclusive else mechanism.k)
        # For one report in all, the binomial's n is the share of reports that carry information on the option.
        counted = design.binomials(design.expected_if_even, 1.0)
        return tuple(
            cls(true, other, mechanism.epsilon, moved, *((each.support.floats, float(each.n)) if each else ()))
            for (true, other), each in zip(design.noise, counted or itertools.repeat(None), strict=False)
        )

    def variance(self, share: float) -> float:
        """``V(f)``: the number of reports times the variance of the estimated share."""
        f = check_share(share)
        if self.support is not None and self.drawn < 1:  # the mean over those whose device drew the option
            a, b = self.support
            lam = b + (a - b) * f
            return lam * (1 - lam) / (a - b) ** 2 / self.drawn
        # Law of total variance: sampling, then the noise of people with this truth and of people with another.
        each = f * (1 - f) + f * self.noise_if_true + (1 - f) * self.noise_if_other
        return each if self.support is not None else each / self.drawn

    def asked_of(self, part: float, epsilon: float) -> NoiseModel:
        """The model if devices ask a part of the respondents; ``epsilon`` is what one respondent loses in all."""
        return replace(self, drawn=self.drawn * part, epsilon=epsilon)

    def at(self, share: float) -> Precision:
        """The precision of the estimate if this is the true share."""
        return Precision(self.variance(share), share * (1 - share), self.epsilon, self.sensitivity)

    def expected_width(self, n: int, share: float, confidence_level: float = 0.95, method: str = "default") -> float:
        """The expected width of the interval from ``n`` reports: the mean over the distribution of the count.

        Parameters
        ----------
        n : int
        share : float
            The true share.
        confidence_level, method
            As for `deniable_statistics.intervals.share_interval`.

        Returns
        -------
        float
            In share points, at most 1. Half of it is the *expected half width*. Near 0 and 1 it is below the width of
            the normal interval, because intervals are cut there.

        Raises
        ------
        ParameterError
            If the mechanism's counts are not binomials: such shares have normal intervals, whose width is
            ``2 * at(share).half_width(n)``.

        Notes
        -----
        ``sum P(C = c) width(c)`` with ``C`` binomial of ``n`` and ``b + (a - b) share``. Counts outside of all but
        2e-9 of the probability are left out, and among more than 400 likely counts the widths are interpolated. Where
        devices draw the boxes that they report, the number that draw the option is taken to be its expectation.

        Examples
        --------
        Asked directly, one person: Clopper and Pearson's interval is 0 to .975 or .025 to 1, whatever the share:

        >>> round(NoiseModel.directly().expected_width(1, 0.3, method="clopper-pearson"), 4)
        0.975
        """
        if self.support is None:
            raise ParameterError("expected_width: needs a mechanism whose reports support an option or do not")
        # The number of devices that draw the option is replaced by its expectation, at least one.
        reports = max(round(check_people(n) * self.drawn), 1)
        return _mean_width(self.support, reports, check_share(share), check_confidence_level(confidence_level), method)


@functools.lru_cache(maxsize=256)
def _mean_width(support: tuple[float, float], n: int, share: float, confidence_level: float, method: str) -> float:
    a, b = support
    # P(a report supports the option)
    lam = b + (a - b) * share
    low, high = (binomial_quantile(tail, n, lam) for tail in (NEGLECTED, 1 - NEGLECTED))
    counts = np.arange(low, high + 1)
    # Intervals take most of the time, and widths of neighbouring counts hardly differ.
    looked_at = np.unique(np.linspace(low, high, MOST_INTERVALS).round().astype(int))
    intervals = [share_interval(int(count), n, support, confidence_level, method) for count in looked_at]
    widths = np.interp(counts, looked_at, [interval.high - interval.low for interval in intervals])
    chances = binomial_masses(counts, n, lam)
    # Divided by the probability of these counts, so that the tails left out do not make the mean smaller.
    return float(chances @ widths / chances.sum())
