"""``deniable plan``"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any

import click

from deniable.commands.main import example
from deniable.commands.numbers import Number
from deniable.mechanisms import KAry, TwoCoin
from deniable.survey.cohorts import release_warning
from deniable.survey.document import Survey
from deniable.table import csv_lines
from deniable_research.commands.levels import LEVEL
from deniable_research.commands.options import FILE, format_option, plot_option
from deniable_research.pictures import save_picture
from deniable_research.planning.charts import epsilon_chart, survey_chart
from deniable_research.planning.checks import MOST_PEOPLE
from deniable_research.planning.noise_model import NoiseModel
from deniable_research.planning.plans import Estimand, estimands_of, plan_size, plan_width
from deniable_research.planning.power_plans import plan_power
from deniable_research.planning.printing import Plan, meaning, plans_table
from deniable_research.planning.splitting import least_noise, plan_split
from deniable_statistics.authoring.authoring import read_survey
from deniable_statistics.authoring.respondents import comparison, group_sentences

SHARES = (0.5, 0.1)
"""Planned for if nobody says otherwise: the share with the most sampling error, and one as rare as a secret."""


@click.command(
    epilog=example(
        "deniable plan --epsilon 1 --share 0.1 --width 0.05",
        "deniable plan --truth 1/2 --respondents 1000 --plot widths.svg",
        "deniable plan --survey my-survey.toml --respondents 1000",
        "deniable plan --epsilon 1 --share 0.1 --against 0.15 --power 0.8",
        "deniable plan --epsilon 1 --share 0.2 --against 0 --cohorts 1 --exact",
        "deniable plan --epsilon 2 --options 5 --questions 4 --share 0.1",
    )
)
@click.option("--epsilon", "epsilons", type=Number(), multiple=True, help="Privacy loss of an answer; may be repeated.")
@click.option("--truth", metavar="P", help='Instead of epsilon: the coin that says "tell the truth", such as 1/2.')
@click.option("--yes", metavar="P", default="1/2", show_default=True, help="With --truth: the coin that says yes.")
@click.option("--options", type=click.IntRange(2), default=2, show_default=True, help="2: yes or no; more: a choice.")
@click.option("--survey", "file", metavar="FILE", type=FILE, help="Every question of a survey, instead of one.")
@click.option("--share", "shares", type=Number(), multiple=True, help="The share to plan for; by default 0.5 and 0.1.")
@click.option("--width", type=Number(), metavar="H", help="Wanted half width: 0.05, the default, is ±5 points.")
@click.option("--respondents", type=click.IntRange(2, MOST_PEOPLE), metavar="N", help="How many people will answer.")
@click.option("--against", type=Number(), metavar="SHARE", help="Test the share against this one.")
@click.option(
    "--cohorts",
    type=click.IntRange(1, 2),
    default=2,
    show_default=True,
    help="With --against: 1, a known share; 2, the share of a second cohort of the same size.",
)
@click.option("--power", type=Number(), default=0.8, show_default=True, help="Wanted power of tests.")
@click.option("--confidence", type=LEVEL, default=0.95, show_default=True, help="Of intervals. Tests: 1 - level.")
@click.option("--one-sided", is_flag=True, help="With --against: test on the side of the share only.")
@click.option("--exact", is_flag=True, help="With --cohorts 1: binomial power, and the people from which it stays.")
@click.option("--questions", type=click.IntRange(2), metavar="D", help="D such questions for one epsilon: all, or one?")
@format_option
@plot_option("it against epsilon, or the questions of a survey side by side")
def plan(
    epsilons: tuple[float, ...],
    truth: str | None,
    yes: str,
    options: int,
    file: Path | None,
    shares: tuple[float, ...],
    width: float | None,
    respondents: int | None,
    against: float | None,
    cohorts: int,
    power: float,
    confidence: float,
    one_sided: bool,
    exact: bool,
    questions: int | None,
    form: str,
    picture: Path | None,
) -> None:
    """Say how many people a survey takes, or what so many people tell.

    Give what you know. With a half width: the people. With respondents: the half width and the smallest difference
    between two cohorts. With a share to test against: the people, or the power of the respondents. Beside it what
    privacy costs: the same asked directly, or told to a trusted curator, and how wrong direct answers may be.
    """
    if sum((bool(epsilons), truth is not None, file is not None)) != 1:
        raise click.UsageError("give one of --epsilon, --truth and --survey")
    for refused, reason in (
        (against is not None and file is not None, "--against goes with one question, not with --survey"),
        (against is not None and not shares, "--against needs --share, the other one of the two"),
        (against is not None and width is not None, "--against goes with --power, not with --width"),
        (one_sided and against is None, "--one-sided goes with --against"),
        (exact and (against is None or cohorts != 1), "--exact goes with --against and --cohorts 1"),
        (questions is not None and not epsilons, "--questions needs --epsilon, to be split"),
        (questions is not None and against is not None, "--questions goes with --width, not with --against"),
        (questions is not None and respondents is not None, "--questions goes with --width, not with --respondents"),
        (options != 2 and file is not None, "--options goes with one question, not with --survey"),
        (yes != "1/2" and (truth is None or options != 2), "--yes goes with --truth, for yes or no"),
    ):
        if refused:
            raise click.UsageError(reason)
    planned = shares or SHARES
    half_width = 0.05 if width is None else width
    survey = None if file is None else read_survey(file.read_bytes())
    plans: Sequence[Plan]
    if survey is not None:
        estimands = [estimand for question in survey.questions for estimand in estimands_of(question, planned)]
    else:
        noise = _asked(epsilons, truth, yes, options)
        estimands = [Estimand.of_share("", each, share) for each in noise for share in planned]
    if questions is not None:
        plans = [
            plan_split(questions, epsilon, share, half_width, options, confidence)
            for epsilon in epsilons
            for share in planned
        ]
    elif against is not None:
        level = round(1 - confidence, 12)  # 0.05, not 0.050000000000000044
        plans = [
            plan_power(each, against, cohorts, respondents, power, level, _side(each, against, one_sided), exact)
            for each in estimands
        ]
    elif respondents is not None:
        plans = [plan_width(each, respondents, half_width, confidence, power) for each in estimands]
    else:
        plans = [plan_size(each, half_width, confidence) for each in estimands]
    if survey is not None and respondents is not None and (warning := release_warning(survey, respondents)):
        click.secho(f"Warning: {warning}", fg="yellow", err=True)
    click.echo({"table": _as_table, "csv": _as_csv, "json": _as_json}[form](plans, survey), nl=form != "csv")
    if picture is not None:
        save_picture(picture, lambda: survey_chart(plans) if survey else epsilon_chart(plans, options))


def _asked(epsilons: Sequence[float], truth: str | None, yes: str, options: int) -> list[NoiseModel]:
    if truth is None:
        return [NoiseModel.through(least_noise(options, epsilon)) for epsilon in epsilons]
    return [NoiseModel.through(TwoCoin(truth, yes) if options == 2 else KAry.from_coin(options, truth))]


def _side(estimand: Estimand, against: float, one_sided: bool) -> str:
    if not one_sided or estimand.share is None:
        return "two-sided"
    return "greater" if estimand.share > against else "less"


def _as_table(plans: Sequence[Plan], survey: Survey | None) -> str:
    sentences = "\n".join(meaning(plans[0]))
    parts = [plans_table(plans), f"First row: {sentences}" if len(plans) > 1 else sentences]
    if survey is not None:
        parts += [f"{each.id}: {said}" for each in survey.questions for said in comparison(each)]
        parts += [
            f"Group {each.group.name!r}: {'; '.join(group_sentences(each))}" for each in survey.units if each.group
        ]
        parts.append(f"Whole survey: epsilon {survey.epsilon:.4f}")
    return "\n\n".join(parts)


def _as_csv(plans: Sequence[Plan], _survey: Survey | None) -> str:
    header = [field.name for field in fields(plans[0])]
    return "".join(csv_lines([header, *(_finite(each).values() for each in plans)]))


def _as_json(plans: Sequence[Plan], survey: Survey | None) -> str:
    whole = {} if survey is None else {"survey": survey.id, "epsilon": survey.epsilon}
    return json.dumps(whole | {"plans": [_finite(each) for each in plans]}, indent=1, allow_nan=False)


def _finite(each: Plan) -> dict[str, Any]:
    """The row with null for what no number of people gives."""
    return {key: None if value == math.inf else value for key, value in asdict(each).items()}
