"""What somebody can learn of an answer, whatever that one believed before: exact posteriors against the sentences."""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction

import pytest

from deniable import (
    DiscreteLaplace,
    DrawnBoxes,
    Exponential,
    FilteredPiecewise,
    ForcedResponse,
    Geometric,
    KAry,
    Longitudinal,
    Mechanism,
    OneBitMean,
    Piecewise,
    Question,
    Subset,
    Survey,
    TickBoxes,
    TwoCoin,
    Warner,
    whole_odds_sentences,
)
from deniable.exact import factor_above, right_of_100
from deniable.mechanisms import MECHANISMS, UnequalKAry
from deniable.privacy.odds import plainest
from deniable.survey.condition import among
from deniable.survey.group import Group
from deniable_statistics.designs.of_mechanisms import design_of
from tests.support.drawn_questions import answers_of, joint_survey, published_output, shared_survey

Row = list[Fraction]
"""Of one set of true answers: how likely each report is."""

EPSILONS = ("0.1", "1", "3.9", "8")
EXTREMES = (
    Fraction(1, 10**9),
    Fraction(1, 1000),
    Fraction(1, 10),
    Fraction(1, 2),
    Fraction(9, 10),
    1 - Fraction(1, 10**6),
)


def rows_of(mechanism: Mechanism) -> list[Row]:
    """The whole channel, a row for each answer, from the published integers and the definition alone."""
    if isinstance(mechanism, Longitudinal):  # endlessly many waves tell the permanent value
        return rows_of(mechanism.permanent_response)
    if isinstance(mechanism, Subset):
        sets = list(itertools.combinations(range(mechanism.k), mechanism.w))
        weights = [[mechanism.inside if answer in each else 2**32 for each in sets] for answer in range(mechanism.k)]
        return [[Fraction(each, sum(row)) for each in row] for row in weights]
    if isinstance(mechanism, TickBoxes):
        patterns = list(itertools.product((0, 1), repeat=mechanism.k))
        right, wrong = Fraction(mechanism.keep, 2**32), Fraction(2**32 - mechanism.keep, 2**32)
        return [
            [
                math.prod((right if a == b else wrong for a, b in zip(x, y, strict=True)), start=Fraction(1))
                for y in patterns
            ]
            for x in patterns
        ]
    if isinstance(mechanism, DrawnBoxes):
        inner = rows_of(KAry(2**mechanism.s, mechanism.keep))
        sets = list(itertools.combinations(range(mechanism.k), mechanism.s))
        return [
            [each / len(sets) for drawn in sets for each in inner[int("".join(str(x[box]) for box in drawn), 2)]]
            for x in itertools.product((0, 1), repeat=mechanism.k)
        ]
    return [list(row) for row in zip(*design_of(mechanism).channel_matrix, strict=True)]


def survey_of(*mechanisms: Mechanism) -> Survey:
    """A question for each mechanism; its type does not matter to what is tested here."""
    kinds = {"yes-no": ("no", "yes"), "choice": None, "ticks": None}
    questions = []
    if any(isinstance(each, FilteredPiecewise) for each in mechanisms):
        questions.append(Question("q", "yes-no", "Q?", ("no", "yes"), Warner.from_epsilon("0.001")))
    for n, each in enumerate(mechanisms):
        if isinstance(each, FilteredPiecewise):
            asked_if = among("q", [(1, 1)], range(2))
            questions.append(Question(f"q{n}", "number", "Q?", (), each, ask_if=asked_if))
            continue
        kind = each.question_types[0]
        options = kinds.get(kind) or tuple(map(str, range(len(each.answer_range)))) if kind != "number" else ()
        goal = "shares" if kind == "scale" else None
        questions.append(Question(f"q{n}", kind, "Q?", options, each, goal=goal))
    return Survey("T", tuple(questions))


def together(*units: Sequence[Row]) -> list[Row]:
    """Of units that answer independently of each other given the answers: a row for each set of answers."""
    return [
        [math.prod(each, start=Fraction(1)) for each in itertools.product(*rows)] for rows in itertools.product(*units)
    ]


def largest(rows: Sequence[Row]) -> tuple[Fraction, Row, Row]:
    """The largest ratio of the probabilities of a report under two sets of answers, and those sets."""
    ratio, more, less = Fraction(1), rows[0], rows[0]
    for column in zip(*rows, strict=True):
        one, other = max(column), min(column)
        if one / other > ratio:
            ratio = one / other
            more, less = rows[column.index(one)], rows[column.index(other)]
    return ratio, more, less


