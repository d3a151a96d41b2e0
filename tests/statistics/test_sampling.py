"""Sampling designs against R's `survey` and by enumeration; with randomised answers, that no population shrinks noise.

Figures come from R 4.2.2 and survey 4.1.1, on the package's own samples of California schools:

    library(survey); data(api); options(survey.replicates.mse = TRUE)
    clusters <- svydesign(id = ~dnum, weights = ~pw, data = apiclus1, fpc = ~fpc)
    strata <- svydesign(id = ~1, strata = ~stype, weights = ~pw, data = apistrat, fpc = ~fpc)
    kinds <- data.frame(stype = c("E", "H", "M"), Freq = c(4421, 755, 1018))
    growth <- data.frame(comp.imp = c("No", "Yes"), Freq = c(1500, 4694))

Those of `svymean(~api00)` and `svytotal(~enroll)`, also poststratified, stand in the package's documentation.
"""

from __future__ import annotations

import csv
import itertools
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from deniable import ParameterError
from deniable_statistics.intervals import share_interval
from deniable_statistics.sampling import (
    Margin,
    ReplicateDesign,
    SamplingDesign,
    Truths,
    effective_number,
    rao_scott,
    replicate_scales,
    t_quantile,
    wald_f,
)

DATA = Path(__file__).parents[1] / "data"
KINDS = {"E": 4421, "H": 755, "M": 1018}
GROWTH = {"No": 1500, "Yes": 4694}

Columns = dict[str, NDArray[Any]]


def schools(name: str) -> Columns:
    with (DATA / name).open(encoding="ascii") as file:
        rows = list(csv.DictReader(file))
    return {column: np.array([row[column] for row in rows]) for column in rows[0]}


def clustered(columns: Columns) -> SamplingDesign:
    return SamplingDesign.of(
        columns["pw"].astype(float), clusters=columns["dnum"].tolist(), population=columns["fpc"].astype(float)
    )


def stratified(columns: Columns) -> SamplingDesign:
    return SamplingDesign.of(
        columns["pw"].astype(float), strata=columns["stype"].tolist(), population=columns["fpc"].astype(float)
    )


def margin(columns: Columns, name: str, totals: dict[str, int]) -> Margin:
    levels = list(totals)
    places = np.array([levels.index(label) for label in columns[name]])
    return Margin(name, places, np.array(list(totals.values()), dtype=float))


def jackknife(columns: Columns) -> ReplicateDesign:
    units = np.unique(columns["dnum"])
    weights = columns["pw"].astype(float)
    each = np.column_stack([weights * (columns["dnum"] != unit) for unit in units]) * len(units) / (len(units) - 1)
    return ReplicateDesign.of(weights, each, replicate_scales("jackknife", len(units)))


CLUSTERS, STRATA = schools("api_clusters.csv"), schools("api_strata.csv")


@pytest.mark.parametrize(
    ("design", "columns", "mean", "total", "ratio", "df"),
    [
        (clustered, CLUSTERS, (644.1694, 23.54224), (3404940.1, 932235.03), (1.171822501, 0.1262746361), 14),
        (stratified, STRATA, (662.28736316, 9.40894), (3687177.5, 114641.72), (1.112560451, 0.04135950601), 197),
    ],
)
def test_clusters_strata_and_finite_populations_are_those_of_r(
    design: Any, columns: Columns, mean: Any, total: Any, ratio: Any, df: int
) -> None:
    sample, enrolled = design(columns), columns["enroll"].astype(float)
    scores = columns["api00"].astype(float)
    for found, expected in (
        (sample.means(scores), mean),
        (sample.total(enrolled), total),
        (sample.ratio(scores, enrolled), ratio),
    ):
        assert (found.estimate[0], found.std_error[0]) == pytest.approx(expected, rel=1e-6)
        assert found.df == df


def test_domains_keep_all_units_and_covary() -> None:
    # b <- svyby(~as.numeric(sch.wide == "Yes"), ~comp.imp, strata, svymean, covmat = TRUE); vcov(b)
    met = STRATA["sch.wide"] == "Yes"
    both = stratified(STRATA).means(met, [STRATA["comp.imp"] == label for label in ("No", "Yes")])
    assert both.estimate == pytest.approx([0.5488932918, 0.9745093067])
    expected = [[3.314357516e-03, 3.927347780e-07], [3.927347780e-07, 2.405223452e-04]]
    assert both.covariance == pytest.approx(np.array(expected), rel=1e-8)
    # A sample of its own would forget that chance decides how many there are.
    alone = STRATA["comp.imp"] == "Yes"
    as_sample = SamplingDesign.of(STRATA["pw"].astype(float)[alone], strata=STRATA["stype"][alone].tolist())
    with_all = stratified(STRATA).without_population().means(met, [alone])
    assert as_sample.means(met[alone]).std_error[0] != pytest.approx(with_all.std_error[0], rel=1e-3)


