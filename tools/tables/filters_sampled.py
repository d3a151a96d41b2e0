"""Prints how often intervals among those to whom a question applies hold the truth in complex samples.

A population of schools whose sizes, shares and weights differ is drawn again and again; devices add their noise, and
each sample is analysed as `deniable analyze` does it. The table says the error of a figure of `SAMPLES` samples at .95.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from deniable import FilteredPiecewise, KAry
from deniable.table import format_table
from deniable_statistics.comparison.among import AmongDifference
from deniable_statistics.sampling import Domain, ReplicateDesign, SamplingDesign
from deniable_statistics.sampling.among import means_among, shares_among
from deniable_statistics.sampling.items import Item

SAMPLES = 600
SCHOOLS, STRATA = 600, 3
DRAWN, DRAWN_OF_ALL = (12, 20, 30), (50, 70, 90)
"""Schools that are drawn in each stratum of 200, as if with replacement and from a finite population."""

Ints = NDArray[np.int64]


@dataclass(frozen=True)
class Population:
    """Pupils of schools in strata: to whom a question applies, what they would say, and in which cohort they are.

    Attributes
    ----------
    school, stratum, truth, number, cohort : ndarray of int, shape (pupils,)
        The truth is 0 or 1, and 2 where the question does not apply; the number 0 to 10, and 11 there.
    """

    school: Ints
    stratum: Ints
    truth: Ints
    number: Ints
    cohort: Ints

    @classmethod
    def of(cls, applying: float, share: float, generator: np.random.Generator) -> Population:
        """Schools of 10 to 50 pupils whose shares differ from each other and, by strata, with their sizes."""
        sizes = generator.integers(10, 51, SCHOOLS)
        layers = np.sort(np.arange(SCHOOLS) % STRATA)
        school = np.repeat(np.arange(SCHOOLS), sizes)

        def of_schools(middle: float) -> NDArray[np.float64]:
            return generator.beta(9 * middle, 9 * (1 - middle), SCHOOLS) if 0 < middle < 1 else np.full(SCHOOLS, middle)

        tilted = np.clip(of_schools(applying) * (0.7 + 0.3 * layers), 0, 1)
        applies = generator.random(len(school)) < tilted[school]
        first = generator.random(len(school)) < of_schools(share)[school]
        truth = np.where(applies, np.where(first, 0, 1), 2)
        number = np.where(applies, np.where(first, generator.integers(6, 11, len(school)), 2), 11)
        return cls(school, layers[school], truth, number, generator.integers(0, 2, len(school)))

    def share(self, people: NDArray[np.bool_]) -> float:
        """The true share of the first option among some of those to whom it applies."""
        return float((self.truth[people] == 0).sum() / (self.truth[people] < 2).sum())

    def mean(self) -> float:
        """The true mean number among those to whom it applies."""
        return float(self.number[self.truth < 2].mean())


def main() -> None:
    """Print the table."""
    heads = ["sample", "epsilon, applies, share", "share", "mean", "difference", "share at half of a cohort"]
    print(format_table(heads, list(rows(SAMPLES)), right=heads[2:]))
    print(f"Coverage at 95 %; a figure of {SAMPLES} samples has a standard error of {math.sqrt(0.0475 / SAMPLES):.4f}.")


def rows(samples: int) -> Iterator[list[str]]:
    """The coverage of each figure for each way to draw; seeded."""
    for kind in ("strata and clusters", "finite population, a third", "replicates (JK)"):
        for epsilon, applying, share in ((1, 0.6, 0.5), (2, 0.3, 0.1), (1, 0.3, 1.0)):
            found = coverage(kind, epsilon, applying, share, samples)
            yield [kind, f"{epsilon}, {applying:g}, {share:g}", *(f"{each:.3f}" for each in found)]


def coverage(kind: str, epsilon: float, applying: float, share: float, samples: int) -> list[float]:
    """How often the intervals of a share, a mean, a difference of cohorts and a share in a cohort hold the truth."""
    generator = np.random.default_rng(29)
    population = Population.of(applying, share, generator)
    everybody = np.ones(len(population.truth), dtype=bool)
    cohorts = [population.cohort == 0, population.cohort == 1]
    truths = (
        population.share(everybody),
        population.mean(),
        population.share(cohorts[0]) - population.share(cohorts[1]),
        population.share(cohorts[0]),
    )
    hits = np.zeros(4)
    for _ in range(samples):
        ends = intervals(kind, epsilon, population, generator)
        hits += [low - 1e-9 <= truth <= high + 1e-9 for truth, (low, high) in zip(truths, ends, strict=True)]
    return (hits / samples).tolist()


def intervals(
    kind: str, epsilon: float, population: Population, generator: np.random.Generator
) -> list[tuple[float, float]]:
    """The four intervals of one sample of schools."""
    finite = "finite" in kind
    total, drawn = SCHOOLS // STRATA, DRAWN_OF_ALL if finite else DRAWN
    # The schools of a stratum stand one after the other.
    chosen = [layer * total + generator.choice(total, size, replace=False) for layer, size in enumerate(drawn)]
    kept = np.isin(population.school, np.concatenate(chosen))
    n = int(kept.sum())
    school, stratum = population.school[kept], population.stratum[kept]
    weights = total / np.array(drawn)[stratum]
    design: SamplingDesign | ReplicateDesign = SamplingDesign.of(
        weights,
        strata=stratum.tolist(),
        clusters=school.tolist(),
        population=[total] * n if finite else None,
    )
    if kind.startswith("replicates"):
        design = _jackknife(weights, school, stratum)

    def words(size: int) -> NDArray[np.uint32]:
        return generator.integers(2**32, size=size, dtype=np.uint32)

    options, numbers = KAry.from_epsilon(3, epsilon), FilteredPiecewise.from_epsilon(0, 10, epsilon)
    domain = Domain(design, np.ones(n, dtype=bool))
    item = Item.from_reports("q", options, options.randomize_many(population.truth[kept], words).tolist())
    number = Item.from_reports("n", numbers, numbers.randomize_many(population.number[kept], words).tolist())
    cohorts = [population.cohort[kept] == 0, population.cohort[kept] == 1]
    (whole,) = shares_among(item, domain).groups
    (mean,) = means_among(number, numbers.knots, domain).groups
    apart = shares_among(item, domain, cohorts)
    first, second = apart.groups
    difference = AmongDifference(first, second, 0, apart.correlation(0, 0, 1), apart.df)
    return [
        whole.option_interval(0),
        mean.confidence_interval(),
        difference.confidence_interval(),
        apart.groups[0].option_interval(0),
    ]


def _jackknife(weights: NDArray[np.float64], school: Ints, stratum: Ints) -> ReplicateDesign:
    """Replicates that leave out one school each, and weigh the others of its stratum more."""
    replicates, scales = [], []
    for one in np.unique(school):
        layer = stratum[school == one][0]
        size = len(np.unique(school[stratum == layer]))
        factor = np.where(school == one, 0.0, np.where(stratum == layer, size / (size - 1), 1.0))
        replicates.append(weights * factor)
        scales.append((size - 1) / size)
    return ReplicateDesign.of(weights, np.array(replicates).T, scales, df=len(scales) - STRATA)


if __name__ == "__main__":
    main()
