"""How many unweighted reports weighted ones are worth."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable
from typing import SupportsInt

from deniable.errors import ParameterError


def kish(weights: Iterable[float], frequencies: Iterable[SupportsInt] | None = None) -> float:
    """Kish's effective number of reports, ``(sum w)^2 / sum w^2`` [1]_.

    With frequencies each weight is that of so many people.

    A weighted share varies as one of that many unweighted reports does, if the weights have nothing to do with the
    answers. Give intervals this as ``n`` and the weighted share of supporting reports times it as ``count``; with
    the number of reports or the sum of weights as ``n`` they come out too short. It does not change when all
    weights are multiplied by a number, equals the number of reports if all weights are equal, and is less otherwise.

    Raises
    ------
    ParameterError
        If a weight is negative or not finite, or there are not as many frequencies.

    References
    ----------
    .. [1] L. Kish, "Survey Sampling", Wiley 1965.

    Examples
    --------
    (1 + 1 + 2)^2 / (1 + 1 + 4):

    >>> round(kish([1, 1, 2]), 4)
    2.6667
    >>> round(kish([1, 2], [2, 1]), 4)
    2.6667
    """
    each = [float(weight) for weight in weights]
    people = [1] * len(each) if frequencies is None else [int(count) for count in frequencies]
    largest = max(each, default=0.0)
    if not all(0 <= weight < math.inf for weight in each):
        raise ParameterError("weights: must be finite and not negative")
    if len(people) != len(each):
        raise ParameterError(f"frequencies: must be {len(each)}, one for each weight, got {len(people)}")
    if largest == 0:
        return 0.0
    together = Counter[
        float
    ]()  # equal weights first, so that counted rows give the figure of the people, to the last bit
    for weight, count in zip(each, people, strict=True):
        together[weight / largest] += count  # squares of very small or large weights leave the floats
    total = math.fsum(count * weight for weight, count in together.items())
    return total**2 / math.fsum(count * weight * weight for weight, count in together.items())
