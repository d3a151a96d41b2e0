"""The published joint distribution of two values of one group, which its draw makes dependent."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from deniable.mechanisms.k_ary import support_of_digits
from deniable.survey.group import Group
from deniable.survey.patterns import Pattern
from deniable_client.audit.evidence import Floats

Codes = NDArray[np.int64]


def pair_probabilities(
    group: Group,
    first: Floats,
    second: Floats,
    first_options: Codes,
    second_options: Codes,
    held: Mapping[Pattern, int] | None = None,
) -> Floats:
    """Probabilities of each pair of values of two questions of a group, under each pair of answers.

    Parameters
    ----------
    group : Group
    first, second : ndarray, shapes (n, k) and (m, l)
        For both questions the probability of each value under each answer, where the question is asked.
    first_options, second_options : ndarray of int, shapes (n,) and (m,)
        These answers, as mechanisms take them.
    held : mapping of pair of int to int, optional
        How many patterns hold each pair of values, where the group has one response to possible patterns.

    Returns
    -------
    ndarray, shape (n, m, k + 1, l + 1)
        The last value of each question is that it was not asked; without it, (n, m, k, l), where all are asked.
    """
    if held is not None and group.joint is not None:
        kept, other = group.joint.support[0].floats
        counts = [[held.get((v, w), 0) for w in range(second.shape[1])] for v in range(first.shape[1])]
        return other * np.array(counts) + (kept - other) * _is_true(first, second, first_options, second_options)
    if not group.is_drawn:
        return _asked_pairs(group, first, second, first_options, second_options)
    (n, k), (m, values) = first.shape, second.shape
    asked = group.draw / group.size
    # Draws of s of k questions: one given question with s / k, two with s (s - 1) / (k (k - 1)).
    both = asked * (group.draw - 1) / (group.size - 1)
    p = np.zeros((n, m, k + 1, values + 1))
    p[:, :, :-1, :-1] = both * _asked_pairs(group, first, second, first_options, second_options)
    p[:, :, :-1, -1] = (asked - both) * first[:, None, :]
    p[:, :, -1, :-1] = (asked - both) * second[None, :, :]
    p[:, :, -1, -1] = 1 - 2 * asked + both
    return p


def _asked_pairs(group: Group, first: Floats, second: Floats, first_options: Codes, second_options: Codes) -> Floats:
    """Probabilities of the pairs of values where both questions are asked, shape (n, m, k, l)."""
    if group.joint is None or group.draw < 2:
        product: Floats = first[:, None, :, None] * second[None, :, None, :]
        return product
    k = first.shape[1]
    as_true, other = support_of_digits(group.joint, k, 2).floats
    is_true = _is_true(first, second, first_options, second_options)
    # The true pair of values has one probability under the joint response, every other pair another one.
    pairs: Floats = other + is_true * (as_true - other)
    return pairs


def _is_true(first: Floats, second: Floats, first_options: Codes, second_options: Codes) -> Floats:
    """1 for the pair of values that is the pair of answers, otherwise 0; shape (n, m, k, l)."""
    one, other = np.eye(first.shape[1])[first_options], np.eye(second.shape[1])[second_options]
    both: Floats = one[:, None, :, None] * other[None, :, None, :]
    return both
