"""Plans of a survey: the people for a width or a test, the width for the people, several questions for one epsilon.

The fields of a plan are what is given, and its figures are formulas of them: the columns of ``deniable plan --format
csv``.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from bisect import bisect_left
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from operator import attrgetter
from typing import Any, ClassVar, Self

from deniable.errors import ParameterError, describe
from deniable.exact import Number, positive_epsilon
from deniable.survey.question import Question
from deniable.survey.question_types import QUESTION_TYPES
from deniable_statistics.authoring.selection import choose_for_choice
from deniable_statistics.authoring.sharing import Member, Sharing, chosen_way, ways_to_share
from deniable_statistics.designs.of_mechanisms import level_values
from deniable_statistics.planning.among import AmongPrecision, mean_precision_among, share_precision_among
from deniable_statistics.planning.checks import check_people
from deniable_statistics.planning.noise_model import NoiseModel
from deniable_statistics.planning.precision import Precision, mean_precision
from deniable_statistics.planning.testing import ShareTest, check_test, detectable_mean_difference
from deniable_statistics.risk import posterior

Figures = Mapping[str, Callable[[Any], Any]]
"""Formulas of the figures of a plan, by their names."""


@dataclass(frozen=True)
class Estimand:
    """A share or a mean that a question will estimate."""

    question: str
    statistic: str
    """``"share"`` or ``"mean"``; ``"among"`` and ``"mean among"`` are those of whom it applies to."""
    share: float | None
    """The share that is planned for; None for a mean."""
    precision: Precision
    noise: NoiseModel | None = None
    """The noise of the share; None for a mean, and among those to whom a question applies."""

    @property
    def applies(self) -> float | None:
        """The share of the people to whom the question applies; None where the figure is about everybody."""
        return self.precision.applying if isinstance(self.precision, AmongPrecision) else None

    @classmethod
    def of_share(cls, question: str, noise: NoiseModel, share: float) -> Estimand:
        """A share, with its planned size."""
        return cls(question, "share", share, noise.at(share), noise)

    @classmethod
    def of_share_among(cls, options: int, epsilon: Number, share: float, applies: float) -> Estimand:
        """A share among those to whom a question applies, by the best mechanism for so many options and one more."""
        mechanism = choose_for_choice(options + 1, epsilon).best
        return cls("", "among", share, share_precision_among(mechanism, share, applies))

    def at(self, epsilon: float, options: int) -> Estimand:
        """This share by the mechanism with the least noise for so many options at another epsilon."""
        assert self.share is not None, "a question of its own is planned by its share"
        if self.applies is not None:
            return Estimand.of_share_among(options, epsilon, self.share, self.applies)
        return Estimand.of_share("", NoiseModel.with_least(options, epsilon), self.share)


def estimands_of(question: Question, shares: Iterable[float], applies: float | None = None) -> list[Estimand]:
    """The estimands of a question: a share for each planned size, and the mean of a scale or a number.

    The share is of yes in a yes-no question, else of the option with the largest variance. A mean is planned for
    people who are spread equally over its numbers. Where a share of the people is given to whom questions with a filter
    apply, these are planned among them.
    """
    if question.ask_if is not None and applies is not None:
        return _estimands_among(question, shares, applies)
    found = []
    if question.has_shares:
        every = NoiseModel.options_of(question.mechanism)[question.kind.headline or 0 :]
        options = [each.asked_of(question.share_asked, question.epsilon) for each in every]
        for share in shares:
            # The option with the widest interval: a sample that is enough for it is enough for all.
            worst = max(options, key=lambda noise: noise.variance(share))
            found.append(Estimand.of_share(question.id, worst, share))
    if question.has_mean:
        found.append(Estimand(question.id, "mean", None, mean_precision(question)))
    return found


def _estimands_among(question: Question, shares: Iterable[float], applies: float) -> list[Estimand]:
    found = []
    if question.has_shares:
        asked, epsilon = question.share_asked, question.epsilon
        for share in shares:
            precision = share_precision_among(question.mechanism, share, applies, asked, epsilon)
            found.append(Estimand(question.id, "among", share, precision))
    if level_values(question) is not None:
        found.append(Estimand(question.id, "mean among", None, mean_precision_among(question, applies)))
    return found


class Plan(ABC):
    """What is known before anybody is asked, and the figures that follow from it, such as ``plan["people"]``.

    Each figure is computed when it is first needed: a chart needs one of them at many epsilons.
    """

    figures: ClassVar[Figures]
    """The formula of each figure by its name, in the order of CSV and JSON."""

    @cached_property
    def _known(self) -> dict[str, Any]:
        return {}

    def __getitem__(self, name: str) -> Any:
        if name not in self._known:
            self._known[name] = self.figures[name](self)
        return self._known[name]

    def row(self) -> dict[str, Any]:
        """All figures by their names; None for an infinite one, which no number of people reaches."""
        return {name: None if self[name] == math.inf else self[name] for name in self.figures}

    @abstractmethod
    def at(self, epsilon: float, options: int) -> Plan:
        """The plan of a share for another epsilon, by the mechanism with the least noise for so many options."""


@dataclass(frozen=True)
class EstimandPlan(Plan):
    """A plan for one share or mean."""

    estimand: Estimand

    @property
    def precision(self) -> Precision:
        """The precision of the estimate."""
        return self.estimand.precision

    def at(self, epsilon: float, options: int) -> Self:
        """The plan of a share for another epsilon, by the mechanism with the least noise for so many options."""
        return replace(self, estimand=self.estimand.at(epsilon, options))


ESTIMAND: Figures = {
    "question": lambda plan: plan.estimand.question,
    "statistic": lambda plan: plan.estimand.statistic,
    "epsilon": lambda plan: plan.precision.epsilon,
    "share": lambda plan: plan.estimand.share,
    "applies": lambda plan: plan.estimand.applies,
}


@dataclass(frozen=True)
class SizePlan(EstimandPlan):
    """The sample size for an interval of plus and minus ``width``.

    Attributes
    ----------
    width : float
        The wanted half width, as a part of the range.
    conf_level : float

    Notes
    -----
    Figures: ``half_width`` is the wanted half width as a share or in the unit of the mean. ``people`` is the sample
    size, ``people_directly`` the one of direct and truthful answers, and ``people_curator`` the one of a trusted
    curator who publishes at the same epsilon. ``times`` is the ratio of the first two before rounding, and
    ``break_even_bias`` is that of `Precision`.

    Examples
    --------
    >>> from deniable import Warner
    >>> plan = SizePlan(Estimand.of_share("affair", NoiseModel.through(Warner.from_epsilon(1)), 0.1), 0.05)
    >>> plan["people"], plan["people_directly"], plan["people_curator"], round(plan["times"], 1)
    (1553, 139, 158, 11.2)
    """

    width: float = 0.05
    conf_level: float = 0.95

    figures: ClassVar[Figures] = {
        **ESTIMAND,
        "half_width": lambda plan: plan.width * plan.precision.span,
        "conf_level": lambda plan: plan.conf_level,
        "people": lambda plan: plan.precision.sample_size(plan["half_width"], plan.conf_level),
        "people_directly": lambda plan: plan.precision.directly.sample_size(plan["half_width"], plan.conf_level),
        "people_curator": lambda plan: plan.precision.curator_sample_size(plan["half_width"], plan.conf_level),
        # The ratio of variances: that of whole people would jump.
        "times": lambda plan: plan.precision.factor,
        "break_even_bias": lambda plan: plan.precision.break_even_bias(plan["people"]),
    }

    def __post_init__(self) -> None:
        _check_width(self.width)


@dataclass(frozen=True)
class WidthPlan(EstimandPlan):
    """The precision of an estimate from a given number of people.

    Attributes
    ----------
    respondents : int
    width : float
        The half width for which ``people`` is computed, as a part of the range.
    conf_level : float
    power : float
        Power at which ``detectable`` is the smallest increase that is found.

    Notes
    -----
    Figures: ``half_width`` is half the expected width of the interval that will be published. ``half_width_normal``,
    ``half_width_directly`` and ``half_width_curator`` are half widths of normal intervals, which are not cut at the
    ends of the range: of this mechanism, of direct and truthful answers, and of a trusted curator. The curator's noise
    alone exceeds ``curator_noise`` with probability ``1 - conf_level``. ``detectable`` is the smallest increase from
    one half of the respondents to the other that is found with ``power``, or None if no increase is. ``people`` is the
    sample size for the half width ``wanted``.

    Examples
    --------
    >>> from deniable import TwoCoin
    >>> plan = WidthPlan(Estimand.of_share("affair", NoiseModel.through(TwoCoin("1/2", "1/2")), 0.3), 1000)
    >>> round(plan["half_width"], 3), round(plan["half_width_directly"], 3), round(plan["break_even_bias"], 3)
    (0.061, 0.028, 0.027)
    """

    respondents: int
    width: float = 0.05
    conf_level: float = 0.95
    power: float = 0.8

    figures: ClassVar[Figures] = {
        **ESTIMAND,
        "respondents": lambda plan: plan.respondents,
        "conf_level": lambda plan: plan.conf_level,
        # The published interval; the next three are normal, so that they compare with each other.
        "half_width": lambda plan: plan._expected(),
        "half_width_normal": lambda plan: plan.precision.half_width(plan.respondents, plan.conf_level),
        "half_width_directly": lambda plan: plan.precision.directly.half_width(plan.respondents, plan.conf_level),
        "half_width_curator": lambda plan: plan.precision.curator_half_width(plan.respondents, plan.conf_level),
        # Exceeded as rarely as the interval misses the truth.
        "curator_noise": lambda plan: plan.precision.curator_noise(plan.respondents, 1 - plan.conf_level),
        "break_even_bias": lambda plan: plan.precision.break_even_bias(plan.respondents),
        "detectable": lambda plan: plan._detectable(),
        "power": lambda plan: plan.power,
        "wanted": lambda plan: plan._size["half_width"],
        "people": lambda plan: plan._size["people"],
    }

    def __post_init__(self) -> None:
        in_cohorts(check_people(self.respondents, "respondents"), 2)
        check_test(self.power, 1 - self.conf_level, "two-sided")
        _ = self._size  # refuses the width

    @cached_property
    def _size(self) -> SizePlan:
        return SizePlan(self.estimand, self.width, self.conf_level)

    def _expected(self) -> float:
        noise, share = self.estimand.noise, self.estimand.share
        if noise is None or noise.support is None or share is None:  # published intervals of all else are normal
            return self.precision.half_width(self.respondents, self.conf_level)
        return noise.expected_width(self.respondents, share, self.conf_level) / 2

    def _detectable(self) -> float | None:
        # Two waves or arms of the same survey: half of the people in each.
        n1, n2 = in_cohorts(self.respondents, 2)
        noise, share, level = self.estimand.noise, self.estimand.share, 1 - self.conf_level
        try:
            if noise is None or share is None:
                return detectable_mean_difference(self.precision, (n1, n2), self.power, level)
            return ShareTest(noise, share, level).detectable(n1, n2, target=self.power) - share
        except ParameterError:  # all else was checked: no difference is large enough
            return None


@dataclass(frozen=True)
class PowerPlan(EstimandPlan):
    """A test of a share against a known one, or between two cohorts: people and power.

    Attributes
    ----------
    against : float
        The known share, or the share of a second cohort of the same size.
    cohorts : {1, 2}
    sample : int, optional
        Number of people who answer, in all cohorts together; by default the sample size for ``target``.
    target : float
        The power that is wanted.
    level : float
    alternative : {"two-sided", "greater", "less"}
        The side of ``against`` on which the share is tested to lie.
    exact : bool
        As in `ShareTest`; for one cohort only.

    Notes
    -----
    Figures: ``people`` is the sample size for the target power, in all cohorts together, ``people_directly`` the one of
    direct and truthful answers, and ``times`` their ratio. ``power`` and ``power_directly`` are the powers with
    ``respondents`` people, which is ``people`` if no sample is given.

    Examples
    --------
    >>> from deniable import Warner
    >>> subject = Estimand.of_share("affair", NoiseModel.through(Warner.from_epsilon(1)), 0.10)
    >>> plan = PowerPlan(subject, against=0.15)
    >>> plan["people"], plan["people_directly"], round(plan["power"], 4)
    (12934, 1372, 0.8)
    >>> round(PowerPlan(subject, against=0.15, sample=5000)["power"], 3)
    0.414
    """

    against: float
    cohorts: int = 2
    sample: int | None = None
    target: float = 0.8
    level: float = 0.05
    alternative: str = "two-sided"
    exact: bool = False

    figures: ClassVar[Figures] = {
        "epsilon": ESTIMAND["epsilon"],
        "share": ESTIMAND["share"],
        **{name: attrgetter(name) for name in ("against", "cohorts", "level", "alternative", "exact", "target")},
        "people": lambda plan: plan._people(plan.estimand.noise),
        "people_directly": lambda plan: plan._people(NoiseModel.directly()),
        "times": lambda plan: plan["people"] / plan["people_directly"],
        "respondents": lambda plan: plan["people"] if plan.sample is None else check_people(plan.sample, "respondents"),
        "power": lambda plan: plan._power(plan.estimand.noise),
        "power_directly": lambda plan: plan._power(NoiseModel.directly()),
    }

    def __post_init__(self) -> None:
        if self.estimand.noise is None:
            raise ParameterError("subject: must be a share; for a mean take detectable_mean_difference")
        if self.cohorts not in (1, 2):
            raise ParameterError(f"cohorts: must be 1 or 2, got {self.cohorts}")
        if self.exact and self.cohorts == 2:
            raise ParameterError("exact: is for one cohort against a known share; two cohorts have the normal test")

    def at(self, epsilon: float, options: int) -> Self:
        """The plan of a share for another epsilon; a test that is exact, so saw-toothed, becomes the normal one."""
        return replace(super().at(epsilon, options), exact=False)

    def _people(self, noise: NoiseModel) -> int:
        # All cohorts are of the same size.
        return sum(self._test(noise).sizes(self["share"], self.target, (1,) * self.cohorts))

    def _power(self, noise: NoiseModel) -> float:
        return self._test(noise).power(self["share"], *in_cohorts(self["respondents"], self.cohorts))

    def _test(self, noise: NoiseModel) -> ShareTest:
        return ShareTest(noise, self.against, self.level, self.alternative, self.exact)


@dataclass(frozen=True)
class SplitPlan(Plan):
    """Several questions for one epsilon: everybody answers all with a part each, or one at random with all of it.

    Attributes
    ----------
    questions : int
    total : number
        Privacy loss of a person over all questions: the epsilon that they share, in nats.
    share : float
        The share that is planned for.
    half_width : float
        The wanted half width of every question.
    options : int
        Number of options of each question: 2 for yes or no. The mechanism is the one with the least noise.
    conf_level : float

    Notes
    -----
    For a small epsilon the noise grows like ``1 / epsilon^2``: splitting multiplies the variance by about
    ``questions^2``, drawing by ``questions``. Drawing loses its edge where epsilon is large enough for sampling to
    matter more than noise, and drawn questions cannot be cross-tabulated, because nobody answers two of them.

    Figures: ``epsilon_each`` is the epsilon of each question if all are asked. ``people_together`` and
    ``people_one_each`` are the sample sizes of the two ways, and ``ratio`` is their ratio before rounding. ``best`` is
    the way with the smallest sample size, which a survey chooses if its questions share an epsilon and its
    author wants shares alone, and ``people_best`` is that size.

    Examples
    --------
    Five yes-no questions at ln 3: V = e^(1/5 ln 3) / (e^(1/5 ln 3) - 1)^2 + .09 = 20.6 against 5 (.75 + .09) = 4.2:

    >>> five = SplitPlan(5, math.log(3), share=0.1)
    >>> round(five.together.variance, 1), round(five.one_each.variance, 1), round(five["ratio"], 1)
    (20.7, 4.2, 4.9)
    >>> plan = SplitPlan(5, 2, share=0.5, half_width=0.05)
    >>> plan["people_together"], plan["people_one_each"], plan["best"], plan["people_best"]
    (9861, 3312, '2 of 5 in one response', 2540)
    """

    questions: int
    total: Number
    share: float
    half_width: float = 0.05
    options: int = 2
    conf_level: float = 0.95

    figures: ClassVar[Figures] = {
        "epsilon": lambda plan: float(positive_epsilon(plan.total)),
        "share": lambda plan: plan.share,
        "questions": lambda plan: plan.questions,
        "epsilon_each": lambda plan: plan["epsilon"] / plan.questions,
        "half_width": lambda plan: plan.half_width,
        "conf_level": lambda plan: plan.conf_level,
        # Both variances are per respondent, asked or not, so that the two numbers compare.
        "people_together": lambda plan: plan.together.sample_size(plan.half_width, plan.conf_level),
        "people_one_each": lambda plan: plan.one_each.sample_size(plan.half_width, plan.conf_level),
        # The ratio of variances: that of whole people would jump.
        "ratio": lambda plan: plan.together.variance / plan.one_each.variance,
        "best": lambda plan: plan._way.label,
        "people_best": lambda plan: plan._best().sample_size(plan.half_width, plan.conf_level),
    }

    def __post_init__(self) -> None:
        if type(self.questions) is not int or self.questions < 1:
            raise ParameterError(f"questions: must be an integer of at least 1, got {describe(self.questions)}")

    def at(self, epsilon: float, options: int) -> Self:
        """The plan for another epsilon."""
        return replace(self, total=epsilon, options=options)

    @cached_property
    def together(self) -> Precision:
        """The precision of each question if everybody answers all of them."""
        # Sequential composition: the parts add up to the whole epsilon.
        return NoiseModel.with_least(self.options, positive_epsilon(self.total) / self.questions).at(self.share)

    @cached_property
    def one_each(self) -> Precision:
        """The precision of each question if everybody answers one, drawn at random; ``n`` counts all people.

        The variance is multiplied by ``questions``, because only one in ``questions`` people reports on each.
        """
        one = NoiseModel.with_least(self.options, positive_epsilon(self.total)).at(self.share)
        # Each question gets n / k of the answers, so n times the variance is k times as large.
        return replace(one, variance=self.questions * one.variance, direct=self.questions * one.direct)

    @cached_property
    def _way(self) -> Sharing:
        kind = QUESTION_TYPES["yes-no" if self.options == 2 else "choice"]
        ways = ways_to_share([Member(kind, range(self.options), None)] * self.questions, self.total)
        return chosen_way(ways, ["shares"])

    def _best(self) -> Precision:
        # All questions are alike, so the first represents them.
        noise = NoiseModel.through(self._way.mechanisms[0])
        return noise.asked_of(self._way.draw / self._way.size, self["epsilon"]).at(self.share)


@dataclass(frozen=True)
class EpsilonPlan(Plan):
    """The epsilon of a question that a given number of people and a half width take.

    Attributes
    ----------
    respondents : int
    half_width : float
        The wanted half width of the normal interval of the share.
    share : float
        The share that is planned for.
    options : int
        Number of options of the question: 2 for yes or no. The mechanism is the one with the least noise.
    conf_level : float

    Raises
    ------
    ParameterError
        If no epsilon is enough, because so few people asked directly would not tell the share as well.

    Notes
    -----
    The smallest epsilon in steps of `EPSILON_STEP`, so that what is written into a file is enough. Figures:
    ``half_width_reached`` is the half width at that epsilon, ``half_width_directly`` the one of direct and truthful
    answers, ``right_guesses`` the largest probability of a right guess by somebody who thinks an answer as likely as
    not, ``exp(epsilon) / (1 + exp(epsilon))``.

    Examples
    --------
    A yes-no question: ``V = .25 / tanh(epsilon / 2)^2`` must be at most ``400 (.1 / 1.96)^2 = 1.041``, for which
    epsilon is at least ``2 artanh(sqrt(.25 / 1.041)) = 1.071``:

    >>> plan = EpsilonPlan(400, 0.1, share=0.5)
    >>> plan["epsilon"], round(plan["half_width_reached"], 4), round(plan["right_guesses"], 3)
    (1.08, 0.0994, 0.746)
    """

    respondents: int
    half_width: float
    share: float
    options: int = 2
    conf_level: float = 0.95

    figures: ClassVar[Figures] = {
        "epsilon": lambda plan: plan._least,
        "share": lambda plan: plan.share,
        "respondents": lambda plan: plan.respondents,
        "half_width": lambda plan: plan.half_width,
        "conf_level": lambda plan: plan.conf_level,
        "half_width_reached": lambda plan: plan._width(plan._least),
        "half_width_directly": lambda plan: plan._directly,
        "right_guesses": lambda plan: posterior(0.5, plan._least),
    }

    def __post_init__(self) -> None:
        check_people(self.respondents, "respondents")
        _check_width(self.half_width)
        if self._directly >= self.half_width:
            raise ParameterError(
                f"width: {self.respondents:,} people asked directly would tell a share of {100 * self.share:g} % to "
                f"within {100 * self._directly:.3g} points only; allow more width or ask more people"
            )

    def at(self, epsilon: float, options: int) -> Self:
        """The plan itself: it does not depend on an epsilon."""
        return self

    @property
    def _directly(self) -> float:
        return NoiseModel.directly().at(self.share).half_width(self.respondents, self.conf_level)

    @cached_property
    def _least(self) -> float:
        steps = range(1, round(MOST_EPSILON / EPSILON_STEP) + 1)
        # The half width falls with epsilon, so that bisection finds the first step that is enough.
        place = bisect_left(steps, True, key=lambda step: self._width(step * EPSILON_STEP) <= self.half_width)
        if place == len(steps):
            raise ParameterError(f"width: {self.half_width:g} takes an epsilon above {MOST_EPSILON}; allow more width")
        return round(steps[place] * EPSILON_STEP, 2)

    def _width(self, epsilon: float) -> float:
        noise = NoiseModel.with_least(self.options, f"{epsilon:.2f}")
        return noise.at(self.share).half_width(self.respondents, self.conf_level)


EPSILON_STEP = 0.02
"""Step in which `EpsilonPlan` searches an epsilon, in nats."""

MOST_EPSILON = 20
"""Largest epsilon that `EpsilonPlan` tries: 32-bit weights hold no more than 22."""


def _check_width(width: float) -> None:
    if not 0 < width < 1:
        # Tables show percentage points, so people give these back.
        hint = f"; write {width / 100:g} for \u00b1{width:g} points" if 1 <= width < 100 else ""
        raise ParameterError(f"width: must be above 0 and below 1, the whole range, got {width}{hint}")


def in_cohorts(n: int, cohorts: int) -> tuple[int, ...]:
    """The sizes of one cohort, or of two that differ by at most one person.

    >>> in_cohorts(1001, 2)
    (500, 501)
    """
    if n < cohorts:
        raise ParameterError(f"respondents: must be at least 2, one for each cohort, got {n}")
    return (n,) if cohorts == 1 else (n // 2, n - n // 2)
