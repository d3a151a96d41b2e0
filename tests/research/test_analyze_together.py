"""Comparisons, crosstabs and regressions of ``deniable analyze``, against the functions behind and by hand."""

from __future__ import annotations

import json
import math
from collections import Counter
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from deniable import (
    ParameterError,
    estimate,
    read_survey,
    tally_reports,
)
from deniable_client import randomize
from deniable_research.files import (
    Table,
    compare,
    cross,
    regress,
)
from deniable_research.files.printing import comparison_table
from deniable_research.files.result_rows import ComparisonRow
from deniable_research.regression import linear, linear_moments, logistic, multinomial
from deniable_statistics import classical as channels
from deniable_statistics.comparison import difference, homogeneity, pairwise, ratio, trend
from deniable_statistics.intervals import level_of_each
from deniable_statistics.joint import box_pair, crosstab, independence
from deniable_statistics.published import columns
from deniable_statistics.sampling import SimpleSample
from tests.support.analyzing import STUDY, as_rows, love_reports, ok, refused, run, study_rows
from tools.rig.surveys import FIVE_TYPES, person


def test_cohorts_are_compared_as_the_functions_do(study: Table) -> None:
    cohorts = [study.estimate("affair", np.array(study.columns["wave"]) == year) for year in ("2024", "2025", "2026")]
    rows = as_rows("compare", *STUDY, "affair", "--confidence", "0.9")
    assert [row["measure"] for row in rows] == ["homogeneity", *["difference"] * 3]
    every = pairwise(cohorts, 1)
    assert rows[0]["p_value"] == pytest.approx(homogeneity(cohorts, 1).p_value)
    for row, each, adjusted, (low, high) in zip(
        rows[1:], every.differences, every.p_values, every.confidence_interval(0.9), strict=True
    ):
        found = [row[key] for key in ("estimate", "std_error", "conf_low", "conf_high", "p_value", "p_adjusted")]
        assert found == pytest.approx([each.difference, each.std_error, low, high, each.p_value, adjusted])
    slope, departure = as_rows("compare", *STUDY, "affair", "--trend")
    expected = trend(cohorts, 1, [2024, 2025, 2026])
    assert (slope["measure"], slope["first"], slope["second"]) == ("trend", 2024, 2026)  # as pandas reads them
    assert [slope[key] for key in ("estimate", "p_value")] == pytest.approx([expected.slope, expected.p_value])
    assert departure["p_value"] == pytest.approx(expected.departure_p_value)


def test_a_sentence_says_which_intervals_hold_together() -> None:
    survey, reports = love_reports()
    columns = {question.id: tuple(str(each.values[question.id]) for each in reports) for question in survey.questions}
    table = Table.of(columns | {"group": ("a", "b", "c") * 100, "half": ("a", "b") * 150}, survey)
    for question, by, sentence in (
        ("affair", "group", "square-and-add (MOVER) intervals; the intervals of all pairs hold together."),
        (
            "religious",
            "group",
            "square-and-add (MOVER) intervals; for each option, the intervals of all pairs hold together.",
        ),
        ("religious", "half", "square-and-add (MOVER) and Donner-Zou intervals."),
    ):
        rows = compare(table, question, by)
        printed = str(comparison_table(rows))
        assert f"95 % CI: {sentence}" in printed
        assert ("not simultaneous for the options" in printed) == (question == "religious")
        # As it says: the level of each is that of the pairs of one option.
        pairs = [row for row in rows if row.measure == "difference" and row.option == rows[0].option]
        level = level_of_each(0.95, len(pairs))
        first, second = (table.estimate(question, np.array(table.columns[by]) == each) for each in "ab")
        alone = difference(first, second, survey.question(question).options.index(pairs[0].option))
        assert [pairs[0].conf_low, pairs[0].conf_high] == pytest.approx(alone.confidence_interval(level))
        # A file says it, too, and only of intervals that hold together.
        together = "simultaneous mover" if by == "group" else "mover"
        assert {row.method for row in rows if row.measure == "difference"} == {together}


