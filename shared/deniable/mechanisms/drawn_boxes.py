"""Drawn boxes: the device draws some of the boxes by chance and spends the whole epsilon on these."""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING

from deniable.errors import ParameterError, describe
from deniable.estimation.debiasing import Debiasing
from deniable.estimation.design import Binomial
from deniable.estimation.support import Support
from deniable.exact import Number, of_100, positive_epsilon
from deniable.mechanisms.base import BLOCK, check_k
from deniable.mechanisms.boxes import MOST_BOXES, BoxMechanism
from deniable.mechanisms.k_ary import KAry
from deniable.mechanisms.subset import uniform_below, unrank
from deniable.randomness import UNIT, Word, Words, below, system_word, system_words
from deniable.wire.space import Count, DrawnBits

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import ArrayLike, NDArray

MOST_DRAWN = 8
"""Most boxes that a device draws: no epsilon that people should be asked with needs more."""


@dataclass(frozen=True)
class DrawnBoxes(BoxMechanism):
    """Draw ``s`` of the ``k`` boxes, whatever the answer, and report these alone: k-ary response over their patterns.

    An answer is a sequence of the options that are ticked. A report is a text of ``2 k`` characters, two for each box:
    ``01`` if it was drawn and is reported as ticked, ``10`` if it was drawn and is not, ``00`` if it was not drawn.

    Parameters
    ----------
    k : int
        Number of boxes, 2 to 256.
    s : int
        Number of boxes that are drawn, 1 to 8 and at most ``k``; each set of them is equally likely.
    keep : int
        Weight out of ``2**32`` of reporting the drawn boxes as they are; each of the ``2**s - 1`` other patterns weighs
        ``(2**32 - keep) / (2**s - 1)``.

    Notes
    -----
    With ``E`` the ratio of the two weights, epsilon = ``ln E``: which boxes are drawn tells nothing, and any two
    answers make any pattern of them at most ``E`` times as likely [1]_. A drawn box is reported as it is with
    probability ``(E + 2**(s-1) - 1) / (E + 2**s - 1)``. Its count is binomial among the reports that drew it, about
    ``s / k`` of all. At share 1/2, ``n`` times the variance of a share is ``k / (4 s b**2)`` with
    ``b = (E - 1) / (E + 2**s - 1)``; a coin for each box, `TickBoxes`, divides epsilon by ``k`` instead, which costs
    about ``k**2`` [2]_.

    References
    ----------
    .. [1] P. Kairouz, S. Oh, P. Viswanath, "Extremal mechanisms for local differential privacy", Journal of Machine
       Learning Research 17 (2016), 1-51.
    .. [2] T. T. Nguyen et al., "Collecting and analyzing data from smart device users with local differential
       privacy", arXiv:1606.05053 (2016): sampling instead of splitting.

    Examples
    --------
    >>> boxes = DrawnBoxes.from_epsilon(k=8, epsilon=2)
    >>> boxes.s, boxes.epsilon <= 2
    (2, True)
    >>> len(boxes.randomize([0, 3]))
    16
    """

    k: int
    s: int
    keep: int

    name = "drawn-boxes"
    named_in = ("ticks",)
    is_one_draw = True
    parameters = ("k", "s", "keep")

    def __post_init__(self) -> None:
        check_k(self.k, MOST_BOXES)
        _check_s(self.s, self.k)
        if type(self.keep) is not int or not 1 < self.keep < UNIT:
            raise ParameterError(f"keep: must be an integer above 1 and below 2**32, got {describe(self.keep)}")
        self.patterns  # noqa: B018 - refuses what is not a weight over so many patterns

    @classmethod
    def from_epsilon(cls, k: int, epsilon: Number, s: int | None = None) -> DrawnBoxes:
        """The weights with the least noise whose epsilon is at most ``epsilon``.

        Parameters
        ----------
        k : int
        epsilon : number
        s : int, optional
            Number of boxes to draw; by default the one with the least variance of the shares.
        """
        check_k(k, MOST_BOXES)
        asked = positive_epsilon(epsilon)
        if s is not None:
            _check_s(s, k)
            return cls(k, s, KAry.from_epsilon(2**s, asked).keep)
        made = (cls.from_epsilon(k, asked, each) for each in range(1, min(k, MOST_DRAWN) + 1))
        return min(made, key=lambda each: each.total_variance)

    @classmethod
    def for_answers(cls, answers: range, epsilon: Number, wave_epsilon: Number | None = None) -> DrawnBoxes:
        return cls.from_epsilon(len(answers), epsilon)

    @cached_property
    def patterns(self) -> KAry:
        """The mechanism over the patterns of the drawn boxes, the first of which is the highest bit."""
        return KAry(2**self.s, self.keep)

    @property
    def share_of_pairs(self) -> float:  # type: ignore[override]
        return self.s * (self.s - 1) / (self.k * (self.k - 1))

    @property
    def label(self) -> str:
        return f"{self.name} ({self.s} of {self.k})"

    @cached_property
    def box(self) -> Support:
        """How likely a box that is drawn is reported as ticked if it is, and if it is not."""
        return self.patterns.of_digits(2)

    @cached_property
    def pair(self) -> Support:
        """How likely two boxes that are both drawn are reported with certain marks if these are theirs, and if not."""
        return self.patterns.of_digits(2, 2)

    @property
    def likelihood_ratio(self) -> Fraction:
        return self.patterns.likelihood_ratio

    def randomize(self, answer: Sequence[int], word: Word = system_word) -> str:
        ticked = self._check_ticks(answer)
        drawn = unrank(self.k, self.s, below(math.comb(self.k, self.s), word))
        pattern = sum((box in ticked) << self.s - 1 - place for place, box in enumerate(drawn))
        sent = self.patterns.randomize(pattern, word)
        marks = ["00"] * self.k
        for place, box in enumerate(drawn):
            marks[box] = "01" if sent >> self.s - 1 - place & 1 else "10"
        return "".join(marks)

    def randomize_many(self, answers: ArrayLike, words: Words = system_words) -> NDArray[np.uint8]:
        import numpy as np

        array = self._check_rows(answers)
        flat = array.reshape(-1, self.k)
        reports = np.zeros((len(flat), 2 * self.k), dtype=np.uint8)
        size = BLOCK // self.k + 1
        for start in range(0, len(flat), size):
            block = slice(start, start + size)
            self._randomize_rows(flat[block], reports[block], words)
        return reports.reshape(*array.shape[:-1], 2 * self.k)

    def _randomize_rows(self, answers: NDArray[np.uint8], reports: NDArray[np.uint8], words: Words) -> None:
        import numpy as np

        drawn = draw_sets(self.k, self.s, len(answers), words)
        bits = np.arange(self.s)[::-1]
        patterns = np.take_along_axis(answers, drawn, axis=1).astype(np.int64) @ (1 << bits)
        sent = self.patterns.randomize_many(patterns, words)[:, None] >> bits & 1
        np.put_along_axis(reports, 2 * drawn + sent, 1, axis=1)

    @cached_property
    def reports(self) -> DrawnBits:
        return DrawnBits(self.k, self.s)

    @property
    def channel_matrix(self) -> tuple[tuple[Fraction, ...], ...]:
        """``A[v][x]`` of one box that is drawn, shape (2, 2)."""
        a, b = self.box
        return ((a, b), (b, a))

    def supported(self, answer: Sequence[int]) -> list[Fraction]:
        marks = ((self.box[option in answer], self.box[option not in answer]) for option in range(self.k))
        return [Fraction(self.s, self.k) * mark for pair in marks for mark in pair]

    def untouched(self, answer: Sequence[int]) -> list[int]:
        """The drawn boxes as they are; which are drawn, the first here, is not an answer."""
        return [int(box < self.s and (box in answer) == ticked) for box in range(self.k) for ticked in (False, True)]

    @property
    def told_ratio(self) -> Fraction:
        return self.box.if_true / self.box.if_other

    @property
    def odds(self) -> tuple[str, ...]:
        p = of_100(self.box.if_true)
        return (
            f"Your device draws {self.s} of the {self.k} boxes by chance and sends nothing about the others. "
            f"Of 100 people who tick a drawn box, about {p} send it as ticked; of 100 who do not, about {100 - p} do.",
        )

    @property
    def noise(self) -> tuple[tuple[float, float], ...]:
        """Noise variance of the mean score; at shares other than 1/2 above that of the estimate itself."""
        each = self.k / (4 * self.s * float(self.box.slope) ** 2) - 0.25
        return ((each, each),) * self.k

    @cached_property
    def debiasing(self) -> Debiasing:
        """One half, more if the box is drawn and ticked, as much less if it is drawn and is not."""
        import numpy as np

        weight = self.k / (2 * self.s * float(self.box.slope))
        return Debiasing(np.kron(np.eye(self.k), np.array([[-weight, weight]])), np.full(self.k, 0.5))

    def binomials(self, counts: Sequence[Count], n: Count) -> tuple[Binomial, ...]:
        pairs = zip(counts[::2], counts[1::2], strict=True)
        return tuple(Binomial(ticked, clear + ticked, self.box) for clear, ticked in pairs)

    def shares(self, counts: Sequence[Count], n: Count) -> list[Fraction | float]:
        """The share of each box, among the reports that drew it; NaN where there are none."""
        return [
            (Fraction(ticked) / Fraction(drawn) - self.box.if_other) / self.box.slope if drawn else math.nan
            for ticked, drawn, _ in self.binomials(counts, n)
        ]

    def expected(self, shares: Sequence[float]) -> list[float]:
        other, slope = self.box.floats[1], float(self.box.slope)
        drawn = self.s / self.k
        ticked = [drawn * (other + slope * share) for share in shares]
        return [mark for each in ticked for mark in (drawn - each, each)]

    def covariance(self, counts: Sequence[Count], n: Count) -> NDArray[np.float64]:
        """Variances among the reports that drew a box; NaN wherever two boxes meet: tallies do not tell these."""
        import numpy as np

        matrix = np.full((self.k, self.k), np.nan)
        slope = float(self.box.slope)
        for box, (ticked, drawn, _) in enumerate(self.binomials(counts, n)):
            if drawn:
                lam = ticked / drawn
                matrix[box, box] = lam * (1 - lam) / slope**2 / drawn
        return matrix

    def score_covariance(self, weights: NDArray[np.float64], supported: ArrayLike) -> NDArray[np.float64]:
        """Variances of scores of single boxes; NaN wherever two boxes meet, because tallies do not tell these."""
        import numpy as np

        lam = np.asarray(supported, dtype=float)
        means = weights @ lam
        variances = weights**2 @ lam - means**2
        alone = np.count_nonzero(weights.reshape(len(weights), self.k, 2).any(axis=2), axis=1) <= 1
        return np.where(np.eye(len(weights), dtype=bool) & alone, variances, np.nan)

    def extremes(self, weights: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """The ``s`` boxes that take away most, each at its lighter mark, and those that add most."""
        import numpy as np

        pairs = weights.reshape(len(weights), self.k, 2)
        most, least = (np.sort(each, axis=1) for each in (pairs.max(axis=2), pairs.min(axis=2)))
        return np.asarray(least[:, : self.s].sum(axis=1)), np.asarray(most[:, -self.s :].sum(axis=1))


def _check_s(s: object, k: int) -> None:
    if type(s) is not int or not 1 <= s <= min(k, MOST_DRAWN):
        raise ParameterError(f"s: must be an integer in [1, {min(k, MOST_DRAWN)}], got {describe(s)}")


def draw_sets(k: int, s: int, n: int, words: Words) -> NDArray[np.int64]:
    """``n`` sets of ``s`` of ``k`` boxes or questions, all equally likely, each in ascending order, shape (n, s)."""
    import numpy as np

    sets = math.comb(k, s)
    if sets <= LARGEST_TABLE:
        return np.asarray(_every_set(k, s)[uniform_below(sets, n, words)])
    drawn = np.empty((n, s), dtype=np.int64)
    for place in range(s):  # one of those that are left; it skips over those drawn before, in ascending order
        box = uniform_below(k - place, n, words)
        for before in range(place):
            box += box >= drawn[:, before]
        drawn[:, place] = box
        drawn[:, : place + 1].sort(axis=1)
    return drawn


@functools.lru_cache(maxsize=8)
def _every_set(k: int, s: int) -> NDArray[np.int64]:
    import numpy as np

    return np.array([unrank(k, s, rank) for rank in range(math.comb(k, s))])


LARGEST_TABLE = 2**12
"""Sets of boxes that are looked up in a table; of more, one box is drawn after the other."""
