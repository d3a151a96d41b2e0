"""What is left of 300 people pairs no invitation with a report, and a matcher would notice if it did."""

from __future__ import annotations

import numpy as np
import pytest

from tools.torture import storage_linking


@pytest.mark.long
@pytest.mark.slow
def test_nobody_is_linked_to_a_report_and_planted_leaks_are_noticed() -> None:
    said = storage_linking.linking(short=True)
    assert said.count("pairings of 300") == 2
    for name in storage_linking.PLANTED:
        assert f"planted {name}: " in said
    assert "300 of 300 people are known by repeated blinding factor" in said


def test_pairings_are_judged_right() -> None:
    truth = np.random.default_rng(3).permutation(50)
    exact, nothing = np.zeros((50, 50)), np.zeros((50, 50))
    exact[np.arange(50), truth] = 1
    assert storage_linking.pairs_right(exact, truth) == 50
    assert storage_linking.pairs_right(nothing, truth) < 8
    left = np.random.default_rng(4).normal(size=50)
    right = np.empty(50)
    right[truth] = left
    assert storage_linking.pairs_in_order(left, right, truth) == 50
    assert storage_linking.pairs_in_order(left, -right, truth) < 8
    # A rank correlation of 1 is off by the root of n - 1.
    ranks = storage_linking.centred_ranks
    assert storage_linking.deviation(np.outer(ranks(left), ranks(right)), truth) == pytest.approx(7)
    assert storage_linking.deviation(nothing, truth) == 0


def test_jacobi_symbols_are_those_of_squares() -> None:
    for prime in (3, 5, 7, 11, 13, 101):
        squares = {each * each % prime for each in range(1, prime)}
        for each in range(prime):
            wanted = 0 if each == 0 else 1 if each in squares else -1
            assert storage_linking.jacobi(each, prime) == wanted
    assert storage_linking.jacobi(2, 15) == storage_linking.jacobi(2, 3) * storage_linking.jacobi(2, 5)
