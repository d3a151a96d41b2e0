"""Several questions, one epsilon: everybody answers all of them with a part each, or one at random with all of it."""

from __future__ import annotations

from dataclasses import dataclass, replace

from deniable.errors import ParameterError, describe
from deniable.exact import Number, positive_epsilon
from deniable.mechanisms import Mechanism, Warner
from deniable.survey.question_types import QUESTION_TYPES
from deniable_research.planning.noise_model import NoiseModel
from deniable_research.planning.precision import Precision
from deniable_statistics.authoring.selection import choose_for_choice
from deniable_statistics.authoring.sharing import Member, ways_to_share


@dataclass(frozen=True)
class Split:
    """The precision of each of several questions under two ways of spending one epsilon.

    Attributes
    ----------
    questions : int
        How many.
    epsilon : float
        What each person spends, either way.
    together : Precision
        Everybody answers every question, each with ``epsilon / questions``.
    one_each : Precision
        Everybody answers one question, drawn at random, with the whole epsilon. Its variance is multiplied by
        ``questions``, because so few reports arrive for each: ``n`` stands for people in both.

    Notes
    -----
    For a small epsilon the noise grows like ``1 / epsilon^2``: splitting multiplies the variance by about
    ``questions^2``, drawing by ``questions``. Drawing loses its edge where epsilon is large enough for sampling to
    matter more than noise, and it cannot cross-tabulate: nobody answers two questions.
    """

    questions: int
    epsilon: float
    together: Precision
    one_each: Precision

    @property
    def ratio(self) -> float:
        """How many times the people of drawing one question splitting takes."""
        return self.together.variance / self.one_each.variance


def split(questions: int, epsilon: Number, share: float, options: int = 2) -> Split:
    """Compare splitting an epsilon over several questions with asking each person one of them.

    Parameters
    ----------
    questions : int
    epsilon : number
        What a person may lose in all.
    share : float
        The share that is planned for.
    options : int
        2 for yes-no questions, more for choices; each is answered by the mechanism that has the least noise for it.

    Raises
    ------
    ParameterError
        If a part of the epsilon is too small for integer weights.

    Examples
    --------
    Five yes-no questions at ln 3: V = e^(1/5 ln 3) / (e^(1/5 ln 3) - 1)^2 + .09 = 20.6 against 5 (.75 + .09) = 4.2:

    >>> import math
    >>> five = split(5, math.log(3), share=0.1)
    >>> round(five.together.variance, 1), round(five.one_each.variance, 1), round(five.ratio, 1)
    (20.7, 4.2, 4.9)
    """
    if type(questions) is not int or questions < 1:
        raise ParameterError(f"questions: must be an integer of at least 1, got {describe(questions)}")
    whole = positive_epsilon(epsilon)
    together = NoiseModel.through(least_noise(options, whole / questions)).at(share)
    one = NoiseModel.through(least_noise(options, whole)).at(share)
    one_each = replace(one, variance=questions * one.variance, direct=questions * one.direct)
    return Split(questions, float(whole), together, one_each)


def least_noise(options: int, epsilon: Number) -> Mechanism:
    """The mechanism with the least noise for a yes-no question (two options) or a choice."""
    return Warner.from_epsilon(epsilon) if options == 2 else choose_for_choice(options, epsilon).best


@dataclass(frozen=True)
class SplitPlan:
    """Several questions for one epsilon: the people for a wanted width of each, all asked or one drawn."""

    epsilon: float
    share: float
    questions: int
    epsilon_each: float
    """What each of the questions gets if all are asked."""
    half_width: float
    conf_level: float
    people_together: int
    """Everybody answers every question."""
    people_one_each: int
    """Everybody answers one question, drawn at random."""
    ratio: float
    """Factor in people of the first against the second."""
    best: str
    """The way that takes the fewest people, as a survey with one epsilon for its questions chooses it."""
    people_best: int


def plan_split(
    questions: int, epsilon: Number, share: float, width: float, options: int = 2, confidence_level: float = 0.95
) -> SplitPlan:
    """The people for plus and minus ``width`` in every question, both ways.

    >>> plan = plan_split(5, 1, share=0.1, width=0.05)
    >>> plan.people_together, plan.people_one_each
    (38426, 7765)
    >>> plan = plan_split(5, 2, share=0.5, width=0.05)
    >>> plan.best, plan.people_best
    ('2 of 5 in one response', 2540)
    """
    both = split(questions, epsilon, share, options)
    together, one_each = (each.sample_size(width, confidence_level) for each in (both.together, both.one_each))
    way = ways_to_share([_asked(options)] * questions, epsilon)[0]
    noise = NoiseModel.through(way.mechanisms[0]).asked_of(way.draw / way.size, both.epsilon)
    return SplitPlan(
        epsilon=both.epsilon,
        share=share,
        questions=questions,
        epsilon_each=both.epsilon / questions,
        half_width=width,
        conf_level=confidence_level,
        people_together=together,
        people_one_each=one_each,
        ratio=both.ratio,
        best=way.label,
        people_best=noise.at(share).sample_size(width, confidence_level),
    )


def _asked(options: int) -> Member:
    return Member(QUESTION_TYPES["yes-no" if options == 2 else "choice"], range(options), None)
