"""What a design does to answers, and what a tally of responses says about them."""

from __future__ import annotations

import math
import operator
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

from deniable.channels.algebra import Matrix, identity, left_inverse, product, times
from deniable.errors import ParameterError
from deniable.exact import log_above
from deniable.privacy import likelihood_ratio


@dataclass(frozen=True)
class Channel:
    """What a design does to an answer: the probability of every response under every truth.

    Parameters
    ----------
    matrix : tuple of tuples of Fraction, shape (responses, truths)
        ``matrix[r][x] = P(response r | truth x)``; every column adds up to exactly 1. `from_matrix` reads it from
        numbers as people write them.
    responses, truths : tuple of str
        Their names, in the order of rows and columns; by default their numbers.
    name : str
        The design, for messages.
    scores : tuple of tuples of Fraction, shape (truths, responses), optional
        What each response adds to each share, if the design has an estimator of its own: any ``L`` with
        ``L matrix = 1``. See Notes for the default.

    Notes
    -----
    Shares solve ``E[C / n] = A f``: ``f = L C / n`` with ``L A = 1``, in exact arithmetic, so they are unbiased
    and may leave [0, 1]. A square matrix has one such ``L``, its inverse [1]_. With more responses than truths
    the default is weighted least squares, ``L = (A' W A)^-1 A' W`` with ``W = diag(1 / A u)`` and ``u`` equal
    shares: best if the truths are about equally frequent, unbiased whatever they are, because the weights do
    not depend on the data. The covariance is ``L (diag(lam) - lam lam') L' / n`` [1]_ with ``lam = A f``, the
    responses that the estimated shares predict (``C / n`` for a square matrix); where those are no
    probabilities, ``C / n``.

    References
    ----------
    .. [1] A. van den Hout, P. G. M. van der Heijden, "Randomized response, statistical disclosure control and
       misclassification: a review", International Statistical Review 70 (2002), 269-288.

    Examples
    --------
    Two fair coins; 430 of 1000 responses are yes, so 2 (430/1000 - 1/4) = 0.36:

    >>> from deniable.channels import forced_response
    >>> channel = forced_response("1/2")
    >>> channel.likelihood_ratio, channel.epsilon
    (Fraction(3, 1), 1.0986122886681098)
    >>> channel.estimate([570, 430]).share
    (0.64, 0.36)
    """

    matrix: Matrix
    responses: tuple[str, ...] = ()
    truths: tuple[str, ...] = ()
    name: str = "channel"
    scores: Matrix | None = None

    def __post_init__(self) -> None:
        rows, columns = _shape(self.matrix, self.name)
        for x, column in enumerate(zip(*self.matrix, strict=True)):
            if min(column) < 0 or sum(column) != 1:
                raise ParameterError(
                    f"{self.name}: column {x} must hold probabilities that add up to exactly 1, "
                    f"got a sum of {sum(column)}; write thirds as fractions, like 1/3"
                )
        object.__setattr__(self, "responses", _labels(self.responses, rows, f"{self.name}: responses"))
        object.__setattr__(self, "truths", _labels(self.truths, columns, f"{self.name}: truths"))
        if self.scores is not None and product(self.scores, self.matrix) != identity(columns):
            raise ParameterError(f"{self.name}: scores times matrix must be the identity")

    @property
    def likelihood_ratio(self) -> Fraction | float:
        """Largest ratio of the probabilities of any response under any two truths: exact, or `math.inf`."""
        return likelihood_ratio(self.matrix)

    @property
    def epsilon(self) -> float:
        """Privacy loss of one response, rounded up to the next float, or `math.inf`."""
        ratio = self.likelihood_ratio
        return log_above(ratio) if isinstance(ratio, Fraction) else ratio

    @property
    def can_collect(self) -> bool:
        """Whether every truth stays deniable after every response: whether `epsilon` is finite."""
        return self.refusal is None

    @property
    def refusal(self) -> str | None:
        """Why nobody's answer should be collected with this design; None if `epsilon` is finite.

        >>> from deniable.channels import mangat
        >>> print(mangat("0.7").refusal)
        epsilon is infinite: 'no' is possible when the truth is 'no' and impossible when it is 'yes'
        """
        for response, row in zip(self.responses, self.matrix, strict=True):
            if max(row) > 0 and min(row) == 0:
                possible, impossible = (self.truths[row.index(find(row))] for find in (max, min))
                return (
                    f"epsilon is infinite: {response!r} is possible when the truth is {possible!r} "
                    f"and impossible when it is {impossible!r}"
                )
        return None

    @cached_property
    def inverse(self) -> Matrix:
        """``L[x][r]``: what each response adds to the share of each truth, shape (truths, responses)."""
        return self.scores if self.scores is not None else left_inverse(self.matrix, self.name)

    def estimate(self, counts: Sequence[int]) -> ChannelEstimate:
        """Debias a tally of responses.

        Parameters
        ----------
        counts : sequence of int
            Number of each response, in the order of `responses`.

        Raises
        ------
        ParameterError
            If the counts do not fit, hold an impossible response, or the channel cannot tell its truths apart.
        """
        inverse = self.inverse
        tally = _tally(counts, self.matrix, self.responses, "counts")
        n = sum(tally)
        if n == 0:
            return ChannelEstimate.nothing(self, tally)
        seen = [Fraction(count, n) for count in tally]
        share = times(inverse, seen)
        predicted = times(self.matrix, share)
        lam = predicted if min(predicted) >= 0 else seen
        return ChannelEstimate.from_samples(self, tally, share, inverse, [(lam, n)])


