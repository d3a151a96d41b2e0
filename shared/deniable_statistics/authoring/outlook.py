"""What matters of a survey in one sentence: how well shares are known, what a person is asked, what can be crossed."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from statistics import NormalDist

from deniable.survey.document import Survey
from deniable.survey.question import Question
from deniable.survey.unit import Unit
from deniable_statistics.authoring.crosstab_precision import (
    joint_variance,
    joint_variance_of_digits,
    joint_variance_of_patterns,
)
from deniable_statistics.authoring.sample_size import planned_variance
from deniable_statistics.published.width import TOO_WIDE

RESPONDENTS = 1000
"""Number of people for whom the sentence is said if no number is planned for."""

USEFUL = 0.1
"""Half width of a cell for which people are counted where fewer know nothing of it."""

UNKNOWN = 0.5
"""Half width from which on an interval says nothing about a share."""

WORDS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")


def outlook(survey: Survey, respondents: int = RESPONDENTS) -> str:
    """The sentence for a number of people who answer.

    Half widths are of 95 % normal intervals, at a share of one half, or of a mean if all answers are equally frequent;
    of a crosstab, for the share of one cell. If they differ between questions, the least and the largest are said.

    Examples
    --------
    Two coins, a share of one half: 1.96 sqrt(1 / 1000) = 6.2 points.

    >>> import textwrap
    >>> from deniable import TwoCoin
    >>> survey = Survey("T", (Question("q", "yes-no", "Q?", ("no", "yes"), TwoCoin("1/2", "1/2")),))
    >>> print(textwrap.fill(outlook(survey), 100))
    With 1,000 people, shares near one half are estimated to within \u00b16 points, and each person is asked
    the one question.
    """
    known = " and ".join(_known(survey, respondents))
    if len(survey.questions) == 1:
        return f"With {respondents:,} people, {known}, and {asked_of_each(survey)}."
    widths = list(crossing_widths(survey, respondents).values())
    first = f"With {respondents:,} people, {known}, {asked_of_each(survey)}, and {_crossed(widths)}."
    return " ".join(filter(None, (first, _to_cross(survey, respondents, widths))))


def half_width(question: Question, respondents: int) -> float:
    """Half width for one question: of its shares, or of its mean as a part of the range if it tells no shares."""
    variance = planned_variance(question.mechanism, wants_mean=not question.has_shares)
    return _half_width(variance / question.share_asked, respondents)


def hopeless(survey: Survey, respondents: int) -> str | None:
    """A warning if so many people are too few for every question, by the rule of the results pages; else None.

    >>> from deniable import TwoCoin
    >>> survey = Survey("T", (Question("q", "yes-no", "Q?", ("no", "yes"), TwoCoin("1/2", "1/2")),))
    >>> print(hopeless(survey, 20))
    Even if all 20 answer, the margin of error of every question is \u00b144 points or more, so the results will \
