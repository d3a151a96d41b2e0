"""Counts are read by their keys, or refused: never in an order in which nobody meant them."""

from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest

from deniable import KAry, Subset, Warner, count_reports
from deniable.errors import ParameterError, ReportError
from deniable_statistics.classical import designs
from deniable_statistics.estimates.among import AmongEstimate
from deniable_statistics.estimates.means import MeanEstimate
from deniable_statistics.joint.crosstab import Crosstab

YES = Warner.from_epsilon(1)
COLUMN = pd.Series([1] * 700 + [0] * 300)


@pytest.mark.parametrize(
    "counts",
    [COLUMN.value_counts(), {1: 700, 0: 300}, Counter(COLUMN), np.array([300.0, 700.0]), COLUMN.eq(1).value_counts()],
)
def test_counts_are_read_by_their_keys(counts: Any) -> None:
    assert YES.estimate(counts).counts == (300, 700)
    assert MeanEstimate.from_counts(YES, counts) == MeanEstimate.from_counts(YES, [300, 700])
    assert designs.warner("3/4").estimate(counts) == designs.warner("3/4").estimate([300, 700])


def test_a_report_that_nobody_sent_has_no_key() -> None:
    assert KAry.from_epsilon(3, 1).estimate({2: 4, 0: 1}).counts == (1, 0, 4)


SETS = Subset.from_epsilon(4, 2, 1)


@pytest.mark.parametrize(
    "counts",
    [
        pd.Series(["1100"] * 5 + ["0101"] * 2).value_counts(),
        {"b0101": 2, "b1100": 5},
        {frozenset({0, 1}): 5, frozenset({1, 3}): 2},
        pd.DataFrame([[1, 1, 0, 0]] * 5 + [[0, 1, 0, 1]] * 2).value_counts(),
    ],
    ids=["texts", "texts of an export", "sets", "rows of a table"],
)
def test_keys_may_be_reports_that_support_several_options(counts: Any) -> None:
    assert SETS.estimate(counts) == SETS.estimate([5, 7, 0, 2], 7)
    assert SETS.estimate({0: 5, 1: 7, 3: 2}, 7) == SETS.estimate([5, 7, 0, 2], 7)


@pytest.mark.parametrize("key", ["1110", "11", frozenset({0, 4}), frozenset({1}), (0, 1)])
def test_keys_that_are_no_such_report_are_refused_with_the_way_out(key: Any) -> None:
    with pytest.raises(ParameterError, match=r"a text of 4 characters 0 or 1, 2 of them 1.*count_reports counts"):
        SETS.estimate({key: 3}, 3)


def test_a_column_of_sets_is_counted() -> None:
    assert count_reports(pd.Series([{0, 1}, frozenset({1, 3}), "b0011"]), SETS) == (1, 2, 1, 2)
    for wrong in ({0, 4}, {1}, "bb11"):
        with pytest.raises(ReportError, match=r"reports\[1\]: report must be a text of 4 characters"):
            count_reports(["1100", wrong], SETS)
    with pytest.raises(ReportError, match=r"reports\[0\]: report must be an integer"):
        count_reports([{5}], YES)


def test_keys_may_be_the_names_of_responses() -> None:
    design = designs.warner("3/4")
    named = dict(zip(reversed(design.responses), [600, 400], strict=True))
    assert design.estimate(named) == design.estimate([400, 600])


def test_labels_of_a_table_are_read() -> None:
    table = pd.crosstab(pd.Series([1, 1, 1, 0]), pd.Series([1, 0, 0, 1]))
    found = Crosstab.from_counts([YES, YES], table.loc[[1, 0], [1, 0]])
    assert np.array_equal(found.share, Crosstab.from_counts([YES, YES], [[0, 1], [2, 1]]).share)
    with pytest.raises(ParameterError, match="rows of the table: must have keys that are reports"):
        Crosstab.from_counts([YES, YES], table.rename(index={0: "no"}))


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: YES.estimate(pd.Series([300, 700], index=["no", "yes"])), "got the key 'no'"),
        (lambda: YES.estimate(pd.Series([300, 700], index=[1, 1])), "got the key 1 twice"),
        (
            lambda: YES.estimate({1, 2}),  # type: ignore[arg-type]  # what is tested
            "must be 2 numbers in the order of reports",
        ),
        (lambda: YES.estimate([0.3, 0.7]), "the first that is not is counts[0], got"),
        (lambda: YES.estimate([600, 400], 2000), "n: must be the sum of the counts, 1000"),
        (lambda: YES.estimate([600, 400], 900), "n: must be the sum of the counts, 1000"),
        (lambda: MeanEstimate.from_counts(YES, [600, 400], 2000), "n: must be the sum of the counts, 1000"),
        (lambda: AmongEstimate.from_counts(YES, [1, 2], 9), "n: must be the sum"),
    ],
)
def test_counts_that_cannot_be_read_are_refused(call: Callable[[], object], sentence: str) -> None:
    with pytest.raises(ParameterError) as caught:
        call()
    assert sentence in str(caught.value)
