"""CSV cells that spreadsheets do not calculate, and that our own readers read as they were."""

from __future__ import annotations

import csv
import io

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from deniable_research.files.csv_file import columns_of
from deniable_statistics.published.csv_cells import csv_lines, plain_cell, safe_cell

CALCULATED = tuple("=+-@\t\r\n\uff1d\uff0b\uff0d\uff20")


@pytest.mark.parametrize("start", CALCULATED)
def test_a_text_that_starts_like_a_formula_starts_with_an_apostrophe(start: str) -> None:
    (line,) = csv_lines([[f'{start}HYPERLINK("http://example.org")']])
    ((cell,),) = csv.reader(io.StringIO(line, newline=""))
    assert cell[0] == "'"
    assert plain_cell(cell)[0] == start


@pytest.mark.parametrize(
    "cell", ["-2", "+3", "-0.5", "1e-5", "-1E+3", "-inf", "nan", "-.5", "yes", "don't", "", -2, -0.5, None]
)
def test_numbers_and_ordinary_texts_stay(cell: object) -> None:
    assert safe_cell(cell) is cell


@pytest.mark.parametrize("cell", ["-2+3", "-1_000", "+1 234", "-2\n", "-\u0663", "--2"])
def test_what_only_looks_like_a_number_is_a_text(cell: str) -> None:
    assert safe_cell(cell) == f"'{cell}"


@pytest.mark.fuzz
@given(st.text(alphabet=st.sampled_from("'=-+@1. a\n\uff1d"), max_size=6) | st.text())
@example("'-5")
@example("''=")
def test_every_text_comes_back_and_none_is_calculated(text: str) -> None:
    assert plain_cell(safe_cell(text)) == text
    if safe_cell(text) != text:
        assert safe_cell(text).startswith("'")


def test_our_reader_undoes_it() -> None:
    rows = [["id", "cohort"], ["1", "=1+1"], ["2", "'=x"], ["3", "-5"], ["4", "@home"]]
    columns = columns_of("".join(csv_lines(rows)), "reports.csv")
    assert tuple(columns["cohort"]) == ("=1+1", "'=x", "-5", "@home")
