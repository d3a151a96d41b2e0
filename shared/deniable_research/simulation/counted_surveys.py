"""Drawing what is counted of a survey, without its people: as quick for a hundred million as for a hundred.

Estimates need to know how many reports support each option. These counts are drawn here in the very distribution that
they have if every person is drawn and every device randomises (`draw_reports`), up to the rounding of probabilities to
floats. Why, is said at each step; all of them rest on this: people are drawn independently of each other, and each
answers the questions independently of each other.

* Where a report supports one option, the report of a person is one of ``k`` with the probabilities ``A f``, and counts
  of independent ones are multinomial.
* Tick boxes are independent of each other, truths and coins alike, so each count is a binomial of its own.
* A subset, the boxes that a device draws and the questions that it asks are uniform sets of a given size, some of them
  around a truth; `count_members` says how these are counted. A k-ary response is with some probability a uniform value
  and else the truth; given which of both, the marks of drawn boxes are independent of each other.
* Who misbehaves does so at every question, and who is asked one question of a group may not be asked another. So both
  are counted first, once for all questions; given these numbers the questions are independent.
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
from deniable_research.simulation.misbehaviour import Misbehaviour, first_report
from deniable_research.simulation.truth import Truth
from deniable_statistics.designs.of_mechanisms import design_of

Counts = NDArray[np.int64]

CountSampler = Callable[[int, np.random.Generator], Counts]
"""How often each option is supported by so many independent reports."""


class ReportCounts(NamedTuple):
    """What is counted of one question: how many reports support each option, and how many there are."""

    counts: tuple[int, ...]
    n: int


@dataclass(frozen=True)
class CountedQuestion:
    """One question, and the law of the reports of each kind of people.

    Attributes
    ----------
    id : str
    options : int
        Number of options that a report can support.
    kept, spread : CountSampler
        Of people who do as they are told: with a joint response those of whose answers it reports as they are, and
        those of whom it reports anything; otherwise both are the same law of all their reports.
    denied : CountSampler
        Of people who answer the first option, like ``kept``.
    refused, careless : CountSampler
    """

    id: str
    options: int
    kept: CountSampler
    spread: CountSampler
    denied: CountSampler
    refused: CountSampler
    careless: CountSampler


class CountedSurvey:
    """The laws of what is counted of a survey; made once, drawn from often.

    Parameters
    ----------
    truths : sequence of Truth
        Of every question.
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
        """What is counted of one survey, by question."""
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
    """What is counted of one survey of people who are drawn anew; `CountedSurvey` draws many of the same.

    >>> from deniable import Question, Survey, TwoCoin
    >>> from deniable_research.simulation import generator_of, truth_of
    >>> survey = Survey("T", (Question("q", "yes-no", "Q?", ("no", "yes"), TwoCoin("1/2", "1/2")),))
    >>> told = draw_counts(truth_of(survey, {"q": 0.3}), 10**9, Misbehaviour(), generator_of(1))["q"]
    >>> told.n, round(told.counts[1] / told.n, 3)        # 0.25 + 0.5 * 0.3
    (1000000000, 0.4)
    """
    return CountedSurvey(truths, misbehaviour).draw(people, generator)


def _kinds(misbehaviour: Misbehaviour, people: int, generator: np.random.Generator) -> list[int]:
    """How many refuse, deny, are careless, and do as they are told."""
    shares = (misbehaviour.noncompliance, misbehaviour.denial, misbehaviour.careless)
    kinds: list[int] = multinomial(people, [*shares, max(1 - math.fsum(shares), 0.0)], generator).tolist()
    return kinds


def _spread(response: KAry | None, people: int, generator: np.random.Generator) -> int:
    """How many people's joint response is a pattern drawn uniformly instead of their own."""
    return 0 if response is None else int(generator.binomial(people, float(response.k * response.support[0].if_other)))


def _asked(group: Group | None, people: int, generator: np.random.Generator) -> Sequence[int]:
    """How many are asked each question of a unit."""
    return [people] if group is None else count_members(group.size, group.draw, people, generator).tolist()


def _counted(truth: Truth) -> CountedQuestion:
    question, mechanism = truth.question, truth.question.mechanism
    first = [0.0 if truth.boxes else float(place == 0) for place in range(len(truth.shares))]
    laws = samplers_of(mechanism)
    if question.group is not None and question.group.joint is not None:
        spread = _one_of(np.ones(mechanism.k))
        kept, denied = _one_of(truth.shares), _one_of(first)
    else:
        kept = spread = laws.told(truth.shares)
        denied = laws.told(first)
    return CountedQuestion(question.id, mechanism.reports.size, kept, spread, denied, laws.refused, laws.careless)


class CountSamplers(NamedTuple):
    """How often options are supported by the reports of a mechanism.

    Attributes
    ----------
    told : callable
        The law of the reports of people with these shares of true answers: of all answers in order, adding up to 1; of
        boxes of each box alone, people ticking them independently.
    refused : CountSampler
        Of people who report the first option as it is, as `first_reports` draws them.
    careless : CountSampler
        Of people who send any report, all being equally likely, as `ReportSpace.uniform` draws them.
    """

    told: Callable[[Sequence[float]], CountSampler]
    refused: CountSampler
    careless: CountSampler