@dataclass(frozen=True)
class Groups:
    """A design that gives samples of different people different probabilities, to learn one more unknown.

    Parameters
    ----------
    matrices : tuple of matrices, each of shape (responses, unknowns)
        One for each group: the expected shares of its responses are ``matrices[g] @ share``.
    responses, truths : tuple of str
        Names of the responses within a group, and of the unknowns.
    name : str

    Notes
    -----
    The groups' equations are stacked and solved as in `Channel`; the groups are independent, so with
    ``lam_g = C_g / n_g`` the covariance is ``sum over g of L_g (diag(lam_g) - lam_g lam_g') L_g' / n_g``.
    Such a design protects a single person no better than the channel of that person's group, and a person who
    cheats not at all: it is for analysis only.
    """

    matrices: tuple[Matrix, ...]
    responses: tuple[str, ...]
    truths: tuple[str, ...]
    name: str

    can_collect = False
    refusal = "what a response tells depends on unknowns that the design estimates; use a design of one group"

    @cached_property
    def inverse(self) -> Matrix:
        """``L[x][r]`` over the responses of all groups, one group after the other."""
        return left_inverse(sum(self.matrices, ()), self.name)

    def estimate(self, counts: Sequence[Sequence[int]]) -> ChannelEstimate:
        """Debias one tally of responses for each group.

        Raises
        ------
        ParameterError
            If the counts do not fit, a group is empty, or the groups' probabilities do not differ.
        """
        inverse = self.inverse
        if len(counts) != len(self.matrices):
            raise ParameterError(f"counts: must be one list for each of {len(self.matrices)} groups, got {len(counts)}")
        tallies = [
            _tally(group, matrix, self.responses, f"counts of group {g}")
            for g, (group, matrix) in enumerate(zip(counts, self.matrices, strict=True))
        ]
        flat = tuple(count for tally in tallies for count in tally)
        if not sum(flat):
            return ChannelEstimate.nothing(self, flat)
        for g, tally in enumerate(tallies):
            if not sum(tally):
                raise ParameterError(f"counts of group {g}: must hold at least one response, got none")
        samples = [([Fraction(count, sum(tally)) for count in tally], sum(tally)) for tally in tallies]
        share = times(inverse, [lam for seen, _ in samples for lam in seen])
        return ChannelEstimate.from_samples(self, flat, share, inverse, samples)


