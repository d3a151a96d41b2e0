"""What matters of a survey in one sentence, and how what its author wants changes what people are asked."""

from __future__ import annotations

import math

import numpy as np
import pytest

from deniable import SurveyError, read_survey
from deniable.mechanisms import KAry, Warner
from deniable.survey.question_types import QUESTION_TYPES
from deniable_statistics.authoring.crosstab_precision import joint_variance, joint_variance_of_digits
from deniable_statistics.authoring.outlook import asked_of_each, crossing_widths, half_width, outlook
from deniable_statistics.authoring.sharing import Member, chosen_way, ways_to_share, why
from deniable_statistics.joint import Crosstab
from deniable_statistics.planning import NoiseModel
from tools.rig.survey_files import question_toml, survey_toml

YES_NO = Member(QUESTION_TYPES["yes-no"], range(2), None)


def eight(**keys: object) -> str:
    return survey_toml("T", *(question_toml(f"q{n}", "yes-no") for n in range(8)), epsilon=1, **keys)


def test_half_widths_are_those_of_plans() -> None:
    survey = read_survey(survey_toml("T", question_toml("q", "choice", options=list("abcd"), epsilon=1)))
    (question,) = survey.questions
    planned = max(each.at(0.5).half_width(400) for each in NoiseModel.options_of(question.mechanism))
    assert half_width(question, 400) == pytest.approx(planned, rel=1e-9)


def test_crossing_two_questions_is_as_precise_as_the_estimate_of_a_pair() -> None:
    """At the expected counts of independent halves, by the estimator that crosstabs use."""
    one, other = Warner.from_epsilon(1), Warner.from_epsilon(2)
    n = 1_000_000
    channels = [np.array([[1 - b, 1 - a], [b, a]]) for a, b in (each.support[1].floats for each in (one, other))]
    expected = n * channels[0] @ np.full((2, 2), 0.25) @ channels[1].T
    found = Crosstab.from_counts([one, other], expected.round().astype(int))
    error = found.std_error[1][1]
    assert joint_variance(one, other) == pytest.approx(n * error**2, rel=1e-3)


def test_the_pair_in_one_response_is_a_response_of_its_own() -> None:
    pair = NoiseModel.through(KAry.from_epsilon(4, 2)).variance(0.25)
    assert joint_variance_of_digits(KAry.from_epsilon(4, 2), 2) == pytest.approx(pair, rel=1e-6)


def test_one_question_a_person_is_a_wish_and_no_accident() -> None:
    by_default, shares, both = (
        read_survey(eight(**keys)) for keys in ({}, {"want": ["shares"]}, {"want": ["shares", "crosstabs"]})
    )
    assert "each person is asked two of the eight questions, and each cell of a cross-tabulation of two" in outlook(
        by_default
    )
    assert outlook(shares).endswith(
        "asked one of the eight questions, and no two questions can be cross-tabulated. To cross two questions, some "
        'people must be asked both: want = ["shares", "crosstabs"] lets each device ask at least two.'
    )
    assert "To cross" not in outlook(by_default)
    assert asked_of_each(both) == "each person is asked three of the eight questions"
    widths = [max(crossing_widths(survey, 1000).values()) for survey in (by_default, both)]
    assert widths == sorted(widths, reverse=True)
    for survey, group in ((by_default, "2 of 8 in one response"), (both, "3 of 8 in one response")):
        (unit,) = survey.units
        assert unit.group
        assert unit.group.why is not None
        assert unit.group.why.startswith(f"to cross two questions: {group}; fewest respondents for ±5 points: 1 of 8 ")


@pytest.mark.parametrize("epsilon", ["0.3", "1", "2", "4"])
@pytest.mark.parametrize("size", [2, 5, 8])
def test_by_default_crossing_costs_less_than_twice_the_respondents(size: int, epsilon: str) -> None:
    ways = ways_to_share([YES_NO] * size, epsilon)
    chosen, crossing = chosen_way(ways), chosen_way(ways, ["crosstabs"])
    assert chosen.respondents < 2 * ways[0].respondents
    assert chosen_way(ways, ["shares"]) is ways[0]
    assert crossing.crossing == min(each.crossing for each in ways if each.crosses and not each.is_refused)
    assert why(ways, chosen).count("fewest respondents") == 1


@pytest.mark.parametrize(
    ("keys", "sentence"),
    [
        ({"want": "shares"}, "survey: want must be a list like"),
        ({"want": []}, 'survey: want must be ["shares"] or ["shares", "crosstabs"]'),
        ({"want": ["means"]}, 'survey: want must be ["shares"] or ["shares", "crosstabs"]'),
        ({"want": ["crosstabs"], "draw": 1}, "draw = 1 asks one"),
    ],
)
def test_what_cannot_be_wanted_is_refused(keys: dict[str, object], sentence: str) -> None:
    with pytest.raises(SurveyError) as refused:
        read_survey(eight(**keys))
    assert sentence in str(refused.value)


def test_wishes_need_an_epsilon_that_is_shared() -> None:
    with pytest.raises(SurveyError, match="want: needs epsilon"):
        read_survey('want = ["shares"]\n' + survey_toml("T", question_toml("q", "yes-no", epsilon=1)))


@pytest.mark.parametrize(
    ("respondents", "said"),
    [
        (16, "shares cannot be estimated at all"),
        (1000, "shares near one half are estimated to within \u00b17 points"),
        (10**6, "\u00b10.2 points"),
    ],
)
def test_few_people_say_nothing_and_many_more(respondents: int, said: str) -> None:
    survey = read_survey(survey_toml("T", question_toml("q", "yes-no", epsilon=1)))
    sentence = outlook(survey, respondents)
    assert sentence.startswith(f"With {respondents:,} people, ")
    assert said in sentence
    width = 1.96 * math.sqrt(0.25 / math.tanh(0.5) ** 2 / respondents)
    assert half_width(survey.questions[0], respondents) == pytest.approx(width, rel=1e-3)


def test_means_are_known_to_a_part_of_their_range_and_never_crossed() -> None:
    asked = (question_toml("drinks", "number", lo=0, hi=40, epsilon=1), question_toml("q", "yes-no", epsilon=1))
    sentence = outlook(read_survey(survey_toml("T", *asked)))
    assert "% of their range, each person is asked both questions, and no two questions can be cross-" in sentence
    assert sentence.endswith("or a number as such a scale.")


def test_people_who_are_too_few_for_a_crosstab_are_told_how_many_it_takes() -> None:
    survey = read_survey(eight())
    sentence = outlook(survey, 60)
    assert "a cross-tabulation of two questions says nothing yet. To cross two questions and know each cell" in sentence
    people = int(sentence.partition("it takes ")[2].split()[0].replace(",", ""))
    least = [min(crossing_widths(survey, n).values()) for n in (people - 1, people)]
    assert least[0] > 0.1 >= least[1]