def test_figures_of_a_ratio_have_two_digits_of_its_error_and_infinite_ends_are_no_limits() -> None:
    ratio_row = ComparisonRow("q", "yes", "ratio", "a", "b", estimate=0.62214, std_error=0.0628, p_value=0.01)
    for low, high, said in (
        (0.5048, 0.7547, "0.622  0.063  0.505 to 0.755"),
        (0.0, 0.7547, "0.000 to 0.755"),
        (0.5048, math.inf, "at least 0.505"),
        (0.0, math.inf, "no limits"),
    ):
        text = str(comparison_table([replace(ratio_row, conf_low=low, conf_high=high)]))
        assert said in text
        assert (columns.OPEN in text) == (high == math.inf)
        assert "\u221e" not in text


def test_two_cohorts_have_a_difference_and_a_ratio(study: Table) -> None:
    first, second = (study.estimate("affair", np.array(study.columns["arm"]) == arm) for arm in "AB")
    rows = as_rows("compare", *STUDY, "affair", "--by", "arm")
    assert [(row["measure"], row["first"], row["second"]) for row in rows] == [
        ("difference", "A", "B"),
        ("ratio", "A", "B"),
    ]
    assert rows[0]["estimate"] == pytest.approx(difference(first, second).difference)
    assert rows[1]["conf_high"] == pytest.approx(ratio(first, second).confidence_interval().high)
    text = ok("compare", *STUDY, "affair", "--by", "arm")
    assert "A \u2212 B" in text
    assert "95 % CI: square-and-add (MOVER) and Donner-Zou intervals." in text


def test_means_are_compared_with_their_errors() -> None:
    survey = read_survey(FIVE_TYPES)
    reports = [randomize(survey, person(number)) for number in range(200)]
    columns = {question.id: tuple(str(each.values[question.id]) for each in reports) for question in survey.questions}
    table = Table.of(columns | {"half": ("a",) * 100 + ("b",) * 100}, survey)
    rows = compare(table, "drinks", "half")
    tallies = [tally_reports(part, survey)[None] for part in (reports[:100], reports[100:])]
    first, second = (row for tally in tallies for row in estimate({None: tally}, survey) if row.question == "drinks")
    (row,) = rows
    assert first.estimate is not None
    assert second.estimate is not None
    assert first.std_error is not None
    assert second.std_error is not None
    assert (row.measure, row.estimate) == ("mean difference", pytest.approx(first.estimate - second.estimate))
    assert row.std_error == pytest.approx(math.hypot(first.std_error, second.std_error))
    with pytest.raises(ParameterError, match="drinks: has no shares to test for a trend"):
        compare(table, "drinks", "half", line=True)
    assert {row.option for row in compare(table, "drugs", "half")} == {"cannabis", "cocaine", "heroin"}


def test_comparisons_that_cannot_be_made_are_refused() -> None:
    assert "option: must be one of no, yes, got 'maybe'" in refused("compare", *STUDY, "affair", "--option", "maybe")
    assert "question: must be one of affair, drugs, theft" in refused("compare", *STUDY, "love")
    question = ["--question", "q=cwm_q2: crosswise p=1/6"]
    alone = refused("compare", STUDY[0], "q", *question, "--by", "arm", "--missing", "A")
    assert "arm: must have at least 2 cohorts with reports to q, got 1" in alone
    assert "must be one of the file's columns" in refused("compare", *STUDY, "affair", "--by", "town")
    assert "--by must name the column of cohorts" in refused("compare", STUDY[0], "q", *question)


def test_a_crosstab_is_the_kronecker_inversion() -> None:
    data = [each for each in study_rows() if each["rrt_q1"] != "9"]
    counts = Counter((each["rrt_q1"] == "1", each["cwm_q2"] == "same") for each in data)
    reports = np.array([[counts[said, same] for same in (False, True)] for said in (False, True)]) / 583
    forced = np.array([[5, 1], [1, 5]]) / 6  # rows: said no, said yes; columns: no, yes
    crosswise = np.array([[1, 5], [5, 1]]) / 6  # rows: different, same
    expected = np.linalg.inv(forced) @ reports @ np.linalg.inv(crosswise).T
    rows = as_rows("crosstab", *STUDY, "affair", "drugs")
    cells = [row for row in rows if row["measure"] == "joint"]
    assert [row["first_option"] + row["second_option"] for row in cells] == ["nono", "noyes", "yesno", "yesyes"]
    assert [row["estimate"] for row in cells] == pytest.approx(expected.ravel().tolist())
    pearson = float(
        ((reports - np.outer(reports.sum(1), reports.sum(0))) ** 2 / np.outer(reports.sum(1), reports.sum(0))).sum()
    )
    (test,) = [row for row in rows if row["measure"] == "independence"]
    assert (test["statistic"], test["df"]) == (pytest.approx(583 * pearson), 1)
    yes = expected[1, 1] - expected[1].sum() * expected[:, 1].sum()
    scale = math.prod(share * (1 - share) for share in (expected[1].sum(), expected[:, 1].sum())) ** 0.5
    (correlated,) = [row for row in rows if row["measure"] == "correlation"]
    assert correlated["estimate"] == pytest.approx(yes / scale)


