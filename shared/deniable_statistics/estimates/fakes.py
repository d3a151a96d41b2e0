"""How far fake reports can move an estimate, and checks of how many of them are assumed.

Intervals that hold in spite of them are in `deniable_statistics.estimates.assumed_fakes`.
"""

from __future__ import annotations

import math
from functools import lru_cache
from numbers import Real

from deniable.errors import ParameterError, check_kind, describe
from deniable.exact import rational
from deniable.mechanisms.support import Support
from deniable.wire.space import Count
from deniable_statistics.designs.of_mechanisms import AnyDesign, design_of

HIGHEST_FAKE = 0.5
"""Largest share of fake reports that may be assumed: an attacker with more than half of all decides the result."""


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
    """The largest number of fake reports; of weighted reports, a part of the sum of weights.

    >>> fakes_among(0.29, 100), fakes_among(0.05, 59), fakes_among(0.25, 10.5)
    (29, 2, 2.625)
    """
    exact = rational(check_fake_share(share), "assume_fake")  # of floats, .29 of 100 is less than 29
    return math.floor(exact * reports) if isinstance(reports, int) else float(exact) * float(reports)


def check_fakes(fakes: Count) -> Count:
    """Return a number of fake reports if it is a possible one.

    Raises
    ------
    ParameterError
        Unless it is a finite number of at least 0.
    """
    check_kind(fakes, Real, "fakes")
    if isinstance(fakes, bool) or not 0 <= fakes < math.inf:
        raise ParameterError(f"fakes: must be a number of at least 0, got {describe(fakes)}")
    return fakes


def fake_margins(design: AnyDesign, fraction: float = 0.01) -> tuple[float, ...]:
    """How far a given share of fake reports can move the estimate of each share.

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
    epsilon [1]_. Publish the margin beside the interval. Bounds and
    intervals of the share itself, whatever the fakes say, are in `deniable_statistics.robustness.misbehaviour`.

    References
    ----------
    .. [1] A. Cheu, A. Smith, J. Ullman, "Manipulation attacks in local differential privacy", IEEE Symposium on
       Security and Privacy 2021, 883-900.

    Examples
    --------
    Two fair coins, 1 % of fakes: 0.01 / (3/4 - 1/4); with noise over eleven numbers at epsilon 1, an attacker
    with 1 % of the reports decides the share of a number alone:

    >>> from deniable import Geometric, TwoCoin
    >>> fake_margins(TwoCoin("1/2", "1/2"))
    (0.02, 0.02)
    >>> round(max(fake_margins(Geometric.from_epsilon(0, 10, 1))), 1)
    3.0
    """
    design = design_of(design)
    if design.support is not None:
        return tuple(_margin(support, fraction) for support in design.support)
    # A fake moves the mean of the scores by the difference of two scores over n: at most the range of the scores.
    return tuple(fraction * float(each) for each in design.reach(design.debiasing.weights))


@lru_cache(maxsize=256)
def _margin(support: Support, fraction: float) -> float:
    return float(rational(fraction, "fraction") / abs(support.slope))
