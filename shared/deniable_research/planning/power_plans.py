"""Plans for tests: the people that tell a share from another one, and the power of those who answer."""

from __future__ import annotations

from dataclasses import dataclass

from deniable.errors import ParameterError
from deniable_research.planning.checks import check_people
from deniable_research.planning.cohorts import cohort_power, cohort_sizes, halves
from deniable_research.planning.known_share import power, sample_size_for_power
from deniable_research.planning.noise_model import NoiseModel
from deniable_research.planning.plans import Estimand


@dataclass(frozen=True)
class PowerPlan:
    """A test of a share against a known one, or between two cohorts: people and power."""

    epsilon: float
    share: float
    against: float
    cohorts: int
    """1: ``against`` is a known share; 2: it is that of the second cohort, as large as the first."""
    level: float
    alternative: str
    exact: bool
    target: float
    """The power that is wanted."""
    people: int
    """Who it takes, in all cohorts together."""
    people_directly: int
    """Who it would take if they were asked directly and told the truth."""
    times: float
    """The factor between these."""
    respondents: int
    """Who there are; `people`, if nobody says."""
    power: float
    """The power of the respondents."""
    power_directly: float


def plan_power(
    estimand: Estimand,
    against: float,
    cohorts: int = 2,
    respondents: int | None = None,
    target: float = 0.8,
    level: float = 0.05,
    alternative: str = "two-sided",
    exact: bool = False,
) -> PowerPlan:
    """The people that a test takes, and the power of the respondents.

    Parameters
    ----------
    estimand : Estimand
        A share.
    against : float
        The known share, or that of the second cohort.
    cohorts : {1, 2}
    respondents : int, optional
        In all cohorts together; by default as many as it takes.
    target, level, exact
        As for `deniable_research.planning.sample_size_for_power`; ``exact`` for one cohort only.
    alternative : {"two-sided", "greater", "less"}
        What the share of the subject is beside ``against``.

    Examples
    --------
    >>> from deniable import Warner
    >>> subject = Estimand.of_share("affair", NoiseModel.through(Warner.from_epsilon(1)), 0.10)
    >>> plan = plan_power(subject, against=0.15)
    >>> plan.people, plan.people_directly, round(plan.power, 4)
    (12934, 1372, 0.8)
    >>> round(plan_power(subject, against=0.15, respondents=5000).power, 3)
    0.414
    """
    if estimand.noise is None or estimand.share is None:
        raise ParameterError("subject: must be a share; for a mean take detectable_mean_difference")
    if cohorts not in (1, 2):
        raise ParameterError(f"cohorts: must be 1 or 2, got {cohorts}")
    if exact and cohorts == 2:
        raise ParameterError("exact: is for one cohort against a known share; two cohorts have the normal test")
    share = estimand.share

    def needed(noise: NoiseModel) -> int:
        if cohorts == 1:
            return sample_size_for_power(noise, share, against, target, level, alternative, exact)
        return sum(cohort_sizes(noise, (against, share), target, level, alternative))

    def power_of(noise: NoiseModel, n: int) -> float:
        if cohorts == 1:
            return power(noise, n, share, against, level, alternative, exact)
        return cohort_power(noise, halves(n), (against, share), level, alternative)

    people, people_directly = needed(estimand.noise), needed(NoiseModel.directly())
    n = people if respondents is None else check_people(respondents, "respondents")
    return PowerPlan(
        epsilon=estimand.precision.epsilon,
        share=share,
        against=against,
        cohorts=cohorts,
        level=level,
        alternative=alternative,
        exact=exact,
        target=target,
        people=people,
        people_directly=people_directly,
        times=people / people_directly,
        respondents=n,
        power=power_of(estimand.noise, n),
        power_directly=power_of(NoiseModel.directly(), n),
    )