def test_one_margin_is_poststratification() -> None:
    # postStratify(clusters, ~stype, kinds), in the documentation of postStratify
    sample = clustered(CLUSTERS).calibrated([margin(CLUSTERS, "stype", KINDS)])
    mean, total = sample.means(CLUSTERS["api00"].astype(float)), sample.total(CLUSTERS["enroll"].astype(float))
    assert (mean.estimate[0], mean.std_error[0]) == pytest.approx((642.31079, 23.92049), rel=1e-6)
    assert (total.estimate[0], total.std_error[0]) == pytest.approx((3680892.9, 406292.64), rel=1e-6)
    kinds = sample.means(np.column_stack([CLUSTERS["stype"] == kind for kind in KINDS]))
    assert kinds.estimate == pytest.approx(np.array(list(KINDS.values())) / 6194)
    assert kinds.std_error == pytest.approx([0, 0, 0], abs=1e-12)  # what is known has no error


def test_several_margins_are_raking() -> None:
    # calibrate(without, list(~stype, ~comp.imp), list(kinds, growth), calfun = "raking", epsilon = 1e-10), of
    # without <- svydesign(id = ~dnum, weights = ~pw, data = apiclus1)
    sample = clustered(CLUSTERS).without_population()
    raked = sample.calibrated([margin(CLUSTERS, "stype", KINDS), margin(CLUSTERS, "comp.imp", GROWTH)])
    found = raked.means(np.column_stack([CLUSTERS["sch.wide"] == "Yes", CLUSTERS["api00"].astype(float)]))
    assert found.estimate == pytest.approx([0.88465432, 642.65132263], rel=1e-8)
    assert found.std_error == pytest.approx([0.01108, 24.07026], rel=3e-4)
    for name, totals in (("stype", KINDS), ("comp.imp", GROWTH)):
        sums = [raked.weights[CLUSTERS[name] == label].sum() for label in totals]
        assert sums == pytest.approx(list(totals.values()))


def test_replicate_weights_are_those_of_r() -> None:
    # as.svrepdesign(svydesign(id = ~dnum, weights = ~pw, data = apiclus1), type = "JK1"), and margins as above
    sample = jackknife(CLUSTERS)
    values = np.column_stack([CLUSTERS["api00"].astype(float), CLUSTERS["sch.wide"] == "Yes"])
    assert sample.means(values).std_error == pytest.approx([26.59971, 0.02077], rel=3e-4)
    kinds, growth = margin(CLUSTERS, "stype", KINDS), margin(CLUSTERS, "comp.imp", GROWTH)
    assert sample.calibrated([kinds]).means(values).std_error[0] == pytest.approx(27.20663, rel=1e-6)
    enrolled = sample.calibrated([kinds]).total(CLUSTERS["enroll"].astype(float))
    assert enrolled.std_error[0] == pytest.approx(478195.13, rel=1e-6)
    assert sample.calibrated([kinds, growth]).means(values).std_error == pytest.approx([27.10917, 0.01107], rel=3e-4)
    assert sample.means(values).df == 14


def test_balanced_halves_are_those_of_levy_and_lemeshow() -> None:
    """Six ambulance services in three areas: data(scd), Levy and Lemeshow, "Sampling of Populations" 1991, page 410.

    The ratio of people alive to arrests; in the documentation of svrepdesign.
    """
    arrests, alive = [120, 78, 185, 228, 670, 530], [25, 24, 30, 49, 80, 70]
    halves = 2.0 * np.array([[1, 0, 1, 0, 1, 0], [1, 0, 0, 1, 0, 1], [0, 1, 1, 0, 0, 1], [0, 1, 0, 1, 1, 0]]).T
    sample = ReplicateDesign.of(np.ones(6), halves, replicate_scales("brr", 4))
    ratio = sample.ratio(alive, arrests)
    assert (ratio.estimate[0], ratio.std_error[0]) == pytest.approx((0.1535063501, 0.009426635733))
    linearised = SamplingDesign.of(np.ones(6), strata=[1, 1, 2, 2, 3, 3], clusters=[1, 2, 1, 2, 1, 2])
    assert linearised.ratio(alive, arrests).std_error[0] == pytest.approx(0.0098073036)
    assert sample.total(alive).std_error[0] == pytest.approx(
        linearised.total(alive).std_error[0]
    )  # no more than linear
    assert (sample.df, linearised.degrees_of_freedom()) == (3, 3)


