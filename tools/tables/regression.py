"""Prints what regression with randomised answers can and cannot do.

Bias and coverage at 5,000 people, and what happens to 200, where the likelihood often has no maximum.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deniable import KAry, Mechanism, TwoCoin
from deniable.table import format_table
from deniable_research.regression import Fit, TidyRow, linear, linear_moments, logistic, multinomial
from deniable_statistics.designs.of_mechanisms import design_of

Array = NDArray[np.float64]
COINS = TwoCoin("1/2", "1/2")
SPIN = KAry.from_epsilon(3, 2)
EPSILON_2 = KAry.from_epsilon(2, 2)


def covariates(n: int, rng: np.random.Generator) -> Array:
    """A constant, a number and a yes-no."""
    return np.column_stack([np.ones(n), rng.normal(size=n), rng.random(n) < 0.4])


def through(mechanism: Mechanism, truths: NDArray[np.int64], rng: np.random.Generator) -> NDArray[np.int64]:
    """Reports drawn from the channel matrix, with a generator that can be seeded."""
    ends = np.cumsum(design_of(mechanism).float_matrix, axis=0)
    return np.asarray((rng.random(len(truths))[:, None] > ends[:, truths].T).sum(axis=1))


def logits(matrix: Array, coefficients: Array, rng: np.random.Generator) -> NDArray[np.int64]:
    """Truths of a multinomial logit with coefficients of shape (truths - 1, p)."""
    weights = np.exp(np.column_stack([np.zeros(len(matrix)), matrix @ coefficients.T]))
    ends = np.cumsum(weights / weights.sum(axis=1, keepdims=True), axis=1)
    return np.asarray((rng.random(len(matrix))[:, None] > ends).sum(axis=1))


YES = np.array([[-1.0, 0.7, -0.5]])
CHOICE = np.array([[0.3, 0.5, -0.4], [-0.4, -0.6, 0.5]])
NUMBER = np.array([1.0, 0.5, -0.3, 0.8])
BOTH = np.array([-0.5, 0.8, -0.6, 0.5])


def yes_no(n: int, rng: np.random.Generator, interval: str) -> list[TidyRow]:
    """Logistic: two fair coins for all."""
    x = covariates(n, rng)
    return logistic(through(COINS, logits(x, YES, rng), rng), x, COINS).tidy(interval=interval)


def mixed(n: int, rng: np.random.Generator, interval: str) -> list[TidyRow]:
    """Logistic: a fifth asked directly, the others through coins that differ from person to person."""
    x = covariates(n, rng)
    truth = logits(x, YES, rng)
    direct = rng.random(n) < 0.2
    keep = rng.uniform(0.3, 0.9, n)
    a, b = np.where(direct, 1, keep + (1 - keep) / 2), np.where(direct, 0, (1 - keep) / 2)
    return logistic((rng.random(n) < np.where(truth == 1, a, b)).astype(int), x, (a, b)).tidy(interval=interval)


def choice(n: int, rng: np.random.Generator, interval: str) -> list[TidyRow]:
    """Multinomial: one of three options, epsilon 2."""
    x = covariates(n, rng)
    return multinomial(through(SPIN, logits(x, CHOICE, rng), rng), x, SPIN).tidy(interval=interval)


def number(n: int, rng: np.random.Generator) -> tuple[Array, Array, dict[str, NDArray[np.int64]]]:
    """A number that depends on a yes-no answer through two fair coins."""
    x = covariates(n, rng)
    truth = logits(x, YES, rng)
    y = np.column_stack([x, truth]) @ NUMBER + rng.normal(size=n)
    return y, x, {"affair": through(COINS, truth, rng)}


def likelihood(n: int, rng: np.random.Generator, interval: str) -> list[TidyRow]:
    """Linear by maximum likelihood: the coefficients of the number."""
    y, x, reports = number(n, rng)
    return linear(y, x, {"affair": COINS}, reports=reports).tidy(interval=interval)[:4]


def moments(n: int, rng: np.random.Generator, interval: str) -> list[TidyRow]:
    """Linear by corrected least squares."""
    y, x, reports = number(n, rng)
    return linear_moments(y, x, {"affair": COINS}, reports=reports).tidy()


def both_sides(n: int, rng: np.random.Generator, interval: str) -> list[TidyRow]:
    """Logistic: a yes-no answer and three that explain it, each randomised at epsilon 2."""
    return _both_sides(n, rng, EPSILON_2).tidy(interval=interval)[:4]


def as_if_direct(n: int, rng: np.random.Generator, interval: str) -> list[TidyRow]:
    """Logistic on the reports as if they were answers, which nobody should do."""
    return _both_sides(n, rng, (1, 0)).tidy(interval=interval)[:4]


def _both_sides(n: int, rng: np.random.Generator, taken_for: Any) -> Fit:
    truths = (rng.random((n, 3)) < [0.5, 0.4, 0.3]).astype(int)
    affair = logits(np.column_stack([np.ones(n), truths]), BOTH[None, :], rng)
    sent = [through(EPSILON_2, each, rng) for each in (affair, *truths.T)]
    patterns, people = np.unique(np.column_stack(sent), axis=0, return_counts=True)
    predictors = dict(zip("abc", patterns[:, 1:].T, strict=True))
    designs = dict.fromkeys(predictors, taken_for)
    ones = np.ones((len(people), 1))
    return logistic(
        patterns[:, 0], ones, taken_for, names=["Intercept"], randomised=designs, reports=predictors, frequencies=people
    )


Model = Callable[[int, np.random.Generator, str], list[TidyRow]]
MODELS: dict[str, tuple[Model, Array]] = {
    "logistic, two coins": (yes_no, YES.ravel()),
    "logistic, mixed designs": (mixed, YES.ravel()),
    "multinomial, epsilon 2": (choice, CHOICE.ravel()),
    "logistic, both sides randomised": (both_sides, BOTH),
    "linear, likelihood": (likelihood, NUMBER),
    "linear, moments": (moments, NUMBER),
}


@dataclass(frozen=True)
class Performance:
    """How one term fared over all samples."""

    term: str
    truth: float
    bias: float
    mc_error: float
    spread: float
    mean_error: float
    """Mean of the standard errors, to be compared with the spread of the estimates."""
    coverage: float


def performance(name: str, sets: int, n: int = 5000, seed: int = 1, interval: str = "wald") -> list[Performance]:
    """Bias and coverage of every term over ``sets`` samples."""
    return measured(*MODELS[name], sets, n, seed, interval)


def measured(model: Model, truth: Array, sets: int, n: int, seed: int, interval: str) -> list[Performance]:
    """Bias and coverage of every term of a model."""
    rng = np.random.default_rng(seed)
    fits = [model(n, rng, interval) for _ in range(sets)]
    table = np.array([[row[1:] for row in rows] for rows in fits])
    found = []
    for j, (row, value) in enumerate(zip(fits[0], truth, strict=True)):
        estimates, low, high = table[:, j, 0], table[:, j, 4], table[:, j, 5]
        spread = float(estimates.std(ddof=1))
        covered = float(np.mean((low <= value) & (value <= high)))
        found.append(
            Performance(
                row.term,
                float(value),
                float(estimates.mean() - value),
                spread / math.sqrt(sets),
                spread,
                float(table[:, j, 1].mean()),
                covered,
            )
        )
    return found


def small_samples(sets: int, n: int = 200, seed: int = 1) -> Counter[str]:
    """What becomes of samples of few people and rare truths: share about 0.1, two fair coins.

    ``silent nonsense`` counts rows that a reader would take for results though they are none: a number that is not
    one, a standard error of 0 or of 30 logits, an interval without its estimate, and nothing said.
    """
    rng = np.random.default_rng(seed)
    counts: Counter[str] = Counter()
    for _ in range(sets):
        x = covariates(n, rng)
        reports = through(COINS, logits(x, np.array([[-2.6, 0.7, 0.5]]), rng), rng)
        fit = logistic(reports, x, COINS)
        plain = logistic(reports, x, COINS, penalty=None) if fit.penalty else fit
        rows = fit.tidy()
        counts["samples"] += 1
        counts["separated"] += plain.separated
        counts["penalised"] += fit.penalty is not None
        counts["several optima"] += plain.optima > 1
        counts["not converged"] += not fit.converged
        finite = [math.isfinite(row.std_error) for row in plain.tidy(interval="wald")]
        counts["separated without infinite standard error"] += plain.separated and all(finite)
        counts["silent nonsense"] += any(map(nonsense, rows)) or plain.separated != bool(fit.penalty)
        counts["tests without a value"] += any(math.isnan(row.p_value) for row in rows)
        counts["endless intervals"] += any(math.isinf(row.conf_high - row.conf_low) for row in rows)
        truth = (-2.6, 0.7, 0.5)
        for row, value in zip(rows, truth, strict=True):
            counts[f"covers {row.term}"] += row.conf_low <= value <= row.conf_high
    return counts


def nonsense(row: TidyRow) -> bool:
    """Whether a row of a fit that claims to have worked cannot be true."""
    return not (
        math.isfinite(row.estimate)
        and 1e-3 < row.std_error < 30
        and row.conf_low < row.estimate < row.conf_high
        and not row.p_value > 1
    )


def _cells(name: str, found: list[Performance]) -> list[list[str]]:
    rows = []
    for each in found:
        figures = (each.bias, each.mc_error, each.spread, each.mean_error)
        cells = [f"{each.truth:.1f}", *(f"{figure:.4f}" for figure in figures)]
        rows.append([name, each.term, *cells, f"{each.coverage:.1%}"])
    return rows


def _table(title: str, rows: list[list[str]]) -> str:
    header = [title, "term", "truth", "bias", "MC error", "spread", "mean SE", "coverage"]
    return format_table(header, rows, right=header[2:]) + "\n"


def main(sets: int = 2000) -> None:
    rows = []
    for name in MODELS:
        for interval in ("wald", "profile") if name.startswith("logistic") else ("wald",):
            rows += _cells(f"{name}, {interval}", performance(name, sets, interval=interval))
    print(_table("5,000 people", rows))
    rows = []
    for n in (2000, 6000):
        rows += _cells(
            f"{n}, profile", performance("logistic, both sides randomised", sets // 2, n, interval="profile")
        )
        rows += _cells(f"{n}, as if direct", measured(as_if_direct, BOTH, 100, n, 1, "wald"))
    print(_table("both sides randomised, people", rows))
    counts = small_samples(sets // 2)
    print(
        format_table(["200 people, one truth in ten", "samples"], [[k, str(v)] for k, v in counts.items()], {"samples"})
    )
