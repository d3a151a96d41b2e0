"""Drawing the counts of a survey without its people, as fast for a hundred million as for a hundred.

Estimates need the number of reports that support each option. These counts are drawn here in the distribution that they
have if every person is drawn and every device randomises (`draw_reports`), up to the rounding of probabilities to
floats. All steps rest on two facts: people are drawn independently of each other, and a person's answers to different
questions are independent.

* Where a report supports one option, a person's report is one of ``k`` with the probabilities ``A f``, and the counts
  of independent reports are multinomial.
* Tick boxes are independent of each other, both their truths and their coins, so each count is a separate binomial.
* A subset, the boxes that a device draws and the questions that it asks are uniform random sets of a given size, some
  of which contain a truth; `count_members` draws their counts. A k-ary response is a uniform value with some
  probability and otherwise the truth; given which of the two it is, the marks of drawn boxes are independent.
* A person who misbehaves does so at every question, and a device that asks one question of a group may not ask another.
  So these people are counted first, once for all questions; given their numbers the questions are independent.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from deniable.errors import ParameterError
from deniable.mechanisms import DrawnBoxes, KAry, Mechanism, Subset, TickBoxes
from deniable.randomness import UNIT
from deniable.survey.group import Group
from deniable_research.simulation.simulated_misbehaviour import Misbehaviour, first_report
from deniable_research.simulation.truth import Truth
from deniable_statistics.designs.of_mechanisms import design_of

Counts = NDArray[np.int64]

CountSampler = Callable[[int, np.random.Generator], Counts]
"""Draws the counts of each option from a number of independent reports."""


class ReportCounts(NamedTuple):
    """Number of reports to one question that support each option, and number of all its reports."""

    counts: tuple[int, ...]
    n: int


@dataclass(frozen=True)
class CountedQuestion:
    """One question, with a sampler of counts for each kind of people.

    Attributes
    ----------
    id : str
    options : int
        Number of options that a report can support.
    kept, spread : CountSampler
        People who follow the instruction. Under a joint response ``kept`` is for those whose response is their own
        answers, ``spread`` for those whose response is a uniform pattern; otherwise the two are equal.
    denied : CountSampler
        People who answer the first option, like ``kept``.
    refused : CountSampler
        People who report the first option without randomising.
    careless : CountSampler
        People who report a value drawn uniformly from all possible ones.
    """

    id: str
    options: int
    kept: CountSampler
    spread: CountSampler
    denied: CountSampler
    refused: CountSampler
    careless: CountSampler


class CountedSurvey:
    """Samplers of the counts of a survey, which are prepared once for all repetitions.

    Parameters
    ----------
    truths : sequence of Truth
        The true shares of every question.
    misbehaviour : Misbehaviour
    """

    def __init__(self, truths: Sequence[Truth], misbehaviour: Misbehaviour) -> None:
        self.misbehaviour = misbehaviour
        self.units: list[tuple[Group | None, list[CountedQuestion]]] = []
        for truth in truths:
            group = truth.question.group
            members = next((members for each, members in self.units if group is not None and each == group), None)
            if members is None:
                self.units.append((group, [_counted(truth)]))
            else:
                members.append(_counted(truth))

    def draw(self, people: int, generator: np.random.Generator) -> dict[str, ReportCounts]:
        """The counts of one survey of ``people`` respondents, by the id of the question."""
        # Counted once for all questions: the same people misbehave at each.
        refusing, denying, careless, honest = _kinds(self.misbehaviour, people, generator)
        told: dict[str, ReportCounts] = {}
        for group, questions in self.units:
            joint = group.joint if group else None
            # How many responses are uniform patterns is one draw for all questions of a group.
            spread, spread_denial = (_spread(joint, each, generator) for each in (honest, denying))
            parts = (honest - spread, spread, denying - spread_denial, spread_denial, refusing, careless)
            asked = [_asked(group, people_of_part, generator) for people_of_part in parts]
            for place, each in enumerate(questions):
                laws = (each.kept, each.spread, each.denied, each.spread, each.refused, each.careless)
                sizes = [int(of_part[place]) for of_part in asked]
                # Kinds of people are independent, so that their counts add up.
                counts = sum(law(size, generator) for law, size in zip(laws, sizes, strict=True) if size)
                told[each.id] = ReportCounts(tuple(np.broadcast_to(counts, each.options).tolist()), sum(sizes))
        return told


def draw_counts(
    truths: Sequence[Truth], people: int, misbehaviour: Misbehaviour, generator: np.random.Generator
) -> dict[str, ReportCounts]:
    """The counts of one survey, by the id of the question; `CountedSurvey` draws many of the same survey.

    >>> from deniable import Question, Survey, TwoCoin
    >>> from deniable_research.simulation import generator_of, truth_of
    >>> survey = Survey("T", (Question("q", "yes-no", "Q?", ("no", "yes"), TwoCoin("1/2", "1/2")),))
    >>> told = draw_counts(truth_of(survey, {"q": 0.3}), 10**9, Misbehaviour(), generator_of(1))["q"]
    >>> told.n, round(told.counts[1] / told.n, 3)        # 0.25 + 0.5 * 0.3
    (1000000000, 0.4)
    """
    return CountedSurvey(truths, misbehaviour).draw(people, generator)


def _kinds(misbehaviour: Misbehaviour, people: int, generator: np.random.Generator) -> list[int]:
    """Numbers of people who refuse, who deny, who are careless, and who follow the instruction."""
    shares = (misbehaviour.noncompliance, misbehaviour.denial, misbehaviour.careless)
    kinds: list[int] = multinomial(people, [*shares, max(1 - math.fsum(shares), 0.0)], generator).tolist()
    return kinds


def _spread(response: KAry | None, people: int, generator: np.random.Generator) -> int:
    """Number of people whose joint response is a uniform pattern instead of their own answers."""
    # P(v) = q + (p - q) [v = x] is a uniform pattern with probability k q and the own one otherwise.
    return 0 if response is None else int(generator.binomial(people, float(response.k * response.support[0].if_other)))


def _asked(group: Group | None, people: int, generator: np.random.Generator) -> Sequence[int]:
    """Number of people whose devices ask each question of a unit."""
    return [people] if group is None else count_members(group.size, group.draw, people, generator).tolist()


def _counted(truth: Truth) -> CountedQuestion:
    question, mechanism = truth.question, truth.question.mechanism
    first = [0.0 if truth.boxes else float(place == 0) for place in range(len(truth.shares))]
    if truth.together is not None:
        # Of a response to patterns the answer to one question is that of a pattern drawn at random, or its own.
        place = truth.denied
        denied = _one_of([float(each == place) for each in range(len(truth.shares))])
        spread = _one_of(truth.reportable)
        kept = _one_of(truth.shares)
        return CountedQuestion(question.id, mechanism.reports.size, kept, spread, denied, denied, spread)
    laws = samplers_of(mechanism)
    if question.group is not None and question.group.joint is not None:
        # The uniform part of the joint response was drawn for the whole group; here is what it does to one question.
        spread = _one_of(np.ones(mechanism.k))
        kept, denied = _one_of(truth.shares), _one_of(first)
    else:
        kept = spread = laws.told(truth.shares)
        denied = laws.told(first)
    return CountedQuestion(question.id, mechanism.reports.size, kept, spread, denied, laws.refused, laws.careless)


class CountSamplers(NamedTuple):
    """Samplers of the counts of one mechanism, for each kind of people.

    Attributes
    ----------
    told : callable
        The sampler for people with given shares of true answers: the shares of all answers in order, which add up to 1;
        for tick boxes the share of each box, ticked independently.
    refused : CountSampler
        People who report the first option without randomising, as in `first_reports`.
    careless : CountSampler
        People whose reports are uniform over all possible ones, as `uniform_reports` draws them.
    """

    told: Callable[[Sequence[float]], CountSampler]
    refused: CountSampler
    careless: CountSampler


@functools.singledispatch
def samplers_of(mechanism: Mechanism) -> CountSamplers:
    """The samplers of a mechanism: here for reports that support one option, below for other reports."""
    if not mechanism.reports.supports_one:
        raise ParameterError(f"mechanism {mechanism.name}: its counts can be drawn only with its people")
    design = design_of(mechanism)
    first: Any = first_report(mechanism)
    # Whoever refuses sends the first report, whatever was answered.
    supports = np.arange(mechanism.reports.size) == first - mechanism.reports.first

    def told(shares: Sequence[float]) -> CountSampler:
        matched = len(shares) == len(design.truths) and design.has_shares
        return _one_of(design.expected(shares) if matched else design.float_matrix @ np.asarray(shares))

    return CountSamplers(told, lambda n, _: n * supports, _one_of(np.ones(len(supports))))


@samplers_of.register
def _(mechanism: TickBoxes) -> CountSamplers:
    def told(shares: Sequence[float]) -> CountSampler:
        expected = design_of(mechanism).expected(shares)
        return lambda n, generator: generator.binomial(n, expected)

    first = np.array(first_report(mechanism))
    return CountSamplers(
        told, lambda n, _: n * first, lambda n, generator: generator.binomial(n, np.full(mechanism.k, 0.5))
    )


@samplers_of.register
def _(mechanism: Subset) -> CountSamplers:
    first = np.array(first_report(mechanism))
    return CountSamplers(
        lambda shares: functools.partial(_subsets, mechanism, np.asarray(shares)),
        lambda n, _: n * first,
        lambda n, generator: count_members(mechanism.k, mechanism.w, n, generator),
    )


@samplers_of.register
def _(mechanism: DrawnBoxes) -> CountSamplers:
    return CountSamplers(
        lambda shares: functools.partial(_drawn_boxes, mechanism, np.asarray(shares)),
        functools.partial(_marks, mechanism, np.zeros(mechanism.k)),
        functools.partial(_marks, mechanism, np.full(mechanism.k, 0.5)),
    )


def _one_of(weights: Sequence[float] | NDArray[np.float64]) -> CountSampler:
    return lambda n, generator: multinomial(n, weights, generator)


def _subsets(mechanism: Subset, shares: NDArray[np.float64], n: int, generator: np.random.Generator) -> Counts:
    """Counts of ``n`` subset reports, for these shares of true answers.

    A subset that contains the truth has the weight ``inside``, any other one ``UNIT``. So a report is a mixture: a
    uniform subset of all, or a uniform one of those that contain the truth, with the remaining weight.
    """
    k, w = mechanism.k, mechanism.w
    # All subsets weigh 2^32, those with the truth `inside - 2^32` more: a mixture of a uniform subset and one around
    # the truth.
    even, around = math.comb(k, w) * UNIT, math.comb(k - 1, w - 1) * (mechanism.inside - UNIT)
    # How many reports come from the second part of the mixture.
    held = int(generator.binomial(n, around / (even + around)))
    return count_members(k, w, n - held, generator) + count_members(k, w - 1, held, generator, shares)


def _drawn_boxes(mechanism: DrawnBoxes, shares: NDArray[np.float64], n: int, generator: np.random.Generator) -> Counts:
    # A k-ary response is a uniform pattern with probability k q, and otherwise the true one.
    spread = _spread(mechanism.patterns, n, generator)
    kept = _marks(mechanism, shares, n - spread, generator)
    return kept + _marks(mechanism, np.full(mechanism.k, 0.5), spread, generator)


def _marks(mechanism: DrawnBoxes, shares: NDArray[np.float64], n: int, generator: np.random.Generator) -> Counts:
    """Numbers of reports of each box as not ticked and as ticked, if the marks of a report are independent."""
    drawn = count_members(mechanism.k, mechanism.s, n, generator)
    # Given which boxes are drawn, each mark is a coin of its own.
    ticked = generator.binomial(drawn, shares)
    return np.stack([drawn - ticked, ticked], axis=1).ravel()


def multinomial(n: int, weights: Sequence[float] | NDArray[np.float64], generator: np.random.Generator) -> Counts:
    """The counts of several outcomes in ``n`` independent draws, with probabilities in proportion to the weights.

    The likeliest outcome is drawn last, so that a rounding error of the weights never falls on an impossible one.
    """
    shares = np.asarray(weights, dtype=float)
    shares = shares / shares.sum()
    order = np.argsort(shares, kind="stable")
    counts = np.empty(len(shares), dtype=np.int64)
    counts[order] = generator.multinomial(n, shares[order])
    return counts


def count_members(
    k: int, size: int, n: int, generator: np.random.Generator, around: NDArray[np.float64] | None = None
) -> Counts:
    """Numbers of ``n`` uniform random sets of options that contain each option.

    Parameters
    ----------
    k, size : int
        Each set has ``size`` of ``k`` options.
    n : int
        Number of sets, independent of each other.
    generator : Generator
    around : ndarray, shape (k,), optional
        If given, each set first draws one option with these probabilities, and then ``size`` of the others.

    Returns
    -------
    ndarray of int64, shape (k,)
        Drawn from the joint distribution of the counts.

    Notes
    -----
    The number of members of a uniform set in the first half of the options is hypergeometric. Given this number, the
    members in either half are a uniform set of that half, independently of the other half. So only the number of sets
    with each number of members is needed for a half, and the halves are halved in turn.

    >>> count_members(3, 3, 5, np.random.default_rng(1)).tolist()
    [5, 5, 5]
    """
    counts = np.zeros(k, dtype=np.int64)
    if n == 0:
        return counts
    # Numbers of sets by their number of members here; at the start all have ``size``.
    plain, held = np.zeros((2, size + 1), dtype=np.int64)
    (plain if around is None else held)[size] = n
    weights = np.zeros(k) if around is None else np.asarray(around, dtype=float)
    _share_out(counts, weights, plain, held, generator)
    return counts


def _share_out(
    counts: Counts, weights: NDArray[np.float64], plain: Counts, held: Counts, generator: np.random.Generator
) -> None:
    """Write the counts of a range of options.

    ``plain[j]`` sets have ``j`` members in the range; ``held[j]`` sets have ``j``, and besides them the option that was
    drawn first.
    """
    if len(counts) == 1:
        # One option is left: every set with a member here has it.
        counts[0] = plain[1:].sum() + held.sum()
        return
    half = len(counts) // 2
    first, second, size = half, len(counts) - half, len(plain)
    total = weights.sum()
    # The first-drawn option lies in the first half in proportion to the weights.
    in_first = generator.binomial(held, weights[:half].sum() / total if total else 0.0)
    nowhere = np.zeros(size, dtype=np.int64)
    both = _split(plain, first, second, generator)
    left = _split(in_first, first - 1, second, generator) if in_first.any() else (nowhere, nowhere)
    right = _split(held - in_first, first, second - 1, generator) if (held - in_first).any() else (nowhere, nowhere)
    _share_out(counts[:half], weights[:half], both[0] + right[0], left[0], generator)
    _share_out(counts[half:], weights[half:], both[1] + left[1], right[1], generator)


def _split(sets: Counts, first: int, second: int, generator: np.random.Generator) -> tuple[Counts, Counts]:
    """Numbers of sets by their number of members in a first and in a second part, from ``sets`` by their size."""
    chances, members = _hypergeometric(first, second, len(sets))
    drawn = generator.multinomial(sets, chances)
    found = np.zeros((2, len(sets)), dtype=np.int64)
    np.add.at(found[0], members, drawn)
    np.add.at(found[1], np.arange(len(sets))[:, None] - members, drawn)
    return found[0], found[1]


@functools.lru_cache(maxsize=1024)
def _hypergeometric(first: int, second: int, size: int) -> tuple[NDArray[np.float64], Counts]:
    """Hypergeometric probabilities of the number of ``j`` members in the first part, and these numbers; rows by ``j``.

    The last column is the largest possible number: a rounding error goes there, and never to an impossible number.
    """
    chances = np.zeros((size, size))
    chances[:, -1] = 1.0  # rows of sets larger than both parts, of which there are none
    members = np.zeros((size, size), dtype=np.int64)
    for j in range(min(size - 1, first + second) + 1):
        every = math.comb(first + second, j)
        for column in range(size):
            inside = min(first, j) - (size - 1 - column)
            if inside >= 0 and j - inside <= second:
                chances[j, column] = math.comb(first, inside) * math.comb(second, j - inside) / every
                members[j, column] = inside
    return chances, members