def test_replicates_and_linearisation_agree() -> None:
    """To 1e-12 for totals, which are linear; for a mean of 15 districts of unequal size to 15 %, of a share to 2 %."""
    sample, linear = jackknife(CLUSTERS), clustered(CLUSTERS).without_population()
    met, scores = CLUSTERS["sch.wide"] == "Yes", CLUSTERS["api00"].astype(float)
    assert sample.total(met).std_error == pytest.approx(linear.total(met).std_error, rel=1e-12)
    assert sample.means(met).std_error == pytest.approx(linear.means(met).std_error, rel=0.02)
    assert sample.means(scores).std_error == pytest.approx(linear.means(scores).std_error, rel=0.15)


def test_lonely_units_are_an_error_unless_told() -> None:
    # options(survey.lonely.psu = "adjust") or "certainty"; svymean(~api00 + sch.wide) with one high school
    kept = np.flatnonzero((STRATA["stype"] != "H") | (np.cumsum(STRATA["stype"] == "H") == 1))
    columns = {name: values[kept] for name, values in STRATA.items()}
    weights, strata = columns["pw"].astype(float), columns["stype"].tolist()
    with pytest.raises(ParameterError, match="strata: must have at least 2 sampling units each, 1 of 3 strata have 1"):
        SamplingDesign.of(weights, strata)
    values = np.column_stack([columns["api00"].astype(float), columns["sch.wide"] == "Yes"])
    for lonely, expected in (("centre", (10.63070, 0.02643)), ("certainty", (10.61630, 0.02632))):
        found = SamplingDesign.of(weights, strata, lonely=lonely).means(values)
        assert found.std_error == pytest.approx(expected, rel=3e-4)
        assert found.estimate == pytest.approx([666.79480176, 0.86828441])
    with pytest.raises(ParameterError, match="lonely: must be one of fail, centre, certainty, got 'adjust'"):
        SamplingDesign.of(weights, strata, lonely="adjust")
    # A stratum that has one unit in all was not drawn by chance.
    sizes = np.where(columns["stype"] == "H", 1, 5000)
    assert math.isfinite(SamplingDesign.of(weights, strata, population=sizes).means(values).std_error[0])


def test_what_one_unit_of_a_certainty_stratum_reports_is_still_noise() -> None:
    coins = coin_scores(np.ones(40, dtype=int))
    sample = SamplingDesign.of(np.ones(40), clusters=["all"] * 40, lonely="certainty")
    assert sample.total(coins, truths_of(coins)).covariance[0, 0] == pytest.approx(40 * 0.75)
    assert sample.total(coins).covariance[0, 0] == 0


def coin_scores(reports: NDArray[np.int64]) -> NDArray[np.float64]:
    """Scores of yes, of reports of two fair coins."""
    return 2 * reports.astype(float) - 0.5


def truths_of(scores: NDArray[np.float64]) -> Truths:
    """The truths no and yes behind scores of yes."""
    return Truths(np.column_stack([1 - scores, scores]), np.array([[0.0], [1.0]]))


@pytest.mark.slow
def test_the_variance_is_unbiased_over_all_samples_and_all_coins() -> None:
    """By enumeration: 2 of 3 clusters, 2 of 2, 2 of 4; every sample, and every report with its chance."""
    strata = {"a": [[1], [0, 1], [1, 1]], "b": [[0], [1]], "c": [[0], [1], [0, 0], [1]]}
    totals, variances, naive = [], [], []
    draws = [list(itertools.combinations(units, 2)) for units in strata.values()]
    for sample in itertools.product(*draws):
        truth = [answer for units in sample for unit in units for answer in unit]
        layers = [name for name, units in zip(strata, sample, strict=True) for unit in units for _ in unit]
        clusters = [place for units in sample for place, unit in enumerate(units) for _ in unit]
        size = [len(strata[name]) for name in layers]
        design = SamplingDesign.of(np.array(size) / 2, layers, clusters, size)
        for reports in itertools.product((0, 1), repeat=len(truth)):
            chance = math.prod(0.75 if report == x else 0.25 for report, x in zip(reports, truth, strict=True))
            chance /= math.prod(map(len, draws))
            scores = coin_scores(np.array(reports))
            found = design.total(scores, truths_of(scores))
            totals.append((chance, found.estimate[0]))
            variances.append((chance, found.covariance[0, 0]))
            naive.append((chance, design.total(scores).covariance[0, 0]))
    mean = math.fsum(p * t for p, t in totals)
    variance = math.fsum(p * (t - mean) ** 2 for p, t in totals)
    assert mean == pytest.approx(sum(sum(map(sum, units)) for units in strata.values()))
    assert math.fsum(p * v for p, v in variances) == pytest.approx(variance, rel=1e-12)
    assert math.fsum(p * v for p, v in naive) < variance / 2  # the textbook, copied


