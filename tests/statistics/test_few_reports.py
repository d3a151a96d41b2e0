"""What is said where reports are so few that estimates mislead."""

from __future__ import annotations

import pytest

from deniable.mechanisms import KAry
from deniable_statistics.published.few_reports import few_reports
from deniable_statistics.published.printed_numbers import number, percent, standard_error
from deniable_statistics.published.published_rows import EstimateRow, share_rows

NOISE = KAry.from_epsilon(3, 2)


def rows_of(*counts: int) -> list[EstimateRow]:
    return share_rows(NOISE.estimate(counts), "q", ["a", "b", "c"], NOISE.epsilon)


def test_three_reports_say_nothing_and_three_hundred_do() -> None:
    said = list(few_reports(rows_of(2, 1, 0)))
    assert said[0].startswith("Too few reports to say anything: q (3). Intervals cover at least 90 % of all possible ")
    assert said[1].startswith("A dash is a standard error that is not known")
    assert list(few_reports(rows_of(200, 60, 40))) == []


def test_many_reports_that_all_say_the_same_have_an_interval_and_no_error() -> None:
    """A count of 0 in 500 has the formula's error 0; its interval, of a hypothesis test, is narrow and holds."""
    rows = rows_of(500, 0, 0)
    (said,) = few_reports(rows)
    assert said.startswith("A dash is")
    assert {standard_error(row.std_error) for row in rows} == {"\u2013"}
    assert all(row.conf_high - row.conf_low > 0 for row in rows)


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
