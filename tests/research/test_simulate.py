"""Simulated surveys: what they suppose, what they find, and ``deniable simulate`` as people type it."""

from __future__ import annotations

import io
import json
import math
import xml.etree.ElementTree as ET
from collections.abc import Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from deniable import MECHANISMS, KAry, ParameterError, Subset, Survey, read_survey, tally_reports
from deniable.mechanisms import RowMechanism
from deniable.report.report import Report
from deniable_research.commands.simulate import simulate as command
from deniable_research.files import Table, estimate_shares
from deniable_research.simulation import (
    Misbehaviour,
    Simulation,
    SimulationRow,
    generator_of,
    read_truth,
    reports_csv,
    truth_of,
)
from deniable_research.simulation.draw import draw_reports, words_of
from deniable_research.simulation.simulated_misbehaviour import first_report
from deniable_statistics.designs.of_mechanisms import design_of
from deniable_statistics.designs.spaces import tally_array, uniform_reports
from deniable_statistics.published.published_rows import EstimateOptions
from tools.rig.command_line import CommandLine
from tools.rig.surveys import FIVE_TYPES, SURVEY

TRUTH: dict[str, Any] = {
    "affair": 0.3,
    "town": {"A": 0.4, "B": 0.2},
    "drugs": [0.5, 0.2, 0.05],
    "trust": [0.05, 0.1, 0.1, 0.25, 0.25, 0.15, 0.1],
    "drinks": {"0": 0.6, "7": 0.2, "20": 0.2},
}
MC_ERRORS = 4
"""All seeds are fixed: these are bounds that the drawn surveys keep, not hopes."""

FAST = EstimateOptions(method="wilson")
"""For tests that are not about the default intervals."""


@pytest.fixture(scope="module")
def five() -> Survey:
    return read_survey(FIVE_TYPES)


SIMULATE = CommandLine("simulate")
ok, refused = SIMULATE.ok, SIMULATE.refused


@pytest.mark.long
@pytest.mark.simulation
def test_estimates_are_unbiased_and_intervals_cover(five: Survey) -> None:
    rows = Simulation(five, TRUTH, 300).run(200)
    assert [row.statistic for row in rows].count("mean") == 2
    assert len(rows) == 2 + 10 + 3 + 8 + 1
    for row in rows:
        assert abs(row.bias) < MC_ERRORS * row.bias_error, row
        assert row.coverage > 0.95 - MC_ERRORS * math.sqrt(0.95 * 0.05 / 200), row
        assert abs(row.stated_se - row.empirical_se) < MC_ERRORS * row.empirical_se_error, row


def test_truths_are_those_that_were_asked_for(five: Survey) -> None:
    rows = Simulation(five, TRUTH, 100).run(2)
    shares = {(row.question, row.option): row.truth for row in rows}
    assert shares["affair", "yes"] == 0.3
    assert shares["town", "A"] == 0.4
    assert shares["town", "C"] == pytest.approx(0.05)  # what is left, spread evenly over eight
    assert shares["drugs", "heroin"] == 0.05
    assert shares["drinks", ""] == pytest.approx(0.2 * 7 + 0.2 * 20)


@pytest.mark.slow
def test_a_seed_repeats_the_surveys_and_another_one_does_not(five: Survey) -> None:
    once, again, other = (Simulation(five, None, 100).run(3, seed) for seed in (5, 5, 6))
    assert once == again
    assert once != other


