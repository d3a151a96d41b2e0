"""What candidates cost in respondents, beside the best known bound."""

from __future__ import annotations

import math

import pytest

from deniable import Question, TwoCoin, read_survey
from deniable.survey.respondents import respondents_needed

HEAD = 'title = "T"\n[[questions]]\nid = "q"\ntext = "Q?"\n'
OPTIONS = 'options = ["a", "b", "c", "d", "e", "f", "g", "h"]\n'


def question(body: str) -> Question:
    return read_survey(HEAD + body).questions[0]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("body", "best", "variance"),
    [
        ('type = "ticks"\nepsilon = 2\n' + OPTIONS, "drawn-boxes (2 of 8)", 2.6441),
        ('type = "ticks"\nepsilon = 2\ngoal = "together"\n' + OPTIONS, "drawn-boxes (2 of 8)", 2.6441),
        # the noise of the mean in [-1, 1] and the answers' own variance, a quarter of both in [0, 1]
        ('type = "number"\nlo = 0\nhi = 60\nepsilon = 1\n', "piecewise", (3.955 + 62 / 180) / 4),
        ('type = "scale"\nlo = 1\nhi = 5\nepsilon = 4\ngoal = "mean"\n', "k-ary", (0.0976 + 6 / 12) / 4),
    ],
)
def test_the_fewest_come_first_and_none_beat_the_bound(body: str, best: str, variance: float) -> None:
    *candidates, bound = respondents_needed(question(body))
    assert candidates[0].label == best
    assert candidates[0].respondents == pytest.approx(variance * (1.959964 / 0.05) ** 2, rel=0.003)
    assert [each.respondents for each in candidates] == sorted(each.respondents for each in candidates)
    assert bound.label is None
    # The linear program is solved to a tolerance; k-ary response is optimal for five levels at epsilon 4.
    assert bound.respondents <= 1.002 * candidates[0].respondents
    assert bound.respondents >= candidates[0].respondents / 1.45


def test_shares_of_a_choice_are_those_of_the_mechanism_itself() -> None:
    subset, k_ary = respondents_needed(question('type = "choice"\nepsilon = 1\n' + OPTIONS))
    assert subset.respondents < k_ary.respondents
    ratio = math.e
    p, q = ratio / (ratio + 7), 1 / (ratio + 7)
    lam = (p + q) / 2
    assert k_ary.respondents == pytest.approx(lam * (1 - lam) / (p - q) ** 2 * (1.959964 / 0.05) ** 2, rel=1e-3)


@pytest.mark.parametrize(
    "body",
    [
        'type = "yes-no"\nepsilon = 1\n',
        'type = "choice"\nepsilon = 2\nwave_epsilon = 1\nmechanism = "longitudinal"\n' + OPTIONS,
    ],
)
def test_where_there_is_no_other_candidate_nothing_is_compared(body: str) -> None:
    assert respondents_needed(question(body)) == ()
    assert respondents_needed(Question("q", "yes-no", "Q?", ("no", "yes"), TwoCoin("1/2", "1/2"))) == ()
