"""Profile-likelihood intervals of shares and means that are not behind one binomial count.

``sum C log(A f)`` is the log-likelihood of a tally ``C`` at shares ``f``, which are at least 0 and add up to 1. An
interval holds each ``theta`` under which, that is with ``part f = theta whole f``, the largest log-likelihood falls
little. For a share ``part`` is the indicator of an option, for a mean the values of the answers; ``whole f`` is 1, or
the share of the subpopulation within which a share is wanted.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from statistics import NormalDist
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from deniable_statistics.intervals.constrained import Maximum, most_likely_under
from deniable_statistics.intervals.enumerated import enumerated_interval, is_enumerable
from deniable_statistics.intervals.sums import mirrored, sum_at_least
from deniable_statistics.special.chi_squared import chi_squared_quantile, chi_squared_tails
from deniable_statistics.special.normal import normal_cdf

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]


ENDS = 1e-6
"""Least and largest share at which a limit is searched: ``ENDS`` and ``1 - ENDS``."""

TRIES = 8
"""Number of grid points at which a limit is searched at once, and bisections between two of them after that."""

TURNS = 4
"""Iterations of the search for the worst fake reports; six instead of four changed mean widths by less than .02."""

FAR = 5.0
"""Truncation point of the log-likelihood ratio of one report against an alternative, in nats."""


class MaximumLikelihood(NamedTuple):
    """The maximum-likelihood shares of ``b`` tallies, and their log-likelihoods, shape (b,)."""

    maximum: Maximum
    log: Floats


class ScoreEstimate(NamedTuple):
    """An unbiased estimate of ``part f``, which is from 0 to 1: the mean of the scores of the reports."""

    scores: Floats
    part: Floats


class _TestStatistic(NamedTuple):
    """Test statistics of ``b`` tallies: the root, its degrees of freedom, and a sum with its distribution."""

    root: Floats
    freedom: NDArray[np.intp]
    weights: Floats
    seen: Floats
    chances: Floats
    sizes: Floats


@dataclass(frozen=True, eq=False)
class ShareLikelihood:
    """The likelihood of tallies of reports.

    Parameters
    ----------
    channels : sequence of ndarray, each of shape (reports, answers)
        ``P(report | answer)``, one matrix for each group of people.
    correction : float
        Finite-population correction of the sampling variance: 1 for an infinite population, 0 for the respondents
        alone. Where it is below 1 there must be one group.
    """

    channels: Sequence[Floats]
    correction: float = 1.0

    @cached_property
    def matrix(self) -> Floats:
        """The channels stacked, without the rows of impossible reports, shape (possible reports, answers)."""
        return np.vstack(self.channels)[self.possible]

    @property
    def has_one_unknown(self) -> bool:
        """Whether the likelihood has one free parameter: one group, two answers, an infinite population."""
        return self.matrix.shape[1] == 2 and len(self.channels) == 1 and self.correction == 1

    @cached_property
    def possible(self) -> Flags:
        """Indicator of reports that are possible under some answer, shape (reports,)."""
        return np.asarray(np.vstack(self.channels).any(axis=1))

    @cached_property
    def _member(self) -> Floats:
        """Indicator matrix of the groups of reports, shape (groups, possible reports)."""
        group = np.repeat(np.arange(len(self.channels)), [len(each) for each in self.channels])[self.possible]
        return np.asarray(group == np.arange(len(self.channels))[:, None], dtype=float)

    @cached_property
    def _wholes(self) -> Floats:
        """Rows ``r`` with ``r f = 1``, so that the probabilities of all reports add up to 1, shape (m, answers)."""
        return np.unique((self._member @ self.matrix).round(12), axis=0)

    @property
    def everybody(self) -> Floats:
        """Weights of the answers with which their shares add up to 1, shape (answers,)."""
        return np.asarray(self._wholes[0])

    def best(self, counts: Floats) -> MaximumLikelihood:
        """The most likely shares of each tally, shape (b, possible reports)."""
        rows = np.broadcast_to(self._wholes, (len(counts), *self._wholes.shape))
        maximum = most_likely_under(self.matrix, counts, rows, np.ones(len(self._wholes)))
        return MaximumLikelihood(maximum, self._log(counts, maximum.shares))

    def _log(self, counts: Floats, shares: Floats) -> Floats:
        # 0 log 0 = 0: reports that nobody sent may be impossible under these shares.
        return np.asarray((counts * np.log(shares @ self.matrix.T, where=counts > 0, out=np.zeros_like(counts))).sum(1))

    def root(
        self, counts: Floats, best: MaximumLikelihood, rows: Floats, scored: ScoreEstimate | None = None
    ) -> Floats:
        """The root of the likelihood-ratio statistic of ``rows f = 0``, in standard errors, shape (b,)."""
        return self._tested(counts, best, rows, scored).root

    def p_values(
        self, counts: Floats, best: MaximumLikelihood, rows: Floats, alpha: float, scored: ScoreEstimate | None = None
    ) -> Floats:
        """P-values of ``rows f = 0``, shape (b,); of those above ``alpha`` only that they are.

        See `profile_intervals`.
        """
        tested = self._tested(counts, best, rows, scored)
        n = counts.sum(axis=1)
        # The larger of chi-squared and one-sided normal; the sum of reports is looked at only where both reject.
        other = normal_cdf(-tested.root)
        found = (
            other
            if scored is not None
            else np.maximum(chi_squared_tails(tested.freedom, tested.root**2 * n / (n + 1)), other)
        )
        rest = np.flatnonzero(found <= alpha)
        if len(rest):
            weights, people = tested.weights[rest], (tested.chances[rest], tested.sizes[rest])
            tail = sum_at_least(weights, *people, tested.seen[rest])
            opposite = mirrored(weights, *people, tested.seen[rest])
            reached = np.flatnonzero(np.isfinite(opposite))
            if len(reached):
                people = (people[0][reached], people[1][reached])
                far = sum_at_least(-weights[reached], *people, -opposite[reached])
                other[rest[reached]] = np.maximum(other[rest[reached]], far)
            found[rest] = np.maximum(found[rest], tail + other[rest])
        return np.asarray(found)

    def _tested(
        self, counts: Floats, best: MaximumLikelihood, rows: Floats, scored: ScoreEstimate | None
    ) -> _TestStatistic:
        constraints, (shares, positive) = self._under(counts, rows)
        lam = shares @ self.matrix.T
        if scored is None:
            wholes = np.broadcast_to(self._wholes, (len(counts), *self._wholes.shape))
            # Smallest face with both maxima: its dimension less that of the constrained face is the degrees of freedom.
            either = positive | best.maximum.positive
            freedom = np.maximum(_dimension(either, wholes) - _dimension(positive, constraints), 1)
            fall = np.maximum(best.log - self._log(counts, shares), 0)
            weights = _ratios(best.maximum.shares @ self.matrix.T, lam)
            chances, sizes, ratio = self._people(counts, shares, lam, weights)
            seen = (counts * weights).sum(axis=1)
            return _TestStatistic(np.sqrt(2 * fall * ratio), freedom, weights, seen, chances, sizes)
        n = counts.sum(axis=1)
        # The estimate may lie outside of [0, 1]; the nearest possible mean is where the distance starts.
        nearest = np.clip(counts @ scored.scores / n, ENDS, 1 - ENDS)
        theta = ((scored.part - rows) * best.maximum.shares).sum(axis=1)
        weights = np.where(nearest < theta, -1, 1)[:, None] * scored.scores
        chances, sizes, _ = self._people(counts, shares, lam, weights)
        mean, variance = _moments(chances, weights)
        expected = (sizes * mean).sum(axis=1)
        # n / (n + 1), because the variance is estimated: see the notes of `profile_intervals`.
        apart = ((counts * weights).sum(axis=1) - expected) * np.sqrt(n / (n + 1))
        squared = apart**2 / np.maximum((sizes * variance).sum(axis=1), 1e-300)
        root = np.sqrt(np.maximum(squared - self._least(counts, scored, nearest), 0))
        one = np.ones(len(counts), dtype=np.intp)
        return _TestStatistic(root, one, weights, expected + apart, chances, sizes)

    def _under(self, counts: Floats, rows: Floats) -> tuple[Floats, Maximum]:
        """The constraints of the hypothesis ``rows f = 0``, and the maximum of the likelihood under them."""
        wholes = np.broadcast_to(self._wholes, (len(counts), *self._wholes.shape))
        constraints = np.concatenate([wholes, rows[:, None, :]], axis=1)
        values = np.append(np.ones(len(self._wholes)), 0)
        return constraints, most_likely_under(self.matrix, counts, constraints, values)

    def without_fakes(self, counts: Floats, rows: Floats, fakes: float) -> Floats:
        """Tallies, shape (r,) or (b, r), without the ``fakes`` reports that speak most against each row.

        No other choice of as many fakes makes ``rows f = 0`` more plausible. For given constrained shares the fall of
        the log-likelihood is convex in what is taken away, and the log-likelihood ratio of each report is its slope:
        steps of Frank and Wolfe's method [1]_ towards the reports with the largest ratios.

        References
        ----------
        .. [1] M. Frank, P. Wolfe, "An algorithm for quadratic programming", Naval Research Logistics Quarterly 3
           (1956), 95-110.
        """
        every = np.broadcast_to(counts, (len(rows), counts.shape[-1]))
        taken = np.zeros(every.shape)
        for turn in range(TURNS):
            left = every - taken
            most = self.best(left).maximum.shares @ self.matrix.T
            against = _ratios(most, self._under(left, rows)[1].shares @ self.matrix.T)
            # The vertex of Frank and Wolfe's step: take fakes from the reports with the largest slope until there are
            # none left.
            order = np.argsort(-against, axis=1)
            held = np.take_along_axis(np.where(against > 0, every, 0), order, axis=1)
            first = np.empty_like(taken)
            np.put_along_axis(first, order, np.clip(fakes - (held.cumsum(axis=1) - held), 0, held), axis=1)
            # Step length 2 / (t + 2), with which the error falls like 1 / t.
            taken += (first - taken) * 2 / (turn + 2)
        return np.asarray(every - taken)

    def _least(self, counts: Floats, scored: ScoreEstimate, nearest: Floats) -> Floats:
        """The squared distance, in standard errors, of unbiased estimates from the nearest possible ones."""
        n = counts.sum(axis=1)
        found = np.zeros(len(counts))
        outside = np.flatnonzero(abs(counts @ scored.scores / n - nearest) > 2 * ENDS)
        if len(outside):
            rows = scored.part - nearest[outside, None] * self.everybody
            lam = self._under(counts[outside], rows)[1].shares @ self.matrix.T
            mean = lam @ scored.scores
            variance = lam @ scored.scores**2 - mean**2
            found[outside] = (counts[outside] @ scored.scores - n[outside] * mean) ** 2 / ((n[outside] + 1) * variance)
        return found

    def _people(self, counts: Floats, shares: Floats, lam: Floats, weights: Floats) -> tuple[Floats, Floats, Floats]:
        """Chances and sizes of the groups for `sum_at_least`, and the factor of ``2 T`` in a finite population."""
        drawn = lam[:, None, :] * self._member
        sizes = counts @ self._member.T
        if self.correction == 1:
            return drawn, sizes, np.ones(len(counts))
        fixed = np.broadcast_to(self.matrix.T, (len(counts), *self.matrix.T.shape))
        # Law of total variance: a correction lessens what people differ by, never what each report's noise adds.
        of_drawn = _moments(drawn, weights)[1][:, 0]
        of_fixed = (shares * _moments(fixed, weights)[1]).sum(axis=1)
        left = of_fixed + self.correction * (of_drawn - of_fixed)
        sizes = np.concatenate([sizes * self.correction, sizes * (1 - self.correction) * shares], axis=1)
        # 2 T grows as the variance of the sum falls, so that its root stays standard normal.
        ratio = of_drawn / np.maximum(left, 1e-12 * of_drawn + 1e-300)
        return np.concatenate([drawn, fixed], axis=1), sizes, np.where(of_drawn > 0, ratio, 1.0)


def _ratios(most: Floats, lam: Floats) -> Floats:
    """The log-likelihood ratio of each report between two sets of shares."""
    return np.asarray(np.maximum(np.log(np.maximum(most, 1e-300) / lam), -FAR))


def _dimension(positive: Flags, rows: Floats) -> NDArray[np.intp]:
    """Dimension of the face of positive shares on which ``rows f`` is constant."""
    return np.asarray(positive.sum(axis=1) - np.linalg.matrix_rank(rows * positive[:, None, :]))


def _moments(chances: Floats, weights: Floats) -> tuple[Floats, Floats]:
    """Mean and variance of the weight of one report in each group, shape (b, j)."""
    mean = (chances @ weights[:, :, None])[:, :, 0]
    return mean, np.asarray((chances * (weights[:, None, :] - mean[:, :, None]) ** 2).sum(axis=2))


def profile_intervals(
    likelihood: ShareLikelihood,
    counts: Floats,
    parts: Floats,
    wholes: Floats | None,
    confidence_level: float,
    scored: ScoreEstimate | None = None,
    fakes: float = 0,
) -> Floats:
    """Confidence intervals of ``part f / whole f``, within [0, 1].

    Parameters
    ----------
    likelihood : ShareLikelihood
    counts : ndarray, shape (r,)
        Number of each report, group after group; real for weighted reports.
    parts, wholes : ndarray, shape (m, k)
        They must have ``0 <= part f <= whole f`` for all shares; without wholes, ``whole f = 1``.
    confidence_level : float
    scored : ScoreEstimate, optional
        An unbiased estimate of the only part, which replaces the likelihood ratio; see Notes.
    fakes : float
        Largest number of fake reports: those that speak most against a ``theta`` are taken away before it is tested.
        Not with ``scored``.

    Returns
    -------
    ndarray, shape (m, 2)
        The hull of all ``theta`` that the data do not contradict.

    Notes
    -----
    With ``T`` the fall of the log-likelihood, ``2 T`` is not chi-squared with one degree of freedom, however many
    people report: the most likely shares lie on a face of the simplex, and a maximum among all shares has directions to
    go that one with ``part f = theta whole f`` has not [1]_. If everybody gives the middle one of 11 answers, limits
    from one degree cover .80. Given the faces on which the two maxima lie, a projection has a chi-squared distribution
    with as many degrees as the faces differ in dimensions [2]_ [3]_. The smallest face that holds both maxima is taken
    for the free one, so its difference from the constrained one is at least 1 and rather too large. It takes no random
    numbers, so the same reports have the same interval.

    With one unknown and few tallies `enumerated_interval` is exact. Elsewhere two things make up for few reports:
    ``2 T`` is lessened by ``n / (n + 1)``, and ``theta`` stays if ``P(S >= x) + other > alpha``. ``S`` is the sum over
    reports of the log-likelihood ratio between the two maxima, and ``x = T`` that of the tally; ``other`` is the
    probability of a sum as unlikely on the other side (`mirrored`), or of a normal error beyond ``sqrt(2 T)`` if that
    is larger. Both are those under the constrained maximum, by `sum_at_least`, which knows that rare reports come in
    whole numbers. At the maximum ``T`` is 0 and near it near 0, so that no interval is a point.

    A mean is estimated by a sum of scores about as well as by the maximum, and that sum is unbiased whatever the shares
    are, so that it needs no more degrees of freedom. With ``scored`` the second rule alone decides, for that sum, with
    its squared distance from the expectation in standard errors, ``z^2``, instead of ``2 T``: lessened by
    ``n / (n + 1)``, because the variance is estimated, and by the ``z^2`` of the nearest possible mean.

    References
    ----------
    .. [1] P. Batlle, P. Patil, M. Stanley, H. Owhadi, M. Kuusela, "Optimization-based frequentist confidence intervals
       for functionals in constrained inverse problems: resolving the Burrus conjecture", arXiv:2310.02461 (2023).
    .. [2] E. Susko, "Likelihood ratio tests with boundary constraints using data-dependent degrees of freedom",
       Biometrika 100 (2013), 1019-1023.
    .. [3] D. Al Mohamad, E. W. van Zwet, E. Cator, J. J. Goeman, "Adaptive critical value for constrained likelihood
       ratio testing", Biometrika 107 (2020), 677-688.
    """
    if fakes:
        found = [_profiled(likelihood, counts, parts, wholes, confidence_level, scored, fakes)]
        tallies = [counts, *(_in_order(likelihood, counts, int(fakes)) if wholes is None else ())]
        found += [profile_intervals(likelihood, each, parts, wholes, confidence_level, scored) for each in tallies]
        return np.stack([np.min(found, axis=0)[:, 0], np.max(found, axis=0)[:, 1]], axis=1)
    if wholes is None and likelihood.has_one_unknown and scored is None:
        possible = counts[likelihood.possible]
        if not (possible % 1).any() and is_enumerable(len(possible), float(possible.sum())):
            ends = np.array(enumerated_interval(likelihood.matrix, possible, confidence_level))
            return np.sort(parts[:, :1] + (parts[:, 1:] - parts[:, :1]) * ends, axis=1)
    return _profiled(likelihood, counts, parts, wholes, confidence_level, scored, 0)


def score_intervals(
    likelihood: ShareLikelihood, counts: Floats, scored: ScoreEstimate, confidence_level: float
) -> Floats:
    """The interval of a mean for each of several tallies, as `profile_intervals` has it for one alone.

    Small arrays cost what calls of numpy cost, so many tallies at once take a fraction of the time of one after the
    other.

    Parameters
    ----------
    likelihood : ShareLikelihood
        Of one group.
    counts : ndarray, shape (m, r)
        Number of each report, in each tally.
    scored : ScoreEstimate
    confidence_level : float

    Returns
    -------
    ndarray, shape (m, 2)
    """
    parts = np.broadcast_to(scored.part, (len(counts), len(scored.part)))
    return _profiled(likelihood, counts, parts, None, confidence_level, scored, 0)


def _in_order(likelihood: ShareLikelihood, counts: Floats, fakes: int) -> list[Floats]:
    """Tallies, where intervals are exact, without the 1 to ``fakes`` reports that speak most for either answer."""
    n = float(counts.sum())
    if not likelihood.has_one_unknown or (counts % 1).any() or not is_enumerable(int(likelihood.possible.sum()), n):
        return []
    first, second = likelihood.channels[0].T
    # Angle of (P(r | first), P(r | second)): the order of the likelihood ratios, infinite ones included.
    order = np.argsort(np.arctan2(second, first), kind="stable")
    found = []
    for turned in (order, order[::-1]):
        held = counts[turned]
        for taken in range(1, fakes + 1):
            left = counts.copy()
            left[turned] -= np.clip(taken - (held.cumsum() - held), 0, held)
            found.append(left)
    return found


def _profiled(
    likelihood: ShareLikelihood,
    counts: Floats,
    parts: Floats,
    wholes: Floats | None,
    confidence_level: float,
    scored: ScoreEstimate | None,
    fakes: float,
) -> Floats:
    """`profile_intervals` where tallies are too many to enumerate."""
    alpha = 1 - confidence_level
    if wholes is None:
        wholes = np.broadcast_to(likelihood.everybody, parts.shape)
    if scored is not None:
        scored = ScoreEstimate(scored.scores[likelihood.possible], scored.part)
    arrays = (*likelihood.channels, counts, parts, wholes, *(scored or ()))
    key = (*((each.shape, each.tobytes()) for each in arrays), likelihood.correction, alpha, fakes)
    return _found(
        _SearchKey(
            key,
            _Search(likelihood, np.atleast_2d(counts)[:, likelihood.possible], parts, wholes, alpha, scored, fakes),
        )
    )


@dataclass(frozen=True)
class _SearchKey:
    """A search, compared by the bytes of all arrays and numbers that its result depends on."""

    key: tuple[object, ...]
    search: _Search = field(compare=False)


@lru_cache(maxsize=256)
def _found(asked: _SearchKey) -> Floats:
    """The ends of intervals, once for the same reports: pages are asked for more often than reports come."""
    ends = np.stack([asked.search.ends(0), asked.search.ends(1)], axis=1)
    # The array stands in a cache: a change would reach every later caller.
    ends.flags.writeable = False
    return ends


@dataclass(frozen=True, eq=False)
class _Search:
    """The search for all ends of intervals at once.

    Attributes
    ----------
    likelihood : ShareLikelihood
    counts : ndarray, shape (1, r) or (m, r)
        One tally for all parts, or one for each.
    parts, wholes : ndarray, shape (m, k)
    alpha : float
    scored : ScoreEstimate or None
    fakes : float
    """

    likelihood: ShareLikelihood
    counts: Floats
    parts: Floats
    wholes: Floats
    alpha: float
    scored: ScoreEstimate | None
    fakes: float

    @cached_property
    def best(self) -> MaximumLikelihood:
        """The most likely shares for each tally that was seen, without fakes."""
        return self.likelihood.best(self.counts)

    @cached_property
    def start(self) -> Floats:
        """A value of each part that the tally does not contradict."""
        if self.scored is not None:
            return np.asarray(np.clip(self.counts @ self.scored.scores / self.counts.sum(axis=1), 0, 1))
        shares = self.best.maximum.shares[0]
        return np.asarray(np.clip(self.parts @ shares / np.maximum(self.wholes @ shares, 1e-300), 0, 1))

    def _rows(self, theta: Floats, which: NDArray[np.intp]) -> tuple[Floats, MaximumLikelihood, Floats]:
        rows = self.parts[which] - theta[:, None] * self.wholes[which]
        tally = which if len(self.counts) > 1 else np.zeros_like(which)
        counts = self.counts[tally]
        if self.fakes:
            left = self.likelihood.without_fakes(counts, rows, self.fakes)
            return left, self.likelihood.best(left), rows
        (shares, positive), log = self.best
        return counts, MaximumLikelihood(Maximum(shares[tally], positive[tally]), log[tally]), rows

    def _holds(self, theta: Floats, which: NDArray[np.intp]) -> Flags:
        return self.likelihood.p_values(*self._rows(theta, which), self.alpha, self.scored) > self.alpha

    def _root(self, theta: Floats, which: NDArray[np.intp]) -> Floats:
        return self.likelihood.root(*self._rows(theta, which), self.scored)

    def ends(self, side: int) -> Floats:
        """The lower ends (0) or the upper ones (1)."""
        far = np.full(len(self.parts), [ENDS, 1 - ENDS][side])
        found = np.full(len(self.parts), float(side))
        which = np.flatnonzero((far - self.start) * [-1, 1][side] > 0)
        if not len(which):
            return found
        which = which[~self._holds(far[which], which)]
        if not len(which):
            return found
        inner, outer = self._bracket(which, far[which])
        steps = np.arange(TRIES + 1) / TRIES
        places = inner[:, None] + (outer - inner)[:, None] * steps
        held = self._holds(places.ravel(), which.repeat(TRIES + 1)).reshape(places.shape)
        # Known of a bracket, and argmax needs one of each.
        held[:, 0], held[:, -1] = True, False
        last = TRIES - held[:, ::-1].argmax(axis=1)
        row = np.arange(len(which))
        inner, outer = places[row, last], places[row, last + 1]
        for _ in range(TRIES):
            middle = (inner + outer) / 2
            inside = self._holds(middle, which)
            inner, outer = np.where(inside, middle, inner), np.where(inside, outer, middle)
        found[which] = outer
        return found

    def _bracket(self, which: NDArray[np.intp], far: Floats) -> tuple[Floats, Floats]:
        """A value that one degree of freedom accepts, and one that the largest number of them rejects."""
        # p is at least Phi(-root), so every theta with a smaller root is inside.
        one = -NormalDist().inv_cdf(self.alpha)
        if self.scored is None:
            n = float(self.counts.sum()) - self.fakes
            # Largest possible degrees of freedom, all answers but one: beyond their quantile every theta is outside.
            most = chi_squared_quantile(self.likelihood.matrix.shape[1] - 1, self.alpha) * (n + 1) / n
            none = math.sqrt(max(most, 2 * math.log(1.3 / self.alpha)))
        else:
            none = 3 * -NormalDist().inv_cdf(self.alpha / 2)
        start = self.start[which]
        return self._crossing(one, start, far, which)[0], self._crossing(none, start, far, which)[1]

    def _crossing(self, target: float, start: Floats, far: Floats, which: NDArray[np.intp]) -> tuple[Floats, Floats]:
        """Two places between which the root passes ``target``; the far end twice if it does not."""
        inner, outer = start.copy(), far.copy()
        below, above = np.full(len(which), -target), self._root(far, which) - target
        beyond = above > 0
        moving = np.ones(len(which), dtype=bool)
        for _ in range(TRIES):
            middle = np.where(
                np.isfinite(above), inner - below * (outer - inner) / (above - below), (inner + outer) / 2
            )
            value = self._root(middle, which) - target
            # Illinois variant of false position: halve the value of the end that stays, or it stays for ever.
            low, high = moving & (value <= 0), moving & (value > 0)
            above = np.where(low, above / 2, np.where(high, value, above))
            outer = np.where(high, middle, outer)
            below = np.where(low, value, np.where(high, below / 2, below))
            inner = np.where(low, middle, inner)
            far_off = beyond & (abs(value) >= 0.01)
            # Each of several tallies stops by itself, so that its interval is the same whatever is computed beside it.
            moving = moving & far_off if len(self.counts) > 1 else np.full(len(which), far_off.any())
            if not moving.any():
                break
        return np.where(beyond, inner, far), np.where(beyond, outer, far)
