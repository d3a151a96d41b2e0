"""What every mechanism is: a frozen value with integer weights, and what follows from them.

A mechanism file holds `randomize`, the support probabilities, epsilon and the citation together, because
they share the same numbers and change together.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Self

from deniable.errors import AnswerError, ParameterError, ReportError, describe
from deniable.estimation import Estimate
from deniable.exact import log_above
from deniable.randomness import Word, Words, system_word, system_words

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import ArrayLike, NDArray


class Support(NamedTuple):
    """How likely a report supports one option, exactly."""

    if_true: Fraction
    """Probability that the report supports the option when it is the true answer."""
    if_other: Fraction
    """Probability that the report supports the option when another one is the true answer."""


class Mechanism(ABC):
    """The randomiser of one question over ``k`` options, numbered from 0."""

    name: ClassVar[str]
    """The name under which a survey publishes the mechanism. Its meaning never changes."""

    parameters: ClassVar[tuple[str, ...]]
    """The names of the published integers, which are also the names of the constructor's arguments."""

    k: int
    """Number of options."""

    @property
    @abstractmethod
    def support(self) -> tuple[Support, ...]:
        """Support probabilities of every option, in option order."""

    @property
    @abstractmethod
    def likelihood_ratio(self) -> Fraction:
        """The largest ratio of the probabilities of any report under any two answers, exactly."""

    @abstractmethod
    def randomize(self, answer: int, word: Word = system_word) -> int:
        """Mix chance into one answer.

        Parameters
        ----------
        answer : int
            The true option, in ``[0, k)``.
        word : callable
            Source of uniform 32-bit words. The number of words drawn is the same for every answer.

        Returns
        -------
        int
            The noisy report value.

        Raises
        ------
        AnswerError
            If the answer is no option. The message does not repeat it.
        """

    @abstractmethod
    def feasible(self, counts: Sequence[int]) -> tuple[float, ...]:
        """The maximum-likelihood shares: within [0, 1] and adding up to 1, at the price of a bias."""

    @abstractmethod
    def _randomize_array(self, answers: NDArray[np.int64], words: Words) -> NDArray[np.int64]:
        """Randomise checked answers; the same decisions as `randomize`, array by array."""

    @property
    def epsilon(self) -> float:
        """Privacy loss of these very integers, in nats, rounded up to the next float."""
        return log_above(self.likelihood_ratio)

    @property
    def channel_matrix(self) -> tuple[tuple[Fraction, ...], ...]:
        """``A[v][x]``: probability that a report supports option ``v`` when the truth is ``x``, shape (k, k)."""
        return tuple(
            tuple(option.if_true if x == v else option.if_other for x in range(self.k))
            for v, option in enumerate(self.support)
        )

    def randomize_many(self, answers: ArrayLike, words: Words = system_words) -> NDArray[np.int64]:
        """Mix chance into an array of answers: the distribution of `randomize`, cryptographic randomness.

        Parameters
        ----------
        answers : array_like of int, any shape
            True options, each in ``[0, k)``.
        words : callable
            ``words(n)`` gives an array of ``n`` uniform 32-bit words.

        Returns
        -------
        ndarray of int64, same shape
            One noisy report value for each answer.

        Raises
        ------
        AnswerError
            If any answer is no option, or the array holds something else than integers.
        """
        import numpy as np

        array = np.asarray(answers)
        if array.dtype.kind not in "iu" and array.size:
            raise AnswerError(f"answers: must be integers in [0, {self.k})")  # a dtype tells how long labels are
        if array.size and (array.min() < 0 or array.max() >= self.k):
            raise AnswerError(f"answers: must all be integers in [0, {self.k})")
        flat = array.astype(np.int64).ravel()
        reports = np.empty_like(flat)
        for start in range(0, flat.size, _BLOCK):
            block = slice(start, start + _BLOCK)
            reports[block] = self._randomize_array(flat[block], words)
        return reports.reshape(array.shape)

    def supports(self, report: int) -> tuple[int, ...]:
        """The options that a report value speaks for."""
        return (report,)

    def check_report(self, report: object, subject: str) -> int:
        """Return the report value if this mechanism can have made it.

        Raises
        ------
        ReportError
            Otherwise; ``subject`` opens the message.
        """
        if type(report) is not int or not 0 <= report < self.k:
            raise ReportError(f"{subject}: report must be an integer in [0, {self.k}), got {describe(report)}")
        return report

    def estimate(self, counts: Sequence[int], n: int | None = None) -> Estimate:
        """Debias a tally of supports; see `deniable.Estimate`.

        Parameters
        ----------
        counts : sequence of int, length k
            Number of reports that support each option, in option order.
        n : int, optional
            Number of reports; by default the sum of the counts.
        """
        return Estimate.from_counts(self, counts, n)

    def publish(self) -> dict[str, str | int]:
        """The mechanism as a survey publishes it: its name and its integers."""
        return {"name": self.name} | {key: getattr(self, key) for key in self.parameters}

    @classmethod
    def from_published(cls, published: Mapping[str, Any]) -> Self:
        """Read back what `publish` wrote, refusing every other form."""
        wanted = {"name", *cls.parameters}
        if set(published) != wanted:
            raise ParameterError(f"mechanism {cls.name}: must have the keys {sorted(wanted)}, got {sorted(published)}")
        values = {key: published[key] for key in cls.parameters}
        for key, value in values.items():
            if type(value) is not int or not 1 < value < 2**32:
                raise ParameterError(f"mechanism {cls.name}: {key} must be a 32-bit integer, got {describe(value)}")
        return cls(**values)

    def _check_answer(self, answer: int) -> None:
        if type(answer) is not int or not 0 <= answer < self.k:
            raise AnswerError(f"answer: must be an integer in [0, {self.k})")


_BLOCK = 2**18
"""Answers randomised at a time: enough for numpy to run at full speed, few enough to stay in the cache."""