def test_shares_given_an_answer_and_three_columns(study: Table) -> None:
    items = study.complete("affair", "drugs").items("affair", "drugs")
    conditional = crosstab(*items).conditional("drugs")
    rows = as_rows("crosstab", *STUDY, "affair", "drugs", "--given", "drugs")
    cells = [row for row in rows if row["measure"] == "conditional"]
    assert [row["estimate"] for row in cells] == pytest.approx(conditional.share.ravel().tolist())
    assert {row["given"] for row in cells} == {"drugs"}
    triple = as_rows("crosstab", *STUDY, "affair", "drugs", "wave")
    assert len(triple) == 12
    assert math.fsum(row["estimate"] for row in triple) == pytest.approx(1)
    both = as_rows("crosstab", *STUDY, "affair", "drugs")
    of_yes = [row["estimate"] for row in triple if row["first_option"] == row["second_option"] == "yes"]
    assert math.fsum(of_yes) == pytest.approx(both[3]["estimate"])  # the waves of a cell add up to it


def test_a_plain_column_of_many_numbers_is_correlated(study: Table) -> None:
    (row,) = as_rows("crosstab", *STUDY, "income", "drugs")
    same = np.array([each["cwm_q2"] == "same" for each in study_rows()])
    drugs = (same - 5 / 6) / (1 / 6 - 5 / 6)
    income = study.numbers("income")
    share = drugs.mean()
    covariance = (drugs * income).mean() - share * income.mean()
    assert row["estimate"] == pytest.approx(covariance / math.sqrt(share * (1 - share)) / income.std())
    assert row["measure"] == "correlation"
    text = ok("crosstab", *STUDY, "drugs", "income")
    assert "Correlation, 600 people." in text


def test_permutations_weights_boxes_and_notes(study: Table, tmp_path: Path) -> None:
    items = study.items("affair", "drugs")
    text = ok("crosstab", *STUDY, "affair", "drugs", "--permutations", 200, "--seed", 3)
    p = independence(*items, permutations=200, seed=3).p_value
    assert f"p = {p:.4f}" in text
    assert "About the independence: from 200 permutations" in text
    weighted = as_rows("crosstab", *STUDY, "affair", "drugs", "--weights", "w")
    weights = study.numbers("w")[study.answered("affair")]
    assert weighted[3]["estimate"] == pytest.approx(
        float(crosstab(*items, sample=SimpleSample.of(weights)).share[1, 1])
    )
    few = tmp_path / "few.csv"
    few.write_text("a,b\n" + "yes,no\nno,yes\nyes,yes\nno,no\n" * 3, encoding="utf-8")
    lines = [option for name in "ab" for option in ("--question", f"{name}: forced-response truth=1/2")]
    assert "the smallest expected number is 3: use permutations" in ok("crosstab", few, "a", "b", *lines)


