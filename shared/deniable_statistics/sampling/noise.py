"""The chance of the devices as one more stage of sampling, which no finite population takes away."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray


class Truths(NamedTuple):
    """What people's values would be if their devices added no chance.

    Notes
    -----
    A person with the truth ``x`` has the value ``y``, which depends on the device, and ``E[y | x] = m_x``. With
    unbiased indicators ``s_x`` of the truth (scores) the variance that the device added is estimated without bias,
    person by person, by ``y y' - sum over x of s_x m_x m_x'``, because ``E[y y' | x]`` is that variance plus
    ``m_x m_x'``. A question that was asked directly has ``s`` the indicators themselves and ``y = m_x``: exactly 0.

    Where devices draw whom to ask, with the chance ``p``, and ``y`` is 0 for the others, the conditional mean is
    ``p m_x`` and its square ``p^2 m_x m_x'``. The scores of those who were asked have the expectation ``p`` times the
    indicators, so ``p sum s_x m_x m_x'`` is subtracted.
    """

    scores: NDArray[np.float64]
    """Unbiased indicators of each truth, shape (people, truths)."""
    values: NDArray[np.float64]
    """``m_x``: the value that each truth stands for, shape (truths, values) or (people, truths, values)."""
    asked: float = 1.0
    """The chance of being asked."""

    def around(self, center: NDArray[np.float64]) -> Truths:
        """The noise variance of values from which ``center``, shape (values,), was subtracted."""
        return self._replace(values=self.values - center)

    def scaled(self, factor: float) -> Truths:
        """The noise variance of values that were multiplied by a number."""
        return self._replace(values=self.values * factor)

    def added(self, values: NDArray[np.float64], sizes: NDArray[np.float64]) -> NDArray[np.float64]:
        """Unbiased for ``sum over people of size times the covariance that the device added``, shape (m, m).

        Parameters
        ----------
        values : ndarray, shape (people, m)
            ``y``.
        sizes : ndarray, shape (people,)
            0 for people who do not count, whatever their values are.
        """
        kept = sizes > 0
        scores, values, sizes = self.scores[kept], values[kept], sizes[kept]
        # sum over people and x of size s_x m_x m_x', which stands for E[y y' | x] without the device's variance.
        if self.values.ndim == 2:
            certain = (self.values * (sizes @ scores)[:, None]).T @ self.values
        else:
            each = self.values[kept]
            certain = np.einsum("nc,nca,ncb->ab", scores * sizes[:, None], each, each, optimize=True)
        # E[y y'] less what the truths themselves make of it; of those who were not asked there is nothing to subtract.
        return np.asarray((values * sizes[:, None]).T @ values - self.asked * certain)
