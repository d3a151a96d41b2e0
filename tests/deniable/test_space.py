"""What a report may be, and what every mechanism says of its own: likelihoods, odds, what authors ask for."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from deniable import Mechanism, ParameterError, ReportError, mechanisms
from deniable.mechanisms.longitudinal import waves_of
from deniable.wire.space import Bits, DrawnBits, Numbers
from deniable_statistics.authoring.sample_size import noise_if_even
from deniable_statistics.designs.of_mechanisms import design_of
from deniable_statistics.designs.spaces import (
    every_report,
    number_of_reports,
    support_matrix,
    tally_array,
    uniform_reports,
)

HOURS = Numbers(range(5, 8), ("five", "six", "seven"))

MADE: list[Mechanism] = [
    mechanisms.TwoCoin("1/2", "1/3"),
    mechanisms.Warner("1/4"),
    mechanisms.ForcedResponse("1/2", ["1/6", "1/3", "1/2"]),
    mechanisms.KAry.from_epsilon(4, 1),
    mechanisms.Subset.from_epsilon(6, 3, 1),
    mechanisms.Subset.from_epsilon(5, 2, 2),
    mechanisms.TickBoxes.from_epsilon(3, 2),
    mechanisms.DrawnBoxes.from_epsilon(4, 1, 2),
    mechanisms.DrawnBoxes.from_epsilon(4, 1, 3),
    mechanisms.Geometric.from_epsilon(-3, 4, 1),
    mechanisms.Exponential.calibrated([[-abs(x - r) for r in range(4)] for x in range(4)], 1),
    mechanisms.DiscreteLaplace.from_epsilon(1, 5, 2, tail="1/10"),
    mechanisms.OneBitMean.from_epsilon(18, 25, 1),
    mechanisms.Piecewise((18, 26), (3 * 2**30, 2**30), ((-(2**28), 2**28),)),
    mechanisms.FilteredPiecewise((18, 26), (2**31, 2**30, 2**30), ((-(2**27), 2**27, 0),), (2**30, 2**30, 2**31)),
    mechanisms.Longitudinal.from_epsilon(3, 2, 1),
    mechanisms.UnequalKAry((2**28, 2**29, 2**30)),
]


def test_numbers_are_those_of_their_range() -> None:
    assert [report in HOURS for report in (4, 5, 7, 8, "5", 5.0, True)] == [False, True, True] + [False] * 4
    assert (HOURS.size, number_of_reports(HOURS), HOURS.first, HOURS.json_type, HOURS.supports_one) == (
        3,
        3,
        5,
        int,
        True,
    )
    assert [HOURS.supports(report) for report in (5, 6, 7)] == [(0,), (1,), (2,)]
    assert [HOURS.from_text(text) for text in ("five", "seven", "5", "eight")] == [5, 7, None, None]
    assert every_report(HOURS).tolist() == np.eye(3, dtype=bool).tolist()
    assert every_report(HOURS).dtype == bool
    assert tally_array(HOURS, np.array([5, 7, 7])) == (1, 0, 2)
    assert tally_array(HOURS, np.array([6, 5])) == (1, 1, 0)
    assert HOURS.check(6, "here") == 6
    with pytest.raises(ReportError, match=r"^here: report must be an integer in \[5, 8\), got "):
        HOURS.check(8, "here")


def test_bits_are_one_for_each_option() -> None:
    any_number, two = Bits(4), Bits(4, 2)
    assert [report in any_number for report in ("0000", "1011", "101", "10112", "102x", 1011)] == [True, True] + [
        False
    ] * 4
    assert [report in two for report in ("0011", "0111", "0000")] == [True, False, False]
    assert (two.size, number_of_reports(two), two.first, two.json_type, two.supports_one) == (4, 6, 0, str, False)
    assert number_of_reports(any_number) == 16
    assert two.supports("0101") == (1, 3)
    assert [two.from_text(text) for text in ("b0101", "0101", "11", "b11", "1", "x")] == [
        "0101",
        "0101",
        "0011",
        "0011",
        None,
        None,
    ]
    assert sorted(map(tuple, every_report(any_number).tolist())) == sorted(np.ndindex(2, 2, 2, 2))
    assert [row.sum() for row in every_report(two)] == [2] * 6
    assert every_report(two).dtype == every_report(any_number).dtype == bool
    assert len({tuple(row) for row in every_report(two).tolist()}) == 6
    assert tally_array(two, np.array([[1, 1, 0, 0], [1, 0, 0, 1]], dtype=np.uint8)) == (2, 1, 0, 1)
    with pytest.raises(ReportError, match=r"^here: report must be a text of 4 characters 0 or 1, 2 of them 1, got "):
        two.check("0111", "here")
    with pytest.raises(ReportError, match=r"^here: report must be a text of 4 characters 0 or 1, got "):
        any_number.check("011", "here")


def test_drawn_bits_are_a_pair_for_each_box() -> None:
    space = DrawnBits(4, 2)
    pairs = [("00", "01", "10", "11")] * 4
    every = {text for text in map("".join, itertools.product(*pairs)) if text in space}
    assert len(every) == number_of_reports(space) == 24
    assert {"".join("01"[int(bit)] for bit in row) for row in every_report(space)} == every
    for text in every:
        boxes = [space.of_box(text, box) for box in range(4)]
        assert boxes.count(None) == 2
        assert "".join({None: "00", 0: "10", 1: "01"}[box] for box in boxes) == text
    for wrong in ("01100000 ", "0110", "01010100", "01000000", "11000000", 7, None):
        assert wrong not in space


def test_a_matrix_of_supports_names_the_first_row_that_holds_no_report() -> None:
    assert support_matrix(HOURS, [5, 7]).tolist() == [[True, False, False], [False, False, True]]
    assert support_matrix(Bits(3), ["011"]).tolist() == [[False, True, True]]
    assert support_matrix(HOURS, []).shape == (0, 3)
    assert support_matrix(HOURS, [5]).dtype == bool
    with pytest.raises(ReportError, match=r"^row 3: report must be an integer in \[5, 8\), got a string$"):
        support_matrix(HOURS, [5, 6, "7"])
    with pytest.raises(ReportError, match=r"^sleep, row 2: report must be an integer in"):
        support_matrix(HOURS, [5, 9], "sleep, row")


@pytest.mark.parametrize("space", [HOURS, Bits(3), Bits(5, 2), DrawnBits(4, 2)], ids=str)
def test_careless_people_send_any_report_and_all_equally_often(space: Numbers | Bits | DrawnBits) -> None:
    drawn, counts = np.unique(uniform_reports(space, 60_000, np.random.default_rng(8)), axis=0, return_counts=True)
    assert all(("".join(map(str, each)) if isinstance(each, list) else each) in space for each in drawn.tolist())
    assert len(drawn) == number_of_reports(space)
    # Each count is binomial; six standard errors for each of at most 24: below 1e-7 together.
    share = 1 / number_of_reports(space)
    assert np.abs(counts / 60_000 - share).max() < 6 * math.sqrt(share * (1 - share) / 60_000)


def name_of(mechanism: Mechanism) -> str:
    return f"{mechanism.name}, {mechanism.k}"


def test_every_mechanism_is_made_here() -> None:
    assert {mechanism.name for mechanism in MADE} == set(mechanisms.MECHANISMS)


@pytest.mark.parametrize("mechanism", MADE, ids=name_of)
def test_likelihoods_are_probabilities_whose_largest_ratio_is_that_of_epsilon(mechanism: Mechanism) -> None:
    every = every_report(mechanism.reports)
    if not design_of(mechanism).has_likelihood:
        with pytest.raises(ParameterError, match=f"^{mechanism.name}: answers do not exclude each other"):
            design_of(mechanism).likelihood(every)
        return
    likelihood = design_of(mechanism).likelihood(every)
    assert likelihood.shape == (number_of_reports(mechanism.reports), len(mechanism.answer_range))
    assert likelihood.sum(axis=0) == pytest.approx(1, abs=1e-12)
    largest = float(np.log(likelihood.max(axis=1) / likelihood.min(axis=1)).max())
    loss = waves.wave_epsilon if (waves := waves_of(mechanism)) else mechanism.epsilon
    assert largest == pytest.approx(loss, rel=1e-9)


@pytest.mark.parametrize("mechanism", MADE, ids=name_of)
def test_no_report_has_a_sum_of_weights_beyond_the_extremes(mechanism: Mechanism) -> None:
    every = every_report(mechanism.reports)
    weights = np.random.default_rng(5).normal(size=(20, every.shape[1]))
    least, most = design_of(mechanism).extremes(weights)
    sums = weights @ every.T
    assert least == pytest.approx(sums.min(axis=1))
    assert most == pytest.approx(sums.max(axis=1))


@pytest.mark.parametrize("mechanism", MADE, ids=name_of)
def test_reports_of_people_who_mix_in_no_chance_are_their_answers(mechanism: Mechanism) -> None:
    for place, answer in enumerate(mechanism.answer_range):
        made = design_of(mechanism).untouched(answer if design_of(mechanism).is_exclusive else [answer])
        if isinstance(made, list):
            assert "".join(map(str, made)) in mechanism.reports
            assert made[2 * place + 1 if design_of(mechanism).is_one_draw else place] == 1 or place >= getattr(
                mechanism, "s", place + 1
            )
        elif isinstance(mechanism, mechanisms.FilteredPiecewise) and answer > mechanism.knots[-1]:
            assert made == mechanism.k - 1, "the last report is for whoever it does not apply to"
        else:
            # of a range whose mean is wanted the nearer end
            assert made == (answer if mechanism.has_shares else round(place / (len(mechanism.answer_range) - 1)))
            assert made in mechanism.reports


@pytest.mark.parametrize("name", mechanisms.MECHANISMS)
def test_authors_get_the_answers_and_at_most_the_epsilon_that_they_ask_for(name: str) -> None:
    cls = mechanisms.MECHANISMS[name]
    answers = (
        range(2) if cls.question_types == ("yes-no",) else range(3, 9) if "number" in cls.question_types else range(5)
    )
    if name in ("two-coin", "forced-response"):
        with pytest.raises(
            ParameterError, match=rf"^mechanism: {name} is made of coins, truth = ...; it takes no epsilon$"
        ):
            cls.for_answers(answers, 1)
        return
    if cls is mechanisms.UnequalKAry:
        with pytest.raises(ParameterError, match=r"^mechanism: unequal-k-ary is made of a response to patterns"):
            cls.for_answers(answers, 1)
        return
    if issubclass(cls, mechanisms.Longitudinal):
        with pytest.raises(ParameterError, match=r"^wave_epsilon: must say how much noise one wave has, such as"):
            cls.for_answers(answers, 1)
    mechanism = cls.for_answers(answers, 1, "0.5" if issubclass(cls, mechanisms.Longitudinal) else None)
    assert isinstance(mechanism, cls)
    assert mechanism.answer_range == answers
    assert 0.98 < mechanism.epsilon <= 1
    assert set(cls.named_in) <= set(cls.question_types)


def test_subsets_have_the_size_that_costs_the_least() -> None:
    best = mechanisms.Subset.for_answers(range(10), 1)
    assert isinstance(best, mechanisms.Subset)
    assert best.w == 3
    assert str(best) == "subset of 3"
    assert noise_if_even(best) == min(noise_if_even(mechanisms.Subset.from_epsilon(10, w, 1)) for w in range(2, 10))
    with pytest.raises(ParameterError, match=r"^epsilon: no subsets of 2 options can hold it with integer weights$"):
        mechanisms.Subset.for_answers(range(2), 1)
    for k, epsilon in ((4, 13), (257, 1)):
        with pytest.raises(
            ParameterError, match=rf"^epsilon: no subsets of {k} options can hold it with integer weights$"
        ):
            mechanisms.Subset.for_answers(range(k), epsilon)
    assert mechanisms.Subset.for_answers(range(256), 4).k == 256


@pytest.mark.parametrize("mechanism", MADE, ids=name_of)
def test_odds_are_sentences_about_whole_people(mechanism: Mechanism) -> None:
    assert mechanism.odds
    for sentence in mechanism.odds:
        assert sentence.endswith(".")
        figures = [int(word) for word in sentence.replace(",", " ").replace(".", " ").split() if word.isdigit()]
        assert all(1 <= figure <= 100 for figure in figures)
    assert 1 < mechanism.told_ratio <= mechanism.likelihood_ratio


@pytest.mark.parametrize("mechanism", MADE, ids=name_of)
def test_reports_of_arrays_have_the_shape_of_the_answers_and_are_small_integers(mechanism: Mechanism) -> None:
    if not design_of(mechanism).is_exclusive:
        made = mechanism.randomize_many(np.zeros((2, 5, mechanism.k), dtype=bool))
    else:
        made = mechanism.randomize_many(np.full((2, 5), mechanism.answer_range[-1], dtype=np.uint8))
    has_bits = mechanism.reports.json_type is str
    assert made.shape == ((2, 5, mechanism.reports.size) if has_bits else (2, 5))
    assert made.dtype == (np.uint8 if has_bits else np.int64)
    assert sum(tally_array(mechanism.reports, made.reshape(-1, *made.shape[2:]))) == (made.sum() if has_bits else 10)


@pytest.mark.parametrize("mechanism", MADE, ids=name_of)
def test_a_draw_is_the_permanent_step_and_then_that_of_a_wave(mechanism: Mechanism) -> None:
    waves = waves_of(mechanism)
    for first, answer in itertools.product((0, 2**31, 2**32 - 1), mechanism.answer_range):
        given = answer if design_of(mechanism).is_exclusive else [answer]
        whole, steps = (itertools.cycle([first, 2**32 // 3, 5]) for _ in range(2))
        kept = (waves.permanent if waves else mechanism.randomize)(given, steps.__next__)
        sent = waves.instantaneous(kept, steps.__next__) if waves else kept
        assert sent == mechanism.randomize(given, whole.__next__)
        assert next(steps) == next(whole), "as many words"


def test_of_drawn_boxes_the_counts_of_ticks_speak_for_answers_and_few_reports_of_a_pair() -> None:
    drawn = DrawnBits(4, 2)
    assert drawn.is_drawn
    assert drawn.supporting((9, 1, 8, 2, 7, 3, 6, 4)) == (1, 2, 3, 4)
    assert drawn.share_of_pairs == 2 * 1 / (4 * 3)
    for space in (Bits(4), HOURS):
        assert not space.is_drawn
        assert space.supporting((1, 2, 3)) == (1, 2, 3)
        assert space.share_of_pairs == 1
