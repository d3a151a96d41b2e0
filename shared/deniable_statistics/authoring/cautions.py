"""Warnings to authors: of little protection, of reports that wait for a release, and of cohorts of few people."""

from __future__ import annotations

from deniable.errors import check_kind
from deniable.privacy.ceiling import WARN_QUESTION, WARN_SURVEY
from deniable.survey.document import LEAST_RELEASE, Survey

FEW_PEOPLE = 100
"""Size of a cohort of an unlinkable survey, in people, below which `survey check` warns."""


def groups_of(survey: Survey) -> int:
    """Number of groups that are released apart: the cohorts, and the reports without a cohort where these are allowed.

    >>> from deniable import Question, Warner
    >>> asked = (Question("q", "yes-no", "Q?", ("no", "yes"), Warner.from_epsilon(1)),)
    >>> [groups_of(Survey("T", asked, cohorts=("a", "b"), cohort_required=each)) for each in (True, False)]
    [2, 3]
    """
    return len(survey.cohorts) + (not survey.cohort_required)


def release_note(survey: Survey) -> str | None:
    """A note on when results change and how many reports may wait; None unless results come in batches."""
    if survey.results != "batches":
        return None
    # One report fewer than a release may wait in each group, because groups are released apart.
    most = groups_of(survey) * (survey.release - 1)
    return (
        f"Results change when {survey.release} new reports of a cohort have arrived; up to {most:,} wait until the "
        "survey closes"
    )


def release_warning(survey: Survey, respondents: int) -> str | None:
    """A warning if more than half of the planned respondents may wait for a release; else None.

    >>> from deniable import Question, Warner
    >>> asked = (Question("q", "yes-no", "Q?", ("no", "yes"), Warner.from_epsilon(1)),)
    >>> survey = Survey("T", asked, cohorts=("north", "south"), cohort_required=True)
    >>> print(release_warning(survey, 500))
    release: 200 reports times 2 groups are 400, with 500 planned respondents: in equal groups results show 200 of \
each before the survey closes, and if the groups turn out unequal, the smaller one may wait until then; release = 125 \
or fewer cohorts would show them sooner
    >>> release_warning(survey, 800) is None
    True
    """
    groups = groups_of(survey)
    waiting = survey.release * groups
    # Worst case: waiting reports in all groups together may be more than half of what is planned.
    if survey.results != "batches" or 2 * waiting <= respondents:
        return None
    none = "" if survey.cohort_required else ", one of them for links without a cohort,"
    counted = "" if groups == 1 else f" times {groups} groups{none} are {waiting:,}"
    fitting = respondents // (2 * groups)
    sooner = [f"release = {fitting}"] if fitting >= LEAST_RELEASE else []
    sooner += ["fewer cohorts"] if groups > 1 else []
    way_out = f"{' or '.join(sooner)} would show them sooner" if sooner else "closing it shows them all"
    if respondents < waiting:
        shown = ", so results may show few or none of them before the survey closes"
    elif groups == 1:
        # Fewer than two releases, or there would be no warning.
        shown = f", so results show {survey.release} of them before the survey closes, and none if fewer answer"
    else:
        smaller = "the smaller one" if groups == 2 else "a smaller one"
        shown = (
            f": in equal groups results show {survey.release} of each before the survey closes, and if the groups "
            f"turn out unequal, {smaller} may wait until then"
        )
    return f"release: {survey.release} reports{counted}, with {respondents:,} planned respondents{shown}; {way_out}"


def few_invited(survey: Survey, people: int, cohort: str | None = None) -> str | None:
    """A warning if so few people are invited that their results wait until the survey closes; else None.

    Parameters
    ----------
    survey : Survey
    people : int
        Number of people who are invited to the cohort now, or to the whole survey so far.
    cohort : str or None

    Examples
    --------
    >>> from deniable import Question, Warner
    >>> asked = (Question("q", "yes-no", "Q?", ("no", "yes"), Warner.from_epsilon(1)),)
    >>> survey = Survey("T", asked, cohorts=("north", "south"), release=50)
    >>> print(few_invited(survey, 10, "north"))
    10 people are invited to 'north' now, and results of a cohort appear once 50 replies of it have arrived. Unless \
others are invited to it too, its results appear only when you close the survey, which counts all replies
    >>> few_invited(survey, 50, "north") is None
    True
    """
    if survey.results != "batches" or people >= survey.release:
        return None
    one = "person is" if people == 1 else "people are"
    where, whose = (" so far", "results") if cohort is None else (f" to {cohort!r} now", "results of a cohort")
    of_it, to_it, its = ("", "", "results") if cohort is None else (" of it", " to it", "its results")
    return (
        f"{people:,} {one} invited{where}, and {whose} appear once {survey.release:,} replies{of_it} have arrived. "
        f"Unless others are invited{to_it} too, {its} appear only when you close the survey, which counts all replies"
    )


def unlinkable_warning(survey: Survey, respondents: int | None) -> str | None:
    """A warning if a cohort of a survey that nobody can link to people has too few to hide among; else None.

    Such a survey is unlinkable, or answered at a place.

    Parameters
    ----------
    survey : Survey
    respondents : int or None
        Number of planned respondents, who are assumed to divide evenly among cohorts; None if it is not known.
    """
    if not survey.cohorts:
        return None
    if survey.access == "unlinkable":
        rule = "access: nobody can link a report of an unlinkable survey to an invitation, but each names its cohort"
    elif survey.places:
        rule = "place: the collector cannot tell who sent which report of a batch, but each names its cohort"
    else:
        return None
    if respondents is None:
        return f"{rule}, so a person hides among those of one cohort; make none of fewer than {FEW_PEOPLE} people"
    each = respondents // len(survey.cohorts)
    if each >= FEW_PEOPLE:
        return None
    return (
        f"{rule}, so a person hides among about {each:,} of the {respondents:,} planned respondents; make fewer "
        f"cohorts, of {FEW_PEOPLE} people or more, or none"
    )


def weak_protection(survey: Survey) -> list[str]:
    """Warnings about questions or a survey that protect little; empty if none does."""
    check_kind(survey, Survey, "survey")
    sentences = [
        f"question {question.id!r}: epsilon {question.epsilon:.3g} protects little (above {WARN_QUESTION:g})"
        for question in survey.questions
        if question.epsilon > WARN_QUESTION
    ]
    if survey.epsilon > WARN_SURVEY:
        sentences.append(
            f"the whole survey: epsilons add up to {survey.epsilon:.3g}, which protects little (above {WARN_SURVEY:g})"
        )
    return sentences
