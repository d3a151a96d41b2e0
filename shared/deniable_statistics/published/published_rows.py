"""The published estimates of a survey: one row for each option of each question, and one for each mean."""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from deniable.errors import ParameterError, check_kind, describe
from deniable.survey.document import Survey
from deniable.survey.question import Question
from deniable.wire.space import Count
from deniable_statistics.designs.of_mechanisms import AnyDesign, design_of, level_values, mean_values
from deniable_statistics.estimates.among import METHOD, TOO_FEW, AmongEstimate
from deniable_statistics.estimates.batched_means import intervals_of_means
from deniable_statistics.estimates.batched_shares import Known, known_of_each
from deniable_statistics.estimates.estimate import DEFAULT_METHOD, Estimate, flags_of
from deniable_statistics.estimates.fakes import check_fake_share, fakes_among
from deniable_statistics.estimates.mean_among import AmongMean
from deniable_statistics.estimates.means import MeanEstimate
from deniable_statistics.estimates.tally import Tally
from deniable_statistics.intervals import Interval, check_confidence_level, level_of_each
from deniable_statistics.robustness.misbehaviour import Misbehaving, RobustFigure

TARGETS = ("population", "respondents")
"""Targets of an interval: the shares in a population like the respondents, or among the respondents only."""


@dataclass(frozen=True)
class EstimateRow:
    """One published row: an option of a question, or the mean of the question, for everybody or for one cohort.

    The fields are the columns of the CSV, in order. `statistic` is "share" or "mean", or "ratio" for a share among
    a part of the people; of a question with a filter "among" for a share among those to whom it applies, whose mean its
    mean is. A mean has no option and no count. `n` is the number of reports with information on the
    figure, fewer than all if devices draw what they ask. `p_below` and `p_above` are one-sided p-values of the design:
    of so small a count if the share is 0, and of so large a count if it is 1; `flag` is a sentence if one is small.
    `fake_margin` is the largest shift of the estimate, in its own unit, if one in a hundred reports is fake. Numbers
    are None without reports to estimate from, or without a test.

    If at most a share `misbehaving` of the people is assumed to misbehave, `bound_low` and `bound_high` are the bounds
    of the figure without sampling error, and `robust_low` to `robust_high` is an interval that is valid whatever these
    people do; see `deniable_statistics.robustness.misbehaviour`. Without this assumption all are None.

    If a share `assumed_fake` of all reports may be fake, `conf_low` to `conf_high` is valid for any fakes; see
    `deniable_statistics.estimates.assumed_fakes`.

    `a` and `b` are the probabilities that a report supports the option if it is the truth, and if another one is, so
    that ``estimate = (count / n - b) / (a - b)``. They are None where the count is not one binomial.
    """

    question: str
    option: str
    cohort: str | None
    n: int
    count: Count | None
    estimate: float | None
    std_error: float | None
    conf_low: float
    conf_high: float
    conf_level: float
    method: str
    epsilon: float
    feasible: float | None
    statistic: str
    target: str
    p_below: float | None
    p_above: float | None
    flag: str | None
    fake_margin: float | None
    misbehaving: float | None = None
    bound_low: float | None = None
    bound_high: float | None = None
    robust_low: float | None = None
    robust_high: float | None = None
    assumed_fake: float | None = None
    a: float | None = None
    b: float | None = None


