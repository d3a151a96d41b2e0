"""A share corrected for people who answer at random, by an anchor question whose true share is known."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from deniable.errors import ParameterError
from deniable.exact import Number, rational
from deniable_research.attention.anchor_likelihood import AnchoredFit
from deniable_statistics.designs.of_mechanisms import AnyDesign, design_of
from deniable_statistics.intervals import Interval, check_confidence_level, normal_quantile, share_interval
from deniable_statistics.sampling.weights import kish

AT_RANDOM = 0.5
"""Probability of each of the two responses from a person who does not attend."""


@dataclass(frozen=True)
class Anchor:
    """A second question to the same people, whose true share of yes is known.

    Attributes
    ----------
    design : Design or Mechanism
        The design that randomises its answers, which has two responses.
    known_share : number
        The share of yes: 0 for something that nobody has done.
    """

    design: AnyDesign
    known_share: Number

    def __post_init__(self) -> None:
        known = rational(self.known_share, "known_share")
        if not 0 <= known <= 1:
            raise ParameterError(f"known_share: must be a share in [0, 1], got {self.known_share!s:.40}")
        object.__setattr__(self, "known_share", known)
        if self.attended == AT_RANDOM:
            raise ParameterError(
                "anchor: must be answered otherwise by people who attend than by chance, "
                "got one that half of both say yes to"
            )

    @cached_property
    def attended(self) -> float:
        """The probability that the report of a person who attends supports yes."""
        a, b = yes_no_support(self.design, "anchor")
        return b + (a - b) * float(self.known_share)


@dataclass(frozen=True, eq=False)
class AnchoredShare:
    """The share of yes among people of whom only some attend to the questions, as `anchored` estimates it.

    Attributes
    ----------
    support : tuple of two floats
        Probabilities that the report of a person who attends supports yes, if that is the truth and if it is not.
    anchor : Anchor
    reports : ndarray of float, shape (people, 2)
        Whether the reports to the question and to its anchor support yes: 1 or 0.
    weights : ndarray, shape (people,)
    n_effective : float
        Kish's effective sample size; without weights the number of people.
    frequencies : ndarray of int64, shape (rows,)
        Number of people that each row stands for.
    """

    support: tuple[float, float]
    anchor: Anchor
    reports: NDArray[np.float64]
    weights: NDArray[np.float64]
    n_effective: float
    frequencies: NDArray[np.int64]

    @property
    def n(self) -> int:
        """Number of people."""
        return int(self.frequencies.sum())

    @cached_property
    def _totals(self) -> NDArray[np.float64]:
        """The sum of the weights of the people of each row, shape (rows,)."""
        return np.asarray(self.weights * self.frequencies)

    @cached_property
    def _apart(self) -> NDArray[np.float64]:
        """The shares of reports that support yes to the question and to its anchor, minus 1/2, shape (2,)."""
        return np.asarray(self._totals @ self.reports / self._totals.sum() - AT_RANDOM)

    @cached_property
    def _covariance(self) -> NDArray[np.float64]:
        """Covariance of the two rates, by linearisation of weighted means, shape (2, 2)."""
        residuals = self.reports - self._apart - AT_RANDOM
        # The sum of w^2 e e' over people: a row of f people adds f w^2 = (w f) w.
        squares = (residuals.T * (self._totals * self.weights)) @ residuals
        return np.asarray(squares / self._totals.sum() ** 2)

    @property
    def attentive(self) -> float:
        """The share of people who attend; unbiased, so it may leave [0, 1]. NaN without reports."""
        return float(self._apart[1]) / (self.anchor.attended - AT_RANDOM) if self.n else math.nan

    def attentive_interval(self, confidence_level: float = 0.95, method: str = "default") -> Interval:
        """The confidence interval of `attentive`, by the methods of a share: the anchor's count alone is binomial."""
        if not self.n:
            return Interval(0.0, 1.0)
        count = (float(self._apart[1]) + AT_RANDOM) * self.n_effective
        return share_interval(
            min(count, self.n_effective), self.n_effective, (self.anchor.attended, AT_RANDOM), confidence_level, method
        )

    @property
    def share(self) -> float:
        """The corrected share of yes, which may leave [0, 1]; NaN without reports, or if nobody seems to attend."""
        if not self.n or not self.attentive:
            return math.nan
        # u / v estimates (b + (a - b) f - 1/2) / (m - 1/2), from which the share who attend cancels
        a, b = self.support
        return (float(self._apart[0]) / self.attentive + AT_RANDOM - b) / (a - b)

    @property
    def std_error(self) -> float:
        """The standard error of `share`, by the delta method; NaN where there is no share."""
        if math.isnan(self.share):
            return math.nan
        a, b = self.support
        # d (u / v) = du / v - u dv / v^2
        contrast = np.array([1.0, -self._apart[0] / self._apart[1]])
        variance = float(contrast @ self._covariance @ contrast)
        return math.sqrt(max(variance, 0.0)) / abs(self.attentive * (a - b))

    @property
    def fake_margin(self) -> float:
        """Largest shift of the share, to the first order, if one person in a hundred makes up both reports."""
        if math.isnan(self.share):
            return math.nan
        a, b = self.support
        # Each rate moves by at most 1/100, so u / v by at most (1 + |u / v|) / (100 |v|).
        return 0.01 * (1 + abs(float(self._apart[0] / self._apart[1]))) / abs(self.attentive * (a - b))

    def _smoothed(self, people: float) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """`_apart` and its covariance with that many more people who answer at random, which leaves its ratio."""
        n, apart = self.n_effective, self._apart
        # n rates with covariance C beside z^2 at random with variance 1/4, of which both rates are means
        each = (n * n * self._covariance + people / 4 * np.eye(2)) / (n + people)
        each += n * people / (n + people) ** 2 * np.outer(apart, apart)
        return apart * n / (n + people), each / (n + people)

    def confidence_interval(self, confidence_level: float = 0.95) -> Interval:
        """Fieller's confidence interval, cut to [0, 1]; all of [0, 1] if the anchor does not show that people attend.

        A share ``f`` stays if the mean of ``(Y - 1/2) - t (Z - 1/2)`` is within its normal errors of 0, where
        ``t = (b + (a - b) f - 1/2) / (attended - 1/2)``: its expectation is 0 at the true share, however many attend.
        As Agresti and Coull add four reports, ``z^2`` people who answer at random are added, so that the errors of few
        reports are not taken for 0.
        """
        z = normal_quantile(check_confidence_level(confidence_level))
        if not self.n:
            return Interval(0.0, 1.0)
        a, b = self.support
        (u, v), covariance = self._smoothed(z * z)
        covariance = z * z * covariance
        scale = self.anchor.attended - AT_RANDOM
        # (u - t v)^2 <= z^2 var(u - t v) is square t^2 - 2 cross t + level <= 0
        square, cross, level = v * v - covariance[1, 1], u * v - covariance[0, 1], u * u - covariance[0, 0]
        ends = sorted([(b - AT_RANDOM) / scale, (a - AT_RANDOM) / scale])
        inside = cross * cross - square * level
        # an upward parabola holds between its roots, a downward one outside them, and none everywhere or nowhere
        roots = sorted((cross + sign * math.sqrt(inside)) / square for sign in (-1, 1)) if square and inside > 0 else []

        def stays(t: float) -> bool:
            return bool(t * t * square - 2 * t * cross + level <= 0)

        marks = [ends[0], *(root for root in roots if ends[0] < root < ends[1]), ends[1]]
        kept = [end for low, high in itertools.pairwise(marks) if stays((low + high) / 2) for end in (low, high)]
        if not kept:  # every possible share is rejected: the end that is nearest
            kept = [min(ends, key=lambda t: abs(u - t * v) / math.sqrt(covariance[0, 0] + t * t * covariance[1, 1]))]
        shares = [float((AT_RANDOM + t * scale - b) / (a - b)) for t in (min(kept), max(kept))]
        return Interval(*sorted(shares)).cut()

    @cached_property
    def joint(self) -> AnchoredFit:
        """The likelihood of both questions, which supposes that the same people attend to both.

        Weighted counts are scaled to Kish's effective sample size.
        """
        cells = np.zeros((2, 2))
        both = self.reports.astype(int)
        np.add.at(cells, (both[:, 0], both[:, 1]), self._totals)
        total = cells.sum()
        return AnchoredFit(self.support, self.anchor.attended, cells * (self.n_effective / total) if total else cells)


