"""The interface of mechanisms: a frozen value with integer weights, and everything that follows from them.

A mechanism file holds `randomize`, the support probabilities, epsilon and the citation together, because
they share the same numbers and change together.
"""

from __future__ import annotations

from abc import ABCMeta, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import fields
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Self, TypeVar

from deniable.errors import AnswerError, ParameterError, describe, needing
from deniable.exact import Number, as_integer, is_truth_value, log_above, plain
from deniable.mechanisms.support import Support
from deniable.randomness import Word, Words, system_word, system_words
from deniable.wire.space import Count, Numbers, ReportSpace

if TYPE_CHECKING:
    from inspect import Signature

    from deniable.mechanisms.arrays import ArrayLike, Integers, NDArray
    from deniable_statistics.estimates.estimate import Estimate


_Made = TypeVar("_Made")

Answer = int | Sequence[int]
"""A true answer: the number of an option or a number in a range; for tick boxes the numbers of the ticked boxes."""


class _Maker(ABCMeta):
    """Makes mechanisms: integers of numpy become Python's, and an epsilon gets the way that takes one."""

    def __call__(cls: type[_Made], *args: Any, **parameters: Any) -> _Made:
        if "epsilon" in parameters:
            given = ", ".join(f"{name}={value}" for name, value in parameters.items())
            maker = getattr(cls, "from_epsilon", None)
            way = f"{cls.__name__}.from_epsilon({given})" if maker else "a mechanism that takes one, such as Warner"
            raise ParameterError(f"epsilon: must not be given to {cls.__name__}, whose parameters are exact; use {way}")
        made: _Made = super().__call__(  # type: ignore[misc]  # mypy takes the metaclass of a type variable for `type`
            *map(plain, args), **{name: plain(value) for name, value in parameters.items()}
        )
        return made

    @property
    def __signature__(cls) -> Signature:
        """The parameters of a mechanism for `help` and editors, which would show those of `__call__`."""
        from inspect import signature  # which takes longer than all of this module

        _itself, *parameters = (own := signature(cls.__init__)).parameters.values()  # type: ignore[misc]  # of no instance
        return own.replace(parameters=parameters)


class Mechanism(metaclass=_Maker):
    """The randomiser of one question. Its reports support some of ``k`` options, numbered from 0."""

    name: ClassVar[str]
    """The name under which a survey publishes the mechanism. Its meaning never changes."""

    question_types: ClassVar[tuple[str, ...]]
    """Names of the question types that the mechanism can randomise."""

    named_in: ClassVar[tuple[str, ...]]
    """Question types for which authors choose it by ``mechanism = name`` and an epsilon, not by keys of its own."""

    k: int
    """Number of options that a report can support."""

    @classmethod
    @abstractmethod
    def for_answers(cls, answers: range, epsilon: Number, wave_epsilon: Number | None = None) -> Mechanism:
        """The mechanism of this class with the least noise for these answers and at most this epsilon.

        Parameters
        ----------
        answers : range
            Numbers of the options, from 0, or the numbers that can be answered.
        epsilon : number
            Largest privacy loss, in nats.
        wave_epsilon : number, optional
            Largest privacy loss of one wave, for mechanisms with waves.

        Raises
        ------
        ParameterError
            If no such mechanism can be made.
        """

    has_shares: ClassVar[bool] = True
    """Whether the share of every answer can be estimated; some mechanisms allow for the mean alone."""

    has_others: ClassVar[bool] = False
    """Whether the last answer stands beside the numbers: for people to whom a question does not apply."""

    @property
    def answer_range(self) -> range:
        """All answers: options as numbers from 0, numbers as themselves."""
        return range(self.k)

    @cached_property
    def reports(self) -> ReportSpace:
        """The space of its reports."""
        return Numbers(range(self.k))

    @property
    def support(self) -> tuple[Support, ...] | None:
        """Support probabilities of each option; None where they depend on which other option is the truth."""
        return None

    @property
    @abstractmethod
    def likelihood_ratio(self) -> Fraction:
        """The largest ratio of the probabilities of a report under any two answers, exactly.

        For a mechanism with waves it is the ratio of the reports of all waves together, however many.
        """

    @cached_property
    def epsilon(self) -> float:
        """Privacy loss of the published integers, in nats, rounded up to the next float."""
        return log_above(self.likelihood_ratio)

    @property
    def told_ratio(self) -> Fraction:
        """The likelihood ratio behind `odds`: of one tick box where there are several, otherwise `likelihood_ratio`."""
        return self.likelihood_ratio

    def __str__(self) -> str:
        """The name of the mechanism in comparisons."""
        return self.name

    @property
    @abstractmethod
    def odds(self) -> tuple[str, ...]:
        """Sentences for respondents about the noise, as numbers out of 100 people."""

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

    def estimate(
        self, counts: Sequence[Count] | Mapping[int, Count], n: Count | None = None, *, n_effective: float | None = None
    ) -> Estimate:
        """Debias a tally of supports; see `deniable.Estimate`, which needs numpy.

        Parameters
        ----------
        counts : sequence of int, length k, or mapping or Series of pandas
            Number of reports that support each option, in option order or with the options as keys; real numbers for
            weighted reports.
        n : int, optional
            Number of reports, or the sum of their weights; by default the sum of the counts. It is needed only where
            a report can support several options.
        n_effective : float, optional
            Kish's effective number of weighted reports; by default ``n``.
        """
        with needing("statistics"):
            # Imported within the method, so that devices load neither numpy nor statistics.
            from deniable_statistics.estimates import estimate
        return estimate.Estimate.from_counts(self, counts, n, n_effective)

    def publish(self) -> dict[str, Any]:
        """The mechanism as a survey publishes it: its name and its integers."""
        values = {key: getattr(self, key) for key in _parameters(type(self))}
        return {"name": self.name} | {key: _as_lists(value) for key, value in values.items()}

    @classmethod
    def from_published(cls, published: Mapping[str, Any]) -> Self:
        """Read what `publish` wrote, and refuse any other form."""
        wanted = {"name", *_parameters(cls)}
        # Exactly these keys: an unknown one may be a parameter that changes what the mechanism does.
        if set(published) != wanted:
            raise ParameterError(f"mechanism {cls.name}: must have the keys {sorted(wanted)}, got {sorted(published)}")
        for key in _parameters(cls):
            _check_integers(published[key], f"mechanism {cls.name}: {key}")
        return cls(**{key: published[key] for key in _parameters(cls)})


