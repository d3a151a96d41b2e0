"""Least noise by default: which mechanism costs the least accuracy for an epsilon, and by how much.

Shares are compared by the total variance over the options of the noise alone (the respondents fixed, averaged over a
uniform truth), means by the variance of the estimated mean of a uniform population; both times the number of reports.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from deniable.errors import ParameterError
from deniable.exact import Number
from deniable.mechanisms import (
    DiscreteLaplace,
    Geometric,
    KAry,
    Mean,
    Mechanism,
    Subset,
)
from deniable.mechanisms.subset import LARGEST_K


@dataclass(frozen=True)
class Candidate:
    """A mechanism and what it costs."""

    label: str
    mechanism: Mechanism | None
    """None for what is only compared with."""
    variance: float
    """``n`` times the variance that the choice looks at."""


@dataclass(frozen=True)
class Choice:
    """The candidates for a question, best first, and what was compared."""

    criterion: str
    candidates: tuple[Candidate, ...]

    @property
    def best(self) -> Mechanism:
        """The mechanism with the least noise of those that can be used."""
        return next(each.mechanism for each in self.candidates if each.mechanism is not None)

    @property
    def why(self) -> str:
        """The choice in a sentence, as surveys publish it."""
        usable = [each for each in self.candidates if each.mechanism is not None]
        return f"least {self.criterion}: " + "; ".join(f"{each.label} {_figure(each.variance)}" for each in usable)


def choose_for_choice(k: int, epsilon: Number) -> Choice:
    """The candidates for one of ``k`` options: KAry and subsets of every size.

    >>> choose_for_choice(10, 1).why
    'least total variance of the shares: subset of 3 29.1; k-ary 40.96'
    """
    keyed = [_try("k-ary", lambda: KAry.from_epsilon(k, epsilon), total_variance)]
    keyed.append(_best_subset(k, epsilon))
    reference = Candidate("unary encoding (OUE), not used", None, _oue_variance(k, float(epsilon)))
    return _sorted("total variance of the shares", [*keyed, reference])


def choose_for_scale(levels: int, epsilon: Number, goal: str) -> Choice:
    """The candidates for a scale whose author wants the shares of the levels, or their mean."""
    if goal == "shares":
        among = choose_for_choice(levels, epsilon).candidates
        geometric = _try("geometric", lambda: Geometric.from_epsilon(0, levels - 1, epsilon), total_variance)
        return _sorted("total variance of the shares", [*among, geometric])
    makers: list[tuple[str, Callable[[], Mechanism]]] = [
        ("k-ary", lambda: KAry.from_epsilon(levels, epsilon)),
        ("geometric", lambda: Geometric.from_epsilon(0, levels - 1, epsilon)),
        ("mean", lambda: Mean.from_epsilon(0, levels - 1, epsilon)),
    ]
    return _sorted("variance of the mean", [_try(label, make, mean_variance) for label, make in makers])


def choose_for_number(lo: int, hi: int, epsilon: Number) -> Choice:
    """The candidates for a whole number in a range whose mean is wanted."""
    makers: list[tuple[str, Callable[[], Mechanism]]] = [("mean", lambda: Mean.from_epsilon(lo, hi, epsilon))]
    if hi - lo <= MOST_COMPARED:
        makers += [
            ("geometric", lambda: Geometric.from_epsilon(lo, hi, epsilon)),
            ("discrete-laplace", lambda: DiscreteLaplace.from_epsilon(lo, hi, epsilon)),
        ]
    return _sorted("variance of the mean", [_try(label, make, mean_variance) for label, make in makers])


MOST_COMPARED = 100
"""Ranges above are answered by `Mean` without comparison: rows of weights would fill the survey."""


def best_subset(k: int, epsilon: Number) -> Mechanism:
    """Subset selection with the size that costs the least."""
    found = _best_subset(k, epsilon)
    if found is None or found.mechanism is None:
        raise ParameterError(f"epsilon: no subsets of {k} options can hold it with integer weights")
    return found.mechanism


def total_variance(mechanism: Mechanism) -> float:
    """``n`` times the sum of the variances of all shares, noise alone, averaged over a uniform truth."""
    if mechanism.support is not None:
        share = 1 / mechanism.k
        return sum(
            float((share * a * (1 - a) + (1 - share) * b * (1 - b)) / (a - b) ** 2)
            for a, b in ((float(a), float(b)) for a, b in mechanism.support)
        )
    import numpy as np

    matrix = mechanism.float_matrix
    inverse = np.linalg.inv(matrix)
    covariance = np.diag(matrix.mean(axis=1)) - matrix @ matrix.T / matrix.shape[1]
    return float(np.trace(inverse @ covariance @ inverse.T))


def mean_variance(mechanism: Mechanism) -> float:
    """``n`` times the variance of the estimated mean of a population that is uniform over the answers."""
    import numpy as np

    weights, _ = mechanism.mean_weights(tuple(mechanism.answer_values))
    supported = mechanism.float_matrix.mean(axis=1)
    w = np.array(weights)
    return float(mechanism.score_covariance(w[None, :], supported)[0, 0])


def _best_subset(k: int, epsilon: Number) -> Candidate | None:
    sizes = [
        _try(f"subset of {w}", lambda w=w: Subset.from_epsilon(k, w, epsilon), total_variance)  # type: ignore[misc]
        for w in (range(2, k) if k <= LARGEST_K else ())
    ]
    usable = [each for each in sizes if each is not None]
    return min(usable, key=lambda each: each.variance) if usable else None


def _oue_variance(k: int, epsilon: float) -> float:
    ratio = math.exp(epsilon)  # Wang et al. 2017: n Var = 4 E / (E - 1)^2 for every option, plus the share's own
    q = 1 / (ratio + 1)
    return ((k - 1) * q * (1 - q) + 0.25) / (0.5 - q) ** 2


def _try(label: str, make: Callable[[], Mechanism], variance: Callable[[Mechanism], float]) -> Candidate | None:
    try:
        mechanism = make()
    except ParameterError:
        return None  # 32-bit weights cannot hold this one; the others are compared
    return Candidate(label, mechanism, variance(mechanism))


def _figure(variance: float) -> str:
    """Four digits that a person reads: 1,002,000 instead of 1.002e+06."""
    return f"{float(f'{variance:.4g}'):,.10g}"


def _sorted(criterion: str, candidates: Iterable[Candidate | None]) -> Choice:
    found = sorted((each for each in candidates if each is not None), key=lambda each: each.variance)
    if not any(each.mechanism for each in found):
        raise ParameterError("epsilon: no mechanism can hold it with 32-bit weights for so many options")
    return Choice(criterion, tuple(found))