def test_boxes_are_questions_of_their_own() -> None:
    survey = read_survey(FIVE_TYPES)
    reports = [randomize(survey, person(number)) for number in range(100)]
    columns = {question.id: tuple(str(each.values[question.id]) for each in reports) for question in survey.questions}
    table = Table.of(columns, survey)
    whole, box = table.item("drugs"), table.item("drugs[heroin]")
    assert box.options == ("no", "yes")
    drawn = whole.supports[:, 4:6].any(axis=1)
    assert len(box) == drawn.sum() < 100
    assert box.supports[:, 1].tolist() == whole.supports[drawn, 5].tolist()
    assert box.estimate().share[1] == pytest.approx(whole.estimate().share[2])
    assert cross(table, ["drugs[heroin]", "affair"])[0].n == drawn.sum()
    for analysis in (
        lambda: cross(table, ["drugs[heroin]", "drugs[cocaine]", "affair"]),
        lambda: regress(table, "town ~ drugs[heroin] + drugs[cocaine]"),
    ):
        with pytest.raises(ParameterError, match='must be asked with goal = "together" to analyse'):
            analysis()
    fit = regress(table, "drugs[heroin] ~ 1")
    assert fit.terms == ("Intercept",)
    with pytest.raises(ParameterError, match="must not have drinks, a number of which only the mean is estimated"):
        regress(table, "drinks ~ 1")
    with pytest.raises(ParameterError, match="drugs: must name one of its boxes"):
        table.item("drugs[love]")
    with pytest.raises(ParameterError, match="affair: must name one of its boxes"):
        table.item("affair[yes]")


def test_two_boxes_of_one_draw_are_crossed_by_the_reports_that_drew_both() -> None:
    survey = read_survey(FIVE_TYPES)
    reports = [randomize(survey, person(number)) for number in range(300)]
    columns = {question.id: tuple(str(each.values[question.id]) for each in reports) for question in survey.questions}
    table = Table.of(columns, survey)
    pair = box_pair(table.item("drugs"), "heroin", "cocaine")
    rows = cross(table, ["drugs[heroin]", "drugs[cocaine]"])
    assert [row.estimate for row in rows[:4]] == pytest.approx(pair.estimate.share)
    assert [row.measure for row in rows[4:]] == ["independence", "odds ratio", "correlation"]
    assert {row.n for row in rows} == {pair.estimate.n}
    assert 0 < pair.estimate.n < 300
    given = cross(table, ["drugs[heroin]", "drugs[cocaine]"], given="drugs[cocaine]")
    share = pair.share
    assert given[1].estimate == pytest.approx(share[0, 1] / share[:, 1].sum())
    assert given[0].estimate + given[2].estimate == pytest.approx(1)  # type: ignore[operator]
    with pytest.raises(ParameterError, match="permutations: must be 0 for what is of one draw"):
        cross(table, ["drugs[heroin]", "drugs[cocaine]"], permutations=10)
    with pytest.raises(ParameterError, match="must be of two boxes or of different questions, got drugs and drugs"):
        cross(table, ["drugs", "drugs[heroin]"])
    with pytest.raises(ParameterError, match="must name two of its boxes, got 'heroin' and 'love'"):
        cross(table, ["drugs[heroin]", "drugs[love]"])


def test_crosstabs_that_cannot_be_made_are_refused() -> None:
    assert "two or three different columns" in refused("crosstab", *STUDY, "affair", "affair")
    assert "must have a randomised question" in refused("crosstab", *STUDY, "wave", "arm")
    assert "given: must be one of affair, drugs" in refused("crosstab", *STUDY, "affair", "drugs", "--given", "arm")
    assert "only correlate" in refused("crosstab", *STUDY, "affair", "drugs", "income")
    assert "must be of two columns where one has several designs or two groups" in refused(
        "crosstab", *STUDY, "theft", "wave", "affair"
    )
    assert "regress income on that question, with --likelihood" in refused("crosstab", *STUDY, "theft", "income")


def test_a_randomised_outcome_is_regressed_as_the_function_does() -> None:
    data = [each for each in study_rows() if each["rrt_q1"] != "9" and each["age"]]
    matrix = [[1, float(each["age"]), float(each["wave"]) - 2025] for each in data]
    reports = [int(each["rrt_q1"] == "1") for each in data]
    names = ["Intercept", "age", "wave"]
    fit = logistic(reports, matrix, channels.forced_response("2/3"), names=names)
    result = run("regress", *STUDY, "affair ~ age + I(wave - 2025)", "--format", "json")
    document = json.loads(result.stdout)
    assert document["interval"] == "profile"
    assert document["dropped"] == 600 - len(data)
    assert document["glance"]["loglik"] == pytest.approx(fit.loglik)
    for mine, theirs in zip(document["terms"], fit.tidy(), strict=True):
        for key in ("estimate", "std_error", "conf_low", "conf_high", "p_value"):
            assert mine[key] == pytest.approx(getattr(theirs, key), rel=1e-4, abs=1e-6), key
    rows = as_rows("regress", *STUDY, "affair ~ age", "--se", "opg", "--interval", "wald", "--penalty", "cauchy")
    assert list(rows[0]) == ["term", "estimate", "std_error", "statistic", "p_value", "conf_low", "conf_high"]
    text = ok("regress", *STUDY, "affair ~ age", "--penalty", "cauchy")
    assert "penalty cauchy" in text
    assert "22 rows were left out because something was missing." in text


