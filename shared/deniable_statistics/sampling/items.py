"""Randomised questions as columns of a table: what each person reported, and through what."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from deniable.errors import ParameterError
from deniable.survey.group import Group
from deniable_statistics.designs.of_mechanisms import AnyDesign, design_of
from deniable_statistics.designs.spaces import support_matrix
from deniable_statistics.estimates.estimate import Estimate
from deniable_statistics.sampling.sample import Sample, SimpleSample, of_rows

if TYPE_CHECKING:
    from deniable_statistics.designs.design import Design


@dataclass(frozen=True, eq=False)
class Item:
    """One randomised question, a report for each person.

    Parameters
    ----------
    name : str
    design : Design
        What the answers went through.
    supports : ndarray of bool, shape (people, supports)
        Which options each report supports; `from_reports` makes it.
    options : tuple of str, length truths
        Names of the true answers.
    values : tuple of float, length truths, optional
        The numbers that the true answers stand for.
    drawn : Group, optional
        The group of questions that it is of: one with a joint response mixes one chance into all of them.
    frequencies : ndarray of int64, shape (rows,), optional
        How many people each row stands for, where reports that are alike were counted; by default each is one person.

    Examples
    --------
    >>> from deniable import TwoCoin
    >>> item = Item.from_reports("affair", TwoCoin("1/2", "1/2"), [1, 0, 0, 1])
    >>> item.options, item.estimate().share
    (('no', 'yes'), (0.5, 0.5))
    >>> item.scores[:, 1].tolist()
    [1.5, -0.5, -0.5, 1.5]
    """

    name: str
    design: Design
    supports: NDArray[np.bool_]
    options: tuple[str, ...]
    values: tuple[float, ...] | None = None
    drawn: Group | None = None
    frequencies: NDArray[np.int64] = field(default_factory=lambda: np.ones(1, dtype=np.int64))

    def __post_init__(self) -> None:
        object.__setattr__(self, "frequencies", np.broadcast_to(self.frequencies, len(self)))

    @classmethod
    def from_reports(
        cls,
        name: str,
        design: AnyDesign,
        reports: Iterable[int | str],
        options: Sequence[str] = (),
        values: Sequence[float] | None = None,
        drawn: Group | None = None,
    ) -> Item:
        """An item from report values.

        Raises
        ------
        ReportError
            If a report cannot have been made by the design.
        """
        design = design_of(design)
        supports = support_matrix(design.reports, reports, f"{name}, row")
        names = tuple(options) or design.truths
        if len(names) != len(design.truths):
            raise ParameterError(f"{name}: options must be {len(design.truths)} names, got {len(names)}")
        return cls(name, design, supports, names, None if values is None else tuple(values), drawn)

    def __len__(self) -> int:
        return len(self.supports)

    @property
    def everybody(self) -> SimpleSample:
        """The people of all rows, drawn one by one and without weights."""
        return SimpleSample.alike(self.frequencies)

    @property
    def scores(self) -> NDArray[np.float64]:
        """For each person and option an unbiased guess whether it is the truth, shape (people, truths).

        The chance of different people and questions is independent, so a mean of products of scores is unbiased for
        the share of people with both truths. That is the inverse of the Kronecker product of the channels.
        """
        weights, constant = self.design.debiasing
        return np.asarray(self.supports @ weights.T + constant)

    def estimate(self, sample: Sample | None = None) -> Estimate:
        """The shares of this question alone, by default of everybody alike; see `deniable.Estimate`."""
        whom = self.everybody if sample is None else sample
        return Estimate.from_counts(self.design, *whom.tally(self.supports))

    def where(self, people: NDArray[Any]) -> Item:
        """This question, asked of some of the people."""
        return replace(self, supports=self.supports[people], frequencies=of_rows(self.frequencies, people))


def refuse_one_chance(items: Iterable[Item]) -> None:
    """Raise a ParameterError if one chance went into two of them: products of their scores would be biased."""
    for first, second in itertools.combinations(items, 2):
        if first.drawn is not None and first.drawn.joint is not None and first.drawn == second.drawn:
            raise ParameterError(
                f"{first.name}, {second.name}: must not be questions of one response, as those of {first.drawn} are; "
                "`question_pair` puts two of them together"
            )
