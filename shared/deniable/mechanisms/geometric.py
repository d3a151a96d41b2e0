"""Two-sided geometric noise on an ordered scale, clamped to its ends."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from deniable.exact import Number, positive_epsilon
from deniable.mechanisms.base import OverRange, check_range
from deniable.mechanisms.clamped_noise import check_tails, clamped_row, geometric_tails
from deniable.mechanisms.row_mechanism import LARGEST_RANGE, RowMechanism, calibrate, check_rows


@dataclass(frozen=True)
class Geometric(OverRange, RowMechanism):
    """Add two-sided geometric noise to a number in ``[lo, hi]``, and clamp the sum to the ends.

    Parameters
    ----------
    lo, hi : int
        Ends of the range, at most 1000 apart.
    tails : tuple of int
        ``tails[d - 1]``: weight out of ``2**32`` of noise of at least ``d`` upwards, and the same downwards, for
        ``d`` from 1 to ``hi - lo``. Strictly falling.

    Notes
    -----
    ``P(noise = d) = (1 - alpha) / (1 + alpha) alpha^|d|`` with ``alpha = exp(-epsilon / (hi - lo))`` [1]_, so
    ``P(noise >= d) = alpha^d / (1 + alpha)``. The published parameters are these tails as integers; epsilon is the
    exact largest ratio of the rows that they make.

    References
    ----------
    .. [1] A. Ghosh, T. Roughgarden, M. Sundararajan, "Universally utility-maximizing privacy mechanisms", SIAM
       Journal on Computing 41 (2012), 1673-1693.

    Examples
    --------
    >>> mechanism = Geometric.from_epsilon(0, 10, epsilon=1)
    >>> mechanism.epsilon <= 1, mechanism.randomize(4) in range(11)
    (True, True)
    """

    lo: int
    hi: int
    tails: tuple[int, ...]

    name = "geometric"
    question_types = ("scale", "number")
    named_in = ("scale", "number")

    def __post_init__(self) -> None:
        check_range(self.lo, self.hi, LARGEST_RANGE)
        object.__setattr__(self, "tails", check_tails(self.tails, self.hi - self.lo))
        check_rows(self.rows)

    @classmethod
    def from_epsilon(cls, lo: int, hi: int, epsilon: Number) -> Geometric:
        """The least noise over a range whose epsilon is at most ``epsilon``."""
        lo, hi = check_range(lo, hi, LARGEST_RANGE)

        def make(nominal: Fraction) -> Geometric:
            return cls(lo, hi, geometric_tails(nominal / (hi - lo), hi - lo))

        # The nominal epsilon is that of unrounded tails over the whole range; rounding may pass it, hence the
        # calibration.
        return calibrate(make, positive_epsilon(epsilon))

    @property
    def answer_range(self) -> range:
        return range(self.lo, self.hi + 1)

    @property
    def report_range(self) -> range:
        return self.answer_range

    def row(self, answer: int) -> list[int]:
        return clamped_row(self.tails, answer, self.report_range)
