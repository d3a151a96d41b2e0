"""A ledger of privacy losses: what one person was asked, and what it adds up to."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction

from deniable.errors import ParameterError, describe
from deniable.exact import rational, sum_above
from deniable.table import format_table


@dataclass(frozen=True)
class LedgerEntry:
    """One entry of a `Ledger`: a question asked ``count`` times, each time at ``epsilon`` nats."""

    name: str
    epsilon: float
    count: int = 1

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", as_loss(self.epsilon))
        # True counts as 1 elsewhere in Python, and 0 would be an entry that says nothing.
        if type(self.count) is not int or self.count < 1:
            raise ParameterError(f"count: must be an integer of at least 1, got {describe(self.count)}")

    @property
    def total(self) -> float:
        """Privacy loss of all times together, in nats, rounded up."""
        return _sum_above([self])


@dataclass(frozen=True)
class Ledger:
    """The ledger of one person's privacy losses. Immutable: every method gives a new ledger.

    Notes
    -----
    The losses of one person add up, whatever was asked and in whatever order (sequential composition); of
    groups without a person in common the largest counts; what is computed from reports costs nothing
    (post-processing) and has no entry [1]_.

    References
    ----------
    .. [1] C. Dwork, A. Roth, "The algorithmic foundations of differential privacy", Foundations and Trends in
       Theoretical Computer Science 9 (2014), 211-407, sections 2.1 and 3.5; F. McSherry, "Privacy integrated
       queries", SIGMOD 2009 (parallel composition).

    Examples
    --------
    >>> ledger = Ledger().add("affair", 1.0).add("weekly mood", 0.25, count=4)
    >>> ledger.epsilon
    2.0
    >>> print(ledger)
    entry        epsilon  times     sum
    affair        1.0000      1  1.0000
    weekly mood   0.2500      4  1.0000
    total                        2.0000
    """

    entries: tuple[LedgerEntry, ...] = ()

    def add(self, name: str, epsilon: float, count: int = 1) -> Ledger:
        """The ledger with one more entry: the same loss ``count`` times, to the same person."""
        return Ledger((*self.entries, LedgerEntry(name, epsilon, count)))

    @property
    def epsilon(self) -> float:
        """The sum in nats, rounded up."""
        return _sum_above(self.entries)

    def __str__(self) -> str:
        rows = [(each.name, f"{each.epsilon:.4f}", str(each.count), f"{each.total:.4f}") for each in self.entries]
        header = ("entry", "epsilon", "times", "sum")
        return format_table(header, [*rows, ("total", "", "", f"{self.epsilon:.4f}")], right=header[1:])


def as_loss(value: float, subject: str = "epsilon") -> float:
    """A privacy loss as a float, infinity included, or a ParameterError."""
    # Infinity is a loss too, that of an answer without noise, and no rational number.
    number = math.inf if value == math.inf else float(rational(value, subject))
    if number < 0:
        raise ParameterError(f"{subject}: must be 0 or above, got {value}")
    return number


def _sum_above(entries: Iterable[LedgerEntry]) -> float:
    losses = [(entry.epsilon, entry.count) for entry in entries]
    if any(epsilon == math.inf for epsilon, _ in losses):
        return math.inf
    # Sequential composition, added up exactly and rounded up once: a ledger must never understate.
    return sum_above(Fraction(epsilon) * count for epsilon, count in losses)