def test_who_is_asked_by_chance_is_part_of_the_noise() -> None:
    """By enumeration: everybody of 3 people is in the sample, each device asks with the chance 1/2."""
    truth, p = (1, 0, 1), 0.5
    design = SamplingDesign.of(np.ones(3), population=[3, 3, 3])
    outcomes = []
    for reports in itertools.product((None, 0, 1), repeat=3):
        chance = math.prod(
            1 - p if report is None else p * (0.75 if report == x else 0.25)
            for report, x in zip(reports, truth, strict=True)
        )
        asked = np.array([report is not None for report in reports])
        scores = np.where(asked, coin_scores(np.array([report or 0 for report in reports])), 0.0)
        truths = Truths(np.column_stack([asked - scores, scores]), np.array([[0.0], [1.0]]), p)
        found = design.total(scores, truths)
        outcomes.append((chance, found.estimate[0], found.covariance[0, 0]))
    mean = math.fsum(c * t for c, t, _ in outcomes)
    assert mean == pytest.approx(p * sum(truth))
    variance = math.fsum(c * (t - mean) ** 2 for c, t, _ in outcomes)
    assert math.fsum(c * v for c, _, v in outcomes) == pytest.approx(variance, rel=1e-12)


@pytest.mark.simulation
def test_intervals_keep_their_level_and_those_of_the_textbook_do_not() -> None:
    """Four strata of 40 clusters, 24 of each drawn; 1000 samples through two fair coins, and the same without coins."""
    chance = np.random.default_rng(1977)
    units = [
        [chance.random(chance.integers(5, 15)) < chance.beta(2, 5) * (0.4 + 0.3 * h) for _ in range(40)]
        for h in range(4)
    ]
    share = np.concatenate([unit for stratum in units for unit in stratum]).mean()
    held = np.zeros(3)
    for _ in range(1000):
        drawn = [(h, i) for h in range(4) for i in chance.permutation(40)[:24]]
        truth = np.concatenate([units[h][i] for h, i in drawn])
        layers = np.concatenate([np.full(len(units[h][i]), h) for h, i in drawn])
        clusters = np.concatenate([np.full(len(units[h][i]), i) for h, i in drawn])
        design = SamplingDesign(np.full(len(truth), 40 / 24), layers, clusters, np.full(len(truth), 40.0))
        coins = chance.random((2, len(truth))) < 0.5
        scores = coin_scores(np.where(coins[0], truth, coins[1]).astype(int))
        for place, found in enumerate(
            (design.means(scores, truths=truths_of(scores)), design.means(scores), design.means(truth))
        ):
            low, high = found.confidence_interval()
            held[place] += low[0] <= share <= high[0]
    noisy, naive, direct = held / 1000
    assert 0.93 <= noisy <= 0.97
    assert 0.93 <= direct <= 0.97
    assert naive < 0.85


def test_chi_squared_of_simple_samples_is_left_alone() -> None:
    # eigenvalues 1: F = X^2 / m; Rao and Scott's second eigenvalue takes degrees of freedom
    assert rao_scott(0.05, np.eye(3) / 100, math.inf)[:2] == pytest.approx((5 / 3, 3))
    uneven = rao_scott(0.05, np.diag([2, 1, 0]) / 100, 20)
    assert uneven[:3] == pytest.approx((5 / 3, 9 / 5, 36))
    assert math.isnan(rao_scott(0.0, np.zeros((2, 2)), 20).p_value)
    assert math.isnan(wald_f(np.ones(3), np.eye(3), 2).p_value)  # three distances cannot be told from two degrees


