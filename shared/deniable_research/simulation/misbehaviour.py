"""People who do not do as they are told: what a simulation supposes of them, and what it costs."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deniable.errors import ParameterError
from deniable.mechanisms import Mechanism
from deniable_statistics.designs.of_mechanisms import design_of


@dataclass(frozen=True)
class Misbehaviour:
    """How many people do something else than the survey supposes, whatever their truth.

    Attributes
    ----------
    noncompliance : float
        Share of people who report the first option *as it is*, whatever the instruction of the coins says: no chance
        is mixed in. The first option, of tick boxes none, of a subset report the first options, of a number the
        lowest. This needs a respondent who makes the report, with dice or cards; a device leaves no such choice.
    denial : float
        Share of people who *answer* the first option (no tick, the lowest number), which then is randomised like any
        other answer. This is what a liar can do to a device.
    careless : float
        Share of people whose report is drawn uniformly from all possible reports.

    Notes
    -----
    The three are different people, and the same ones at every question. A report supports an option with probability
    ``lam = b + (a - b) f`` without them; with a share ``c`` of noncompliance it is ``(1 - c) lam + c s``, ``s`` one
    for the options that the first option's report supports and zero for the others: the bias of the estimated share
    is ``c (s - lam) / (a - b)``. Denial by a share ``d`` has the bias ``d (s - f)``, carelessness by a share ``e``
    ``e (u - lam) / (a - b)`` with ``u`` the mean support of a uniform report, ``1 / k`` for one of ``k`` values. Where
    several kinds are supposed, their biases add. Intervals of `deniable_statistics.robustness.misbehaviour` hold all
    the same.
    """

    noncompliance: float = 0.0
    denial: float = 0.0
    careless: float = 0.0

    def __post_init__(self) -> None:
        for name, share in vars(self).items():
            if isinstance(share, bool) or not isinstance(share, (int, float)) or not 0 <= share <= 1:
                raise ParameterError(f"{name}: must be a share in [0, 1], got {share!r}")
        total = self.noncompliance + self.denial + self.careless
        if total > 1:
            raise ParameterError(f"noncompliance, denial, careless: must be at most 1 together, got {total:g}")

    def draw(self, people: int, generator: np.random.Generator) -> tuple[NDArray[np.int64], ...]:
        """The places of those who do not comply, who deny, and who are careless, each independently one of them."""
        # Where nobody misbehaves, no words are spent on it.
        if not (self.noncompliance or self.denial or self.careless):
            return (np.empty(0, dtype=np.int64),) * 3
        # One draw a person decides for all three kinds, so that nobody is of two.
        luck = generator.random(people)
        ends = np.cumsum([0.0, self.noncompliance, self.denial, self.careless])
        return tuple(np.flatnonzero((luck >= low) & (luck < high)) for low, high in itertools.pairwise(ends))


def first_report(mechanism: Mechanism) -> int | Sequence[int]:
    """The report that somebody makes who wants to have said the first option.

    >>> from deniable import KAry, TickBoxes
    >>> first_report(KAry.from_epsilon(4, 1)), first_report(TickBoxes.from_epsilon(3, 1))
    (0, [0, 0, 0])
    """
    design = design_of(mechanism)
    first = design.answer_range.start if design.is_exclusive else ()  # no tick
    report: int | Sequence[int] = design.untouched(first)
    return report


def first_reports(mechanism: Mechanism, n: int, generator: np.random.Generator) -> NDArray[Any]:
    """`first_report` of ``n`` people; where devices draw boxes, each person speaks of others."""
    first = np.asarray(first_report(mechanism))
    reports = np.broadcast_to(first, (n, *first.shape))
    if not design_of(mechanism).is_one_draw:
        return reports
    # Each person's boxes are shuffled: a random order is a uniform set of drawn ones.
    order = generator.random((n, mechanism.k)).argsort(axis=1)[:, :, None]
    return np.take_along_axis(reports.reshape(n, mechanism.k, 2), order, axis=1).reshape(reports.shape)
