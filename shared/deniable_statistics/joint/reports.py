"""Reports of the same people to several questions: which combinations came, and how often."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from deniable.errors import ParameterError
from deniable.wire.space import Count
from deniable_statistics.designs.debiasing import one_report_covariance
from deniable_statistics.designs.of_mechanisms import AnyDesign, design_of
from deniable_statistics.estimates.counts import table_in_order
from deniable_statistics.estimates.estimate import Estimate
from deniable_statistics.intervals.methods import MOST_TRUTHS
from deniable_statistics.intervals.profile import ShareLikelihood, profile_intervals
from deniable_statistics.joint.products import products
from deniable_statistics.sampling import Sample, SimpleSample, Truths
from deniable_statistics.sampling.items import Item, refuse_one_chance

BLOCK = 4096
"""Combinations whose scores are multiplied at a time: enough for numpy to run at full speed, few enough to be held."""


Columns = Callable[[Sequence[NDArray[np.float64]]], NDArray[np.float64]]
"""From the scores of each question, of shape (people, truths), to values of shape (people, m)."""


@dataclass(frozen=True, eq=False)
class JointReports:
    """What several statistics of the same people need: every different combination of reports, and its frequency.

    Attributes
    ----------
    items : tuple of Item
        One for each question, with a row for each combination instead of each person.
    frequencies : ndarray, shape (combinations,)
        Number of people with each combination, or the sum of their weights.
    n_effective : float
        Kish's effective number of people; their number where they have no weights.
    sample : Sample
        The people with their weights, and how they were drawn; of a table of counts those of each combination.
    rows : ndarray of int, shape (people,)
        The combination of each row of the sample.
    """

    items: tuple[Item, ...]
    frequencies: NDArray[np.float64]
    n_effective: float
    sample: Sample
    rows: NDArray[np.int64]

    @classmethod
    def from_items(cls, items: Sequence[Item], sample: Sample | None = None) -> JointReports:
        """Combine questions that were asked of the same people, by default all alike.

        Raises
        ------
        ParameterError
            If there are fewer than two, two have one name, or the people are not those of the sample in each.
        """
        if len(items) < 2:
            raise ParameterError(f"items: must be at least 2 questions, got {len(items)}")
        whom = sample_of(items, sample)
        # A row of bits is one value of bytes, so that one sort finds the different combinations.
        packed = np.packbits(np.hstack([item.supports for item in items]), axis=1)
        whole = np.ascontiguousarray(packed).view(np.dtype((np.void, packed.shape[1]))).ravel()
        _, first, where = np.unique(whole, return_index=True, return_inverse=True)
        frequencies = np.bincount(where.ravel(), weights=whom.counted, minlength=len(first)).astype(float)
        seen = frequencies > 0
        places = np.maximum(np.cumsum(seen) - 1, 0)  # who weighs nothing may stand anywhere
        # A row is a combination now, and how many people sent it stands in the frequencies beside it.
        each = np.ones(1, dtype=np.int64)
        distinct = tuple(replace(item.where(first[seen]), frequencies=each) for item in items)
        found = cls._checked(distinct, frequencies[seen], whom.n_effective, whom, places[where.ravel()])
        if whom.is_finite and not all(item.design.is_exclusive for item in items):
            raise ParameterError(
                "population: must not be given for tick boxes as a whole, whose chances are not told apart; "
                "take one box at a time"
            )
        return found

    @classmethod
    def from_counts(
        cls,
        designs: Sequence[AnyDesign],
        table: ArrayLike,
        names: Sequence[str] = (),
        options: Sequence[Sequence[str]] = (),
        n_effective: float | None = None,
    ) -> JointReports:
        """Read a table of joint reports, which is all that a collector has to publish.

        Parameters
        ----------
        designs : sequence of Design or Mechanism
            One for each question; their reports are single values.
        table : array_like, shape (responses of the first question, of the second, ...)
            Number of people with each combination of reports; real numbers for weighted reports. Labels of a
            DataFrame, such as `pandas.crosstab` gives, are reports, in any order.
        names, options : optional
            Names of the questions, and of the true answers to each.
        n_effective : float, optional
            Kish's effective number of weighted reports.
        """
        known = [design_of(each) for each in designs]
        for design in known:
            if not design.reports.supports_one:
                raise ParameterError(f"designs: must report single values to be counted in a table, not {design.name}")
        sizes = tuple(design.reports.size for design in known)
        counts = table_in_order(table, sizes, [design.reports.first for design in known])
        if len(sizes) < 2 or counts.shape != sizes:
            raise ParameterError(f"table: must have the shape {sizes} of two questions or more, got {counts.shape}")
        if not np.isfinite(counts).all() or counts.min() < 0:
            raise ParameterError("table: must hold finite numbers of at least 0")
        titles = tuple(names) or tuple(f"question {number}" for number in range(1, len(sizes) + 1))
        labels = tuple(map(tuple, options)) or tuple(design.truths for design in known)
        if len(titles) != len(sizes) or [len(each) for each in labels] != [len(each.truths) for each in known]:
            raise ParameterError(f"names, options: must fit {len(sizes)} questions and their answers")
        # Combinations that nobody sent add nothing.
        places = counts.nonzero()
        total = float(counts.sum()) if n_effective is None else n_effective
        items = (
            Item(title, design, np.eye(size, dtype=bool)[where], label)
            for title, design, size, where, label in zip(titles, known, sizes, places, labels, strict=True)
        )
        counted = SimpleSample.of(counts[places])
        return cls._checked(tuple(items), counts[places], total, counted, np.arange(len(counted)))

    @classmethod
    def _checked(
        cls,
        items: tuple[Item, ...],
        frequencies: NDArray[np.float64],
        n_effective: float,
        sample: Sample,
        rows: NDArray[np.int64],
    ) -> JointReports:
        names = [item.name for item in items]
        if len(set(names)) < len(names):
            # The chance in a report is independent only of that in reports to *other* questions.
            raise ParameterError(f"items: must be different questions, got {', '.join(names)}")
        refuse_one_chance(items)
        return cls(items, frequencies, n_effective, sample, rows)

    @property
    def n(self) -> Count:
        """Number of people, or the sum of their weights."""
        total = float(self.frequencies.sum())
        return int(total) if total.is_integer() else total

    @property
    def epsilon(self) -> float:
        """Privacy loss of all reports of one person together: that of the questions adds up."""
        return math.fsum(item.design.epsilon for item in self.items)

    @cached_property
    def scores(self) -> tuple[NDArray[np.float64], ...]:
        """`Item.scores` of every question, each of shape (combinations, truths)."""
        return tuple(item.scores for item in self.items)

    def index(self, question: int | str) -> int:
        """The number of a question, given as a number or by its name."""
        names = [item.name for item in self.items]
        if isinstance(question, str) and question in names:
            return names.index(question)
        if isinstance(question, bool) or not isinstance(question, int) or not 0 <= question < len(names):
            raise ParameterError(
                f"question: must be in [0, {len(names)}) or one of {', '.join(names)}, got {question!r}"
            )
        return question

    def margin(self, question: int | str) -> Estimate:
        """The shares of one question alone."""
        item = self.items[self.index(question)]
        counts = (self.frequencies @ item.supports).tolist()
        return Estimate.from_counts(item.design, counts, self.n, self.n_effective)

    def moments(self, columns: Columns) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Mean over all people of some functions of their scores, and the covariance of that mean.

        Parameters
        ----------
        columns : callable
            Takes the scores of each question, of shape (people, truths), and gives the values, shape (people, m).

        Returns
        -------
        mean : ndarray, shape (m,)
        covariance : ndarray, shape (m, m)
            Of people drawn as the sample says.
        """
        if not len(self.frequencies):
            m = columns([scores[:0] for scores in self.scores]).shape[1]
            return np.full(m, math.nan), np.full((m, m), math.nan)
        if self.sample.is_complex:
            found = self.sample.means(columns(self.scores)[self.rows], self._truths(columns))
            return found.estimate, found.covariance
        return self.simple_moments(columns)

    def simple_moments(self, columns: Columns) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """`moments` as if people had been drawn one by one; combinations are gone through in blocks.

        The covariance of all is the mean of that within blocks plus that of the blocks' means.
        """
        means, sizes, within = [], [], 0.0
        # The columns of all combinations at once may not fit into memory.
        for start in range(0, len(self.frequencies), BLOCK):
            block = slice(start, start + BLOCK)
            values = columns([scores[block] for scores in self.scores])
            size = self.frequencies[block].sum()
            means.append(self.frequencies[block] @ values / size)
            sizes.append(size)
            within = within + size * one_report_covariance(values.T, self.frequencies[block] / size)
        # Law of total covariance: mean covariance within blocks plus covariance of their means.
        shares = np.array(sizes) / self.frequencies.sum()
        between = one_report_covariance(np.array(means).T, shares)
        return shares @ np.array(means), (within / self.frequencies.sum() + between) / self.n_effective

    def likelihood_intervals(
        self, parts: NDArray[np.float64], wholes: NDArray[np.float64] | None, confidence_level: float
    ) -> NDArray[np.float64] | None:
        """Intervals of ``parts @ cells``, or of ``parts @ cells / wholes @ cells``, by the likelihood of all reports.

        Devices draw fresh chance for every question, so all questions together are one, whose channel is the Kronecker
        product of theirs; see `deniable_statistics.intervals.profile`.

        Parameters
        ----------
        parts, wholes : ndarray, shape (m, cells)
            With ``0 <= part cells <= whole cells``; without wholes they are everybody.
        confidence_level : float

        Returns
        -------
        ndarray, shape (m, 2), or None
            None without reports, under a sampling design, where a report is no single value, and for more than
            `MOST_TRUTHS` cells.
        """
        if not self.n or self.sample.is_complex or not has_joint_channel([item.design for item in self.items]):
            return None
        channel: NDArray[np.float64] = np.ones((1, 1))
        places = np.zeros(len(self.frequencies), dtype=np.int64)
        for item in self.items:
            assert item.design.channels is not None
            # Chances are independent: the channel of all questions is the Kronecker product of theirs.
            (of_item,) = item.design.channels
            channel = np.asarray(np.kron(channel, of_item), dtype=float)
            places = places * len(of_item) + item.supports.argmax(axis=1)
        counts = np.asarray(np.bincount(places, self.frequencies, minlength=len(channel)), dtype=float)
        # Weighted reports count as many as Kish's effective number of them.
        counts *= self.n_effective / counts.sum()
        return profile_intervals(ShareLikelihood([channel]), counts, parts, wholes, confidence_level)

    def _truths(self, columns: Columns) -> Truths | None:
        """The columns of people with each combination of true answers, and unbiased indicators of these."""
        if not self.sample.is_finite:
            return None
        sizes = [len(item.options) for item in self.items]
        places = np.indices(sizes).reshape(len(sizes), -1)
        certain = [np.eye(size)[where] for size, where in zip(sizes, places, strict=True)]
        return Truths(products(self.scores)[self.rows], columns(certain))


