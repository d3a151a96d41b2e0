"""Derived figures of a design: the share of several truths together, among everybody or among some truths."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from deniable.errors import ParameterError, check_kind
from deniable_statistics.designs.design import Derived
from deniable_statistics.estimates.estimate import DEFAULT_METHOD, Estimate
from deniable_statistics.intervals import Interval, check_confidence_level, resolve_method
from deniable_statistics.intervals.interval import normal_quantile
from deniable_statistics.intervals.tails import crossing
from deniable_statistics.published.published_rows import EstimateOptions, EstimateRow, number_or_none, robust_figures
from deniable_statistics.robustness.misbehaviour import Misbehaving, RobustFigure

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from deniable.wire.space import Count


@dataclass(frozen=True)
class CombinedShare:
    """The share of several truths together, as `combined_share` makes it.

    Attributes
    ----------
    shares : Estimate
    part : tuple of int
        Indices of the truths that are added up.
    whole : tuple of int or None
        Indices of the truths that are the denominator; None for everybody.

    References
    ----------
    The standard error of a ratio is that of the delta method: G. Casella, R. L. Berger, "Statistical Inference",
    2nd edition, Duxbury 2002, section 5.5.4.
    """

    shares: Estimate
    part: tuple[int, ...]
    whole: tuple[int, ...] | None = None

    @property
    def estimate(self) -> float:
        """The estimate, which is unbiased without a denominator; NaN without reports, or if the denominator is 0."""
        return self._among(self.shares.share)

    @property
    def feasible(self) -> float:
        """The figure computed from the feasible shares, which lie in [0, 1]."""
        return self._among(self.shares.feasible)

    @property
    def std_error(self) -> float:
        """Standard error of `estimate`; NaN if the estimate is."""
        return self.error_from(self.shares.covariance)

    def error_from(self, covariance: NDArray[np.float64]) -> float:
        """Standard error of `estimate` if the shares have another covariance than their own, as in complex samples."""
        if math.isnan(self.estimate):
            return math.nan
        used = np.flatnonzero(self._slope)  # the covariance of boxes is not known, and one box alone needs none
        # Delta method: gradient' covariance gradient.
        weights = self._slope[used]
        return math.sqrt(max(float(weights @ covariance[np.ix_(used, used)] @ weights), 0.0))

    @property
    def fake_margin(self) -> float:
        """Largest shift of the estimate by fake reports, one in a hundred; for a ratio to the first order."""
        if math.isnan(self.estimate):
            return math.nan
        design = self.shares.design
        # One report in a hundred, moved from one end of what reports can add to the other.
        return 0.01 * float(design.reach((self._slope @ design.debiasing.weights)[None, :])[0])

    def confidence_interval(
        self, confidence_level: float = 0.95, method: str = DEFAULT_METHOD, *, fakes: Count = 0
    ) -> Interval:
        """A confidence interval, cut to [0, 1]; all of [0, 1] where there is no estimate.

        It is a likelihood ratio interval where `Estimate.confidence_interval` is one. Elsewhere it is normal; unless
        the method is ``wald``, its centre is the figure after ``z^2`` more reports with the expected counts of equal
        shares.
        """
        z = normal_quantile(check_confidence_level(confidence_level))
        if math.isnan(self.estimate):
            return Interval(0.0, 1.0)
        if self.shares.binomials is None and self.shares.interval_method(method) == "likelihood-ratio":
            part, whole = (self._indicator(each)[None] for each in (self.part, self.whole or ()))
            wholes = None if self.whole is None else whole
            return self.shares.combination_intervals(part, wholes, confidence_level, fakes=fakes)[0]
        if fakes:
            raise ParameterError("fakes: must go with an interval by likelihood ratio, for several options together")
        wald = resolve_method(method, self.shares.n_effective) == "wald"
        # Around the figure after z^2 more reports, as Agresti and Coull do for a binomial.
        near = self if wald else CombinedShare(self.shares.smoothed(z * z), self.part, self.whole)
        return Interval(near.estimate - z * near.std_error, near.estimate + z * near.std_error).cut()

    def robust(self, misbehaving: Misbehaving, confidence_level: float = 0.95) -> RobustFigure:
        """Bounds and interval of the figure if some people misbehave.

        For a ratio they hold all ``t`` for which those of the difference ``part - t whole`` hold 0 (Fieller's method).
        """
        level = check_confidence_level(confidence_level)
        # Indicators, so that ``part @ shares`` is the sum.
        part, whole = (self._indicator(truths) for truths in (self.part, self.whole or ()))
        if self.whole is None:
            return misbehaving.combination(self.shares, part, level)
        # Without reports every ratio is possible.
        if not self.shares.n:
            return RobustFigure(Interval(0.0, 1.0), Interval(0.0, 1.0))

        def ends(of: int) -> Interval:
            def rising(end: int) -> Callable[[float], float]:
                return lambda t: -misbehaving.combination(self.shares, part - t * whole, level)[of][end]

            return Interval(*(_crossing_or_end(rising(end)) for end in (0, 1)))

        return RobustFigure(ends(0), ends(1))

    def _indicator(self, truths: tuple[int, ...]) -> NDArray[np.float64]:
        indicator = np.zeros(len(self.shares.share))
        indicator[list(truths)] = 1
        return indicator

    def _among(self, shares: tuple[float, ...]) -> float:
        # fsum: the order of the truths does not matter.
        above = math.fsum(shares[x] for x in self.part)
        if self.whole is None:
            return above
        return above / (math.fsum(shares[x] for x in self.whole) or math.nan)

    @cached_property
    def _slope(self) -> NDArray[np.float64]:
        """Gradient of the figure by the shares."""
        slope = self._indicator(self.part)
        if self.whole is not None:
            # d(part / whole) = (d part - ratio d whole) / whole
            slope -= self.estimate * self._indicator(self.whole)
            slope /= math.fsum(self.shares.share[x] for x in self.whole)
        return slope


def _crossing_or_end(function: Callable[[float], float]) -> float:
    """The root of an increasing function on [0, 1]; an end of the range if there is none."""
    if function(0.0) >= 0:
        return 0.0
    return crossing(function, 0.0, 1.0) if function(1.0) > 0 else 1.0


def combined_share(
    shares: Estimate, part: Iterable[str | int], whole: Iterable[str | int] | None = None
) -> CombinedShare:
    """The share of the truths in ``part`` together, among everybody or among the truths in ``whole``.

    Raises
    ------
    ParameterError
        If a truth is not one of the design, or is named twice.

    Examples
    --------
    >>> from deniable_statistics.classical import stochastic_lie_detector
    >>> sld = stochastic_lie_detector("0.2", "0.8").estimate([[170, 330], [300, 200]])
    >>> carriers = combined_share(sld, ["yes, honest", "yes, lying"])
    >>> round(carriers.estimate, 4), round(carriers.std_error, 4)
    (0.5667, 0.0508)
    >>> [round(end, 3) for end in carriers.confidence_interval()]
    [0.465, 0.67]
    >>> honest = combined_share(sld, ["yes, honest"], ["yes, honest", "yes, lying"])
    >>> round(honest.estimate, 4), round(honest.std_error, 4)
    (0.5529, 0.0271)
    """
    check_kind(shares, Estimate, "shares")
    return CombinedShare(shares, _places(shares, part), None if whole is None else _places(shares, whole))


def _places(shares: Estimate, truths: Iterable[str | int]) -> tuple[int, ...]:
    check_kind(truths, Iterable, "truths")
    places = tuple(place_of(truth, shares) for truth in truths)
    if len(set(places)) < len(places):
        raise ParameterError(
            f"truths: must each be named once, got {', '.join(shares.design.truths[x] for x in places)}"
        )
    return places


def place_of(truth: str | int, shares: Estimate) -> int:
    """The index of a truth, which is given as an index or by its name in the design.

    Raises
    ------
    ParameterError
        If there is no such truth.
    """
    truths = shares.design.truths
    if isinstance(truth, str) and truth in truths:
        return truths.index(truth)
    if isinstance(truth, bool) or not isinstance(truth, int) or not 0 <= truth < len(truths):
        names = ", ".join(truths)
        raise ParameterError(f"option: must be in [0, {len(truths)}) or one of {names}, got {truth!r}")
    return truth


def derived_rows(
    shares: Estimate,
    figures: Iterable[Derived],
    question: str,
    epsilon: float,
    cohort: str | None,
    options: EstimateOptions,
    n: int,
    reports: Count | None = None,
) -> Iterator[EstimateRow]:
    """The rows of a design's derived figures; for ``reports`` see `published_rows.share_rows`."""
    fakes = options.fakes(shares.n if reports is None else reports)
    for figure in figures:
        combined = combined_share(shares, figure.part, figure.whole)
        level, suspected = options.confidence_level, options.misbehaving
        interval = combined.confidence_interval(level, options.method, fakes=fakes)
        yield EstimateRow(
            question=question,
            option=figure.name,
            cohort=cohort,
            n=n,
            count=None,
            estimate=number_or_none(combined.estimate),
            std_error=number_or_none(combined.std_error),
            conf_low=interval.low,
            conf_high=interval.high,
            conf_level=level,
            method=shares.interval_method(options.method),
            epsilon=epsilon,
            feasible=number_or_none(combined.feasible),
            statistic="share" if figure.whole is None else "ratio",
            target=options.target,
            p_below=None,
            p_above=None,
            flag=None,
            fake_margin=number_or_none(combined.fake_margin),
            assumed_fake=options.assume_fake,
            **robust_figures(suspected, None if suspected is None else combined.robust(suspected, level)),
        )