@pytest.mark.long
@pytest.mark.simulation
@pytest.mark.parametrize("kind", ["noncompliance", "denial", "careless"])
def test_bias_of_misbehaviour_is_its_closed_form(five: Survey, kind: str) -> None:
    share = 0.2
    rows = Simulation(five, TRUTH, 1000, Misbehaviour(**{kind: share})).run(200, wanted=FAST)
    tested = 0
    for row in rows:
        mechanism = five.question(row.question).mechanism
        counted = design_of(mechanism).binomials(design_of(mechanism).expected_if_even, 1)
        if row.statistic != "share" or counted is None:
            continue
        question = five.question(row.question)
        option = question.options.index(row.option)
        a, b = counted[option].support.floats
        lam = b + (a - b) * row.truth
        first = first_report(mechanism)
        said = first[option] if isinstance(first, Sequence) else float(first == option)
        said = 0.0 if question.type == "ticks" else said
        denied = float(option == 0 and question.type != "ticks")
        uniform = {"ticks": 0.5, "yes-no": 0.5}.get(question.type, getattr(mechanism, "w", 1) / mechanism.k)
        bias = {
            "noncompliance": share * (said - lam) / (a - b),
            "denial": share * (denied - row.truth),
            "careless": share * (uniform - lam) / (a - b),
        }[kind]
        assert abs(row.bias - bias) < MC_ERRORS * row.bias_error, row
        assert abs(bias) > row.bias_error or abs(bias) < 0.02
        tested += 1
    assert tested == 22


@pytest.mark.simulation
def test_power_of_a_difference_is_that_of_the_normal_approximation(file: Path) -> None:
    survey = read_survey(SURVEY)
    rows = Simulation(survey, {"affair": 0.3}, compare={"affair": 0.45}).run(300, wanted=FAST)
    (row,) = [row for row in rows if row.statistic == "difference" and row.option == "yes" and row.question == "affair"]
    assert row.truth == pytest.approx(-0.15)
    assert (row.cohort, row.test) == ("paper - web", "no difference")
    first, second = 0.25 + 0.5 * 0.3, 0.25 + 0.5 * 0.45
    pooled = (first + second) / 2
    null = math.sqrt(2 * pooled * (1 - pooled) / 500)
    error = math.sqrt((first * (1 - first) + second * (1 - second)) / 500)
    power = 1 - 0.5 * math.erfc(-(-1.959964 * null + (second - first)) / error / math.sqrt(2))
    assert row.rejected is not None
    assert abs(row.rejected - (1 - power)) < MC_ERRORS * math.sqrt(power * (1 - power) / 300)
    assert row.coverage > 0.91
    same = [row for row in rows if row.statistic == "difference" and row.question == "religious"]
    assert all(row.truth == 0 and row.rejected is not None and row.rejected < 0.05 + 4 * 0.0126 for row in same)


def test_cohorts_share_the_people_and_report_their_own_number() -> None:
    rows = Simulation(read_survey(SURVEY), None, 101, compare={}).run(2)
    assert {(row.cohort, row.respondents) for row in rows} == {("paper", 51), ("web", 50), ("paper - web", 101)}


@pytest.mark.parametrize("name", sorted(MECHANISMS))
def test_reports_of_people_who_do_not_care_can_be_made_by_the_mechanism(name: str) -> None:
    made: dict[str, Any] = {
        "two-coin": lambda cls: cls("1/2"),
        "warner": lambda cls: cls.from_epsilon(1),
        "forced-response": lambda cls: cls("1/2", ["1/3", "1/3", "1/3"]),
        "k-ary": lambda cls: cls.from_epsilon(4, 1),
        "subset": lambda cls: cls.from_epsilon(6, 2, 1),
        "tick-boxes": lambda cls: cls.from_epsilon(3, 1),
        "drawn-boxes": lambda cls: cls.from_epsilon(4, 1, 2),
        "geometric": lambda cls: cls.from_epsilon(0, 4, 2),
        "exponential": lambda cls: cls.calibrated([[-abs(x - r) for r in range(4)] for x in range(4)], 1),
        "mean": lambda cls: cls.from_epsilon(5, 9, 1),
        "piecewise": lambda cls: cls.from_epsilon(5, 9, 1),
        "discrete-laplace": lambda cls: cls.from_epsilon(-2, 3, 2),
        "longitudinal": lambda cls: cls.from_epsilon(3, 2, 1),
        "filtered-piecewise": lambda cls: cls.from_epsilon(5, 9, 1),
        "unequal-k-ary": lambda cls: cls((2**28, 2**29, 2**30)),
    }
    mechanism = made[name](MECHANISMS[name])
    generator = generator_of(3)
    drawn = [first_report(mechanism), *uniform_reports(mechanism.reports, 4000, generator).tolist()]
    reports = ["".join(map(str, each)) if isinstance(each, list) else each for each in drawn]
    for report in reports:
        mechanism.reports.check(report, "report")
    possible, counts = np.unique(reports[1:], return_counts=True)
    size = {"tick-boxes": 8, "drawn-boxes": 24, "subset": 15}.get(name, mechanism.k)
    assert len(possible) == size
    chi_square = float(((counts - 4000 / size) ** 2 / (4000 / size)).sum())
    assert chi_square < size - 1 + 6 * math.sqrt(2 * (size - 1))


