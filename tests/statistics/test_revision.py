"""What a survey that revises another one keeps of it, and the estimates of both together."""

from __future__ import annotations

import random
from dataclasses import replace
from typing import Any

import pytest

from deniable import Report, Survey, SurveyError, Tally, estimate, read_survey
from deniable_statistics.estimates.tally import tally_reports
from deniable_statistics.published.revision import Pool, Revision, inflation, pooled_estimates, versions_of
from tools.rig.survey_files import question_toml, survey_toml

AFFAIR = question_toml("affair", "yes-no", "An affair?", epsilon=1)
TOWN = question_toml("town", "choice", "Where?", options=["town", "country", "sea"], epsilon=1)
GROUP = "[groups.g]\nepsilon = 1.0\ndraw = 1\n"
DRAWN = [question_toml(name, "yes-no", f"{name}?", group="g") for name in "xyz"]
JOINT = "[groups.j]\nepsilon = 2.0\ndraw = 2\n"


def made(title: str, *questions: str, head: str = "", revises: Survey | None = None, **keys: object) -> Survey:
    text = survey_toml(title, **keys) + head + "".join(questions)
    return replace(read_survey(text), revises=revises.id if revises else None)


OLD = made("T", AFFAIR, TOWN, *DRAWN[:2], question_toml("tax", "yes-no", "Taxes?", epsilon=1), head=GROUP)


def fates(new: Survey, old: Survey = OLD) -> dict[str, str]:
    return {each.id: each.fate for each in Revision(old, replace(new, revises=old.id)).questions}


def test_the_same_questions_are_kept_under_other_ids_titles_and_texts_around_them() -> None:
    renamed = AFFAIR.replace('id = "affair"', 'id = "liaison"\nhelp = "Ever."')
    new = made("Corrected", renamed, TOWN, *DRAWN[:2], head=GROUP)
    assert fates(new) == {"liaison": "kept", "town": "kept", "x": "kept", "y": "kept"}
    revision = Revision(OLD, replace(new, revises=OLD.id))
    assert revision.pooled == {"liaison": "affair", "town": "town", "x": "x", "y": "y"}
    assert revision.dropped == ("tax",)
    assert revision.epsilon_of_both == pytest.approx(OLD.epsilon, abs=1e-5)


@pytest.mark.parametrize(
    ("change", "differs"),
    [
        (("An affair?", "An affair, ever?"), "its text"),
        (("epsilon = 1", "epsilon = 2"), "its noise"),
        (('text = "An affair?"', 'text = { default = "An affair?", de = "Eine Affäre?" }'), "its text"),
        (("epsilon = 1", 'decline = "Prefer not to say"\nepsilon = 1'), "its options"),
    ],
)
def test_whatever_people_or_chance_notice_makes_another_question(change: tuple[str, str], differs: str) -> None:
    new = made("T", AFFAIR.replace(*change), TOWN, revises=OLD)
    found = Revision(OLD, new).questions[0]
    assert (found.fate, found.before) == ("changed", "affair")
    assert differs in found.differs
    assert Pool((OLD, new)).left_out == ("affair",)
    # Its epsilon is paid again: the ledger of whoever answers both has it twice.
    assert Revision(OLD, new).epsilon_of_both > OLD.epsilon + 0.9


def test_a_filter_is_the_same_where_the_questions_that_it_is_about_are() -> None:
    more = question_toml("often", "choice", "How often?", options=["once", "more"], ask_if="affair = yes", epsilon=1)
    old = made("T", AFFAIR, more)
    assert fates(made("U", AFFAIR, more), old) == {"affair": "kept", "often": "kept"}
    changed = made("U", AFFAIR.replace("An affair?", "Any affair?"), more)
    (_, often) = Revision(old, replace(changed, revises=old.id)).questions
    assert (often.fate, often.differs) == ("changed", ("who is asked it",))


def test_a_question_of_another_group_is_pooled_and_drawn_anew_and_one_response_is_not() -> None:
    new = made("T", AFFAIR, *DRAWN, head=GROUP)
    assert fates(new) == {"affair": "kept", "x": "pooled", "y": "pooled", "z": "new"}
    pair = [question_toml(name, "yes-no", f"{name}?", group="j") for name in "ab"]
    joint = made("J", *pair, head=JOINT)
    assert joint.groups["j"][0].group is not None
    assert joint.groups["j"][0].group.joint is not None
    alone = made("K", question_toml("a", "yes-no", "a?", epsilon=1), AFFAIR)
    assert fates(replace(alone, title="L"), joint)["a"] == "changed"
    same = Pool((joint, made("K", *pair, AFFAIR, head=JOINT, revises=joint)))
    assert [each.group for each in same.survey.questions] == [joint.questions[0].group] * 2


