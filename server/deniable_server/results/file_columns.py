"""The columns of every file of results, and what they mean: one table for the documents, the pages and the archive."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from deniable_server.results.work import COLUMNS, VIEW_COLUMNS
from deniable_statistics.published.access_columns import ACCESS_LABELS, ONE_REPORT_COLUMN
from deniable_statistics.published.date_columns import DATE_LABELS
from deniable_statistics.published.method_names import METHOD_NAMES

ESTIMATE_LABELS = {
    "question": "short name of the question (its id in the survey)",
    "option": "the answer that the row is about; empty for a mean",
    "cohort": "the group that the person's link named; empty in rows of everybody, and for replies of no group",
    "n": "number of replies to the question; fewer than all if devices draw by chance which questions they ask",
    "count": "how many of these replies support the answer, whether it is true or chance made them do so; empty where "
    "several counts are needed",
    "estimate": "the share or mean computed from the replies, right on average (unbiased); 0.25 is 25 %; it may be "
    "impossible, such as below 0, so quote feasible",
    "std_error": "standard error of estimate",
    "conf_low": "lower end of the confidence interval, as its method gives it, not rounded; some methods never leave 0 "
    "to 1",
    "conf_high": "upper end of the confidence interval, as its method gives it, not rounded; some methods never leave "
    "0 to 1",
    "conf_level": "confidence level of the interval; 0.95 is 95 %",
    "method": "name of the method of the interval, such as feldman-cousins",
    "epsilon": "how much a reply to this question can reveal (privacy loss); less is more protection",
    "feasible": "the number to quote: of all possible values the most likely one, which pages show",
    "statistic": "what the number is: share, mean, or among, which is a share among those to whom the question applies",
    "target": "for whom the interval is: respondents alone, or a population, if they are like a random sample of it",
    "p_below": "probability of so few supporting replies, or fewer, if the share is 0 (p-value); near 0 the replies "
    "hardly fit the design",
    "p_above": "probability of so many supporting replies, or more, if the share is 1 (p-value); near 0 the replies "
    "hardly fit the design",
    "flag": "a warning if the replies hardly fit the design: do not quote these numbers; otherwise empty",
    "fake_margin": "how far the estimate can move, at most, if one reply in a hundred is made up; for a share 0.02 is "
    "2 percentage points",
    "misbehaving": "share of people who are assumed not to follow the instructions; empty where none is assumed",
    "bound_low": "smallest true value that the estimate allows, whatever those people did; empty without misbehaving",
    "bound_high": "largest true value that the estimate allows, whatever those people did; empty without misbehaving",
    "robust_low": "lower end of an interval that holds whatever those people did; empty without misbehaving",
    "robust_high": "upper end of an interval that holds whatever those people did; empty without misbehaving",
    "assumed_fake": "share of all replies that may be made up while the interval still holds; empty where none is "
    "assumed",
    "a": "probability that a reply supports the answer if this answer is true",
    "b": "probability that a reply supports the answer if another one is true: estimate = (count / n - b) / (a - b)",
}
"""What the columns of estimates mean, in order."""

VIEW_LABELS = {
    "question": "short name of the question (its id in the survey)",
    "statistic": "what the number is: share, mean, difference (of the shares of two groups) or mean difference. among "
    "is a share among those to whom the question applies, row share one among people with one answer to another "
    "question, and row difference that of two of these",
    "option": "the answer that the row is about; empty for a mean",
    "cohort": "the group; of a difference the first group, from which the one in minus is subtracted; empty for "
    "everybody",
    "minus": "of a difference the second group, which is subtracted; of a row difference the answer that makes the "
    "second group",
    "wave": "on a page over time the id of the survey, on a page over releases the number of the release; otherwise "
    "empty",
    "given": "of two crossed questions the short name of the other one, whose answers make groups; otherwise empty",
    "given_option": "the answer to that question which makes the group; of a row difference the first group",
    "n": "number of replies that the row is computed from; of crossed questions all replies to both; empty for a "
    "difference",
    "count": "how many of these replies support the answer; of a row share how many support both answers",
    "a": "probability that a reply supports the answer if this answer is true; empty where several counts are "
    "needed, as of row shares",
    "b": "probability that a reply supports the answer if another one is true; empty where a is",
    "value": "the number to quote, which pages show rounded: of all possible values the most likely one; of a row "
    "difference that of the unbiased shares; 0.25 is 25 %",
    "low": "lower end of the interval that pages show, cut to what is possible; pages round it down",
    "high": "upper end of the interval that pages show, cut to what is possible; pages round it up",
    "weak": "True if the interval is too wide for value to be quoted; pages print “too few replies to say” instead",
    "estimate": "the number computed from the replies, right on average (unbiased); it may be impossible",
    "std_error": "standard error of estimate",
    "conf_low": "lower end of the interval as it was computed, which may be impossible",
    "conf_high": "upper end of the interval as it was computed, which may be impossible",
    "conf_level": "confidence level of the interval; 0.95 is 95 %; of several differences that of all of them at once",
    "method": "name of the method of the interval, such as feldman-cousins",
    "assumed_fake": ESTIMATE_LABELS["assumed_fake"],
}
"""What the columns of a view mean, in order."""

REPORT_LABELS = {
    "id": "random id of the reply, which the respondent's receipt shows",
    "cohort": "the group that the person's link named; empty without one",
    "the id of each question": "what the device sent after it had mixed in chance, so not an answer; empty if the "
    "device did not ask. For a question with options, a number says which one, "
    "counted from 0 in the order of the results page: of yes and no, 0 is no and 1 is yes. A text is mostly b and a "
    "digit for each option, 1 where the reply supports it. The archive's codebook.md lists the codes of each question",
    ONE_REPORT_COLUMN: "whether each person is counted once: by invitation, by blind token, or not enforced",
}
"""What the columns of noisy replies mean, in order."""

STANDING_LABELS = {
    "access": "who can be counted: open, anybody with the link; invited, one reply for each invitation; unlinkable, "
    "the same, and nobody can tell whose reply is whose",
    ONE_REPORT_COLUMN: "whether each person is counted once, so that n is a number of people: by invitation, by blind "
    "token, or not enforced",
    "first_day": "first day on which the survey took replies (UTC)",
    "last_day": "last day on which it took replies or will take them (UTC); empty where no such day is known",
    "as_of": "day of the release, or of the download where results change with every reply (UTC)",
}
"""What the columns mean that say how and when a survey took its replies."""

METHOD_LABELS = {
    "simultaneous ...": "the method that follows, in intervals wide enough to hold at once: those of all shares of a "
    "question, or of all differences in the file",
    "conditional": "profile-likelihood intervals of row shares, from all replies to both questions; Fieller's where a "
    "reply to one of them is no single value, or for more than 32 pairs of answers. Of a row difference: "
    "square-and-add (MOVER) from these",
    **{
        name: f"{METHOD_NAMES[name]} intervals"
        for name in (
            *("feldman-cousins", "likelihood-ratio", "wilson", "clopper-pearson", "agresti-coull", "jeffreys", "midp"),
            *("blaker", "wald", "t", "score", "mover", "exact-unconditional"),
        )
    },
}
"""What the names of methods of intervals mean."""


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
        {name: ESTIMATE_LABELS[name] for name in COLUMNS}
        | {name: STANDING_LABELS[name] for name in (*ACCESS_LABELS, *DATE_LABELS)},
    ),
    FileColumns(
        "results.csv and results/QUESTION.csv, the numbers of a page",
        {name: VIEW_LABELS[name] for name in VIEW_COLUMNS} | {name: STANDING_LABELS[name] for name in DATE_LABELS},
    ),
    FileColumns("reports.csv, every reply as it was sent", REPORT_LABELS),
)
"""The columns of every download of results."""
