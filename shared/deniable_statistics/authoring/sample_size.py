"""Sample size of a mechanism for a fixed precision, by which mechanisms and ways to share an epsilon are compared."""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import NormalDist

from deniable.mechanisms import Mechanism
from deniable.mechanisms.drawn_boxes import noise_of_drawn
from deniable.wire.space import DrawnBits

HALF_WIDTH = 0.05
"""Half width of the 95 % interval for which respondents are counted: 5 points of a share, or 5 % of a range."""

ON_AVERAGE = "on average over the options"
POINTS = "\u00b15 points"
POINTS_OF_A_HALF = f"{POINTS} at a share of one half"
PART_OF_RANGE = "\u00b15 % of the range"
PART_OF_RANGE_OF_HALF = f"{PART_OF_RANGE} if it applies to one half"


def people_needed(mechanism: Mechanism, *, wants_mean: bool, asked: float = 1.0) -> int:
    """Number of respondents for 95 % intervals of ``HALF_WIDTH``, if a part ``asked`` of them is asked.

    For shares it is the number at a share of one half, of the option with the most noise; for a mean, that of a mean if
    all answers are equally frequent. `choose` compares mechanisms by another number, the average over all options,
    which is ``people(variance_if_even(mechanism, wants_mean=False))``.

    >>> from deniable import KAry
    >>> people_needed(KAry.from_epsilon(6, 1.5), wants_mean=False)
    2342
    """
    return people(planned_variance(mechanism, wants_mean=wants_mean) / asked)


def people(variance: float) -> int:
    """Number of respondents for `HALF_WIDTH`, if ``variance`` is ``n`` times the variance of the estimate."""
    # z sqrt(variance / n) <= half width, solved for n.
    return math.ceil(variance * (NormalDist().inv_cdf(0.975) / HALF_WIDTH) ** 2)


def planned_variance(mechanism: Mechanism, *, wants_mean: bool) -> float:
    """``n`` times the variance for which a survey is planned wherever a number of people or a half width is said.

    It is that of a share of one half, for the option with the most noise, or of a mean if all answers are equally
    frequent; the same as in `deniable_statistics.planning`, whose classes need numpy.
    """
    return variance_if_even(mechanism, wants_mean=True) if wants_mean else variance_at_half(mechanism)


def variance_if_even(mechanism: Mechanism, *, wants_mean: bool) -> float:
    """``n`` times the variance of the mean in a range of length 1, or of a share, if all answers are equally frequent.

    For shares it is averaged over the options. If an answer is one option and all options have the same noise, the
    average noise is the same for all shares, and the sampling variance is largest for equal ones.
    """
    if not wants_mean:
        share = _even_share(mechanism)
        # Sampling variance of a share plus the noise, averaged over the options.
        return share * (1 - share) + noise_if_even(mechanism) / mechanism.k
    if mechanism.has_others:
        from deniable_statistics.designs.of_mechanisms import HALF_APPLIES

        return variance_for(mechanism, HALF_APPLIES)
    possible = mechanism.answer_range
    # In a range of length 1, so that scales and numbers compare.
    return mean_variance(mechanism) / (possible[-1] - possible[0]) ** 2


def variance_at_half(mechanism: Mechanism) -> float:
    """``n`` times the variance of the share of an option at a share of one half, for the option with the most noise.

    >>> from deniable import TwoCoin
    >>> variance_at_half(TwoCoin("1/2", "1/2"))               # 1/4 of sampling, 3/4 of noise
    1.0
    """
    # Each half of the people adds its own noise: f noise_if_true + (1 - f) noise_if_other at f = 1/2.
    return 0.25 + max((if_true + if_other) / 2 for if_true, if_other in noise_of_options(mechanism))


def noise_if_even(mechanism: Mechanism) -> float:
    """``n`` times what noise adds to the variances of all shares together, if all answers are equally frequent."""
    share = _even_share(mechanism)
    return math.fsum(share * if_true + (1 - share) * if_other for if_true, if_other in noise_of_options(mechanism))


def _even_share(mechanism: Mechanism) -> float:
    """The share of an option if all answers are equally frequent; for a box one half."""
    return 0.5 if "ticks" in mechanism.question_types else 1 / mechanism.k


def noise_of_options(mechanism: Mechanism) -> Sequence[tuple[float, float]]:
    """The noise variance of each share, as in `Design.noise`; for a mechanism with supports without numpy."""
    if mechanism.support is None:
        from deniable_statistics.designs.of_mechanisms import design_of

        return design_of(mechanism).noise
    if isinstance(mechanism.reports, DrawnBits):
        each = noise_of_drawn(mechanism.reports.k, mechanism.reports.drawn, mechanism.support[0])
        # The same for a ticked and a clear box, by the symmetry of the response.
        return ((each, each),) * mechanism.k
    return [each.noise for each in mechanism.support]


def variance_for(mechanism: Mechanism, applying: float) -> float:
    """``n`` times the variance of a mean, in a range of length 1, among a share ``applying`` of all people.

    All numbers are equally frequent among them. Needs numpy.
    """
    from deniable_statistics.designs.of_mechanisms import design_of
    from deniable_statistics.estimates.mean_among import mean_variance_among

    design = design_of(mechanism)
    return mean_variance_among(design, design.answer_values, design.shares_of_some(applying)[:-1])


def mean_variance(mechanism: Mechanism) -> float:
    """``n`` times the variance of the estimated mean, if all answers are equally frequent; needs numpy."""
    import numpy as np

    from deniable_statistics.designs.of_mechanisms import design_of

    design = design_of(mechanism)
    weights, _ = design.mean_weights(tuple(design.answer_values))
    # The variance of one report's score, at the mixture that equally frequent answers make.
    return float(design.score_covariance(np.array([weights]), design.expected_if_even)[0, 0])