def said_of(survey: Survey) -> tuple[Fraction, Fraction, Fraction, Fraction]:
    """As people read them: the factor; of 100, right guesses at even odds, and what 10 and 90 chances become."""
    figures = [re.findall(r"[0-9.]*[0-9]", sentence) for sentence in whole_odds_sentences(survey)]
    (right, of), (ten, of_ten, suspected, ninety, sure), (factor,) = figures
    assert (of, ten, of_ten, ninety) == ("100", "10", "100", "90")
    return Fraction(factor), Fraction(right), Fraction(suspected), Fraction(sure)


def weights_of(epsilon: float) -> tuple[int, ...]:
    """Weights of two options of which one is twice as likely as the other where it is not the truth: ln(1 + t / g)."""
    least = math.ceil(2**32 / (math.exp(epsilon) + 2))
    return least, 2 * least


MADE: list[Callable[[str], Mechanism]] = [
    Warner.from_epsilon,
    lambda epsilon: TwoCoin(Fraction(math.tanh(float(epsilon) / 2)), "1/2"),
    lambda epsilon: KAry.from_epsilon(5, epsilon),
    lambda epsilon: ForcedResponse(Fraction(math.tanh(float(epsilon) / 4)), ("0.2", "0.3", "0.5")),
    lambda epsilon: Subset.from_epsilon(6, 2, epsilon),
    lambda epsilon: TickBoxes.from_epsilon(3, epsilon),
    lambda epsilon: DrawnBoxes.from_epsilon(4, epsilon, 2),
    lambda epsilon: Geometric.from_epsilon(0, 10, epsilon),
    lambda epsilon: DiscreteLaplace.from_epsilon(0, 6, epsilon),
    lambda epsilon: Exponential.for_answers(range(5), epsilon),
    lambda epsilon: OneBitMean.from_epsilon(0, 10, epsilon),
    lambda epsilon: Piecewise.from_epsilon(0, 10, epsilon),
    lambda epsilon: FilteredPiecewise.from_epsilon(0, 10, epsilon),
    lambda epsilon: Longitudinal.from_epsilon(2, epsilon, Fraction(epsilon) / 2),
    lambda epsilon: UnequalKAry(weights_of(float(epsilon))),
]


def check_priors(rows: Sequence[Row], survey: Survey) -> None:
    """No posterior passes what people read; the worst prior reaches it within its rounding."""
    factor, right, suspected, sure = said_of(survey)
    ratio, more, less = largest(rows)
    assert survey.likelihood_ratio == ratio
    assert ratio <= factor
    assert factor - ratio < (Fraction(1, 10) if factor < 10 else 1)
    worst = Fraction(1 / (1 + math.sqrt(ratio)))
    for prior in (*EXTREMES, worst, worst / 2, (1 + worst) / 2):
        for one, other in zip(more, less, strict=True):
            for a, b in ((one, other), (other, one)):
                after = prior * a / (prior * a + (1 - prior) * b)
                assert after / (1 - after) <= factor * prior / (1 - prior)
    # At even odds the best guess is right as often as people read, and never less often than without a reply.
    best = max(max(one, other) / (one + other) for one, other in zip(more, less, strict=True))
    assert right - 1 < 100 * best <= right
    assert right >= 50
    # What 10 and 90 chances in 100 become, after the report that speaks most for an answer, is what people read.
    most = max(max(a / (a + 9 * b), b / (b + 9 * a)) for a, b in zip(more, less, strict=True))
    assert suspected - 1 < 100 * most <= suspected
    surest = max(max(9 * a / (9 * a + b), 9 * b / (9 * b + a)) for a, b in zip(more, less, strict=True))
    assert sure - 1 < 100 * surest <= sure
    # Somebody who holds any number of the answers to be possible: what counts for each is all that is not it.
    sums = [sum(column, Fraction(0)) for column in zip(*rows, strict=True)]
    for prior in (EXTREMES[2], worst):
        for row in rows:
            for one, every in zip(row, sums, strict=True):
                other = (every - one) / (len(rows) - 1)
                after = prior * one / (prior * one + (1 - prior) * other)
                assert after / (1 - after) <= factor * prior / (1 - prior)


@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize("place", range(len(MADE)))
def test_no_prior_learns_more_of_a_question_than_people_read(place: int, epsilon: str) -> None:
    mechanism = MADE[place](epsilon)
    survey = survey_of(mechanism)
    check_priors(together(*(rows_of(each.mechanism) for each in survey.questions)), survey)


def test_every_mechanism_is_tried() -> None:
    assert {make("1").name for make in MADE} == set(MECHANISMS)


@pytest.mark.parametrize("epsilon", ["0.5", "1", "3.9"])
def test_no_prior_learns_more_of_a_whole_survey_than_people_read(epsilon: str) -> None:
    mechanisms = (Warner.from_epsilon(epsilon), KAry.from_epsilon(3, epsilon), TickBoxes.from_epsilon(2, epsilon))
    check_priors(together(*map(rows_of, mechanisms)), survey_of(*mechanisms))


