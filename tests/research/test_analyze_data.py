"""What the columns of a file of reports hold: designs in short and in TOML, codes, delimiters."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from deniable import (
    DrawnBoxes,
    KAry,
    Longitudinal,
    Mechanism,
    ParameterError,
    ReportError,
    Subset,
    TickBoxes,
    TwoCoin,
    Warner,
)
from deniable_research.files import DESIGNS, RandomizedColumn, quick_question, read_layout
from deniable_research.files.coded import CodedColumn
from deniable_research.files.csv_file import columns_of
from deniable_research.files.reading import read_columns
from deniable_statistics import classical as channels
from deniable_statistics.designs.of_mechanisms import AnyDesign, design_of

QUICK: dict[str, tuple[str, Callable[[], AnyDesign]]] = {
    "direct": ("", lambda: channels.from_matrix([[1, 0], [0, 1]], ["no", "yes"], ["no", "yes"], "direct")),
    "warner": ("p=0.7", lambda: channels.warner("0.7")),
    "forced-response": ("truth=1/2 forced=1/4,3/4", lambda: channels.forced_response("1/2", ["1/4", "3/4"])),
    "unrelated-question": ("p=0.7 prevalence=0.5", lambda: channels.unrelated_question("0.7", "0.5")),
    "unrelated-question-unknown": (
        "p1=0.7 p2=0.3 group=g",
        lambda: channels.unrelated_question_unknown("0.7", "0.3"),
    ),
    "kuk": ("p1=0.8 p2=0.2 repetitions=5", lambda: channels.kuk("0.8", "0.2", 5)),
    "mangat": ("p=0.7", lambda: channels.mangat("0.7")),
    "crosswise": ("p=1/6", lambda: channels.crosswise("1/6")),
    "triangular": ("p=1/6", lambda: channels.triangular("1/6")),
    "disguised-response": ("p=0.8", lambda: channels.disguised_response("0.8")),
    "cheater-detection": ("yes=1/4,3/4 group=g", lambda: channels.cheater_detection(["1/4", "3/4"])),
    "stochastic-lie-detector": ("p1=0.2 p2=0.8 group=g", lambda: channels.stochastic_lie_detector("0.2", "0.8")),
    "two-coin": ("truth=1/2", lambda: TwoCoin("1/2")),
    "k-ary": ("k=4 epsilon=1", lambda: KAry.from_epsilon(4, 1)),
    "longitudinal": ("k=3 epsilon=2 wave_epsilon=1", lambda: Longitudinal.from_epsilon(3, 2, 1)),
    "subset": ("k=6 w=2 epsilon=1", lambda: Subset.from_epsilon(6, 2, 1)),
    "tick-boxes": ("k=3 epsilon=2", lambda: TickBoxes.from_epsilon(3, 2)),
}


@pytest.mark.parametrize("name", QUICK)
def test_short_form_makes_the_design(name: str) -> None:
    parameters, make = QUICK[name]
    assert quick_question(f"q: {name} {parameters}").design == design_of(make())


@pytest.mark.parametrize(
    ("mechanism", "more"),
    [
        (Subset.from_epsilon(11, 3, 1.5), "k=11 epsilon=1.5"),
        (DrawnBoxes.from_epsilon(8, 2), "epsilon=2"),
        (KAry.from_epsilon(4, 1), "k=4 epsilon=1"),
    ],
    ids=str,
)
def test_a_line_takes_a_mechanism_as_it_is_printed(mechanism: Mechanism, more: str) -> None:
    assert quick_question(f"q: {mechanism} {more}").design == design_of(mechanism)


def test_every_other_design_is_made_from_toml() -> None:
    layout = read_layout("""