def has_joint_channel(designs: Sequence[AnyDesign]) -> bool:
    """Whether questions with these designs have one channel for all their answers, from which a likelihood is computed.

    That needs one channel for each, of which a report is one value, and at most `MOST_TRUTHS` cells.
    """
    known = [design_of(each) for each in designs]
    if math.prod(len(each.truths) for each in known) > MOST_TRUTHS:
        return False
    return all(each.channels is not None and each.groups == 1 and each.reports.supports_one for each in known)


def sample_of(items: Sequence[Item], sample: Sample | None) -> Sample:
    """The sample that answered all items; where none is given, their rows alike.

    Raises
    ------
    ParameterError
        If rows are not as many in each, or do not stand for as many people.
    """
    n, whom = len(items[0]), items[0].everybody if sample is None else sample
    for item in items:
        if len(item) != n:
            raise ParameterError(f"items: must all have the reports of {n} people, {item.name} has {len(item)}")
    if len(whom) != n:
        raise ParameterError(f"sample: must be of the {n} people of the items, got {len(whom)}")
    for item in items:
        if not np.array_equal(item.frequencies, whom.frequencies):
            raise ParameterError(f"items: rows must stand for as many people in each, {item.name} differs")
    return whom


def check_exclusive(item: Item, purpose: str) -> None:
    """Raise a ParameterError unless every person has exactly one of the item's truths as answer."""
    design = item.design
    if not design.is_exclusive:
        raise ParameterError(f"{item.name}: {purpose} needs answers that exclude each other; take one box at a time")
    check_shares(item, purpose)


def check_shares(item: Item, purpose: str) -> None:
    """Raise a ParameterError if reports tell a mean only, as those of `deniable.OneBitMean` and `Piecewise`."""
    if not item.design.has_shares:
        raise ParameterError(
            f"{item.name}: {purpose} needs the shares of answers, and {item.design.name} tells their mean only"
        )
