"""Exports of other tools, as those tools write them: their values found, and what is no such file refused in words."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import openpyxl
import pytest

from deniable import ParameterError, ReportError, read_survey
from deniable_research import read
from deniable_research.hosts import HOSTS, looks_like, read_export
from tests.support.analyzing import ok, refused
from tools.rig.survey_files import question_toml, survey_toml

SURVEY = survey_toml(
    "Hosts",
    question_toml("affair", "yes-no", truth="1/2"),
    question_toml("stones", "ticks", options=["quartz", "zirconium", "opal"], epsilon=1, goal="together"),
)

PEOPLE = [{"affair": "1", "stones": "010"}, {"affair": "0", "stones": "001"}, {"affair": "1", "stones": "110"}]
"""Noisy values of three people."""


@pytest.fixture
def survey_file(tmp_path: Path) -> Path:
    path = tmp_path / "survey.toml"
    path.write_text(SURVEY, encoding="utf-8")
    return path


def as_csv(*rows: Sequence[object], between: str = ",") -> str:
    text = io.StringIO()
    csv.writer(text, delimiter=between, quoting=csv.QUOTE_ALL).writerows(rows)
    return text.getvalue()


def jspsych_trials(person: int) -> list[dict[str, Any]]:
    """What jsPsych 8 keeps of a person: a key, two forms, and how long each took."""
    said, about = PEOPLE[person], {"subject": f"s{person}", "arm": "ab"[person % 2]}
    return [
        {"rt": 512.5, "response": "{", "trial_type": "html-keyboard-response", "trial_index": 0, **about},
        {
            "rt": 900,
            "response": {"affair": said["affair"], "age": "40"},
            "trial_type": "deniable-question",
            "trial_index": 1,
            **about,
        },
        {
            "rt": 910,
            "response": {"stones": said["stones"], "age": "41"},
            "trial_type": "survey-html-form",
            "trial_index": 2,
            **about,
        },
    ]


def jspsych_csv(people: range = range(3)) -> str:
    header = ["rt", "response", "trial_type", "trial_index", "subject", "arm"]
    rows = [trial for person in people for trial in jspsych_trials(person)]
    cells = [[json.dumps(cell) if isinstance(cell, dict) else cell for cell in map(row.get, header)] for row in rows]
    return as_csv(header, *cells)


def jatos_txt() -> str:
    return "\n".join(json.dumps(jspsych_trials(person)) for person in range(3))


def surveyjs_json() -> str:
    return json.dumps([{**said, "age": 40, "pets": ["cat", "dog"], "grid": {"row": "left"}} for said in PEOPLE])


def surveyjs_service() -> str:
    return json.dumps({"ResultCount": 3, "Data": [{**said, "HappendAt": "2026-01-01"} for said in PEOPLE]})


def otree_wide() -> str:
    header = ["participant.code", "participant._index_in_pages", "rrt.1.player.affair", "rrt.2.player.affair"]
    header += ["rrt.1.player.stones", "rrt.1.player.payoff", "session.code"]
    rows = [[f"p{n}", 3, said["affair"], "", said["stones"], 0, "s"] for n, said in enumerate(PEOPLE)]
    return as_csv(header, *rows, ["p9", 0, "", "", "", 0, "s"])


def otree_app() -> str:
    header = ["participant.code", "player.affair", "player.stones", "subsession.round_number"]
    rows = [[f"p{n}", said["affair"], "", 1] for n, said in enumerate(PEOPLE)]
    return as_csv(header, *rows, *([f"p{n}", "", said["stones"], 2] for n, said in enumerate(PEOPLE)))


def qualtrics_csv() -> str:
    header = ["StartDate", "Status", "Finished", "RecordedDate", "ResponseId", "Q1", "affair", "stones"]
    texts = ["Start Date", "Response Type", "Finished", "Recorded Date", "Response ID", "How old,\nplease?", "", ""]
    ids = [json.dumps({"ImportId": name}) for name in header]
    first = ["2026-01-01", "IP Address", "True", "2026-01-01"]
    rows = [[*first, f"R_{n}", 40, *said.values()] for n, said in enumerate(PEOPLE)]
    preview = ["2026-01-01", "Survey Preview", "True", "2026-01-01", "R_9", 40, "0", "000"]
    return "\ufeff" + as_csv(header, texts, ids, preview, *rows)


def qualtrics_new() -> str:
    """The new survey taking experience names embedded data that JavaScript sets with this before it."""
    return qualtrics_csv().replace("affair", "__js_affair").replace("stones", "__js_stones")


def limesurvey_codes() -> str:
    header = ["id", "submitdate", "lastpage", "startlanguage", "affair", "stones", "G01Q02"]
    return as_csv(header, *([n, "2026", 2, "en", *said.values(), 40] for n, said in enumerate(PEOPLE)), between=";")


def limesurvey_texts() -> str:
    header = ["id. Response ID", "submitdate. Date submitted", "lastpage. Last page", "startlanguage. Start language"]
    header += ["affair. Have you? Really.", "stones. Which stones?"]
    return as_csv(header, *([n, "2026", 2, "en", *said.values()] for n, said in enumerate(PEOPLE)))


def redcap_events() -> str:
    header = ["record_id", "redcap_event_name", "age", "affair", "stones"]
    first = [[n, "one_arm_1", 40, said["affair"], ""] for n, said in enumerate(PEOPLE, start=1)]
    second = [[n, "two_arm_1", 41, "", said["stones"]] for n, said in enumerate(PEOPLE, start=1)]
    return as_csv(header, *first, *second)


def qualtrics_recorded() -> str:
    """The columns, titles and status of a real export, to a German account, with a column of topics of a text.

    Source: ``tests/testthat/files/sample.csv`` of the repository ropensci/qualtRics.
    """
    titles = {
        "StartDate": "Anfangsdatum", "EndDate": "Enddatum", "Status": "Antworttyp", "IPAddress": "IP-Adresse",
        "Progress": "Aktueller Stand", "Duration (in seconds)": "Dauer (in Sekunden)", "Finished": "Beendet",
        "RecordedDate": "Erfassungsdatum", "ResponseId": "Antwort-ID", "RecipientLastName": "Nachname des Empfängers",
        "RecipientFirstName": "Vorname des Empfängers", "RecipientEmail": "E-Mail des Empfängers",
        "ExternalReference": "Externe Datenreferenz", "LocationLatitude": "Breitengrad des Standorts",
        "LocationLongitude": "Längengrad des Standorts", "DistributionChannel": "Verteilungskanal",
        "UserLanguage": "Benutzersprache", "Q2": "This is a free text question.", "Q2 - Topics": "Q2 - Topics",
        "affair": "affair", "stones": "stones",
    }  # fmt: skip
    ids = [json.dumps({"ImportId": name}, separators=(",", ":")) for name in titles]
    day = "2017-07-18 08:28:09"
    first = [day, day, 0, "", 100, 38, 1, day]
    rows = [[*first, f"R_{n}", *[""] * 6, "anonymous", "DE", "Hi", "", *said.values()] for n, said in enumerate(PEOPLE)]
    return as_csv(list(titles), list(titles.values()), ids, *rows)


def redcap_survey_recorded() -> str:
    """The columns of a real export of a survey, whose times may say that it was not completed.

    Source: ``inst/test-data/projects/survey/data.csv`` of the repository OuhscBbmc/REDCapR.
    """
    header = ["participant_id", "redcap_survey_identifier", "prescreening_survey_timestamp", "consent___1"]
    header += ["affair", "stones", "prescreening_survey_complete", "participant_info_survey_timestamp"]
    rows = [[n, "", "2018-03-06 15:52:43", 1, *said.values(), 2, "[not completed]"] for n, said in enumerate(PEOPLE)]
    return as_csv(header, *rows)


def redcap_arms_recorded() -> str:
    """The shape of a real longitudinal export: six events in one arm and fewer in the other, each with its own forms.

    Source: ``inst/test-data/projects/longitudinal/data.csv`` of the repository OuhscBbmc/REDCapR.
    """
    header = ["study_id", "redcap_event_name", "gym___0", "affair", "demographics_complete", "pmq1", "stones"]
    rows: list[list[object]] = []
    for number, said in zip((100, 220, 304), PEOPLE, strict=True):
        arm = "arm_2" if number == 304 else "arm_1"
        rows.append([number, f"enrollment_{arm}", 1, said["affair"], 2, "", ""])
        rows += [[number, f"dose_{dose}_{arm}", "", "", "", dose, ""] for dose in (1, 2) if arm == "arm_1"]
        rows.append([number, f"final_visit_{arm}", "", "", "", "", said["stones"]])
    return as_csv(header, *rows)


EXPORTS: list[tuple[str, str, Callable[[], str]]] = [
    ("jspsych", "data.csv", jspsych_csv),
    ("jspsych", "data.json", lambda: json.dumps([trial for person in range(3) for trial in jspsych_trials(person)])),
    ("jspsych", "jatos.txt", jatos_txt),
    ("surveyjs", "results.json", surveyjs_json),
    ("surveyjs", "service.json", surveyjs_service),
    ("surveyjs", "lines.jsonl", lambda: "\n".join(json.dumps(said) for said in PEOPLE)),
    ("otree", "all_apps_wide.csv", otree_wide),
    ("otree", "rrt.csv", otree_app),
    ("qualtrics", "qualtrics.csv", qualtrics_csv),
    ("qualtrics", "qualtrics-new.csv", qualtrics_new),
    ("limesurvey", "results-survey1.csv", limesurvey_codes),
    ("limesurvey", "results-survey2.csv", limesurvey_texts),
    ("redcap", "project.csv", redcap_events),
    ("qualtrics", "recorded-qualtrics.csv", qualtrics_recorded),
    ("redcap", "recorded-survey.csv", redcap_survey_recorded),
    ("redcap", "recorded-arms.csv", redcap_arms_recorded),
]


@pytest.mark.parametrize(("host", "name", "export"), EXPORTS, ids=[name for _, name, _ in EXPORTS])
def test_every_person_is_a_row_with_the_values_of_both_questions(
    host: str, name: str, export: Callable[[], str], tmp_path: Path
) -> None:
    path = tmp_path / name
    path.write_text(export(), encoding="utf-8", newline="")
    table = read(path, read_survey(SURVEY), host=host).table
    assert list(table.reports_of("affair")) == [1, 0, 1]
    assert list(table.reports_of("stones")) == ["010", "001", "110"]
    assert looks_like(path) == host
    # No column is left under which a report would pass for an answer.
    assert not [each for each in table.columns if "affair" in each and each != "affair"]


def test_every_tool_has_a_case() -> None:
    assert {host for host, _, _ in EXPORTS} == HOSTS.keys()


NOT_PLAIN = [each for each in EXPORTS if each[1] in ("data.csv", "service.json", "all_apps_wide.csv", "qualtrics.csv")]
"""Exports that cannot be read as a table with a column for each question."""


@pytest.mark.parametrize(("host", "name", "export"), NOT_PLAIN, ids=[name for _, name, _ in NOT_PLAIN])
def test_the_command_reads_it_and_says_so_where_the_option_is_missing(
    host: str, name: str, export: Callable[[], str], tmp_path: Path, survey_file: Path
) -> None:
    path = tmp_path / name
    path.write_text(export(), encoding="utf-8", newline="")
    shown = json.loads(ok("shares", path, "affair", "--survey", survey_file, "--host", host, "--format", "json"))
    assert [row["count"] for row in shown["estimates"]] == [1, 2]
    assert shown["rows"] == 3
    said = refused("shares", path, "--survey", survey_file)
    assert f"it looks like an export of {HOSTS[host].title}, read by --host {host}" in said


def test_trials_keep_what_belongs_to_the_person_and_every_field(tmp_path: Path) -> None:
    path = tmp_path / "data.csv"
    path.write_text(jspsych_csv(), encoding="utf-8", newline="")
    columns = read_export(path, "jspsych").rows.columns
    assert list(columns["arm"]) == ["a", "b", "a"]
    assert list(columns["age"]) == ["40"] * 3
    assert list(columns["age_2"]) == ["41"] * 3
    assert not {"rt", "trial_index", "trial_type", "response"} & columns.keys()


def test_files_of_one_person_each_stand_in_a_folder(tmp_path: Path, survey_file: Path) -> None:
    folder = tmp_path / "data"
    folder.mkdir()
    for person in range(3):
        (folder / f"{person}.csv").write_text(jspsych_csv(range(person, person + 1)), encoding="utf-8", newline="")
    (folder / "notes.md").write_text("not data", encoding="utf-8")
    assert "affair" in ok("shares", folder, "affair", "--survey", survey_file, "--host", "jspsych")
    assert "it looks like an export of jsPsych" in refused("shares", folder, "--survey", survey_file)
    assert "must be a file" in refused("shares", folder, "--survey", survey_file, "--host", "otree")


def test_rows_of_people_that_are_mixed_go_by_a_column(tmp_path: Path, survey_file: Path) -> None:
    path = tmp_path / "data.json"
    mixed = [trial for index in range(3) for person in range(3) for trial in [jspsych_trials(person)[index]]]
    path.write_text(json.dumps(mixed), encoding="utf-8")
    table = read(path, survey_file, host="jspsych", person="subject").table
    assert list(table.reports_of("affair")) == [1, 0, 1]
    assert "must say in every row whose it is" in refused(
        "shares", path, "--survey", survey_file, "--host", "jspsych", "--person", "nobody"
    )


def test_two_values_of_one_person_are_refused_without_saying_them(tmp_path: Path, survey_file: Path) -> None:
    path = tmp_path / "data.json"
    trials = [*jspsych_trials(0), {**jspsych_trials(1)[1], "trial_index": 3}]
    path.write_text(json.dumps(trials), encoding="utf-8")
    said = refused("shares", path, "--survey", survey_file, "--host", "jspsych")
    assert "affair: must have one value for each person, because a device draws once" in said
    assert "1 person in affair; the column that says whose each row is goes with --person" in said


def test_another_name_is_given_by_column_and_a_missing_question_is_named(tmp_path: Path, survey_file: Path) -> None:
    path = tmp_path / "results.json"
    path.write_text(json.dumps([{"q7": said["affair"], "age": 40} for said in PEOPLE]), encoding="utf-8")
    settings = ("--survey", survey_file, "--host", "surveyjs")
    assert "yes" in ok("shares", path, *settings, "--column", "affair=q7")
    assert "must hold affair, stones among the names of questions of SurveyJS, got q7, age" in refused(
        "shares", path, *settings
    )
    assert "must hold q8 among" in refused("shares", path, *settings, "--column", "affair=q8")


def test_a_part_of_the_questions_is_enough(tmp_path: Path, survey_file: Path) -> None:
    path = tmp_path / "results.json"
    path.write_text(json.dumps([{"affair": said["affair"]} for said in PEOPLE]), encoding="utf-8")
    assert read(path, survey_file, host="surveyjs").table.layout.names == ("affair",)


def test_a_question_under_another_name_keeps_the_others(tmp_path: Path, survey_file: Path) -> None:
    path = tmp_path / "results.json"
    path.write_text(json.dumps([{"q7": said["affair"], "stones": said["stones"]} for said in PEOPLE]), encoding="utf-8")
    names = read(path, survey_file, host="surveyjs", columns={"affair": "q7"}).table.layout.names
    assert names == ("affair", "stones")


def test_previews_and_people_who_never_began_are_left_out_and_counted(tmp_path: Path, survey_file: Path) -> None:
    for host, export, said in (("qualtrics", qualtrics_csv, "previews"), ("otree", otree_wide, "who never began")):
        path = tmp_path / f"{host}.csv"
        path.write_text(export(), encoding="utf-8", newline="")
        (note,) = read_export(path, host).rows.notes
        assert said in note
        assert note.endswith(", 1 of 4 rows")


def test_qualtrics_writes_excel_too(tmp_path: Path, survey_file: Path) -> None:
    book = openpyxl.Workbook()
    assert book.active is not None
    for row in csv.reader(io.StringIO(qualtrics_csv().removeprefix("\ufeff"))):
        book.active.append(row)
    path = tmp_path / "qualtrics.xlsx"
    book.save(path)
    assert list(read(path, survey_file, host="qualtrics").table.reports_of("affair")) == [1, 0, 1]
    assert looks_like(path) == "qualtrics"


@pytest.mark.parametrize(
    ("host", "name", "content", "said"),
    [
        ("surveyjs", "x.json", '[{"affair": "1"}, {"affair": SECRET}]', "x.json: is not JSON: Expecting value"),
        ("surveyjs", "x.json", '["SECRET"]', "must hold objects of JSON, one for each record"),
        ("surveyjs", "x.json", "[" * 100_000, "is not JSON: is nested too deeply"),
        ("surveyjs", "x.json", "[]", "must hold replies, got none"),
        ("jspsych", "x.csv", 'trial_index,response\n0,"{""affair"": SECRET"\n', "must hold whole JSON objects"),
        ("jspsych", "x.csv", "response,rt\nSECRET,3\n", "must have a number in 'trial_index' in every row"),
        ("qualtrics", "x.csv", "ResponseId,affair\nR_1,SECRET\n", "must have the row of ImportIds"),
        ("otree", "x.csv", "player.affair\nSECRET\n", "column 'participant.code' must say in every row"),
    ],
)
def test_what_is_no_such_file_is_refused_without_what_stands_in_it(
    host: str, name: str, content: str, said: str, tmp_path: Path, survey_file: Path
) -> None:
    path = tmp_path / name
    path.write_text(content, encoding="utf-8")
    told = refused("shares", path, "--survey", survey_file, "--host", host)
    assert said in " ".join(told.split())
    assert "SECRET" not in told


def test_options_that_a_tool_has_no_use_for_are_refused(tmp_path: Path, survey_file: Path) -> None:
    path = tmp_path / "results.json"
    path.write_text(surveyjs_json(), encoding="utf-8")
    survey = read_survey(SURVEY)
    with pytest.raises(ParameterError, match="person: must be left out, because SurveyJS writes one row a person"):
        read(path, survey, host="surveyjs", person="id")
    with pytest.raises(ParameterError, match="host: must be one of jspsych, surveyjs"):
        read(path, survey, host="typeform")
    assert "--host goes with --survey" in refused(
        "shares", path, "--host", "surveyjs", "--question", "affair: warner p=3/4"
    )


def test_plain_files_look_like_no_tool(tmp_path: Path) -> None:
    path = tmp_path / "study.csv"
    for content in ("id,q1\n1,yes\n", "", '"', "trial_type,trial\r_index\n", "\x00"):
        path.write_text(content, encoding="utf-8", newline="")
        assert looks_like(path) is None


def test_a_truth_value_of_a_question_of_the_tool_itself_is_no_report(survey_file: Path, tmp_path: Path) -> None:
    path = tmp_path / "results.json"
    path.write_text('[{"affair": true}, {"affair": 1}]', encoding="utf-8")
    with pytest.raises(ReportError, match="column 'affair': must hold 'no', 'yes' or an integer"):
        read(path, survey_file, host="surveyjs").table.reports_of("affair")
