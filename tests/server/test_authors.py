"""What authors are told: what their survey can be analysed for, what it lacks, and what their installation lacks."""

from __future__ import annotations

import datetime
import re
import shlex
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from deniable import read_survey
from deniable_server.authors.checking import notes_about, warnings_about
from deniable_statistics.authoring.cautions import unlinkable_warning
from tools.rig.access import unlinkable_survey
from tools.rig.command_line import CommandLine
from tools.rig.places import sealed_survey
from tools.rig.survey_files import question_toml, survey_toml
from tools.rig.surveys import EVERY_KIND


def test_check_tells_it_and_the_languages_that_are_missing(tmp_path: Path) -> None:
    file = tmp_path / "survey.toml"
    file.write_text(
        EVERY_KIND.replace('title = "T"', 'cohorts = ["web"]\ntitle = {default = "T", de = "T"}'), encoding="utf-8"
    )
    text = CommandLine("survey", "check").ok(file)
    assert "Can be analysed: mean\n" in text
    assert "Cannot be analysed: shares; crosstab" in text
    assert "Instead: goal = " in text
    assert "Warning: de: is missing in the text of yes_no, the text of k_ary, " in text
    assert "Note: a link without a cohort can be answered too; cohort_required = true" in text


def test_publish_prints_no_incomplete_link(tmp_path: Path) -> None:
    file = tmp_path / "survey.toml"
    file.write_text(
        'title = "T"\ncohorts = ["web"]\ncohort_required = true\n[[questions]]\nid = "q"\ntype = "yes-no"\n'
        'text = "?"\nepsilon = 1\n',
        encoding="utf-8",
    )
    text = CommandLine("survey", "publish").ok(file, "--db", tmp_path / "test.db")
    assert re.findall(r"/s/[a-z2-7]{26}(\S*)", text) == ["#cohort=web", "/results"]


def test_publish_prints_how_to_invite_into_each_cohort(tmp_path: Path) -> None:
    file, database = tmp_path / "survey.toml", tmp_path / "test.db"
    cohorts = {"cohorts": ["shop floor", "web"], "cohort_required": True, "access": "invited"}
    file.write_text(survey_toml("T", question_toml("q", "yes-no", epsilon=1), **cohorts), encoding="utf-8")
    said = CommandLine("survey", "publish").ok(file, "--db", database)
    commands = re.findall(r"deniable invite (.*)", said)
    assert [shlex.split(each)[4] for each in commands] == ["shop floor", "web"]
    for number, each in enumerate(commands):
        CommandLine("invite").ok(*shlex.split(each), "--to", tmp_path / f"{number}.csv")


TOO_MUCH = {
    "question 'q0': epsilon must be at most 4": [4.5],
    "epsilons must add up to at most 8": [2.7, 2.7, 2.7],
}


@pytest.mark.parametrize("reason", TOO_MUCH)
def test_publish_refuses_what_every_device_refuses_unless_forced(reason: str, tmp_path: Path) -> None:
    file, database = tmp_path / "survey.toml", tmp_path / "test.db"
    asked = [question_toml(f"q{n}", "yes-no", epsilon=each) for n, each in enumerate(TOO_MUCH[reason])]
    file.write_text(survey_toml("T", *asked), encoding="utf-8")
    publish = CommandLine("survey", "publish")
    for place in (("--db", database), ("--url", "http://127.0.0.1:1", "--token", "dn_x")):
        sentence = publish.refused(file, *place)
        assert reason in sentence
        assert "every device refuses this survey until its owner raises the ceiling" in sentence
        assert "publish it all the same with --force" in sentence
    assert not database.exists()
    forced = publish.run(file, "--db", database, "--force")
    assert forced.exit_code == 0
    assert "Warning: " in forced.stderr
    assert "devices refuse this survey unless their owners raise the ceiling" in forced.stderr


def test_publish_takes_what_devices_just_allow(tmp_path: Path) -> None:
    file = tmp_path / "survey.toml"
    file.write_text(survey_toml("T", question_toml("q", "yes-no", epsilon=4), question_toml("p", "yes-no", epsilon=4)))
    assert "answer" in CommandLine("survey", "publish").ok(file, "--db", tmp_path / "test.db")


SMALLEST = """
import sys
extras = ("numpy scipy pandas matplotlib formulaic flask apiflask granian pydantic pydantic_settings sqlite_utils "
          "prometheus_client")
sys.modules.update(dict.fromkeys(extras.split()))
from deniable_commands.main import main
main(sys.argv[1:])
"""


def in_the_smallest_install(*arguments: object) -> subprocess.CompletedProcess[str]:
    """The command where none of the extras is installed."""
    return subprocess.run([sys.executable, "-c", SMALLEST, *map(str, arguments)], capture_output=True, text=True)


