"""Prints what regression with randomised answers can and cannot do.

Bias and coverage at 5,000 people, and what happens to 200, where the likelihood often has no maximum.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from deniable import KAry, Mechanism, TwoCoin
from deniable.table import format_table
from deniable_research.regression import TidyRow, linear, linear_moments, logistic, multinomial

Array = NDArray[np.float64]
COINS = TwoCoin("1/2", "1/2")
SPIN = KAry.from_epsilon(3, 2)


def covariates(n: int, rng: np.random.Generator) -> Array:
    """A constant, a number and a yes-no."""
    return np.column_stack([np.ones(n), rng.normal(size=n), rng.random(n) < 0.4])


def through(mechanism: Mechanism, truths: NDArray[np.int64], rng: np.random.Generator) -> NDArray[np.int64]:
    """Reports drawn from the channel matrix, with a generator that can be seeded."""
    ends = np.cumsum(mechanism.float_matrix, axis=0)
    return np.asarray((rng.random(len(truths))[:, None] > ends[:, truths].T).sum(axis=1))


def logits(matrix: Array, coefficients: Array, rng: np.random.Generator) -> NDArray[np.int64]:
    """Truths of a multinomial logit with coefficients of shape (truths - 1, p)."""
    weights = np.exp(np.column_stack([np.zeros(len(matrix)), matrix @ coefficients.T]))
    ends = np.cumsum(weights / weights.sum(axis=1, keepdims=True), axis=1)
    return np.asarray((rng.random(len(matrix))[:, None] > ends).sum(axis=1))


YES = np.array([[-1.0, 0.7, -0.5]])
CHOICE = np.array([[0.3, 0.5, -0.4], [-0.4, -0.6, 0.5]])
NUMBER = np.array([1.0, 0.5, -0.3, 0.8])


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


Model = Callable[[int, np.random.Generator, str], list[TidyRow]]
MODELS: dict[str, tuple[Model, Array]] = {
    "logistic, two coins": (yes_no, YES.ravel()),
    "logistic, mixed designs": (mixed, YES.ravel()),
    "multinomial, epsilon 2": (choice, CHOICE.ravel()),
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
    model, truth = MODELS[name]
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


def main(sets: int = 2000) -> None:
    rows = []
    for name in MODELS:
        for interval in ("wald", "profile") if name.startswith("logistic") else ("wald",):
            for each in performance(name, sets, interval=interval):
                figures = (each.truth, each.bias, each.mc_error, each.spread, each.mean_error)
                cells = [f"{each.truth:.1f}", *(f"{figure:.4f}" for figure in figures[1:])]
                rows.append([f"{name}, {interval}", each.term, *cells, f"{each.coverage:.1%}"])
    header = ["5,000 people", "term", "truth", "bias", "MC error", "spread", "mean SE", "coverage"]
    print(format_table(header, rows, right=header[2:]), end="\n\n")
    counts = small_samples(sets // 2)
    print(
        format_table(["200 people, one truth in ten", "samples"], [[k, str(v)] for k, v in counts.items()], {"samples"})
    )
