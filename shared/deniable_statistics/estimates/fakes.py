"""How far made-up reports can move an estimate, and how many of them somebody supposes.

Intervals that hold all the same are in `deniable_statistics.estimates.assumed_fakes`.
"""

from __future__ import annotations

import math
from functools import lru_cache

from deniable.errors import ParameterError, describe
from deniable.exact import rational
from deniable.mechanisms.support import Support
from deniable.wire.space import Count
from deniable_statistics.designs.of_mechanisms import AnyDesign, design_of

HIGHEST_FAKE = 0.5
"""Largest share of fake reports that can be assumed: whoever sends more than half of all decides what they say."""


def check_fake_share(share: object) -> float:
    """Return the share of fake reports if it can be assumed.

    Raises
    ------
    ParameterError
        Unless it is a number from 0 to `HIGHEST_FAKE`.
    """
    if isinstance(share, bool) or not isinstance(share, (int, float)) or not 0 <= share <= HIGHEST_FAKE:
        raise ParameterError(f"assume_fake: must be a share in [0, {HIGHEST_FAKE}], got {describe(share)}")
    return share


def fakes_among(share: float, reports: Count) -> Count:
    """How many of the reports are fake at most; a part of the weights where they have weights.

    >>> fakes_among(0.29, 100), fakes_among(0.05, 59), fakes_among(0.25, 10.5)
    (29, 2, 2.625)
    """
    exact = rational(check_fake_share(share), "assume_fake")  # of floats, .29 of 100 is less than 29
    return math.floor(exact * reports) if isinstance(reports, int) else float(exact) * float(reports)


def check_fakes(fakes: Count) -> Count:
    """Return a number of fake reports if there can be so many.

    Raises
    ------
    ParameterError
        Unless it is a finite number of at least 0.
    """
    if isinstance(fakes, bool) or not 0 <= fakes < math.inf:
        raise ParameterError(f"fakes: must be a number of at least 0, got {describe(fakes)}")
    return fakes


def fake_margins(design: AnyDesign, fraction: float = 0.01) -> tuple[float, ...]:
    """How far people who send made-up reports can move each share.

    Parameters
    ----------
    design : Design or Mechanism
    fraction : float
        Share of the reports that are fake; where a design has groups, in each of them.

    Returns
    -------
    tuple of float, length truths
        Largest change of each estimated share, in share points (0.02 is two percentage points).

    Notes
    -----
    The estimate is the mean of scores, so a fake that replaces a report moves it by the difference of two scores over
    ``n``. Where a report supports an option or does not, that is ``1 / |p - q|``; elsewhere the largest weight of the
    debiasing map minus the smallest one. A local mechanism multiplies what a fake can do, the more the smaller its
    epsilon [1]_. Publish the margin beside the interval. What such people leave of the share itself, as bounds and an
    interval that holds all the same, says `deniable_statistics.robustness.misbehaviour`.

    References
    ----------
    .. [1] A. Cheu, A. Smith, J. Ullman, "Manipulation attacks in local differential privacy", IEEE Symposium on
       Security and Privacy 2021, 883-900.

    Examples
    --------
    Two fair coins, 1 % of fakes: 0.01 / (3/4 - 1/4); noise over a range of eleven numbers at epsilon 1 leaves a
    share of one number to whoever sends 1 % of the reports:

    >>> from deniable import Geometric, TwoCoin
    >>> fake_margins(TwoCoin("1/2", "1/2"))
    (0.02, 0.02)
    >>> round(max(fake_margins(Geometric.from_epsilon(0, 10, 1))), 1)
    3.0
    """
    design = design_of(design)
    if design.support is not None:
        return tuple(_margin(support, fraction) for support in design.support)
    return tuple(fraction * float(each) for each in design.reach(design.debiasing.weights))


@lru_cache(maxsize=256)
def _margin(support: Support, fraction: float) -> float:
    return float(rational(fraction, "fraction") / abs(support.slope))
