"""Prints how often the sentences of results are false, on simulated surveys whose truth is known.

A sentence is false if it names a most frequent answer that is not a most frequent one, or states an interval that does
not hold the truth. Reports are made by the real mechanisms and sentences by the collector.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from deniable import Question, Survey, Tally, estimate, read_survey
from deniable.table import format_table
from deniable_research.simulation.draw import generator_of, next_words, randomize_people
from deniable_server.results.headlines import Headline, headlines
from deniable_statistics.designs.of_mechanisms import design_of
from deniable_statistics.designs.spaces import tally_array

Shares = tuple[float, ...]

INTERVAL = re.compile(r"between (\S+) and (\S+?)( %)?$")


@dataclass(frozen=True)
class Situation:
    """A question as its author writes it, and the true shares of its answers by cohort; of ticks, of each box."""

    name: str
    question: str
    truth: Mapping[str | None, Shares]
    more: int = 0
    """Questions besides, of which the devices draw."""

    def survey(self, epsilon: float) -> Survey:
        """The survey with this epsilon."""
        cohorts = [each for each in self.truth if each is not None]
        lines = [
            'title = "T"',
            f"cohorts = {cohorts!r}" if cohorts else "",
            f"draw = 1\nepsilon = {epsilon}" if self.more else "",
        ]
        for number in range(1 + self.more):
            own = "" if self.more else f"epsilon = {epsilon}\n"
            lines.append(
                f'[[questions]]\nid = "q{number}"\ntext = "Q{number}?"\n{own}{self.question.format(wave=epsilon / 2)}'
            )
        return read_survey("\n".join(lines) + "\n")


def _choice(name: str, *shares: float, more: str = "") -> Situation:
    options = [f"answer {number}" for number in range(len(shares))]
    return Situation(f"choice, {name}", f'type = "choice"\noptions = {options!r}\n{more}', {None: shares})


def _equal(k: int) -> Situation:
    return _choice(f"{k} equal", *(1 / k,) * k)


YES_NO, BOXES = 'type = "yes-no"', "type = \"ticks\"\noptions = ['a', 'b', 'c', 'd', 'e']"
SCALE = 'type = "scale"\nlo = 1\nhi = 5\ngoal = "{goal}"'

SITUATIONS = (
    *map(_equal, (2, 4, 5, 10)),
    _choice("2 nearly equal", 0.52, 0.48),
    _choice("5 nearly equal", 0.23, 0.21, 0.2, 0.19, 0.17),
    _choice("two ahead alike", 0.4, 0.4, 0.1, 0.1),
    _choice("one ahead", 0.5, 0.2, 0.2, 0.1),
    _choice("one alone", 1.0, 0.0, 0.0),
    _choice("waves", 0.5, 0.3, 0.2, more='mechanism = "longitudinal"\nwave_epsilon = {wave}\n'),
    Situation("yes-no", YES_NO, {None: (0.9, 0.1)}),
    Situation("yes-no, nobody", YES_NO, {None: (1.0, 0.0)}),
    Situation("yes-no, waves", YES_NO + '\nmechanism = "longitudinal"\nwave_epsilon = {wave}', {None: (0.7, 0.3)}),
    Situation("yes-no, drawn questions", YES_NO, {None: (0.7, 0.3)}, more=2),
    Situation("yes-no by cohort", YES_NO, {"north": (0.7, 0.3), "south": (0.85, 0.15), "west": (0.5, 0.5)}),
    Situation(
        "choice by cohort",
        "type = \"choice\"\noptions = ['a', 'b', 'c']",
        {"north": (0.4, 0.3, 0.3), "south": (0.3, 0.4, 0.3)},
    ),
    Situation("ticks, equal", BOXES, {None: (0.3,) * 5}),
    Situation("ticks, one ahead", BOXES, {None: (0.6, 0.3, 0.2, 0.1, 0.1)}),
    Situation("scale, shares", SCALE.replace("{goal}", "shares"), {None: (0.1, 0.2, 0.4, 0.2, 0.1)}),
    Situation("scale, mean", SCALE.replace("{goal}", "mean"), {None: (0.1, 0.2, 0.4, 0.2, 0.1)}),
    Situation("number", 'type = "number"\nlo = 0\nhi = 10', {None: (0.3, *(0.05,) * 8, 0.1, 0.2)}),
)

EPSILONS = (1.0, 2.0, 4.0)
SIZES = (100, 400, 2000)


@dataclass
class Found:
    """What the sentences of a situation said."""

    surveys: int = 0
    sentences: int = 0
    silent: int = 0
    named: int = 0
    wrong_name: int = 0
    intervals: int = 0
    missed: int = 0
    false: int = 0


def judge(found: Found, question: Question, headline: Headline, shares: Shares) -> None:
    """Count one sentence."""
    found.sentences += 1
    interval = INTERVAL.search(headline.said)
    named_wrongly, missed, truth = False, False, 0.0
    if headline.option is not None:
        found.named += 1
        place = question.options.index(headline.option)
        named_wrongly = shares[place] < max(shares)
        truth = shares[place]
    elif headline.what == "Yes":
        truth = shares[1]
    elif headline.what == "Mean":
        numbers = list(map(float, question.options or question.mechanism.answer_range))
        truth = float(np.dot(numbers, shares))
    if interval is None:
        found.silent += headline.option is None
    else:
        low, high = (float(end.replace("\u2212", "-")) for end in interval.groups()[:2])
        scale = 100 if interval[3] else 1
        missed = not low - 1e-9 <= scale * truth <= high + 1e-9
        found.intervals += 1
        found.missed += missed
    found.wrong_name += named_wrongly
    found.false += named_wrongly or missed


def simulate(situation: Situation, epsilon: float, n: int, surveys: int, seed: int) -> Found:
    """The sentences of this many surveys of ``n`` people in each cohort."""
    survey, generator, found = situation.survey(epsilon), generator_of(seed), Found()
    words = next_words(generator)
    for _ in range(surveys):
        tallies: dict[str | None, Tally] = {}
        for cohort, shares in situation.truth.items():
            answers = {question.id: _answers(question, shares, n, generator) for question in survey.questions}
            columns, counts = randomize_people(survey.questions, answers, words), {}
            for question in survey.questions:
                told = columns[question.id].told
                counts[question.id] = tally_array(question.mechanism.reports, told)
                if columns[question.id].asked is not None:
                    counts[question.id] += (len(told),)
            tallies[cohort] = Tally(n, counts)
        rows = estimate(tallies, survey, by_cohort=None not in situation.truth)
        found.surveys += 1
        question = survey.questions[0]
        for headline in headlines(question, [row for row in rows if row.question == question.id]):
            judge(found, question, headline, situation.truth[headline.cohort])
    return found


def _answers(question: Question, shares: Shares, n: int, generator: np.random.Generator) -> np.ndarray:
    """True answers of people drawn from the population."""
    if not design_of(question.mechanism).is_exclusive:
        return generator.random((n, len(shares))) < shares
    first = question.mechanism.answer_range[0]
    return first + generator.choice(len(shares), n, p=np.array(shares) / sum(shares))


def all_situations(surveys: int) -> Iterator[tuple[Situation, Found]]:
    """Every situation with its sentences over all epsilons and sizes."""
    for number, situation in enumerate(SITUATIONS):
        total = Found()
        for step, (epsilon, n) in enumerate((epsilon, n) for epsilon in EPSILONS for n in SIZES):
            for name, value in vars(simulate(situation, epsilon, n, surveys, seed=100 * number + step)).items():
                setattr(total, name, getattr(total, name) + value)
        yield situation, total


def table(surveys: int) -> tuple[str, Found]:
    """One row for each situation, and all of them together."""
    rows, together = [], Found()
    for situation, found in all_situations(surveys):
        for name, value in vars(found).items():
            setattr(together, name, getattr(together, name) + value)
        rows.append(_row(situation.name, found))
    rows.append(_row("together", together))
    header = ["situation", "surveys", "sentences", "no interval", "named", "wrong name", "interval held", "false"]
    return format_table(header, rows, right=header[1:]), together


def _row(name: str, found: Found) -> list[str]:
    held = f"{1 - found.missed / found.intervals:.4f}" if found.intervals else ""
    false = f"{found.false / found.sentences:.4f}" if found.sentences else ""
    counts = (found.surveys, found.sentences, found.silent, found.named, found.wrong_name)
    return [name, *map(str, counts), held, false]


def main() -> None:
    """Print the table: some minutes."""
    print(f"{9 * 11 * len(SITUATIONS):,} simulated surveys; epsilon {EPSILONS}, n {SIZES}")
    print(table(11)[0])
