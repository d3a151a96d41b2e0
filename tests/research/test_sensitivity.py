"""How results depend on people who misbehave: rows over how many, as the command prints them."""

from __future__ import annotations

import csv
import io
import json
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest

from deniable import Geometric, ParameterError, TwoCoin
from deniable_research.attention import corrected
from deniable_research.files import Layout, Table, estimate_shares, quick_question
from deniable_research.files.sensitivity import sensitivity
from deniable_statistics.classical import (
    cheater_detection,
    crosswise,
    stochastic_lie_detector,
    unrelated_question_unknown,
)
from deniable_statistics.classical.channel import Groups
from deniable_statistics.classical.derived import combined_share, derived_rows
from deniable_statistics.intervals import contaminated_interval, share_interval
from deniable_statistics.published.published_rows import EstimateOptions
from deniable_statistics.robustness.misbehaviour import Misbehaving
from tests.support.analyzing import STUDY, ok, refused

QUESTION = "q: crosswise p=0.15 codes=same:1,different:0"


@pytest.fixture
def table() -> Table:
    return Table.of({"q": ("1",) * 1427 + ("0",) * 573}, Layout((quick_question(QUESTION),)))


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "q.csv"
    path.write_text("q\n" + "1\n" * 143 + "0\n" * 57, encoding="utf-8")
    return path


def test_a_known_share_of_careless_people_is_taken_out() -> None:
    """(lam - d / 2) / (1 - d) is what the others send: .7135 and a fifth give .766875."""
    estimate = crosswise("0.15").estimate([573, 1427])
    found = corrected(estimate, Misbehaving(0.2, ["careless"]))[1]
    assert found.share == pytest.approx((0.766875 - 0.85) / -0.7)
    low, high = found.interval
    assert low < found.share < high
    plain = corrected(estimate, Misbehaving(0.0, ["careless"]))[1]
    assert plain.interval == pytest.approx(estimate.confidence_interval()[1], abs=1e-9)


def test_who_denies_a_device_leaves_the_others_a_larger_share() -> None:
    estimate = TwoCoin("1/2", "1/2").estimate([570, 430])
    assert corrected(estimate, Misbehaving(0.1, ["denial"]))[1].share == pytest.approx(0.36 / 0.9)
    normal = Geometric.from_epsilon(0, 3, 2).estimate([400, 300, 200, 100])
    for share, found in zip(normal.share, corrected(normal, Misbehaving(0.0, ["careless"])), strict=True):
        assert found.share == pytest.approx(share)


def test_only_what_is_known_can_be_taken_out() -> None:
    estimate = crosswise("0.15").estimate([573, 1427])
    for kinds in (["anything"], ["lying"], ["careless", "denial"]):
        with pytest.raises(ParameterError, match="must be one of careless, noncompliance, denial"):
            corrected(estimate, Misbehaving(0.2, kinds))


@pytest.mark.slow
def test_rows_go_from_nobody_to_the_most(table: Table) -> None:
    rows = sensitivity(table, suspected=Misbehaving(0.4), steps=4)
    assert [row.misbehaving for row in rows if row.option == "yes"] == [0, 0.1, 0.2, 0.3, 0.4]
    assert all(row.corrected is None for row in rows)
    known = sensitivity(table, suspected=Misbehaving(0.25, ["careless"]), steps=2)
    assert [round(row.corrected or 0, 3) for row in known if row.option == "yes"] == [0.195, 0.151, 0.093]


