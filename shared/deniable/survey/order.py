"""Random orders: what is shown in an order that the device draws, and what keeps its place.

An order is drawn from words alone, before anything is shown, and is never sent. So it can neither depend on an answer
nor reach anybody.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from deniable.errors import SurveyError, describe
from deniable.randomness import Word, below

ORDER_KEYS = ("order", "fixed_first", "fixed_last")
"""Keys of an order, of authors and of published surveys."""

RANDOM = "random"
"""The value of the key ``order``; without the key everything stands in the order of the document."""


@dataclass(frozen=True)
class RandomOrder:
    """A random order of options, of questions or of sections, each order of those in the middle equally likely.

    Attributes
    ----------
    fixed_first, fixed_last : int
        How many keep their places at the beginning and at the end.

    Examples
    --------
    >>> RandomOrder(fixed_last=1).draw(4, iter([0, 0]).__next__)
    [1, 2, 0, 3]
    """

    fixed_first: int = 0
    fixed_last: int = 0

    def check(self, n: int, where: str, what: str) -> None:
        """Raise a SurveyError unless at least two of ``n`` change places."""
        for name in ("fixed_first", "fixed_last"):
            value = getattr(self, name)
            if type(value) is not int or value < 0:
                raise SurveyError(f"{where}: {name} must be a whole number from 0, got {describe(value)}")
        if (moving := n - self.fixed_first - self.fixed_last) < 2:
            raise SurveyError(
                f"{where}: a random order needs at least 2 {what} that change places, got {max(moving, 0)} of {n}"
            )

    def keeps(self, earlier: int, later: int, n: int) -> bool:
        """Whether the one place always comes before the other."""
        return earlier < later and (earlier < self.fixed_first or later >= n - self.fixed_last)

    def draw(self, n: int, word: Word) -> list[int]:
        """The places 0 to ``n - 1`` in the drawn order: a Fisher-Yates shuffle from the last moving place down."""
        places = list(range(n))
        first, end = self.fixed_first, n - self.fixed_last
        for at in range(end - 1, first, -1):
            other = first + below(at - first + 1, word)
            places[at], places[other] = places[other], places[at]
        return places

    def publish(self) -> dict[str, Any]:
        """Its keys as a survey publishes them."""
        fixed = {"fixed_first": self.fixed_first, "fixed_last": self.fixed_last}
        return {"order": RANDOM} | {name: value for name, value in fixed.items() if value}


def order_from(read: Callable[[str], Any], where: str) -> RandomOrder | None:
    """The order that the keys of an author or of a published survey say; None where there is none.

    Parameters
    ----------
    read : callable
        Gives the value of a key, None where it is not there.
    where : str
        The subject of errors.

    Raises
    ------
    SurveyError
        If ``order`` is something else, or is not there although a number of fixed places is.
    """
    order, *fixed = (read(key) for key in ORDER_KEYS)
    if order is None:
        if any(each is not None for each in fixed):
            raise SurveyError(f'{where}: fixed_first and fixed_last need order = "{RANDOM}"')
        return None
    if order != RANDOM:
        raise SurveyError(f'{where}: order must be "{RANDOM}", or left out, got {describe(order)}')
    return RandomOrder(*(0 if each is None else each for each in fixed))
