"""The exact channel matrix of each mechanism: the probability of each support under each answer.

It needs the standard library alone, so that commands without numpy can use it.
"""

from __future__ import annotations

import functools
from fractions import Fraction

from deniable.errors import ParameterError
from deniable.mechanisms import DrawnBoxes, Mechanism, OneBitMean, RowMechanism, TickBoxes
from deniable.mechanisms.pure import PureMechanism
from deniable.randomness import UNIT

ExactChannel = tuple[tuple[Fraction, ...], ...]
"""``A[v][x]``: probability that a report supports option ``v`` when the truth is the x-th answer."""


@functools.singledispatch
def channel_of(mechanism: Mechanism) -> ExactChannel:
    """The channel matrix of a mechanism, shape (k, answers); for tick boxes it is that of one box, shape (2, 2).

    >>> from deniable import TwoCoin
    >>> channel_of(TwoCoin("1/2", "1/2"))
    ((Fraction(3, 4), Fraction(1, 4)), (Fraction(1, 4), Fraction(3, 4)))
    """
    raise ParameterError(f"mechanism: must be one whose channel is known, got {mechanism.name}")


@channel_of.register
def _(mechanism: PureMechanism) -> ExactChannel:
    return tuple(
        tuple(option.if_true if x == v else option.if_other for x in range(mechanism.k))
        for v, option in enumerate(mechanism.support)
    )


@channel_of.register
def _(mechanism: OneBitMean) -> ExactChannel:
    ones = tuple(Fraction(mechanism.weight(answer), UNIT) for answer in mechanism.answer_range)
    return (tuple(1 - one for one in ones), ones)


@channel_of.register
def _(mechanism: RowMechanism) -> ExactChannel:
    return tuple(tuple(Fraction(weight, UNIT) for weight in column) for column in zip(*mechanism.rows, strict=True))


@channel_of.register(TickBoxes)
@channel_of.register(DrawnBoxes)
def _(mechanism: TickBoxes | DrawnBoxes) -> ExactChannel:
    p, q = mechanism.support[0]
    return ((p, q), (q, p))
