"""Sizes of the plots of analyses, on the command line and in Python."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from deniable import ParameterError
from deniable_research import read
from tools.rig.command_line import CommandLine

ANALYZE = CommandLine("analyze")
EXAMS = Path(__file__).parents[2] / "examples" / "exams"
DATA, SURVEY = (str(EXAMS / "reports.csv"), "--survey", str(EXAMS / "exams.toml")), str(EXAMS / "exams.toml")
MM = 72 / 25.4
"""Points in a mm."""


def size_of(svg: Path) -> list[float]:
    """Width and height of an SVG, in mm."""
    found = re.search(r'<svg[^>]* width="([\d.]+)pt" height="([\d.]+)pt"', svg.read_text(encoding="utf-8"))
    assert found is not None
    return [float(each) / MM for each in found.groups()]


@pytest.mark.slow
@pytest.mark.parametrize(
    "analysis",
    [
        ("shares", *DATA),
        ("compare", DATA[0], "cheated", *DATA[1:], "--by", "cohort"),
        ("crosstab", DATA[0], "cheated", "stressed", *DATA[1:]),
        ("regress", DATA[0], "cheated ~ C(cohort)", *DATA[1:]),
        ("predict", DATA[0], "cheated ~ C(cohort)", *DATA[1:]),
        ("sensitivity", DATA[0], "cheated", *DATA[1:]),
    ],
    ids=lambda analysis: analysis[0],
)
def test_every_plot_has_the_asked_size(analysis: tuple[str, ...], tmp_path: Path) -> None:
    picture = tmp_path / "a.svg"
    ANALYZE.ok(*analysis, "--plot", picture, "--width", "85", "--height", "120mm", "--font-size", "8")
    assert size_of(picture) == pytest.approx([85, 120], abs=0.01)


def test_a_resolution_is_that_of_a_png(tmp_path: Path) -> None:
    picture = tmp_path / "a.png"
    ANALYZE.ok("shares", *DATA, "--plot", picture, "--width", "90", "--dpi", "300")
    assert int.from_bytes(picture.read_bytes()[16:20], "big") == pytest.approx(90 / 25.4 * 300, abs=1)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--width", "20"), "width: must be from 50 to 420 mm, got 20"),
        (("--width", "8,5"), "must be a number of mm, such as 85, got '8,5'; write a decimal point: 8.5"),
        (("--height", "wide"), "Invalid value for '--height': must be a number of mm, such as 60, got 'wide'"),
        (("--font-size", "4"), "font size: must be from 5 to 24 points, got 4"),
        (("--width", "85", "--font-size", "15"), "width: must be at least 87 mm for letters of 15 points, got 85"),
        (("--dpi", "300"), "dpi: must go with a file in .png, which has pixels, got 'a.svg'"),
    ],
)
def test_sizes_that_no_plot_can_have_are_refused(tmp_path: Path, options: tuple[str, ...], message: str) -> None:
    said = " ".join(ANALYZE.refused("shares", *DATA, "--plot", tmp_path / "a.svg", *options).split())
    assert message in said
    assert not (tmp_path / "a.svg").exists()


def test_a_plot_that_is_too_low_is_refused_when_the_table_stands_there(tmp_path: Path) -> None:
    """How high a plot must be is known when the results are, which are not thrown away."""
    result = ANALYZE.run("shares", *DATA, "--plot", tmp_path / "a.svg", "--height", "25")
    assert result.exit_code == 1
    assert result.stdout.startswith("Question")
    assert "height: must be at least 75 mm for this chart with letters of 10 points, got 25" in result.stderr
    assert not (tmp_path / "a.svg").exists()


def test_sizes_go_with_a_plot() -> None:
    said = " ".join(ANALYZE.refused("shares", *DATA, "--width", "85").split())
    assert "--width and --height and --font-size and --dpi go with --plot" in said


def test_charts_of_python_have_sizes(tmp_path: Path) -> None:
    chart = read(DATA[0], SURVEY).shares().plot()
    chart.save(tmp_path / "a.svg", width=85, font_size=8)
    assert size_of(tmp_path / "a.svg")[0] == pytest.approx(85, abs=0.01)
    assert chart.figure(width=85, height=100).get_size_inches() == pytest.approx([85 / 25.4, 100 / 25.4])
    with pytest.raises(ParameterError, match=r"^dpi: must go with a file in \.png"):
        chart.save(tmp_path / "b.pdf", dpi=300)
    with pytest.raises(ParameterError, match=r"^path: must end in \.svg, \.png or \.pdf, got 'b\.jpg'$"):
        chart.save(tmp_path / "b.jpg")


@pytest.mark.parametrize("analysis", [(), ("--formula", "cheated ~ C(cohort)", "--over", "epsilon=1,2")])
def test_plots_of_simulations_have_sizes(tmp_path: Path, analysis: tuple[str, ...]) -> None:
    picture = tmp_path / "a.svg"
    simulate, asked = CommandLine("simulate"), (SURVEY, "--repetitions", "2", "--respondents", "200", *analysis)
    simulate.ok(*asked, "--plot", picture, "--width", "85", "--height", "110", "--font-size", "8")
    assert size_of(picture) == pytest.approx([85, 110], abs=0.01)
    result = simulate.run(*asked, "--plot", tmp_path / "b.svg", "--height", "21")
    assert result.exit_code == 1
    assert "mm for this chart with letters of 10 points, got 21" in result.stderr
    assert "dpi: must go with a file in .png" in simulate.refused(*asked, "--plot", picture, "--dpi", "300")
    assert "--font-size and --dpi go with --plot" in simulate.refused(*asked, "--width", "85")
