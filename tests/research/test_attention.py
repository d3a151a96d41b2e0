"""Shares corrected for random answers by an anchor question: against cWise, an optimiser, and chance itself."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from scipy.optimize import minimize

from deniable import KAry, ParameterError, TwoCoin
from deniable_research.attention import Anchor, AnchoredShare, anchored
from deniable_research.files import Layout, SamplingColumns, Table, estimate_shares, quick_question, read_layout
from deniable_research.files.estimating import cautions
from deniable_statistics.classical import crosswise
from deniable_statistics.published.published_rows import EstimateOptions
from tests.support.analyzing import ok, refused
from tests.support.marks import long

# Data set cmdata of the R package cWise (github.com/YukiAtsusaka/cWise): 2000 simulated people by their answers to the
# crosswise question (Y) and to the anchor (A), 1 for "same", and how many of each have the weight 5 instead of 1.25.
CMDATA = {(0, 0): (148, 32), (1, 0): (311, 59), (0, 1): (425, 87), (1, 1): (1116, 245)}

DESIGN = """
[[questions]]
column = "Y"
name = "q1"
design = "crosswise"
p = 0.15
anchor = "q2"

[[questions]]
column = "A"
name = "q2"
design = "crosswise"
p = 0.15
known_share = 0
"""


def people() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rows = [
        (y, a, weight)
        for (y, a), (n, heavy) in CMDATA.items()
        for weight, times in ((5.0, heavy), (1.25, n - heavy))
        for _ in range(times)
    ]
    y, a, w = np.array(rows).T
    return y, a, w


def found(weighted: bool = False) -> AnchoredShare:
    y, a, w = people()
    return anchored(crosswise("0.15"), y, Anchor(crosswise("0.15"), 0), a, w if weighted else None)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    y, a, w = people()
    lines = [f"{int(each)},{int(other)},{weight}" for each, other, weight in zip(y, a, w, strict=True)]
    (tmp_path / "cm.csv").write_text("\n".join(["Y,A,weight", *lines, "1,,1.25", ",0,5"]) + "\n", encoding="utf-8")
    (tmp_path / "cm.toml").write_text(DESIGN, encoding="utf-8")
    return tmp_path / "cm.csv"


def test_figures_of_cwise() -> None:
    """`bc.est(Y, A, p=0.15, p.prime=0.15, data=cmdata)` as its README prints it, rounded to four digits.

    Its errors are those of 200 bootstrap samples: a standard error misses by a twentieth, a percentile by .004.
    """
    plain = found()
    assert round(crosswise("0.15").estimate([573, 1427]).share[1], 4) == 0.1950
    assert (round(plain.share, 4), round(plain.attentive, 4)) == (0.1054, 0.7729)
    assert plain.std_error == pytest.approx(0.0208, rel=0.15)
    assert plain.confidence_interval() == pytest.approx((0.0649, 0.1394), abs=0.01)


def test_standard_error_is_that_of_many_bootstrap_samples() -> None:
    cells = [n for n, _ in CMDATA.values()]
    drawn = np.random.default_rng(4).multinomial(2000, np.array(cells) / 2000, 20000) @ np.array(list(CMDATA)) / 2000
    shares = ((drawn[:, 0] - 0.5) * 0.35 / (drawn[:, 1] - 0.5) - 0.35) / -0.7
    assert found().std_error == pytest.approx(shares.std(), rel=0.03)
    assert found().confidence_interval() == pytest.approx(np.quantile(shares, [0.025, 0.975]), abs=0.002)


def test_weighted_figures_of_cwise() -> None:
    """`bc.est(Y, A, weight=weight, p=0.15, p.prime=0.15, data=cmdata)`, likewise."""
    weighted = found(weighted=True)
    assert (round(weighted.share, 4), round(weighted.attentive, 4)) == (0.1097, 0.7888)
    assert weighted.std_error == pytest.approx(0.0250, rel=0.15)
    assert weighted.confidence_interval() == pytest.approx((0.0596, 0.1503), abs=0.012)


def test_sensitivity_analysis_of_cwise() -> None:
    """`cmBound(lambda.hat=0.6385, p=0.25, N=310)`: the line that it draws, by the formula of its source."""
    lam, p = 0.6385, 0.25
    naive = (lam + p - 1) / (2 * p - 1)
    for rate in (1.0, 0.8, 0.5):
        bias = (lam - 0.5) / (p - 0.5) * (1 - 1 / rate) / 2
        assert found_at(lam, rate, p) == pytest.approx(naive - bias)


def found_at(lam: float, rate: float, p: float) -> float:
    """The corrected share if the anchor says exactly that rate."""
    n = 10**5
    y = np.zeros(n)
    y[: round(lam * n)] = 1
    z = np.zeros(n)
    z[: round((0.5 + rate * 0.25) * n)] = 1
    return anchored(crosswise(str(p)), y, Anchor(crosswise("0.25"), 0), z).share


def test_likelihood_has_the_maximum_that_an_optimiser_finds() -> None:
    plain = found()
    cells = np.array([[148, 425], [311, 1116]])

    def against(parameters: np.ndarray) -> float:
        share, rate = parameters
        yes = 0.85 - 0.7 * share
        chances = rate * np.outer([1 - yes, yes], [0.15, 0.85]) + (1 - rate) / 4
        return -float((cells * np.log(chances)).sum())

    best = minimize(against, [0.2, 0.7], method="L-BFGS-B", bounds=[(0, 1), (0.01, 1)], options={"ftol": 1e-14})
    joint = plain.joint
    assert (joint.share, joint.attentive) == pytest.approx(tuple(best.x), abs=1e-4)
    assert joint.log_likelihood == pytest.approx(-best.fun, abs=1e-6)
    for end in joint.confidence_interval():
        inner = min(against(np.array([end, rate])) for rate in np.linspace(0.5, 1, 5001))
        assert inner - best.fun == pytest.approx(1.959964**2 / 2, abs=1e-4)
    assert joint.fit_p_value == pytest.approx(0.066, abs=0.001)


@pytest.mark.simulation
@pytest.mark.parametrize(
    ("n", "rate", "share", "p"),
    [(300, 0.8, 0.1, 0.15), (800, 1.0, 0.0, 0.25), long(800, 0.6, 0.3, 0.15), (90, 0.7, 0.3, 0.2)],
)
def test_intervals_cover(n: int, rate: float, share: float, p: float) -> None:
    """200 samples from one seed; at .95 fewer than 177 would happen once in ten thousand times."""
    generator = np.random.default_rng(2021)
    yes = (1 - p) + (2 * p - 1) * share
    chances = rate * np.outer([1 - yes, yes], [0.15, 0.85]) + (1 - rate) / 4
    anchor = Anchor(crosswise("0.15"), 0)
    moments = joint = 0
    for cells in generator.multinomial(n, chances.ravel(), 200):
        y, z = np.repeat([0, 0, 1, 1], cells), np.repeat([0, 1, 0, 1], cells)
        each = anchored(crosswise(str(p)), y, anchor, z)
        low, high = each.confidence_interval()
        moments += low - 1e-9 <= share <= high + 1e-9
        drop = each.joint.log_likelihood - each.joint._profile(share)[1]
        joint += drop <= 1.959964**2 / 2
    assert moments >= 177
    assert joint >= 177


def test_everybody_attends_and_nothing_is_corrected() -> None:
    y = np.repeat([0, 1], [300, 700])
    z = np.tile(np.repeat([0, 1], [15, 85]), 10)
    same = anchored(crosswise("1/6"), y, Anchor(crosswise("0.15"), 0), z)
    assert same.attentive == pytest.approx(1)
    assert same.share == pytest.approx(crosswise("1/6").estimate([300, 700]).share[1])


def test_an_anchor_that_everybody_has_is_as_good() -> None:
    y, a, _ = people()
    turned = anchored(crosswise("0.15"), y, Anchor(crosswise("0.15"), 1), 1 - a)
    assert (turned.share, turned.attentive) == pytest.approx((found().share, found().attentive))
    assert turned.confidence_interval() == pytest.approx(found().confidence_interval())


def test_nobody_attends_and_everything_is_possible() -> None:
    y, z = np.tile([0, 1], 200), np.tile([0, 0, 1, 1], 100)
    nobody = anchored(crosswise("0.15"), y, Anchor(crosswise("0.15"), 0), z)
    assert np.isnan(nobody.share)
    assert np.isnan(nobody.std_error)
    assert np.isnan(nobody.fake_margin)
    assert nobody.confidence_interval() == (0, 1)
    assert nobody.attentive_interval().low == 0
    assert nobody.joint.confidence_interval() == (0, 1)


def test_nobody_at_all_and_one_person() -> None:
    nobody = anchored(crosswise("0.15"), [], Anchor(crosswise("0.15"), 0), [])
    assert np.isnan(nobody.share)
    assert nobody.confidence_interval() == nobody.attentive_interval() == nobody.joint.confidence_interval() == (0, 1)
    for y, z in ((0, 0), (0, 1), (1, 0), (1, 1)):
        one = anchored(crosswise("0.15"), [y], Anchor(crosswise("0.15"), 0), [z])
        for low, high in (one.confidence_interval(), one.joint.confidence_interval(), one.attentive_interval()):
            assert 0 <= low <= high <= 1


def test_weights_count_in_proportion_and_zeros_not_at_all() -> None:
    y, a, w = people()
    anchor = Anchor(crosswise("0.15"), 0)
    doubled = anchored(crosswise("0.15"), y, anchor, a, 2 * w)
    assert doubled.confidence_interval() == pytest.approx(found(weighted=True).confidence_interval())
    more = anchored(crosswise("0.15"), [*y, 1, 0], anchor, [*a, 0, 0], [*w, 0, 0])
    assert (more.n, more.share) == (2000, pytest.approx(found(weighted=True).share))
    assert more.joint.share == pytest.approx(found(weighted=True).joint.share)


def test_what_cannot_correct_is_refused() -> None:
    with pytest.raises(ParameterError, match="known_share: must be a share in"):
        Anchor(crosswise("0.15"), "1.5")
    with pytest.raises(ParameterError, match="half of both say yes to"):
        Anchor(crosswise("0.15"), "1/2")
    with pytest.raises(ParameterError, match="anchor: must be a yes-no question of two responses"):
        Anchor(KAry.from_epsilon(3, 1), 0)
    with pytest.raises(ParameterError, match="question: must be a yes-no question"):
        anchored(KAry.from_epsilon(3, 1), [1], Anchor(TwoCoin("1/2", "1/4"), 0), [1])
    with pytest.raises(ParameterError, match="weights: must be 2 numbers"):
        anchored(crosswise("0.15"), [1, 0], Anchor(crosswise("0.15"), 0), [1, 0], [1])
    with pytest.raises(ParameterError, match="must all be 0 or 1"):
        anchored(crosswise("0.15"), [1, 2], Anchor(crosswise("0.15"), 0), [1, 0])


def test_rows_stand_beside_the_plain_ones(file: Path) -> None:
    table = Table.read(file, read_layout(DESIGN))
    rows = estimate_shares(table, ["q1"])
    assert [(row.option, row.statistic, row.method) for row in rows] == [
        ("no", "share", "feldman-cousins"),
        ("yes", "share", "feldman-cousins"),
        ("no", "corrected share", "fieller"),
        ("yes", "corrected share", "fieller"),
        ("attentive", "share", "feldman-cousins"),
    ]
    assert [row.n for row in rows] == [2001, 2001, 2000, 2000, 2000]
    assert round(rows[3].estimate or 0, 4) == 0.1054
    assert rows[2].conf_low == pytest.approx(1 - rows[3].conf_high)
    jointly = estimate_shares(table, ["q1"], jointly=True)
    assert (jointly[3].method, jointly[3].std_error) == ("profile likelihood", None)
    assert jointly[3].estimate == pytest.approx(found().joint.share)
    simple = estimate_shares(table, ["q1"], wanted=EstimateOptions(confidence_level=0.5))
    assert simple[3].conf_high - simple[3].conf_low < rows[3].conf_high - rows[3].conf_low


def test_under_a_sampling_design_nothing_is_corrected_and_that_is_said(file: Path) -> None:
    table = Table.read(file, replace(read_layout(DESIGN), sampling=SamplingColumns(population="100000")))
    plain = Table.read(file, read_layout(DESIGN))
    rows = estimate_shares(table, ["q1"])
    assert [(row.option, row.statistic) for row in rows] == [("no", "share"), ("yes", "share")]
    assert [row.estimate for row in rows] == [row.estimate for row in estimate_shares(plain, ["q1"])[:2]]
    sentence = (
        "q1: its anchor corrects nothing here, because errors of corrected shares under a sampling design are not known"
    )
    assert sentence in cautions(table, ["q1"])
    assert sentence not in cautions(plain, ["q1"])
    with pytest.raises(ParameterError, match="jointly: must not go with a sampling design"):
        estimate_shares(table, ["q1"], jointly=True)


def test_the_short_form_names_an_anchor_too(file: Path) -> None:
    layout = Layout(
        (
            quick_question("q1=Y: crosswise p=0.15 anchor=q2"),
            quick_question("q2=A: forced-response truth=0.7 forced=1/2,1/2 known_share=0"),
        )
    )
    yes = estimate_shares(Table.read(file, layout), ["q1"])[3]
    assert yes.statistic == "corrected share"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (('anchor = "q2"', 'anchor = "q3"'), r"q1: anchor must be another question \(q2\), got 'q3'"),
        (('anchor = "q2"', 'anchor = "q1"'), r"q1: anchor must be another question \(q2\), got 'q1'"),
        (('anchor = "q2"', 'anchor = "Q2"'), "got 'Q2'"),
        (("known_share = 0", ""), "q2: must say known_share, such as 0, to be the anchor of q1"),
        (("known_share = 0", "known_share = 0.5"), "half of both say yes to"),
        (("known_share = 0", "known_share = 7"), "known_share: must be a share"),
        (("known_share = 0", 'known_share = "many"'), "known_share"),
        (("known_share = 0", "known_shares = 0"), "known_shares"),
    ],
)
def test_design_files_are_checked(change: tuple[str, str], message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        read_layout(DESIGN.replace(*change))


def test_the_command_prints_raw_and_corrected_shares(file: Path) -> None:
    design = str(file.with_suffix(".toml"))
    text = ok("shares", str(file), "q1", "--design", design)
    assert "yes, corrected  2000    10.5 %" in text
    assert "attentive       2000    77.3 %" in text
    weighted = ok("shares", str(file), "q1", "--design", design, "--weights", "weight", "--joint")
    assert "95 % CI: Feldman-Cousins and profile-likelihood intervals for" in " ".join(weighted.split())
    picture = file.with_name("x.svg")
    ok("shares", str(file), "--design", design, "--misbehaving", "0.1", "--plot", str(picture))
    assert "yes, corrected" in picture.read_text(encoding="utf-8")
    assert "--misbehaving" in refused("shares", str(file), "--design", design, "--misbehaviour", "lying")