def test_a_revision_draws_nothing_anew_and_names_its_predecessor() -> None:
    with pytest.raises(SurveyError, match="revises: must not go with fresh = 'each wave'"):
        replace(OLD, fresh="each wave", revises=OLD.id)
    wrong: Any
    for wrong in ("", "a" * 25, "A" * 26, "a" * 27, 5):
        with pytest.raises(SurveyError, match="revises: must be the id of a survey"):
            replace(OLD, revises=wrong)
    with pytest.raises(SurveyError, match=r"must name .* as the one that it revises, names none"):
        Revision(OLD, replace(OLD, title="Other"))
    with pytest.raises(SurveyError, match=f"names {OLD.id}"):
        Revision(replace(OLD, title="Another"), replace(OLD, title="Other", revises=OLD.id))


def test_versions_are_followed_to_the_oldest() -> None:
    second = replace(OLD, title="Second", revises=OLD.id)
    third = replace(OLD, title="Third", revises=second.id)
    known = {each.id: each for each in (OLD, second, third)}
    assert versions_of(third, known.__getitem__) == (OLD, second, third)
    with pytest.raises(SurveyError, match="revises no other survey"):
        versions_of(OLD, known.__getitem__)
    with pytest.raises(SurveyError, match="no question that is the same"):
        Pool((OLD, made("T", question_toml("q", "yes-no", "Other?", epsilon=1), revises=OLD)))


def some_reports(survey: Survey, n: int, seed: int) -> list[Report]:
    """Reports of every shape that the survey takes, whatever their distribution."""
    dice = random.Random(seed)
    found = []
    for number in range(n):
        values: dict[str, int | str | None] = {}
        for unit in survey.units:
            asked = dice.sample(range(len(unit.questions)), unit.group.draw if unit.group else 1)
            for place, each in enumerate(unit.questions):
                values[each.id] = dice.randrange(len(each.options)) if place in asked else None
        ordered = {each.id: values[each.id] for each in survey.questions}
        found.append(Report(f"{seed:02x}{number:030x}", dice.choice([None, *survey.cohorts]), ordered))
    return found


def test_pooled_estimates_are_those_of_all_reports_counted_together() -> None:
    old = made("T", AFFAIR, TOWN, *DRAWN[:2], head=GROUP, cohorts=["a", "b"])
    renamed = AFFAIR.replace('id = "affair"', 'id = "liaison"')
    new = made("U", TOWN, renamed, *DRAWN, head=GROUP, cohorts=["b", "c"], revises=old)
    pool = Pool((old, new))
    sent = [some_reports(old, 300, 1), some_reports(new, 500, 2)]
    tallies = [tally_reports(each, survey) for each, survey in zip(sent, pool.versions, strict=True)]
    rows = {(row.question, row.option): row for row in pooled_estimates(pool, tallies)}
    assert {question for question, _ in rows} == {"town", "liaison", "x", "y"}
    assert pool.survey.cohorts == ("a", "b", "c")
    # What is kept: the reports renamed and counted as if they were of one survey.
    plain = made("U", TOWN, renamed, cohorts=["a", "b", "c"])
    one = [
        Report(each.id, each.cohort, {"town": each.values["town"], "liaison": each.values[name]})
        for reports, name in zip(sent, ("affair", "liaison"), strict=True)
        for each in reports
    ]
    for row in estimate(tally_reports(one, plain), plain):
        assert rows[row.question, row.option] == row
    # Of a drawn one, those of the devices that asked it, whatever else they might have been asked.
    asked = [each.values["x"] for reports in sent for each in reports if each.values["x"] is not None]
    assert rows["x", "yes"].n == len(asked)
    assert rows["x", "yes"].count == sum(value == 1 for value in asked)
    by_cohort = pooled_estimates(pool, tallies, by_cohort=True)
    assert list(dict.fromkeys(row.cohort for row in by_cohort)) == ["a", "b", "c", None]
    assert sum(row.n for row in by_cohort if (row.question, row.option) == ("x", "yes")) == len(asked)


def test_results_of_versions_without_reports_are_pooled_too() -> None:
    new = replace(OLD, title="U", revises=OLD.id)
    nothing: dict[str | None, Tally] = {}
    assert all(row.n == 0 for row in pooled_estimates(Pool((OLD, new)), [nothing, nothing]))


def test_who_answered_both_counts_twice_at_most_that_much() -> None:
    assert inflation([10, 10, 10]) == pytest.approx(3**0.5)
    assert inflation([10, 0]) == 1
    assert inflation([0, 0]) == 1
    # Two versions of 3 and 2 people, the same 2 in both: 1^2 + 2^2 + 2^2 of 5.
    assert inflation([3, 2]) == pytest.approx((9 / 5) ** 0.5)
