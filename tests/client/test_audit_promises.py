"""What an audit finds where a first screen says one thing and a browser does another."""

from __future__ import annotations

from dataclasses import replace

import pytest

from deniable_client.audit.promises import STATE, TOKEN, USE, Kept, broken
from deniable_client.audit.reference.published import PublishedSurvey
from tools.rig.access import invited_survey, unlinkable_survey

SAYS: dict[str, set[str]] = {
    "open": {"nothingYet", "answerStop"},
    "invited": {"nothingYet", "hashSent", "answerStop"},
    "unlinkable": {"nothingYet", "startSends", "answerStopToken"},
}
"""What the first screen says of requests and of stopping, besides what all of them say."""

ASKS: dict[str, list[str]] = {"open": [], "invited": [USE], "unlinkable": [TOKEN]}
"""What is sent at Start."""


def kept_by(access: str) -> Kept:
    """Somebody whose browser does what the first screen says."""
    begun = {"databases": int(access == "unlinkable"), "texts": []}
    return Kept(
        said={*SAYS[access], "leave", "exitText", "answerKept"},
        sent={
            "before Start": [STATE],
            "at Start": [STATE, *ASKS[access]],
            "before Send": [],
            "after Send": ["POST reports"],
        },
        memory={
            "before Start": {"databases": 0, "texts": []},
            "at Start": begun,
            "before Send": begun,
            "after Send": {"databases": 1, "texts": []},
        },
        is_known=True,
    )


def found(access: str, kept: Kept) -> list[str]:
    survey = (
        unlinkable_survey() if access == "unlinkable" else replace(invited_survey(), access=access, results="closed")
    )
    return list(broken(PublishedSurvey(survey.document), "as it is", kept))


@pytest.mark.parametrize("access", SAYS)
def test_whoever_keeps_its_word_is_not_accused(access: str) -> None:
    assert found(access, kept_by(access)) == []


@pytest.mark.parametrize("access", SAYS)
def test_every_first_screen_must_say_that_no_answer_is_sent_before_send(access: str) -> None:
    kept = kept_by(access)
    kept.said.remove("nothingYet")
    (accused,) = found(access, kept)
    assert "does not say 'No answer is sent before you press Send" in accused


@pytest.mark.parametrize("access", SAYS)
@pytest.mark.parametrize("request_", [STATE, USE, TOKEN])
def test_nothing_may_be_sent_while_somebody_answers(access: str, request_: str) -> None:
    kept = kept_by(access)
    kept.sent["before Send"] = [request_]  # what it holds may depend on what was chosen
    assert f"as it is: {request_} was sent while somebody answered" in " ".join(found(access, kept))
