"""What ``deniable embed --check`` says of what its browser saw, without a browser."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from deniable_server.authors.page_check import Inquiry, Remark, findings, lines_of
from deniable_server.authors.page_visit import PageVisit, Script, SeenElement, Violation
from deniable_server.people.links import read_place

AT = "https://collector.example"
SURVEY = "bpn4zq5y7xlxpqd63hsrm4s5ky"
ELEMENT = SeenElement("deniable-survey", f"{AT}/s/{SURVEY}", True, False, False, "ready", "Start")
SCRIPT = Script(f"{AT}/client/deniable.js", "module", "sha384-x")
PAGE = PageVisit("https://uni.example/study", (ELEMENT,), (SCRIPT,), has_tag=True)


def said(
    seen: PageVisit,
    wanted: str | None = None,
    takes: bool = True,
    brings: str | None = None,
    languages: tuple[str, ...] = (),
    refuses: str | None = None,
) -> tuple[list[str], list[str]]:
    """Problems, and everything else that is said of a page."""
    asked: list[tuple[str, str, str]] = []

    def answer(*question: str) -> bool:
        asked.append(question)  # type: ignore[arg-type]
        return takes

    ask = Inquiry(answer, lambda *_: brings, lambda *_: languages, lambda *_: refuses)
    found = list(findings(seen, read_place(wanted) if wanted else None, ask))
    assert all(collector == AT and survey == SURVEY for collector, survey, _ in asked)
    return [each.text for each in found if each.is_problem], [each.text for each in found if not each.is_problem]


def test_a_sound_page_has_no_problem_and_says_who_could_look_on() -> None:
    problems, told = said(PAGE, SURVEY)
    assert problems == []
    assert told[:2] == [f"<deniable-survey> asks survey {SURVEY} of {AT}.", "It runs, and people can answer."]
    assert (
        told[2] == "A reply would arrive: the collector takes replies from pages of https://uni.example. None was sent."
    )
    tracked = replace(PAGE, scripts=(SCRIPT, Script("https://tracker.example/x.js", "", "")))
    assert "scripts of https://tracker.example, which run in it" in said(tracked)[1][-1]
    own = replace(PAGE, scripts=(SCRIPT, Script("https://uni.example/own.js", "", "")))
    assert "and so could scripts" not in said(own)[1][-1]


def test_a_page_in_one_language_holds_a_survey_of_several_to_it() -> None:
    english = replace(PAGE, elements=(replace(ELEMENT, language="en"),))
    for page, languages, is_said in ((english, ("de", "fr"), True), (english, (), False), (PAGE, ("de", "fr"), False)):
        assert any("is translated (de, fr)" in each for each in said(page, languages=languages)[1]) == is_said


@pytest.mark.parametrize(
    "change",
    [
        {"failed": ("https://uni.example/deniable/deniable-answering.js",)},
        {"violations": (Violation("script-src", f"{AT}/client/deniable-answering.js"),)},
        {
            "lines": (
                f"Failed to find a valid digest in the 'integrity' attribute for {AT}/client/deniable-answering.js",
            )
        },
    ],
)
@pytest.mark.parametrize("event", ["ready", "error"])
def test_a_page_without_the_second_script_cannot_be_answered(change: dict[str, Any], event: str) -> None:
    problems, told = said(replace(PAGE, elements=(replace(ELEMENT, told=event),), **change))
    assert "deniable-answering.js cannot be loaded, or is of another version" in problems[0]
    assert "It runs, and people can answer." not in told


def test_a_collector_that_refuses_other_sites_and_another_survey_are_problems() -> None:
    assert said(PAGE, takes=False)[0] == [
        "No reply would arrive: the collector refuses replies from pages of https://uni.example."
    ]
    assert said(PAGE, "a" * 26)[0] == [f"This is another survey than {'a' * 26}."]


def test_a_frame_sends_from_the_collector_and_hides_from_the_page() -> None:
    problems, told = said(replace(PAGE, elements=(replace(ELEMENT, is_isolated=True),)))
    assert problems == []
    assert f"takes replies from pages of {AT}" in told[2]
    assert told[-1].startswith("The page cannot look into the frame")


FRAMED = replace(ELEMENT, link=f"/s/{SURVEY}", is_isolated=True, frame=f"{AT}/embed/{SURVEY}")
"""The element of the collector's page for frames, whose link names no collector."""


