"""Two boxes of one draw: their joint shares, correlation and independence."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from deniable import DrawnBoxes, ParameterError
from deniable_research.simulation.draw import words_of
from deniable_statistics.designs.of_mechanisms import design_of
from deniable_statistics.joint import DrawnPair, box_pair
from deniable_statistics.sampling import SimpleSample
from deniable_statistics.sampling.items import Item

BOXES = DrawnBoxes.from_epsilon(4, 4, 3)


def drawn_pair(
    shares: list[float], n: int, rng: np.random.Generator, weights: NDArray[np.float64] | None = None
) -> DrawnPair:
    cells = rng.choice(4, n, p=shares)
    answers = np.zeros((n, 4), dtype=np.uint8)
    answers[:, 1], answers[:, 3] = cells >> 1, cells & 1
    supports = BOXES.randomize_many(answers, words_of(rng)).astype(bool)
    return box_pair(
        Item("q", design_of(BOXES), supports, ("a", "b", "c", "d")),
        "b",
        "d",
        weights if weights is None else SimpleSample.of(weights),
    )


@pytest.mark.simulation
def test_shares_and_phi_are_unbiased_and_their_errors_true() -> None:
    rng = np.random.default_rng(4)
    shares = [0.5, 0.1, 0.15, 0.25]
    pairs = [drawn_pair(shares, 3000, rng) for _ in range(300)]
    found = np.array([pair.estimate.share for pair in pairs])
    errors = np.array([pair.estimate.std_error for pair in pairs]).mean(axis=0)
    # 300 rounds: means within 5.5 standard errors, standard deviations within 5.5 / sqrt(600); below 1e-6 together
    assert (np.abs(found.mean(axis=0) - shares) < 5.5 * errors / np.sqrt(300)).all()
    assert found.std(axis=0) == pytest.approx(errors, rel=5.5 / np.sqrt(600))
    phi = [pair.correlation() for pair in pairs]
    truth = (0.25 - 0.4 * 0.35) / np.sqrt(0.4 * 0.6 * 0.35 * 0.65)
    assert np.mean([each.correlation for each in phi]) == pytest.approx(truth, abs=0.01)
    assert np.std([each.correlation for each in phi]) == pytest.approx(
        np.mean([each.std_error for each in phi]), rel=0.23
    )


@pytest.mark.simulation
def test_independence_keeps_its_level_and_finds_what_there_is() -> None:
    rng = np.random.default_rng(5)
    alone = np.outer([0.6, 0.4], [0.65, 0.35]).ravel().tolist()
    p_values = np.array([drawn_pair(alone, 2000, rng).independence().p_value for _ in range(400)])
    # binomial of 400: 5.5 standard errors
    assert abs((p_values < 0.5).mean() - 0.5) < 5.5 * 0.5 / 20
    assert (p_values < 0.05).mean() < 0.05 + 5.5 * np.sqrt(0.05 * 0.95 / 400)
    assert drawn_pair([0.5, 0.1, 0.15, 0.25], 3000, rng).independence().p_value < 1e-6


def test_equal_weights_change_nothing_and_none_is_nobody() -> None:
    plain, weighted, nobody = (
        drawn_pair([0.25] * 4, 400, np.random.default_rng(6), weights)
        for weights in (None, np.full(400, 2.0), np.zeros(400))
    )
    assert weighted.estimate.share == pytest.approx(plain.estimate.share)
    assert weighted.estimate.std_error == pytest.approx(plain.estimate.std_error)
    assert weighted.correlation().correlation == pytest.approx(plain.correlation().correlation)
    assert np.isnan(nobody.estimate.share).all()
    assert np.isnan(nobody.independence().p_value)


def test_boxes_that_are_never_drawn_together_are_refused() -> None:
    one = DrawnBoxes.from_epsilon(3, 1, 1)
    item = Item.from_reports("q", one, ["010000", "000010"], ("a", "b", "c"))
    with pytest.raises(ParameterError, match=r"^q: boxes must be drawn two at a time or more"):
        box_pair(item, "a", "b")
