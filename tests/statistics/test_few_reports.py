"""What is said where reports are so few that estimates mislead."""

from __future__ import annotations

import pytest

from deniable import read_survey
from deniable.mechanisms import KAry
from deniable_statistics.estimates.tally import Tally
from deniable_statistics.published.columns import figures
from deniable_statistics.published.printed_numbers import number, percent, standard_error
from deniable_statistics.published.published_rows import EstimateRow, estimate, share_rows
from deniable_statistics.views.few_reports import (
    TOO_FEW,
    axes_in,
    axis_of_shares,
    few_reports,
    says_nothing,
    without_weak,
)
from deniable_statistics.views.view_row import share_view

NOISE = KAry.from_epsilon(3, 2)


def rows_of(*counts: int) -> list[EstimateRow]:
    return share_rows(NOISE.estimate(counts), "q", ["a", "b", "c"], NOISE.epsilon)


def test_three_reports_say_nothing_and_three_hundred_do() -> None:
    said = list(few_reports(rows_of(2, 1, 0)))
    assert said[0].startswith("Too few reports to say: q (3 reports). The interval is wider than 30 % of the possible ")
    assert said[1].startswith("A dash: no standard error can be computed")
    assert list(few_reports(rows_of(200, 60, 40))) == []


def test_many_reports_that_all_say_the_same_have_an_interval_and_no_error() -> None:
    """A count of 0 in 500 has the formula's error 0; its interval, of a hypothesis test, is narrow and holds."""
    rows = rows_of(500, 0, 0)
    (said,) = few_reports(rows)
    assert said.startswith("A dash: ")
    assert {standard_error(row.std_error) for row in rows} == {"\u2013"}
    assert all(row.conf_high - row.conf_low > 0 for row in rows)


def test_the_command_line_and_the_pages_call_the_same_figures_too_weak() -> None:
    """A mean of -3 on a scale from 1 to 5, or a share of 180 %, is in none of them."""
    survey = read_survey(
        'title = "T"\n[[questions]]\nid = "often"\ntype = "scale"\ntext = "How often?"\nlo = 1\nhi = 5\nepsilon = 1\n'
    )
    (often,) = survey.questions
    axis = axes_in(survey)
    for counts in ((1, 0, 0, 0, 2), (300, 200, 200, 100, 100)):
        n = sum(counts)
        rows = estimate({None: Tally(n, {"often": counts})}, survey)
        assert "mean" in {row.statistic for row in rows}
        assert [says_nothing(row, axis) for row in rows] == [share_view(often, row).weak for row in rows]
        printed = [without_weak(figures()[0], rows, axis).cell(row) for row in rows]
        assert (TOO_FEW in printed) == (n == 3)
        assert ("%" in "".join(printed)) == (n > 3)


def test_an_impossible_share_beside_weak_ones_is_not_printed() -> None:
    """Of 13 reports to three options, none for the last: its estimate is -27 %, with an interval of 22 points."""
    rows = rows_of(9, 4, 0)
    column = without_weak(figures()[0], rows, axis_of_shares)
    assert not says_nothing(rows[-1])
    assert rows[-1].estimate is not None
    assert rows[-1].estimate < 0
    assert column.cell(rows[-1]) == TOO_FEW
    many = rows_of(9000, 4000, 1500)
    assert TOO_FEW not in [without_weak(figures()[0], many, axis_of_shares).cell(row) for row in many]


@pytest.mark.parametrize(
    ("error", "form", "text"),
    [
        (0.0, percent, "\u2013"),
        (0.0, number, "\u2013"),
        (None, percent, "\u2013"),
        (0.00049, percent, "< 0.1 %"),
        (0.0006, percent, "0.1 %"),
        (0.00001, number, "0.00001"),
    ],
)
def test_no_error_is_printed_as_zero(error: float | None, form: object, text: str) -> None:
    assert standard_error(error, form) == text  # type: ignore[arg-type]
