"""The design of each mechanism, which `design_of` finds.

Mechanisms of one kind share a design: pure ones, where the support of an option depends only on whether it is the
truth; those with a row of weights for each answer; and those that draw boxes.
"""

from __future__ import annotations

import functools
import math
import operator
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, Generic, TypeVar, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from deniable.errors import ParameterError, describe
from deniable.exact import Number
from deniable.mechanisms import (
    DrawnBoxes,
    FilteredPiecewise,
    Mechanism,
    OneBitMean,
    Piecewise,
    RowMechanism,
    Subset,
    TickBoxes,
)
from deniable.mechanisms.drawn_boxes import noise_of_drawn
from deniable.mechanisms.pure import PureMechanism
from deniable.mechanisms.support import Support
from deniable.randomness import UNIT
from deniable.survey.question import Question
from deniable.wire.space import Count, ReportSpace
from deniable_statistics.designs.channels import channel_of
from deniable_statistics.designs.debiasing import Debiasing, left_inverse, ratio
from deniable_statistics.designs.design import Binomial, Both, Design
from deniable_statistics.designs.feasible import most_likely_mixture, most_likely_shares, nearest_on_simplex
from deniable_statistics.designs.knot_weights import shares_of_knots

M = TypeVar("M", bound=Mechanism)

HALF_APPLIES = 0.5
"""Share of the people to whom a question with a filter applies, at which scores vary least and mechanisms compare."""

AnyDesign = Design | Mechanism
"""A design, or a mechanism, whose design `design_of` gives."""


