"""What analysts meet with their own files: canonical texts, groups, clusters, and sentences with the way out."""

from __future__ import annotations

import datetime
import io
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from deniable import Estimate, ParameterError, ReportError, TwoCoin, Warner, read_survey
from deniable_research.files import Layout, Table, cross, estimate_shares, quick_question, read_layout
from deniable_research.files.printing import crosstab_table
from deniable_research.simulation import Simulation, generator_of, reports_csv
from deniable_statistics.classical import combined_share, stochastic_lie_detector
from deniable_statistics.intervals import METHODS, level_of_each
from deniable_statistics.intervals.interval import HIGHEST_LEVEL, LOWEST_LEVEL
from deniable_statistics.planning import NoiseModel, ShareTest
from tests.support.analyzing import as_rows, ok, refused
from tools.rig.command_line import CommandLine
from tools.rig.survey_files import question_toml, survey_toml

SPORT = survey_toml(
    "Sport",
    question_toml("doped", "yes-no", "Doped?", truth="1/2"),
    question_toml("substances", "ticks", "Which?", options=["x", "y", "z"], epsilon=2.0),
    closes=datetime.date(2099, 12, 20),
)
PLAN, SIMULATE = CommandLine("plan"), CommandLine("simulate")


@pytest.fixture
def sport(tmp_path: Path) -> Path:
    path = tmp_path / "sport.toml"
    path.write_text(SPORT, encoding="utf-8")
    return path


@pytest.fixture
def export(tmp_path: Path) -> Path:
    """What Qualtrics writes: two rows of titles below the header."""
    path = tmp_path / "export.csv"
    path.write_text('Q7\nDid you?\n"{""ImportId"":""QID7""}"\n1\n0\n', encoding="utf-8")
    return path


def test_columns_of_bits_survive_pandas(sport: Path, tmp_path: Path) -> None:
    survey = read_survey(SPORT)
    generator = generator_of(7)
    simulation = Simulation(survey, {}, 200)
    lines = "".join(reports_csv(simulation.draw(generator), generator))
    frame = pd.read_csv(io.StringIO(lines))
    assert frame["substances"].str.fullmatch("b(?:00|01|10){3}").all()
    assert frame["substances"].str.startswith("b0").any()
    again = tmp_path / "again.csv"
    frame.to_csv(again, index=False)
    bare = tmp_path / "bare.csv"  # what somebody's spreadsheet made of older exports
    frame.assign(substances=frame["substances"].str[1:].astype(int)).to_csv(bare, index=False)
    assert ok("shares", again, "--survey", sport) == ok("shares", bare, "--survey", sport)
    assert len(as_rows("shares", again, "--survey", sport)) == 5


def test_missing_reports_are_not_missing_groups() -> None:
    design = """
        [[questions]]
        column = "q"
        design = "cheater-detection"
        yes = ["1/4", "3/4"]
        group = "g"
        missing = ["", "2"]
        codes = {no = "0", yes = "1"}
    """
    columns = {"q": ("0", "1", "2") * 40, "g": ("1",) * 60 + ("2",) * 60}
    table = Table.of(columns, read_layout(design))
    assert table.estimate("q").n == 80
    with pytest.raises(ParameterError, match="group_missing must hold no code of a group, got '2'"):
        read_layout(design + 'group_missing = ["2"]')
    apart = Table.of({**columns, "g": ("1",) * 60 + ("2",) * 57 + ("x",) * 3}, read_layout(design))
    with pytest.raises(ReportError, match="or a text of group_missing, got something else in 3 rows"):
        apart.estimate("q")
    said = Table.of(apart.columns, read_layout(design + 'group_missing = ["x"]'))
    assert said.estimate("q").n == 78