@pytest.mark.parametrize("kind", ["anything", "lying"])
def test_designs_of_two_groups_have_bounds(kind: str) -> None:
    suspected = Misbehaving(0.05, [kind])
    estimates = (
        cheater_detection(["1/4", "3/4"]).estimate([[310, 190], [170, 330]]),
        unrelated_question_unknown("0.7", "0.3").estimate([[200, 300], [300, 200]]),
        stochastic_lie_detector("0.2", "0.8").estimate([[170, 330], [300, 200]]),
    )
    for estimate in estimates:
        for share, found in zip(estimate.share, suspected.shares(estimate), strict=True):
            assert found.interval.low <= found.bounds.low <= share <= found.bounds.high <= found.interval.high
    honest = combined_share(estimates[2], ["yes, honest"], ["yes, honest", "yes, lying"])
    nobody, some = honest.robust(Misbehaving(0)), honest.robust(suspected)
    assert nobody.bounds == pytest.approx((honest.estimate, honest.estimate), abs=1e-9)
    assert nobody.interval == pytest.approx(honest.confidence_interval(), abs=0.01)
    assert some.interval.low < some.bounds.low < honest.estimate < some.bounds.high < some.interval.high
    carriers = combined_share(estimates[2], ["yes, honest", "yes, lying"]).robust(suspected)
    assert carriers.bounds.low < 0.5667 < carriers.bounds.high


def test_denial_of_groups_is_refused() -> None:
    estimate = cheater_detection(["1/4", "3/4"]).estimate([[310, 190], [170, 330]])
    with pytest.raises(ParameterError, match="must not be denial for a design of groups"):
        Misbehaving(0.1, ["denial"]).shares(estimate)


@pytest.mark.slow
def test_the_command_prints_and_draws(file: Path) -> None:
    arguments = ("sensitivity", str(file), "--question", QUESTION, "--steps", "2")
    assert "at most 20.0 % of the people misbehave" in ok(*arguments)
    picture = file.with_suffix(".svg")
    text = ok(
        *arguments, "--misbehaving", "0.3", "--misbehaviour", "careless", "--plot", str(picture), "--format", "csv"
    )
    rows = list(csv.DictReader(io.StringIO(text)))
    assert [row["misbehaving"] for row in rows] == ["0.0", "0.15", "0.3"] * 2
    assert "robust interval" in picture.read_text(encoding="utf-8")
    document = json.loads(ok(*arguments, "--format", "json", "--among", "truthful", "--misbehaving", "0.1"))
    assert (document["misbehaviour"], document["among"]) == (["anything"], "truthful")


def test_shares_of_a_study_have_bounds_beside_them() -> None:
    rows = json.loads(ok("shares", *STUDY, "--misbehaving", "0.05", "--format", "json"))["estimates"]
    assert rows
    for row in rows:
        assert row["misbehaving"] == 0.05
        assert row["robust_low"] <= row["bound_low"] <= row["bound_high"] <= row["robust_high"]


def test_intervals_of_a_file_hold_whatever_fakes_say(file: Path) -> None:
    arguments = ("shares", str(file), "--question", QUESTION)
    text = ok(*arguments, "--assume-fake", "0.05")
    assert "They hold the figures behind the other rows if up to 5.0 % of all are fake, whatever these say." in text
    assert "The intervals do not include that." not in text
    assert "The intervals do not include that." in ok(*arguments)
    no, yes = json.loads(ok(*arguments, "--assume-fake", "0.05", "--format", "json"))["estimates"]
    assert (yes["conf_low"], yes["conf_high"]) == pytest.approx(contaminated_interval(143, 200, (0.15, 0.85), 10))
    assert no["assumed_fake"] == yes["assumed_fake"] == 0.05


