"""What every comparison asks of its cohorts: that they answered the same question, and limits that are not cut."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from deniable.errors import ParameterError, check_kind
from deniable_statistics.classical import of_one_truth
from deniable_statistics.comparison.unconditional import Arm
from deniable_statistics.estimates.estimate import Estimate
from deniable_statistics.intervals import Interval, normal_intervals


def check_cohorts(estimates: Sequence[Estimate], fewest: int = 2) -> tuple[Estimate, ...]:
    """The cohorts, or a ParameterError if they are too few, no estimates, or answered different questions."""
    check_kind(estimates, Iterable, "estimates")
    cohorts = tuple(estimates)
    for cohort in cohorts:
        check_kind(cohort, Estimate, "each of the estimates")
    if len(cohorts) < fewest:
        raise ParameterError(f"estimates: must be at least {fewest}, one for each cohort, got {len(cohorts)}")
    k = len(cohorts[0].share)
    for cohort in cohorts:
        if len(cohort.share) != k:
            raise ParameterError(f"estimates: must all have {k} options, got one with {len(cohort.share)}")
    return cohorts


def of_option(cohorts: Sequence[Estimate], option: int) -> tuple[tuple[Estimate, ...], int]:
    """The cohorts and the option to compare; of a box that devices draw, a yes-no question of those who drew it."""
    if not any(cohort.design.is_one_draw for cohort in cohorts):
        return tuple(cohorts), option
    return tuple(_of_box(cohort, option) for cohort in cohorts), 1


def _of_box(cohort: Estimate, box: int) -> Estimate:
    if cohort.binomials is None:
        raise ParameterError("estimates: must all be of boxes that are counted one by one")
    supporting, n, support = cohort.binomials[box]
    channel = of_one_truth(support, cohort.design.name)
    # Kish's number in proportion to the reports that drew the box: weights do not depend on the draw.
    n_effective = cohort.n_effective * float(n) / float(cohort.n) if cohort.n else None
    alone = channel.estimate([n - supporting, supporting], n_effective=n_effective)
    # The people are those of the same finite population, whichever box is looked at.
    return alone if cohort.population is None else alone.of_population(cohort.population)


def is_binomial(estimate: Estimate) -> bool:
    """Whether the count of every option is one binomial: the people are drawn without end, the design has supports."""
    return estimate.design.support is not None and estimate.population is None


def arm(estimate: Estimate, option: int) -> Arm:
    """The binomial count behind a share, of `is_binomial`; with weights among the effective number of reports."""
    assert estimate.design.support is not None
    a, b = map(float, estimate.design.support[option])
    return Arm(estimate.effective_counts[option], estimate.n_effective, a, b)


def limits(estimate: Estimate, option: int, confidence_level: float) -> Interval:
    """Limits of one share, *not* cut to [0, 1]: Clopper-Pearson's where the count is binomial, else normal ones (Wald).

    Limits that are cut carry a wrong idea of the error where the estimate leaves [0, 1]: the coverage of Newcombe's
    difference falls from .94 to .66. Wilson's limits miss too often where a count is near 0 or its largest, and
    whatever is made of them inherits that: differences covered .87 with 7 and 7 people, ratios .88.
    """
    if not is_binomial(estimate):
        return normal_intervals([estimate.share[option]], [estimate.std_error[option]], confidence_level)[0]
    return arm(estimate, option).limits(confidence_level)