def test_authors_commands_work_in_the_smallest_install_or_name_the_extra(tmp_path: Path) -> None:
    file = tmp_path / "survey.toml"
    head, question, *_ = EVERY_KIND.split("[[questions]]")
    file.write_text(f"{head}[[questions]]{question}", encoding="utf-8")
    checked = in_the_smallest_install("survey", "check", file)
    assert (checked.returncode, checked.stderr) == (0, "")
    assert "two-coin, epsilon 1.0986" in checked.stdout
    for arguments in (
        ("survey", "list", "--db", file),
        ("plan", "--survey", file),
        ("audit", file, "--draws", "1000", "--client", "python"),
    ):
        result = in_the_smallest_install(*arguments)
        assert result.returncode == 1
        assert "in a clone of the project: pip install '.[" in result.stderr, arguments
        assert result.stderr.count("\n") == 1


def check_of(tmp_path: Path, *flags: object, **keys: object) -> str:
    file = tmp_path / "survey.toml"
    file.write_text(survey_toml("T", question_toml("q", "yes-no", epsilon=1), **keys), encoding="utf-8")
    return CommandLine("survey", "check").ok(file, *flags)


TWO_COHORTS = {"cohorts": ["north", "south"], "cohort_required": True}


def test_check_and_plan_warn_where_releases_hold_back_half_of_the_planned_respondents(tmp_path: Path) -> None:
    warning = (
        "Warning: release: 200 reports times 2 groups are 400, with 390 planned respondents, so results may show few "
        "or none of them before the survey closes; release = 97 or fewer cohorts would show them sooner"
    )
    assert warning in check_of(tmp_path, "--respondents", 390, **TWO_COHORTS)
    planned = CommandLine("plan").run("--survey", tmp_path / "survey.toml", "--respondents", 390)
    assert (planned.exit_code, planned.stderr) == (0, f"{warning}\n")
    assert "Warning" not in check_of(tmp_path, "--respondents", 800, **TWO_COHORTS)
    assert CommandLine("plan").run("--survey", tmp_path / "survey.toml", "--respondents", 800).stderr == ""
    shown = (
        "Warning: release: 200 reports times 2 groups are 400, with 400 planned respondents: in equal groups results "
        "show 200 of each before the survey closes, and if the groups turn out unequal, the smaller one may wait until "
        "then; release = 100 or fewer cohorts would show them sooner"
    )
    assert shown in check_of(tmp_path, "--respondents", 400, **TWO_COHORTS)
    assert "unequal, a smaller one may wait" in check_of(
        tmp_path, "--respondents", 600, cohorts=["a", "b", "c"], cohort_required=True
    )
    assert (
        "Warning: release: 200 reports, with 300 planned respondents, so results show 200 of them before the survey "
        "closes, and none if fewer answer; release = 150 would show them sooner"
    ) in check_of(tmp_path, "--respondents", 300)
    assert "so results may show few or none of them" in check_of(tmp_path, "--respondents", 199)
    check_of(tmp_path, **TWO_COHORTS)
    note = "Note: Results change when 200 new reports of a cohort have arrived; up to 398 wait until the survey closes"
    assert f"{note}. 'survey check FILE --respondents 20' shows how many of 20 would wait" in check_of(
        tmp_path, **TWO_COHORTS
    )
    for results in ("live", "closed"):
        text = check_of(tmp_path, "--respondents", 390, results=results, **TWO_COHORTS)
        assert "Warning" not in text
        assert "Results change when" not in text


@pytest.mark.parametrize(
    ("respondents", "said"),
    [
        (None, "so a person hides among those of one cohort; make none of fewer than 100 people"),
        (150, "so a person hides among about 75 of the 150 planned respondents; make fewer cohorts, of 100 people or"),
        (200, None),
    ],
)
def test_check_warns_where_cohorts_divide_the_people_of_an_unlinkable_survey(
    tmp_path: Path, respondents: int | None, said: str | None
) -> None:
    key = unlinkable_survey().issuer
    assert key is not None
    flags = ["--respondents", respondents] if respondents else []
    keys = {"access": "unlinkable", "issuer": {"key": key.key}, "release": 50, **TWO_COHORTS}
    text = check_of(tmp_path, *flags, **keys)
    assert ("hides among" in text) == (said is not None)
    assert said is None or said in " ".join(text.split())


def test_check_warns_where_cohorts_divide_the_people_of_a_batch(tmp_path: Path) -> None:
    survey = replace(sealed_survey(tmp_path / "keys"), cohorts=tuple(f"class-{number}" for number in range(40)))
    said = unlinkable_warning(survey, 1000)
    assert said is not None
    assert said.startswith("place: the collector cannot tell who sent which report of a batch, but each names")
    assert "hides among about 25 of the 1,000 planned respondents" in said
    assert unlinkable_warning(survey, 4000) is None
    assert unlinkable_warning(replace(survey, places=()), 1000) is None, "then it sees who sends what"


