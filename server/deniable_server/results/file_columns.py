"""The columns of every file of results, and what they mean: one table for the documents, the pages and the archive."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from deniable_server.results.work import COLUMNS, VIEW_COLUMNS
from deniable_statistics.published.access_columns import ACCESS_LABELS, ONE_REPORT_COLUMN
from deniable_statistics.published.date_columns import DATE_LABELS

ESTIMATE_LABELS = {
    "question": "id of the question",
    "option": "answer; empty for the mean of a scale or number",
    "cohort": "cohort of the link; empty for everybody, or for replies without a cohort",
    "n": "replies to the question; fewer than all if devices draw which questions they ask",
    "count": "replies that support the answer, where one count tells the estimate",
    "estimate": "unbiased estimate, 0.25 for 25 %; it may lie outside the possible range",
    "std_error": "standard error of the estimate",
    "conf_low": "lower end of the confidence interval, as it was computed",
    "conf_high": "its upper end",
    "conf_level": "confidence level, 0.95 for 95 %",
    "method": "method of the interval",
    "epsilon": "privacy loss of one answer to the question",
    "feasible": "most likely possible value, which pages show; shares add up to 1",
    "statistic": "share, mean, or among: a share among those to whom the question applies",
    "target": "whose shares the standard error and the interval are for: population or respondents",
    "p_below": "p-value of as few replies as these if the share is 0",
    "p_above": "p-value of as many replies as these if the share is 1",
    "flag": "a sentence if the replies hardly fit the design: do not quote these numbers",
    "fake_margin": "largest shift caused by one made-up reply in a hundred, in the unit of the estimate",
    "misbehaving": "assumed share of people who misbehave; empty where none is assumed",
    "bound_low": "smallest value that the estimate leaves possible, whatever those people did",
    "bound_high": "largest such value",
    "robust_low": "lower end of an interval that is valid whatever those people did; empty unless misbehaving is given",
    "robust_high": "its upper end",
    "assumed_fake": "share of all replies that may be made up with the interval still valid",
    "a": "probability that a reply supports the answer if it is the truth",
    "b": "the same if another answer is: estimate = (count / n - b) / (a - b)",
}
"""What the columns of estimates mean, in order."""

VIEW_LABELS = {
    "question": "id of the question",
    "statistic": "share, mean, among (those to whom the question applies), difference (of shares), mean difference, "
    "row share (among people with one answer to another question) or row difference (of two of these)",
    "option": "answer; empty for a mean",
    "cohort": "cohort; of a difference the one from which minus is taken; empty for everybody",
    "minus": "of a difference the cohort that is taken away; of a row difference the answer to given",
    "wave": "over time the id of the survey, over releases the number of the release; otherwise empty",
    "given": "id of the question with which this one is crossed; otherwise empty",
    "given_option": "the answer to given that makes the group; of a row difference the one from which minus is taken",
    "n": "replies with information on the figure; of crossed questions all replies to both",
    "count": "replies that support the answer; of a row share those that support both answers",
    "a": "probability that a reply supports the answer if it is the truth",
    "b": "the same if another answer is",
    "value": "what pages show: a possible value, 0.25 for 25 %",
    "low": "lower end of the interval, cut to what is possible, as pages show it",
    "high": "its upper end",
    "weak": "True where pages print “too few replies to say”: the interval is too wide for the value to be quoted",
    "estimate": "unbiased estimate, which may be impossible",
    "std_error": "its standard error",
    "conf_low": "lower end of the interval as it was computed, which may be impossible",
    "conf_high": "its upper end",
    "conf_level": "confidence level, 0.95 for 95 %; of differences that of all of them together",
    "method": "method of the interval",
}
"""What the columns of a view mean, in order."""

REPORT_LABELS = {
    "id": "random id of the reply, which the respondent's receipt shows",
    "cohort": "cohort of the link; empty without one",
    "the id of each question": "noisy reply, not an answer; empty if the device did not ask. Mostly the number of an "
    "option, from 0 (0 no, 1 yes), or b and a 1 for each of several that it supports",
    ONE_REPORT_COLUMN: "whether a reply is a person: not enforced, by invitation or by blind token",
}
"""What the columns of noisy replies mean, in order."""


class FileColumns(NamedTuple):
    """The columns of a kind of file.

    Attributes
    ----------
    files : str
        The files that have them.
    labels : mapping of str to str
        What each column means, in the order of the file.
    """

    files: str
    labels: Mapping[str, str]


FILES = (
    FileColumns(
        "estimates.csv, estimates-by-cohort.csv and deniable estimate --format csv",
        {name: ESTIMATE_LABELS[name] for name in COLUMNS} | ACCESS_LABELS | DATE_LABELS,
    ),
    FileColumns(
        "results.csv and results/QUESTION.csv, the numbers of a page",
        {name: VIEW_LABELS[name] for name in VIEW_COLUMNS} | DATE_LABELS,
    ),
    FileColumns("reports.csv, every reply as it was sent", REPORT_LABELS),
)
"""The columns of every download of results."""
