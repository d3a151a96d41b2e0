"""Corrections of a share for a supposed number of people who misbehave, where no anchor estimates it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from deniable.errors import ParameterError
from deniable_statistics.estimates.estimate import DEFAULT_METHOD, Estimate
from deniable_statistics.intervals import Interval, check_confidence_level, normal_quantile, share_interval
from deniable_statistics.robustness.misbehaviour import Misbehaving

KNOWN = ("careless", "noncompliance", "denial")
"""Kinds of misbehaviour whose reports have a known distribution, so that a known share of them can be taken out."""


class Corrected(NamedTuple):
    """The share among the other people if exactly the supposed share of people misbehaves, with its interval."""

    share: float
    interval: Interval


def corrected(
    estimate: Estimate, suspected: Misbehaving, confidence_level: float = 0.95, method: str = DEFAULT_METHOD
) -> tuple[Corrected, ...]:
    """Take a known share of people who misbehave in one known way out of an estimate.

    Parameters
    ----------
    estimate : Estimate
    suspected : Misbehaving
        Misbehaviour of one kind in `KNOWN`; its share is taken as exact.
    confidence_level : float
    method : str
        As for `Estimate.confidence_interval`.

    Returns
    -------
    tuple of Corrected, length k
        In the order of options.

    Raises
    ------
    ParameterError
        If there are several kinds, or one whose reports have no known distribution.

    Notes
    -----
    If a share ``d`` misbehaves and supports an option with a known probability ``r``, a report supports it with
    ``(1 - d) a + d r`` or ``(1 - d) b + d r``. This is a design of its own, with its own exact interval. For the
    crosswise model and careless people it is the sensitivity analysis of Atsusaka and Stevenson, whom `anchored` cites.

    Examples
    --------
    An estimate of .195, if one in four or five answered at random:

    >>> from deniable_statistics.classical import crosswise
    >>> estimate = crosswise("0.15").estimate([573, 1427])
    >>> [round(corrected(estimate, Misbehaving(d, ["careless"]))[1].share, 3) for d in (0, 0.2, 0.25)]
    [0.195, 0.119, 0.093]
    """
    level = check_confidence_level(confidence_level)
    if len(suspected.kinds) > 1 or suspected.kinds[0] not in KNOWN:
        raise ParameterError(
            f"misbehaviour: must be one of {', '.join(KNOWN)} to correct for, got {', '.join(suspected.kinds)}"
        )
    design, d = estimate.design, suspected.share
    weights, constant = design.debiasing
    found = []
    for v, share in enumerate(estimate.share):
        score, _ = suspected.scores(design, weights[v], float(constant[v]), (0.0, 1.0))
        if not estimate.n:
            found.append(Corrected(share, Interval(0.0, 1.0)))
            continue
        if estimate.binomials is None:
            # share = (1 - d) corrected + d score, solved for the corrected share; errors are divided by 1 - d too
            near, z = estimate.smoothed(normal_quantile(level) ** 2), normal_quantile(level)
            middle, error = (near.share[v] - d * score) / (1 - d), z * near.std_error[v] / (1 - d)
            interval = Interval(middle - error, middle + error).cut()
        else:
            count, n, support = estimate.binomials[v]
            # The probability that the report of a person who misbehaves supports the option.
            r = support.floats[1] + (support.floats[0] - support.floats[1]) * score
            effective = float(n) * estimate.n_effective / float(estimate.n)
            seen = min(float(count) / float(n) * effective, effective) if n else 0.0
            # The design of the observed reports: (1 - d) a + d r and (1 - d) b + d r.
            ends = tuple(float(np.clip((1 - d) * each + d * r, 0, 1)) for each in support.floats)
            interval = share_interval(seen, effective, (ends[0], ends[1]), level, method)
        found.append(Corrected((share - d * score) / (1 - d), interval))
    return tuple(found)


def shares_up_to(most: float, steps: int) -> Sequence[float]:
    """Shares from 0 to ``most`` in equal steps.

    >>> shares_up_to(0.3, 3)
    [0.0, 0.1, 0.2, 0.3]
    """
    return [round(most * step / steps, 12) for step in range(steps + 1)]
