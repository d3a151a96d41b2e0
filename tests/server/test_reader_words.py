"""What pages of results say beside their numbers, so that nobody who prints them has to guess."""

from __future__ import annotations

import html
import re

import pytest
from flask.testing import FlaskClient

from deniable import Report, Survey, read_survey
from deniable.privacy.odds import whole_odds_sentences
from deniable_server.language import words
from deniable_server.results.drawing import Labels
from deniable_server.results.headlines import certain_differences
from deniable_server.results.plain_method import odds_line
from deniable_server.results.question_view import cautions, sentences
from deniable_server.store import Store
from deniable_statistics.views.crossed import NOTHING_ELSE
from deniable_statistics.views.suspicion import raised_by_all, raised_suspicion
from deniable_statistics.views.view_row import ViewOptions, ViewRow
from tests.support.views import filled
from tools.rig.survey_files import question_toml, survey_toml
from tools.rig.surveys import EVERY_KIND, FIVE_TYPES

LANGUAGES = ("en", "de", "fr", "es", "ar")
EN = words("en")
FAITH = question_toml("faith", "choice", "Faith?", options=["none", "some", "much"], epsilon=2)
TWO = read_survey(survey_toml("Two", question_toml("affair", "yes-no", "Affair?", epsilon=2), FAITH))
AFFAIR, GIVEN = TWO.questions


def read(http: FlaskClient, address: str) -> str:
    return html.unescape(http.get(address).text)


@pytest.mark.parametrize("view", ["", "?view=all", "?by=cohort", "/affair", "/affair?by=cohort", "/affair?with=town"])
def test_every_page_says_once_that_honesty_cannot_be_seen(http: FlaskClient, store: Store, view: str) -> None:
    survey, _ = filled(store, FIVE_TYPES)
    for language in LANGUAGES:
        address = f"/s/{survey.id}/results{view}"
        page = read(http, f"{address}{'&' if '?' in view else '?'}lang={language}")
        assert page.count(words(language)["rHonest"]) == 1, language


def test_an_overview_says_how_chance_works_once_or_below_each_question(http: FlaskClient, store: Store) -> None:
    alike, _ = filled(store, survey_toml("A", *(question_toml(each, "yes-no", epsilon=2) for each in "qr")))
    differ, _ = filled(store, survey_toml("D", question_toml("q", "yes-no", epsilon=2), FAITH))
    for survey, times in ((alike, 1), (differ, 2)):
        page = read(http, f"/s/{survey.id}/results")
        assert page.count("How chance works here") == times
        assert all(odds_line(each, EN) in page for each in survey.questions)


def test_pages_say_what_a_whole_reply_reveals_as_respondents_read_it(http: FlaskClient, store: Store) -> None:
    survey, _ = filled(store, EVERY_KIND)
    assert raised_by_all(survey) != raised_suspicion(survey)
    assert f"become at most {raised_by_all(survey)}, and 90" in " ".join(whole_odds_sentences(survey))
    page = read(http, f"/s/{survey.id}/results")
    assert f"All that one person sent can raise it to at most {raised_by_all(survey)} in 100." in page
    one, _ = filled(store, survey_toml("One", question_toml("q", "yes-no", epsilon=2)))
    assert raised_by_all(one) == raised_suspicion(one)
    assert "All that one person sent" not in read(http, f"/s/{one.id}/results")


def test_pages_by_group_lead_to_the_differences(http: FlaskClient, store: Store) -> None:
    survey, _ = filled(store, FIVE_TYPES)
    for view in ("?by=cohort", "/affair?by=cohort"):
        page = read(http, f"/s/{survey.id}/results{view}")
        assert "Which groups differ is said under “<a" in page
        assert f'href="/s/{survey.id}/results/affair?compare=cohort">Differences between groups</a>”.' in page
    assert "said under “<a" not in read(http, f"/s/{survey.id}/results/affair")


def test_crossed_pages_say_why_a_number_differs_from_its_formula(http: FlaskClient, store: Store) -> None:
    survey, _ = filled(store, FIVE_TYPES)
    recipe = read(http, f"/s/{survey.id}/results/affair?with=town").partition('<details class="recipe">')[2]
    assert EN["rUnbiasedCrossed"] in recipe


def crossed(statistic: str, group: str, value: float, minus: str | None = None, weak: bool = False) -> ViewRow:
    """A row of two crossed questions."""
    fields = vars(NOTHING_ELSE) | {
        "question": "affair",
        "statistic": statistic,
        "option": "yes",
        "given": "faith",
        "given_option": group,
        "minus": minus,
        "value": value,
        "low": value - 0.07,
        "high": value + 0.07,
        "weak": weak,
        "conf_low": value - 0.07,
        "conf_high": value + 0.07,
        "estimate": value,
    }
    return ViewRow(**fields)


