"""The bench beside a preview: problems, words and figures of a survey, as JSON for its page."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from deniable import Question, Survey
from deniable.exact import right_of_100
from deniable.survey.texts import EVERY_OTHER, Text
from deniable.survey.unit import Unit
from deniable_server.authors.checking import (
    group_lines,
    notes_about,
    presentation,
    question_lines,
    refusals,
    texts_of,
    warnings_about,
    whole_lines,
)
from deniable_server.authors.draft import State, Version
from deniable_server.authors.places import line_of, question_lines_of
from deniable_statistics.authoring.outlook import crossing_widths, half_width, outlook
from deniable_statistics.authoring.respondents import respondents_needed
from deniable_statistics.authoring.scaling import nominal_epsilon
from deniable_statistics.planning.plans import SizePlan, WidthPlan, estimands_of

WIDTH = 0.05
"""Half width for which people are counted, as everywhere if nothing else is said."""

MOST_CROSSINGS = 10
"""Largest number of pairs of questions that are listed, those that are crossed best first."""


def bench(state: State, respondents: int, epsilon: float | None = None) -> dict[str, Any]:
    """All that the page shows, for a number of respondents and an epsilon of the whole survey.

    Parameters
    ----------
    state : State
    respondents : int
        At least 2.
    epsilon : float, optional
        By default the one in the file.

    Raises
    ------
    ParameterError, SurveyError
        If the survey cannot have this epsilon.
    """
    problem = state.problem
    found: dict[str, Any] = {
        "revision": state.revision,
        "problem": problem and {"text": problem.sentence, "line": problem.line, "lines": problem.lines},
    }
    if state.version is None:
        return {**found, "survey": None}
    return {**found, "survey": _survey(state.version, respondents, epsilon)}


def _survey(version: Version, respondents: int, epsilon: float | None) -> dict[str, Any]:
    survey = version.at(epsilon)
    nominal = float(nominal_epsilon(version.written))
    lines = question_lines_of(version.source)
    crossings = sorted(crossing_widths(survey, respondents).items(), key=lambda each: each[1])
    return {
        "id": version.survey.id,
        "title": str(survey.title),
        "bytes": len(survey.document),
        "outlook": outlook(survey, respondents),
        "respondents": respondents,
        "epsilon": {"written": nominal or None, "is_tried": epsilon is not None, "whole": survey.epsilon},
        "right": right_of_100(survey.likelihood_ratio),
        "access": survey.access,
        "cohorts": list(survey.cohorts),
        "cohort_required": survey.cohort_required,
        "languages": languages_of(survey),
        "findings": list(_findings(survey, version.source, respondents)),
        "around": list(presentation(survey)),
        "whole": list(whole_lines(survey)),
        "questions": [_question(each, survey, respondents, lines.get(each.id)) for each in survey.questions],
        "groups": [_group(unit) for unit in survey.units if unit.group],
        "crossings": [{"of": pair, "half_width": width} for pair, width in crossings[:MOST_CROSSINGS]],
    }


def languages_of(survey: Survey) -> list[str]:
    """The languages into which the author translated some text, in alphabetical order."""
    spoken = {each for _, text in texts_of(survey) if isinstance(text, Text) for each in text.translations}
    return sorted(spoken - {EVERY_OTHER})


def _findings(survey: Survey, source: str, respondents: int) -> Iterator[dict[str, Any]]:
    kinds = {
        "error": refusals(survey),
        "warning": warnings_about(survey, respondents),
        "note": notes_about(survey, respondents),
    }
    for kind, sentences in kinds.items():
        for sentence in sentences:
            yield {"kind": kind, "text": sentence, "line": line_of(source, sentence)}


def _question(question: Question, survey: Survey, respondents: int, line: int | None) -> dict[str, Any]:
    return {
        "id": question.id,
        "type": question.type,
        "text": str(question.text),
        "line": line,
        "asked": question.share_asked,
        "epsilon": question.epsilon,
        "lines": list(question_lines(question, survey)),
        "right": right_of_100(question.mechanism.likelihood_ratio),
        "figures": _figures(question, respondents),
        "costs": list(_costs(question)),
    }


def _costs(question: Question) -> Iterator[dict[str, Any]]:
    """The people that each mechanism takes, as a multiple of those that the chosen one takes."""
    needed = respondents_needed(question)
    for label, people in needed:
        yield {"label": label, "times": people / needed[0].respondents}


def _figures(question: Question, respondents: int) -> dict[str, Any]:
    """The precision of a question: of a share of one half, or of its mean as a part of the range."""
    estimand = estimands_of(question, (0.5,))[0]
    span = 1.0 if estimand.statistic == "share" else estimand.precision.span
    with_people = WidthPlan(estimand, respondents)
    size = SizePlan(estimand, WIDTH)
    return {
        "statistic": estimand.statistic,
        "half_width": half_width(question, respondents),
        "half_width_directly": with_people["half_width_directly"] / span,
        "people": size["people"],
        "people_directly": size["people_directly"],
        "times": size["times"],
    }


def _group(unit: Unit) -> dict[str, Any]:
    assert unit.group is not None
    heading, *lines = group_lines(unit, unit.group)
    return {"heading": heading, "lines": lines, "questions": [each.id for each in unit.questions]}
