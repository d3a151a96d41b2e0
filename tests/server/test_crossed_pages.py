"""Pages of two crossed questions, and what stands beside numbers: claims that hold, sentences to print, odds, rules."""

from __future__ import annotations

import html
import io
import re
import urllib.request
import xml.etree.ElementTree as ElementTree
from collections import Counter
from contextlib import redirect_stdout

import numpy as np
import pytest
from flask.testing import FlaskClient

from deniable import Survey, Tally, parse_survey, read_survey
from deniable_research.simulation.draw import generator_of, words_of
from deniable_server.language import words
from deniable_server.results.plain_method import odds_line, weak_rules
from deniable_server.store import Store
from deniable_statistics.joint.conditional_difference import ConditionalDifference, certain_differences
from deniable_statistics.joint.crosstab import Crosstab
from deniable_statistics.views.crossed_recipe import crossed_scripts
from deniable_statistics.views.view_row import JointCounts, ViewOptions
from deniable_statistics.views.view_rows import view_of
from tests.support.archives import files_of
from tests.support.views import filled
from tools.rig.survey_files import question_toml, survey_toml
from tools.rig.surveys import EVERY_KIND, FIVE_TYPES
from tools.tables import crossed_claims

TWO = read_survey(
    survey_toml(
        "Two",
        question_toml("affair", "yes-no", "Affair?", epsilon=2),
        question_toml("faith", "choice", "Faith?", options=["none", "some", "much"], epsilon=2),
    )
)


def joint_of(joint: np.ndarray, n: int, seed: int) -> JointCounts:
    """Pairs of noisy values of people who were drawn from a table of joint shares."""
    generator = generator_of(seed)
    answers = np.divmod(generator.choice(joint.size, n, p=joint.ravel()), joint.shape[1])
    values = [
        question.mechanism.randomize_many(each, words_of(generator)).tolist()
        for question, each in zip(TWO.questions, answers, strict=True)
    ]
    return [(*pair, number) for pair, number in sorted(Counter(zip(*values, strict=True)).items())]


def claims(joint: np.ndarray, n: int, seed: int) -> list[ConditionalDifference]:
    """What a view claims, without the intervals of all shares, which take long."""
    affair, faith = TWO.questions
    counts = np.zeros((2, 3))
    for one, other, number in joint_of(joint, n, seed):
        counts[one, other] = number
    within = Crosstab.from_counts([affair.mechanism, faith.mechanism], counts, ["affair", "faith"]).conditional("faith")
    return certain_differences(within, within.share, [1])


def test_differences_are_claimed_where_they_are_and_hold_the_truth() -> None:
    joint = np.array([[0.1, 0.3, 0.25], [0.2, 0.1, 0.05]])
    truth = joint[1] / joint.sum(axis=0)
    for seed in range(4):
        found = claims(joint, 4000, seed)
        assert 0 < len(found) <= 3
        for each in found:
            one, other = each.groups
            assert each.interval.low <= truth[one] - truth[other] <= each.interval.high
            assert not each.interval.low <= 0 <= each.interval.high


def test_nothing_is_claimed_of_few_or_of_no_replies() -> None:
    joint = np.array([[0.1, 0.3, 0.25], [0.2, 0.1, 0.05]])
    assert claims(joint, 20, 1) == []
    (*rows,) = view_of(TWO, {}, "affair", ViewOptions(crossed_with="faith"), [])
    assert {row.value for row in rows} == {None}


@pytest.mark.long
def test_the_table_of_claims_judges_what_pages_say() -> None:
    apart = crossed_claims.Situation(2, 2, "two groups apart", 4.0, 4000)
    found = crossed_claims.simulate(apart, 2, 1)
    assert (found.pages, found.possible, found.said) == (2, 2, 2)
    alike = crossed_claims.Situation(2, 2, "alike", 4.0, 4000)
    assert crossed_claims.simulate(alike, 1, 1).possible == 0
    # A sentence about a difference that is not there is false, and so is one in the wrong direction.
    survey = apart.survey
    rows = view_of(
        survey,
        {},
        "first",
        ViewOptions(crossed_with="second"),
        crossed_claims.drawn(survey, apart.joint, 4000, generator_of(3)),
    )
    named = [row for row in rows if row.statistic == "row difference"]
    assert crossed_claims.judge(survey, named, apart.within) == [(True, True)]
    assert crossed_claims.judge(survey, named, alike.within) == [(False, False)]
    assert crossed_claims.judge(survey, named, apart.within[:, ::-1]) == [(False, False)]


