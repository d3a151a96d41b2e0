"""Prints how often sentences about two crossed questions are false, and how often they are said where they could.

A page of two crossed questions says between which groups an answer differs. Surveys are drawn over numbers of answers,
differences, sizes and epsilons; in some there is no difference. Reports are made by the mechanisms that authors get.
"""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from deniable import Survey, read_survey
from deniable.table import format_table
from deniable_research.simulation.draw import generator_of, next_words
from deniable_server.language import words as words_in
from deniable_server.results.headlines import certain_differences
from deniable_statistics.intervals import level_of_each
from deniable_statistics.intervals.interval import normal_quantile
from deniable_statistics.joint.conditional import Conditional
from deniable_statistics.joint.conditional_difference import covariance_of, difference_of
from deniable_statistics.views.crossed import difference_rows, possible_within, table_of
from deniable_statistics.views.view_row import JointCounts, ViewOptions, ViewRow
from tools.tables.claims import HEADER, PLAIN, SAID_DIFFERENCE, Judged, figures_of, holds, power

SHAPES = ("alike", "two groups apart", "steps")
LAYOUTS = ((2, 2), (2, 4), (4, 3))
EPSILONS, SIZES = (1.0, 2.0, 4.0), (1000, 4000, 10_000)

SURVEYS = 8
"""Surveys of each situation: 648 of all together."""

PILOT = 50_000
"""People from whom the standard errors are known that power is computed from."""


@dataclass(frozen=True)
class Situation:
    """Two questions: numbers of answers to the first, and to that which makes the groups; what differs; epsilon; n."""

    options: int
    groups: int
    shape: str
    epsilon: float
    n: int

    @property
    def survey(self) -> Survey:
        """The survey, with the mechanisms that are chosen for its epsilon."""
        return read_survey(
            'title = "T"\n'
            + _question("first", self.options, self.epsilon)
            + _question("second", self.groups, self.epsilon)
        )

    @property
    def within(self) -> NDArray[np.float64]:
        """True shares of the first question within each group, shape (options, groups)."""
        plain = np.arange(self.options, 0, -1.0) if self.options > 2 else np.array([0.7, 0.3])
        shares = np.tile((plain / plain.sum())[:, None], (1, self.groups))
        places = np.arange(self.groups)
        moved = {
            "alike": np.zeros(self.groups),
            "two groups apart": np.where(places == self.groups - 1, 0.35, 0.0),
            "steps": 0.35 * places / (self.groups - 1),
        }[self.shape]
        # From the first answer to the last one.
        shares[0] -= moved * shares[0]
        shares[-1] += 1 - shares.sum(axis=0)
        return shares

    @property
    def joint(self) -> NDArray[np.float64]:
        """True shares of all pairs of answers; later groups are smaller."""
        sizes = np.arange(self.groups + 1, 1, -1.0)
        return self.within * sizes / sizes.sum()


def _question(name: str, k: int, epsilon: float) -> str:
    kind = 'type = "yes-no"' if k == 2 else f'type = "choice"\noptions = {[f"{name} {each}" for each in range(k)]}'
    return f'[[questions]]\nid = "{name}"\ntext = "{name}?"\n{kind}\nepsilon = {epsilon}\n'


def drawn(survey: Survey, joint: NDArray[np.float64], n: int, generator: np.random.Generator) -> JointCounts:
    """Pairs of noisy values of ``n`` people who were drawn from a population."""
    answers = np.divmod(generator.choice(joint.size, n, p=joint.ravel()), joint.shape[1])
    values = [
        question.mechanism.randomize_many(each, next_words(generator)).tolist()
        for question, each in zip(survey.questions, answers, strict=True)
    ]
    return [(*pair, number) for pair, number in sorted(Counter(zip(*values, strict=True)).items())]


def powers(situation: Situation, within: Conditional) -> tuple[float, float]:
    """The largest power of a difference of two groups: among all that are compared, and of one test alone.

    ``within`` is of `PILOT` people, whose standard errors are those of ``n`` people times ``sqrt(n / PILOT)``.
    """
    pairs = list(itertools.combinations(range(situation.groups), 2))
    options = _compared(situation)
    each = normal_quantile(level_of_each(0.95, len(pairs) * len(options)))
    covariance, truth = covariance_of(within), situation.within
    best = (0.0, 0.0)
    for option, pair in itertools.product(options, pairs):
        apart = float(truth[option, pair[0]] - truth[option, pair[1]])
        if not math.isclose(apart, 0, abs_tol=1e-12):
            _, error = difference_of(within, covariance, [option * situation.groups + group for group in pair])
            error *= math.sqrt(PILOT / situation.n)
            best = max(best, (power(apart, error, each), power(apart, error, PLAIN)))
    return best


def _compared(situation: Situation) -> range:
    return range(1 if situation.options == 2 else 0, situation.options)


def judge(survey: Survey, rows: Sequence[ViewRow], truth: NDArray[np.float64]) -> list[tuple[bool, bool]]:
    """Whether each sentence has the right direction, and whether its interval as it is worded holds the truth."""
    first, second = survey.questions
    found = []
    for row in rows:
        (said,) = certain_differences([row], words_in("en"), {})
        interval = SAID_DIFFERENCE.search(said)
        assert interval is not None, said
        option = first.options.index(row.option)
        one, other = (second.options.index(each or "") for each in (row.given_option, row.minus))
        apart = float(truth[option, one] - truth[option, other])
        # Said from the larger group, so that no sentence has a negative number.
        apart = math.copysign(1, row.value or 0) * apart
        found.append((apart > 1e-12, holds(interval, apart)))
    return found


def simulate(situation: Situation, surveys: int, seed: int) -> Judged:
    """The sentences of this many surveys."""
    survey, generator, found = situation.survey, generator_of(seed), Judged()
    first, second = survey.questions
    joint = situation.joint
    known = powers(situation, table_of(first, second, drawn(survey, joint, PILOT, generator)).conditional("second"))
    for _ in range(surveys):
        table = table_of(first, second, drawn(survey, joint, situation.n, generator))
        within = table.conditional("second")
        possible = possible_within(table)
        rows = difference_rows(first, second, within, within.share if possible is None else possible, ViewOptions())
        found.page(judge(survey, rows, situation.within), known)
    return found


def situations() -> Iterator[Situation]:
    """All combinations."""
    for (options, groups), shape, epsilon, n in itertools.product(LAYOUTS, SHAPES, EPSILONS, SIZES):
        yield Situation(options, groups, shape, epsilon, n)


def study(surveys: int) -> dict[str, Judged]:
    """The sentences by numbers of answers and shape, and of all together."""
    totals: dict[str, Judged] = {}
    for seed, situation in enumerate(situations()):
        found = simulate(situation, surveys, seed)
        for name in (f"{situation.options} by {situation.groups}, {situation.shape}", "together"):
            totals[name] = totals.get(name, Judged()) + found
    totals["together"] = totals.pop("together")
    return totals


def main() -> None:
    """Print the table: some minutes."""
    surveys = SURVEYS * len(list(situations()))
    print(f"{surveys:,} simulated surveys; options by groups {LAYOUTS}, n {SIZES}, epsilon {EPSILONS}")
    rows = [[name, *figures_of(judged)] for name, judged in study(SURVEYS).items()]
    print(format_table(HEADER, rows, right=set(HEADER[1:])))
