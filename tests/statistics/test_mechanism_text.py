"""What a paragraph of methods says of each mechanism, against the mechanism itself."""

from __future__ import annotations

import inspect
from pathlib import Path

import pytest

from deniable import Survey, read_survey
from deniable.mechanisms import (
    MECHANISMS,
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
    Subset,
    TickBoxes,
    TwoCoin,
    UnequalKAry,
    Warner,
)
from deniable_statistics.published.mechanism_text import WORKS, mechanism_text, question_text, works_of
from deniable_statistics.published.works import INTERVALS, NGUYEN, OF_ANALYSES, Work

DISTANCE = [[-abs(x - r) for r in range(3)] for x in range(3)]

# By hand: e / (1 + e) = 0.7311, e / (3 + e) = 0.4754, exp(-1 / 10) = 0.9048, exp(-1 / 4) = 0.7788.
SAID: list[tuple[Mechanism, str]] = [
    (TwoCoin("1/2", "1/4"), "two coins (Boruch 1971), the truth with p = 0.5 and otherwise yes with probability 0.25"),
    (Warner("3/4"), "Warner's randomised response (Warner 1965) with p = 0.75 of reporting the truth"),
    (Warner.from_epsilon(1), "with p = 0.7311 of"),
    (
        ForcedResponse("3/4", ["1/4", "1/4", "1/2"]),
        "(Boruch 1971), the truth with p = 0.75 and otherwise one of the options with probabilities 0.25 (2 times) "
        "and 0.5",
    ),
    (
        KAry.from_epsilon(4, 1),
        "(Kairouz, Oh and Viswanath 2016) with k = 4 options and p = 0.4754 of reporting the truth",
    ),
    (Subset.from_epsilon(4, 2, 1), "reports w = 2 of k = 4 options, the true one among them with p = 0.7311 and"),
    (
        TickBoxes.from_epsilon(2, 2),
        "RAPPOR (Erlingsson, Pihur and Korolova 2014) with k = 2 boxes, each reported as it is with p = 0.7311",
    ),
    (
        DrawnBoxes.from_epsilon(8, 1, s=2),
        "k-ary response to s = 2 of k = 8 boxes that are drawn by chance (Kairouz, Oh and Viswanath 2016; Nguyen "
        "et al. 2016), with p = 0.4754 of reporting all of these as they are",
    ),
    (
        Geometric.from_epsilon(0, 10, 1),
        "(Ghosh, Roughgarden and Sundararajan 2012) on the whole numbers from 0 to 10, with two-sided geometric noise "
        "of ratio alpha = 0.9048 that is clamped",
    ),
    (
        Exponential.calibrated(DISTANCE, 1),
        "the exponential mechanism (McSherry and Talwar 2007) with k = 3 options and p =",
    ),
    (
        OneBitMean.from_epsilon(18, 99, 1),
        "(Duchi, Jordan and Wainwright 2018), which is 1 with a probability that rises linearly from 0.2689 at 18 to "
        "0.7311 at 99",
    ),
    (
        Piecewise.from_epsilon(0, 60, 2),
        "optimised after known ones (Duchi, Jordan and Wainwright 2018; Wang et al. 2019), on the numbers from 0 to 60",
    ),
    (FilteredPiecewise.from_epsilon(0, 60, 2), "one of which stands above all for answers that do not apply"),
    (
        DiscreteLaplace.from_epsilon(0, 4, 1, tail="1/100"),
        "(Dwork et al. 2006; Ghosh, Roughgarden and Sundararajan 2012) on the whole numbers from 0 to 4, with "
        "two-sided geometric noise of ratio alpha = 0.7788 and reports from -",
    ),
    (
        Longitudinal(2, "9/10", "7/8"),
        "(Erlingsson, Pihur and Korolova 2014; Arcolezi et al. 2024), of which the device keeps the first, true with "
        "p = 0.9, and each wave reports that one with probability 0.875",
    ),
    (
        UnequalKAry((2**30, 2**31)),
        "the truth with p = 0.25 and otherwise one of the options, with probabilities 0.25 and 0.5 of all",
    ),
]


@pytest.mark.parametrize(("mechanism", "said"), SAID, ids=lambda each: getattr(each, "name", ""))
def test_a_mechanism_is_named_with_its_work_and_its_parameters(mechanism: Mechanism, said: str) -> None:
    text = mechanism_text(mechanism)
    assert said in text
    assert all(work.cited in text for work in WORKS[mechanism.name])


def test_every_mechanism_has_a_description_and_works_that_its_docstring_cites() -> None:
    assert {mechanism.name for mechanism, _ in SAID} == set(MECHANISMS) == set(WORKS)
    for name, works in WORKS.items():
        cls = MECHANISMS[name]
        # These are forms of another mechanism, whose docstring has the work.
        described: dict[type[Mechanism], type[Mechanism]] = {DiscreteLaplace: Geometric, FilteredPiecewise: Piecewise}
        cited = " ".join(inspect.getdoc(each) or "" for each in (cls, described.get(cls, cls)))
        for work in works:
            assert work.authors[0] in cited, cls


def test_works_are_those_of_the_bibliography() -> None:
    bibliography = (Path(__file__).parents[2] / "docs" / "references.md").read_text(encoding="utf-8")
    works: set[Work] = {work for each in (*WORKS.values(), *INTERVALS.values(), OF_ANALYSES) for work in each}
    for work in works:
        assert f"- {work.text}".replace("\u201c", '"').replace("\u201d", '"') in bibliography
        assert work.bibtex.count("{") == work.bibtex.count("}")
    assert len({work.key for work in works}) == len(works)


HEAD = 'title = "T"\norganiser = "O"\ncontact = "a@b.example"\nretention = "tallies"\n'

TWO = "".join(f'[[questions]]\nid = "{each}"\ntext = "Ever?"\ntype = "yes-no"\n' for each in "ab")


def grouped(lines: str) -> Survey:
    """A survey of two yes-no questions in one group."""
    return read_survey(HEAD + f"[groups.g]\nepsilon = 1\n{lines}\n" + TWO.replace("type", 'group = "g"\ntype'))


def test_one_response_to_a_group_is_described_as_one() -> None:
    question = grouped("draw = 2").questions[0]
    assert question.group
    assert question.group.joint
    text = question_text(question)
    # e / (3 + e)
    assert "to 2 questions together, with k = 4 patterns of answers and p = 0.4754 of reporting the true one" in text
    assert text.endswith("epsilon = 1")


def test_questions_that_devices_draw_have_the_work_on_drawing() -> None:
    drawn = grouped("draw = 1").questions[0]
    assert works_of(drawn)[-1] == NGUYEN
    assert "Warner's" in question_text(drawn)
