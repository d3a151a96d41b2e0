"""``deniable risk`` as people type it."""

from __future__ import annotations

import builtins
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

import pytest

from deniable import read_survey, whole_odds_sentences
from deniable_research.commands.risk import PRIORS, chart, risk, table
from deniable_statistics.risk import worst_advantage
from tools.rig.command_line import CommandLine

RISK = CommandLine("risk")
ok, refused = RISK.ok, RISK.refused


def test_help_has_a_sentence_and_examples() -> None:
    text = ok("--help")
    assert risk.help
    assert risk.help.splitlines()[0].endswith(".")
    assert "Examples:\n    deniable risk --epsilon" in text


def test_one_epsilon() -> None:
    text = ok("--epsilon", "1.0986122886681098")
    assert "prior 1 %" in text
    assert "25.0 (+15.0)" in text  # prior 10 %: odds 1 : 9 become 3 : 9
    assert "36.6 %: 63.4 (+26.8)" in text
    assert "One report changes the odds of any guess by a factor of at most 3.\n" in text


def test_several_epsilons_have_a_row_and_sentences_each() -> None:
    text = ok("--epsilon", "0.5", "--epsilon", "1")
    assert [line.split()[0] for line in text.splitlines()[1:3]] == ["0.5", "1"]
    assert "Epsilon 0.5: one report changes the odds" in text
    assert "Epsilon 1: one report changes the odds" in text


def test_figures_are_rounded_up() -> None:
    row = table([("", 0.5)], PRIORS).splitlines()[1]
    assert row.split()[:2] == ["0.5000", "1.7"]
    assert "1.7 (+0.7)" in row  # 1.638 and 0.638


def test_survey_shows_every_question_and_the_sum(file: Path) -> None:
    survey = read_survey(file.read_bytes())
    text = ok("--survey", file)
    lines = {line.split("  ")[0].strip(): line for line in text.splitlines()}
    assert "1.0986" in lines["affair"]
    assert "1.0000" in lines["religious"]
    assert f"{survey.epsilon:.4f}" in lines["whole survey"]
    assert all(sentence in text for sentence in whole_odds_sentences(survey))  # what respondents and authors read
    assert lines["whole survey"].split()[3] == "8.2"
    assert "at most 8.2 times as believable as it was." in text


def test_advantage_leads_back_to_epsilon() -> None:
    assert "of at most 31.4 points, whatever the prior, needs epsilon 1.2999 or less" in ok("--advantage", "0.314")
    text = ok("--advantage", "0.15", "--prior", "0.1")
    assert "at prior 10 %, needs epsilon 1.0986 or less" in text
    text = ok("--advantage", "0.2", "--prior", "0.15")
    assert "prior 15 %" in text
    assert "35.0 (+20.0)" in text  # the promise holds with the epsilon that is shown


def test_infinite_epsilon_is_named() -> None:
    text = ok("--epsilon", "inf")
    assert "infinity" in text
    assert "One report can prove an answer" in text
    assert "100.0 (+100.0)" in text


@pytest.mark.slow
@pytest.mark.parametrize("form", ["svg", "png"])
def test_plot_is_written_and_the_same_every_time(form: str, tmp_path: Path) -> None:
    pictures = [tmp_path / f"{name}.{form}" for name in ("one", "two")]
    for picture in pictures:
        ok("--epsilon", "1", "--plot", picture)
    assert pictures[0].read_bytes() == pictures[1].read_bytes()
    if form == "svg":
        text = pictures[0].read_text(encoding="utf-8")
        ET.fromstring(text)
        assert "worst prior" in text
        assert all(f"prior {100 * prior:g} %" in text for prior in PRIORS)
    else:
        assert pictures[0].read_bytes().startswith(b"\x89PNG")


def test_plot_alone_needs_no_epsilon(tmp_path: Path) -> None:
    assert ok("--plot", tmp_path / "risk.svg") == ""
    assert (tmp_path / "risk.svg").exists()


def test_chart_has_a_line_for_each_prior_and_the_worst_case() -> None:
    (axes,) = chart([1.0, 50.0]).axes
    curves = [line for line in axes.lines if len(line.get_xdata()) == 301]  # type: ignore[arg-type]
    assert len(curves) == len(PRIORS) + 1
    assert max(curves[0].get_ydata()) == pytest.approx(worst_advantage(6))  # type: ignore[arg-type,type-var]
    assert axes.get_xlim() == (0, 6)


def test_without_matplotlib_the_way_out_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    real = builtins.__import__

    def without(name: str, *rest: Any, **settings: Any) -> Any:
        if name.split(".")[0] == "matplotlib":
            raise ModuleNotFoundError(name=name)
        return real(name, *rest, **settings)

    monkeypatch.setattr(builtins, "__import__", without)
    assert refused("--plot", tmp_path / "risk.svg") == (
        "Error: --plot needs matplotlib; in a clone of the project: pip install '.[research]'\n"
    )


def test_wrong_use_is_a_sentence(file: Path, tmp_path: Path) -> None:
    assert "give one of --epsilon, --survey and --advantage" in refused()
    assert "give one of --epsilon, --survey and --advantage" in refused("--epsilon", "1", "--survey", file)
    assert "--prior goes with --advantage" in refused("--epsilon", "1", "--prior", "0.1")
    assert "must end in .svg, .png or .pdf, got 'risk.gif'" in refused("--epsilon", "1", "--plot", "risk.gif")
    assert "does not exist" in refused("--survey", tmp_path / "none.toml")
    assert "risk.svg: cannot be written" in refused("--plot", tmp_path / "none" / "risk.svg")


def test_mistakes_in_numbers_and_surveys_reach_the_command_line_as_errors_of_this_project(file: Path) -> None:
    file.write_text("titel = 'T'", encoding="utf-8")
    for arguments, message in (
        (["--epsilon", "-1"], "epsilon: must be"),
        (["--epsilon", "nan"], "epsilon: must be"),
        (["--advantage", "20"], "advantage: must be"),
        (["--advantage", "0.9", "--prior", "0.2"], "advantage: must be"),
        (["--survey", file], "survey: has the unknown key 'titel'"),
    ):
        assert message in refused(*arguments)


def test_shuffled_reports_have_a_table_of_their_own(file: Path) -> None:
    text = ok("--epsilon", "1", "--shuffled", "200")
    assert "two options     0.319" in text  # .3182, rounded up
    assert "except with probability 1e-06" in text
    survey = ok("--survey", file, "--shuffled", "1000", "--own", "50", "--delta", "1e-5")
    assert "whole survey" in survey.split("shuffled", 1)[1]
    # Three kinds of links: two cohorts, and none.
    assert "283 reports hide each other" in survey
    assert "divided by their number" in survey


def test_shuffling_is_asked_for_with_what_it_needs(file: Path) -> None:
    assert "--delta and --own go with --shuffled" in refused("--epsilon", "1", "--delta", "1e-6")
    assert "--shuffled goes with --epsilon or --survey" in refused("--advantage", "0.2", "--shuffled", "200")
    assert "own: must be from 0 to below the 10 reports" in refused("--epsilon", "1", "--shuffled", "10", "--own", "10")
