"""A survey repeated many times: bias, coverage and power of its own estimator."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from deniable.errors import ParameterError, check_kind, describe
from deniable.survey.document import Survey
from deniable_research.simulation.counted_surveys import CountedSurvey, ReportCounts
from deniable_research.simulation.draw import DrawnCohort, draw_reports, generator_of
from deniable_research.simulation.repeated_figures import Key, Outcome, SimulationRow, summary
from deniable_research.simulation.simulated_misbehaviour import Misbehaviour
from deniable_research.simulation.truth import Shares, Truth, truth_of
from deniable_statistics.comparison import difference
from deniable_statistics.designs.of_mechanisms import level_values, mean_values
from deniable_statistics.designs.spaces import tally_array
from deniable_statistics.estimates.estimate import Estimate
from deniable_statistics.estimates.means import MeanEstimate
from deniable_statistics.published.published_rows import (
    EstimateOptions,
    EstimateRow,
    Filtered,
    among_rows,
    mean_row,
    share_rows,
)

DEFAULT_SEED = 1
"""Seed of a simulation unless another one is given, so that it can be repeated."""

MOST_DRAWS = 10**9
"""Largest number of people drawn in a simulation: repetitions times respondents, or times `ONE_BY_ONE` if less."""

MOST_RESPONDENTS = 10**11
"""Largest number of respondents, more than there are people on earth; numpy draws such counts without rounding."""

ONE_BY_ONE = 10_000
"""Largest number of respondents who are drawn one by one; larger surveys are drawn as counts, by `CountedSurvey`.