say "too few replies to say". Ask more people, or fewer questions: 'deniable survey check FILE --respondents 20'
    >>> hopeless(survey, 400) is None
    True
    """
    least = min(half_width(question, respondents) for question in survey.questions)
    if least <= TOO_WIDE:
        return None
    # Beyond half of all that is possible a margin says no more than that it is unknown.
    margin = f"\u00b1{100 * min(least, UNKNOWN):.0f} points or more"
    return (
        f"Even if all {respondents:,} answer, the margin of error of every question is {margin}, so the results will "
        'say "too few replies to say". Ask more people, or fewer questions: '
        f"'deniable survey check FILE --respondents {respondents}'"
    )


def asked_of_each(survey: Survey) -> str:
    """How many of the questions each person is asked, in words; at most so many where some depend on others."""
    size = len(survey.questions)
    if any(each.ask_if for each in survey.questions):
        return f"each person is asked at most {_number(size if survey.asks_more else survey.asks)} questions"
    if not survey.is_drawn:
        whole = {1: "the one question", 2: "both questions"}.get(size, f"all {_number(size)} questions")
        return f"each person is asked {whole}"
    return f"each person is asked {_number(survey.asks)} of the {_number(size)} questions"


def crossing_widths(survey: Survey, respondents: int) -> dict[tuple[str, str], float]:
    """Half width of one cell of the crosstab of each two questions that some people are both asked."""
    variances = {}
    for one, other in itertools.combinations(survey.units, 2):
        # Questions of different units are drawn independently, with noise of their own.
        for first, second in itertools.product(one.questions, other.questions):
            if first.mechanism.has_shares and second.mechanism.has_shares:
                together = first.share_asked * second.share_asked
                variances[first.id, second.id] = joint_variance(first.mechanism, second.mechanism) / together
    for unit in survey.units:
        variances |= _within(unit)
    return {pair: _half_width(variance, respondents) for pair, variance in variances.items()}


def _within(unit: Unit) -> dict[tuple[str, str], float]:
    """``n`` times the variance of a cell for each two questions of a group."""
    group = unit.group
    if group is None or group.draw < 2:
        return {}
    # s of k questions are drawn without replacement: P(two given ones) = s (s - 1) / (k (k - 1)).
    together = group.draw * (group.draw - 1) / (group.size * (group.size - 1))
    found = {}
    for one, other in itertools.combinations(unit.questions, 2):
        if group.joint and unit.patterns:
            found[one.id, other.id] = joint_variance_of_patterns(group.joint, unit.patterns)
        elif group.joint:
            found[one.id, other.id] = joint_variance_of_digits(group.joint, len(one.options)) / together
        elif one.mechanism.has_shares and other.mechanism.has_shares:
            found[one.id, other.id] = joint_variance(one.mechanism, other.mechanism) / together
    return found


def _known(survey: Survey, respondents: int) -> Iterator[str]:
    of_shares = [half_width(each, respondents) for each in survey.questions if each.has_shares]
    of_means = [half_width(each, respondents) for each in survey.questions if not each.has_shares]
    if of_shares and min(of_shares) >= UNKNOWN:
        yield "shares cannot be estimated at all"
    elif of_shares:
        yield f"shares near one half are estimated to within {_range(of_shares)} points"
    if of_means:
        yield f"means are estimated to within {_range(of_means)} % of their range"


def _crossed(widths: list[float]) -> str:
    if not widths:
        return "no two questions can be cross-tabulated"
    if min(widths) >= UNKNOWN:
        return "a cross-tabulation of two questions says nothing yet"
    return f"each cell of a cross-tabulation of two questions is estimated to within {_range(widths)} points"


def _to_cross(survey: Survey, respondents: int, widths: list[float]) -> str | None:
    """What it would take to cross two questions, where none are crossed."""
    if widths and min(widths) < UNKNOWN:
        return None
    if widths:
        # A half width falls with the root of the number of people.
        people = math.ceil(respondents * (min(widths) / USEFUL) ** 2)
        return (
            f"To cross two questions and know each cell to within \u00b1{100 * USEFUL:.0f} points, it takes "
            f"{people:,} people, or a higher epsilon."
        )
    if sum(each.has_shares for each in survey.questions) < 2:
        return (
            'To cross two questions, write both with shares: a scale or rating with goal = "shares", or a number as '
            "such a scale."
        )
    return (
        "To cross two questions, some people must be asked both: "
        'want = ["shares", "crosstabs"] lets each device ask at least two.'
    )


def _half_width(variance: float, respondents: int) -> float:
    # z sqrt(V / n)
    return NormalDist().inv_cdf(0.975) * math.sqrt(variance / respondents)


def _range(widths: list[float]) -> str:
    """The least and the largest of several half widths in hundredths."""
    least, most = (_rounded(each) for each in (min(widths), max(widths)))
    if max(widths) >= UNKNOWN:
        return f"\u00b1{least} to more than \u00b1{100 * UNKNOWN:.0f}"
    return f"\u00b1{least}" if least == most else f"\u00b1{least} to \u00b1{most}"


def _rounded(width: float) -> str:
    hundredths = 100 * width
    # Below 2 points a digit more still tells designs apart.
    return f"{hundredths:.1f}" if hundredths < 2 else f"{hundredths:.0f}"


def _number(n: int) -> str:
    return WORDS[n] if n < len(WORDS) else f"{n:,}"