def test_words_are_uniform_32_bit_words() -> None:
    words = words_of(generator_of(1))(100_000)
    assert words.dtype == np.uint32
    assert abs(float(words.mean()) / 2**31 - 1) < 0.01
    assert words.max() > 0.999 * 2**32


@pytest.mark.parametrize(
    "mechanism", [KAry.from_epsilon(2, 1), KAry.from_epsilon(4, 1), Subset.from_epsilon(8, 2, 1)], ids=str
)
@pytest.mark.parametrize("child", [False, True], ids=["seed", "child of the seed"])
def test_noise_is_independent_of_answers_drawn_with_the_same_seed(mechanism: KAry | Subset, child: bool) -> None:
    k, people, statistics = mechanism.k, 4000, []
    for seed in range(20):
        rng = np.random.default_rng(seed)
        rng = rng.spawn(1)[0] if child else rng
        # The two ways in which people draw answers.
        answers = (rng.random(people) * k).astype(np.int64) if seed % 2 else rng.integers(0, k, people)
        reports = mechanism.randomize_many(answers, words_of(generator_of(seed)))
        supports = reports if reports.ndim == 2 else reports[:, None] == np.arange(k)
        within = np.array([supports[answers == answer].sum(axis=0) for answer in range(k)])
        n = np.bincount(answers, minlength=k)[:, None]
        p = np.array(
            [[each.floats[answer != option] for option, each in enumerate(mechanism.support)] for answer in range(k)]
        )
        statistics += ((within - n * p) ** 2 / (n * p * (1 - p))).ravel().tolist()
    # Each is the square of a standard normal number, nearly: their mean is 1, with a standard error of at most .2.
    assert max(statistics) < 30
    assert abs(float(np.mean(statistics)) - 1) < 0.5


def test_a_generator_gives_another_source_of_words_each_time() -> None:
    generator = generator_of(1)
    first, second = (words_of(generator)(1000) for _ in range(2))
    assert abs(float(np.corrcoef(first, second)[0, 1])) < 5 / math.sqrt(1000)
    assert words_of(generator_of(1))(1000).tolist() == first.tolist()


@pytest.mark.parametrize("jumps", [0, 1])
def test_words_are_the_same_in_every_run_from_every_kind_of_generator(jumps: int) -> None:
    # A bit generator that jumped has a seed of its own that is drawn anew in every run.
    first, second = (np.random.Generator(np.random.PCG64(7).jumped(jumps)) for _ in range(2))
    assert words_of(first)(100).tolist() == words_of(second)(100).tolist()
    # This one has none.
    first, second = (np.random.Generator(np.random.RandomState(7)._bit_generator) for _ in range(2))
    assert words_of(first)(100).tolist() == words_of(second)(100).tolist()


def test_words_come_from_a_generator_of_numpy() -> None:
    with pytest.raises(ParameterError, match=r"^generator: must be a Generator, got 5$"):
        words_of(5)  # type: ignore[arg-type]