def test_prevalence_and_t_are_printed(tmp_path: Path) -> None:
    file = tmp_path / "sld.csv"
    rows = ["no,1"] * 170 + ["yes,1"] * 330 + ["no,2"] * 300 + ["yes,2"] * 200
    file.write_text("\n".join(["q,g", *rows]), encoding="utf-8")
    question = "q: stochastic-lie-detector p1=0.2 p2=0.8 group=g"
    found = {row["option"]: row for row in as_rows("shares", file, "--question", question)}
    result = stochastic_lie_detector("0.2", "0.8").estimate([[170, 330], [300, 200]])
    carriers = ["yes, honest", "yes, lying"]
    total, ratio = combined_share(result, carriers), combined_share(result, carriers[:1], carriers)
    prevalence, honest = found["prevalence"], found["t, honest among carriers"]
    assert (prevalence["estimate"], prevalence["std_error"]) == pytest.approx((total.estimate, total.std_error))
    assert (honest["estimate"], honest["std_error"]) == pytest.approx((ratio.estimate, ratio.std_error))
    assert (prevalence["conf_low"], prevalence["conf_high"]) == pytest.approx(total.confidence_interval())
    assert prevalence["conf_low"] < total.estimate < prevalence["conf_high"]
    assert [prevalence["statistic"], honest["statistic"]] == ["share", "ratio"]
    # 1 % of fakes in each group: all of them say yes in one and no in the other
    faked = stochastic_lie_detector("0.2", "0.8").estimate([[175, 325], [295, 205]])
    assert abs(combined_share(faked, carriers).estimate - total.estimate) == pytest.approx(prevalence["fake_margin"])


def test_nobody_of_a_group_leaves_prevalence_and_t_empty() -> None:
    layout = Layout((quick_question("q: stochastic-lie-detector p1=0.2 p2=0.8 group=g"),))
    # lam = 0.2 and 0.8 of yes: everybody is a non-carrier, so that t is the share of nobody
    table = Table.of(
        {"q": (("no",) * 2 + ("yes",) * 8 + ("no",) * 8 + ("yes",) * 2), "g": ("1",) * 10 + ("2",) * 10}, layout
    )
    rows = {row.option: row for row in estimate_shares(table)}
    assert rows["prevalence"].estimate == 0
    assert rows["t, honest among carriers"].estimate is None
    assert (rows["t, honest among carriers"].conf_low, rows["t, honest among carriers"].conf_high) == (0, 1)


@pytest.mark.parametrize("level", [LOWEST_LEVEL, 1 - 1e-9, HIGHEST_LEVEL])
def test_every_level_that_is_taken_gives_intervals(level: float) -> None:
    result: Estimate = TwoCoin("1/2", "1/2").estimate([570, 430])
    for method in ("default", *METHODS):
        for low, high in (
            *result.confidence_interval(level, method),
            *result.confidence_interval(level, method, simultaneous=True),
        ):
            assert 0 <= low <= high <= 1
    assert level_of_each(level, 1225) <= HIGHEST_LEVEL


def test_a_known_share_of_0_asked_directly_is_told_by_the_first_yes() -> None:
    direct = NoiseModel.directly()
    assert ShareTest(direct).sizes(0.2) == (8,)  # 1 - 0.8^8 = 0.83, 1 - 0.8^7 = 0.79
    assert ShareTest(direct).power(0.2, 8) == pytest.approx(1 - 0.8**8)
    assert "with direct, truthful answers, 8." in PLAN.ok(
        "--epsilon", "1", "--share", "0.2", "--against", "0", "--cohorts", "1"
    )
    assert "with direct, truthful answers, 1." in PLAN.ok(
        "--epsilon", "1", "--share", "0.9", "--against", "0", "--cohorts", "1"
    )


def test_sums_of_weights_are_no_people_and_people_no_powers_of_ten() -> None:
    def text(weights: str | None) -> str:
        layout = Layout((quick_question("a: warner p=3/4"), quick_question("b: warner p=3/4")), weights=weights)
        reports = tuple(map(str, np.arange(12340) % 2))
        columns = {"a": reports, "b": reports[::-1], "w": ("1.5",) * 12340}
        return str(crosstab_table(cross(Table.of(columns, layout), ["a", "b"])))

    assert "12,340 people." in text(None)
    assert "a sum of weights of 18,510." in text("w")
    assert "e+0" not in text(None) + text("w")


