"""Every sentence before Start and on the receipt, held against the exact numbers of its survey."""

from __future__ import annotations

import functools
import itertools
import math
import re
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction

import pytest

from deniable import Survey, read_survey
from deniable.privacy.ceiling import weakness
from deniable.privacy.odds import plainest
from deniable_client.answer import messages, screens
from deniable_client.memory import Disclosure
from deniable_statistics.designs.of_mechanisms import design_of
from tests.support.marks import long
from tools.rig.access import unlinkable_survey
from tools.rig.survey_files import question_toml, survey_toml

EPSILONS = (0.1, 0.5, 1, 2, 4, 6)

TYPES: dict[str, dict[str, object]] = {
    "yes-no": {},
    "choice": {"options": ["a", "b", "c", "d"]},
    "ticks": {"options": ["a", "b", "c"]},
    "scale": {"lo": 1, "hi": 7},
    "rating": {"stars": 5, "goal": "mean"},
    "number": {"lo": 0, "hi": 100},
}

LARGEST = 4.0
"""The largest epsilon of a question that devices take; a survey of 6 asks two."""


@functools.cache
def survey_of(kind: str, epsilon: float, **keys: object) -> Survey:
    shares = [epsilon] if epsilon <= LARGEST else [epsilon / 2] * 2
    asked = [question_toml(f"q{n}", kind, f"Q{n}?", epsilon=each, **TYPES[kind]) for n, each in enumerate(shares)]
    return read_survey(survey_toml(f"{kind} at {epsilon}", *asked, **keys))


def drawn_of(kind: str, epsilon: float) -> Survey:
    asked = [question_toml(f"q{n}", kind, f"Q{n}?", **TYPES[kind]) for n in range(3)]
    return read_survey(survey_toml(f"Two of three, {kind} at {epsilon}", *asked, epsilon=min(epsilon, LARGEST), draw=1))


Made = Callable[[], Survey]

# Made when tested: choosing the mechanism of a number takes linear programs, and every worker collects all tests.
SURVEYS: dict[str, Made] = {
    **{
        f"{kind} at {epsilon}": functools.partial(survey_of, kind, epsilon)
        for kind, epsilon in itertools.product(TYPES, EPSILONS)
    },
    **{
        f"invited at {epsilon}": functools.partial(survey_of, "yes-no", epsilon, access="invited", results="closed")
        for epsilon in EPSILONS
    },
    **{f"live at {epsilon}": functools.partial(survey_of, "choice", epsilon, results="live") for epsilon in EPSILONS},
    **{
        f"two of three, {kind} at {epsilon}": functools.partial(drawn_of, kind, epsilon)
        for kind, epsilon in itertools.product(("yes-no", "choice"), EPSILONS)
    },
    "by blind token": lambda: replace(unlinkable_survey(), title="By blind token"),
}


def said_by(survey: Survey) -> str:
    card = screens.consent(survey, None, is_kiosk=False)
    more = [*screens.onlookers(survey, Disclosure()), *screens.odds(survey), *screens.invitation(survey)]
    return "\n".join([*card, *more])


SLOW = {f"number at {epsilon}" for epsilon in (0.5, 2, 4)}
"""Each takes a second of linear programs; those with the least, a middle and the largest epsilon are always made."""


@pytest.mark.parametrize(
    "make", [long(make, name=name) if name in SLOW else pytest.param(make, id=name) for name, make in SURVEYS.items()]
)
def test_each_sentence_is_true_of_the_survey_that_says_it(make: Made) -> None:
    survey = make()
    text = said_by(survey)
    receipt = "\n".join(screens.receipt(survey, "https://a.example", is_old=False))
    weak = weakness(survey)
    one = max((question.mechanism.likelihood_ratio for question in survey.questions), default=Fraction(1))
    whole = survey.likelihood_ratio
    strengths = (messages.UNSURE, messages.HINT, messages.WEAK)
    assert [sentence in text for sentence in strengths] == [weak == each for each in range(3)]
    # Nobody can be sure up to a factor of e for one answer and e^2 for all; a guess is never certain up to the squares.
    tolerance = 1 + 1e-6
    if weak == 0:
        assert one <= math.e * tolerance
        assert whole <= math.e**2 * tolerance
    if weak == 1:
        assert one <= math.e**2 * tolerance
        assert whole <= math.e**4 * tolerance
    if weak == 2:
        assert one > math.e**2 or whole > math.e**4 / tolerance
    assert (messages.WEAK_SENT in receipt) == (weak == 2)
    # A Yes is no proof where at least one in nine who would say No sends Yes.
    yes_no = [question for question in survey.questions if question.kind.is_yes_no]
    assert (messages.NO_ADMISSION in text) == (bool(yes_no) and weak < 2)
    assert (messages.CHANCE in receipt) == (bool(yes_no) and weak < 2)
    for question in yes_no if weak < 2 else ():
        channel = design_of(question.mechanism).channel_matrix
        assert min(channel[1][0], channel[0][1]) > Fraction(119, 1000)
    # Right guesses at even odds, the factor, and what 10 and 90 chances become are rounded up and no further.
    (right,) = re.findall(r"right at most ([\d.]+) times in 100", text)
    (factor,) = map(float, re.findall(r"with another, becomes at most (\d+(?:\.\d)?) times as believable", text))
    assert whole <= Fraction(factor).limit_denominator(10) < whole + 1
    chances = r"10 chances in 100 that you chose an answer become at most ([\d.]+), and 90 become at most ([\d.]+)\."
    ((ten, ninety),) = re.findall(chances, text)
    for said, odds in ((right, Fraction(1)), (ten, Fraction(1, 9)), (ninety, Fraction(9))):
        after = 100 * odds * whole / (1 + odds * whole)
        # Tenths are said above 99.
        assert 0 <= Fraction(said) - after < (Fraction(1, 10) if after > 99 else 1)
    least = plainest(survey.questions).mechanism.odds[0]
    assert least in text
    # What is asked, and of whom.
    picked = f"You will get {survey.asks} of {len(survey.questions)} questions, picked at random."
    assert picked in text if survey.is_drawn else f"{survey.asks} question" in text or "one question" in text
    assert (survey.asks == 1 and not survey.is_drawn) == ("You are asked one question" in text)
    assert ("You will get" in "\n".join(screens.consent(survey, None, is_kiosk=False))) == survey.is_drawn
    assert (messages.LIVE in text) == (survey.results == "live")
    sentences = {"open": messages.OPEN, "invited": messages.INVITED, "unlinkable": messages.UNLINKABLE}
    assert {access for access, sentence in sentences.items() if sentence in text} == {survey.access}
    texts = {"invited": messages.INVITED_TEXT, "unlinkable": messages.UNLINKABLE_TEXT}
    assert {access for access, sentence in texts.items() if sentence in text} == {survey.access} - {"open"}


@pytest.mark.parametrize("epsilons", [(0.1, 1, 6), long(EPSILONS)], ids=["three", "all"])
def test_what_a_guesser_reaches_grows_with_epsilon_and_begins_at_even_odds(epsilons: tuple[float, ...]) -> None:
    for kind in TYPES:
        said = [
            float(re.findall(r"right at most ([\d.]+)", said_by(survey_of(kind, epsilon)))[0]) for epsilon in epsilons
        ]
        assert said == sorted(said)
        assert 50 <= said[0] < said[-1] <= 100