def test_fakes_of_a_file_are_of_all_rows_and_their_weights() -> None:
    layout = Layout((quick_question(QUESTION),), weights="w")
    columns = {"q": ("1",) * 60 + ("0",) * 40, "w": ("1",) * 50 + ("2",) * 50, "group": ("a",) * 50 + ("b",) * 50}
    rows = estimate_shares(Table.of(columns, layout), by="group", wanted=EstimateOptions(assume_fake=0.05))
    in_b = next(row for row in rows if (row.cohort, row.option) == ("b", "yes"))
    # 7.5 of a weight of 150 may be fake, all in the group with 100, whose 50 reports count alike.
    wanted = (
        share_interval(50 * 0.925**2 * 20 / 92.5, 50 * 0.925**2, (0.15, 0.85)),
        share_interval(50 * 0.925**2 * 12.5 / 92.5, 50 * 0.925**2, (0.15, 0.85)),
    )
    assert (in_b.conf_low, in_b.conf_high) == pytest.approx((wanted[0].low, wanted[1].high), abs=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize("design", [stochastic_lie_detector("0.2", "0.8"), unrelated_question_unknown("0.7", "0.3")])
def test_figures_of_designs_of_two_groups_hold_with_fakes(design: Groups) -> None:
    estimate = design.estimate([[170, 330], [300, 200]])
    wider = estimate.confidence_interval(fakes=20)
    for plain, found in zip(estimate.confidence_interval(), wider, strict=True):
        assert found.low <= plain.low <= plain.high <= found.high
        assert found.high - found.low > min(plain.high - plain.low + 0.005, 1 - 1e-9)
    for taken in ((20, 0, 0, 0), (0, 20, 0, 0), (0, 0, 20, 0), (0, 0, 0, 20), (10, 0, 0, 10), (0, 10, 10, 0)):
        left = design.estimate([[170 - taken[0], 330 - taken[1]], [300 - taken[2], 200 - taken[3]]])
        for outer, inner in zip(wider, left.confidence_interval(), strict=True):
            assert outer.low <= inner.low + 0.01
            assert inner.high <= outer.high + 0.01
    with pytest.raises(ParameterError, match="method: must be by likelihood ratio to assume fakes in groups, got wald"):
        estimate.confidence_interval(method="wald", fakes=5)


@pytest.mark.slow
def test_derived_figures_hold_with_fakes() -> None:
    sld = stochastic_lie_detector("0.2", "0.8").estimate([[170, 330], [300, 200]])
    honest = combined_share(sld, ["yes, honest"], ["yes, honest", "yes, lying"])
    plain, found = honest.confidence_interval(), honest.confidence_interval(fakes=20)
    assert found.low < plain.low - 0.005
    assert found.high > plain.high + 0.005
    rows = list(derived_rows(sld, sld.design.derived, "q", 1.0, None, EstimateOptions(assume_fake=0.02), 1000))
    assert {row.assumed_fake for row in rows} == {0.02}
    boxes = combined_share(TwoCoin("1/2", "1/2").estimate([570, 430]), [1])
    with pytest.raises(ParameterError, match="fakes: must go with an interval by likelihood ratio"):
        boxes.confidence_interval(fakes=3)


def test_fakes_are_refused_where_they_are_not_known(file: Path, tmp_path: Path) -> None:
    weighted = tmp_path / "weighted.csv"
    weighted.write_text("q,w,psu\n" + "1,1,a\n0,1,b\n1,2,c\n" * 9, encoding="utf-8")
    sampled = ("shares", str(weighted), "--question", QUESTION, "--weights", "w", "--cluster", "psu")
    assert "assume_fake: must not go with a sampling design" in refused(*sampled, "--assume-fake", "0.02")
    both = ("shares", str(file), "--question", QUESTION, "--assume-fake", "0.02", "--misbehaving", "0.1")
    assert "assume_fake: must not go with misbehaving" in refused(*both)
    assert "0.5" in refused("shares", str(file), "--question", QUESTION, "--assume-fake", "0.6")
    anchored = replace(quick_question(QUESTION), anchor="anchor")
    layout = Layout((anchored, replace(quick_question(f"anchor{QUESTION[1:]}"), known_share=Fraction(0))))
    table = Table.of({"q": ("1", "0") * 20, "anchor": ("1", "0") * 20}, layout)
    with pytest.raises(ParameterError, match="assume_fake: must not go with q, which has an anchor question"):
        estimate_shares(table, ["q"], wanted=EstimateOptions(assume_fake=0.02))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--misbehaviour", "lying"), "go with --misbehaving"),
        (("--among", "truthful"), "go with --misbehaving"),
        (("--misbehaving", "1"), "0.99"),
        (("--misbehaving", "-0.1"), "--misbehaving"),
        (("--misbehaving", "5%"), "--misbehaving"),
        (("--misbehaving", "0.1", "--misbehaviour", "Lying"), "lying"),
        (("--misbehaving", "0.1", "--target", "respondents"), "target population"),
    ],
)
def test_the_command_refuses(file: Path, options: tuple[str, ...], message: str) -> None:
    assert message in refused("shares", str(file), "--question", QUESTION, *options)