DEAD: dict[str, dict[str, Any]] = {
    "closes: 2020-01-01 is past; no report will be taken": {"closes": datetime.date(2020, 1, 1)},
    "completion.link: https://localhost/back leads every respondent to a page of their own computer": {
        "completion": {"link": "https://localhost/back"}
    },
}


@pytest.mark.parametrize("reason", DEAD)
def test_publish_refuses_what_leads_nowhere_unless_forced(reason: str, tmp_path: Path) -> None:
    file, database = tmp_path / "survey.toml", tmp_path / "test.db"
    file.write_text(survey_toml("T", question_toml("q", "yes-no", epsilon=1), **DEAD[reason]), encoding="utf-8")
    publish = CommandLine("survey", "publish")
    refused = publish.refused(file, "--db", database)
    assert f"{reason}, so it was not published; mend it, or publish it all the same with --force" in refused
    assert not database.exists()
    forced = publish.run(file, "--db", database, "--force")
    assert (forced.exit_code, forced.stderr.count(reason)) == (0, 1)


def test_links_that_open_here_alone_are_not_printed_without_a_word(tmp_path: Path) -> None:
    file = tmp_path / "survey.toml"
    file.write_text(survey_toml("T", question_toml("q", "yes-no", epsilon=1)), encoding="utf-8")
    publish = CommandLine("survey", "publish")
    for address, is_said in (("http://[::1]:8000", True), ("http://localhost", True), ("https://c.example", False)):
        done = publish.run(file, "--db", tmp_path / "test.db", "--public-url", address)
        assert ("can be opened on this computer only" in done.stderr) == is_said


def test_weak_questions_of_one_epsilon_are_warned_of_once(tmp_path: Path) -> None:
    file = tmp_path / "survey.toml"
    asked = [question_toml(f"q{n}", "yes-no", f"Q{n}?", epsilon=each) for n, each in enumerate([2.5, 2.5, 3])]
    file.write_text(survey_toml("T", *asked), encoding="utf-8")
    warnings = [line for line in CommandLine("survey", "check").ok(file).splitlines() if line.startswith("Warning")]
    assert warnings == [
        "Warning: questions 'q0', 'q1': epsilon 2.5 protects little (above 2)",
        "Warning: question 'q2': epsilon 3 protects little (above 2)",
        "Warning: the whole survey: epsilons add up to 8, which protects little (above 4)",
    ]


def test_cohorts_that_name_a_person_and_lines_that_break_are_pointed_at() -> None:
    about = "This sentence is so long that an editor broke it right here and\nnowhere else, and people see that."
    keys = {"cohorts": ["office", "anna@uni.example"], "about": about, "epsilon": 1}
    checked = read_survey(survey_toml("T", question_toml("q", "yes-no"), **keys))
    assert warnings_about(checked) == [
        "cohorts: 'anna@uni.example' looks like one person's address; a cohort stands in clear in each reply, so it "
        "must be one of many people"
    ]
    assert any(each.startswith("about: line 1 ends within a sentence") for each in notes_about(checked))
    for as_meant in (about.replace("here and", "here,"), about.replace("here and\n", "here.\n\n")):
        assert not any(each.startswith("about") for each in notes_about(replace(checked, about=as_meant)))


def test_names_that_hardly_differ_are_warned_of() -> None:
    options = [{"default": "land", "de": "Land"}, {"default": "state", "de": "land"}, "No", "no"]
    asked = [question_toml("a", "choice", "Which?", options=options), question_toml("b", "yes-no", "which?")]
    checked = read_survey(survey_toml("T", *asked, cohorts=["web", "Web", "paper"], epsilon=1))
    assert [each for each in warnings_about(checked) if "missing" not in each] == [
        "cohorts: 'web' and 'Web' differ so little that people may take one for the other",
        "question 'a': options: 'No' and 'no' differ so little that people may take one for the other",
        "question 'a': options in de: 'Land' and 'land' differ so little that people may take one for the other",
        "question 'a': options in de: 'No' and 'no' differ so little that people may take one for the other",
        "questions 'a' and 'b' ask the same in the same words",
    ]


def test_what_a_template_says_of_the_author_is_not_published_without_a_word(tmp_path: Path) -> None:
    def warned(**keys: str) -> list[str]:
        survey = read_survey(survey_toml("Mine", question_toml("q", "yes-no", epsilon=1), **keys))
        return [each for each in warnings_about(survey) if "the template's" in each]

    both = {"organiser": "Your institution", "contact": "study@your-institution.example"}
    assert warned(**both) == [
        "organiser and contact: are still the template's; respondents read them on the first screen"
    ]
    assert warned(organiser="Institute of Sociology", contact=both["contact"]) == [
        "contact: is still the template's; respondents read it on the first screen"
    ]
    assert warned(organiser="Institute of Sociology", contact="ethics@uni.example") == []
