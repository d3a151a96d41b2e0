"""Shares among the people to whom a question with a filter applies.

Whoever it does not apply to has sent the last option, *does not apply*, through the same noise. So a share among the
others is a ratio: that of an option, divided by one less that of the last.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from deniable.errors import ParameterError
from deniable.wire.space import Count
from deniable_statistics.designs.design import Design
from deniable_statistics.designs.of_mechanisms import AnyDesign, design_of
from deniable_statistics.estimates.counts import Counts
from deniable_statistics.estimates.estimate import weighted_tally
from deniable_statistics.estimates.fakes import fake_margins
from deniable_statistics.intervals import Interval, check_confidence_level, t_quantile
from deniable_statistics.intervals.ratio_limits import gap_variance, is_surely_positive

METHOD = "score"
"""Name of the method of these intervals."""

TOO_FEW = "too few to say: it may apply to nobody"
"""The flag where the denominator may be 0."""

STEPS = 400
"""Number of steps of the grid on which the ends of an interval are looked for, before they are made exact."""

TURNS, PARTS = 4, 64
"""How often a step of the grid is divided into so many parts, to find the end of an interval within it."""

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class AmongEstimate:
    """Shares among those to whom a question applies.

    Attributes
    ----------
    design : Design
        Of ``k`` options, the last of which is *does not apply*.
    share, std_error : tuple of float, length k - 1
        Ratios of unbiased estimates, and their errors by the delta method; NaN where the denominator may be 0.
    top : tuple of float, length k - 1
        Unbiased shares of the options among all.
    applying : float
        Unbiased share of the people to whom it applies.
    sizes, reports : tuple of float, length k
        Number of reports with information on each option: weighted ones by Kish's effective number, and as they are.
    counts : tuple of int or float
        The tally.
    effects : tuple of float, length k, or ()
        How many times the variances that `sizes` give each ratio, and last the share to whom the question applies, a
        sampling design gives them; empty where people were drawn one by one.
    df : float
        Degrees of freedom of errors under a sampling design.

    Notes
    -----
    A ratio ``r`` is kept if ``top - r applying``, an unbiased estimate of 0 under it, is small beside its standard
    error under it: the score test of Fieller's statistic [1]_. The variance is that of the mechanism's integers at the
    shares ``r a`` and ``1 - a``, with ``a`` the estimated share to whom it applies, cut to [0, 1]. The statistic is
    lessened by that of the nearest possible ratio, so that no interval is a point. Where ``a`` may be 0, because its
    own score test does not refuse that, nothing can be said, and the interval is all of [0, 1].

    Under a sampling design each variance is multiplied by its design effect, and Student's quantile takes the place of
    the normal one: the variance under the hypothesis is still that of the noise, as near to 0 and 1 as it is.

    References
    ----------
    .. [1] E. C. Fieller, "Some problems in interval estimation", Journal of the Royal Statistical Society B 16 (1954),
       175-185.

    Examples
    --------
    Of 1000 reports 420 say that it does not apply:

    >>> from deniable import KAry
    >>> found = AmongEstimate.from_counts(KAry.from_epsilon(3, 2), [330, 250, 420])
    >>> [round(share, 3) for share in found.share], round(found.applying, 3)
    ([0.609, 0.391], 0.539)
    >>> [round(end, 3) for end in found.confidence_interval(0.95)[0]]
    [0.545, 0.672]
    """

    design: Design
    share: tuple[float, ...]
    std_error: tuple[float, ...]
    top: tuple[float, ...]
    applying: float
    sizes: tuple[float, ...]
    reports: tuple[float, ...]
    counts: tuple[Count, ...]
    effects: tuple[float, ...] = ()
    df: float = math.inf

    @classmethod
    def from_counts(
        cls, design: AnyDesign, counts: Counts, n: Count | None = None, n_effective: float | None = None
    ) -> AmongEstimate:
        """Divide the shares of a tally by the share to whom the question applies.

        Raises
        ------
        ParameterError
            If the design is not one of a question with a filter.
        """
        found = design_of(design)
        counts, total = weighted_tally(found, counts, n)
        binomials = found.binomials(counts, total)
        if found.both is None or binomials is None:
            raise ParameterError(f"{found.name}: has no shares among those to whom a question applies")
        # All numbers of reports in proportion, those of a drawn option too.
        scale = 1.0 if n_effective is None or not total else n_effective / float(total)
        sizes = tuple(float(each.n) * scale for each in binomials)
        shares = [float(each) for each in found.shares(counts, total)] if total else [math.nan] * len(binomials)
        reports = tuple(float(each.n) for each in binomials)
        made = cls(found, (), (), tuple(shares[:-1]), 1 - shares[-1], sizes, reports, tuple(counts))
        ratios = made._ratios()
        errors = tuple(made._error(option, share) for option, share in enumerate(ratios))
        return replace(made, share=ratios, std_error=errors)

    def under_design(self, errors: Floats, df: float) -> AmongEstimate:
        """These shares with the errors of a sampling design.

        Parameters
        ----------
        errors : ndarray, shape (k, k)
            Covariance of the shares of all options among everybody.
        df : float
            Its degrees of freedom.
        """
        plain = self._variances(0, np.zeros(1), np.full(1, 1 - min(max(self.applying, 0.0), 1.0)))[1]
        nobody = design_effect(float(errors[-1, -1]), float(plain[0]))
        made = replace(self, effects=(*[1.0] * len(self.top), nobody), df=df)
        made = replace(made, share=made._ratios())
        gradient = made.gradient
        variances = np.einsum("vi,ij,vj->v", gradient, errors, gradient)
        alone = [self._error(option, share) for option, share in enumerate(made.share)]
        effects = [design_effect(float(found), each**2) for found, each in zip(variances, alone, strict=True)]
        known = tuple(np.sqrt(np.maximum(variances, 0.0)).tolist())
        return replace(made, std_error=known, effects=(*effects, nobody))

    def _ratios(self) -> tuple[float, ...]:
        too_few = self.is_too_few()
        return tuple(math.nan if too_few else top / self.applying for top in self.top)

    @property
    def gradient(self) -> Floats:
        """Derivatives of the ratios by the shares of all options among everybody, shape (k - 1, k).

        Of ``f_v / (1 - f_0)`` they are ``1 / a`` and ``r / a``, with the ratio ``r`` cut to [0, 1].
        """
        inside = np.clip(self.share, 0, 1)
        return np.column_stack([np.eye(len(inside)) + 0 * inside[:, None], inside]) / self.applying

    def is_too_few(self, confidence_level: float = 0.95, fake_share: float = 0.0) -> bool:
        """Whether the question may apply to nobody, by the score test of that; fakes can hide that it does."""
        if not min(self.sizes):
            return True
        sure = self.applying - (fake_share * self._margins[-1] if fake_share else 0.0)
        _, variance, _ = self._variances(0, np.zeros(1), np.ones(1))
        reach = t_quantile(confidence_level, self.df)
        return not is_surely_positive(sure, float(variance[0]) * self._effect(-1), reach)

    def _effect(self, option: int) -> float:
        return self.effects[option] if self.effects else 1.0

    def _support(self, option: int) -> tuple[float, float]:
        binomials = self.design.binomials(self.design.expected_if_even, 1)
        assert binomials is not None
        return binomials[option].support.floats

    def _variances(self, option: int, share: Floats, none: Floats) -> tuple[Floats, Floats, Floats]:
        """Variances of an option's share and of *does not apply*, and their covariance, at these shares."""
        (p, q), (p_none, q_none) = self._support(option), self._support(len(self.sizes) - 1)
        lam, lam_none = q + (p - q) * share, q_none + (p_none - q_none) * none
        n, n_none = self.sizes[option], self.sizes[-1]
        both = self.design.both
        assert both is not None
        pair = (share + none) * both.if_one + (1 - share - none) * both.if_none
        # Each estimate is the mean over its own reports; what they have in common are the reports on both.
        covariance = both.informed * (pair - lam * lam_none) / ((p - q) * (p_none - q_none)) / max(n, n_none)
        variance = lam * (1 - lam) / (p - q) ** 2 / n
        return variance, lam_none * (1 - lam_none) / (p_none - q_none) ** 2 / n_none, covariance

    def _error(self, option: int, share: float) -> float:
        if math.isnan(share):
            return math.nan
        inside, applying = min(max(share, 0.0), 1.0), min(max(self.applying, 0.0), 1.0)
        top, none, both = self._variances(option, np.array([inside * applying]), np.array([1 - applying]))
        # Delta method of top / (1 - none); the covariance with 1 - none is less that with none.
        return float(np.sqrt(max(gap_variance(inside, *map(float, (top[0], none[0], -both[0]))), 0.0)) / self.applying)

    def _statistic(self, option: int, ratios: Floats, bias: float) -> Floats:
        """The squared score statistic of each ratio, if fakes can have moved the estimates by ``bias`` reports."""
        applying = min(max(self.applying, 0.0), 1.0)
        top, none, both = self._variances(option, ratios * applying, np.full(len(ratios), 1 - applying))
        apart = abs(self.top[option] - ratios * self.applying)
        if bias:
            apart = np.maximum(apart - bias * (self._margins[option] + ratios * self._margins[-1]), 0)
        return np.asarray(apart**2 / (gap_variance(ratios, top, none, -both) * self._effect(option)))

    @cached_property
    def _margins(self) -> tuple[float, ...]:
        """How far a share would move if all reports were fake."""
        return fake_margins(self.design, 1)

    def fake_margin(self, option: int) -> float:
        """How far fake reports, one in a hundred, can move a share; the whole range where nothing can be said."""
        share = self.share[option]
        if math.isnan(share):
            return 1.0
        return 0.01 * (self._margins[option] + min(max(share, 0.0), 1.0) * self._margins[-1]) / self.applying

    def confidence_interval(self, confidence_level: float = 0.95, fake_share: float = 0.0) -> tuple[Interval, ...]:
        """A score interval of each share, within [0, 1]; see the notes of the class.

        Parameters
        ----------
        confidence_level : float
        fake_share : float
            Largest share of the reports that may be fake; the intervals then hold whatever these say.
        """
        return tuple(self.option_interval(option, confidence_level, fake_share) for option in range(len(self.top)))

    def option_interval(self, option: int, confidence_level: float = 0.95, fake_share: float = 0.0) -> Interval:
        """The interval of one share, as in `confidence_interval`."""
        square = t_quantile(check_confidence_level(confidence_level), self.df) ** 2
        if self.is_too_few(confidence_level, fake_share):
            return Interval(0.0, 1.0)
        return self._interval(option, square, fake_share)

    def _interval(self, option: int, square: float, fake_share: float) -> Interval:
        grid = np.linspace(0, 1, STEPS + 1)
        found = self._statistic(option, grid, fake_share)
        # The nearest ratio always stays: without that an impossible tally would have no interval.
        limit = square + float(found.min())
        inside = np.flatnonzero(found <= limit)
        # From the first to the last ratio that stays, so that a gap between them is part of the interval.
        low, high = int(inside[0]), int(inside[-1])
        return Interval(
            self._end(option, grid[low], grid[max(low - 1, 0)], limit, fake_share),
            self._end(option, grid[high], grid[min(high + 1, STEPS)], limit, fake_share),
        )

    def _end(self, option: int, inner: float, outer: float, limit: float, fake_share: float) -> float:
        """The end of an interval between a ratio that is inside and one that is not."""
        for _ in range(TURNS if inner != outer else 0):
            points = np.linspace(inner, outer, PARTS + 1)
            # The first point is inside; the last one is not, whatever rounding says.
            outside = np.flatnonzero(self._statistic(option, points, fake_share)[1:-1] > limit)
            first = int(outside[0]) + 1 if len(outside) else PARTS
            inner, outer = float(points[first - 1]), float(points[first])
        return float(outer)


def design_effect(variance: float, plain: float) -> float:
    """The design effect; 1 where there is no error to compare, as of units that are all alike."""
    return variance / plain if variance > 0 and plain > 0 and math.isfinite(variance) else 1.0


def variance_among(design: Design, ratio: float, applying: float, option: int = 0) -> float:
    """``n`` times the variance of a share among those to whom a question applies.

    Parameters
    ----------
    design : Design
        Of a question with a filter.
    ratio, applying : float
        The share of the option among them, and of them among all.
    option : int
        The number of the option.
    """
    binomials = design.binomials(design.expected_if_even, 1)
    assert binomials is not None
    sizes = tuple(float(each.n) for each in binomials)
    made = AmongEstimate(design, (), (), (), applying, sizes, sizes, ())
    top, none, both = made._variances(option, np.array([ratio * applying]), np.array([1 - applying]))
    return gap_variance(ratio, *map(float, (top[0], none[0], -both[0]))) / applying**2
