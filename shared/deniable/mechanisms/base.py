"""What every mechanism is: a frozen value with integer weights, and what follows from them.

A mechanism file holds `randomize`, the support probabilities, epsilon and the citation together, because
they share the same numbers and change together.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Self

from deniable.errors import AnswerError, ParameterError, describe
from deniable.estimation.design import Design
from deniable.estimation.estimate import Estimate
from deniable.estimation.means import MeanEstimate
from deniable.exact import Number, as_integer, log_above
from deniable.randomness import Word, Words, system_word, system_words
from deniable.wire.space import Count, Numbers, ReportSpace

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import ArrayLike, NDArray


Answer = int | Sequence[int]
"""A true answer: the number of an option or a number in a range; for tick boxes the numbers of those ticked."""


class Mechanism(Design):
    """The randomiser of one question. Its reports support some of ``k`` options, numbered from 0."""

    name: ClassVar[str]
    """The name under which a survey publishes the mechanism. Its meaning never changes."""

    parameters: ClassVar[tuple[str, ...]]
    """The names of what is published, which are also the names of the constructor's arguments."""

    question_types: ClassVar[tuple[str, ...]]
    """The question types for which it may answer, by name."""

    named_in: ClassVar[tuple[str, ...]]
    """Question types for which ``mechanism = name`` and an epsilon ask for it; for others different keys do, if any."""

    has_waves: ClassVar[bool] = False
    """Whether each survey sends a draw of its own from the value that a device keeps; otherwise it sends that value."""

    k: int
    """Number of options that a report can support."""

    @classmethod
    @abstractmethod
    def for_answers(cls, answers: range, epsilon: Number, wave_epsilon: Number | None = None) -> Mechanism:
        """The one with the least noise for these answers whose epsilon is at most ``epsilon``, as authors ask for it.

        Parameters
        ----------
        answers : range
            Numbers of the options, from 0, or the numbers that can be answered.
        epsilon : number
        wave_epsilon : number, optional
            The same of one wave, which mechanisms with waves take.

        Raises
        ------
        ParameterError
            If no such mechanism can be made.
        """

    @cached_property
    def reports(self) -> ReportSpace:
        return Numbers(range(self.k))

    @property
    @abstractmethod
    def channel_matrix(self) -> tuple[tuple[Fraction, ...], ...]:
        """``A[v][x]``: probability that a report supports option ``v`` when the truth is the x-th answer."""

    @property
    def exact_channels(self) -> tuple[tuple[tuple[Fraction, ...], ...], ...]:
        return (self.channel_matrix,)

    @property
    def float_matrix(self) -> NDArray[np.float64]:
        """The channel matrix in floats, for statistics."""
        import numpy as np

        return np.array(self.channel_matrix, dtype=float)

    @property
    def truth_matrix(self) -> NDArray[np.float64]:
        """The columns of `float_matrix` that belong to truths."""
        return self.float_matrix

    @cached_property
    def channels(self) -> tuple[NDArray[np.float64], ...] | None:
        return (self.truth_matrix,) if self.reports.supports_one else None

    @property
    @abstractmethod
    def likelihood_ratio(self) -> Fraction:
        """The largest ratio of the probabilities, under any two answers, of whatever a device may send, exactly.

        That is a report; where there are waves, the reports of all of them, however many.
        """

    @cached_property
    def epsilon(self) -> float:
        """Privacy loss of these very integers, in nats, rounded up to the next float."""
        return log_above(self.likelihood_ratio)

    @property
    def wave_likelihood_ratio(self) -> Fraction:
        """The largest ratio of the probabilities of one report under any two answers, exactly."""
        return self.likelihood_ratio

    @cached_property
    def wave_epsilon(self) -> float:
        """Privacy loss of one report alone, likewise: less than `epsilon` only where there are waves."""
        return log_above(self.wave_likelihood_ratio)

    @property
    def told_ratio(self) -> Fraction:
        """The largest such ratio of what the odds in words are about: of tick boxes one box, otherwise the answer."""
        return self.likelihood_ratio

    @property
    @abstractmethod
    def odds(self) -> tuple[str, ...]:
        """What the noise means to a person, in sentences: odds out of 100 people."""

    @abstractmethod
    def randomize(self, answer: Any, word: Word = system_word) -> Any:
        """Mix chance into one answer.

        Parameters
        ----------
        answer : int, or sequence of int
            The true answer: an option in ``[0, k)`` or what the mechanism's own docstring says.
        word : callable
            Source of uniform 32-bit words. How many are drawn does not depend on the answer.

        Returns
        -------
        int or str
            The noisy report value.

        Raises
        ------
        AnswerError
            If the answer is not one of those that are possible. The message does not repeat it.
        """

    def permanent(self, answer: Any, word: Word = system_word) -> Any:
        """The noisy value that a device keeps of an answer: RAPPOR's permanent randomised response.

        Parameters, errors and what is returned are those of `randomize`, which is this step and then `instantaneous`.
        """
        return self.randomize(answer, word)

    def instantaneous(self, value: Any, word: Word = system_word) -> Any:
        """What one survey sends of the value that a device keeps: the same, except where there are waves.

        Raises
        ------
        ReportError
            Where there are waves, and `permanent` cannot have made the value.
        """
        return value

    @abstractmethod
    def randomize_many(self, answers: ArrayLike, words: Words = system_words) -> NDArray[Any]:
        """Mix chance into an array of answers: the distribution of `randomize`, cryptographic randomness.

        Parameters
        ----------
        answers : array_like of int
            True answers, any shape; for tick boxes a row of 0 and 1 for each person.
        words : callable
            ``words(n)`` gives an array of ``n`` uniform 32-bit words.

        Returns
        -------
        ndarray of int64
            One noisy report value for each answer; for mechanisms whose reports are texts one more axis, of
            length ``k``, with 1 where the report supports the option.

        Raises
        ------
        AnswerError
            If any answer is not possible, or the array holds something else than integers.
        """

    @property
    def label(self) -> str:
        """What it is called where several are compared."""
        return self.name

    @property
    def noise(self) -> tuple[tuple[float, float], ...]:
        """``n`` times the variance that chance adds to each share: if everybody's truth is the option, and if nobody's.

        Where it depends on which other option is the truth, those are equally frequent.
        """
        import numpy as np

        # Given the truth x, an option's score is W[v, r] with probability A[r, x], and [v = x] on average.
        scores = self.debiasing.weights
        noises = scores**2 @ self.float_matrix - np.eye(len(scores))
        own = noises.diagonal()
        others = (noises.sum(axis=1) - own) / (len(scores) - 1)
        return tuple(zip(own.tolist(), others.tolist(), strict=True))

    @property
    def even_share(self) -> float:
        """The share of an option if all answers are equally frequent."""
        return 1 / self.k

    @property
    def share_variance_if_even(self) -> float:
        """``n`` times the variance of a share, the mean over all options, if all answers are equally frequent."""
        share = self.even_share
        return share * (1 - share) + self.total_variance / self.k

    @property
    def total_variance(self) -> float:
        """``n`` times what noise alone adds then to the variances of all shares together."""
        share = self.even_share
        return math.fsum(share * if_true + (1 - share) * if_other for if_true, if_other in self.noise)

    @abstractmethod
    def supported(self, answer: Any) -> Sequence[Fraction]:
        """How likely a report of this answer supports each option, in order."""

    def likelihood(self, supports: NDArray[np.bool_]) -> NDArray[np.float64]:
        import numpy as np

        return np.asarray(supports @ self.float_matrix)

    @cached_property
    def truths(self) -> tuple[str, ...]:
        """Names of the true answers, in order."""
        return tuple(map(str, range(self.k)))

    def covariance(self, counts: Sequence[Count], n: Count) -> NDArray[np.float64]:
        """Covariance of the unbiased shares of ``n`` people drawn from a population."""
        return self.score_covariance(self.debiasing.weights, [count / n for count in counts]) / n

    def extremes(self, weights: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        return weights.min(axis=1), weights.max(axis=1)  # here each report supports one option

    def estimate(
        self, counts: Sequence[Count], n: Count | None = None, *, n_effective: float | None = None
    ) -> Estimate:
        """Debias a tally of supports; see `deniable.Estimate`.

        Parameters
        ----------
        counts : sequence of int, length k
            Number of reports that support each option, in option order; real numbers for weighted reports.
        n : int, optional
            Number of reports, or the sum of their weights; by default the sum of the counts.
        n_effective : float, optional
            Kish's effective number of weighted reports; by default ``n``.
        """
        return Estimate.from_counts(self, counts, n, n_effective)

    def estimate_mean(
        self,
        counts: Sequence[Count],
        n: Count | None = None,
        values: Sequence[float] | None = None,
        *,
        n_effective: float | None = None,
    ) -> MeanEstimate:
        """Debias a tally of supports into the mean of the true numbers; see `deniable.MeanEstimate`.

        Parameters
        ----------
        counts, n, n_effective
            As for `estimate`.
        values : sequence of float, optional
            The number that each answer stands for, in order; by default the answers themselves.
        """
        return MeanEstimate.from_counts(self, counts, n, self.answer_values if values is None else values, n_effective)

    def publish(self) -> dict[str, Any]:
        """The mechanism as a survey publishes it: its name and its integers."""
        values = {key: getattr(self, key) for key in self.parameters}
        return {"name": self.name} | {key: _as_lists(value) for key, value in values.items()}

    @classmethod
    def from_published(cls, published: Mapping[str, Any]) -> Self:
        """Read back what `publish` wrote, refusing every other form."""
        wanted = {"name", *cls.parameters}
        if set(published) != wanted:
            raise ParameterError(f"mechanism {cls.name}: must have the keys {sorted(wanted)}, got {sorted(published)}")
        for key in cls.parameters:
            _check_integers(published[key], f"mechanism {cls.name}: {key}")
        return cls(**{key: published[key] for key in cls.parameters})


class OneOfK(Mechanism):
    """A mechanism whose answers and reports are both one of ``k`` options."""

    @abstractmethod
    def randomize(self, answer: int, word: Word = system_word) -> int: ...

    @abstractmethod
    def _randomize_array(self, answers: NDArray[np.int64], words: Words) -> NDArray[np.int64]:
        """Randomise checked answers in the distribution of `randomize`; words may be shared out in another order."""

    def randomize_many(self, answers: ArrayLike, words: Words = system_words) -> NDArray[np.int64]:
        import numpy as np

        array = check_answers(answers, self.answer_range)
        flat = array.ravel()
        reports = np.empty_like(flat)
        for start in range(0, flat.size, BLOCK):
            block = slice(start, start + BLOCK)
            reports[block] = self._randomize_array(flat[block], words)
        return reports.reshape(array.shape)

    def _check_answer(self, answer: int) -> int:
        return check_answer(answer, self.answer_range)


BLOCK = 2**18
"""Answers randomised at a time: enough for numpy to run at full speed, few enough to stay in the cache."""


class OverRange(Mechanism):
    """A mechanism of the whole numbers from a lowest one to a highest one."""

    @classmethod
    @abstractmethod
    def from_epsilon(cls, lo: int, hi: int, epsilon: Number) -> Self:
        """The one with the least noise from ``lo`` to ``hi`` whose epsilon is at most ``epsilon``."""

    @classmethod
    def for_answers(cls, answers: range, epsilon: Number, wave_epsilon: Number | None = None) -> Self:
        return cls.from_epsilon(answers[0], answers[-1], epsilon)


def check_answer(answer: object, possible: range) -> int:
    """The answer as an int, or an AnswerError that does not repeat it: integers of numpy are integers, True is not."""
    number = as_integer(answer)
    if number is None or number not in possible:
        raise AnswerError(f"answer: must be an integer in [{possible.start}, {possible.stop})")
    return number


def check_answers(answers: ArrayLike, possible: range) -> NDArray[np.int64]:
    """The answers as integers, or an AnswerError that does not repeat them."""
    import numpy as np

    array = np.asarray(answers)
    expectation = f"answers: must all be integers in [{possible.start}, {possible.stop})"
    if array.size and not np.issubdtype(array.dtype, np.integer):
        raise AnswerError(expectation)  # a dtype would tell how long labels are
    if array.size and (array.min() < possible.start or array.max() >= possible.stop):
        raise AnswerError(expectation)
    return array.astype(np.int64)


def _as_lists(value: Any) -> Any:
    return [_as_lists(each) for each in value] if isinstance(value, tuple) else value


def _check_integers(value: object, subject: str) -> None:
    if isinstance(value, list):
        for each in value:
            _check_integers(each, subject)
    elif type(value) is not int or abs(value) >= LARGEST_INTEGER:
        raise ParameterError(f"{subject} must be integers of at most 15 digits, got {describe(value)}")


LARGEST_INTEGER = 10**15
"""Published integers stay below, where JavaScript's numbers are exact."""


def check_k(k: object, largest: int = 2**16) -> None:
    """Raise a ParameterError unless ``k`` is a number of options."""
    if type(k) is not int or k < 2:
        raise ParameterError(f"k: must be an integer of at least 2, got {describe(k)}")
    if k > largest:
        raise ParameterError(f"k: must be at most {largest} options, got {k}")


def check_range(lo: object, hi: object, largest: int) -> None:
    """Raise a ParameterError unless these are the ends of a range of integers at most ``largest`` apart."""
    if type(lo) is not int or type(hi) is not int or not lo < hi <= lo + largest or abs(lo) > 10**12:
        raise ParameterError(
            f"range: lo and hi must be integers, hi above lo and at most {largest} apart, "
            f"got {describe(lo)} and {describe(hi)}"
        )
