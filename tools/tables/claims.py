"""Prints how often sentences about order and about differences are false, and how often they are said where they could.

Three kinds of sentences are judged, as pages say them: which answer is the most frequent one, with the interval in the
sentence to print; where none is for certain, how far the answer with the largest estimate may be ahead or behind; and
in which cohort an answer is more frequent than in another. Surveys are drawn over numbers of options, shares, sizes,
epsilons, with and without cohorts; reports are made by the real mechanisms.
"""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from deniable import Question, Survey, Tally, estimate, read_survey
from deniable.table import format_table
from deniable_research.simulation.draw import generator_of, next_words
from deniable_server.language import words as words_in
from deniable_server.results.headlines import Headline, certain_differences, headlines
from deniable_statistics.designs.of_mechanisms import design_of
from deniable_statistics.designs.spaces import tally_array
from deniable_statistics.intervals import level_of_each
from deniable_statistics.intervals.interval import normal_quantile
from deniable_statistics.views.view_row import ViewOptions, ViewRow
from deniable_statistics.views.view_rows import view_of

OPTIONS, SIZES, EPSILONS = (4, 5, 10), (200, 1000, 5000), (0.5, 1.0, 2.0)
SHAPES = ("equal", "one ahead", "steps")
COHORTS = ("north", "south", "west")
PLAIN = normal_quantile(0.95)

SURVEYS = 13
"""Surveys of each situation: 2,106 of all together."""

SAID_DIFFERENCE = re.compile(r"percentage points? \((\S+) to (\S+)\)")
SAID_LEAD = re.compile(
    r"may be up to (\d+) percentage points? behind another answer, or up to (\d+) ahead of all others"
)
PRINTED_SHARE = re.compile(r" % \((\S+) to (\S+) %; ")


@dataclass(frozen=True)
class Situation:
    """What is asked, of how many people in all, and whether they are in three cohorts of equal size."""

    k: int
    shape: str
    n: int
    epsilon: float
    in_cohorts: bool

    @property
    def survey(self) -> Survey:
        """The survey, with the mechanism that is chosen for its epsilon."""
        options = [f"answer {number}" for number in range(self.k)]
        cohorts = f"cohorts = {list(COHORTS)}\n" if self.in_cohorts else ""
        return read_survey(
            f'title = "T"\n{cohorts}[[questions]]\nid = "q"\ntype = "choice"\ntext = "Q?"\n'
            f"options = {options}\nepsilon = {self.epsilon}\n"
        )

    @property
    def truth(self) -> Mapping[str | None, NDArray[np.float64]]:
        """True shares by cohort; unequal ones begin with another option in the last cohort."""
        shares = {
            "equal": np.ones(self.k),
            "one ahead": np.array([0.6 * (self.k - 1), *[1.0] * (self.k - 1)]),
            "steps": np.arange(self.k, 0, -1.0),
        }[self.shape]
        shares = shares / shares.sum()
        if not self.in_cohorts:
            return {None: shares}
        return {cohort: np.roll(shares, cohort == COHORTS[-1]) for cohort in COHORTS}


@dataclass
class Judged:
    """Sentences of one kind, and the pages on which they could stand.

    Attributes
    ----------
    pages, false : int
        Pages, and those of them with a false sentence: a wrong order, or an interval that does not hold the truth.
    possible, said : int
        Pages on which a sentence has the power .9 by the comparison that decides, and those that say one.
    plain, said_plain : int
        The same, with the power .9 of one test of level .05 alone.
    sentences, held : int
        Sentences, and those that hold: a right order, and an interval, where it has one, around the truth as it is
        worded.
    """

    pages: int = 0
    false: int = 0
    possible: int = 0
    said: int = 0
    plain: int = 0
    said_plain: int = 0
    sentences: int = 0
    held: int = 0

    def __add__(self, other: Judged) -> Judged:
        return Judged(*(mine + theirs for mine, theirs in zip(vars(self).values(), vars(other).values(), strict=True)))

    def page(self, sentences: Sequence[tuple[bool, bool]], powers: tuple[float, float]) -> None:
        """Count a page: of each sentence whether it is in the right order, and whether its interval holds."""
        self.pages += 1
        self.false += not all(order and held for order, held in sentences)
        self.sentences += len(sentences)
        self.held += sum(order and held for order, held in sentences)
        decides, plain = (power >= 0.9 for power in powers)
        self.possible += decides
        self.said += decides and bool(sentences)
        self.plain += plain
        self.said_plain += plain and bool(sentences)