class OneOfK(Mechanism):
    """A mechanism whose answers and reports are both one of ``k`` options."""

    @abstractmethod
    def randomize(self, answer: int, word: Word = system_word) -> int: ...

    @abstractmethod
    def _randomize_array(self, answers: Integers, words: Words) -> Integers:
        """Randomise checked answers in the distribution of `randomize`; words may be shared out in another order."""

    def randomize_many(self, answers: ArrayLike, words: Words = system_words) -> Integers:
        from deniable.mechanisms.arrays import check_answers

        array = check_answers(answers, self.answer_range)
        flat = array.ravel()
        reports = flat.copy()
        # The words are drawn block by block too, so memory does not grow with the number of answers.
        for start in range(0, flat.size, BLOCK):
            block = slice(start, start + BLOCK)
            reports[block] = self._randomize_array(flat[block], words)
        return reports.reshape(array.shape)

    def _check_answer(self, answer: int) -> int:
        return check_answer(answer, self.answer_range)


BLOCK = 2**18
"""Number of answers that are randomised at a time: enough for numpy's full speed, few enough for the cache."""


class OverRange(Mechanism):
    """A mechanism of the whole numbers from a lowest one to a highest one."""

    @classmethod
    @abstractmethod
    def from_epsilon(cls, lo: int, hi: int, epsilon: Number) -> Self:
        """The mechanism with the least noise from ``lo`` to ``hi`` and at most this epsilon."""

    @classmethod
    def for_answers(cls, answers: range, epsilon: Number, wave_epsilon: Number | None = None) -> Self:
        return cls.from_epsilon(answers[0], answers[-1], epsilon)


def check_answer(answer: object, possible: range) -> int:
    """The answer as an int, or an AnswerError that does not repeat it.

    Integers of numpy are integers, and its truth values answer two options. Python's are none: both languages refuse
    the ``true`` of JSON.
    """
    number = int(answer) if is_truth_value(answer) and possible == range(2) else as_integer(answer)  # type: ignore[call-overload]  # it is one
    if number is None or number not in possible:
        # The message ends up in logs and on screens, so it never says what the answer was.
        raise AnswerError(f"answer: must be an integer in [{possible.start}, {possible.stop})")
    return number


def _parameters(mechanism: type[Mechanism]) -> list[str]:
    """Names of the published parameters, which are also those of the constructor's arguments."""
    return [each.name for each in fields(mechanism)]  # type: ignore[arg-type]  # every mechanism is a dataclass


def _as_lists(value: Any) -> Any:
    return [_as_lists(each) for each in value] if isinstance(value, tuple) else value


def _check_integers(value: object, subject: str) -> None:
    if isinstance(value, list):
        for each in value:
            _check_integers(each, subject)
    elif type(value) is not int or abs(value) >= LARGEST_INTEGER:
        raise ParameterError(f"{subject} must be integers of at most 15 digits, got {describe(value)}")


LARGEST_INTEGER = 10**15
"""Bound of published integers: below it they have 15 digits, which JavaScript's numbers hold exactly."""


def check_k(k: object, largest: int = 2**16) -> int:
    """The number of options as an int, or a ParameterError."""
    number = as_integer(k)
    if number is None or number < 2:
        raise ParameterError(f"k: must be an integer of at least 2, got {describe(k)}")
    if number > largest:
        raise ParameterError(f"k: must be at most {largest} options, got {number}")
    return number


def check_range(lo: object, hi: object, largest: int) -> tuple[int, int]:
    """The ends of a range of integers at most ``largest`` apart as ints, or a ParameterError."""
    low, high = as_integer(lo), as_integer(hi)
    # The ends are published too, and stay far within JavaScript's exact integers.
    if low is None or high is None or not low < high <= low + largest or abs(low) > 10**12:
        raise ParameterError(
            f"range: lo and hi must be integers, hi above lo and at most {largest} apart, "
            f"got {describe(lo)} and {describe(hi)}"
        )
    return low, high