def test_groups_weights_and_clusters_reach_the_regression(study: Table) -> None:
    rows = as_rows("regress", *STUDY, "theft ~ 1", "--interval", "wald")
    assert [row["term"] for row in rows] == ["Intercept", "cheaters"]
    theft = study.estimate("theft")
    # A constant model is the closed form: share of cheaters, and the others who say yes honestly.
    assert rows[1]["estimate"] == pytest.approx(theft.share[2], abs=1e-6)
    assert 1 / (1 + math.exp(-rows[0]["estimate"])) == pytest.approx(theft.share[1], abs=1e-6)
    weighted = as_rows("regress", *STUDY, "drugs ~ 1", "--weights", "w")
    share = study.numbers("w") @ study.item("drugs").scores[:, 1] / study.numbers("w").sum()
    assert 1 / (1 + math.exp(-weighted[0]["estimate"])) == pytest.approx(share, abs=1e-6)
    clustered = as_rows("regress", *STUDY, "drugs ~ 1", "--cluster", "psu")
    plain = as_rows("regress", *STUDY, "drugs ~ 1", "--se", "sandwich")
    assert clustered[0]["estimate"] == pytest.approx(plain[0]["estimate"])
    assert clustered[0]["std_error"] != pytest.approx(plain[0]["std_error"], rel=1e-6)


@pytest.mark.slow
def test_randomised_predictors_and_choices(study: Table) -> None:
    frame = pd.DataFrame({"income": study.numbers("income"), "age": study.numbers("age")})
    frame["affair"] = [np.nan if report is None else report for report in study.reports["affair"]]
    designs = {"affair": channels.forced_response("2/3")}
    for function, flags in ((linear, ["--likelihood"]), (linear_moments, [])):
        fit = function("income ~ age + affair", frame, designs)
        rows = as_rows("regress", *STUDY, "income ~ age + affair", *flags)
        assert [row["term"] for row in rows] == list(fit.terms)
        assert [row["estimate"] for row in rows] == pytest.approx(fit.params.tolist(), rel=1e-4)
    assert "standard deviation of residuals" in ok("regress", *STUDY, "income ~ affair")
    survey, reports = love_reports(400)
    columns = {name: tuple(str(report.values[name]) for report in reports) for name in ("affair", "religious")}
    table = Table.of({"cohort": ("",) * 400, **columns}, survey)
    religious = survey.question("religious")
    values = [report.values["religious"] or 0 for report in reports]
    matrix = [[1.0]] * 400
    expected = multinomial(values, matrix, religious.mechanism, truths=religious.options, names=["Intercept"])
    found = regress(table, "religious ~ 1")
    assert found.terms == expected.terms == ("mildly: Intercept", "fairly: Intercept", "strongly: Intercept")
    assert found.params == pytest.approx(expected.params, abs=1e-5)


def test_formulas_that_cannot_be_fitted_are_refused() -> None:
    for formula, sentence in [
        ("affair", 'must be like "report ~ age + sex"'),
        ("income ~ age", "must have a randomised question (affair, drugs, theft), got none"),
        ("income ~ I(affair * age)", "must not compute I(affair * age) from a randomised predictor and a covariate"),
        ("affair ~ affair", "must not have affair on both sides"),
    ]:
        assert sentence in refused("regress", *STUDY, formula)
    assert "--se and --interval do not go with corrected least squares" in refused(
        "regress", *STUDY, "income ~ affair", "--se", "opg"
    )
    assert "likelihood: must go with a linear model" in refused("regress", *STUDY, "affair ~ age", "--likelihood")
    assert "must be one of the file's columns" in refused("regress", *STUDY, "affair ~ 1", "--cluster", "x")