@pytest.mark.parametrize("epsilon", ["0.5", "1.9", "3.9", "6"])
def test_no_prior_learns_more_of_one_response_to_several_questions_than_people_read(epsilon: str) -> None:
    survey = joint_survey(2, 4, 2, epsilon)
    outputs = [published_output(survey, answers) for answers in answers_of(survey)]
    check_priors([[output[report] for report in outputs[0]] for output in outputs], survey)


@pytest.mark.parametrize("draw", [1, 2, 3])
def test_no_prior_learns_more_of_a_draw_than_people_read(draw: int) -> None:
    group = Group("own", 3, draw)
    mechanisms = [Warner.from_epsilon("0.4"), KAry.from_epsilon(3, "1"), TwoCoin("1/2", "1/2")]
    survey = replace(
        survey_of(*mechanisms), questions=tuple(replace(q, group=group) for q in survey_of(*mechanisms).questions)
    )
    outputs = [published_output(survey, answers) for answers in answers_of(survey)]
    check_priors([[output[report] for report in outputs[0]] for output in outputs], survey)


def test_somebody_who_knows_that_few_say_yes_learns_no_more_than_people_read() -> None:
    """Who knows that 10 % say Yes is right 81 times of 100 about four answers, before anything is sent."""
    survey = survey_of(*(Warner.from_epsilon(epsilon) for epsilon in ("1", "1")))
    rows = together(*(rows_of(each.mechanism) for each in survey.questions))
    priors = [
        Fraction(9, 10) ** (2 - sum(answers)) * Fraction(1, 10) ** sum(answers)
        for answers in itertools.product((0, 1), repeat=2)
    ]
    right = sum((max(prior * row[n] for prior, row in zip(priors, rows, strict=True)) for n in range(4)), Fraction(0))
    factor, *_ = said_of(survey)
    assert right >= max(priors) == Fraction(81, 100)
    assert right / (1 - right) <= factor * max(priors) / (1 - max(priors))


STEPS = [Fraction(step, 10) for step in range(2, 81)]
GROWING: dict[str, Callable[[str], Survey]] = {
    "one question": lambda epsilon: survey_of(Warner.from_epsilon(epsilon)),
    "one of ten options": lambda epsilon: survey_of(KAry.from_epsilon(10, epsilon)),
    "boxes": lambda epsilon: survey_of(DrawnBoxes.from_epsilon(8, epsilon, 2)),
    "five drawn questions": lambda epsilon: shared_survey(5, float(epsilon)),
    "two of five": lambda epsilon: shared_survey(5, float(epsilon), 2),
    "three questions": lambda epsilon: survey_of(*(KAry.from_epsilon(3, Fraction(epsilon) / 3) for _ in range(3))),
}


@pytest.mark.parametrize("name", GROWING)
def test_what_people_read_grows_with_epsilon(name: str) -> None:
    said = [said_of(GROWING[name](str(float(epsilon)))) for epsilon in STEPS]
    factors = [factor for factor, *_ in said]
    for figures in zip(*said, strict=True):
        assert list(figures) == sorted(figures)
    assert factors[0] < 2
    assert factors[-1] > 1000
    for epsilon, factor in zip(STEPS, factors, strict=True):
        assert float(factor) <= math.exp(float(epsilon)) + (0.1 if factor < 10 else 1)


def test_five_drawn_questions_tell_more_at_a_larger_epsilon() -> None:
    assert [said_of(shared_survey(5, epsilon)) for epsilon in (1.9, 3.9, 6.0)] == [
        (Fraction("6.7"), 87, 43, 99),
        (50, 99, 85, Fraction("99.8")),
        (404, Fraction("99.8"), 98, 100),
    ]


def test_numbers_of_people_are_never_below_the_truth() -> None:
    for numerator in range(1001, 30_000, 37):
        ratio = Fraction(numerator, 1000)
        assert Fraction(factor_above(ratio)) >= ratio
        assert 0 <= right_of_100(ratio) - 100 * ratio / (1 + ratio) < 1
        assert 0 <= right_of_100(ratio, Fraction(1, 9)) - 100 * ratio / (9 + ratio) < 1
    assert factor_above(Fraction(3)) == "3"
    assert factor_above(Fraction(3) + Fraction(1, 10**30)) == "3.1"
    assert factor_above(Fraction(10) ** 9) == "1000000000"
    for power in range(10, 700, 7):
        shown = int(factor_above(Fraction(10) ** power + 1).removeprefix("10^"))
        assert power < shown <= power + 2
    assert plainest(survey_of(KAry.from_epsilon(10, "2"), Warner.from_epsilon("1")).questions).id == "q0"