missing = ["", "-"]
[[questions]]
column = "a"
design = "matrix"
rows = [["0.6", "0.2"], ["0.2", "0.6"], ["0.2", "0.2"]]
responses = ["no", "yes", "refused"]
options = ["never", "ever"]
values = [0, 1]
codes = { no = ["0", "n"], yes = "1", refused = 8 }
[[questions]]
column = "b"
design = "geometric"
lo = 0
hi = 4
epsilon = 2.5
[[questions]]
column = "c"
design = "discrete-laplace"
lo = -2
hi = 3
epsilon = 2
[[questions]]
column = "d"
design = "exponential"
score = [[0, -1], [-1, 0]]
epsilon = 1
[[questions]]
column = "e"
design = "mean"
lo = 0
hi = 10
epsilon = 1
[[questions]]
column = "f"
design = "k-ary"
k = 3
truth = 0.5
[[questions]]
column = "g"
design = "warner"
epsilon = 1
""")
    names = {question.name: question.design for question in layout.questions}
    assert names["f"] == design_of(KAry.from_coin(3, "0.5"))
    assert names["g"] == design_of(Warner.from_epsilon(1))
    assert list(layout.questions[0].read(["n", "1", "8", "", "NA"])) == [0, 1, 2, None, None]
    assert layout.questions[0].options == ("never", "ever")
    assert layout.missing == ("", "-")
    assert list(layout.questions[2].read(["-2", "3.0"])) == [-2, 3]
    others = {"matrix", "geometric", "discrete-laplace", "exponential", "mean", "drawn-boxes", "piecewise"}
    others |= {"filtered-piecewise", "unequal-k-ary"}
    assert set(DESIGNS) == set(QUICK) | others


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("x", "is not TOML"),
        ("questions = []", "must be one or more tables"),
        ('weigths = "w"', "unknown key 'weigths'; did you mean 'weights'?"),
        ('[[questions]]\ncolumn = "q"', "question 1: must have the keys column and design"),
        ('[[questions]]\ncolumn = "q"\ndesign = "dice"', "question 'q': design must be one of direct, "),
        ('[[questions]]\ncolumn = "q"\ndesign = "crosswise"', "design crosswise: must have p; got no parameters"),
        ('[[questions]]\ncolumn = "q"\ndesign = "crosswise"\np = 2', "question 'q': p: must be a probability such as"),
        ('[[questions]]\ncolumn = "q"\ndesign = "kuk"\np1 = 80\np2 = 20', "no percentage, got 80"),
        (
            '[[questions]]\ncolumn = "q"\ndesign = "warner"\nkepe = 1',
            "design warner: must have p, or epsilon, or keep; got kepe",
        ),
        ('[[questions]]\ncolumn = "q"\ndesign = "crosswise"\np = 0.2\ncodes = {maybe = "1"}', "must name responses"),
        ('[[questions]]\ncolumn = "q"\ndesign = "crosswise"\np = 0.2\noptions = ["a"]', "options must be 2, got 1"),
        ('[[questions]]\ncolumn = "q"\ndesign = "crosswise"\np = 0.2\ngroup = "g"', "its design asks everybody alike"),
        ('[[questions]]\ncolumn = "q"\ndesign = "cheater-detection"\nyes = [0.2, 0.8]', "must name the column group"),
        ('[[questions]]\ncolumn = "q"\ndesign = "k-ary"\nk = 3\nepsilon = 1\ncodes = {"5" = "1"}', "'1' does not"),
    ],
)
def test_design_files_that_cannot_be_read_say_where(text: str, sentence: str) -> None:
    with pytest.raises(ParameterError) as caught:
        read_layout(text)
    assert sentence in str(caught.value)


def test_short_forms_that_cannot_be_read_say_what_is_wanted() -> None:
    for line in ("q", "q:", ": crosswise p=1/6", 'q: crosswise p="1/6'):
        with pytest.raises(ParameterError, match='must be like "rrt_q1: forced-response truth=2/3"'):
            quick_question(line)
    with pytest.raises(ParameterError, match="must have parameters like truth=2/3, got 'p'"):
        quick_question("q: crosswise p")
    with pytest.raises(ParameterError, match="codes: must be like no:2,yes:1"):
        quick_question("q: crosswise p=1/6 codes=1")


@pytest.mark.parametrize(
    ("parameters", "again"),
    [
        ("truth=1/2 yes=1/2 truth=1/3", "each parameter once, got truth again"),
        ("truth=1/2 yes=1/2 design=warner", "each parameter once, got design again"),
        ("truth=1/2 yes=1/2 missing=8 missing=9", "each parameter once, got missing again"),
        ("truth=1/2 yes=1/2 codes=no:1,yes:2,yes:3", "each response once, got 'yes' again"),
        ("truth=1/2 yes=1/2 codes=no:1,yes:1", "different for different responses, got '1' again"),
    ],
)
def test_what_a_short_form_says_twice_is_refused(parameters: str, again: str) -> None:
    with pytest.raises(ParameterError, match=again):
        quick_question(f"q1: two-coin {parameters}")


def test_names_of_responses_are_read_and_so_are_their_numbers() -> None:
    crosswise = quick_question("q: crosswise p=1/6")
    assert list(crosswise.read(["same", "different", "1", "0.0", "NaN"])) == [1, 0, 1, 0, None]
    numbered = RandomizedColumn(
        "q", "q", channels.from_matrix([["0.8", "0.2"], ["0.2", "0.8"]], ["1", "2"]), ("no", "yes")
    )
    assert list(numbered.read(["0", "1"])) == [0, 1]  # by their places, whatever their names
    with pytest.raises(ReportError, match="must hold an integer in"):
        numbered.read(["1", "2"])
    subset = quick_question("q: subset k=4 w=1 epsilon=1")
    assert list(subset.read(["0010", "1"])) == ["0010", "0001"]  # a spreadsheet took the zeros
    with pytest.raises(ReportError, match="a text of 4 characters 0 or 1, 1 of them 1"):
        subset.read(["0011"])


def texts(columns: Mapping[str, CodedColumn[str]]) -> dict[str, tuple[str | None, ...]]:
    return {name: tuple(column) for name, column in columns.items()}


@pytest.mark.slow
def test_delimiters_are_recognised_and_marks_and_blank_lines_passed_over(tmp_path: Path) -> None:
    wanted = {"a": ("1", "3"), "b, c": ("2", "4")}
    for between in ",;\t":
        header = f'a{between}"b, c"'
        path = tmp_path / "data.csv"
        path.write_text(f"\ufeff{header}\r\n1{between}2\r\n\r\n3{between} 4", encoding="utf-8", newline="")
        assert texts(read_columns(path)) == wanted
    assert texts(columns_of("a|b\n1|2\n", "x", "|")) == {"a": ("1",), "b": ("2",)}
    assert texts(columns_of("a\n1\n\n2\n", "x")) == {"a": ("1", "", "2")}
    assert texts(columns_of("a,b\n", "x")) == {"a": (), "b": ()}
    assert texts(columns_of('"a\nb",c\n1,"2\n3"\n', "x")) == {"a\nb": ("1",), "c": ("2\n3",)}
    assert texts(columns_of("a,b\n0,1\n" * 25_000, "x", skip=3))["b"] == ("b", "1") * 24_998, "in many blocks"


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"", "must start with a header"),
        (b"a,a\n1,2\n", "must have different names, got 'a' twice"),
        (b"a,b\n1,2\n3\n", "data.csv, line 3: must have 2 fields like the header, got 1"),
        (b"a,b\n1,\xff\n", "must be UTF-8 text, byte 6 is not"),
        (b'a,b\n1,"2\n', "is not CSV"),
    ],
)
def test_files_that_are_no_csv_are_refused(tmp_path: Path, content: bytes, sentence: str) -> None:
    path = tmp_path / "data.csv"
    path.write_bytes(content)
    with pytest.raises(ReportError) as caught:
        read_columns(path)
    assert sentence in str(caught.value)
