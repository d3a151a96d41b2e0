"""The words for designs below a table, against the designs themselves."""

from __future__ import annotations

import inspect
import math

import pytest

from deniable.mechanisms import Warner
from deniable_statistics import classical
from deniable_statistics.classical import (
    cheater_detection,
    crosswise,
    disguised_response,
    forced_response,
    from_matrix,
    kuk,
    mangat,
    stochastic_lie_detector,
    triangular,
    unrelated_question,
    unrelated_question_unknown,
    warner,
)
from deniable_statistics.designs.design import Design
from deniable_statistics.designs.of_mechanisms import design_of
from deniable_statistics.intervals.methods import METHODS
from deniable_statistics.published.design_text import design_text, randomisation_text
from deniable_statistics.published.method_names import METHOD_NAMES
from deniable_statistics.published.works import INTERVALS, in_words

SAID: list[tuple[Design, str]] = [
    (design_of(Warner("3/4")), "Warner's randomised response with p = 0.75 of reporting the truth"),
    (warner("3/4"), "Warner's randomised response with p = 0.75 of reporting the truth"),
    (
        forced_response("2/3", ["1/4", "1/4", "1/2"]),
        "the truth with p = 0.6667 and otherwise one of the options with probabilities 0.25, 0.25 and 0.5",
    ),
    (unrelated_question("0.7", "0.5"), "p = 0.7 of the sensitive one, and a known share of 0.5 of yes"),
    (kuk("0.8", "0.2", 5), "a share of 0.8 of red cards for yes and 0.2 for no, and 5 drawn"),
    (mangat("0.7"), "p = 0.7 of a truthful no"),
    (crosswise("1/6"), "the crosswise model with p = 0.1667 of yes"),
    (triangular("1/6"), "the triangular model with p = 0.1667 of yes"),
    (disguised_response("0.8"), "a share of 0.8 of red cards in the stack of yes"),
    (from_matrix([["0.9", "0.2"], ["0.1", "0.8"]]), "known probabilities"),
    (unrelated_question_unknown("0.7", "0.3"), "p = 0.7 and 0.3 of the sensitive one in the two groups"),
    (
        cheater_detection(["1/4", "3/4"], ["1/8", "1/5"]),
        "p = 0.25 and 0.75 of a forced yes in the two groups, and 0.125 and 0.2 of a forced no",
    ),
    (stochastic_lie_detector("0.2", "0.8"), "p = 0.2 and 0.8 of a truthful no in the two groups"),
]


@pytest.mark.parametrize(("design", "said"), SAID, ids=lambda each: getattr(each, "name", ""))
def test_a_design_is_described_with_its_probabilities(design: Design, said: str) -> None:
    assert said in design_text(design)


def test_every_classical_design_has_words() -> None:
    made = {
        name for name, each in inspect.getmembers(classical.designs, inspect.isfunction) if name in classical.__all__
    }
    described = {design.name.partition("(")[0] for design, _ in SAID}
    assert made - {"from_mechanism", "from_matrix", "of_one_truth"} == described - {"channel"}


def test_epsilon_is_said_only_where_there_is_one() -> None:
    assert randomisation_text(warner("3/4"), None, math.log(3)).endswith(", epsilon = 1.099")
    assert "epsilon" not in randomisation_text(triangular("1/6"), None, math.inf)
    assert "(Warner 1965)" in randomisation_text(design_of(Warner("3/4")), None, 1.0, in_words)


def test_every_method_of_intervals_has_a_name() -> None:
    assert {*METHODS, *INTERVALS} <= METHOD_NAMES.keys()
