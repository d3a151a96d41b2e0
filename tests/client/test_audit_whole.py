"""The lower bound on the epsilon of several waves, of real clients and of one that draws anew for each wave."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import pytest

from deniable import parse_survey, read_survey
from deniable_client.audit.history_bound import (
    DrawWaves,
    Sent,
    bound_waves,
    draw_waves_of_javascript,
    draw_waves_of_python,
    waves_of,
)
from deniable_client.audit.reference.published import PublishedSurvey
from deniable_client.device import randomize
from tools.planted.targets import SURVEY
from tools.rig.survey_files import question_toml, survey_toml

LOUD = PublishedSurvey(
    read_survey(
        survey_toml(
            "A panel",
            question_toml("leave", "choice", options=["a", "b"], epsilon=2, wave_epsilon=1, mechanism="longitudinal"),
            question_toml("affair", "yes-no", epsilon=1),
        )
    ).document
)


@pytest.mark.simulation
@pytest.mark.parametrize(
    ("draw", "people"), [(draw_waves_of_python, 100), (draw_waves_of_javascript, 8_000)], ids=["python", "javascript"]
)
def test_waves_of_real_clients_tell_no_more_than_the_ledger_is_charged(draw: DrawWaves, people: int) -> None:
    found = bound_waves(LOUD, draw, people, 1e-6)
    assert (found.waves, found.people) == (3, people)
    assert [round(each.declared, 3) for each in found.bounds] == [2, 1, 3]
    assert all(each.passed for each in found.bounds), found
    if people > 1000:
        leave, affair, whole = (each.bound for each in found.bounds)
        assert leave > 0.9, "three waves come near 1.64 of the 2 that are charged"
        assert 0.6 < affair <= 1
        assert max(leave, affair) < whole <= 3, "together they tell more than each"


def anew(surveys: Sequence[PublishedSurvey], answers: Sequence[Mapping[str, Any]], own: int) -> Iterator[Sent]:
    """A client that forgets what it drew for the wave before."""
    read = [parse_survey(each.document) for each in surveys]
    for given in answers:
        for _ in range(own):
            yield [dict(randomize(survey, given).values) for survey in read]


@pytest.mark.simulation
def test_a_client_that_draws_anew_for_each_wave_tells_more_than_declared() -> None:
    found = bound_waves(LOUD, anew, 6_000, 1e-6)
    assert "affair" in {each.name for each in found.bounds if not each.passed}, found


def test_there_are_as_many_waves_as_the_ledger_has_room_for() -> None:
    fresh = read_survey(f'fresh = "each wave"\n{SURVEY.replace("epsilon = 1", "epsilon = 2")}')
    surveys = waves_of(PublishedSurvey(fresh.document))
    assert len(surveys) < 3
    assert len(waves_of(PublishedSurvey(read_survey(SURVEY).document))) == 3