@dataclass(frozen=True)
class MechanismDesign(Design, Generic[M]):
    """The design of a mechanism; what the mechanism publishes is read from it."""

    mechanism: M

    @property
    def name(self) -> str:
        return self.mechanism.name

    @property
    def answer_range(self) -> range:
        return self.mechanism.answer_range

    @property
    def reports(self) -> ReportSpace:
        return self.mechanism.reports

    @property
    def epsilon(self) -> float:
        return self.mechanism.epsilon

    @property
    def likelihood_ratio(self) -> Fraction:
        return self.mechanism.likelihood_ratio

    @property
    def support(self) -> tuple[Support, ...] | None:
        return self.mechanism.support

    @property
    def share_of_pairs(self) -> float:  # type: ignore[override]  # a figure of each mechanism
        return self.reports.share_of_pairs

    @property
    def has_shares(self) -> bool:  # type: ignore[override]  # likewise
        return self.mechanism.has_shares

    @property
    def device(self) -> Mechanism:
        return self.mechanism

    def publish(self) -> dict[str, Any]:
        return self.mechanism.publish()

    @cached_property
    def truths(self) -> tuple[str, ...]:
        return self.reports.labels or tuple(map(str, range(self.mechanism.k)))

    @cached_property
    def channel_matrix(self) -> tuple[tuple[Fraction, ...], ...]:
        """``A[v][x]``: probability that a report supports option ``v`` when the truth is the x-th answer."""
        return channel_of(self.mechanism)

    @property
    def exact_channels(self) -> tuple[tuple[tuple[Fraction, ...], ...], ...]:
        return (self.channel_matrix,)

    @property
    def float_matrix(self) -> NDArray[np.float64]:
        """The channel matrix in floats."""
        return np.array(self.channel_matrix, dtype=float)

    @property
    def truth_matrix(self) -> NDArray[np.float64]:
        """The columns of `float_matrix` that belong to truths."""
        return self.float_matrix

    @cached_property
    def channels(self) -> tuple[NDArray[np.float64], ...] | None:
        return (self.truth_matrix,) if self.reports.supports_one else None

    def supported(self, answer: Any) -> Sequence[Fraction]:
        """Probabilities that a report of this answer supports each option, in option order."""
        raise NotImplementedError

    @property
    def noise(self) -> tuple[tuple[float, float], ...]:
        """``n`` times the variance that chance adds to each share: if everybody's truth is the option, and if nobody's.

        Where the noise depends on which other option is the truth, the others are taken as equally frequent.
        """
        # Given the truth x, an option's score is W[v, r] with probability A[r, x], and [v = x] on average.
        scores = self.debiasing.weights
        noises = scores**2 @ self.float_matrix - np.eye(len(scores))
        own = noises.diagonal()
        others = (noises.sum(axis=1) - own) / (len(scores) - 1)
        return tuple(zip(own.tolist(), others.tolist(), strict=True))

    def likelihood(self, supports: NDArray[np.bool_]) -> NDArray[np.float64]:
        return np.asarray(supports @ self.float_matrix)

    def covariance(self, counts: Sequence[Count], n: Count) -> NDArray[np.float64]:
        """Covariance of the unbiased shares of ``n`` people drawn from an infinite population, shape (k, k)."""
        return self.score_covariance(self.debiasing.weights, [count / n for count in counts]) / n

    def extremes(self, weights: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        return weights.min(axis=1), weights.max(axis=1)  # here each report supports one option


class PureDesign(MechanismDesign[M]):
    """The design of a mechanism with one pair of support probabilities for each option.

    References
    ----------
    T. Wang, J. Blocki, N. Li, S. Jha, "Locally differentially private protocols for frequency estimation", USENIX
    Security 2017, 729-745: pure protocols.
    """

    @property
    def support(self) -> tuple[Support, ...]:
        assert self.mechanism.support is not None
        return self.mechanism.support

    def supported(self, answer: Any) -> Sequence[Fraction]:
        return [support[option != answer] for option, support in enumerate(self.support)]

    @cached_property
    def debiasing(self) -> Debiasing:
        slopes = np.array([1 / float(each.slope) for each in self.support])
        return Debiasing(np.diag(slopes), -slopes * np.array([each.floats[1] for each in self.support]))

    def shares(self, counts: Sequence[Count], n: Count) -> list[Fraction]:
        shares = []
        for count, support in zip(counts, self.support, strict=True):
            part, whole = ratio(count, n)
            other, scale = support.if_other.as_integer_ratio()
            # (part / whole - other / scale) / slope over integers: one reduction of a fraction instead of four.
            shares.append(Fraction(part * scale - other * whole, whole * scale) / support.slope)
        return shares

    def expected(self, shares: Sequence[float]) -> list[float]:
        return [each.floats[1] + float(each.slope) * share for share, each in zip(shares, self.support, strict=True)]

    @property
    def both(self) -> Both | None:
        return Both(0.0, 0.0)  # a report supports one option

    def feasible(self, counts: Sequence[Count], n: Count) -> tuple[float, ...]:
        return most_likely_shares(counts, n, self.support)

    def mean_weights(self, values: Sequence[float]) -> tuple[tuple[float, ...], float]:
        weights = [value / float(each.slope) for value, each in zip(values, self.support, strict=True)]
        constant = -sum(weight * each.floats[1] for weight, each in zip(weights, self.support, strict=True))
        return tuple(weights), constant

    @property
    def noise(self) -> tuple[tuple[float, float], ...]:
        return tuple(each.noise for each in self.support)


class TwoEndsDesign(PureDesign[OneBitMean]):
    """The design of a mechanism over a range whose reports support the two ends."""

    both = None

    @property
    def float_matrix(self) -> NDArray[np.float64]:
        ones = self.mechanism.weight(np.array(self.answer_range)) / UNIT
        return np.array([1 - ones, ones])

    def supported(self, answer: int) -> list[Fraction]:
        one = Fraction(self.mechanism.weight(answer), UNIT)
        return [1 - one, one]

    @property
    def answer_values(self) -> Sequence[float]:
        """The two ends of the range."""
        return (self.mechanism.lo, self.mechanism.hi)

    def untouched(self, answer: int) -> int:
        return int(2 * answer >= self.mechanism.lo + self.mechanism.hi)


class SubsetDesign(PureDesign[Subset]):
    """The design of subset selection."""

    def untouched(self, answer: int) -> list[int]:
        """The subset of the answer and the first of the other options."""
        k, w = self.mechanism.k, self.mechanism.w
        members = [answer, *(option for option in range(k) if option != answer)][:w]
        return [int(option in members) for option in range(k)]

    def likelihood(self, supports: NDArray[np.bool_]) -> NDArray[np.float64]:
        k, w, inside = self.mechanism.k, self.mechanism.w, self.mechanism.inside
        total = math.comb(k - 1, w - 1) * inside + math.comb(k - 1, w) * UNIT
        return np.asarray(np.where(supports, float(Fraction(inside, total)), float(Fraction(UNIT, total))))

    @property
    def both(self) -> Both:
        k, w = self.mechanism.k, self.mechanism.w
        p = self.support[0].floats[0]
        # Given that the truth is in, the other w - 1 members are a uniform subset of the other k - 1 options.
        rest = max((k - 1) * (k - 2), 1)
        return Both(p * (w - 1) / (k - 1), (p * (w - 1) * (w - 2) + (1 - p) * w * (w - 1)) / rest)

    def extremes(self, weights: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Sums of the ``w`` smallest weights, and of the ``w`` largest."""
        w, ordered = self.mechanism.w, np.sort(weights)
        return np.asarray(ordered[:, :w].sum(axis=1)), np.asarray(ordered[:, -w:].sum(axis=1))

    def feasible(self, counts: Sequence[Count], n: Count) -> tuple[float, ...]:
        # Tallies of supports do not hold the likelihood of whole subsets. Their errors have equal variances and
        # equal correlations, for which the nearest point of the simplex is the most likely one.
        return nearest_on_simplex([float(share) for share in self.shares(counts, n)])

    def score_covariance(self, weights: NDArray[np.float64], supported: ArrayLike) -> NDArray[np.float64]:
        """Covariance of the scores, by the probabilities that a report supports each *pair* of options."""
        k, w = self.mechanism.k, self.mechanism.w
        p, q = (float(each) for each in self.support[0])
        # Given that the truth is in, the other w - 1 members are a uniform subset of the other k - 1 options.
        one = p * (w - 1) / (k - 1)  # both in the report when one of the two is the truth
        rest = max((k - 1) * (k - 2), 1)  # of two options the report holds one
        none = (p * (w - 1) * (w - 2) + (1 - p) * w * (w - 1)) / rest
        lam = np.asarray(supported)
        # E[lam_v] = q + (p - q) f_v, solved for the shares that the given probabilities belong to.
        f = (lam - q) / (p - q)
        both = (f[:, None] + f[None, :]) * one + (1 - f[:, None] - f[None, :]) * none
        np.fill_diagonal(both, lam)
        return np.asarray(weights @ (both - np.outer(lam, lam)) @ weights.T)


class BoxDesign(MechanismDesign[M]):
    """The design of tick boxes: any of them may be true at once, so they are estimated one by one."""

    is_exclusive = False
    has_likelihood = False

    def likelihood(self, supports: NDArray[np.bool_]) -> NDArray[np.float64]:
        raise ParameterError(f"{self.name}: answers do not exclude each other; take one box at a time")

    def feasible(self, counts: Sequence[Count], n: Count) -> tuple[float, ...]:
        return tuple(min(max(float(share), 0.0), 1.0) for share in self.shares(counts, n))


class TickBoxesDesign(BoxDesign[TickBoxes], PureDesign[TickBoxes]):
    """The design of boxes with a coin for each."""

    def supported(self, answer: Sequence[int]) -> list[Fraction]:
        return [support[option not in answer] for option, support in enumerate(self.support)]

    @property
    def both(self) -> Both:
        p, q = self.support[0].floats  # boxes are independent of each other
        return Both(p * q, q * q)

    def untouched(self, answer: Sequence[int]) -> list[int]:
        return [int(option in answer) for option in range(self.mechanism.k)]

    def score_covariance(self, weights: NDArray[np.float64], supported: ArrayLike) -> NDArray[np.float64]:
        """Variances of scores of single boxes; NaN for two boxes, whose association tallies do not determine."""
        lam = np.asarray(supported)
        variances = weights**2 @ (lam * (1 - lam))
        alone = np.count_nonzero(weights, axis=1) <= 1
        return np.where(np.eye(len(weights), dtype=bool) & alone, variances, np.nan)

    def extremes(self, weights: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Sums of the negative weights, and of the positive ones: a report may support any set of boxes."""
        return np.minimum(weights, 0).sum(axis=1), np.maximum(weights, 0).sum(axis=1)


class DrawnBoxesDesign(BoxDesign[DrawnBoxes]):
    """The design of drawn boxes: one k-ary response over the patterns of the boxes that the device draws."""

    is_one_draw = True

    @property
    def support(self) -> None:
        """None: the count of a box is binomial among the reports that drew it, not among all reports."""

    @property
    def pair(self) -> Support:
        """Probabilities that two drawn boxes are reported as a pattern if it is the true one, and if it is not."""
        return self.mechanism.pair

    @property
    def both(self) -> Both:
        # Both ticks are never the truth, so both marks are those of a pattern that is not.
        other = self.pair.floats[1] if self.mechanism.s > 1 else 0.0
        return Both(other, other, (self.mechanism.s - 1) / (self.mechanism.k - 1))

    def supported(self, answer: Sequence[int]) -> list[Fraction]:
        k, box = self.mechanism.k, self.mechanism.box
        marks = ((box[option in answer], box[option not in answer]) for option in range(k))
        return [Fraction(self.mechanism.s, k) * mark for pair in marks for mark in pair]

    def untouched(self, answer: Sequence[int]) -> list[int]:
        """The first ``s`` boxes as they are: which boxes are drawn does not depend on the answer."""
        k, s = self.mechanism.k, self.mechanism.s
        return [int(box < s and (box in answer) == ticked) for box in range(k) for ticked in (False, True)]

    @property
    def noise(self) -> tuple[tuple[float, float], ...]:
        """Noise variance of the mean score, which is that of the estimate at share 1/2 and larger elsewhere."""
        each = noise_of_drawn(self.mechanism.k, self.mechanism.s, self.mechanism.box)
        return ((each, each),) * self.mechanism.k

    @cached_property
    def debiasing(self) -> Debiasing:
        """The score of a box: 1/2, plus a weight if it is reported as ticked, minus it if it is reported as clear."""
        k, s = self.mechanism.k, self.mechanism.s
        # P(reported as ticked) - P(as clear) = s / k slope (2 x - 1), so w = k / (2 s slope) gives E[1/2 + w (..)] = x.
        weight = k / (2 * s * float(self.mechanism.box.slope))
        return Debiasing(np.kron(np.eye(k), np.array([[-weight, weight]])), np.full(k, 0.5))

    def binomials(self, counts: Sequence[Count], n: Count) -> tuple[Binomial, ...]:
        pairs = zip(counts[::2], counts[1::2], strict=True)
        return tuple(Binomial(ticked, clear + ticked, self.mechanism.box) for clear, ticked in pairs)

    def shares(self, counts: Sequence[Count], n: Count) -> list[Fraction | float]:
        """The share of each box, among the reports that drew it; NaN where there are none."""
        box = self.mechanism.box
        return [
            (Fraction(ticked) / Fraction(drawn) - box.if_other) / box.slope if drawn else math.nan
            for ticked, drawn, _ in self.binomials(counts, n)
        ]

    def expected(self, shares: Sequence[float]) -> list[float]:
        box = self.mechanism.box
        other, slope = box.floats[1], float(box.slope)
        drawn = self.mechanism.s / self.mechanism.k
        ticked = [drawn * (other + slope * share) for share in shares]
        return [mark for each in ticked for mark in (drawn - each, each)]

    def covariance(self, counts: Sequence[Count], n: Count) -> NDArray[np.float64]:
        """Variances of the shares among the reports that drew each box; NaN for two boxes."""
        matrix = np.full((self.mechanism.k, self.mechanism.k), np.nan)
        slope = float(self.mechanism.box.slope)
        for box, (ticked, drawn, _) in enumerate(self.binomials(counts, n)):
            if drawn:
                lam = ticked / drawn
                # lam (1 - lam) / (slope^2 n), n the reports that drew this box.
                matrix[box, box] = lam * (1 - lam) / slope**2 / drawn
        return matrix

    def score_covariance(self, weights: NDArray[np.float64], supported: ArrayLike) -> NDArray[np.float64]:
        """Variances of scores of single boxes; NaN for two boxes, whose association tallies do not determine."""
        lam = np.asarray(supported, dtype=float)
        means = weights @ lam
        variances = weights**2 @ lam - means**2
        alone = np.count_nonzero(weights.reshape(len(weights), self.mechanism.k, 2).any(axis=2), axis=1) <= 1
        return np.where(np.eye(len(weights), dtype=bool) & alone, variances, np.nan)

    def extremes(self, weights: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Sums over ``s`` boxes of the smaller weight of each, for the least and for the largest such sums."""
        s, pairs = self.mechanism.s, weights.reshape(len(weights), self.mechanism.k, 2)
        most, least = (np.sort(each, axis=1) for each in (pairs.max(axis=2), pairs.min(axis=2)))
        return np.asarray(least[:, :s].sum(axis=1)), np.asarray(most[:, -s:].sum(axis=1))


R = TypeVar("R", bound=RowMechanism)


class RowDesign(MechanismDesign[R]):
    """The design of a mechanism whose report is drawn from the row of weights of its answer."""

    def supported(self, answer: int) -> list[Fraction]:
        return [Fraction(weight, UNIT) for weight in self.mechanism.row(answer)]

    @property
    def float_matrix(self) -> NDArray[np.float64]:
        return np.asarray(np.array(self.mechanism.rows, dtype=float).T / UNIT)

    @property
    def answer_values(self) -> Sequence[float]:
        return self.answer_range

    def mean_weights(self, values: Sequence[float]) -> tuple[tuple[float, ...], float]:
        return _row_weights(self, tuple(values)), 0.0

    @cached_property
    def truths(self) -> tuple[str, ...]:
        return tuple(map(str, self.answer_range))

    @cached_property
    def debiasing(self) -> Debiasing:
        weights = left_inverse(self.truth_matrix, f"mechanism {self.name}")
        return Debiasing(weights, np.zeros(len(weights)))

    def shares(self, counts: Sequence[Count], n: Count) -> list[float]:
        return [float(share) for share in self.debiasing.weights @ [count / n for count in counts]]

    def expected(self, shares: Sequence[float]) -> list[float]:
        return [float(each) for each in self.truth_matrix @ list(shares)]

    def feasible(self, counts: Sequence[Count], n: Count) -> tuple[float, ...]:
        return most_likely_mixture([self.truth_matrix], [counts])


@functools.lru_cache(maxsize=128)  # more than questions of a survey, which take turns in each cohort
def _row_weights(design: RowDesign[Any], values: tuple[float, ...]) -> tuple[float, ...]:
    """Solve ``A' w = values``; where reports outnumber answers, the solution nearest to the reports themselves."""
    matrix = design.float_matrix.T
    start = np.zeros(design.mechanism.k)
    if matrix.shape[0] != matrix.shape[1]:
        start += np.array(design.mechanism.report_range, dtype=float)
    # lstsq gives the shortest solution of an underdetermined system: the least change of `start`.
    correction, *_ = np.linalg.lstsq(matrix, np.array(values, dtype=float) - matrix @ start, rcond=None)
    return tuple((start + correction).tolist())


class PiecewiseDesign(RowDesign[Piecewise]):
    """The design of a mechanism whose rows are linear between knots, which are its truths.

    Several scores of the reports have the answer as their expectation. The one with the least variance under equally
    frequent answers is taken: ``w = D^-1 A (A' D^-1 A)^-1 x`` with the rows of the knots ``A'`` and ``D`` the
    probabilities of the reports.
    """

    def untouched(self, answer: int) -> int:
        scores = self.scores(self.mechanism.knots)
        return min(self.mechanism.report_range, key=lambda report: abs(scores[report] - answer))

    @property
    def float_matrix(self) -> NDArray[np.float64]:
        rows = self.truth_matrix
        return np.array([np.interp(self.answer_range, self.mechanism.knots, row) for row in rows])

    @cached_property
    def truth_matrix(self) -> NDArray[np.float64]:
        return np.asarray(np.array(self.mechanism.knot_rows, dtype=float).T / UNIT)

    @cached_property
    def truths(self) -> tuple[str, ...]:
        """The knots: any population has the reports of some population that answers with knots alone."""
        return tuple(map(str, self.mechanism.knots))

    @property
    def answer_values(self) -> Sequence[float]:
        """The knots."""
        return self.mechanism.knots

    @cached_property
    def expected_if_even(self) -> Sequence[float]:
        shares = shares_of_knots(self.mechanism.knots)
        return self.expected([share / sum(shares) for share in shares])

    def scores(self, values: Sequence[Number]) -> tuple[Fraction, ...]:
        """The exact score of each report in the mean of ``values``, which are given at the knots.

        The expected score is the value, whatever the answer; see the class.

        >>> half = 2**31
        >>> two = Piecewise((0, 4), (3 * half // 2, half // 2), ((-half // 4, half // 4),))
        >>> two.row(1), design_of(two).scores((0, 4))      # 3/4, 1/4 at 0; 1/4, 3/4 at 4; so -2 and 6 in the mean
        ([2684354560, 1610612736], (Fraction(-2, 1), Fraction(6, 1)))
        """
        return _scores(self.mechanism, tuple(Fraction(value) for value in values))

    def mean_weights(self, values: Sequence[float]) -> tuple[tuple[float, ...], float]:
        return tuple(map(float, self.scores(values))), 0.0


class FilteredPiecewiseDesign(RowDesign[FilteredPiecewise]):
    """The design of numbers that not everybody has: its truths are the knots, and *does not apply*.

    Any population has the reports of some population that answers with knots and *does not apply* alone. Of the maps
    back to these the one with the least variance is taken where the question applies to one half, with equally frequent
    numbers.
    """

    def untouched(self, answer: int) -> int:
        row = self.mechanism.row(answer)
        return row.index(max(row))

    @property
    def float_matrix(self) -> NDArray[np.float64]:
        numbers = np.array(self.answer_range[:-1])
        rows = [np.interp(numbers, self.mechanism.knots, row) for row in self.truth_matrix[:, :-1]]
        return np.column_stack([np.array(rows), self.truth_matrix[:, -1]])

    @cached_property
    def truth_matrix(self) -> NDArray[np.float64]:
        return np.asarray(np.array(self.mechanism.extreme_rows, dtype=float).T / UNIT)

    @cached_property
    def truths(self) -> tuple[str, ...]:
        return (*map(str, self.mechanism.knots), "does not apply")

    @property
    def answer_values(self) -> Sequence[float]:
        """The knots; whoever it does not apply to has no number."""
        return self.mechanism.knots

    def shares_of_some(self, applying: float) -> Sequence[float]:
        shares = shares_of_knots(self.mechanism.knots)
        return (*(applying * share / sum(shares) for share in shares), 1 - applying)

    @cached_property
    def expected_if_even(self) -> Sequence[float]:
        return self.expected(self.shares_of_some(HALF_APPLIES))

    @cached_property
    def debiasing(self) -> Debiasing:
        # `left_inverse` weighs reports by the row sums of its matrix, which are their probabilities at these shares.
        shares = np.array(self.shares_of_some(HALF_APPLIES))
        weights = shares[:, None] * left_inverse(self.truth_matrix * shares, f"mechanism {self.name}")
        return Debiasing(weights, np.zeros(len(weights)))


@functools.lru_cache(maxsize=128)  # more than questions of a survey, which take turns in each cohort
def _scores(mechanism: Piecewise, values: tuple[Fraction, ...]) -> tuple[Fraction, ...]:
    """Solve ``A' D^-1 A y = values`` over fractions; then the scores are ``D^-1 A y``."""
    rows, shares = mechanism.knot_rows, shares_of_knots(mechanism.knots)
    # Whatever D is, the mean has no bias. Inverses rounded to whole numbers keep the fractions short.
    # D^-1 for probabilities shares' A / (2**32 sum shares), in integers; the scale of D cancels in the scores.
    rare = [2**96 // sum(map(operator.mul, shares, column)) for column in zip(*rows, strict=True)]
    weighed = [[weight * each for weight, each in zip(row, rare, strict=True)] for row in rows]
    left = [[Fraction(sum(map(operator.mul, row, other))) for other in weighed] for row in rows]
    solved = _solution([[*row, value] for row, value in zip(left, values, strict=True)])
    return tuple(UNIT * sum(map(operator.mul, solved, column), Fraction(0)) for column in zip(*weighed, strict=True))


def _solution(rows: list[list[Fraction]]) -> list[Fraction]:
    """Gauss-Jordan elimination of ``left | right``; ``left`` is positive definite, so no pivot is 0."""
    for place, row in enumerate(rows):
        top = rows[place] = [each / row[place] for each in row]
        for other in range(len(rows)):
            if other != place:
                factor = rows[other][place]
                rows[other] = [each - factor * one for each, one in zip(rows[other], top, strict=True)]
    return [row[-1] for row in rows]


@overload
def design_of(source: FilteredPiecewise) -> FilteredPiecewiseDesign: ...  # type: ignore[overload-overlap]  # a subclass


@overload
def design_of(source: Piecewise) -> PiecewiseDesign: ...


@overload
def design_of(source: Mechanism) -> MechanismDesign[Any]: ...


@overload
def design_of(source: Design | Mechanism) -> Design: ...


def design_of(source: Design | Mechanism) -> Design:
    """The design of a mechanism; a design is returned as it is.

    Equal mechanisms share one design, and with it everything that was computed from it.

    >>> from deniable import TwoCoin
    >>> design_of(TwoCoin("1/2", "1/2")).noise[1]
    (0.75, 0.75)
    """
    return source if isinstance(source, Design) else _kept(source)


@functools.lru_cache(maxsize=1024)
def _kept(mechanism: Mechanism) -> Design:
    return _made(mechanism)


@functools.singledispatch
def _made(mechanism: object) -> Design:
    raise ParameterError(f"design: must be a design or a mechanism, got {describe(mechanism)}")


_made.register(PureMechanism, PureDesign)
_made.register(OneBitMean, TwoEndsDesign)
_made.register(Subset, SubsetDesign)
_made.register(TickBoxes, TickBoxesDesign)
_made.register(DrawnBoxes, DrawnBoxesDesign)
_made.register(RowMechanism, RowDesign)
_made.register(Piecewise, PiecewiseDesign)
_made.register(FilteredPiecewise, FilteredPiecewiseDesign)


def mean_values(question: Question) -> tuple[float, ...] | None:
    """The numbers of the truths of a question, on its own scale; None where its options are no numbers."""
    if not question.has_mean:
        return None
    first = float(question.options[0]) if question.options else 0  # mechanisms number levels from 0
    return tuple(first + value for value in design_of(question.mechanism).answer_values)


def level_values(question: Question) -> tuple[float, ...] | None:
    """The numbers of the truths of a question with a filter, but for *does not apply*; None of other questions."""
    if not question.ask_if or not question.kind.has_numbers:
        return None
    if question.has_shares:
        return tuple(map(float, question.choices))
    first = float(question.options[0]) if question.options else 0  # mechanisms number levels from 0
    return tuple(first + value for value in design_of(question.mechanism).answer_values)