@dataclass(frozen=True)
class ChannelEstimate:
    """Debiased shares of the truths behind a tally of responses.

    Attributes
    ----------
    design : Channel or Groups
    counts : tuple of int
        The responses, group after group.
    n : int
        Number of responses.
    share : tuple of float
        Unbiased shares, in the order of the design's truths. They may leave [0, 1]. NaN without responses.
    std_error : tuple of float
        Standard errors of `share`, for sampling from a population; they divide by n, not n - 1.
    covariance : tuple of tuples of float, shape (truths, truths)
    """

    design: Channel | Groups
    counts: tuple[int, ...]
    n: int
    share: tuple[float, ...]
    std_error: tuple[float, ...]
    covariance: tuple[tuple[float, ...], ...]

    @classmethod
    def nothing(cls, design: Channel | Groups, counts: tuple[int, ...]) -> ChannelEstimate:
        """The estimate without any response."""
        unknown = (math.nan,) * len(design.truths)
        return cls(design, counts, 0, unknown, unknown, (unknown,) * len(unknown))

    @classmethod
    def from_samples(
        cls,
        design: Channel | Groups,
        counts: tuple[int, ...],
        share: Sequence[Fraction],
        inverse: Matrix,
        samples: Iterable[tuple[Sequence[Fraction], int]],
    ) -> ChannelEstimate:
        """Add the covariance to exact shares; ``samples`` are the ``lam`` and ``n`` of independent groups."""
        k, start = len(share), 0
        covariance = [[0.0] * k for _ in range(k)]
        for lam, n in samples:
            part = [row[start : start + len(lam)] for row in inverse]
            start += len(lam)
            middle = times(part, lam)
            # around the middle, because L diag(lam) L' - f f' would lose its digits near lam = 0 and 1
            apart = [[float(each - m) for each in row] for row, m in zip(part, middle, strict=True)]
            weights = [float(each) / n for each in lam]
            for x in range(k):
                weighted = [w * d for w, d in zip(weights, apart[x], strict=True)]
                for y in range(x + 1):
                    covariance[x][y] += math.fsum(map(operator.mul, weighted, apart[y]))
        full = tuple(tuple(covariance[max(x, y)][min(x, y)] for y in range(k)) for x in range(k))
        errors = tuple(math.sqrt(full[x][x]) for x in range(k))
        return cls(design, counts, sum(counts), tuple(map(float, share)), errors, full)

    def total(self, truths: Iterable[str]) -> tuple[float, float]:
        """The share of several truths together, and its standard error.

        >>> from deniable.channels import stochastic_lie_detector
        >>> sld = stochastic_lie_detector("0.2", "0.8").estimate([[170, 330], [300, 200]])
        >>> [round(number, 4) for number in sld.total(["yes, honest", "yes, lying"])]
        [0.5667, 0.0508]
        """
        where = [self._where(truth) for truth in truths]
        variance = math.fsum(self.covariance[x][y] for x in where for y in where)
        return math.fsum(self.share[x] for x in where), math.sqrt(max(variance, 0.0))

    def ratio(self, part: Iterable[str], whole: Iterable[str]) -> tuple[float, float]:
        """The share of some truths among others, and its standard error by the delta method.

        >>> from deniable.channels import stochastic_lie_detector
        >>> sld = stochastic_lie_detector("0.2", "0.8").estimate([[170, 330], [300, 200]])
        >>> [round(number, 4) for number in sld.ratio(["yes, honest"], ["yes, honest", "yes, lying"])]
        [0.5529, 0.0271]
        """
        above, below = ([self._where(truth) for truth in truths] for truths in (part, whole))
        bottom = math.fsum(self.share[x] for x in below)
        if bottom == 0:
            raise ParameterError("whole: must have a share other than 0, got 0")
        ratio = math.fsum(self.share[x] for x in above) / bottom
        slope = [((x in above) - ratio * (x in below)) / bottom for x in range(len(self.share))]
        variance = math.fsum(
            a * b * self.covariance[x][y] for x, a in enumerate(slope) for y, b in enumerate(slope) if a and b
        )
        return ratio, math.sqrt(max(variance, 0.0))

    def _where(self, truth: str) -> int:
        if truth not in self.design.truths:
            raise ParameterError(f"truth: must be one of {', '.join(self.design.truths)}, got {truth!r}")
        return self.design.truths.index(truth)


def _shape(matrix: Matrix, name: str) -> tuple[int, int]:
    if not matrix or not matrix[0] or any(len(row) != len(matrix[0]) for row in matrix):
        raise ParameterError(f"{name}: must be a matrix with rows of one length, got {len(matrix)} rows")
    if not all(isinstance(each, Fraction) for row in matrix for each in row):
        raise ParameterError(f"{name}: must hold Fractions; from_matrix reads other numbers")
    return len(matrix), len(matrix[0])


def _labels(labels: tuple[str, ...], count: int, subject: str) -> tuple[str, ...]:
    labels = labels or tuple(map(str, range(count)))
    if len(labels) != count or len(set(labels)) != count:
        raise ParameterError(f"{subject}: must be {count} different names, got {len(labels)}")
    return labels


def _tally(counts: Sequence[int], matrix: Matrix, responses: Sequence[str], subject: str) -> tuple[int, ...]:
    try:
        tally = tuple(operator.index(count) for count in counts)
    except TypeError:
        raise ParameterError(f"{subject}: must be {len(matrix)} integers") from None
    if len(tally) != len(matrix):
        raise ParameterError(f"{subject}: must be {len(matrix)} integers, one for each response, got {len(tally)}")
    if min(tally) < 0:
        raise ParameterError(f"{subject}: must be integers of at least 0, got {list(tally)}")
    for count, row, response in zip(tally, matrix, responses, strict=True):
        if count and not any(row):
            raise ParameterError(f"{subject}: must be 0 for {response!r}, which is impossible, got {count}")
    return tally