def anchored(
    design: AnyDesign,
    reports: ArrayLike,
    anchor: Anchor,
    anchor_reports: ArrayLike,
    weights: ArrayLike | None = None,
    frequencies: ArrayLike | None = None,
) -> AnchoredShare:
    """Correct a share for people who answer at random, by an anchor question.

    Parameters
    ----------
    design : Design or Mechanism
        The design of the question, with two responses such as those of the crosswise model.
    reports, anchor_reports : array_like of bool, shape (people,)
        Whether the report of each person supports yes, which *same* does in the crosswise model.
    anchor : Anchor
    weights : array_like, shape (people,), optional
    frequencies : array_like of int, shape (people,), optional
        Number of people that each row stands for, if equal rows were counted.

    Returns
    -------
    AnchoredShare

    Raises
    ------
    ParameterError
        If a design has more than two responses, or the lengths or weights do not fit.

    Notes
    -----
    A share ``g`` of people attend; the others give each response with probability 1/2, at both questions. So reports to
    the question support yes with probability ``g (b + (a - b) f) + (1 - g) / 2``, those to the anchor with
    ``g m + (1 - g) / 2`` where ``m`` is known: the second gives ``g``, the first then ``f`` [1]_. This supposes that
    attending is independent of the truth, and that equally many people attend to both questions, not that they are the
    same people. `AnchoredShare.confidence_interval` is Fieller's instead of the bootstrap of [1]_;
    `AnchoredShare.joint` uses both answers of each person together.

    References
    ----------
    .. [1] Y. Atsusaka, R. T. Stevenson, "A bias-corrected estimator for the crosswise model with inattentive
       respondents", Political Analysis 31 (2023), 134-148.

    Examples
    --------
    The data of their package cWise: p is .15 twice, and nobody has done what the anchor asks. The plain estimate is
    .195:

    >>> from deniable_statistics.classical import crosswise
    >>> same = np.repeat([0, 1, 0, 1], [148, 311, 425, 1116])
    >>> anchor_same = np.repeat([0, 0, 1, 1], [148, 311, 425, 1116])
    >>> found = anchored(crosswise("0.15"), same, Anchor(crosswise("0.15"), 0), anchor_same)
    >>> round(found.attentive, 4), round(found.share, 4), round(found.std_error, 4)
    (0.7729, 0.1054, 0.0227)
    >>> [round(end, 3) for end in found.confidence_interval()]
    [0.059, 0.148]
    """
    support = yes_no_support(design, "question")
    both = np.column_stack([np.asarray(reports, dtype=float).ravel(), np.asarray(anchor_reports, dtype=float).ravel()])
    if both.size and not np.isin(both, (0, 1)).all():
        raise ParameterError("reports: must all be 0 or 1")
    each = _of_rows(weights, len(both), "weights", "person").astype(float)
    people = _of_rows(frequencies, len(both), "frequencies", "row").astype(np.int64)
    # With equal weights Kish's number is the number of people.
    effective = kish(each.tolist(), people.tolist())
    counted = each > 0
    return AnchoredShare(support, anchor, both[counted], each[counted], effective, people[counted])


def _of_rows(given: ArrayLike | None, n: int, subject: str, unit: str) -> NDArray[Any]:
    """A number for each row, 1 unless it is given."""
    found = np.ones(n) if given is None else np.asarray(given)
    if found.shape != (n,):
        raise ParameterError(f"{subject}: must be {n} numbers, one for each {unit}, got {found.size}")
    return found


def yes_no_support(design: AnyDesign, subject: str) -> tuple[float, float]:
    """The probabilities that a report supports yes, if that is the truth and if it is not.

    Raises
    ------
    ParameterError
        If the design is not one of two truths and two responses.
    """
    design = design_of(design)
    if design.support is None or len(design.truths) != 2 or design.reports.size != 2 or design.groups > 1:
        raise ParameterError(
            f"{subject}: must be a yes-no question of two responses to correct for random answers, got {design.name}"
        )
    return design.support[1].floats
