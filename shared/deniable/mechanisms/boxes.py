"""What the mechanisms of tick boxes share: any of k options may be true at once, so boxes are estimated one by one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from deniable.errors import AnswerError, ParameterError
from deniable.exact import as_integer
from deniable.mechanisms.base import Mechanism
from deniable.wire.space import Count

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import ArrayLike, NDArray

MOST_BOXES = 256


class BoxMechanism(Mechanism):
    """A mechanism over ``k`` boxes: an answer is a sequence of the numbers of those ticked."""

    question_types = ("ticks",)
    is_exclusive = False
    has_likelihood = False

    @property
    def even_share(self) -> float:
        return 0.5

    def likelihood(self, supports: NDArray[np.bool_]) -> NDArray[np.float64]:
        raise ParameterError(f"{self.name}: answers do not exclude each other; take one box at a time")

    def feasible(self, counts: Sequence[Count], n: Count) -> tuple[float, ...]:
        return tuple(min(max(float(share), 0.0), 1.0) for share in self.shares(counts, n))

    def _check_ticks(self, answer: Sequence[int]) -> frozenset[int]:
        expectation = f"answer: must be a list of different integers in [0, {self.k})"
        if isinstance(answer, (str, bytes)) or not isinstance(answer, (Sequence, frozenset, set)):
            raise AnswerError(expectation)
        ticked = {number for number in map(as_integer, answer) if number is not None and 0 <= number < self.k}
        if len(ticked) != len(answer):
            raise AnswerError(expectation)
        return frozenset(ticked)

    def _check_rows(self, answers: ArrayLike) -> NDArray[np.uint8]:
        """Many answers, each a row of 0 and 1."""
        import numpy as np

        array = np.asarray(answers)
        expectation = f"answers: must be rows of {self.k} numbers 0 or 1"
        if array.shape[-1:] != (self.k,) or array.dtype.kind not in "iub":
            raise AnswerError(expectation)
        if array.size and (array.min() < 0 or array.max() > 1):
            raise AnswerError(expectation)
        return array.astype(np.uint8)