def test_a_frame_asks_the_collector_that_it_comes_from_and_not_the_page_around_it() -> None:
    framed = replace(PAGE, elements=(FRAMED,), scripts=(), has_tag=False)
    problems, told = said(framed, f"{AT}/s/{SURVEY}")
    assert problems == []
    assert told[0] == f"A frame asks survey {SURVEY} of {AT}."
    assert f"takes replies from pages of {AT}" in told[2]
    assert said(framed, f"https://other.example/s/{SURVEY}")[0] == [
        "This is another collector than https://other.example."
    ]
    assert said(framed, takes=False)[0] == [f"No reply would arrive: the collector refuses replies from pages of {AT}."]


def test_a_frame_that_is_not_there_is_told_by_its_reason() -> None:
    empty = replace(PAGE, elements=(), scripts=(), has_tag=False, frames=(f"{AT}/embed/{SURVEY}",))
    blocked = replace(empty, violations=(Violation("frame-src", f"{AT}/embed/{SURVEY}"),))
    assert said(blocked)[0] == [f"Missing in the page's Content-Security-Policy: frame-src {AT}"]
    assert said(empty)[0] == [f"The page has a frame of a survey, which cannot be loaded: {AT}/embed/{SURVEY}."]


def test_a_survey_that_the_collector_does_not_have_is_told_in_its_words() -> None:
    failed = replace(PAGE, elements=(replace(ELEMENT, told="error", said="Please do not answer."),))
    problems, _ = said(failed, refuses="refused with status 404: survey: there is none at this address")
    assert problems == [
        "It runs, but nobody can answer. Refused with status 404: survey: there is none at this address; compare the "
        "link. People read: \u201cPlease do not answer.\u201d"
    ]


def test_a_policy_is_answered_for_origins_of_the_survey_alone() -> None:
    violations = (
        Violation("script-src", f"{AT}/client/deniable.js"),
        Violation("connect-src", f"{AT}/api/v1/surveys/{SURVEY}"),
        Violation("connect-src", f"{AT}/client/catalogues/en.json"),
        Violation("img-src", "https://tracker.example/pixel"),
        Violation("script-src", "inline"),
    )
    silent = replace(ELEMENT, is_defined=False, told="", reaches=False)
    problems, _ = said(replace(PAGE, elements=(silent,), violations=violations))
    assert problems == [
        "It does not run, and people read what stands inside the tag: the page's Content-Security-Policy keeps its "
        "script out.",
        f"Missing in the page's Content-Security-Policy: connect-src {AT}; script-src {AT}",
    ]


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"told": "closed", "said": "This survey is over."}, "People read: \u201cThis survey is over.\u201d"),
        ({"told": "error", "said": ""}, "nobody can answer. People read: nothing"),
        ({"told": "error", "said": f"{'a' * 190} bc defghijkl"}, f"People read: \u201c{'a' * 190} bc …\u201d"),
        ({"told": "", "reaches": False}, "it cannot reach the collector"),
        ({"told": "", "reaches": True}, "did not say in time"),
        ({"link": "https://collector.example/surveys/7"}, "its src is no link of a survey"),
    ],
)
def test_elements_that_cannot_be_answered_say_why(change: dict[str, object], problem: str) -> None:
    problems, _ = said(replace(PAGE, elements=(replace(ELEMENT, **change),)))  # type: ignore[arg-type]
    assert len(problems) == 1
    assert problem in problems[0]


@pytest.mark.parametrize("brings", ["an invitation", "a cohort"])
def test_a_page_that_takes_what_people_bring_is_no_problem_without_it(brings: str) -> None:
    asked = replace(PAGE, elements=(replace(ELEMENT, told="error", said="The end of the link is missing."),))
    problems, told = said(asked, brings=brings)
    assert problems == []
    assert told[1].startswith(f"It runs, and asks for {brings}, which people bring in their link to this page.")
    assert told[2].startswith("A reply would arrive: ")
    # What is brought and not taken, such as an invitation that was used, is a problem.
    link = f"{ELEMENT.link}#{brings.split()[1]}=x"
    problems, _ = said(replace(asked, elements=(replace(asked.elements[0], link=link),)), brings=brings)
    assert problems == ["It runs, but nobody can answer. People read: \u201cThe end of the link is missing.\u201d"]


def test_lines_begin_with_their_sign() -> None:
    assert lines_of([Remark("a"), Remark("b", "NOTE"), Remark("c", "PROBLEM")]) == [
        "ok       a",
        "NOTE     b",
        "PROBLEM  c",
    ]
