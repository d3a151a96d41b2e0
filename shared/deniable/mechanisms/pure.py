"""Pure mechanisms: how likely a report supports an option depends only on whether that option is the truth."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from fractions import Fraction
from functools import cached_property
from typing import Any

from deniable.estimation.debiasing import Debiasing
from deniable.estimation.feasible import most_likely_shares
from deniable.estimation.support import Support
from deniable.exact import ratio
from deniable.mechanisms.base import Mechanism
from deniable.wire.space import Count


class PureMechanism(Mechanism):
    """A mechanism with one pair of support probabilities for each option, so that every count is one binomial.

    References
    ----------
    T. Wang, J. Blocki, N. Li, S. Jha, "Locally differentially private protocols for frequency estimation", USENIX
    Security 2017, 729-745: pure protocols.
    """

    @property
    @abstractmethod
    def support(self) -> tuple[Support, ...]: ...

    @property
    def channel_matrix(self) -> tuple[tuple[Fraction, ...], ...]:
        return tuple(
            tuple(option.if_true if x == v else option.if_other for x in range(self.k))
            for v, option in enumerate(self.support)
        )

    def supported(self, answer: Any) -> Sequence[Fraction]:
        return [support[option != answer] for option, support in enumerate(self.support)]

    @cached_property
    def debiasing(self) -> Debiasing:
        import numpy as np

        slopes = np.array([1 / float(each.slope) for each in self.support])
        return Debiasing(np.diag(slopes), -slopes * np.array([each.floats[1] for each in self.support]))

    def shares(self, counts: Sequence[Count], n: Count) -> list[Fraction]:
        shares = []
        for count, support in zip(counts, self.support, strict=True):
            part, whole = ratio(count, n)
            other, scale = support.if_other.as_integer_ratio()
            shares.append(Fraction(part * scale - other * whole, whole * scale) / support.slope)
        return shares

    def expected(self, shares: Sequence[float]) -> list[float]:
        return [each.floats[1] + float(each.slope) * share for share, each in zip(shares, self.support, strict=True)]

    def feasible(self, counts: Sequence[Count], n: Count) -> tuple[float, ...]:
        return most_likely_shares(counts, n, self.support)

    def mean_weights(self, values: Sequence[float]) -> tuple[tuple[float, ...], float]:
        weights = [value / float(each.slope) for value, each in zip(values, self.support, strict=True)]
        constant = -sum(weight * each.floats[1] for weight, each in zip(weights, self.support, strict=True))
        return tuple(weights), constant

    @property
    def noise(self) -> tuple[tuple[float, float], ...]:
        pairs = (each.floats for each in self.support)
        return tuple((a * (1 - a) / (a - b) ** 2, b * (1 - b) / (a - b) ** 2) for a, b in pairs)
