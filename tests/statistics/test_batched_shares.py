"""Intervals of many options, and of many means, at once are those of each alone."""

from __future__ import annotations

import random

import numpy as np
import pytest

from deniable import KAry, Piecewise, Tally, TwoCoin, read_survey
from deniable import estimate as estimate_all
from deniable_statistics.estimates import means as estimates_of_means
from deniable_statistics.estimates.batched_means import intervals_of_means
from deniable_statistics.estimates.batched_shares import known_of_each
from deniable_statistics.estimates.estimate import Estimate
from deniable_statistics.estimates.means import MeanEstimate
from deniable_statistics.intervals import METHODS, profile, share_interval, share_intervals


@pytest.mark.parametrize("method", METHODS)
def test_options_together_have_the_intervals_of_each_alone(method: str) -> None:
    generator = random.Random(4)
    counted = [
        (generator.choice([0, n, generator.randrange(int(n) + 1), generator.random() * n]), n, (0.8, 0.3))
        for n in (1, 2, 7, 40, 300, 41.5, 2000) * 4
    ]
    for level in (0.6, 0.95, 0.9999):
        together = share_intervals(counted, level, method)
        for each, interval in zip(counted, together, strict=True):
            assert list(interval) == pytest.approx(list(share_interval(*each, level, method)), abs=1e-9)


@pytest.mark.parametrize("simultaneous", [False, True])
@pytest.mark.parametrize("method", ["default", "wald", "blaker"])
def test_estimates_together_have_what_each_has_itself(method: str, simultaneous: bool) -> None:
    coin, choice = TwoCoin("1/2", "1/2"), KAry.from_epsilon(5, 1)
    estimates: list[Estimate] = [
        coin.estimate([570, 430]),
        coin.estimate([0, 0]),
        coin.estimate([1, 0]),
        choice.estimate([900, 100, 50, 40, 10]),
        choice.estimate([9000, 1000, 500, 4000, 100]),
        coin.estimate([30, 70]).of_population(200),
    ]
    known = known_of_each(estimates, 0.95, method, simultaneous=simultaneous)
    is_known = [each is not None for each in known]
    assert is_known == [False] * 6 if method == "wald" else is_known[1] is is_known[5] is False
    for estimate, found in zip(estimates, known, strict=True):
        if found is not None:
            alone = estimate.confidence_interval(0.95, method, simultaneous=simultaneous)
            for one, other in zip(alone, found.intervals, strict=True):
                assert list(one) == pytest.approx(list(other), abs=1e-9)
            assert np.array(found.fits) == pytest.approx(np.array(estimate.consistency), rel=1e-9)


def test_means_together_have_the_intervals_of_each_alone() -> None:
    counts = [(3, 0, 1, 0, 0), (40, 30, 20, 10, 0), (400, 300, 250, 300, 410), (0, 0, 0, 0, 0), (9000, 10, 0, 8, 7000)]
    mechanism = Piecewise.from_epsilon(0, 10, epsilon=1)
    means = [MeanEstimate.from_counts(mechanism, each) for each in counts]
    together = intervals_of_means(means, 0.95, "default")
    assert [each is None for each in together] == [False, False, False, True, False], "nobody has no interval"
    for mean, found in zip(means, together, strict=True):
        if found is not None:
            assert list(found) == pytest.approx(list(mean.confidence_interval()), rel=1e-12)
    assert set(intervals_of_means(means, 0.95, "wald")) == {None}, "which is quick alone"


def test_means_of_all_cohorts_are_searched_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    survey = read_survey(
        'title = "T"\ncohorts = ["a", "b", "c"]\n'
        + "".join(
            f'[[questions]]\nid = "{name}"\ntype = "number"\ntext = "How many {name}?"\nlo = 0\nhi = 9\nepsilon = 1\n'
            for name in "qr"
        )
    )
    counts = (30, 25, 20, 15, 6, 4)
    tallies: dict[str | None, Tally] = {each: Tally(100, {"q": counts, "r": counts}) for each in survey.cohorts}
    searches = []
    known = profile.score_intervals

    def counted(*arguments: object) -> object:
        searches.append(len(arguments[1]))  # type: ignore[arg-type]
        return known(*arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(estimates_of_means, "score_intervals", counted)
    rows = estimate_all(tallies, survey, by_cohort=True)
    assert searches == [6]
    assert [(row.question, row.cohort) for row in rows] == [(name, each) for each in survey.cohorts for name in "qr"]
