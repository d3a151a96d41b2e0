"""What shuffling is worth, as ``deniable risk --shuffled`` prints it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import click

from deniable import Question, Survey
from deniable.errors import ParameterError
from deniable.installing import install_hint
from deniable.table import format_table


@dataclass(frozen=True)
class ShuffledBatch:
    """Reports that arrive together in random order.

    Attributes
    ----------
    n : int
        Number of reports in the batch.
    delta : float
        Probability with which the amplified epsilon may fail.
    own : int
        Number of these reports that whoever looks at the batch may have made; nobody hides among them.
    """

    n: int
    delta: float
    own: int = 0

    def hiding(self, cohorts: int) -> int:
        """Number of reports among which one hides, itself included, where every report names one of the cohorts."""
        each = self.n // max(cohorts, 1)
        if not 0 <= self.own < each:
            raise ParameterError(f"own: must be from 0 to below the {each} reports of a batch, got {self.own}")
        return each - self.own


def of_epsilons(epsilons: Sequence[float], batch: ShuffledBatch) -> str:
    """A table of the epsilon that is left of each of these, with two options and whatever is asked."""
    shuffling = _shuffling()
    n = batch.hiding(1)
    rows = []
    for epsilon in epsilons:
        half = 1 / (1 + math.exp(min(epsilon, 700.0)))
        two = shuffling.shuffled_two_options(((1 - half, half), (half, 1 - half)), n, batch.delta)
        rows += [[f"{epsilon:g}", "two options", _above(two)]]
        rows += [["", "anything", _above(shuffling.shuffled_epsilon(epsilon, n, batch.delta))]]
    table = format_table(["epsilon", "asked is", "shuffled"], rows, right=["epsilon", "shuffled"])
    return f"{table}\n\n{_meaning(n, batch)}"


def of_survey(survey: Survey, batch: ShuffledBatch) -> str:
    """A table of the epsilon that is left of each question of a survey, and of all of them together."""
    shuffling = _shuffling()
    n = batch.hiding(len(survey.cohorts) + (not survey.cohort_required) if survey.cohorts else 1)
    if len(survey.questions) == 1:
        (only,) = survey.questions
        rows = [[only.id, f"{only.epsilon:.4f}", _above(shuffling.shuffled_of(only.mechanism, n, batch.delta))]]
    else:
        parts = [*((each.id, each.epsilon, _variation(each)) for each in survey.questions)]
        rows = [
            [name, f"{loss:.4f}", _above(shuffling.shuffled_epsilon(loss, n, batch.delta, variation, survey.epsilon))]
            for name, loss, variation in (*parts, ("whole survey", survey.epsilon, None))
        ]
    table = format_table(["", "epsilon", "shuffled"], rows, right=["epsilon", "shuffled"])
    cohorts = "A report hides in its cohort alone, so N is divided by their number.\n" if survey.cohorts else ""
    return f"{table}\n\n{cohorts}{_meaning(n, batch)}"


def _variation(question: Question) -> float | None:
    # Of a group all that one answer changes counts, which is not worked out.
    return None if question.group else _shuffling().total_variation(question.mechanism)


def _shuffling() -> Any:
    """The module of these numbers, which needs numpy and scipy."""
    try:
        from deniable_statistics import shuffling
    except ModuleNotFoundError as error:
        raise click.ClickException(f"--shuffled needs {error.name}; {install_hint('research')}") from None
    return shuffling


def _meaning(n: int, batch: ShuffledBatch) -> str:
    return (
        f"Shuffled: whoever sees a batch of which {n:,} reports hide each other, and knows all other answers in it, "
        f"learns no more than\nfrom a report of this epsilon, except with probability {batch.delta:g}. It holds only "
        "where whoever shuffles and whoever\nreads do not work together; then as before the epsilon without shuffling."
    )


def _above(epsilon: float) -> str:
    """An epsilon with three digits, rounded up."""
    return f"{math.ceil(epsilon * 1000 * (1 - 1e-12)) / 1000:.3f}"