One by one every person has answers, and the survey's own mechanisms randomise them. So the estimates are tested on the
reports of devices, and not on a model of these reports.
"""

ABOVE_ZERO = "share = 0"
EQUAL = "no difference"
"""Null hypotheses of shares and of differences, as the column ``test`` names them."""


@dataclass(frozen=True)
class Simulation:
    """A survey to be repeated.

    Attributes
    ----------
    survey : Survey
    truth : mapping of str to shares, optional
        True shares, as in `truth_of`.
    respondents : int
        Number of people who answer, in both cohorts together; a nation's population is possible.
    misbehaviour : Misbehaviour
    compare : mapping of str to shares, optional
        True shares that differ in a second cohort, which is one half of the people; other questions have the same
        truth in both. By default there is one cohort.

    Examples
    --------
    >>> from deniable import Question, TwoCoin
    >>> survey = Survey("T", (Question("q", "yes-no", "Q?", ("no", "yes"), TwoCoin("1/2", "1/2")),))
    >>> no, yes = Simulation(survey, {"q": 0.3}, respondents=400).run(repetitions=100)
    >>> yes.truth, abs(yes.bias) < 4 * yes.bias_error, 0.85 < yes.coverage <= 1
    (0.3, True, True)
    """

    survey: Survey
    truth: Mapping[str, Shares] | None = None
    respondents: int = 1000
    misbehaviour: Misbehaviour = Misbehaviour()  # noqa: RUF009 - a frozen value
    compare: Mapping[str, Shares] | None = None

    def __post_init__(self) -> None:
        check_kind(self.survey, Survey, "survey")
        least = 1 if self.compare is None else 2
        check_number(self.respondents, "respondents", least, MOST_RESPONDENTS)

    @property
    def cohorts(self) -> tuple[tuple[str | None, int, tuple[Truth, ...]], ...]:
        """The label, the number of people and the truths of each cohort."""
        truths = truth_of(self.survey, self.truth)
        if self.compare is None:
            return ((None, self.respondents, truths),)
        first, second = self.survey.cohorts[:2] if len(self.survey.cohorts) > 1 else ("first", "second")
        others = truth_of(self.survey, {**(self.truth or {}), **self.compare})
        # The first cohort has the odd person.
        half = self.respondents // 2
        return ((first, self.respondents - half, truths), (second, half, others))

    @property
    def links(self) -> tuple[tuple[str | None, int, tuple[Truth, ...]], ...]:
        """`cohorts` as their reports name them; if a cohort is required, each link has an equal part of the people."""
        self.check_links()
        if self.compare is not None or not self.survey.cohort_required:
            return self.cohorts
        ((_, people, truths),), labels = self.cohorts, self.survey.cohorts
        # The first ``more`` links have one person more.
        each, more = divmod(people, len(labels))
        return tuple((label, each + (place < more), truths) for place, label in enumerate(labels[:people]))

    def check_links(self) -> None:
        """Check that the survey has links for the cohorts that are compared; `run` needs none, reports do.

        Raises
        ------
        ParameterError
            If two cohorts are compared that the survey does not have.
        """
        if self.compare is not None and len(self.survey.cohorts) < 2:
            raise ParameterError('compare: needs a survey with two cohorts for its reports, such as ["paper", "web"]')

    def draw(self, generator: np.random.Generator) -> tuple[DrawnCohort, ...]:
        """The reports of one survey."""
        return tuple(
            DrawnCohort(cohort, draw_reports(truths, people, self.misbehaviour, generator))
            for cohort, people, truths in self.links
        )

    def run(
        self, repetitions: int = 500, seed: int = DEFAULT_SEED, wanted: EstimateOptions | None = None
    ) -> tuple[SimulationRow, ...]:
        """Draw whole surveys, estimate each one, and summarise the estimates.

        Every repetition draws other people from the population of the truth, sends their answers through the survey's
        own mechanisms, and estimates as a collector does. The random words come from PCG64, so that equal seeds give
        equal surveys: this is for simulation, and must not collect answers. Of more than 10,000 people only the counts
        are drawn, in the same distribution, so that time does not grow with the number of respondents.

        Parameters
        ----------
        repetitions, seed : int
        wanted : EstimateOptions, optional
            Confidence level, method, target, simultaneous intervals. With the target "respondents" coverage is still
            measured against the shares of the population.

        Returns
        -------
        tuple of SimulationRow
            In the order of cohorts, questions and options; then the differences.

        Raises
        ------
        ParameterError
            If the truth does not fit the survey, or there are too many draws.
        """
        check_number(repetitions, "repetitions", 2, MOST_DRAWS // min(self.respondents, ONE_BY_ONE))
        asked = wanted or EstimateOptions()
        generator, cohorts = generator_of(seed), self.cohorts
        # Samplers are prepared once for all repetitions.
        counted = [self._counts(truths, people) for _, people, truths in cohorts]
        figures: dict[Key, list[Outcome]] = {}
        for _ in range(repetitions):
            found = [
                _publish(cohort, truths, told(generator), asked, figures)
                for (cohort, _, truths), told in zip(cohorts, counted, strict=True)
            ]
            if len(cohorts) == 2:
                _compare(found, cohorts, asked, figures)
        # Differences belong to no cohort: all people stand behind them.
        people = {cohort: n for cohort, n, _ in cohorts}
        return tuple(
            summary(key, outcomes, people.get(key.cohort, self.respondents), asked.confidence_level)
            for key, outcomes in figures.items()
        )

    def _counts(
        self, truths: tuple[Truth, ...], people: int
    ) -> Callable[[np.random.Generator], Mapping[str, ReportCounts]]:
        """A function that draws the counts of one cohort."""
        if self.respondents > ONE_BY_ONE:
            return partial(CountedSurvey(truths, self.misbehaviour).draw, people)

        def of_reports(generator: np.random.Generator) -> dict[str, ReportCounts]:
            reports = draw_reports(truths, people, self.misbehaviour, generator)
            mechanisms = {truth.question.id: truth.question.mechanism for truth in truths}
            return {
                name: ReportCounts(tally_array(mechanisms[name].reports, column.told), len(column.told))
                for name, column in reports.items()
            }

        return of_reports


def _publish(
    cohort: str | None,
    truths: tuple[Truth, ...],
    told: Mapping[str, ReportCounts],
    wanted: EstimateOptions,
    figures: dict[Key, list[Outcome]],
) -> dict[str, Estimate]:
    """Append the published rows of one cohort of one survey to ``figures``, and return its estimates of shares."""
    found = {}
    for truth in truths:
        question = truth.question
        counts, n = told[question.id]
        if question.has_shares:
            found[question.id] = Estimate.from_counts(question.mechanism, counts, n)
            rows = share_rows(found[question.id], question.id, question.options, question.epsilon, cohort, wanted)
            for row, share in zip(rows, truth.shares, strict=True):
                _note(figures, row, share, ABOVE_ZERO, row.conf_low > 0)
        if (values := mean_values(question)) is not None:
            mean = MeanEstimate.from_counts(question.mechanism, counts, n, values)
            _note(figures, mean_row(mean, question.id, question.epsilon, cohort, wanted), truth.mean, None, False)
        if truth.among:
            about = Filtered(question.id, question.choices, level_values(question), question.epsilon)
            among = among_rows(question.mechanism, counts, n, about, cohort, wanted)
            for row, figure in zip(among, truth.among, strict=True):
                _note(figures, row, figure, None, False)
    return found


def _note(figures: dict[Key, list[Outcome]], row: EstimateRow, truth: float, test: str | None, rejected: bool) -> None:
    outcomes = figures.setdefault(Key(row.question, row.option, row.cohort, row.statistic, truth, test), [])
    if row.estimate is not None and row.std_error is not None:  # otherwise a box that no device drew
        outcomes.append(Outcome(row.estimate, row.std_error, row.conf_low, row.conf_high, rejected, row.method))


def _compare(
    found: Sequence[Mapping[str, Estimate]],
    cohorts: Sequence[tuple[str | None, int, tuple[Truth, ...]]],
    wanted: EstimateOptions,
    figures: dict[Key, list[Outcome]],
) -> None:
    """Append the differences between the two cohorts of one survey to ``figures``."""
    for first, second in zip(cohorts[0][2], cohorts[1][2], strict=True):
        question = first.question
        if not question.has_shares:
            continue
        for option, label in enumerate(question.options):
            result = difference(found[0][question.id], found[1][question.id], option)
            low, high = result.confidence_interval(wanted.confidence_level)
            # True difference, first cohort minus second, as in the estimate.
            apart = first.shares[option] - second.shares[option]
            rejected = result.p_value < 1 - wanted.confidence_level
            name = f"{cohorts[0][0]} - {cohorts[1][0]}"
            # An entry even if it stays empty, so that figures keep the order of the survey.
            outcomes = figures.setdefault(Key(question.id, label, name, "difference", apart, EQUAL), [])
            if not math.isnan(result.difference):  # otherwise a box that no device of a cohort drew
                outcomes.append(Outcome(result.difference, result.std_error, low, high, rejected, result.method))


def check_number(value: object, subject: str, least: int, most: int) -> None:
    """Raise a ParameterError unless a value is an integer from ``least`` to ``most``."""
    if type(value) is not int or not least <= value <= most:
        raise ParameterError(f"{subject}: must be an integer in [{least}, {most}], got {describe(value)}")