@dataclass(frozen=True)
class EstimateOptions:
    """Options of estimates and intervals.

    Parameters
    ----------
    confidence_level, method
        As in `Estimate.confidence_interval`.
    target : {"population", "respondents"}
        Whose shares the errors and intervals are for. Means are always for the population.
    simultaneous : bool
        Whether the intervals of all options of a question hold simultaneously.
    misbehaving : Misbehaving, optional
        Largest share of people who misbehave, and how; it adds bounds and robust intervals.
    assume_fake : float, optional
        Largest share of fake reports, at most a half; every interval is then valid for any fakes. It excludes
        `misbehaving`, whose kind "anything" makes the corresponding assumption about people.
    """

    confidence_level: float = 0.95
    method: str = DEFAULT_METHOD
    target: str = "population"
    simultaneous: bool = False
    misbehaving: Misbehaving | None = None
    assume_fake: float | None = None

    def __post_init__(self) -> None:
        check_confidence_level(self.confidence_level)
        if self.assume_fake is not None:
            check_fake_share(self.assume_fake)
            if self.misbehaving is not None:
                raise ParameterError("assume_fake: must not go with misbehaving; suppose one of the two")
        if self.target not in TARGETS:
            raise ParameterError(f"target: must be one of {', '.join(TARGETS)}, got {describe(self.target)}")
        if self.misbehaving is not None and self.target == "respondents":
            raise ParameterError("misbehaving: must go with the target population, got respondents")

    def fakes(self, reports: Count) -> Count:
        """The largest number of fakes among ``reports`` under the assumption."""
        return 0 if self.assume_fake is None else fakes_among(self.assume_fake, reports)


def estimate(
    tallies: Mapping[str | None, Tally],
    survey: Survey,
    *,
    by_cohort: bool = False,
    confidence_level: float = 0.95,
    method: str = DEFAULT_METHOD,
    target: str = "population",
    simultaneous: bool = False,
    misbehaving: Misbehaving | None = None,
    assume_fake: float | None = None,
    only: str | None = None,
) -> list[EstimateRow]:
    """Estimate every share that a survey asks for.

    Parameters
    ----------
    tallies : mapping of cohort to Tally
        Tallies of reports; the key None is for reports without a cohort.
    survey : Survey
        The published survey, whose mechanisms are inverted.
    by_cohort : bool
        Whether there are rows for each cohort instead of for everybody.
    confidence_level, method, target, simultaneous, misbehaving, assume_fake
        As in `EstimateOptions`. Fakes are a share of the reports of all cohorts, and may all be in one cohort.
    only : str, optional
        Id of the one question to estimate; by default all.

    Returns
    -------
    list of EstimateRow
        In the order of cohorts, questions and options.

    Raises
    ------
    ParameterError
        If the arguments are no tallies and no survey, in this order, or an option is not possible.
    """
    check_kind(tallies, Mapping, "tallies")
    check_kind(survey, Survey, "survey")
    wanted = EstimateOptions(confidence_level, method, target, simultaneous, misbehaving, assume_fake)
    # All cohorts together: an attacker may send every fake to one of them.
    reports = sum(tally.n for tally in tallies.values())
    groups = _by_cohort(tallies, survey) if by_cohort else [(None, sum(tallies.values(), Tally.empty(survey)))]
    questions = survey.questions if only is None else (survey.question(only),)
    asked = [_Asked.of(question, cohort, tally) for cohort, tally in groups for question in questions]
    shares = [each.shares for each in asked if each.shares is not None]
    # Where nothing but the population's shares is asked for, all options of all questions and cohorts are one array.
    is_plain = target == "population" and assume_fake is None
    together = iter(known_of_each(shares, confidence_level, method, simultaneous=simultaneous) if is_plain else ())
    # A mean has one interval, that of the population, unless fakes are assumed.
    means = [each.mean for each in asked if each.mean is not None] if assume_fake is None else []
    spans = iter(intervals_of_means(means, confidence_level, method))
    return [
        row
        for each in asked
        for row in _rows_asked(
            each,
            wanted,
            reports,
            None if each.shares is None else next(together, None),
            None if each.mean is None else next(spans, None),
        )
    ]


def _by_cohort(tallies: Mapping[str | None, Tally], survey: Survey) -> list[tuple[str | None, Tally]]:
    """The groups by cohort: also cohorts without reports, and reports without a cohort where there are any."""
    known = [*survey.cohorts, *([None] if None in tallies else [])]
    return [(cohort, tallies.get(cohort, Tally.empty(survey))) for cohort in known]


