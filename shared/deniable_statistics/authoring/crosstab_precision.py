"""The precision of crossing two questions: the variance of one cell of their crosstab, before anybody is asked."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

from deniable.mechanisms import KAry, Mechanism
from deniable.mechanisms.k_ary import support_of_digits
from deniable.mechanisms.support import Support
from deniable.survey.patterns import Pattern, counted
from deniable_statistics.authoring.sample_size import noise_of_options


def joint_variance(one: Mechanism, other: Mechanism) -> float:
    """``n`` times the variance of the share of people who chose a given option in both of two questions.

    Notes
    -----
    The product of two independent unbiased scores is unbiased for the product of the indicators. For independent
    answers, each with a share of one half, its second moment is ``(1/2 + noise) (1/2 + noise)``, the noise of each
    question being that of its option with the most. The square of the mean, 1/16, is taken off.

    Examples
    --------
    Two fair coins each, noise 3/4: (1/2 + 3/4)^2 - 1/16

    >>> from deniable import TwoCoin
    >>> joint_variance(TwoCoin("1/2", "1/2"), TwoCoin("1/2", "1/2"))
    1.5
    """
    # E (s t)^2 = E s^2 E t^2 of independent answers, less the square of the share 1/2 x 1/2 = 1/4.
    return _second_moment(one) * _second_moment(other) - 1 / 16


def joint_variance_of_digits(joint: KAry, k: int) -> float:
    """``n`` times the variance of a cell of two questions of ``k`` options, in one response over patterns of several.

    Notes
    -----
    With ``a`` and ``b`` the probabilities that the reported pair is a given one if it is true, and if not, and with
    ``lam = b + (a - b) / 4``, it is ``lam (1 - lam) / (a - b)^2``.

    Examples
    --------
    Four patterns at epsilon 2: a = e^2 / (e^2 + 3) = .711 and b = .096, so lam = 1/4, and 3/16 / .615^2:

    >>> round(joint_variance_of_digits(KAry.from_epsilon(4, 2), 2), 3)
    0.496
    """
    return _variance_of_cell(support_of_digits(joint, k, digits=2))


def joint_variance_of_patterns(joint: KAry, patterns: Sequence[Pattern]) -> float:
    """The largest variance of a cell of two questions that share one response to the patterns that are possible.

    Of two answers ``m`` patterns hold, ``a = p + (m - 1) q`` and ``b = m q``.
    """
    p, q = joint.support[0]
    pairs = itertools.combinations(range(len(patterns[0])), 2)
    # The pair of answers that the most patterns hold, whose false reports are the most frequent.
    most = max(max(counted(patterns, *pair).values()) for pair in pairs)
    # As in `support_of_digits`: the true pattern, or one of the others that hold these answers too.
    return _variance_of_cell(Support(p + (most - 1) * q, most * q))


def _variance_of_cell(support: Support) -> float:
    if_true, if_other = support.floats
    slope = if_true - if_other
    # At a share of 1/4, that of two independent answers of one half.
    supported = if_other + slope / 4
    return supported * (1 - supported) / slope**2


def _second_moment(mechanism: Mechanism) -> float:
    # E s^2 = Var s + (E s)^2 at share 1/2: 1/4 of sampling, the noise of both halves, and 1/4.
    return 0.5 + max((if_true + if_other) / 2 for if_true, if_other in noise_of_options(mechanism))