@functools.singledispatch
def samplers_of(mechanism: Mechanism) -> CountSamplers:
    """The laws of a mechanism: here of one whose reports support one option, below by what else reports may be."""
    if not mechanism.reports.supports_one:
        raise ParameterError(f"mechanism {mechanism.name}: its counts can be drawn only with its people")
    design = design_of(mechanism)
    first: Any = first_report(mechanism)
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
    """A subset that holds the truth weighs ``inside``, another one less.

    That is the lesser weight for every subset, and the rest for those that hold the truth: with some probability a
    uniform subset, and else a uniform one of those around the truth.
    """
    k, w = mechanism.k, mechanism.w
    even, around = math.comb(k, w) * UNIT, math.comb(k - 1, w - 1) * (mechanism.inside - UNIT)
    # Two kinds of subsets: uniform over all, and uniform among those around the truth.
    held = int(generator.binomial(n, around / (even + around)))
    return count_members(k, w, n - held, generator) + count_members(k, w - 1, held, generator, shares)


def _drawn_boxes(mechanism: DrawnBoxes, shares: NDArray[np.float64], n: int, generator: np.random.Generator) -> Counts:
    spread = _spread(mechanism.patterns, n, generator)
    kept = _marks(mechanism, shares, n - spread, generator)
    return kept + _marks(mechanism, np.full(mechanism.k, 0.5), spread, generator)


def _marks(mechanism: DrawnBoxes, shares: NDArray[np.float64], n: int, generator: np.random.Generator) -> Counts:
    """How often boxes are reported as not ticked and as ticked, of reports whose marks are independent."""
    drawn = count_members(mechanism.k, mechanism.s, n, generator)
    # Given which boxes are drawn, each mark is a coin of its own.
    ticked = generator.binomial(drawn, shares)
    return np.stack([drawn - ticked, ticked], axis=1).ravel()


def multinomial(n: int, weights: Sequence[float] | NDArray[np.float64], generator: np.random.Generator) -> Counts:
    """How often each of several outcomes comes in ``n`` independent draws.

    The likeliest is drawn last: what rounding leaves over goes to it, and never to an outcome that is impossible.
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
    """How many of ``n`` uniform sets of options hold each option.

    Parameters
    ----------
    k, size : int
        Sets of so many out of ``k`` options.
    n : int
        Number of sets, independent of each other.
    generator : Generator
    around : ndarray, shape (k,), optional
        Then each set holds one option more, first drawn with these probabilities: the sets are of ``size`` others.

    Returns
    -------
    ndarray of int64, shape (k,)
        In the joint distribution of these counts.

    Notes
    -----
    How many members of a uniform set are in the first half of the options is hypergeometric. Given that, its members in
    the first half are a uniform set of so many of them, those in the second half too, and the two are independent. So
    sets with equally many members in a half are alike there, whatever is in the other, and each half is halved again.

    >>> count_members(3, 3, 5, np.random.default_rng(1)).tolist()
    [5, 5, 5]
    """
    counts = np.zeros(k, dtype=np.int64)
    if n == 0:
        return counts
    # Sets by how many members they have here; at the start all have the same number.
    plain, held = np.zeros((2, size + 1), dtype=np.int64)
    (plain if around is None else held)[size] = n
    weights = np.zeros(k) if around is None else np.asarray(around, dtype=float)
    _share_out(counts, weights, plain, held, generator)
    return counts


def _share_out(
    counts: Counts, weights: NDArray[np.float64], plain: Counts, held: Counts, generator: np.random.Generator
) -> None:
    """Write the counts of a range of options.

    ``plain[j]`` sets have ``j`` members here; ``held[j]`` have ``j`` and besides these the option that they are around.
    """
    if len(counts) == 1:
        counts[0] = plain[1:].sum() + held.sum()
        return
    half = len(counts) // 2
    first, second, size = half, len(counts) - half, len(plain)
    total = weights.sum()
    # Whose extra option is in the first half: its weight there, among all that is left.
    in_first = generator.binomial(held, weights[:half].sum() / total if total else 0.0)
    nowhere = np.zeros(size, dtype=np.int64)
    both = _split(plain, first, second, generator)
    left = _split(in_first, first - 1, second, generator) if in_first.any() else (nowhere, nowhere)
    right = _split(held - in_first, first, second - 1, generator) if (held - in_first).any() else (nowhere, nowhere)
    _share_out(counts[:half], weights[:half], both[0] + right[0], left[0], generator)
    _share_out(counts[half:], weights[half:], both[1] + left[1], right[1], generator)


def _split(sets: Counts, first: int, second: int, generator: np.random.Generator) -> tuple[Counts, Counts]:
    """How many sets of each size have each number of members in a first and in a second part."""
    chances, members = _hypergeometric(first, second, len(sets))
    drawn = generator.multinomial(sets, chances)
    found = np.zeros((2, len(sets)), dtype=np.int64)
    np.add.at(found[0], members, drawn)
    np.add.at(found[1], np.arange(len(sets))[:, None] - members, drawn)
    return found[0], found[1]


@functools.lru_cache(maxsize=1024)
def _hypergeometric(first: int, second: int, size: int) -> tuple[NDArray[np.float64], Counts]:
    """Chances that of ``j`` members so many are in the first part, and how many that is; rows by ``j``.

    The last column is the largest possible number, so that what rounding leaves over goes to no impossible one.
    """
    chances = np.zeros((size, size))
    chances[:, -1] = 1.0  # of sets that are too large for both parts, which there are none of
    members = np.zeros((size, size), dtype=np.int64)
    for j in range(min(size - 1, first + second) + 1):
        every = math.comb(first + second, j)
        for column in range(size):
            inside = min(first, j) - (size - 1 - column)
            if inside >= 0 and j - inside <= second:
                chances[j, column] = math.comb(first, inside) * math.comb(second, j - inside) / every
                members[j, column] = inside
    return chances, members
