"""Probabilities and epsilons, as codebooks write them."""

from __future__ import annotations

import math
from fractions import Fraction

from deniable_statistics.archive.codebook import Entry


def exactly(probability: Fraction) -> str:
    """A probability as a fraction, followed by a decimal number if the fraction is long.

    >>> exactly(Fraction(3, 4)), exactly(Fraction(2863311531, 4294967296)), exactly(Fraction(1))
    ('3/4', '2863311531/4294967296 (0.666667)', '1')
    """
    return str(probability) if probability.denominator < 1000 else f"{probability} ({float(probability):.6g})"


def epsilon_in_words(entry: Entry) -> str:
    """The privacy loss of a report in words, with the exact likelihood ratio if its fraction is short."""
    if not math.isfinite(entry.epsilon):
        return "no bound on epsilon"
    # A ratio of 32-bit weights has ten digits above and below, which nobody reads.
    short = entry.ratio is not None and entry.ratio.denominator < 1000
    return f"epsilon {entry.epsilon:.6g}{f' = ln({entry.ratio})' if short else ''}"
