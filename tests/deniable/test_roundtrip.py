"""Properties over many surveys: what is published reads back to itself, and reports fit their survey."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deniable import DeniableError, Question, Report, Survey, SurveyError, mechanisms, parse_report, parse_survey
from deniable.mechanisms import Mechanism, OneOfK
from deniable.survey.completion import Completion
from deniable.survey.look import Logo, Look
from deniable.survey.question_types import YES_NO
from deniable.survey.texts import MAX_LABEL, check_text
from deniable_client import randomize
from tools.rig.presented import IMAGES, image_bytes


def is_readable(text: str) -> bool:
    """Whether a survey takes a text: it shows something, and every code point is a character."""
    try:
        check_text(text, "text", MAX_LABEL)
    except SurveyError:
        return False
    return True


texts = st.text(st.characters(exclude_categories=("Cc", "Cs")) | st.just("\n"), min_size=1, max_size=40).filter(
    is_readable
)
shares = st.fractions(min_value="1/50", max_value="49/50", max_denominator=1000)
epsilons = st.decimals(min_value="0.05", max_value=8, places=3)
days = st.dates()


def labels(least: int = 2, most: int = 12) -> st.SearchStrategy[tuple[str, ...]]:
    return st.lists(texts, min_size=least, max_size=most, unique=True).map(tuple)


link_ends = st.text("abcXYZ019._~:/?#[]@!$&'()*+,;=-", max_size=30).map(lambda text: f"https://panel.example/{text}")
completions = st.builds(
    Completion, st.none() | texts, st.none() | link_ends, st.from_regex(r"\A[A-Za-z0-9_-]{1,64}\Z")
) | st.builds(
    Completion, st.none() | texts, link_ends.map(lambda link: link + "{code}"), code_length=st.integers(6, 20)
)
sides = st.integers(1, 1000)
logos = st.builds(Logo, st.builds(image_bytes, st.sampled_from(IMAGES), sides, sides), texts)
colours = st.from_regex(r"\A#[0-9a-f]{6}\Z")
looks = st.builds(Look, colours, colours, st.none() | logos) | logos.map(lambda logo: Look(logo=logo))


def forced_response(truth: Fraction, weights: Sequence[int]) -> Mechanism:
    return mechanisms.ForcedResponse(truth, [f"{weight}/{sum(weights)}" for weight in weights])


@st.composite
def questions(draw: Any, number: int) -> Question:
    kind = draw(st.sampled_from(["yes-no", "choice", "ticks", "scale", "number"]))
    epsilon = draw(epsilons)
    goal = None
    mechanism: Mechanism
    options: tuple[str, ...]
    made: list[Callable[[], Mechanism]]
    if kind == "yes-no":
        options = YES_NO
        made = [
            lambda: mechanisms.Warner.from_epsilon(epsilon),
            lambda: mechanisms.TwoCoin(draw(shares), draw(shares)),
            lambda: mechanisms.Longitudinal.from_epsilon(2, epsilon, epsilon / 2),
        ]
    elif kind == "choice":
        options = draw(labels())
        k = len(options)
        made = [
            lambda: mechanisms.KAry.from_epsilon(k, epsilon),
            lambda: mechanisms.Subset.from_epsilon(k, draw(st.integers(1, k - 1)), epsilon),
            lambda: forced_response(draw(shares), draw(st.lists(st.integers(1, 9), min_size=k, max_size=k))),
            lambda: mechanisms.Longitudinal.from_epsilon(k, epsilon, epsilon * 3 / 4),
        ]
    elif kind == "ticks":
        options = draw(labels())
        made = [lambda: mechanisms.TickBoxes.from_epsilon(len(options), epsilon)]
    elif kind == "scale":
        lo, k = draw(st.integers(-1000, 1000)), draw(st.integers(2, 8))
        options = tuple(str(lo + step) for step in range(k))
        goal = draw(st.sampled_from(["shares", "mean"]))
        distance = [[-abs(x - r) for r in range(k)] for x in range(k)]
        made = [
            lambda: mechanisms.KAry.from_epsilon(k, epsilon),
            lambda: mechanisms.Geometric.from_epsilon(0, k - 1, epsilon),
            lambda: mechanisms.Exponential.calibrated(distance, epsilon),
            lambda: mechanisms.OneBitMean.from_epsilon(0, k - 1, epsilon),
        ]
    else:
        options = ()
        lo, hi = draw(st.integers(-1000, 1000)), draw(st.integers(1, 12))
        made = [
            lambda: mechanisms.OneBitMean.from_epsilon(lo, lo + hi, epsilon),
            lambda: mechanisms.Geometric.from_epsilon(lo, lo + hi, epsilon),
            lambda: mechanisms.DiscreteLaplace.from_epsilon(lo, lo + hi, epsilon, tail="1/10"),
        ]
    mechanism = draw(st.sampled_from(made))()
    why = draw(st.none() | texts)
    return Question(f"q{number}", kind, draw(texts), options, mechanism, goal, why)


@st.composite
def surveys(draw: Any) -> Survey:
    opens, closes = draw(st.none() | days), draw(st.none() | days)
    if opens and closes and closes < opens:
        opens, closes = closes, opens
    return Survey(
        title=draw(texts),
        questions=tuple(draw(questions(number)) for number in range(draw(st.integers(1, 3)))),
        opens=opens,
        closes=closes,
        cohorts=draw(labels(0, 3)),
        organiser=draw(st.none() | texts),
        about=draw(st.none() | texts),
        contact=draw(st.none() | texts),
        layout=draw(st.sampled_from(["steps", "page"])),
        thanks=draw(st.none() | texts),
        completion=draw(st.none() | completions),
        look=draw(st.none() | looks),
    )


def some_answer(question: Question, number: int) -> Any:
    if question.type == "ticks":
        return [option for place, option in enumerate(question.options) if number >> place & 1]
    if question.type == "number":
        assert isinstance(question.mechanism, OneOfK)
        return question.mechanism.answer_range[number % len(question.mechanism.answer_range)]
    return question.options[number % len(question.options)]


def check_identity(survey: Survey) -> None:
    again = parse_survey(survey.document, survey.id)
    assert again == survey
    assert again.document == survey.document
    assert again.id == survey.id
    assert hash(again) == hash(survey)


@pytest.mark.fuzz
@settings(max_examples=50, deadline=None, derandomize=True)
@given(surveys())
def test_published_parsed_published_is_the_identity(survey: Survey) -> None:
    check_identity(survey)


@pytest.mark.long
@settings(max_examples=400, deadline=None, derandomize=True)
@given(surveys())
def test_published_parsed_published_is_the_identity_of_many(survey: Survey) -> None:
    check_identity(survey)


def check_report(survey: Survey, number: int, data: Any) -> None:
    cohort = data.draw(st.sampled_from([None, *survey.cohorts]))
    answers = {question.id: some_answer(question, number) for question in survey.questions}
    report = randomize(survey, answers, cohort)
    assert parse_report(report.encode(), survey) == report


@pytest.mark.fuzz
@settings(max_examples=50, deadline=None, derandomize=True)
@given(surveys(), st.integers(0, 2**12), st.data())
def test_every_report_of_the_device_fits_and_reads_back(survey: Survey, number: int, data: Any) -> None:
    check_report(survey, number, data)


@pytest.mark.long
@settings(max_examples=400, deadline=None, derandomize=True)
@given(surveys(), st.integers(0, 2**12), st.data())
def test_every_report_of_many_devices_fits_and_reads_back(survey: Survey, number: int, data: Any) -> None:
    check_report(survey, number, data)


@pytest.mark.fuzz
@settings(max_examples=300, deadline=None, derandomize=True)
@given(st.binary(max_size=60), st.integers(0, 400), st.integers(0, 3))
def test_damaged_surveys_and_reports_are_refused_as_such(noise: bytes, place: int, how: int) -> None:
    survey = Survey("T", (Question("q", "yes-no", "Q?", YES_NO, mechanisms.Warner.from_epsilon(1)),))
    for raw, parse in (
        (survey.document, parse_survey),
        (Report("00" * 16, None, {"q": 1}).encode(), lambda raw: parse_report(raw, survey)),
    ):
        at = place % len(raw)
        damaged = [raw[:at] + noise + raw[at:], raw[:at], raw[:at] + noise, noise][how]
        try:
            parse(damaged)
        except DeniableError:
            continue
        # Spaces between, and another id, make a report all the same.
        assert b"".join(damaged.split())[40:] == raw[40:]


def test_question_of_another_shape_is_refused() -> None:
    with pytest.raises(DeniableError, match="a number has no options"):
        Question("q", "number", "Q?", ("1",), mechanisms.OneBitMean.from_epsilon(0, 5, 1))
