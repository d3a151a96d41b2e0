"""Forms that hold one question: how they are filled in, what they must get, and what is named where they do not."""

from __future__ import annotations

import datetime
import itertools
import json
import random
from functools import cache

import pytest

from deniable import read_survey
from deniable_client.audit.blackbox.trace import Trace
from deniable_client.audit.companions import copy_of
from deniable_client.audit.form_judge import expect_of_form
from deniable_client.audit.forms import FORMS, FormBlock, FormPlan, FormSession, alone, form_plans
from deniable_client.audit.keys import AuditKeys
from deniable_client.audit.reference.published import PublishedSurvey
from deniable_client.audit.steering import NotReachable
from tools.planted.targets import EVERY, SURVEY

COLLECTOR = "http://collector.example"
TODAY = datetime.date(2026, 11, 26).isoformat()


@cache
def surveys(toml: str) -> tuple[PublishedSurvey, PublishedSurvey]:
    first = PublishedSurvey(read_survey(toml).document)
    return first, copy_of(first, AuditKeys(), again=True)


def filled(plan: FormPlan) -> list[FormSession]:
    """The two people of a plan."""
    dice = random.Random(plan.seed)
    for _ in range(100):
        block = FormBlock(plan, surveys(SURVEY), COLLECTOR, dice, TODAY)
        try:
            return [block.filling(answer) for answer in plan.answers]
        except NotReachable:
            continue
    raise AssertionError("two answers share no value")


def test_every_question_that_can_stand_alone_is_asked_in_every_way() -> None:
    plans = form_plans(surveys(SURVEY), 64, random.Random(41))
    assert len(plans) == 64
    assert {each.history for each in plans} == set(FORMS)
    assert {each.question for each in plans} == {"affair", "leave", "boxes", "drinks"}
    assert {frozenset(each.answers) for each in plans if each.question == "leave"} == {
        frozenset(each) for each in itertools.combinations(range(3), 2)
    }
    assert all(each.answers[0] != each.answers[1] for each in plans)
    grouped = PublishedSurvey(read_survey(EVERY).document)
    assert {"often", "tax", "one"}.isdisjoint(each["id"] for each in alone(grouped))


def test_there_are_no_plans_where_no_question_can_stand_alone() -> None:
    only = surveys(SURVEY)[0].content
    grouped = [each for each in only["questions"] if "group" in each]
    survey = PublishedSurvey(json.dumps(only | {"questions": grouped}).encode())
    assert form_plans([survey], 8, random.Random(1)) == []


@pytest.mark.parametrize("history", FORMS)
def test_two_people_get_the_same_values_into_their_forms(history: str) -> None:
    for number, plan in enumerate(form_plans(surveys(SURVEY), 12, random.Random(41), [history])):
        one, other = filled(plan)
        assert one.values == other.values, (number, plan)
        assert one.device == other.device
        assert one.known == other.known
        is_shared = any(visit.is_shared for visit in FORMS[history])
        assert (not one.device.noisy) == is_shared
        assert one.posts == []


@pytest.mark.parametrize(
    ("history", "question", "known"),
    [
        ("a form twice", "affair", [False, True]),
        ("forms of two surveys", "affair", [False, True]),
        ("forms of two surveys", "leave", [False, False]),  # a wave is asked
        ("forms on a shared device", "affair", [False, False]),
    ],
)
def test_a_form_that_the_device_can_fill_in_asks_nobody(history: str, question: str, known: list[bool]) -> None:
    session, _ = filled(FormPlan(history, question, (0, 1), 7))
    assert session.known == known
    kinds = [bool(load.words) for load in session.loads]
    assert kinds == [each for is_known in known for each in (not is_known, False)]


def seen(session: FormSession, body: str, more: str = "") -> Trace:
    """A trace of a browser that did what it must, but for the body of its form and one request more."""
    trace = Trace(chance=[["Uint32Array:4"] * len(load.words) for load in session.loads])
    trace.put("request POST /answers (1), head", "POST /answers HTTP/1.1")
    trace.put("request POST /answers (1), body", body)
    if more:
        trace.put(f"request {more} (1), head", more)
    told = {key: ["DAY", cost] for (_, key), (_, cost) in session.device.told.items()}
    record = {"reports": {}, "noisy": session.device.noisy, "told": {"http://COLLECTOR": told}}
    trace.put("tab 1, form 1, submitted, indexedDB", {"deniable 1": {"memory": [[0], [record]]}})
    return trace


def test_what_a_form_gets_and_asks_for_beside_the_noisy_value_is_named() -> None:
    session, _ = filled(FormPlan("a form", "affair", (0, 1), 7))
    (value,) = session.values
    assert list(expect_of_form(session, seen(session, f"age=40&answer={value}"))) == []
    ((where, what),) = expect_of_form(session, seen(session, f"age=40&answer=0{value}"))
    assert (where, f"0{value}" in what) == ("form 1", True)
    ((where, what),) = expect_of_form(session, seen(session, f"age=40&answer={value}", "GET /livez"))
    assert (where, what) == ("request that a form has no need of", "'GET /livez'")