def test_decimal_commas_and_percentages_have_a_way_out(sport: Path, tmp_path: Path, export: Path) -> None:
    assert "write 0.2 for 20 %" in SIMULATE.refused(sport, "--truth", "doped=20")
    assert "write 0.2 for 20 %" in SIMULATE.refused(sport, "--truth", "doped=20%")
    assert "got 'doped=0,32'; write a decimal point: 0.32" in SIMULATE.refused(sport, "--truth", "doped=0,32")
    assert "write a decimal point: 0.1" in SIMULATE.refused(sport, "--noncompliance", "0,1")
    for option in ("--share", "--width", "--power", "--confidence"):
        assert "write a decimal point: 0.5" in PLAN.refused("--epsilon", "1", option, "0,5")
    assert "write a decimal point: 0.5" in PLAN.refused("--truth", "0,5")
    line = "Q7: warner p=0,7"
    assert "got '0,7'; write a decimal point: 0.7" in refused("shares", export, "--skip", 2, "--question", line)
    file = tmp_path / "w.csv"
    file.write_text("w;q\n1,5;1\n0,5;0\n", encoding="utf-8")
    said = refused("shares", file, "--question", "q: warner p=0.7", "--weights", "w")
    assert "2 rows do not, first '1,5'; write a decimal point: 1.5" in said
    design = '[[questions]]\ncolumn = "q"\ndesign = "warner"\np = 0,7\n'
    with pytest.raises(ParameterError, match=r"is not TOML: .*; write a decimal point: 0.7"):
        read_layout(design)


def test_titles_below_the_header_are_named_with_the_option(sport: Path, export: Path) -> None:
    said = refused("shares", export, "--survey", sport, "--column", "doped=Q7")
    assert "got something else in 2 rows, first 'Did you?'" in said
    assert "--skip 2" in said
    assert ok("shares", export, "--survey", sport, "--column", "doped=Q7", "--skip", 2)


def test_parameters_and_formulas_that_do_not_fit(sport: Path, tmp_path: Path, export: Path) -> None:
    said = refused("shares", export, "--skip", 2, "--question", "Q7: forced-response p=2/3")
    assert "design forced-response: must have truth (optional: forced)" in said
    assert "; got p" in said
    file = tmp_path / "reports.csv"
    rows = [f"{number % 2},b{('011000', '100100', '000110')[number % 3]},{'ab'[number % 2]}," for number in range(40)]
    file.write_text("\n".join(["doped,substances,cohort,empty", *rows]), encoding="utf-8")
    assert "must hold numbers, 40 rows do not, first 'a'" in refused(
        "regress", file, "cohort ~ doped", "--survey", sport, "--model", "linear"
    )
    for formula, sentence in {
        "substances ~ cohort": "substances must be one box of its question, such as substances[x] ~ ...",
        "doped ~ substances": "substances must be one box of its question, such as ... ~ substances[x], because",
        "Cohort ~ doped": "Cohort must be a column of the file (doped, substances, cohort, empty)",
        "doped ~ empty": "empty must hold something, but its column is empty in every row",
    }.items():
        assert sentence in refused("regress", file, formula, "--survey", sport)


def test_fake_margins_are_in_the_rows_and_the_table(tmp_path: Path) -> None:
    file = tmp_path / "a.csv"
    file.write_text("q\n" + "0\n1\n" * 50, encoding="utf-8")
    row = as_rows("shares", file, "--question", "q: warner p=3/4")[0]
    assert row["fake_margin"] == pytest.approx(0.02)
    assert "\u00b12.0 %" in ok("shares", file, "--question", "q: warner p=3/4")
    assert Warner("3/4").estimate([50, 50]).fake_margin == (0.02, 0.02)
