"""Plans for one number that a survey will estimate: the people for a width, the width for the people.

Each plan is a frozen row, whose fields are the columns of ``deniable plan --format csv``. Those of tests are in
`power_plans`, those of several questions for one epsilon in `splitting`.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from deniable.errors import ParameterError
from deniable.survey.question import Question
from deniable_research.planning.checks import check_people
from deniable_research.planning.cohorts import detectable_difference, detectable_mean_difference, halves
from deniable_research.planning.means import mean_precision
from deniable_research.planning.noise_model import NoiseModel
from deniable_research.planning.precision import Precision
from deniable_research.planning.testing import check_test
from deniable_research.planning.widths import expected_width


@dataclass(frozen=True)
class Estimand:
    """One number that a question will estimate."""

    question: str
    statistic: str
    """``"share"`` or ``"mean"``."""
    share: float | None
    """The share that is planned for; None for a mean."""
    precision: Precision
    noise: NoiseModel | None = None
    """That of the share; None for a mean."""

    @classmethod
    def of_share(cls, question: str, noise: NoiseModel, share: float) -> Estimand:
        """A share that is planned to be so large."""
        return cls(question, "share", share, noise.at(share), noise)


def estimands_of(question: Question, shares: Iterable[float]) -> list[Estimand]:
    """What a question estimates, for each planned share; of several options the one with the most noise.

    The share of a yes-no is that of yes. A mean is planned for people who are spread equally over its numbers.
    """
    found = []
    if question.has_shares:
        every = NoiseModel.options_of(question.mechanism)[question.kind.headline or 0 :]
        options = [each.asked_of(question.share_asked, question.epsilon) for each in every]
        for share in shares:
            worst = max(options, key=lambda noise: noise.variance(share))
            found.append(Estimand.of_share(question.id, worst, share))
    if question.kind.has_numbers:
        found.append(Estimand(question.id, "mean", None, mean_precision(question)))
    return found


@dataclass(frozen=True)
class SizePlan:
    """How many people an interval of a wanted width takes."""

    question: str
    statistic: str
    epsilon: float
    share: float | None
    half_width: float
    """What is wanted: share points, or the unit of the mean."""
    conf_level: float
    people: int
    people_directly: int
    """How many it would take if they were asked directly and told the truth."""
    people_curator: int
    """How many if a trusted curator saw the truth and published it with the same epsilon."""
    times: float
    """Factor in people against asking directly, before rounding."""
    break_even_bias: float
    """Bias of direct answers from which on randomised answers of as many people have the smaller mean squared error."""


def plan_size(estimand: Estimand, width: float, confidence_level: float = 0.95) -> SizePlan:
    """The people for an interval of plus and minus ``width``, a part of the whole range.

    >>> from deniable import Warner
    >>> plan = plan_size(Estimand.of_share("affair", NoiseModel.through(Warner.from_epsilon(1)), 0.1), 0.05)
    >>> plan.people, plan.people_directly, plan.people_curator, round(plan.times, 1)
    (1553, 139, 158, 11.2)
    """
    if not 0 < width < 1:
        raise ParameterError(f"width: must be above 0 and below 1, the whole range, got {width}")
    precision = estimand.precision
    half_width = width * precision.span
    people = precision.sample_size(half_width, confidence_level)
    return SizePlan(
        question=estimand.question,
        statistic=estimand.statistic,
        epsilon=precision.epsilon,
        share=estimand.share,
        half_width=half_width,
        conf_level=confidence_level,
        people=people,
        people_directly=precision.directly.sample_size(half_width, confidence_level),
        people_curator=precision.curator_sample_size(half_width, confidence_level),
        times=precision.factor,
        break_even_bias=precision.break_even_bias(people),
    )


@dataclass(frozen=True)
class WidthPlan:
    """How precise an estimate from a given number of people will be."""

    question: str
    statistic: str
    epsilon: float
    share: float | None
    respondents: int
    conf_level: float
    half_width: float
    """Half the expected width of the interval that will be published: share points, or the unit of the mean."""
    half_width_normal: float
    """Half the width of the normal interval, which is not cut at the ends of the range."""
    half_width_directly: float
    """Half the width of the normal interval if people were asked directly and told the truth."""
    half_width_curator: float
    """Half the width of the normal interval around the figure of a trusted curator (central model)."""
    curator_noise: float
    """What the curator's noise alone exceeds with a probability of 1 - conf_level only."""
    break_even_bias: float
    detectable: float | None
    """Smallest increase from one half of the respondents to the other that is found with `power`; None if none is."""
    power: float
    wanted: float
    """A half width that is wanted."""
    people: int
    """How many people the wanted half width takes."""


def plan_width(
    estimand: Estimand, respondents: int, width: float = 0.05, confidence_level: float = 0.95, target: float = 0.8
) -> WidthPlan:
    """The precision that so many respondents give, and how many ``width`` would take.

    >>> from deniable import TwoCoin
    >>> plan = plan_width(Estimand.of_share("affair", NoiseModel.through(TwoCoin("1/2", "1/2")), 0.3), 1000)
    >>> round(plan.half_width, 3), round(plan.half_width_directly, 3), round(plan.break_even_bias, 3)
    (0.061, 0.028, 0.027)
    """
    n = check_people(respondents, "respondents")
    precision, noise = estimand.precision, estimand.noise
    cohorts, level = halves(n), 1 - confidence_level
    check_test(target, level, "two-sided")
    detectable: float | None
    try:
        if noise is not None and estimand.share is not None:
            detectable = detectable_difference(noise, cohorts, estimand.share, target, level)
        else:
            detectable = detectable_mean_difference(precision, cohorts, target, level)
    except ParameterError:  # all else was checked: no difference is large enough
        detectable = None
    size = plan_size(estimand, width, confidence_level)
    return WidthPlan(
        question=estimand.question,
        statistic=estimand.statistic,
        epsilon=precision.epsilon,
        share=estimand.share,
        respondents=n,
        conf_level=confidence_level,
        half_width=_expected_half_width(estimand, n, confidence_level),
        half_width_normal=precision.half_width(n, confidence_level),
        half_width_directly=precision.directly.half_width(n, confidence_level),
        half_width_curator=precision.curator_half_width(n, confidence_level),
        curator_noise=precision.curator_noise(n, level),
        break_even_bias=precision.break_even_bias(n),
        detectable=detectable,
        power=target,
        wanted=size.half_width,
        people=size.people,
    )


def _expected_half_width(estimand: Estimand, n: int, confidence_level: float) -> float:
    """Half the width of the interval that is published: an exact one of a share, a normal one of anything else."""
    noise = estimand.noise
    if noise is None or noise.support is None or estimand.share is None:
        return estimand.precision.half_width(n, confidence_level)
    return expected_width(noise, n, estimand.share, confidence_level) / 2
