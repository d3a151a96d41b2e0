"""``deniable risk``"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import ROUND_FLOOR, Context, Decimal
from pathlib import Path
from typing import TYPE_CHECKING

import click

from deniable import Survey
from deniable.privacy.odds import whole_odds_sentences
from deniable.table import format_table
from deniable_commands.files import FILE
from deniable_commands.main import example
from deniable_commands.rules import RuledCommand, at_most_one, goes_with
from deniable_research.commands.plotting import plot_option
from deniable_research.commands.shuffled import ShuffledBatch, of_epsilons, of_survey
from deniable_research.pictures import FAINT_INK, INK, STYLES, label_in_percent, save_picture, tidy
from deniable_statistics.authoring.authoring import read_any_survey
from deniable_statistics.risk import (
    epsilon_for_advantage,
    factor,
    guessing_advantage,
    odds_of,
    posterior,
    worst_advantage,
    worst_prior,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure

PRIORS = (0.01, 0.05, 0.1, 0.2, 0.3)
"""Priors in the table and the chart."""

LARGEST_SHOWN = 6.0
"""Largest epsilon of the chart, in nats; beyond it all curves are nearly constant."""


ASKED = "give one of --epsilon, --survey and --advantage"


def _asks_something(given: frozenset[str]) -> str | None:
    """A chart alone needs no epsilon: it shows a whole range."""
    return None if given & {"--epsilon", "--survey", "--advantage", "--plot"} else ASKED


def _has_epsilons(given: frozenset[str]) -> str | None:
    """Reports that are shuffled have epsilons."""
    is_right = "--shuffled" not in given or given & {"--epsilon", "--survey"}
    return None if is_right else "--shuffled goes with --epsilon or --survey"


RULES = [
    at_most_one("--epsilon", "--survey", "--advantage", sentence=ASKED),
    _asks_something,
    goes_with("--advantage", "--prior"),
    goes_with("--shuffled", "--delta", "--own"),
    _has_epsilons,
]


@dataclass(frozen=True)
class Subject:
    """What is asked about: epsilons by name, and what they mean in words.

    Attributes
    ----------
    rows : list of tuple
        Name and epsilon, in nats.
    meanings : list of sequences of str
        Paragraphs.
    """

    rows: list[tuple[str, float]]
    meanings: Sequence[Sequence[str]]

    @classmethod
    def of_epsilons(cls, epsilons: Sequence[float]) -> Subject:
        """One report of each epsilon."""
        named = len(epsilons) > 1
        meanings = [odds_of(each, f"Epsilon {each:g}: one report" if named else "One report") for each in epsilons]
        return cls([(f"{each:g}", each) for each in epsilons], meanings)

    @classmethod
    def of_survey(cls, survey: Survey) -> Subject:
        """Each question by itself, then the whole survey, which one person answers."""
        rows = [(each.id, each.epsilon) for each in survey.questions]
        return cls([*rows, ("whole survey", survey.epsilon)], [whole_odds_sentences(survey)])

    @classmethod
    def of_advantage(cls, advantage: float, prior: float | None) -> Subject:
        """The epsilon that keeps an advantage."""
        needed = _below(epsilon_for_advantage(advantage, prior))  # rounded down, so that what is printed keeps it
        return cls([("needed", needed)], [odds_of(needed)])


@click.command(
    cls=RuledCommand,
    rules=RULES,
    epilog=example(
        "deniable risk --epsilon 0.5 --epsilon 1",
        "deniable risk --survey my-survey.toml",
        "deniable risk --advantage 0.2 --prior 0.1",
        "deniable risk --epsilon 1 --plot risk.svg",
        "deniable risk --survey my-survey.toml --shuffled 200 --delta 1e-6",
    ),
)
@click.option(
    "--epsilon", "epsilons", type=float, multiple=True, help="Epsilon (privacy loss) of a report. May be repeated."
)
@click.option(
    "--survey", "file", metavar="FILE", type=FILE, help="Every question of this survey, and all of them together."
)
@click.option(
    "--advantage", type=float, metavar="A", help="Find the epsilon that limits the advantage to A, such as 0.2."
)
@click.option("--prior", type=float, metavar="P", help="With --advantage: for a guess with this prior probability.")
@click.option(
    "--shuffled", type=int, metavar="N", help="The remaining risk if N reports arrive shuffled, as one batch."
)
@click.option(
    "--delta",
    type=float,
    metavar="D",
    help="With --shuffled: the probability with which the bound may fail; default: 1e-6.",
)
@click.option(
    "--own",
    type=int,
    metavar="M",
    help="With --shuffled: the number of these reports that the attacker may have made.",
)
@plot_option("the advantage against epsilon")
def risk(
    epsilons: tuple[float, ...],
    file: Path | None,
    advantage: float | None,
    prior: float | None,
    shuffled: int | None,
    delta: float | None,
    own: int | None,
    picture: Path | None,
) -> None:
    """Explain an epsilon: how much likelier a guess about a person can become.

    Prior: the probability that somebody assigns to a guess before seeing the report. Posterior: the highest
    probability that they can assign to it afterwards. Advantage: the difference between the two, in percentage
    points.

    Shuffled: N reports that arrive in random order and without a sender, for instance from a place that another
    institution runs. Then the epsilon of each report is smaller, except with probability D.
    """
    survey = read_any_survey(file.read_bytes(), file.parent) if file else None
    among = None
    if shuffled is not None:
        batch = ShuffledBatch(shuffled, 1e-6 if delta is None else delta, own or 0)
        among = of_survey(survey, batch) if survey else of_epsilons(epsilons, batch)
    if advantage is not None:
        subject = Subject.of_advantage(advantage, prior)
        ((_, needed),) = subject.rows
        whom = "whatever the prior" if prior is None else f"at prior {100 * prior:g} %"
        click.echo(f"An advantage of at most {100 * advantage:g} points, {whom}, needs epsilon {needed:g} or less.\n")
    else:
        subject = Subject.of_survey(survey) if survey else Subject.of_epsilons(epsilons)
    if subject.rows:
        click.echo(table(subject.rows, sorted({*PRIORS, *([prior] if prior is not None else [])})))
        for meaning in subject.meanings:
            click.echo("\n" + "\n".join(meaning))
    if among is not None:
        click.echo(f"\n{among}")
    if picture is not None:
        save_picture(picture, lambda: chart([epsilon for _, epsilon in subject.rows]))


def table(rows: Sequence[tuple[str, float]], priors: Sequence[float]) -> str:
    """A table with a row for each epsilon: factor of the odds, posterior and advantage at each prior and the worst."""
    header = ["", "epsilon", "odds x", *(f"prior {100 * prior:g} %" for prior in sorted(priors)), "worst prior"]
    lines = [
        [
            name,
            f"{epsilon:.4f}",
            factor(epsilon),
            *(_cell(posterior(prior, epsilon), guessing_advantage(prior, epsilon)) for prior in sorted(priors)),
            _worst_cell(epsilon),
        ]
        for name, epsilon in rows
    ]
    meaning = "Each cell: the highest probability afterwards, in percent (and the increase in points)."
    return f"{format_table(header, lines, right=header[1:])}\n\n{meaning}"


def _cell(after: float, advantage: float) -> str:
    return f"{_percent_above(after)} (+{_percent_above(advantage)})"


def _worst_cell(epsilon: float) -> str:
    if epsilon == math.inf:
        return _cell(1, 1)  # towards prior 0, which has no posterior of its own
    worst = worst_prior(epsilon)
    return f"{100 * worst:.1f} %: {_cell(posterior(worst, epsilon), worst_advantage(epsilon))}"


def _percent_above(share: float) -> str:
    """A share in percent with one digit, rounded up; an excess below 1e-12, from floating point, is ignored."""
    return f"{math.ceil(share * 1000 * (1 - 1e-12)) / 10:.1f}"


def _below(epsilon: float) -> float:
    """An epsilon with five digits, rounded down, so that it keeps the promised advantage."""
    return float(Context(prec=5, rounding=ROUND_FLOOR).create_decimal(Decimal(epsilon * (1 + 1e-12))))


def chart(epsilons: Sequence[float] = ()) -> Figure:
    """A chart of the guessing advantage against epsilon, for each prior and the worst; dots are at ``epsilons``."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8, 5), layout="constrained")
    axes = figure.subplots()
    # 300 steps make the curves look smooth.
    steps = [LARGEST_SHOWN * step / 300 for step in range(301)]
    worst = [worst_advantage(each) for each in steps]
    axes.plot(steps, worst, color=INK, linewidth=3, label="worst prior", zorder=2)
    for prior, (colour, dashes) in reversed(list(zip(PRIORS, STYLES, strict=True))):
        curve = [guessing_advantage(prior, each) for each in steps]
        axes.plot(
            steps, curve, color=colour, linestyle=dashes, linewidth=1.8, label=f"prior {100 * prior:g} %", zorder=3
        )
    # The epsilon that was annotated last.
    named = -math.inf
    for epsilon in sorted({each for each in epsilons if each <= LARGEST_SHOWN}):
        top = worst_advantage(epsilon)
        axes.plot([epsilon, epsilon], [0, top], color=FAINT_INK, linewidth=1, linestyle=":")
        axes.plot(epsilon, top, "o", color=INK, markersize=6, clip_on=False, zorder=4)
        if epsilon - named >= 0.25:  # nearer, the names would cover each other
            axes.annotate(f"{epsilon:.3g}", (epsilon, top), (-6, 4), textcoords="offset points", ha="right")
            named = epsilon
    axes.legend(loc="upper left", frameon=False, fontsize=9)
    axes.set_xlim(0, LARGEST_SHOWN)
    axes.set_ylim(0, 1)
    axes.set_xlabel("epsilon")
    axes.set_ylabel("guessing advantage, at most")
    label_in_percent(axes.yaxis)
    tidy(axes, "How much likelier a guess can become by one report")
    return figure


__all__ = ["chart", "risk", "table"]
