"""The base of tick-box mechanisms: any of k options may be true at once, so boxes are estimated one by one."""

from __future__ import annotations

from collections.abc import Sequence

from deniable.errors import AnswerError
from deniable.exact import as_integer
from deniable.mechanisms.base import Mechanism

MOST_BOXES = 256
"""Largest number of boxes of a question."""


class BoxMechanism(Mechanism):
    """A mechanism over ``k`` boxes: an answer is a sequence of the numbers of the ticked boxes."""

    question_types = ("ticks",)

    def _check_ticks(self, answer: Sequence[int]) -> frozenset[int]:
        expectation = f"answer: must be a list of different integers in [0, {self.k})"
        is_array = getattr(answer, "ndim", None) == 1
        if isinstance(answer, (str, bytes)) or not (is_array or isinstance(answer, (Sequence, frozenset, set))):
            raise AnswerError(expectation)
        # A set also drops what stands there twice, so the lengths differ exactly if something was wrong.
        ticked = {number for number in map(as_integer, answer) if number is not None and 0 <= number < self.k}
        if len(ticked) != len(answer):
            raise AnswerError(expectation)
        return frozenset(ticked)
