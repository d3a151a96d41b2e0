"""What pages and the command line show of a survey with one reply: nothing that reads as a finding."""

from __future__ import annotations

import re
from pathlib import Path

from flask.testing import FlaskClient

from deniable import Report, read_survey
from deniable_server.language import words
from deniable_server.store import Store
from tools.rig.command_line import CommandLine

SURVEY = """title = "T"
results = "live"
[groups.acts]
epsilon = 2
draw = 1
[[questions]]
id = "a"
type = "choice"
text = "A?"
options = ["x", "y", "z"]
group = "acts"
[[questions]]
id = "b"
type = "ticks"
text = "B?"
options = ["x", "y", "z"]
group = "acts"
"""


def test_one_reply_draws_no_point_and_a_question_of_nobody_says_so(http: FlaskClient, store: Store) -> None:
    survey = read_survey(SURVEY)
    store.publish(survey)
    store.store_reports([(survey, [Report("0" * 32, None, {"a": 1, "b": None})])])
    for view in ("results", "results?view=all"):
        page = http.get(f"/s/{survey.id}/{view}").text
        assert "too few replies to say" in page
        assert page.count("Nobody was asked this yet.") == 1, view
        assert 'class="interval"' in page
        assert not re.search('class="(point|arrow)"', page), view
    assert "Nobody was asked this yet." in http.get(f"/s/{survey.id}/results/b").text


def test_one_reply_from_a_group_differs_from_nothing(http: FlaskClient, store: Store) -> None:
    """A mean of one reply has an error of 0; pages took it for certain."""
    survey = read_survey(
        'title = "T"\nresults = "live"\ncohorts = ["one", "many"]\n[[questions]]\nid = "q"\ntype = "scale"\n'
        'text = "Q?"\nlo = 1\nhi = 5\nepsilon = 2\n'
    )
    store.publish(survey)
    many = [Report(f"{number:032x}", "many", {"q": number % 5}) for number in range(1, 501)]
    store.store_reports([(survey, [Report("0" * 32, "one", {"q": 0}), *many])])
    page = http.get(f"/s/{survey.id}/results/q?compare=cohort").text
    assert words("en")["rNoDifference"] in page
    assert "higher in" not in page
    assert "1 reply from \u201cone\u201d and 500 replies from \u201cmany\u201d" in page
    rows = http.get(f"/s/{survey.id}/results/q.json?compare=cohort").json["rows"]
    (mean,) = (row for row in rows if row["statistic"] == "mean difference")
    assert mean["weak"]
    assert mean["method"] == "simultaneous mover"


def test_a_survey_of_one_day_names_it_once(http: FlaskClient, store: Store) -> None:
    survey = read_survey(SURVEY)
    store.publish(survey)
    store.store_reports([(survey, [Report("0" * 32, None, {"a": 1, "b": None})])])
    store.close_survey(survey.id)
    lead = re.search('<p class="lead">(.*?)</p>', http.get(f"/s/{survey.id}/results").text, re.DOTALL)
    assert lead is not None
    (dates,) = re.findall(r"\u00b7 ([^\u00b7]*) \(UTC\)", lead[1])
    assert re.fullmatch(r"\d+ \w+ \d{4}", dates)


def test_the_command_line_prints_no_impossible_share(tmp_path: Path) -> None:
    file, database = tmp_path / "survey.toml", tmp_path / "test.db"
    file.write_text(SURVEY, encoding="utf-8")
    survey = read_survey(SURVEY)
    CommandLine("survey", "publish").ok(file, "--db", database)
    from deniable_server.store import open_store

    store = open_store(database)
    store.store_reports([(survey, [Report("0" * 32, None, {"a": 1, "b": None})])])
    store.close()
    table = CommandLine("estimate").ok(survey.id, "--db", database)
    rows = [line for line in table.splitlines() if line.startswith("a  ")]
    assert len(rows) == 3
    for row in rows:
        assert "too few reports to say" in row
    assert "Too few reports to say: a (1 report)." in table
