"""Probabilities and epsilons, as codebooks write them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

from deniable.randomness import UNIT
from deniable_statistics.archive.codebook import Entry


def exact_cells(values: Sequence[Sequence[Fraction]]) -> list[list[str]]:
    """The probabilities of a table as fractions; long ones have one denominator, and a decimal number behind them.

    >>> exact_cells([[Fraction(3, 4), Fraction(1, 4)]])
    [['3/4', '1/4']]
    >>> exact_cells([[Fraction(945748661, 1073741824), Fraction(1, 2**32), Fraction(0)]])
    [['3782994644/2^32 (0.880797)', '1/2^32 (2.32831e-10)', '0']]
    """
    denominators = {each.denominator for row in values for each in row}
    if max(denominators, default=1) < 1000:
        return [[str(each) for each in row] for row in values]
    # What is computed from published probabilities may have other denominators.
    is_published = all(UNIT % each == 0 for each in denominators)
    return [[_exactly(each, is_published) for each in row] for row in values]


def _exactly(probability: Fraction, is_published: bool) -> str:
    if probability.denominator == 1:
        return str(probability)
    fraction = f"{probability * UNIT}/2^32" if is_published else str(probability)
    return f"{fraction} ({float(probability):.6g})"


def epsilon_in_words(entry: Entry) -> str:
    """The privacy loss of a report in words, with the exact likelihood ratio if its fraction is short."""
    if not math.isfinite(entry.epsilon):
        return "no bound on epsilon"
    # A ratio of 32-bit weights has ten digits above and below, which nobody reads.
    short = entry.ratio is not None and entry.ratio.denominator < 1000
    return f"epsilon {entry.epsilon:.6g}{f' = ln({entry.ratio})' if short else ''}"
