"""Arguments of public functions that were swapped or are of another kind are named in an error."""

# Wrong arguments are what this file is about.
# mypy: disable-error-code="arg-type, list-item"

import math
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import deniable
from deniable import DeniableError, KAry, Report, Warner, count_reports, read_survey
from deniable.privacy.odds import whole_odds_sentences
from deniable_research import regression, simulation
from deniable_statistics import classical, comparison, intervals, risk, shuffling

COIN = Warner("3/4")
SURVEY = read_survey('title="T"\n[[questions]]\nid="affair"\ntype="yes-no"\ntext="?"\nepsilon=1\n')
REPORT = Report("0" * 32, None, {"affair": 1})
SHARES = COIN.estimate([600, 400])
DATA = pd.DataFrame({"y": [0, 1, 1, 0], "x": [1.0, 2.0, 3.0, 4.0]})

WRONG: dict[str, tuple[Callable[[], Any], str]] = {
    "count_reports": (lambda: count_reports(COIN, [0, 1]), "reports: must be an Iterable, got a Warner"),
    "count_reports, survey": (lambda: count_reports([0, 1], SURVEY), "mechanism: must be a Mechanism, got a Survey"),
    "tally_reports": (lambda: deniable.tally_reports(SURVEY, [REPORT]), "reports: must be an Iterable, got a Survey"),
    "tally_reports, texts": (
        lambda: deniable.tally_reports(["{}"], SURVEY),
        "each of the reports: must be a Report, got a string",
    ),
    "estimate": (lambda: deniable.estimate(SURVEY, {}), "tallies: must be a Mapping, got a Survey"),
    "parse_report": (lambda: deniable.parse_report("{}", SURVEY), "raw: must be bytes, got a string"),
    "parse_survey": (lambda: deniable.parse_survey("{}"), "document: must be bytes, got a string"),
    "field_value": (lambda: deniable.field_value("affair", SURVEY, "1"), "survey: must be a Survey, got a string"),
    "odds_sentences": (lambda: deniable.odds_sentences(SURVEY), "question: must be a Question, got a Survey"),
    "whole_odds_sentences": (
        lambda: whole_odds_sentences(SURVEY.questions[0]),
        "survey: must be a Survey, got a Question",
    ),
    "weak_protection": (lambda: deniable.weak_protection(COIN), "survey: must be a Survey, got a Warner"),
    "read_survey": (lambda: read_survey(3), "survey: must be TOML as text or bytes, got 3"),
    "counts": (lambda: COIN.estimate(600), "counts: must be 2 numbers in the order of reports, got 600"),
    "n": (lambda: COIN.estimate([600, 400], "1000"), "n: must be a number, got a string"),
    "confidence_level": (lambda: SHARES.confidence_interval("wilson"), "confidence_level: must be a number"),
    "percent": (lambda: SHARES.confidence_interval(95), "got 95; write 0.95 for 95 %"),
    "method": (lambda: SHARES.confidence_interval(method=["wilson"]), "method: must be a string, got a list"),
    "fakes": (lambda: SHARES.confidence_interval(fakes="20"), "fakes: must be a number, got a string"),
    "wilson": (lambda: intervals.wilson(100, 40, 0.95), "count: must be in [0, n = 40], got 100"),
    "wilson, level": (lambda: intervals.wilson(0.95, 40, 100), "confidence_level: must be from"),
    "feldman_cousins": (lambda: intervals.feldman_cousins(4, 40, 0.95, 0.75, 0.25), "the smaller one first"),
    "share_interval": (lambda: intervals.share_interval(40, 100, 0.75), "support: must be two different probabilities"),
    "difference": (lambda: comparison.difference(SHARES, COIN), "each of the estimates: must be an Estimate"),
    "homogeneity": (lambda: comparison.homogeneity(SHARES), "estimates: must be an Iterable, got an Estimate"),
    "from_mechanism": (lambda: classical.from_mechanism("warner"), "mechanism: must be a Mechanism, got a string"),
    "combined_share": (lambda: classical.combined_share([0], SHARES), "shares: must be an Estimate, got a list"),
    "all_advantage": (lambda: risk.all_advantage(1, [0.1]), "priors: must be an Iterable, got 1"),
    "shuffled_of": (lambda: shuffling.shuffled_of(1000, COIN, 1e-6), "mechanism: must be a Mechanism, got 1000"),
    "logistic": (lambda: regression.logistic(DATA, "y ~ x", COIN), "data: must be a matrix of numbers, or a table"),
    "linear": (lambda: regression.linear("y ~ x", DATA, COIN), "randomised: must be a Mapping, got a Warner"),
    "truth_of": (lambda: simulation.truth_of({}, SURVEY), "survey: must be a Survey, got an object"),
    "generator_of": (lambda: simulation.generator_of("one"), "seed: must be an integer of at least 0, got a string"),
}


@pytest.mark.parametrize("name", WRONG)
def test_the_error_names_the_argument_and_what_came(name: str) -> None:
    call, message = WRONG[name]
    with pytest.raises(DeniableError) as caught:
        call()
    assert message in str(caught.value)


@pytest.mark.parametrize(
    "column",
    [
        [0.0, 2.0, 2.0, math.nan],
        np.array([0, 2, math.nan, 2]),
        pd.Series([0, 2, None, 2]),
        pd.Series([0, 2, None, 2], dtype="Int64"),
    ],
    ids=["floats", "array", "series", "nullable"],
)
def test_missing_cells_of_a_column_are_no_reports(column: Iterable[Any]) -> None:
    assert count_reports(column, KAry(3, "1/2")) == (1, 0, 2)


def test_a_fraction_is_no_report() -> None:
    with pytest.raises(DeniableError, match=r"reports\[1\]: report must be an integer in \[0, 3\), got a fraction"):
        count_reports([0.0, 1.5], KAry(3, "1/2"))


def test_a_published_survey_in_place_of_its_toml_is_called_by_its_name(tmp_path: Path) -> None:
    (tmp_path / "survey.json").write_bytes(SURVEY.document)
    with pytest.raises(DeniableError, match="looks like JSON; if it is a published survey, parse_survey"):
        read_survey(path=tmp_path / "survey.json")
