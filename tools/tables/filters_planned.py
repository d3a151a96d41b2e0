"""Prints the respondents that `deniable plan --applies` asks for, beside those that samples of so many people show.

A plan is for a half width of five points among those to whom a question applies. Samples of the planned size have
intervals whose mean half width is a little more or less, and half widths fall with the root of the number: so many
people are really needed. Each figure is that of three ways to ask "ever, and if so which of two": two questions at
epsilon each, and both in one response at twice that, which is what one question with combined options takes, too.
`draw` makes a figure of it.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np

from deniable import FilteredPiecewise, KAry, Mechanism, Question
from deniable.survey.condition import among
from deniable.table import format_table
from deniable_statistics.designs.of_mechanisms import design_of, level_values
from deniable_statistics.estimates.among import AmongEstimate
from deniable_statistics.estimates.mean_among import AmongMean
from deniable_statistics.planning.among import AmongPrecision, mean_precision_among, share_precision_among

HALF_WIDTH = 0.05
SAMPLES = 300
EPSILONS = (0.5, 1.0, 2.0)
APPLYING = (0.5, 0.2, 0.05)
SHARES = (0.5, 0.1)
TWO, ONE, MEAN = "two questions", "one response, or combined", "mean of 0 to 40"


class Planned(NamedTuple):
    """Respondents by the plan and by samples, of one way to ask."""

    form: str
    epsilon: float
    applying: float
    share: float | None
    people: int
    simulated: float


def main() -> None:
    """Print the table."""
    heads = ["form", "epsilon", "applies to", "share", "planned", "by samples", "ratio"]
    found = list(planned(SAMPLES))
    rows = [
        [
            each.form,
            f"{each.epsilon:g}",
            f"{each.applying:.0%}",
            "mean" if each.share is None else f"{each.share:.0%}",
            f"{each.people:,}",
            f"{each.simulated:,.0f}",
            f"{each.people / each.simulated:.3f}",
        ]
        for each in found
    ]
    print(format_table(heads, rows, right=heads[1:]))
    ratios = [each.people / each.simulated for each in found]
    print(f"The ratio is {min(ratios):.3f} to {max(ratios):.3f}; {SAMPLES} samples each.")


def planned(samples: int, epsilons: tuple[float, ...] = EPSILONS) -> Iterator[Planned]:
    """Every form at each epsilon, share to whom it applies and share among them; seeded."""
    generator = np.random.default_rng(31)
    for epsilon in epsilons:
        for applying in APPLYING:
            for form, mechanism in ((TWO, KAry.from_epsilon(3, epsilon)), (ONE, KAry.from_epsilon(3, 2 * epsilon))):
                for share in SHARES:
                    precision = share_precision_among(mechanism, share, applying)
                    people = precision.sample_size(HALF_WIDTH)
                    widths = _widths_of_shares(mechanism, share, applying, people, samples, generator)
                    yield Planned(form, epsilon, applying, share, people, _needed(people, widths, precision))
            question = _number(epsilon)
            precision = mean_precision_among(question, applying)
            people = precision.sample_size(HALF_WIDTH * precision.span)
            widths = _widths_of_means(question, applying, people, samples, generator)
            yield Planned(MEAN, epsilon, applying, None, people, _needed(people, widths, precision))


def _needed(people: int, widths: list[float], precision: AmongPrecision) -> float:
    # A half width falls with the root of the number.
    return people * (float(np.mean(widths)) / (HALF_WIDTH * precision.span)) ** 2


def _widths_of_shares(
    mechanism: Mechanism, share: float, applying: float, people: int, samples: int, generator: np.random.Generator
) -> list[float]:
    chances = design_of(mechanism).expected([share * applying, (1 - share) * applying, 1 - applying])
    tallies = generator.multinomial(people, np.array(chances) / sum(chances), samples)
    ends = [AmongEstimate.from_counts(mechanism, counts).option_interval(0) for counts in tallies.tolist()]
    return [(high - low) / 2 for low, high in ends]


def _widths_of_means(
    question: Question, applying: float, people: int, samples: int, generator: np.random.Generator
) -> list[float]:
    design = design_of(question.mechanism)
    chances = np.array(design.expected(list(design.shares_of_some(applying))))
    tallies = generator.multinomial(people, chances / chances.sum(), samples)
    values = level_values(question) or ()
    ends = [AmongMean.from_counts(design, counts, values).confidence_interval() for counts in tallies.tolist()]
    return [(high - low) / 2 for low, high in ends]


def _number(epsilon: float) -> Question:
    mechanism = FilteredPiecewise.from_epsilon(0, 40, str(epsilon))
    return Question("since", "number", "Since when?", (), mechanism, ask_if=among("ever", [(1, 1)], range(2)))


def draw(path: Path, samples: int = SAMPLES) -> None:
    """Draw plans as lines and samples as dots, at epsilon 1 and one half among those to whom it applies."""
    from matplotlib.figure import Figure

    from deniable_research.pictures import STYLES, tidy

    figure = Figure(figsize=(7, 4), layout="constrained")
    axes = figure.subplots()
    found = [each for each in planned(samples, (1.0,)) if each.share != SHARES[1]]
    for place, form in enumerate((TWO, ONE, MEAN)):
        own = [each for each in found if each.form == form]
        colour = STYLES[place][0]
        axes.plot([each.applying for each in own], [each.people for each in own], color=colour, label=form)
        axes.plot([each.applying for each in own], [each.simulated for each in own], "o", color=colour)
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xticks(APPLYING, [f"{each:.0%}" for each in APPLYING])
    axes.minorticks_off()
    axes.set_xlabel("share of all to whom the question applies")
    axes.set_ylabel("respondents for \u00b15 points, or 5 % of the range")
    axes.legend(frameon=False)
    tidy(axes, "Planned (lines) and by samples (dots), epsilon 1 a question")
    figure.savefig(path)


if __name__ == "__main__":
    main()
