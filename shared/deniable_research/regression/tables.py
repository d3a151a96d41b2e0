"""One design as a table: how likely each response is under each truth."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deniable.errors import ParameterError, describe
from deniable.mechanisms import Mechanism, OneOfK, Subset
from deniable.mechanisms.yes_no import YesNoMechanism
from deniable.randomness import UNIT
from deniable_research.designs import Channel, from_mechanism

Rows = tuple[NDArray[np.float64], NDArray[np.float64] | None]
"""Likelihood and slope, one row for each report."""

NO_YES = ("no", "yes")

LARGEST_RESPONSES = 512
"""Expected information sums over all possible reports, and is refused beyond."""

Design = Mechanism | Channel | tuple[Any, Any]
"""What people went through: a mechanism, a channel, or ``(P(yes | yes), P(yes | no))``."""


@dataclass(frozen=True)
class Table:
    """A design with few responses.

    Attributes
    ----------
    matrix : ndarray, shape (responses, truths)
    truths : tuple of str
    labels : tuple of str
        Names of the responses, if data may use them.
    first : int
        The number of the first response.
    slope : ndarray, shape (responses, truths), optional
        What one unit of `share`, an unknown of the design itself, adds to the matrix.
    share : str, optional
    """

    matrix: NDArray[np.float64]
    truths: tuple[str, ...]
    labels: tuple[str, ...] = ()
    first: int = 0
    slope: NDArray[np.float64] | None = None
    share: str | None = None

    def look_up(self, values: NDArray[Any], subject: str) -> Rows:
        where = positions(values, self.labels, self.first, len(self.matrix), subject)
        return self.matrix[where], None if self.slope is None else self.slope[where]

    def responses(self) -> Rows:
        _refuse_many(len(self.matrix))
        return self.matrix, self.slope

    def scores(self, values: NDArray[Any], subject: str) -> NDArray[np.float64]:
        """Unbiased indicators of the truths: ``E[score | truth x]`` is 1 for ``x`` and 0 for the others.

        Column ``r`` of ``(A' W A)^-1 A' W`` with ``W = diag(1 / A u)``, as in `deniable_research.designs.Channel`.
        """

        total = self.matrix.sum(axis=1, keepdims=True)
        weighted = self.matrix / np.where(total > 0, total, 1)
        inverse = np.linalg.solve(weighted.T @ self.matrix, weighted.T)
        return np.asarray(inverse.T[positions(values, self.labels, self.first, len(self.matrix), subject)])

    def check(self, subject: str) -> None:
        """Raise a ParameterError if some truths cannot be told apart by any number of reports."""

        if np.linalg.matrix_rank(self.matrix) < self.matrix.shape[1]:
            raise ParameterError(f"{subject}: design must respond differently to different truths, {self.truths}")


@dataclass(frozen=True)
class SubsetTable:
    """Subset selection: a report is a text, and there can be too many of them for a matrix."""

    mechanism: Subset
    share = None

    @property
    def truths(self) -> tuple[str, ...]:
        return tuple(map(str, range(self.mechanism.k)))

    def look_up(self, values: NDArray[Any], subject: str) -> Rows:
        return self._weigh(self._members(values, subject)), None

    def scores(self, values: NDArray[Any], subject: str) -> NDArray[np.float64]:
        """Unbiased indicators of the truths, ``([x in report] - q) / (p - q)``."""

        p, q = map(float, self.mechanism.support[0])
        return np.asarray((self._members(values, subject) - q) / (p - q))

    def responses(self) -> Rows:

        k, w = self.mechanism.k, self.mechanism.w
        _refuse_many(math.comb(k, w))
        members = np.zeros((math.comb(k, w), k), dtype=bool)
        for row, chosen in zip(members, itertools.combinations(range(k), w), strict=True):
            row[list(chosen)] = True
        return self._weigh(members), None

    def check(self, subject: str) -> None:
        """A subset always tells truths apart, because its inside weighs more."""

    def _members(self, values: NDArray[Any], subject: str) -> NDArray[np.bool_]:

        k, w = self.mechanism.k, self.mechanism.w
        texts = values.tolist()
        good = [
            isinstance(text, str) and (text.count("1"), text.count("0"), len(text)) == (w, k - w, k) for text in texts
        ]
        if not all(good):
            raise ParameterError(
                f"{subject}: must be texts of {k} characters 0 or 1, {w} of them 1; {good.count(False)} are not"
            )
        return np.array([[bit == "1" for bit in each] for each in texts], dtype=bool).reshape(-1, k)

    def _weigh(self, members: NDArray[np.bool_]) -> NDArray[np.float64]:

        k, w, inside = self.mechanism.k, self.mechanism.w, self.mechanism.inside
        total = math.comb(k - 1, w - 1) * inside + math.comb(k - 1, w) * UNIT
        return np.asarray(np.where(members, float(Fraction(inside, total)), float(Fraction(UNIT, total))))


def table_of(design: Design, subject: str) -> Table | SubsetTable:
    """The table of one design.

    >>> from deniable import TwoCoin
    >>> table_of(TwoCoin("1/2", "1/2"), "outcome").matrix.tolist()
    [[0.75, 0.25], [0.25, 0.75]]
    """

    if isinstance(design, Subset):
        return SubsetTable(design)
    if isinstance(design, OneOfK):
        labels = from_mechanism(design).responses if isinstance(design, YesNoMechanism) else ()
        truths = labels or tuple(map(str, design.answer_range))
        first = getattr(design, "report_range", design.answer_range).start
        return Table(design.float_matrix, truths, labels, first)
    if isinstance(design, Channel):
        return Table(np.array(design.matrix, dtype=float), design.truths, design.responses)
    if isinstance(design, tuple) and len(design) == 2:
        a, b = (probabilities(each, subject) for each in design)
        if a.ndim or b.ndim:
            raise ParameterError(f"{subject}: a and b of a group must be single probabilities")
        return Table(np.array([[1 - b, 1 - a], [b, a]]), NO_YES, NO_YES)
    raise ParameterError(
        f"{subject}: design must be a mechanism that reports one value or a subset, a channel or a pair (a, b), "
        f"got {describe(design)}"
    )


def probabilities(value: Any, subject: str) -> NDArray[np.float64]:

    try:
        array = np.asarray(value, dtype=float)
    except (TypeError, ValueError):
        raise ParameterError(f"{subject}: a and b must be numbers, got {describe(value)}") from None
    if not np.all((array >= 0) & (array <= 1)):
        raise ParameterError(f"{subject}: a and b must be probabilities in [0, 1]")
    return array


def positions(values: NDArray[Any], labels: Sequence[str], first: int, size: int, subject: str) -> NDArray[np.int64]:
    """Responses, as numbers or by name, as positions in their table."""

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


def _refuse_many(count: int) -> None:
    if count > LARGEST_RESPONSES:
        raise ParameterError(
            f"kind: expected information sums over every possible report, at most {LARGEST_RESPONSES}, got {count}; "
            "use observed, opg or sandwich"
        )
