"""People who do not follow the instruction: the assumptions of a simulation, and the bias that they cause."""

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
    """Shares of people who do not follow the instruction, independently of their truth.

    Attributes
    ----------
    noncompliance : float
        Share of people who *report* the first option without regard to the coins, so that nothing is randomised. For
        tick boxes this is no tick, for a subset the first options, for a number the lowest one. It needs a respondent
        who makes the report, with dice or cards: a device leaves no such choice.
    denial : float
        Share of people who *answer* the first option (no tick, the lowest number), which is then randomised like any
        other answer. A liar can do no more to a device.
    careless : float
        Share of people whose report is drawn uniformly from all possible reports.

    Notes
    -----
    The three kinds are different people, and each person behaves alike at every question. Without them a report
    supports an option with probability ``lam = b + (a - b) f``. With a share ``c`` of noncompliance it is
    ``(1 - c) lam + c s``, where ``s`` is 1 for the options that the first option's report supports and 0 for the
    others, so that the bias of the estimated share is ``c (s - lam) / (a - b)``. Denial by a share ``d`` has the bias
    ``d (s - f)``. Carelessness by a share ``e`` has the bias ``e (u - lam) / (a - b)``, where ``u`` is the mean support
    of a uniform report: ``1 / k`` for one of ``k`` values. The biases of several kinds add up. The robust intervals of
    `deniable_statistics.robustness.misbehaviour` keep their coverage.
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
        """Indices of the people who do not comply, who deny and who are careless; people are drawn independently."""
        # If nobody misbehaves, the generator is left untouched.
        if not (self.noncompliance or self.denial or self.careless):
            return (np.empty(0, dtype=np.int64),) * 3
        # One uniform draw for each person decides between the kinds, so that nobody belongs to two.
        luck = generator.random(people)
        ends = np.cumsum([0.0, self.noncompliance, self.denial, self.careless])
        return tuple(np.flatnonzero((luck >= low) & (luck < high)) for low, high in itertools.pairwise(ends))


def first_report(mechanism: Mechanism) -> int | Sequence[int]:
    """The report of the first option without randomising.

    >>> from deniable import KAry, TickBoxes
    >>> first_report(KAry.from_epsilon(4, 1)), first_report(TickBoxes.from_epsilon(3, 1))
    (0, [0, 0, 0])
    """
    design = design_of(mechanism)
    first = design.answer_range.start if design.is_exclusive else ()  # no tick
    report: int | Sequence[int] = design.untouched(first)
    return report


def first_reports(mechanism: Mechanism, n: int, generator: np.random.Generator) -> NDArray[Any]:
    """The first reports of ``n`` people; if a report is about drawn boxes, each person has a random set of them."""
    first = np.asarray(first_report(mechanism))
    reports = np.broadcast_to(first, (n, *first.shape))
    if not design_of(mechanism).is_one_draw:
        return reports
    # Sorting by uniform numbers is a random permutation, which makes the drawn boxes a uniform set.
    order = generator.random((n, mechanism.k)).argsort(axis=1)[:, :, None]
    return np.take_along_axis(reports.reshape(n, mechanism.k, 2), order, axis=1).reshape(reports.shape)