def test_tallies_count_what_reports_support(five: Survey) -> None:
    drawn = draw_reports(truth_of(five, TRUTH), 200, Misbehaviour(), generator_of(2))
    texts = {name: column.values.tolist() for name, column in drawn.items()}
    reports = [
        Report(
            f"{row:032x}",
            None,
            {
                name: "".join(map(str, values[row])) if isinstance(values[row], list) else values[row]
                for name, values in texts.items()
            },
        )
        for row in range(200)
    ]
    tally = tally_reports(reports, five)[None]
    for question in five.questions:
        assert tally_array(question.mechanism.reports, drawn[question.id].told) == tally.counts[question.id]


def test_unclamped_noise_is_tallied_from_its_lowest_report() -> None:
    mechanism = MECHANISMS["discrete-laplace"].from_epsilon(0, 3, 2)  # type: ignore[attr-defined]  # not of the base
    assert isinstance(mechanism, RowMechanism)
    lowest = mechanism.report_range.start
    assert tally_array(mechanism.reports, np.array([lowest, lowest, lowest + 2]))[:3] == (2, 0, 1)


def test_reports_csv_is_what_a_collector_writes(five: Survey) -> None:
    generator = generator_of(4)
    simulation = Simulation(five, TRUTH, 50)
    lines = "".join(reports_csv(simulation.draw(generator), generator))
    frame = pd.read_csv(io.StringIO(lines), dtype=str)
    assert list(frame.columns) == ["id", "cohort", "affair", "town", "drugs", "trust", "drinks"]
    assert frame["id"].is_monotonic_increasing
    assert frame["id"].str.fullmatch("[0-9a-f]{32}").all()
    for question in five.questions:
        for value in frame[question.id]:
            report = value.removeprefix("b") if question.mechanism.reports.json_type is str else int(value)
            question.mechanism.reports.check(report, question.id)


def test_truth_that_does_not_fit_is_refused(five: Survey) -> None:
    for given, sentence in [
        ({"love": 0.5}, "must be about questions of the survey"),
        ({"affair": 1.5}, r"truth of affair: must be shares in \[0, 1\]"),
        ({"affair": True}, r"must be shares in \[0, 1\]"),
        ({"town": 0.5}, "must be a list of 10 shares or shares by name"),
        ({"town": [0.5, 0.5]}, "must be 10 shares, one for each answer, got 2"),
        ({"trust": [0.5] * 7}, "must add up to 1, got 3.5"),
        ({"town": {"Z": 0.5}}, "must name answers"),
        ({"town": {"A": 0.7, "B": 0.7}}, "must add up to at most 1"),
    ]:
        with pytest.raises(ParameterError, match=sentence):
            truth_of(five, given)  # type: ignore[arg-type]  # that is the point
    with pytest.raises(ParameterError, match="truth: is not TOML"):
        read_truth("affair = ")


def test_impossible_simulations_are_refused(five: Survey) -> None:
    with pytest.raises(ParameterError, match=r"noncompliance: must be a share in \[0, 1\]"):
        Misbehaviour(noncompliance=-0.1)
    with pytest.raises(ParameterError, match="must be at most 1 together"):
        Misbehaviour(0.5, 0.5, 0.1)
    with pytest.raises(ParameterError, match="respondents: must be an integer"):
        Simulation(five, None, 0)
    with pytest.raises(ParameterError, match="respondents: must be an integer in \\[2,"):
        Simulation(five, None, 1, compare={})
    with pytest.raises(ParameterError, match="repetitions: must be an integer"):
        Simulation(five, None, 10**6).run(10**6)


def test_command_prints_a_table_with_its_seed_and_suppositions(file: Path) -> None:
    text = ok(file, "--truth", "affair=0.32", "--repetitions", 20, "--careless", "0.1", "--noncompliance", "0.05")
    assert "32.0 %" in text
    assert "20 surveys of 1000 people, seed 1 (PCG64: simulation only)" in text
    assert "5 % of the people report the first option as it is, whatever the instruction." in text
    assert "10 % of the people send a report drawn uniformly" in text
    assert text == ok(
        file, "--truth", "affair=0.32", "--repetitions", 20, "--careless", "0.1", "--noncompliance", "0.05"
    )