def interval_methods(
    tallies: Mapping[str | None, Tally],
    survey: Survey,
    wanted: EstimateOptions = EstimateOptions(),  # a frozen value
) -> list[str]:
    """The names of the methods behind the intervals of a survey's shares and means, in alphabetical order."""
    together = sum(tallies.values(), Tally.empty(survey))
    # A method depends on the design and on numbers of reports, which counts tell of drawn boxes alone: of the questions
    # for which both are the same, one is enough.
    alike: dict[Hashable, Question] = {}
    for question in survey.questions:
        counts, n = question.counted(together.counts[question.id], together.n)
        drawn = tuple(counts) if question.mechanism.reports.is_drawn else ()
        alike.setdefault((question.mechanism, question.has_shares, question.has_mean, n, drawn), question)
    asked = [_Asked.of(question, None, together) for question in alike.values()]
    fakes = wanted.fakes(together.n)
    named = {each.mean.interval_method(wanted.method) for each in asked if each.mean is not None}
    for each in asked:
        if each.shares is not None:
            is_of_respondents = wanted.target == "respondents" and each.shares.n
            shares = each.shares.of_population(each.people) if is_of_respondents else each.shares
            named.add(shares.interval_method(wanted.method, fakes=fakes))
    return sorted(named | {METHOD for question in survey.questions if question.ask_if})


class _Asked(NamedTuple):
    """A question in a cohort: its counts, its own number of reports, that of the cohort, its shares and its mean."""

    question: Question
    cohort: str | None
    counts: Sequence[Count]
    n: Count
    people: int
    shares: Estimate | None
    mean: MeanEstimate | None

    @classmethod
    def of(cls, question: Question, cohort: str | None, tally: Tally) -> _Asked:
        # n of a question that devices draw is the number of its own reports.
        counts, n = question.counted(tally.counts[question.id], tally.n)
        shares = Estimate.from_counts(question.mechanism, counts, n) if question.has_shares else None
        values = mean_values(question)
        mean = None if values is None else MeanEstimate.from_counts(question.mechanism, counts, n, values)
        return cls(question, cohort, counts, n, tally.n, shares, mean)


def _rows_asked(
    asked: _Asked, wanted: EstimateOptions, reports: int, known: Known | None, span: Interval | None
) -> list[EstimateRow]:
    """The rows of a question in a cohort; ``known`` and ``span`` are intervals that were computed before."""
    question, cohort, counts, n, people, shares, mean = asked
    rows: list[EstimateRow] = []
    about = (question.id, question.options, question.epsilon, cohort, wanted)
    share_asked = question.share_asked
    if shares is not None:
        rows += share_rows(shares, *about, asked=share_asked, people=people, reports=reports, known=known)
    if mean is not None:
        rows.append(mean_row(mean, question.id, *about[2:], asked=share_asked, reports=reports, known=span))
    if question.ask_if:
        filtered = Filtered(question.id, question.choices, level_values(question), question.epsilon)
        rows += among_rows(question.mechanism, counts, n, filtered, cohort, wanted, asked=share_asked, reports=reports)
    return rows


@dataclass(frozen=True)
class Filtered:
    """What rows say of a question with a filter: its name, what people choose from, the numbers of levels, epsilon."""

    question: str
    choices: Sequence[str]
    levels: Sequence[float] | None
    epsilon: float


def among_rows(
    design: AnyDesign,
    counts: Sequence[Count],
    n: Count,
    about: Filtered,
    cohort: str | None = None,
    wanted: EstimateOptions = EstimateOptions(),  # a frozen value
    asked: float = 1.0,
    reports: Count | None = None,
) -> list[EstimateRow]:
    """The rows of the people to whom a question with a filter applies: its shares among them, and its mean.

    Parameters are those of `share_rows`. Intervals are for the population, and have no bounds for people who misbehave.
    """
    shares = AmongEstimate.from_counts(design, counts, n) if design_of(design).has_shares else None
    mean = None if about.levels is None else AmongMean.from_counts(design, counts, about.levels, n)
    return rows_of_among(shares, mean, n, about, cohort, wanted, asked, reports)


