"""``deniable plan``"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import click

from deniable.mechanisms import KAry, TwoCoin
from deniable.survey.document import Survey
from deniable_commands.main import example
from deniable_commands.numbers import Number
from deniable_research.commands.levels import LEVEL
from deniable_research.commands.options import FILE, format_option, plot_option, refuse
from deniable_research.output import to_json
from deniable_research.pictures import save_picture
from deniable_research.plans.plan_charts import epsilon_chart, survey_chart
from deniable_research.plans.plan_text import is_among, meaning, plans_table
from deniable_statistics.authoring.authoring import read_survey
from deniable_statistics.authoring.cautions import release_warning
from deniable_statistics.authoring.outlook import RESPONDENTS, outlook
from deniable_statistics.authoring.respondents import comparison, group_sentences
from deniable_statistics.planning.among import share_precision_among
from deniable_statistics.planning.checks import MOST_PEOPLE
from deniable_statistics.planning.noise_model import NoiseModel, least_noise
from deniable_statistics.planning.plans import (
    EpsilonPlan,
    Estimand,
    Plan,
    PowerPlan,
    SizePlan,
    SplitPlan,
    WidthPlan,
    estimands_of,
)
from deniable_statistics.published.csv_cells import csv_lines

SHARES = (0.5, 0.1)
"""Shares that are planned for by default: the one with the largest sampling error, and a rare one."""

MOST_NAMED = 5
"""Most questions of a survey for which an error says what to write."""


@dataclass(frozen=True)
class PlanRequest:
    """The options of ``deniable plan``."""

    epsilons: tuple[float, ...]
    truth: str | None
    yes: str
    options: int
    file: Path | None
    shares: tuple[float, ...]
    width: float | None
    respondents: int | None
    against: float | None
    cohorts: int
    power: float
    confidence: float
    one_sided: bool
    exact: bool
    questions: int | None
    applies: float | None
    form: str
    picture: Path | None

    @property
    def tests(self) -> bool:
        """Whether a test of a share is planned."""
        return self.against is not None

    @property
    def splits(self) -> bool:
        """Whether several questions split one epsilon."""
        return self.questions is not None

    @property
    def noises(self) -> list[NoiseModel]:
        """The noise of a question at each epsilon, or with the given coins."""
        if self.truth is None:
            return [NoiseModel.with_least(self.options, epsilon) for epsilon in self.epsilons]
        # A yes-no question takes two coins; more options take a coin and a fair die.
        binary = self.options == 2
        return [
            NoiseModel.through(TwoCoin(self.truth, self.yes) if binary else KAry.from_coin(self.options, self.truth))
        ]

    @property
    def estimands(self) -> list[Estimand]:
        """The shares to plan for of one question, at each epsilon or with the given coins."""
        shares = self.shares or SHARES
        if self.applies is None:
            return [Estimand.of_share("", noise, share) for noise in self.noises for share in shares]
        if self.truth is not None:
            mechanism = KAry.from_coin(self.options + 1, self.truth)
            among = [(share, share_precision_among(mechanism, share, self.applies)) for share in shares]
            return [Estimand("", "among", share, precision) for share, precision in among]
        return [
            Estimand.of_share_among(self.options, epsilon, share, self.applies)
            for epsilon in self.epsilons
            for share in shares
        ]

    @property
    def seeks_epsilon(self) -> bool:
        """Whether the epsilon is what is asked for: people and a half width are given, and no noise."""
        noise = bool(self.epsilons) or self.truth is not None or self.file is not None
        return not noise and self.respondents is not None and self.width is not None and not self.tests

    @property
    def asked(self) -> str:
        """What is planned, in a sentence, for one question; sizes and widths stand in the sentence that follows."""
        shares = ", ".join(f"{100 * share:g} %" for share in self.shares or SHARES)
        question = "a yes-no question" if self.options == 2 else f"a choice of {self.options} options"
        if self.questions is not None:
            question = f"{self.questions} questions that share one epsilon, each {question}"
        if self.applies is not None:
            question += f" that applies to {100 * self.applies:g} % of all people"
        if self.seeks_epsilon:
            noise = "epsilon is what is asked for"
        elif self.truth is not None:
            otherwise = f"yes with probability {self.yes}" if self.options == 2 else "an option by chance"
            noise = f"truth with probability {self.truth}, otherwise {otherwise}"
        else:
            # Parts of a shared epsilon, and questions with a filter, have other mechanisms than this question alone.
            is_plain = self.questions is None and self.applies is None
            names = [f" ({least_noise(self.options, epsilon)})" if is_plain else "" for epsilon in self.epsilons]
            parts = [f"{epsilon:g}{name}" for epsilon, name in zip(self.epsilons, names, strict=True)]
            noise = f"epsilon {', '.join(parts)}"
        return f"Planned: {question}; {noise}; true share {shares}; confidence level {100 * self.confidence:g} %."

    def side(self, share: float | None) -> str:
        """The alternative hypothesis of a test of this share."""
        # Without a share, as for a mean, there is no side.
        if not self.one_sided or share is None or self.against is None:
            return "two-sided"
        return "greater" if share > self.against else "less"


FORBIDDEN: tuple[tuple[Callable[[PlanRequest], Any], str], ...] = (
    (
        lambda r: not r.seeks_epsilon and sum((bool(r.epsilons), r.truth is not None, r.file is not None)) != 1,
        "give one of --epsilon, --truth and --survey, or --respondents and --width for the epsilon that they take",
    ),
    (
        lambda r: r.seeks_epsilon and r.picture is not None,
        "--plot goes with --epsilon, --truth or --survey",
    ),
    (lambda r: r.tests and not r.shares, "--against needs --share, the other one of the two"),
    (lambda r: r.tests and r.width is not None, "--against goes with --power, not with --width"),
    (lambda r: r.applies is not None and r.tests, "--applies goes with --width or --respondents, not with --against"),
    (
        lambda r: r.applies is not None and r.splits,
        "--applies goes with one question or a survey, not with --questions",
    ),
    (
        lambda r: r.applies is not None and r.seeks_epsilon,
        "--applies needs --epsilon, --truth or --survey: the epsilon among those to whom it applies is not searched",
    ),
    (lambda r: r.one_sided and not r.tests, "--one-sided goes with --against"),
    (lambda r: r.exact and not (r.tests and r.cohorts == 1), "--exact goes with --against and --cohorts 1"),
    (lambda r: r.splits and not r.epsilons, "--questions needs --epsilon, to be split"),
    (lambda r: r.splits and r.tests, "--questions goes with --width, not with --against"),
    (lambda r: r.splits and r.respondents is not None, "--questions goes with --width, not with --respondents"),
    (lambda r: r.options != 2 and r.file is not None, "--options goes with one question, not with --survey"),
    (lambda r: r.yes != "1/2" and (r.truth is None or r.options != 2), "--yes goes with --truth, for yes or no"),
)
"""Combinations of options that are refused, each with its sentence; the first one that holds is raised."""


@click.command(
    epilog=example(
        "deniable plan --epsilon 1 --share 0.1 --width 0.05",
        "deniable plan --truth 1/2 --respondents 1000 --plot widths.svg",
        "deniable plan --survey my-survey.toml --respondents 1000",
        "deniable plan --epsilon 1 --options 3 --applies 0.2",
        "deniable plan --respondents 400 --width 0.1",
        "deniable plan --epsilon 1 --share 0.1 --against 0.15 --power 0.8",
        "deniable plan --options 5 --epsilon 1 --share 0.2 --against 0.3",
        "deniable plan --epsilon 1 --share 0.2 --against 0 --cohorts 1 --exact",
        "deniable plan --epsilon 2 --options 5 --questions 4 --share 0.1",
    )
)
@click.option(
    "--epsilon",
    "epsilons",
    type=Number(),
    multiple=True,
    help="Epsilon (privacy loss) of an answer. May be repeated.",
)
@click.option("--truth", metavar="P", help="Instead of epsilon: the probability of telling the truth, such as 1/2.")
@click.option(
    "--yes",
    metavar="P",
    default="1/2",
    show_default=True,
    help="With --truth: the probability of a random answer being yes.",
)
@click.option(
    "--options",
    type=click.IntRange(2),
    default=2,
    show_default=True,
    help="Number of options: 2 for a yes-no question, more for a choice.",
)
@click.option(
    "--survey",
    "file",
    metavar="FILE",
    type=FILE,
    help="Plan every question of this survey, instead of a single question.",
)
@click.option(
    "--share",
    "shares",
    type=Number(),
    multiple=True,
    help="The true share to plan for; by default 0.5 and 0.1, and needed with --against.",
)
@click.option(
    "--applies",
    type=Number(),
    metavar="SHARE",
    help=(
        "Plan for a question with a filter that applies to this share of all people, and estimate among "
        "those. With --survey, this concerns its questions with filters; otherwise --options does not "
        "count 'does not apply'."
    ),
)
@click.option(
    "--width",
    type=Number(),
    metavar="H",
    help="Desired margin of error (half width of the interval): 0.05, the default, means ±5 points.",
)
@click.option(
    "--respondents", type=click.IntRange(2, MOST_PEOPLE), metavar="N", help="Number of people who will answer."
)
@click.option(
    "--against",
    type=Number(),
    metavar="SHARE",
    help="Test the share against this other share, for one question. With --options: for one option chosen beforehand.",
)
@click.option(
    "--cohorts",
    type=click.IntRange(1, 2),
    default=2,
    show_default=True,
    help="With --against: 1 if the other share is known, 2 if it is that of a second cohort of the same size.",
)
@click.option("--power", type=Number(), default=0.8, show_default=True, help="Desired power of the test.")
@click.option(
    "--confidence",
    type=LEVEL,
    default=0.95,
    show_default=True,
    help="Confidence level of the intervals. The significance level of tests is 1 minus this.",
)
@click.option("--one-sided", is_flag=True, help="With --against: a one-sided test, in the direction of the share.")
@click.option(
    "--exact",
    is_flag=True,
    help="With --cohorts 1: exact binomial power, and the sample size from which it never drops below --power.",
)
@click.option(
    "--questions",
    type=click.IntRange(2),
    metavar="D",
    help="Number of such questions that share one epsilon: compare asking all of them with asking one at random.",
)
@format_option
@plot_option("the result against epsilon, or the questions of a survey side by side")
def plan(**given: Any) -> None:
    """Compute the sample size of a survey, or the precision of a given sample size.

    Give what you know. With --respondents and --width and no epsilon: the epsilon that is needed. With --width: the
    sample size. With --respondents: the margin of error and the smallest difference that can be detected between
    two cohorts. With --against: the sample size, or the power with the given respondents.

    For comparison, the table also shows direct questions and a trusted curator, who sees the true answers and adds
    noise to what is published. It says how biased direct answers may be before the noisy ones are better.
    """
    asked = PlanRequest(**given)
    # Its sentence names the questions, so the survey is read for it.
    if asked.tests and asked.file is not None:
        raise click.UsageError(_one_question(asked, read_survey(path=asked.file)))
    refuse(asked, FORBIDDEN)
    survey = None if asked.file is None else read_survey(path=asked.file)
    plans = _plans(asked, survey)
    # A survey releases results of a cohort from a size on, which authors must know before fieldwork.
    if survey is not None and asked.respondents and (warning := release_warning(survey, asked.respondents)):
        click.secho(f"Warning: {warning}", fg="yellow", err=True)
    # All figures before anything is printed, so that a refusal leaves no output.
    rows = [each.row() for each in plans]
    if asked.form == "csv":
        # The first row once for its keys, which are the header.
        click.echo("".join(csv_lines([rows[0], *(row.values() for row in rows)])), nl=False)
    elif asked.form == "json":
        whole = {} if survey is None else {"survey": survey.id, "epsilon": survey.epsilon}
        click.echo(to_json(whole | {"plans": rows}))
    else:
        click.echo(_as_table(plans, survey, asked))
    if asked.picture is not None:
        save_picture(asked.picture, lambda: survey_chart(plans) if survey else epsilon_chart(plans, asked.options))


def _plans(asked: PlanRequest, survey: Survey | None) -> Sequence[Plan]:
    """The plans that a request asks for: by epsilon or question, then by share."""
    shares, confidence = asked.shares or SHARES, asked.confidence
    width = 0.05 if asked.width is None else asked.width
    if asked.seeks_epsilon:
        assert asked.respondents is not None
        return [EpsilonPlan(asked.respondents, width, share, asked.options, confidence) for share in shares]
    # Splitting needs epsilons only: each part has the best mechanism for its own.
    if asked.questions is not None:
        return [
            SplitPlan(asked.questions, epsilon, share, width, asked.options, confidence)
            for epsilon in asked.epsilons
            for share in shares
        ]
    if survey is None:
        estimands = asked.estimands
    else:
        if asked.applies is not None and not any(each.ask_if for each in survey.questions):
            raise click.UsageError("--applies needs a question with a filter (ask_if), and the survey has none")
        estimands = [each for question in survey.questions for each in estimands_of(question, shares, asked.applies)]
    if asked.against is not None:
        level = round(1 - confidence, 12)  # 0.05, not 0.050000000000000044
        test = partial(
            PowerPlan, against=asked.against, cohorts=asked.cohorts, sample=asked.respondents, target=asked.power
        )
        return [test(each, level=level, alternative=asked.side(each.share), exact=asked.exact) for each in estimands]
    if asked.respondents is not None:
        return [WidthPlan(each, asked.respondents, width, confidence, asked.power) for each in estimands]
    return [SizePlan(each, width, confidence) for each in estimands]


def _one_question(asked: PlanRequest, survey: Survey) -> str:
    """What to write in place of a survey, for each question of which a person has one answer, as far as it is named."""
    questions = [each for each in survey.questions if each.has_shares and each.type != "ticks"]
    said = "--against goes with one question, not with --survey"
    if not questions:
        return said
    lines = []
    for each in questions[:MOST_NAMED]:
        options = "" if len(each.options) == 2 else f"--options {len(each.options)} "
        tested = f"--share {(asked.shares or (0.2,))[0]:g} --against {asked.against:g}"
        name = "" if len(questions) == 1 else f" ({each.id})"
        lines.append(f"'deniable plan {options}--epsilon {each.epsilon:.4g} {tested}'{name}")
    more = f" and so on for the other {len(questions) - MOST_NAMED}" if len(questions) > MOST_NAMED else ""
    return f"{said}. Write {', '.join(lines)}{more}"


def _as_table(plans: Sequence[Plan], survey: Survey | None, asked: PlanRequest) -> str:
    first, *others = meaning(plans[0])
    if len(plans) > 1:
        first = f"First row: {first[:1].lower()}{first[1:]}"
    if asked.tests and asked.options > 2:
        first += f" This is for one of the {asked.options} options, chosen beforehand."
    if survey is None:
        # What matters most before the table, what it means besides after it.
        return "\n\n".join(part for part in (asked.asked, first, plans_table(plans), "\n".join(others)) if part)
    parts = [
        outlook(survey, asked.respondents or RESPONDENTS),
        plans_table(plans),
        "\n".join((first, *others)),
    ]
    parts += [f"{each.id}: {said}" for each in survey.questions for said in comparison(each)]
    if filtered := [each.id for each in survey.questions if each.ask_if and not is_among(plans)]:
        parts.append(f"{', '.join(filtered)}: shares are those of everybody; --applies plans them among those asked.")
    parts += [f"Group {each.group.name!r}: {'; '.join(group_sentences(each))}" for each in survey.units if each.group]
    return "\n\n".join([*parts, f"Whole survey: epsilon {survey.epsilon:.4f}"])
