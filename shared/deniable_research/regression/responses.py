"""How likely each response is under each truth."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deniable.errors import ParameterError, describe
from deniable.exact import rational
from deniable.mechanisms import Support
from deniable_research.designs import of_one_truth
from deniable_statistics.designs.design import Design
from deniable_statistics.designs.of_mechanisms import AnyDesign, design_of
from deniable_statistics.designs.spaces import every_report

Rows = tuple[NDArray[np.float64], NDArray[np.float64] | None]
"""Likelihood and slope, one row for each report."""

NO_YES = ("no", "yes")

LARGEST_RESPONSES = 512
"""Expected information sums over all possible reports, and is refused beyond."""

DesignLike = AnyDesign | tuple[Any, Any]
"""What people went through: a design, or ``(P(yes | yes), P(yes | no))``."""


@dataclass(frozen=True)
class ResponseModel:
    """A design whose likelihood is looked up for many rows at once.

    Attributes
    ----------
    design : Design
    slope : ndarray, shape (responses, truths), optional
        What one unit of `share`, an unknown of the design itself, adds to the likelihood of each response.
    share : str, optional
    """

    design: Design
    slope: NDArray[np.float64] | None = None
    share: str | None = None

    @cached_property
    def matrix(self) -> NDArray[np.float64]:
        """The likelihood of every possible report, shape (reports, truths)."""
        count = self.design.reports.count
        if count > LARGEST_RESPONSES:
            raise ParameterError(
                f"kind: expected information sums over every possible report, at most {LARGEST_RESPONSES}, "
                f"got {count}; use observed, opg or sandwich"
            )
        return self.design.likelihood(every_report(self.design.reports))

    def look_up(self, values: NDArray[Any], subject: str) -> Rows:
        """Likelihood and slope of each row's report."""
        if not self.design.reports.supports_one:
            return self.design.likelihood(self._members(values, subject)), None
        where = self._positions(values, subject)
        return self._one_by_one[where], None if self.slope is None else self.slope[where]

    def scores(self, values: NDArray[Any], subject: str) -> NDArray[np.float64]:
        """Unbiased indicators of the truths: ``E[score | truth x]`` is 1 for ``x`` and 0 for the others."""
        weights, constant = self.design.debiasing
        if self.design.reports.supports_one:
            return np.asarray(weights.T[self._positions(values, subject)] + constant)
        return np.asarray(self._members(values, subject) @ weights.T + constant)

    def check(self, subject: str) -> None:
        """Raise a ParameterError if some truths cannot be told apart by any number of reports."""
        truths = self.design.truths
        if self.design.reports.supports_one and np.linalg.matrix_rank(self._one_by_one) < len(truths):
            raise ParameterError(f"{subject}: design must respond differently to different truths, {truths}")

    @cached_property
    def _one_by_one(self) -> NDArray[np.float64]:
        """`matrix`, however large, of a design whose reports support one option each."""
        return self.design.likelihood(every_report(self.design.reports))

    def _positions(self, values: NDArray[Any], subject: str) -> NDArray[np.int64]:
        reports = self.design.reports
        return positions(values, reports.labels, reports.first, reports.size, subject)

    def _members(self, values: NDArray[Any], subject: str) -> NDArray[np.bool_]:
        reports, texts = self.design.reports, values.tolist()
        if wrong := sum(text not in reports for text in texts):
            raise ParameterError(f"{subject}: must each be {reports.described}; {wrong} are not")
        return np.array([[bit == "1" for bit in each] for each in texts], dtype=bool).reshape(-1, reports.size)


def response_model(design: DesignLike, subject: str) -> ResponseModel:
    """How likely the responses of one design are.

    >>> from deniable import TwoCoin
    >>> response_model(TwoCoin("1/2", "1/2"), "outcome").matrix.tolist()
    [[0.75, 0.25], [0.25, 0.75]]
    """
    if isinstance(design, tuple) and len(design) == 2:
        pair = [probabilities(each, subject) for each in design]
        if any(each.ndim for each in pair):
            raise ParameterError(f"{subject}: a and b of a group must be single probabilities")
        return ResponseModel(of_one_truth(Support(*(rational(float(each), subject) for each in pair)), subject))
    found = design_of(design) if isinstance(design, AnyDesign) else None
    if found is None or not found.has_likelihood or not found.has_shares:
        raise ParameterError(
            f"{subject}: design must be one whose reports tell the shares of answers that exclude each other, "
            f"or a pair (a, b), got {describe(design)}"
        )
    return ResponseModel(found)


def probabilities(value: Any, subject: str) -> NDArray[np.float64]:

    try:
        array = np.asarray(value, dtype=float)
    except (TypeError, ValueError):
        raise ParameterError(f"{subject}: a and b must be numbers, got {describe(value)}") from None
    if not np.all((array >= 0) & (array <= 1)):
        raise ParameterError(f"{subject}: a and b must be probabilities in [0, 1]")
    return array


def positions(values: NDArray[Any], labels: Sequence[str], first: int, size: int, subject: str) -> NDArray[np.int64]:
    """Responses, as numbers or by name, as positions among them."""
    places = {label: place for place, label in enumerate(labels)}
    if values.dtype.kind in "biuf":
        numbers = values.astype(float) - first
    else:
        known = places | {first + place: place for place in range(size)}
        numbers = np.array([known.get(each, -1) for each in values.tolist()], dtype=float)
    wrong = int(np.sum((numbers < 0) | (numbers >= size) | (numbers != np.floor(numbers))))
    if wrong:
        names = f", or {', '.join(labels)}" if labels else ""
        raise ParameterError(
            f"{subject}: must be reports of the design, integers in [{first}, {first + size}){names}; "
            f"{wrong} of {len(values)} are not"
        )
    return numbers.astype(np.int64)