@pytest.mark.long
def test_differences_that_are_not_there_are_claimed_in_at_most_five_of_a_hundred_views() -> None:
    """Of 400 views at most 20 and three standard errors: a failure has probability below .002 at exactly 5 %."""
    independent = np.outer([0.7, 0.3], [0.3, 0.6, 0.1])
    assert sum(bool(claims(independent, 600, seed)) for seed in range(400)) <= 20 + 13


@pytest.mark.long
def test_scripts_recompute_all_shares_and_errors(
    http: FlaskClient, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    survey, _ = filled(store, EVERY_KIND, 900)
    content = http.get(f"/api/v1/surveys/{survey.id}/reports.csv").data
    monkeypatch.setattr(urllib.request, "urlopen", lambda _url: io.BytesIO(content))
    recomputed = set()
    first = survey.questions[0]
    for second in survey.questions[1:]:
        path = f"/s/{survey.id}/results/{first.id}.json?with={second.id}"
        answer = http.get(path)
        if answer.status_code != 200:
            continue
        python, r = crossed_scripts(first, second, "https://collector.example/reports.csv")
        assert bool(python) == bool(r)
        if not python:
            continue
        printed = io.StringIO()
        with redirect_stdout(printed):
            exec(python, {})
        shares, _, errors = printed.getvalue().partition("errors")
        rows = [row for row in answer.json["rows"] if row["statistic"] == "row share"]
        for text, name in ((shares, "estimate"), (errors, "std_error")):
            numbers = [float(each) for each in re.findall(r"-?\d+\.?\d*(?:e-?\d+)?|nan", text)]
            expected = [row[name] for row in rows]
            if None not in expected:  # a group of which nobody may be has no share
                assert numbers == pytest.approx(expected, abs=1e-6), second.id
                recomputed.add(second.mechanism.name)
    assert len(recomputed) >= 4, "of single values and of texts, by one count and by a matrix"


def page_of(http: FlaskClient, survey: Survey, query: str) -> str:
    return html.unescape(http.get(f"/s/{survey.id}/results/{query}").text)


class TestPages:
    def test_say_what_they_are_of_and_how_large_groups_are(self, http: FlaskClient, store: Store) -> None:
        survey, _ = filled(store, FIVE_TYPES)
        page = page_of(http, survey, "affair?with=town")
        affair, town = (str(survey.question(each).text) for each in ("affair", "town"))
        assert f'<h1 dir="auto">“{affair}” by “{town}”</h1>' in page
        assert f"<summary>Together with: {town}</summary>" in page
        assert re.search(rf'aria-current="page" dir="auto">{re.escape(town)}</a>', page)
        assert words("en")["rNoneAmong"].format(other=town) in page or "more frequent among those" in page
        assert re.search(r"about [0-9,]+ of 300 \([0-9,]+ to [0-9,]+\)</td>", page)
        assert "every row is computed from all 300 replies to both questions" in page
        assert "<h3>Check it yourself</h3>" in page
        assert re.search(r"a₁ = \d+(/\d+)?, b₁ = \d+(/\d+)?</bdi>", page)

    def test_have_sentences_to_print_with_all_that_they_need(self, http: FlaskClient, store: Store) -> None:
        survey, _ = filled(store, survey_toml("One", question_toml("q", "yes-no", "Q {n}?", epsilon=3)), 2000)
        page = page_of(http, survey, "q")
        (sentence,) = re.findall(r'<q dir="auto">(.*?)</q>', page)
        assert re.match(r"Among those who answered, an estimated \d+ % \(\d+ to \d+ %; 95 % interval\) told ", sentence)
        parts = (
            "told their device yes when asked “Q {n}?”.",
            "2,000 replies to this question",
            "25 November 2026 (UTC)",
        )
        for part in (*parts, "Chance was mixed", "no random sample", "from answering more than once.", survey.id):
            assert part in sentence
        assert sentence.count("25 November 2026") == 1
        assert sentence.endswith("/results/q?release=1.")
        assert '<button type="button" class="copy" data-done="Copied" hidden>' in page, "which a script shows"

    def test_tell_odds_who_answered_and_the_rule_of_weak_numbers(self, http: FlaskClient, store: Store) -> None:
        survey, _ = filled(store, survey_toml("Few", question_toml("q", "yes-no", "Q?", truth="1/2")), 150)
        for text in (page_of(http, survey, "q"), " ".join(page_of(http, survey, "q.svg").split())):
            read = " ".join(re.sub(r"<[^>]*>", " ", text).split())
            assert "of 100 people whose true answer is yes, about 75 send yes" in read
            assert "true answer is no, chance makes about 25 send yes too." in read
            assert "The people who answered chose to do so. They are no random sample" in read
            assert "wider than 30 percentage points." in read


def test_who_was_asked_is_said_in_the_authors_words_everywhere(http: FlaskClient, store: Store) -> None:
    said, hostile = "A random sample of 900 students", "{0} {words} <b> \u202e"
    text = survey_toml("Students", question_toml("q", "yes-no", "Q?", epsilon=3))
    survey, _ = filled(store, f'sample = {{ default = "{said} {hostile}", de = "Eine Stichprobe" }}\n{text}', 150)
    whole = f"Who was asked, in the words of the survey\u2019s author: \u201c{said} {{0}} {{words}} <b> "
    for path in ("q", "q/embed", "q.svg", "q?by=cohort"):
        read = " ".join(html.unescape(re.sub(r"<[^>]*>", " ", http.get(f"/s/{survey.id}/results/{path}").text)).split())
        assert whole in read, path
        assert "no random sample" not in read, path
        assert "\u202e" not in read, path
    assert "„Eine Stichprobe“" in page_of(http, survey, "q?lang=de")
    assert http.get(f"/s/{survey.id}/results/q.json").json["sample"].startswith(said)
    files = files_of(http.get(f"/api/v1/surveys/{survey.id}/archive.zip").data)
    for name in ("methods.txt", "citation.bib", "CITATION.cff", "datapackage.json"):
        assert said in files[name].decode(), name
    (described,) = ElementTree.fromstring(files["codebook.xml"]).iter("{ddi:codebook:2_5}sampProc")
    assert (described.text or "").startswith(said)


def test_odds_are_the_mechanisms_in_every_language() -> None:
    survey = parse_survey(read_survey(EVERY_KIND).document)
    for language in ("en", "de", "fr", "es", "ar"):
        for question in survey.questions:
            said = odds_line(question, words(language))
            assert "{" not in said
            assert re.search(r"\d", said)


def test_rules_are_those_of_the_numbers_that_are_weak() -> None:
    (affair, faith) = TWO.questions
    options = ViewOptions(crossed_with="faith")
    rows = view_of(TWO, {}, "affair", options, joint_of(np.full((2, 3), 1 / 6), 60, 2))
    shares = [row for row in rows if row.statistic == "row share"]
    assert any(row.weak for row in shares)
    assert list(weak_rules(affair, shares, "95 %", words("en"))) == [
        "“too few replies to say” stands where the 95 % interval is wider than 30 percentage points."
    ]
    assert list(weak_rules(faith, [], "95 %", words("en"))) == []


def test_differences_are_weak_by_the_number_that_the_rule_says() -> None:
    text = survey_toml(
        "Two groups",
        question_toml("q", "yes-no", "Q?", epsilon=2),
        question_toml("often", "scale", "How often?", lo=1, hi=5, epsilon=2),
        cohorts=["north", "south"],
    )
    survey = read_survey(text)
    seen: dict[str, set[bool]] = {}
    for n in (40, 80, 120, 180, 260, 400, 900):
        q, often = [n // 2, n - n // 2], [n // 5] * 5
        often[0] += n - sum(often)
        tally = Tally(n, {"q": tuple(q), "often": tuple(often)})
        for question in survey.questions:
            rows = view_of(survey, {"north": tally, "south": tally}, question.id, ViewOptions(compare=True))
            for row in rows:
                is_mean = row.statistic == "mean difference"
                limit = 1.2 if is_mean else 0.3
                assert row.weak == (row.conf_high - row.conf_low > limit)
                seen.setdefault(row.statistic, set()).add(row.weak)
                if row.weak:
                    width = "1.2." if is_mean else "30 points."
                    assert any(each.endswith(width) for each in weak_rules(question, rows, "95 %", words("en")))
    assert seen == {"difference": {True, False}, "mean difference": {True, False}}