def rows_of_among(
    shares: AmongEstimate | None,
    mean: AmongMean | None,
    n: Count,
    about: Filtered,
    cohort: str | None = None,
    wanted: EstimateOptions = EstimateOptions(),  # a frozen value
    asked: float = 1.0,
    reports: Count | None = None,
    people: int | None = None,
) -> list[EstimateRow]:
    """The rows of `among_rows` from figures that are known.

    Parameters are those of `share_rows`; ``n`` adds up weights where there are some, and ``people`` is how many reports
    these are.
    """
    fakes = wanted.fakes(n if reports is None else reports)
    fake_share = min(float(fakes) / float(n), 1.0) if n else 0.0
    each = 1.0 if people is None or not n else people / float(n)
    rows = [] if shares is None else _among_shares(shares, about, cohort, wanted, asked, fake_share, each)
    if mean is None:
        return rows
    ends = mean.confidence_interval(wanted.confidence_level, fake_share)
    figures = (mean.mean, mean.std_error, mean.feasible, mean.fake_margin / asked)
    return [*rows, _among_row("", "mean", figures, ends, METHOD, round(float(n) * each), about, cohort, wanted)]


def _among_shares(
    found: AmongEstimate,
    about: Filtered,
    cohort: str | None,
    wanted: EstimateOptions,
    asked: float,
    fake_share: float,
    reports_a_weight: float,
) -> list[EstimateRow]:
    level = wanted.confidence_level
    each = level_of_each(level, len(found.top)) if wanted.simultaneous else level
    name = f"simultaneous {METHOD}" if wanted.simultaneous else METHOD
    ends = found.confidence_interval(each, fake_share)
    rows = []
    for place, (label, share) in enumerate(zip(about.choices, found.share, strict=True)):
        figures = (share, found.std_error[place], min(max(share, 0.0), 1.0), found.fake_margin(place) / asked)
        reports = round(found.reports[place] * reports_a_weight)
        rows.append(_among_row(label, "among", figures, ends[place], name, reports, about, cohort, wanted))
    return rows


def _among_row(
    label: str,
    statistic: str,
    figures: tuple[float, float, float, float],
    interval: Interval,
    method: str,
    n: int,
    about: Filtered,
    cohort: str | None,
    wanted: EstimateOptions,
) -> EstimateRow:
    """A row of a figure among those to whom a question applies: an estimate, its error, the possible one, a margin."""
    estimated, error, feasible, margin = figures
    return EstimateRow(
        question=about.question,
        option=label,
        cohort=cohort,
        n=n,
        count=None,
        estimate=number_or_none(estimated),
        std_error=number_or_none(error),
        conf_low=interval.low,
        conf_high=interval.high,
        conf_level=wanted.confidence_level,
        method=method,
        epsilon=about.epsilon,
        feasible=None if math.isnan(estimated) else feasible,
        statistic=statistic,
        target="population",
        p_below=None,
        p_above=None,
        flag=TOO_FEW if math.isnan(estimated) and n else None,
        fake_margin=margin,
        assumed_fake=wanted.assume_fake,
    )


