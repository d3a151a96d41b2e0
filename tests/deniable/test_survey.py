"""A survey from its author's TOML to published bytes and back, and every way to go wrong."""

from __future__ import annotations

import datetime
import json

import pytest

from deniable import KAry, Longitudinal, Survey, SurveyError, TwoCoin, Warner, address, parse_survey, read_survey
from tools.rig.surveys import SURVEY

QUESTION = '[[questions]]\nid = "q"\ntype = "yes-no"\ntext = "Q?"\nepsilon = 1\n'
CHOICE = '[[questions]]\nid = "q"\ntype = "choice"\ntext = "Q?"\noptions = ["a", "b", "c"]\nepsilon = 1\n'
WAVES = "mechanism = 'longitudinal'\n"
PLAIN = 'title = "T"\n' + QUESTION


def test_toml_becomes_a_survey(survey: Survey) -> None:
    assert survey.title == "Life and love, 1974"
    assert (survey.opens, survey.closes) == (datetime.date(2026, 11, 20), datetime.date(2026, 12, 20))
    assert survey.cohorts == ("paper", "web")
    affair, religious = survey.questions
    assert affair.mechanism == TwoCoin("1/2", "1/2")
    assert affair.options == ("no", "yes")
    assert religious.mechanism == KAry.from_epsilon(4, 1)
    assert survey.epsilon == affair.epsilon + religious.epsilon


def test_epsilon_on_yes_no_is_warner() -> None:
    assert read_survey(PLAIN).questions[0].mechanism == Warner.from_epsilon(1)


def test_coin_on_choice_is_truth_or_any_option() -> None:
    text = 'title = "T"\n' + CHOICE.replace("epsilon = 1", 'truth = "1/2"')
    assert read_survey(text).questions[0].mechanism == KAry.from_coin(3, "1/2")


@pytest.mark.parametrize("more", ["", 'decline = "No answer"\n'])
def test_waves_on_yes_no_choice_and_scale(more: str) -> None:
    waves = WAVES + "wave_epsilon = 0.5\n"
    mechanism = read_survey(PLAIN + waves + more).questions[0].mechanism
    assert mechanism == Longitudinal.from_epsilon(3 if more else 2, 1, "0.5")
    choice = read_survey("title = 'T'\n" + CHOICE + waves + more).questions[0].mechanism
    assert choice == Longitudinal.from_epsilon(4 if more else 3, 1, "0.5")
    scale = PLAIN.replace("yes-no", "scale") + waves + 'lo = 1\nhi = 5\ngoal = "mean"\n'
    assert read_survey(scale).questions[0].mechanism == Longitudinal.from_epsilon(5, 1, "0.5")


def test_second_coin_can_be_biased() -> None:
    text = PLAIN.replace("epsilon = 1", "truth = 0.8\nyes = 0.8")
    assert read_survey(text).questions[0].mechanism == TwoCoin("4/5", "4/5")


def test_published_bytes_read_back_to_the_same_survey(survey: Survey) -> None:
    again = parse_survey(survey.document, survey.id)
    assert again == survey
    assert again.document == survey.document
    assert address(survey.document) == survey.id


def test_published_bytes_are_sorted_ascii_json_without_fractions(survey: Survey) -> None:
    content = json.loads(survey.document, parse_float=lambda _: pytest.fail("a fraction"))
    assert content["deniable"] == 2
    assert survey.document == json.dumps(content, sort_keys=True, separators=(",", ":")).encode("ascii")


def test_another_word_is_another_address(survey: Survey) -> None:
    assert read_survey(SURVEY.replace("married", "got married")).id != survey.id


def test_bytes_of_another_address_are_refused(survey: Survey) -> None:
    with pytest.raises(SurveyError, match="other bytes than this address stands for"):
        parse_survey(read_survey(PLAIN).document, survey.id)