@dataclass
class Found:
    """All kinds of sentences."""

    most: Judged = field(default_factory=Judged)
    leads: Judged = field(default_factory=Judged)
    differences: Judged = field(default_factory=Judged)


def drawn_tally(question: Question, shares: NDArray[np.float64], n: int, generator: np.random.Generator) -> Tally:
    """The tally of ``n`` people who were drawn from a population."""
    answers = generator.choice(len(shares), n, p=shares)
    reports = question.mechanism.randomize_many(answers, next_words(generator))
    return Tally(n, {question.id: tally_array(question.mechanism.reports, reports)})


def power(apart: float, error: float, z: float) -> float:
    """The normal approximation to the power of a two-sided test of a difference with this standard error."""
    return 0.5 * math.erfc(-(abs(apart) / error - z) / math.sqrt(2))


def power_of_most(question: Question, shares: NDArray[np.float64], n: int) -> tuple[float, float]:
    """The power to name the most frequent answer: by the comparison with all others, and by one test of two answers."""
    first, second = np.sort(shares)[::-1][:2]
    if math.isclose(first, second):
        return 0.0, 0.0
    order = np.argsort(-shares)
    covariance = covariance_at(question, shares, n)[np.ix_(order, order)]
    # Half of the error probability belongs to the interval; see `leading.most_frequent`.
    each = normal_quantile(level_of_each(0.975, len(shares) - 1))
    apart = np.sort(shares)[::-1][0] - np.sort(shares)[::-1][1:]
    errors = np.sqrt(covariance[0, 0] + covariance.diagonal()[1:] - 2 * covariance[0, 1:])
    # It is named only where it beats all others, which is at least this likely (Bonferroni).
    missed = sum(1 - power(float(gap), float(error), each) for gap, error in zip(apart, errors, strict=True))
    return max(1 - missed, 0.0), power(float(apart[0]), float(errors[0]), PLAIN)


def covariance_at(question: Question, shares: NDArray[np.float64], n: int) -> NDArray[np.float64]:
    """The covariance of the estimated shares of ``n`` people."""
    design = design_of(question.mechanism)
    return np.asarray(design.covariance([n * each for each in design.expected(shares.tolist())], n))


def power_of_differences(
    question: Question, truth: Mapping[str | None, NDArray[np.float64]], n: int
) -> tuple[float, float]:
    """The largest power of a difference of two cohorts: among all that are compared, and of one test alone."""
    pairs = list(itertools.combinations(truth, 2))
    each = normal_quantile(level_of_each(0.95, len(pairs) * len(question.options)))
    best = (0.0, 0.0)
    for first, second in pairs:
        apart = truth[first] - truth[second]
        variances = (covariance_at(question, truth[cohort], n).diagonal() for cohort in (first, second))
        errors = np.sqrt(sum(variances, np.zeros(len(apart))))
        for gap, error in zip(apart.tolist(), errors.tolist(), strict=True):
            if not math.isclose(gap, 0, abs_tol=1e-12):
                best = max(best, (power(gap, error, each), power(gap, error, PLAIN)))
    return best


def judge_most(question: Question, said: Sequence[Headline], shares: NDArray[np.float64]) -> list[tuple[bool, bool]]:
    """Whether the sentence that names the most frequent answer is right, and whether its printed interval holds."""
    found = []
    for each in said:
        if each.option is not None:
            share = float(shares[question.options.index(each.option)])
            interval = PRINTED_SHARE.search(each.printed)
            assert interval is not None, each.printed
            found.append((math.isclose(share, float(shares.max())), holds(interval, share)))
    return found


def judge_leads(question: Question, said: Sequence[Headline], shares: NDArray[np.float64]) -> list[tuple[bool, bool]]:
    """Whether the lead of the answer with the largest estimate is as far behind or ahead as a sentence says."""
    found = []
    for each in said:
        if each.largest is not None:
            option = question.options.index(each.largest)
            points = 100 * float(shares[option] - np.delete(shares, option).max())
            lead = SAID_LEAD.search(each.sentence)
            assert lead is not None, each.sentence
            found.append((True, -int(lead[1]) - 1e-9 <= points <= int(lead[2]) + 1e-9))
    return found


