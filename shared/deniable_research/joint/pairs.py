"""Two boxes of one draw: the reports that drew both speak of them together, through one chance for the two."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import chdtrc

from deniable.errors import ParameterError
from deniable.estimation.estimate import Estimate
from deniable.mechanisms import DrawnBoxes, Support
from deniable_research.designs import Channel
from deniable_research.items import Item
from deniable_research.joint.association import OddsRatio, odds_ratio
from deniable_research.joint.correlation import Correlation, from_moments
from deniable_research.joint.independence import Independence
from deniable_research.joint.reports import check_weights
from deniable_research.weights import kish

CELLS = tuple(itertools.product(("no", "yes"), repeat=2))
"""The answers to the two boxes, in the order of shares; their names in the estimate have a comma between."""

_MOMENTS = np.array([[0, 0, 1, 1], [0, 0, 1, 1], [0, 1, 0, 1], [0, 1, 0, 1], [0, 0, 0, 1]], dtype=float)
"""Means of x, x^2, y, y^2 and x y, of the four cells."""


@dataclass(frozen=True)
class BoxPair:
    """The joint shares of two boxes.

    Attributes
    ----------
    estimate : Estimate
        Of the four combinations in the order of `CELLS`, among the reports that drew both boxes. Each count is
        binomial, so the intervals are those of any share.
    """

    estimate: Estimate

    @property
    def share(self) -> NDArray[np.float64]:
        """Unbiased joint shares, shape (2, 2)."""
        return np.reshape(self.estimate.share, (2, 2))

    def odds_ratio(self) -> OddsRatio:
        """The odds ratio of the two boxes."""
        return odds_ratio(self.share, np.reshape(self.estimate.std_error, (2, 2)), self.estimate.covariance)

    def correlation(self) -> Correlation:
        """Correlation of the two boxes: phi."""
        covariance = self.estimate.covariance
        return from_moments(_MOMENTS @ self.estimate.share, _MOMENTS @ covariance @ _MOMENTS.T)

    def independence(self) -> Independence:
        """Wald's test that the two boxes are independent: their covariance over its standard error, squared.

        The one chance of a report goes into both boxes, so that what is reported of them is never independent. By
        simulation at 5 %, it rejects .05 from 200 reports on, .08 of 100 and .10 of 30.
        """
        if not self.estimate.n:
            return Independence(math.nan, 0, math.nan, 0.0, None)
        _, _, both, other = self.estimate.share
        first, second = both + other, self.estimate.share[1] + other
        slope = np.array([0, -first, -second, 1 - first - second])
        error = float(slope @ self.estimate.covariance @ slope)
        if not error > 0:  # all that drew both say the same
            return Independence(math.nan, 0, math.nan, 0.0, None)
        statistic = (other - first * second) ** 2 / error
        expected = min(np.outer((1 - first, first), (1 - second, second)).ravel()) * self.estimate.n
        return Independence(statistic, 1, float(chdtrc(1, statistic)), 0.0, expected)


def box_pair(item: Item, first: str, second: str, weights: ArrayLike | None = None) -> BoxPair:
    """Two boxes of a question whose devices draw boxes.

    Parameters
    ----------
    item : Item
        The whole question.
    first, second : str
        Two of its options.
    weights : array_like, shape (people,), optional
        Weights of the people; errors use Kish's effective number of those who drew both.

    Raises
    ------
    ParameterError
        If devices draw one box only, or the boxes are not two of the question's.

    Examples
    --------
    >>> boxes = DrawnBoxes.from_epsilon(3, 4, s=2)
    >>> pair = box_pair(Item.from_reports("q", boxes, ["010100", "100100", "000101"], "abc"), "a", "b")
    >>> pair.estimate.n, pair.estimate.counts
    (2, (0, 1, 0, 1))
    """
    design = item.design
    if not isinstance(design, DrawnBoxes) or design.s < 2:
        raise ParameterError(f"{item.name}: boxes must be drawn two at a time or more to be put together")
    places = [item.options.index(name) for name in (first, second) if name in item.options]
    if len(set(places)) != 2:
        raise ParameterError(f"{item.name}: must name two of its boxes, got {first!r:.40} and {second!r:.40}")
    marks = [item.supports[:, 2 * place : 2 * place + 2] for place in places]
    cells = (marks[0][:, :, None] & marks[1][:, None, :]).reshape(len(item), 4)
    drawn = cells.any(axis=1)
    channel = pair_channel(design.pair, item.name)
    each = check_weights(weights, len(item))
    if each is None:
        return BoxPair(channel.estimate(cells.sum(axis=0).tolist()))
    kept = each[drawn]
    return BoxPair(channel.estimate((kept @ cells[drawn]).tolist(), n_effective=kish(kept.tolist())))


def pair_channel(support: Support, name: str) -> Channel:
    """What the draw does to the four combinations of two boxes: any other one is as likely as any."""
    a, b = support
    names = tuple(map(", ".join, CELLS))
    return Channel(tuple(tuple(a if r == x else b for x in range(4)) for r in range(4)), names, names, name)
