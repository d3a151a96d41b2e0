"""What a mechanism takes in respondents: the one figure by which mechanisms and ways to share an epsilon are chosen."""

from __future__ import annotations

import math
from statistics import NormalDist

from deniable.mechanisms import Mechanism

HALF_WIDTH = 0.05
"""Half width of the 95 % interval that respondents are counted for: 5 points of a share, or 5 % of a range."""

POINTS = "\u00b15 points on average over the options"
POINTS_OF_A_BOX = "\u00b15 points at a share of one half"
PART_OF_RANGE = "\u00b15 % of the range"


def people_needed(mechanism: Mechanism, *, wants_mean: bool, asked: float = 1.0) -> int:
    """Respondents for that half width of the mean, or of the shares, if this part of them is asked."""
    return people(variance_if_even(mechanism, wants_mean=wants_mean) / asked)


def people(variance: float) -> int:
    """Respondents for that half width, if ``n`` times the variance of what is wanted is this."""
    return math.ceil(variance * (NormalDist().inv_cdf(0.975) / HALF_WIDTH) ** 2)


def variance_if_even(mechanism: Mechanism, *, wants_mean: bool) -> float:
    """``n`` times the variance of the mean in a range of length 1, or of a share, if all answers are equally frequent.

    Of the shares it is the mean over all options. Where an answer is one option and all have the same noise, what noise
    adds to it is the same whatever the shares are, and what chance adds in who answers is largest here.
    """
    if not wants_mean:
        return mechanism.share_variance_if_even
    possible = mechanism.answer_range
    return mean_variance(mechanism) / (possible[-1] - possible[0]) ** 2


def mean_variance(mechanism: Mechanism) -> float:
    """``n`` times the variance of the estimated mean of a population that is uniform over the answers."""
    import numpy as np

    weights, _ = mechanism.mean_weights(tuple(mechanism.answer_values))
    return float(mechanism.score_covariance(np.array([weights]), mechanism.expected_if_even)[0, 0])
