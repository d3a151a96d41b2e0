"""Kish's effective number of weighted reports."""

from __future__ import annotations

import math

import pytest

from deniable import ParameterError
from deniable_statistics.sampling.weights import kish


def test_kish_counts_equal_weights_once_and_scales_nothing() -> None:
    assert kish([3.0] * 50) == pytest.approx(50)
    assert kish([1, 1, 2]) == kish([1e200, 1e200, 2e200]) == pytest.approx(16 / 6)
    assert kish([5, 0, 0]) == 1
    assert kish([0, 0]) == kish([]) == 0
    for weights in ([1, -1], [1, math.inf], [1, math.nan]):
        with pytest.raises(ParameterError, match="weights: must be finite and not negative"):
            kish(weights)