def share_rows(
    result: Estimate,
    question: str,
    options: Sequence[str],
    epsilon: float,
    cohort: str | None = None,
    wanted: EstimateOptions = EstimateOptions(),  # a frozen value
    n: int | None = None,
    asked: float = 1.0,
    people: int | None = None,
    reports: Count | None = None,
    known: Known | None = None,
) -> list[EstimateRow]:
    """The rows of one question's shares; ``n`` is the number of reports where they have weights.

    ``asked`` is the share of devices that ask it; a forger can always send a report that answers it.
    ``people`` are the respondents, those who were not asked included; by default all were. ``reports`` are all
    reports, those of other cohorts included, among which a share may be fake; by default these. ``known`` are its
    intervals and its consistency, where they were computed together with others.
    """
    if wanted.target == "respondents" and result.n:
        # Among the respondents themselves only the chance of their devices is left to err.
        result = result.respondents_only if people is None else result.of_population(people)
    fakes = wanted.fakes(result.n if reports is None else reports)
    intervals: Sequence[Interval] = (
        known.intervals
        if known is not None
        else result.confidence_interval(
            wanted.confidence_level, wanted.method, simultaneous=wanted.simultaneous, fakes=fakes
        )
    )
    method = result.interval_method(wanted.method, fakes=fakes)
    fits, flags = (result.consistency, result.flags) if known is None else (known.fits, flags_of(known.fits))
    suspected = wanted.misbehaving
    robust: Sequence[RobustFigure | None] = [None] * len(options)
    if suspected is not None:
        robust = suspected.shares(result, wanted.confidence_level, asked=asked, simultaneous=wanted.simultaneous)
    supporting, counted = _counted(result, int(result.n) if n is None else n, len(options))
    channel = [each.support.floats for each in result.binomials] if result.binomials is not None else None
    return [
        EstimateRow(
            question=question,
            option=label,
            cohort=cohort,
            n=counted[option],
            count=supporting[option],
            estimate=number_or_none(result.share[option]),
            std_error=number_or_none(result.std_error[option]),
            conf_low=intervals[option].low,
            conf_high=intervals[option].high,
            conf_level=wanted.confidence_level,
            method=f"simultaneous {method}" if wanted.simultaneous else method,
            epsilon=epsilon,
            feasible=number_or_none(result.feasible[option]),
            statistic="share",
            target=wanted.target,
            p_below=fits[option].p_below if fits else None,
            p_above=fits[option].p_above if fits else None,
            flag=flags[option],
            # A fake always answers the question, which only a part of the true reports does.
            fake_margin=result.fake_margin[option] / asked,
            assumed_fake=wanted.assume_fake,
            a=channel[option][0] if channel else None,
            b=channel[option][1] if channel else None,
            **robust_figures(suspected, robust[option]),
        )
        for option, label in enumerate(options)
    ]


def _counted(result: Estimate, n: int, k: int) -> tuple[Sequence[Count | None], Sequence[int]]:
    """For each option, the number of supporting reports and the number of reports with information on it.

    The first is None if responses of a design are counted instead.
    """
    if result.binomials is not None:
        # With weights, n counts reports and result.n adds up weights: the share by weight is applied to the number.
        shares = [each.n / result.n if result.n else 0 for each in result.binomials]
        return [each.supporting for each in result.binomials], [round(n * share) for share in shares]
    return (result.counts if len(result.counts) == k else (None,) * k), (n,) * k


def mean_row(
    result: MeanEstimate,
    question: str,
    epsilon: float,
    cohort: str | None = None,
    wanted: EstimateOptions = EstimateOptions(),  # a frozen value
    n: int | None = None,
    asked: float = 1.0,
    reports: Count | None = None,
    known: Interval | None = None,
) -> EstimateRow:
    """The row of one question's mean; parameters as of `share_rows`, and ``known`` is its interval if it is known."""
    fakes, suspected = wanted.fakes(result.n if reports is None else reports), wanted.misbehaving
    interval = known or result.confidence_interval(wanted.confidence_level, wanted.method, fakes=fakes)
    robust = None if suspected is None else suspected.mean(result, wanted.confidence_level, asked=asked)
    return EstimateRow(
        question=question,
        option="",
        cohort=cohort,
        n=int(result.n) if n is None else n,
        count=None,
        estimate=number_or_none(result.mean),
        std_error=number_or_none(result.std_error),
        conf_low=interval.low,
        conf_high=interval.high,
        conf_level=wanted.confidence_level,
        method=result.interval_method(wanted.method),
        epsilon=epsilon,
        feasible=number_or_none(result.feasible),
        statistic="mean",
        # A mean has no interval for the respondents alone.
        target="population",
        p_below=None,
        p_above=None,
        flag=None,
        fake_margin=result.fake_margin / asked,
        assumed_fake=wanted.assume_fake,
        **robust_figures(suspected, robust),
    )


def robust_figures(suspected: Misbehaving | None, robust: RobustFigure | None) -> dict[str, float | None]:
    """The fields of a row under the assumption that some people misbehave."""
    if suspected is None or robust is None:
        return {}
    (bound_low, bound_high), (robust_low, robust_high) = robust
    return {
        "misbehaving": suspected.share,
        "bound_low": bound_low,
        "bound_high": bound_high,
        "robust_low": robust_low,
        "robust_high": robust_high,
    }


def number_or_none(value: float) -> float | None:
    """A figure for a row: None in place of NaN, which JSON cannot hold."""
    return None if math.isnan(value) else value