def test_csv_and_json_hold_the_rows_of_the_function(file: Path) -> None:
    expected = Simulation(read_survey(SURVEY), {"affair": 0.32, "religious": [0.1, 0.2, 0.3, 0.4]}, 300).run(10)
    arguments = [file, "--truth", "affair=0.32", "--truth", "religious=0.1,0.2,0.3,0.4"]
    arguments += ["--respondents", 300, "--repetitions", 10]
    frame = pd.read_csv(io.StringIO(ok(*arguments, "--format", "csv")))
    assert list(frame.columns) == [field.name for field in fields(SimulationRow)]
    assert frame["bias"].tolist() == pytest.approx([row.bias for row in expected], abs=1e-12)
    document = json.loads(ok(*arguments, "--format", "json"))
    assert document["seed"] == 1
    assert [row["coverage"] for row in document["figures"]] == [row.coverage for row in expected]


def test_published_surveys_files_of_truths_reports_and_pictures(file: Path, tmp_path: Path) -> None:
    published, truths = tmp_path / "survey.json", tmp_path / "truth.toml"
    published.write_bytes(read_survey(SURVEY).document)
    truths.write_text("affair = 0.32\nreligious = {not = 0.4}\n", encoding="utf-8")
    reports, picture = tmp_path / "reports.csv", tmp_path / "chart.svg"
    text = ok(
        published, "--truth", truths, "--compare", "affair=0.5", "--repetitions", 5, "--reports", reports,
        "--plot", picture,
    )  # fmt: skip
    assert "paper - web" in text
    assert (
        text.splitlines()[:3]
        == ok(file, "--truth", truths, "--compare", "affair=0.5", "--repetitions", 5).splitlines()[:3]
    )
    frame = pd.read_csv(reports)
    assert frame["cohort"].value_counts().to_dict() == {"paper": 500, "web": 500}
    words = [element.text for element in ET.parse(picture).iter("{http://www.w3.org/2000/svg}text")]
    assert "affair: yes (paper)" in words
    assert "Coverage" in words


def test_written_reports_are_those_of_the_first_survey(file: Path, tmp_path: Path) -> None:
    reports = tmp_path / "reports.csv"
    ok(file, "--truth", "affair=0.32", "--truth", "religious={not=0.7}", "--repetitions", 2, "--reports", reports)
    survey = read_survey(SURVEY)
    generator = generator_of(1)
    simulation = Simulation(survey, {"affair": 0.32, "religious": {"not": 0.7}})
    (drawn,) = simulation.draw(generator)
    rows = estimate_shares(Table.read(reports, survey))
    counts = {(row.question, row.option): row.count for row in rows}
    for question in survey.questions:
        tally = tally_array(question.mechanism.reports, drawn.reports[question.id].told)
        assert [counts[question.id, option] for option in question.options] == list(tally)
    assert all(row.estimate is not None and row.std_error is not None for row in rows)
    truths = [0.68, 0.32, 0.7, 0.1, 0.1, 0.1]
    for row, truth in zip(rows, truths, strict=True):
        assert abs((row.estimate or 0) - truth) < 4 * (row.std_error or 0)


def test_command_refuses_what_it_cannot_read(file: Path, tmp_path: Path) -> None:
    assert "must be like affair=0.32" in refused(file, "--truth", "affair=many")
    assert "cannot be read as a file" in refused(file, "--truth", "nothing.toml")
    assert "must be about questions of the survey" in refused(file, "--truth", "love=0.5")
    assert "must end in .svg, .png or .pdf" in refused(file, "--plot", "chart.gif")
    assert "is not in the range" in refused(file, "--careless", "2")
    assert "at most 1,000,000 people" in refused(file, "--reports", tmp_path / "r.csv", "--respondents", 1_000_001)
    assert "at most 1 together" in refused(file, "--careless", "0.7", "--denial", "0.7")


def test_help_has_a_sentence_and_examples() -> None:
    text = ok("--help")
    assert command.help
    assert command.help.splitlines()[0].endswith(".")
    assert "Examples:\n    deniable simulate" in text