def test_differences_of_crossed_questions_say_what_may_be_quoted() -> None:
    labels, options = Labels(EN), ViewOptions(crossed_with="faith")
    shares = [
        crossed("row share", "none", 0.38),
        crossed("row share", "some", 0.3),
        crossed("row share", "much", 0.3, weak=True),
    ]
    sure = crossed("row difference", "none", 0.08, minus="some")
    unsure = crossed("row difference", "none", 0.08, minus="much")
    compared = EN["rPairsCompared"].format(n=3)
    assert compared.startswith("3 pairs of shares were compared.")
    assert cautions(AFFAIR, GIVEN, [*shares, sure], labels) == [compared]
    quoted = "A difference that is named may be quoted, but not a share marked “too few replies to say”."
    assert cautions(AFFAIR, GIVEN, [*shares, unsure], labels) == [quoted, compared]
    one = sentences(AFFAIR, [*shares, sure], options, labels, given=GIVEN)
    assert one[1] == "The difference that is named holds with 95 % confidence."
    both = sentences(AFFAIR, [*shares, sure, unsure], options, labels, given=GIVEN)
    assert both[2] == "All differences that are named hold together with 95 % confidence."
    for language in LANGUAGES:
        said = cautions(AFFAIR, GIVEN, [*shares, unsure], Labels(words(language)))
        assert not re.search("[{}]", " ".join(said)), language


def test_a_difference_that_is_not_that_of_the_shares_shown_says_why() -> None:
    rows = [crossed("row share", "none", 0.22), crossed("row share", "some", 0.58)]
    said = EN["rDifferenceOfShares"]
    assert said.startswith("A difference is computed from the unbiased estimates, not from the shares shown")
    for value, differs in ((-0.36, False), (-0.38, True)):
        found = cautions(AFFAIR, GIVEN, [*rows, crossed("row difference", "none", value, minus="some")], Labels(EN))
        assert (said in found) == differs
        assert "because several pairs are compared and their estimates are correlated" in found[-1]
    # Nobody takes the difference of a share that the page does not show.
    weak = crossed("row share", "some", 0.58, weak=True)
    assert said not in cautions(
        AFFAIR, GIVEN, [rows[0], weak, crossed("row difference", "none", -0.38, minus="some")], Labels(EN)
    )


def crossed_with_an_empty_group(store: Store, access: str) -> Survey:
    """A survey whose replies to one of two questions are all *none*, so that estimates of its other groups are 0."""
    faith = question_toml("faith", "choice", "Faith?", options=["none", "some"], epsilon=2)
    survey = read_survey(
        f'results = "live"\naccess = "{access}"\n'
        + survey_toml("T", question_toml("affair", "yes-no", "Affair?", epsilon=2), faith)
    )
    store.publish(survey)
    reports = [Report(f"{i:032x}", None, {"affair": i % 2, "faith": 0}) for i in range(200)]
    store.store_reports([(survey, reports)])
    return survey


def test_a_group_of_too_few_people_is_not_said_to_have_no_replies(http: FlaskClient, store: Store) -> None:
    survey = crossed_with_an_empty_group(store, "open")
    page = read(http, f"/s/{survey.id}/results/affair?with=faith")
    (table,) = re.findall(r'<details class="numbers".*?</details>', page, re.DOTALL)
    assert "about 0 of 200" in table
    assert "too few people to say anything" in table
    assert "too few people to say anything" in "".join(re.findall(r"<svg.*?</svg>", page, re.DOTALL))
    assert "no replies" not in page


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_printed_difference_says_what_made_up_replies_can_do(http: FlaskClient, store: Store, language: str) -> None:
    said = words(language)["rFakedDifference"]
    survey = crossed_with_an_empty_group(store, "open")
    (quote,) = re.findall(r"<q .*?</q>", read(http, f"/s/{survey.id}/results/affair?with=faith&lang={language}"))
    assert said in quote
    assert said not in read(http, f"/s/{survey.id}/results/affair?lang={language}")
    invited = crossed_with_an_empty_group(store, "invited")
    assert said not in read(http, f"/s/{invited.id}/results/affair?with=faith&lang={language}")


@pytest.mark.parametrize("language", LANGUAGES)
def test_pages_of_comparisons_allow_for_their_own_alone(http: FlaskClient, store: Store, language: str) -> None:
    survey, _ = filled(store, FIVE_TYPES)
    own, results = words(language)["rOwnComparisons"], f"/s/{survey.id}/results"
    for one, other in (("affair", "town"), ("town", "affair")):
        page = read(http, f"{results}/{one}?with={other}&lang={language}")
        before, _, after = page.partition(own)
        assert "headline" in before
        (found,) = re.findall(r"<a href=.([^ ]*). dir=.auto.>(.*?)</a>", after.partition("</p>")[0])
        assert html.unescape(found[0]) == f"{results}/{other}?with={one}&lang={language}"
        texts = {each.id: str(each.text) for each in survey.questions}
        assert found[1].index(texts[other]) < found[1].index(texts[one])
    compared = read(http, f"{results}/affair?compare=cohort&lang={language}")
    assert compared.count(own) == 1
    assert words(language)["rOtherWay"].replace("{link}", "") not in compared
    assert own not in read(http, f"{results}/affair?lang={language}")
    assert own not in read(http, f"{results}/affair?by=cohort&lang={language}")
    alone, _ = filled(store, survey_toml("One", question_toml("q", "yes-no", epsilon=2)))
    assert own not in read(http, f"/s/{alone.id}/results/q?compare=cohort&lang={language}")


@pytest.mark.parametrize("language", LANGUAGES)
def test_differences_are_said_with_their_best_estimate(language: str) -> None:
    for value, unit in ((0.08, "rPercentagePoints"), (0.01, "rPercentagePoint")):
        row = crossed("row difference", "none", value, minus="some")
        row = ViewRow(**vars(row) | {"low": value - 0.005, "conf_low": value - 0.005})
        (said,) = certain_differences([row], words(language), {"yes": "yes"}, {})
        assert re.search(rf" {round(100 * value)} {words(language)[unit]}(?!\w)", said)
        assert not re.search("[{}]", said)
