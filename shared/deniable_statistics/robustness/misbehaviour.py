"""Bounds and intervals of a share or a mean if some people do not follow the instructions.

`fakes` says how far an *estimate* can move; this module says what is known of the *share* itself, whatever they did.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from deniable.errors import ParameterError, describe
from deniable_statistics.designs.design import Binomial, Design
from deniable_statistics.designs.spaces import uniform_support
from deniable_statistics.estimates.estimate import Estimate
from deniable_statistics.estimates.means import MeanEstimate
from deniable_statistics.intervals import Interval, check_confidence_level, level_of_each, normal_quantile
from deniable_statistics.intervals.composite import composite_interval
from deniable_statistics.intervals.tails import crossing

Shares = NDArray[np.float64]


KINDS = {
    "anything": "any report at all, whatever they were asked",
    "noncompliance": "the first option (no, no tick, the lowest number) as it is, whatever the coins say",
    "denial": "the first option as their answer, which is then randomised",
    "careless": "a report drawn uniformly from all",
    "lying": "any answer, which is then randomised: all that a device leaves to them",
}
"""Kinds of misbehaviour, each with its description; `deniable simulate` draws three of them."""

AMONG = ("everybody", "truthful")
"""The population of the share: all people, or those alone who follow the instructions."""

HIGHEST_SHARE = 0.99
"""Largest share of people who may be assumed to misbehave."""

_ROUNDING = 1e-14
"""Tolerance below which two probabilities are equal: at an edge a range of shares has the same one."""


class RobustFigure(NamedTuple):
    """Bounds and a confidence interval of a figure if some people misbehave.

    Attributes
    ----------
    bounds : Interval
        The identified set: the figures that infinitely many reports would leave possible.
    interval : Interval
        A confidence interval of the figure, whatever those people did.
    """

    bounds: Interval
    interval: Interval


@dataclass(frozen=True)
class Misbehaving:
    """The assumption that at most a given share of the people does something else than the survey asks for.

    Parameters
    ----------
    share : float
        Largest share of people who misbehave, in each cohort and each group of a design; 0 to `HIGHEST_SHARE`.
    kinds : sequence of str
        What they may do, names in `KINDS`; if there are several, each person may do any of these.
    among : {"everybody", "truthful"}
        Whose figure is bounded. The two agree if misbehaviour is independent of the truth.

    Notes
    -----
    Let ``d <= share`` of the people misbehave. If a report supports an option with probabilities ``a`` and ``b``, and
    theirs do with a probability ``r``, a report supports it with probability

        ``lam = (1 - d) (b + (a - b) g) + d r``

    where ``g`` is the share among the others, and ``f = (1 - d) g + d h`` that among everybody, ``h`` of them having
    the option. Nothing tells ``h`` and, with the kind "anything", nothing tells ``r``: ``f`` is known up to a range
    only, Horowitz and Manski's corrupted data [1]_. With "anything" it reaches from ``f_0 - d (1 - b) / (a - b)`` to
    ``f_0 + d a / (a - b)``, ``f_0`` the plain estimate, cut to [0, 1]. With "lying" ``r`` is between ``b`` and ``a``,
    and the range is ``d`` to either side. A ``lam`` that no share allows is taken for the nearest one that some share
    does: at and beyond the edge of [0, 1] bounds stay what they are just inside.

    Intervals turn a test around: a share stays if *some* ``lam`` that it allows is not rejected. So they hold the
    true share with the confidence level, whatever those people did, though not the whole of the bounds [2]_. Where one
    binomial counts an option the test is exact, and Feldman and Cousins' if nobody misbehaves; see
    `deniable_statistics.intervals.composite`. Elsewhere it is normal, with the variance that the reports have, and
    covers no less than the plain interval does there: .941 of a share of three levels at 40 reports, .929 at 20.

    Where devices draw questions or boxes, somebody who makes up a report also chooses which ones it answers. So with
    "anything" up to ``d / (d + (1 - d) part)`` of the reports of a question are made up that a ``part`` of the devices
    draws.

    References
    ----------
    .. [1] J. L. Horowitz, C. F. Manski, "Identification and robustness with contaminated and corrupted data",
       Econometrica 63 (1995), 281-302.
    .. [2] G. W. Imbens, C. F. Manski, "Confidence intervals for partially identified parameters", Econometrica 72
       (2004), 1845-1857.

    Examples
    --------
    Two fair coins, 430 of 1000 say yes: 0.36. If 5 % may send anything, .05 x .75 / .5 less or more:

    >>> from deniable import TwoCoin
    >>> estimate = TwoCoin("1/2", "1/2").estimate([570, 430])
    >>> no, yes = Misbehaving(0.05).shares(estimate)
    >>> [round(end, 4) for end in yes.bounds], [round(end, 3) for end in yes.interval]
    ([0.285, 0.435], [0.233, 0.488])

    If they can only lie to a device, half of that; if they all say no, it can only be more:

    >>> [round(end, 4) for end in Misbehaving(0.05, ["lying"]).shares(estimate)[1].bounds]
    [0.31, 0.41]
    >>> [round(end, 4) for end in Misbehaving(0.05, ["noncompliance"]).shares(estimate)[1].bounds]
    [0.36, 0.435]
    """

    share: float
    kinds: Sequence[str] = ("anything",)
    among: str = "everybody"

    def __post_init__(self) -> None:
        share = self.share
        if isinstance(share, bool) or not isinstance(share, (int, float)) or not 0 <= share <= HIGHEST_SHARE:
            raise ParameterError(f"misbehaving: must be a share in [0, {HIGHEST_SHARE}], got {describe(share)}")
        kinds = tuple(dict.fromkeys(self.kinds))
        for kind in kinds:
            if kind not in KINDS:
                raise ParameterError(f"misbehaviour: must be of {', '.join(KINDS)}, got {describe(kind)}")
        if not kinds:
            raise ParameterError(f"misbehaviour: must be one or more of {', '.join(KINDS)}, got none")
        if self.among not in AMONG:
            raise ParameterError(f"among: must be one of {', '.join(AMONG)}, got {describe(self.among)}")
        object.__setattr__(self, "kinds", kinds)

    def shares(
        self,
        estimate: Estimate,
        confidence_level: float = 0.95,
        *,
        asked: float = 1.0,
        simultaneous: bool = False,
    ) -> tuple[RobustFigure, ...]:
        """Bounds and intervals of the shares of an estimate, one for each option.

        Parameters
        ----------
        estimate : Estimate
            The estimate of an infinite population.
        confidence_level : float
        asked : float
            The share of devices that ask the question.
        simultaneous : bool
            Whether the intervals hold the shares of all options together, by Bonferroni's inequality.

        Raises
        ------
        ParameterError
            If the estimate is of a finite population, or its design cannot tell what one of the kinds would do.
        """
        if estimate.population is not None:
            raise ParameterError("misbehaving: must be supposed of a population, not of the respondents alone")
        design, k = estimate.design, len(estimate.share)
        level = check_confidence_level(confidence_level)
        if simultaneous:
            level = level_of_each(level, k)
        if not estimate.n:
            return (RobustFigure(Interval(0.0, 1.0), Interval(0.0, 1.0)),) * k
        weights, constant = design.debiasing
        if estimate.binomials is not None:
            nominal = design.binomials(design.expected_if_even, 1)
            assert nominal is not None
            return tuple(
                self._of_count(
                    binomial,
                    float(estimate.n_effective / estimate.n),
                    self.scores(design, weights[v], float(constant[v]), (0.0, 1.0)),
                    asked * float(each.n),
                    level,
                )
                for v, (binomial, each) in enumerate(zip(estimate.binomials, nominal, strict=True))
            )
        return tuple(self.combination(estimate, row, level, asked=asked) for row in np.eye(k))

    def combination(
        self, estimate: Estimate, slope: Shares, confidence_level: float = 0.95, *, asked: float = 1.0
    ) -> RobustFigure:
        """Bounds and interval of ``slope @ shares``, ``slope`` of shape (k,); parameters as of `shares`.

        The interval is normal, with the variance of the reports, and cut to the range that one person can contribute.
        """
        level = check_confidence_level(confidence_level)
        ends = (float(slope.min()), float(slope.max()))
        if not estimate.n:
            return RobustFigure(Interval(*ends), Interval(*ends))
        design = estimate.design
        weights, constant = design.debiasing
        near = estimate.smoothed(normal_quantile(level) ** 2)
        # slope @ share is itself a mean of scores, slope @ weights @ supports.
        row = slope @ weights

        def error(found: Estimate) -> float:
            if design.groups == 1:
                seen = np.array(found.counts, dtype=float) / float(found.n)
                variance = float(design.score_covariance(row[None, :], seen)[0, 0]) / found.n_effective
            else:
                variance = float(slope @ found.covariance @ slope)
            return math.sqrt(max(variance, 0.0))

        figures = tuple((float(slope @ found.share), error(found)) for found in (estimate, near))
        return self._linear(design, (row, float(slope @ constant)), ends, figures, asked, level)

    def mean(self, estimate: MeanEstimate, confidence_level: float = 0.95, *, asked: float = 1.0) -> RobustFigure:
        """Bounds and interval of a mean; parameters as of `shares`.

        >>> from deniable import OneBitMean
        >>> mean = MeanEstimate.from_counts(OneBitMean.from_epsilon(0, 10, epsilon=1), [500, 500])
        >>> [round(end, 2) for end in Misbehaving(0.05, ["lying"]).mean(mean).bounds]
        [4.5, 5.5]
        """
        level = check_confidence_level(confidence_level)
        ends = Interval(estimate.lowest, estimate.highest)
        if not estimate.n:
            return RobustFigure(ends, ends)
        weights, constant = estimate.design.mean_weights(estimate.values)
        score = (np.array(weights), constant)
        if estimate.is_share:
            support = estimate.design.support
            assert support is not None
            start, step = estimate.values[0], estimate.values[1] - estimate.values[0]
            # A mean between two numbers is the share of the second, reports being scored as that.
            reports = self.scores(estimate.design, score[0] / step, (constant - start) / step, (0.0, 1.0))
            binomial = Binomial(estimate.counts[1], estimate.n, support[1])
            found = self._of_count(binomial, estimate.n_effective / float(estimate.n), reports, asked, level)
            return RobustFigure(*(Interval(*sorted(start + step * end for end in each)) for each in found))
        near = estimate.smoothed(normal_quantile(level) ** 2)
        return self._linear(
            estimate.design,
            score,
            ends,
            ((estimate.mean, estimate.std_error), (near.mean, near.std_error)),
            asked,
            level,
        )

    def scores(
        self, design: Design, weights: NDArray[np.float64], constant: float, ends: tuple[float, float]
    ) -> tuple[float, float]:
        """The least and the largest mean score of the reports of people who misbehave.

        Parameters
        ----------
        design : Design
        weights : ndarray, shape (supports,)
        constant : float
            The score of a report is ``weights @ supports + constant``.
        ends : two floats
            The least and the largest expected score under any answer.
        """
        found: list[float] = []
        row = weights[None, :]
        for kind in self.kinds:
            if kind == "anything":
                found += [constant + float(each[0]) for each in design.extremes(row)]
            elif kind == "lying":
                # A lie is an answer: its expected score is within the range of true answers.
                found += ends if design.groups == 1 else [constant + float(each[0]) for each in design.meant(row)]
            elif kind == "careless":
                # Every option is supported by a uniform report with one probability, so weights just add up.
                found.append(constant + float(weights.sum()) * uniform_support(design.reports))
            else:
                if kind == "denial" and design.groups > 1:
                    raise ParameterError("misbehaviour: must not be denial for a design of groups, got denial")
                supports = _denied(design) if kind == "denial" else _first(design)
                found.append(constant + float(weights @ np.tile(supports, design.groups)))
        return min(found), max(found)

    def _made_up(self, share: Any, part: float) -> Any:
        """The share of a question's reports that are made up, if a ``part`` of the devices draws the question."""
        return share / (share + (1 - share) * part) if part < 1 and "anything" in self.kinds else share

    def _of_count(
        self, binomial: Binomial, effective: float, scores: tuple[float, float], part: float, level: float
    ) -> RobustFigure:
        """Bounds and robust interval of a share behind one binomial count."""
        count, n, support = binomial
        if not n:
            return RobustFigure(Interval(0.0, 1.0), Interval(0.0, 1.0))
        (a, b), seen = support.floats, float(count)
        # A score s stands for the probability r = b + (a - b) s that such a report supports the option.
        r = [min(max(b + (a - b) * each, 0.0), 1.0) for each in sorted(scores, reverse=a < b)]
        if a < b:  # what does not support the option speaks for it
            a, b, seen, r = 1 - a, 1 - b, float(n) - seen, [1 - r[1], 1 - r[0]]

        def supporting(f: Shares, d: Shares, others: Shares, report: float) -> Shares:
            e = self._made_up(d, part)
            # lam = (1 - e) (b + (a - b) g) + e r with g the share among the others: the model of the class.
            honest = others if self.among == "everybody" else f
            return np.asarray((1 - e) * (b + (a - b) * honest) + e * report)

        def some(f: Shares, turn: Shares) -> Shares:
            """Shares of misbehaving people at which ``lam`` may be extreme, in three rows: 0, the turn, the largest."""
            # lam is monotone in d until no share is left to the others, and monotone again after that.
            many = np.zeros((3, *f.shape))
            many[1:] = self.share
            np.minimum(turn, self.share, out=many[1])
            return many

        def low(f: Shares) -> Shares:
            """The least ``lam``: as many as possible of those who misbehave have the option and do not report it."""
            d = some(f, f)
            # f = (1 - d) g + d h with h = 1 as far as f allows: g = (f - d) / (1 - d), or 0.
            return np.asarray(supporting(f, d, np.maximum((f - d) / (1 - d), 0), r[0]).min(axis=0))

        def high(f: Shares) -> Shares:
            """The largest ``lam``: as few as possible of them have the option, and all report it."""
            d = some(f, 1 - f)
            # f = (1 - d) g + d h with h = 0 as far as f allows: g = f / (1 - d), or 1.
            return np.asarray(supporting(f, d, np.minimum(f / (1 - d), 1), r[1]).max(axis=0))

        zero, one = np.zeros(1), np.ones(1)
        # A rate that no share allows is taken for the nearest that one does, so that bounds never cross.
        rate = min(max(seen / float(n), float(low(zero)[0])), float(high(one)[0]))
        bounds = Interval(_reached(high, rate), 1 - _reached(lambda f: 1 - low(1 - f), 1 - rate))
        return RobustFigure(bounds, composite_interval(seen * effective, float(n) * effective, level, low, high))

    def _linear(
        self,
        design: Design,
        score: tuple[NDArray[np.float64], float],
        ends: tuple[float, float],
        estimates: Sequence[tuple[float, float]],
        part: float,
        level: float,
    ) -> RobustFigure:
        """Bounds and robust interval of a mean of scores.

        ``estimates`` are the plain estimate and the one after some more reports, each with its standard error. The
        interval reaches from the lower of the two to the higher one, with the larger error: an interval of which only
        one end can miss must not lose coverage to a skewed tally.

        With ``s`` the mean score of those who misbehave the mean score is ``S = (1 - e) g + e s``, so
        ``g = (S - e s) / (1 - e)``. It rises with ``S``, and each end is at one of the ends of ``s`` and of ``d``.
        """
        weights, constant = score
        low, high = ends
        s = self.scores(design, weights, constant, ends)
        own = ends if design.groups == 1 else tuple(constant + float(each[0]) for each in design.meant(weights[None]))
        e = self._made_up(self.share, part)
        lowest_mean, highest_mean = own[0] + e * min(s[0] - own[0], 0.0), own[1] + e * max(s[1] - own[1], 0.0)

        def figures(mean: float, report: float, truth: float) -> tuple[float, float]:
            """The figure if nobody misbehaves, and if as many people as allowed do."""
            mean = min(max(mean, lowest_mean), highest_mean)
            # S = (1 - e) g + e s solved for g, the mean of those who follow the instructions.
            others = (mean - e * report) / (1 - e)
            return mean, others if self.among == "truthful" else (1 - self.share) * others + self.share * truth

        def least(mean: float) -> float:
            return min(figures(mean, s[1], own[0]))

        def most(mean: float) -> float:
            return max(figures(mean, s[0], own[1]))

        z = normal_quantile(level)
        estimate, error = max(mean for mean, _ in estimates), max(error for _, error in estimates)
        lowest = min(mean for mean, _ in estimates)
        return RobustFigure(
            Interval(least(estimates[0][0]), most(estimates[0][0])).cut(low, high),
            Interval(least(lowest - z * error), most(estimate + z * error)).cut(low, high),
        )


def _first(design: Design) -> NDArray[np.float64]:
    """Probability that an unrandomised report of the first option supports each option, shape (size,)."""
    reports = design.reports
    report = design.untouched(design.answer_range.start if design.is_exclusive else ())
    if not reports.supports_one:
        marks = np.asarray(report, dtype=float)
        if not design.is_one_draw:
            return marks
        pairs = marks.reshape(-1, 2)  # which boxes are drawn is chance
        return np.tile(pairs.mean(axis=0), len(pairs))
    supports = np.zeros(reports.size)
    supports[int(report) - reports.first] = 1.0
    return supports


def _denied(design: Design) -> NDArray[np.float64]:
    """Probability that a randomised report of the first option supports each option, shape (size,)."""
    k = len(design.truths)
    return np.array(design.expected([float(design.is_exclusive and x == 0) for x in range(k)]))


def _reached(ends: Callable[[Shares], Shares], lam: float) -> float:
    """The least share in [0, 1] at which a function that never falls is at least ``lam``, which it is at 1."""

    def above(f: float) -> float:
        return float(ends(np.array([f]))[0]) - lam + _ROUNDING

    return 0.0 if above(0.0) >= 0 else crossing(above, 0.0, 1.0)