@pytest.mark.parametrize(
    ("found", "message"),
    [
        ("1", "survey: is of format 1; this version reads format 2: publish it again with 'deniable survey publish'"),
        ("3", "survey: is of format 3; this version reads format 2: use the version that wrote it"),
        ("true", "deniable: must be 2, the format that this version reads, got true"),
        ('"2"', "deniable: must be 2, the format that this version reads, got a string"),
    ],
)
def test_document_of_another_format_is_refused_with_a_way_out(found: str, message: str) -> None:
    document = read_survey(PLAIN).document.replace(b'"deniable":2', f'"deniable":{found}'.encode())
    for asked in (None, address(document)):
        with pytest.raises(SurveyError) as refused:
            parse_survey(document, asked)
        assert str(refused.value) == message


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "questions: must be one or more tables"),
        ("title = 'T'", "questions: must be one or more tables"),
        ("title = 'T'\nquestions = 'q'", "questions: must be one or more tables"),
        ("title = 'T", "is not TOML: .*line 1"),
        ("title = 'T'\ntitle = 'S'", "is not TOML: .*line 2"),
        (b"title = '\xff'", "must be UTF-8 text, which byte 9 .line 1. is not; save the file as UTF-8"),
        ("x = " + "[" * 3000, "is not TOML"),
        (QUESTION, "survey: must have the key title"),
        ("title = ''\n" + QUESTION, "title: must not be empty"),
        ("title = 7\n" + QUESTION, "title: must be a text, got 7"),
        ("titel = 'T'\n" + QUESTION, "unknown key 'titel'; did you mean 'title'"),
        (f"title = '{'x' * 201}'\n" + QUESTION, "title: must be at most 200 characters, got 201"),
        (PLAIN.replace("type", "typ"), "question 'q': must have the key type"),
        (PLAIN.replace('type = "yes-no"', 'type = "essay"'), "question 'q': type must be one of yes-no, choice"),
        (PLAIN.replace('id = "q"\n', ""), "question 1: must have the key id"),
        (PLAIN.replace('"q"', '"Q 1"'), "question 'Q 1': id must be 1 to 40 lower-case"),
        (PLAIN.replace('"q"', "1"), 'question 1: id must be a text, such as id = "smokes", got 1'),
        (PLAIN.replace('"q"', '"cohort"'), "id must not be id or cohort"),
        (PLAIN + QUESTION, "ids: must differ from each other, 'q' stands there twice"),
        (PLAIN.replace("epsilon = 1", ""), "question 'q': must say how much noise"),
        (PLAIN.replace("epsilon = 1", "yes = 0.5"), "question 'q': must say how much noise"),
        (PLAIN + "truth = 0.5", "either epsilon or the coins, got both epsilon and truth"),
        (PLAIN + "yes = 0.5", "either epsilon or the coins, got both epsilon and yes"),
        (PLAIN.replace("epsilon = 1", "epsilon = 0"), "question 'q': epsilon: must be above 0"),
        (PLAIN.replace("epsilon = 1", "epsilon = -1.5"), "question 'q': epsilon: must be above 0"),
        (PLAIN.replace("epsilon = 1", "epsilon = inf"), "question 'q': epsilon: must be a number"),
        (PLAIN.replace("epsilon = 1", "epsilon = nan"), "question 'q': epsilon: must be a number"),
        (PLAIN.replace("epsilon = 1", "epsilon = true"), "question 'q': epsilon: must be a number .* got true"),
        (PLAIN.replace("epsilon = 1", "epsilon = 'much'"), "question 'q': epsilon: must be a number .*'much'"),
        (PLAIN.replace("epsilon = 1", "epsilon = 30"), "question 'q': epsilon: must be .* at most 22, got 30"),
        (PLAIN.replace("epsilon = 1", "truth = 1"), "question 'q': truth: must be a probability .* got 1"),
        (PLAIN.replace("epsilon = 1", "truth = '1'"), "infinite epsilon"),
        (PLAIN.replace("epsilon = 1", "truth = 0.5\nyes = 1.0"), "yes: must be a probability .*infinite epsilon"),
        (PLAIN.replace("epsilon = 1", "truth = 2147483648"), "truth: must be a probability such as"),
        (PLAIN + "options = ['no', 'yes']", "question 'q': options goes with choice, ticks, not with yes-no"),
        (PLAIN + "epsilom = 1", "unknown key 'epsilom'; did you mean 'epsilon'"),
        (PLAIN + "wave_epsilon = 0.5", "question 'q': wave_epsilon: needs mechanism = \"longitudinal\""),
        (PLAIN + "mechanism = 'k-ary'", "question 'q': mechanism: must be one of warner, longitudinal, got 'k-ary'"),
        (PLAIN + WAVES, "question 'q': wave_epsilon: must say how much noise one wave has, such as wave_epsilon = 0.5"),
        (PLAIN + WAVES + "wave_epsilon = 1", "wave_epsilon: must be above 0 and below epsilon = 1, .* got 1"),
        (PLAIN + WAVES + "wave_epsilon = 0", "wave_epsilon: must be above 0 and below epsilon = 1, .* got 0"),
        (PLAIN + WAVES + "wave_epsilon = 'half'", "wave_epsilon: must be a number .*'half'"),
        (PLAIN.replace("epsilon = 1", "truth = 0.5") + WAVES, "mechanism: needs epsilon, not coins"),
        ("title = 'T'\n" + CHOICE.replace('["a", "b", "c"]', '["a"]'), "options must be at least 2, got 1"),
        ("title = 'T'\n" + CHOICE.replace('["a", "b", "c"]', "[]"), "options must be at least 2, got 0"),
        ("title = 'T'\n" + CHOICE.replace('["a", "b", "c"]', '"a"'), "options must be a list .* got 'a'"),
        ("title = 'T'\n" + CHOICE.replace('"b"', '"a"'), "options: must differ .* 'a' stands there twice"),
        ("title = 'T'\n" + CHOICE.replace('"b"', "2"), "question 'q': options: must be a text, got 2"),
        ("title = 'T'\n" + CHOICE.replace('"b"', '" "'), "question 'q': options: must not be empty"),
        (
            "title = 'T'\n" + CHOICE.replace("epsilon = 1", "truth = 0.5\nyes = 0.5"),
            "yes goes with yes-no, not with choice",
        ),
        ("title = 'T'\n" + CHOICE + 'options = ["x"]', "is not TOML: .*line 8"),
        ("opens = 2026-12-20\ncloses = 2026-11-20\n" + PLAIN, "closes: must not be before opens, got 2026-11-20"),
        (
            "opens = 2026-11-20T10:00:00\n" + PLAIN,
            "opens: must be a day without a time, 2026-11-20",
        ),
        ("opens = '2026-11-20'\n" + PLAIN, "opens: must be a date without quotes"),
        ("opens = 2026-11-31\n" + PLAIN, "is not TOML: .*line 1"),
        ("cohorts = 'web'\n" + PLAIN, "survey: cohorts must be a list"),
        ("cohorts = ['web', 'web']\n" + PLAIN, "cohorts: must differ from each other"),
        ("cohorts = ['']\n" + PLAIN, "cohorts: must not be empty"),
        ("cohorts = [1]\n" + PLAIN, "cohorts: must be a text, got 1"),
        ("organiser = 1\n" + PLAIN, "organiser: must be a text, got 1"),
        ('about = "\\u0007"\n' + PLAIN, "about: must not hold the control character"),
        (PLAIN.replace('"Q?"', '"\\u0000"'), "text: must not hold the control character"),
        ("cohort_required = true\n" + PLAIN, "cohort_required: needs cohorts for the links"),
        ("cohorts = ['web']\ncohort_required = 1\n" + PLAIN, "cohort_required: must be true or false, got 1"),
        ("retention = 'rows'\n" + PLAIN, "retention: must be reports or tallies, got 'rows'"),
        ("release = 49\n" + PLAIN, "release: must be a whole number from 50 to 100000, got 49"),
        ("release = 50.0\n" + PLAIN, "release: must be a whole number from 50 to 100000, got "),
        ("release = true\n" + PLAIN, "release: must be a whole number from 50 to 100000, got "),
        ("results = 'now'\n" + PLAIN, "results: must be batches or live or closed, got 'now'"),
        ("results = ['live']\n" + PLAIN, "results: must be batches or live or closed, got a list"),
        ("readers = 'me'\n" + PLAIN, "readers: must be public or token, got 'me'"),
        ("wrapped = true\n" + PLAIN, "survey: has the unknown key 'wrapped'"),
        (
            "title = 'T'\n" + "".join(QUESTION.replace('"q"', f'"q{i}"') for i in range(101)),
            "must be 1 to 100, got 101",
        ),
    ],
)
def test_every_way_to_go_wrong_is_a_sentence_that_names_the_place(text: str | bytes, message: str) -> None:
    with pytest.raises(SurveyError, match=message):
        read_survey(text)


def test_release_results_and_readers_are_published_unless_they_are_the_default() -> None:
    plain = read_survey(PLAIN)
    assert (plain.release, plain.results, plain.readers) == (200, "batches", "public")
    assert read_survey('release = 200\nresults = "batches"\nreaders = "public"\n' + PLAIN).id == plain.id
    other = read_survey('release = 50\nresults = "closed"\nreaders = "token"\n' + PLAIN)
    assert b'"readers":"token","release":50,"results":"closed"' in other.document
    assert parse_survey(other.document) == other


def test_days_are_inclusive(survey: Survey) -> None:
    days = [datetime.date(2026, 11, 19), survey.opens, survey.closes, datetime.date(2026, 12, 21)]
    assert [survey.not_open_because(day) for day in days if day] == [
        "it opens on 2026-11-20 (UTC)",
        None,
        None,
        "it closed at the end of 2026-12-20 (UTC)",
    ]
