"""The likelihood of a randomised question and its anchor together."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize_scalar

from deniable_statistics.intervals import Interval, check_confidence_level, normal_quantile, two_sided
from deniable_statistics.intervals.tails import crossing

HALVINGS = 60
"""Number of bisections of [0, 1] for the share who attend, which leave 2**-60, less than a rounding error."""

XATOL = 1e-12
"""Absolute tolerance of the search for the most likely share, where its likelihood is not flat."""


@dataclass(frozen=True, eq=False)
class AnchoredFit:
    """Maximum likelihood of the share of yes and of the share who attend, from both questions of the same people.

    Parameters
    ----------
    support : tuple of two floats
        Probabilities that the report of a person who attends supports yes, if that is the truth and if it is not.
    attended : float
        Probability that the report of such a person to the anchor supports yes.
    cells : ndarray, shape (2, 2)
        Number of people by whether their reports to the question, and to the anchor, support yes.

    Notes
    -----
    With a share ``g`` who attend, to both questions or to none, a pair of reports has the probability
    ``g P(y) Q(z) + (1 - g) / 4``, where ``P`` is linear in the share ``f``. The two reports of a person who attends are
    supposed to be independent; if the known share is 0 or 1 they are, for any truths. The log-likelihood is concave in
    ``(g, g f)``, so it has one maximum, and the values of ``f`` within the profile likelihood are an interval.

    The moments of `AnchoredShare` use the margins of the four cells only, with fewer assumptions. `fit_p_value` tests
    the further assumptions that are made here.
    """

    support: tuple[float, float]
    attended: float
    cells: NDArray[np.float64]

    @cached_property
    def _best(self) -> tuple[float, float, float]:
        """The most likely share, the attentive rate there, and the log-likelihood."""
        # The profile in f has one maximum; its ends are tried because the search does not reach them.
        inside = minimize_scalar(
            lambda f: -self._profile(f)[1], bounds=(0, 1), method="bounded", options={"xatol": XATOL}
        )
        share = max((0.0, float(inside.x), 1.0), key=lambda f: self._profile(f)[1])
        return (share, *self._profile(share))

    @property
    def share(self) -> float:
        """The most likely share of yes within [0, 1]; NaN without reports."""
        return self._best[0] if self.cells.any() else math.nan

    @property
    def attentive(self) -> float:
        """The most likely share who attend."""
        return self._best[1] if self.cells.any() else math.nan

    @property
    def log_likelihood(self) -> float:
        """The maximum of the log-likelihood."""
        return self._best[2]

    def confidence_interval(self, confidence_level: float = 0.95) -> Interval:
        """Profile likelihood: the shares whose likelihood falls by at most a quantile of chi-squared."""
        drop = normal_quantile(check_confidence_level(confidence_level)) ** 2 / 2
        if not self.cells.any():
            return Interval(0.0, 1.0)
        best, _, most = self._best

        def over(f: float) -> float:
            return self._profile(f)[1] - (most - drop)

        low = 0.0 if over(0.0) >= 0 else crossing(over, 0.0, best)
        high = 1.0 if over(1.0) >= 0 else 1 - crossing(lambda f: over(1 - f), 0.0, 1 - best)
        return Interval(low, high)

    @property
    def fit_p_value(self) -> float:
        """The p-value of the likelihood-ratio test against four unrestricted cells, with one degree of freedom.

        It is small if different people attend to the two questions, or if attending depends on the truth.
        """
        if not self.cells.any():
            return math.nan
        seen = self.cells[self.cells > 0]
        # The saturated model has the observed shares of the cells; its 3 parameters are one more than f and g.
        saturated = float((seen * np.log(seen / self.cells.sum())).sum())
        return two_sided(math.sqrt(2 * max(saturated - self.log_likelihood, 0.0)))  # chi-squared of one degree

    def _profile(self, share: float) -> tuple[float, float]:
        """The most likely share who attend given the share of yes, and the log-likelihood there."""
        a, b = self.support
        yes, same = b + (a - b) * share, self.attended
        # P(y) Q(z) for the pair of a person who attends; a person who does not gives each pair with 1/4.
        chances = ((1 - yes) * (1 - same), (1 - yes) * same, yes * (1 - same), yes * same)
        seen = [(n, chance - 0.25) for n, chance in zip(self.cells.ravel().tolist(), chances, strict=True) if n]

        def slope(g: float) -> float:
            return math.fsum(n * apart / (0.25 + g * apart) for n, apart in seen)

        # The log-likelihood is concave in g: bisection of its slope, unless the maximum is at an end.
        if slope(0.0) <= 0:
            g = 0.0
        elif all(0.25 + apart > 0 for _, apart in seen) and slope(1.0) >= 0:
            g = 1.0
        else:
            below, above = 0.0, 1.0
            for _ in range(HALVINGS):
                middle = (below + above) / 2
                below, above = (middle, above) if slope(middle) > 0 else (below, middle)
            g = below
        return g, math.fsum(n * math.log(0.25 + g * apart) for n, apart in seen)
