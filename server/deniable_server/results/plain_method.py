"""What stands beside a number in plain words: what chance did to it, who answered, and when it is too weak to quote."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from deniable import Question, Survey
from deniable.exact import chances_above, of_100
from deniable.privacy.odds import ONE_IN_TEN
from deniable_server.results.written import Words, author_text, level_text, localized
from deniable_statistics.published.charts import SHARES, Axis
from deniable_statistics.published.printed_numbers import number
from deniable_statistics.published.published_rows import EstimateOptions
from deniable_statistics.views.shown import axis_of, widest
from deniable_statistics.views.view_row import ViewRow, support_of
from deniable_statistics.views.view_rows import difference_axis

DIFFERENCES = ("difference", "mean difference", "row difference")
"""The statistics that are differences."""


def odds_line(question: Question, words: Words) -> str:
    """How chance works in a question, as odds out of 100 people from its mechanism's integers."""
    yes = question.kind.headline
    support = None if question.mechanism.reports.is_drawn else support_of(question, yes or 0)
    if support is None:
        return words["rOddsRatio"].format(
            most=localized(chances_above(question.mechanism.told_ratio, ONE_IN_TEN), words)
        )
    name = "rOddsSupport" if yes is None else "rOddsYes"
    return words[name].format(p=of_100(support.if_true), q=of_100(support.if_other))


def who_answered(survey: Survey, words: Words) -> str:
    """Who was asked, in the words of the survey's author; without any, that people chose themselves to answer."""
    if survey.sample is None:
        return words["rSelfOpen" if survey.access == "open" else "rSelfInvited"]
    return words["rSample"].format(sample=author_text(survey.sample, words))


def assumptions(wanted: EstimateOptions, words: Words) -> list[str]:
    """What changes the intervals of a view beside their level and method, and must be said wherever one is quoted.

    >>> english = {"lang": "en", "rPoint": ".", "rThousands": ",", "rFakesSupposed": "Up to {share} are made up."}
    >>> assumptions(EstimateOptions(assume_fake=0.015), english), assumptions(EstimateOptions(), english)
    (['Up to 1.5 % are made up.'], [])
    """
    said = []
    if wanted.assume_fake:
        said.append(words["rFakesSupposed"].format(share=level_text(wanted.assume_fake, words)))
    if wanted.simultaneous:
        said.append(words["rAtOnce"])
    if wanted.target == "respondents":
        said.append(words["rRespondents"])
    return said


def weak_rules(question: Question, rows: Sequence[ViewRow], level: str, words: Words) -> Iterator[str]:
    """The rules by which some rows of a view are called too weak to be quoted; none where no row is."""
    for statistic in dict.fromkeys(row.statistic for row in rows if row.weak and row.value is not None):
        is_difference = statistic in DIFFERENCES
        axis = difference_axis(question, statistic) if is_difference else axis_of(question, statistic)
        name = "rWeakDifference" if is_difference else "rWeakShare" if axis == SHARES else "rWeakMean"
        width = _written(widest(axis, is_difference), axis, words, is_difference)
        yield words[name].format(weak=words["rWeak"], level=level, width=width)


def _written(width: float, axis: Axis, words: Words, has_unit: bool) -> str:
    if not axis.is_percent:
        return localized(number(width), words)
    # Differences of shares and of means have one sentence, so the unit stands beside the number.
    return f"{100 * width:g}{words['rPoints'] if has_unit else ''}"