def test_korn_and_graubard_put_the_design_effect_into_the_number() -> None:
    # attr(svyciprop(~I(sch.wide == "Yes"), clusters, method = "beta"), "ci")
    met = CLUSTERS["sch.wide"] == "Yes"
    found = clustered(CLUSTERS).means(met)
    share = float(found.estimate[0])
    plain = math.sqrt(share * (1 - share) / 183)
    n = effective_number(183, plain, float(found.std_error[0]), 183, found.df, 0.95)
    low, high = share_interval(share * n, n, (1.0, 0.0), 0.95, "clopper-pearson")
    assert (low, high) == pytest.approx((0.8237022108, 0.9147044921), rel=1e-8)
    known = (t_quantile(0.95, 182) / t_quantile(0.95, 14)) ** 2
    assert effective_number(183, 0.0, 0.0, 183, 14, 0.95) == pytest.approx(183 * known)  # nobody says yes
    assert effective_number(183, 0.1, 0.1, 183, 0, 0.95) == 0
    assert effective_number(1.5, 0.1, 1e-50, 183, 182, 0.95) == pytest.approx(1.5)  # one weighs nearly everything


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"weights": [1, -1]}, "weights: must be finite numbers of at least 0"),
        ({"weights": [1, math.nan]}, "weights: must be finite"),
        ({"weights": [1, 1, 1], "strata": "ab"}, "strata: must be 3 labels, one for each person, got 2"),
        ({"weights": [1, 1, 1], "population": [5, 5, 6]}, "population: must be one number of units for each stratum"),
        ({"weights": [1, 1], "population": [5, math.nan]}, "population: must be one number"),
        ({"weights": [1, 1, 1], "population": [2, 2, 2]}, "where 3 were drawn of 2"),
        ({"weights": [1, 1], "clusters": "aa"}, "the sample has 1"),
    ],
)
def test_designs_that_cannot_be_are_refused(settings: Any, message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        SamplingDesign.of(**settings)


def test_margins_that_cannot_be_met_are_refused() -> None:
    design = SamplingDesign.of(np.ones(4))
    kinds = Margin("sex", np.array([0, 0, 1, 1]), np.array([60.0, 40.0]))
    with pytest.raises(ParameterError, match="margins: must add up to one number of people, sex to 100"):
        design.calibrated([kinds, Margin("age", np.array([0, 1, 0, 1]), np.array([60.0, 50.0]))])
    with pytest.raises(ParameterError, match="margins: age must have somebody in the sample for every total, 1 of 3"):
        design.calibrated([kinds, Margin("age", np.array([0, 1, 0, 1]), np.array([60.0, 30.0, 10.0]))])
    with pytest.raises(ParameterError, match="margins: cannot all be met"):
        design.calibrated([kinds, Margin("same", np.array([0, 0, 1, 1]), np.array([50.0, 50.0]))])
    with pytest.raises(ParameterError, match="totals of sex must be finite numbers above 0"):
        Margin("sex", np.array([0, 1]), np.array([60.0, 0.0]))


def test_replicates_that_cannot_be_are_refused() -> None:
    for replicates, scales, message in (
        (np.ones((3, 1)), 1.0, "replicates: must be 2 or more weights for each of 3 people"),
        (np.full((3, 2), np.nan), 1.0, "must be finite numbers"),
        (np.ones((3, 2)), [1.0, 1.0, 1.0], "replicate_scale: must be one number of at least 0, or 2"),
    ):
        with pytest.raises(ParameterError, match=message):
            ReplicateDesign.of(np.ones(3), replicates, scales)
    for settings, message in (
        (("jk",), "replicate_method: must be one of jackknife, "),
        (("fay",), "replicate_fay: must be given for the method fay"),
        (("brr",), "replicate_fay: must be given for the method fay, and for no other"),
    ):
        with pytest.raises(ParameterError, match=message):
            replicate_scales(settings[0], 4, 0.3 if settings[0] == "brr" else None)
    sample = ReplicateDesign.of(np.ones(2), np.array([[1.0, 0.0], [1.0, 2.0]]), 1.0)
    with pytest.raises(ParameterError, match="1 of 2 have nobody of one"):
        sample.means([1.0, 2.0], [np.array([True, False])])


def test_nobody_and_empty_domains_have_no_estimate() -> None:
    sample = clustered(CLUSTERS)
    met = CLUSTERS["sch.wide"] == "Yes"
    nobody = np.zeros(len(met), dtype=bool)
    found = sample.means(met, [nobody, ~nobody])
    assert np.isnan(found.estimate[0])
    assert found.estimate[1] == pytest.approx(0.87431694)
    assert sample.means(met, [nobody]).df == 0
    assert SamplingDesign.of([]).means(np.zeros(0)).df == 0