def judge_differences(
    rows: Sequence[ViewRow], truth: Mapping[str | None, NDArray[np.float64]]
) -> list[tuple[bool, bool]]:
    """Whether each sentence about a difference has the right direction, and whether its interval holds."""
    found = []
    options = list(dict.fromkeys(row.option for row in rows))
    for said in certain_differences(rows, words_in("en"), {}):
        option, _, rest = said.partition(": more frequent in ")
        more, _, rest = rest.partition(" than in ")
        less = rest.partition(",")[0]
        place = options.index(option)
        apart = float(truth[more][place] - truth[less][place])
        interval = SAID_DIFFERENCE.search(said)
        assert interval is not None, said
        found.append((apart > 1e-12, holds(interval, apart)))
    return found


def holds(interval: re.Match[str], share: float) -> bool:
    """Whether an interval as it is worded holds a share."""
    low, high = (float(end.replace("\u2212", "-")) for end in interval.groups())
    return low - 1e-9 <= 100 * share <= high + 1e-9


def simulate(situation: Situation, surveys: int, seed: int) -> Found:
    """The sentences of this many surveys."""
    survey, truth, generator, found = situation.survey, situation.truth, generator_of(seed), Found()
    (question,) = survey.questions
    n = situation.n // len(truth)
    whole = np.mean(list(truth.values()), axis=0)
    most = power_of_most(question, whole, n * len(truth))
    apart = power_of_differences(question, truth, n) if situation.in_cohorts else (0.0, 0.0)
    for _ in range(surveys):
        tallies = {cohort: drawn_tally(question, shares, n, generator) for cohort, shares in truth.items()}
        rows = estimate(tallies, survey)
        said = headlines(question, rows)
        found.most.page(judge_most(question, said, whole), most)
        found.leads.page(judge_leads(question, said, whole), (0.0, 0.0))
        if situation.in_cohorts:
            compared = view_of(survey, tallies, "q", ViewOptions(compare=True))
            found.differences.page(judge_differences(compared, truth), apart)
    return found


def situations() -> Iterator[Situation]:
    """All combinations."""
    for k, shape, n, epsilon, in_cohorts in itertools.product(OPTIONS, SHAPES, SIZES, EPSILONS, (False, True)):
        yield Situation(k, shape, n, epsilon, in_cohorts)


def study(surveys: int) -> dict[str, Found]:
    """The sentences by number of options and shape, and of all together."""
    totals: dict[str, Found] = {}
    for seed, situation in enumerate(situations()):
        found = simulate(situation, surveys, seed)
        for name in (f"{situation.k} options, {situation.shape}", "together"):
            total = totals.setdefault(name, Found())
            total.most += found.most
            total.leads += found.leads
            total.differences += found.differences
    totals["together"] = totals.pop("together")
    return totals


HEADER = [
    "kind",
    "pages",
    "false",
    "power .9",
    "said",
    "of one test",
    "said",
    "sentences",
    "true",
]


def table(totals: Mapping[str, Found]) -> str:
    """A row for each situation and kind of sentence."""
    rows = []
    for name, found in totals.items():
        kinds = (("most frequent", found.most), ("leads", found.leads), ("differences", found.differences))
        for kind, judged in kinds:
            if judged.pages:
                rows.append([f"{kind}, {name}", *figures_of(judged)])
    return format_table(HEADER, rows, right=set(HEADER[1:]))


def figures_of(judged: Judged) -> list[str]:
    """The columns of `HEADER` after the kind."""
    return [
        f"{judged.pages}",
        f"{judged.false / judged.pages:.4f}",
        f"{judged.possible}",
        f"{judged.said / judged.possible:.3f}" if judged.possible else "",
        f"{judged.plain}",
        f"{judged.said_plain / judged.plain:.3f}" if judged.plain else "",
        f"{judged.sentences}",
        f"{judged.held / judged.sentences:.4f}" if judged.sentences else "",
    ]


def main() -> None:
    """Print the table: some minutes."""
    surveys = SURVEYS * len(list(situations()))
    print(f"{surveys:,} simulated surveys; options {OPTIONS}, n {SIZES}, epsilon {EPSILONS}")
    print(table(study(SURVEYS)))
