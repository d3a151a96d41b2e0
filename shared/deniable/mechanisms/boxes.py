"""What the mechanisms of tick boxes share: any of k options may be true at once, so boxes are estimated one by one."""

from __future__ import annotations

from collections.abc import Sequence

from deniable.errors import AnswerError
from deniable.exact import as_integer
from deniable.mechanisms.base import Mechanism

MOST_BOXES = 256


class BoxMechanism(Mechanism):
    """A mechanism over ``k`` boxes: an answer is a sequence of the numbers of those ticked."""

    question_types = ("ticks",)

    def _check_ticks(self, answer: Sequence[int]) -> frozenset[int]:
        expectation = f"answer: must be a list of different integers in [0, {self.k})"
        is_array = getattr(answer, "ndim", None) == 1
        if isinstance(answer, (str, bytes)) or not (is_array or isinstance(answer, (Sequence, frozenset, set))):
            raise AnswerError(expectation)
        ticked = {number for number in map(as_integer, answer) if number is not None and 0 <= number < self.k}
        if len(ticked) != len(answer):
            raise AnswerError(expectation)
        return frozenset(ticked)
