"""Questions that were asked by several designs, a direct one among them."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.optimize import minimize

from deniable import ParameterError, ReportError
from deniable_research.files import Table, compare, cross, estimate_shares, read_layout, regress
from deniable_research.files.mixed import Agreement, agreement, shares_together
from deniable_research.regression import class_shares, grouped, response_models
from deniable_statistics.classical import (
    cheater_detection,
    crosswise,
    disguised_response,
    forced_response,
    kuk,
    mangat,
    stochastic_lie_detector,
    triangular,
    unrelated_question,
    unrelated_question_unknown,
    warner,
)
from deniable_statistics.classical.channel import Groups
from tools.rig.command_line import CommandLine

DESIGN = """
[[questions]]
column = "q1"
name = "affair"
arm = "condition"
[questions.arms.RR]
design = "forced-response"
truth = "2/3"
codes = {no = "2", yes = "1"}
[questions.arms.DQ]
design = "direct"
[questions.arms.SLD]
design = "stochastic-lie-detector"
p1 = "0.2"
p2 = "0.8"
group = "grp"
[[questions]]
column = "q2"
name = "drugs"
design = "warner"
p = "3/4"
"""


def columns(n: int = 3000, seed: int = 5, direct: float = 0.3) -> dict[str, list[str]]:
    """People of whom 30 % carry the trait, or `direct` of those who are asked directly, who take drugs more often."""
    rng = np.random.default_rng(seed)
    arm = rng.choice(["RR", "DQ", "SLD"], n, p=[0.4, 0.3, 0.3])
    group = rng.integers(0, 2, n)
    carrier = rng.random(n) < np.where(arm == "DQ", direct, 0.3)
    told = np.where(rng.random(n) < 2 / 3, carrier, rng.random(n) < 0.5)
    lying = np.where(carrier, rng.random(n) < 0.8, rng.random(n) > np.array([0.2, 0.8])[group])
    said = {
        "RR": np.where(told, "1", "2"),
        "DQ": np.where(carrier, "yes", "no"),
        "SLD": np.where(lying, "yes", "no"),
    }
    drugs = rng.random(n) < np.where(carrier, 0.6, 0.2)
    noisy = np.where(rng.random(n) < 0.75, drugs, ~drugs)
    return {
        "condition": arm.tolist(),
        "grp": [str(each + 1) for each in group],
        "q1": [str(said[each][i]) for i, each in enumerate(arm)],
        "q2": np.where(noisy, "yes", "no").tolist(),
        "psu": [str(i % 40) for i in range(n)],
    }


TABLE = Table.of(columns(), read_layout(DESIGN))

TWO_GROUPS = """
[[questions]]
column = "q"
design = "unrelated-question-unknown"
p1 = "3/4"
p2 = "1/4"
group = "grp"
"""

GROUP_0_IS_DIRECT = """
[[questions]]
column = "q"
arm = "grp"
[questions.arms.0]
design = "direct"
[questions.arms.unrelated]
design = "unrelated-question-unknown"
p1 = "3/4"
p2 = "1/4"
group = "grp"
"""


def unrelated(n: int = 4000, seed: int = 8) -> dict[str, list[str]]:
    """People of whom 30 % carry the trait, more in the south, who earn one more; group 0 was asked directly."""
    rng = np.random.default_rng(seed)
    group, south = rng.integers(0, 3, n), rng.random(n) < 0.5
    carrier, other = rng.random(n) < np.where(south, 0.4, 0.2), rng.random(n) < 0.5
    yes = np.where(rng.random(n) < np.array([1, 0.75, 0.25])[group], carrier, other)
    return {
        "grp": group.astype(str).tolist(),
        "q": np.where(yes, "yes", "no").tolist(),
        "region": np.where(south, "S", "N").tolist(),
        "income": [f"{each:.4f}" for each in rng.normal(5 + carrier)],
    }


def only_groups(columns: dict[str, list[str]]) -> dict[str, list[str]]:
    kept = [place for place, each in enumerate(columns["grp"]) if each != "0"]
    return {name: [each[place] for place in kept] for name, each in columns.items()}


CLASSICAL: dict[str, Any] = {
    "warner": warner("0.7"),
    "forced response": forced_response("2/3", ["1/4", "3/4"]),
    "unrelated question": unrelated_question("0.7", "0.3"),
    "kuk": kuk("0.8", "0.2", repetitions=3),
    "mangat": mangat("0.6"),
    "crosswise": crosswise("1/6"),
    "triangular": triangular("1/4"),
    "disguised response": disguised_response("0.8"),
    "cheater detection": cheater_detection(["1/4", "3/4"]),
    "stochastic lie detector": stochastic_lie_detector("0.2", "0.8"),
    "unrelated, unknown": unrelated_question_unknown("0.7", "0.3"),
}


def response_shares(name: str, g: float, s: float) -> list[list[float]]:
    """The probabilities of the responses of each group, from the published equations, written here once more."""
    design = CLASSICAL[name]
    if not isinstance(design, Groups):
        return [[float(row[0]) * (1 - g) + float(row[1]) * g for row in design.matrix]]
    if name == "cheater detection":  # s cheat and say no
        yes = [g + (1 - g - s) * told for told in (0.25, 0.75)]
    elif name == "stochastic lie detector":  # s of the carriers are honest; the others say no with p
        yes = [g * s + (1 - g) * (1 - p) for p in (0.2, 0.8)]
    else:  # s carry the unrelated trait
        yes = [p * g + (1 - p) * s for p in (0.7, 0.3)]
    return [[1 - each, each] for each in yes]


@pytest.mark.parametrize("name", CLASSICAL)
def test_a_design_beside_a_direct_arm_equals_an_independent_likelihood(name: str) -> None:
    design = CLASSICAL[name]
    rng = np.random.default_rng(31)
    truth, unknown = 0.3, 0.15 if name == "cheater detection" else 0.8
    counts = [rng.multinomial(800, each) for each in response_shares(name, truth, unknown)]
    direct = rng.multinomial(500, [1 - truth, truth])

    def objective(params: Any) -> float:
        g, s = 1 / (1 + np.exp(-params))
        total = direct @ np.log([1 - g, g])
        for count, shares in zip(counts, response_shares(name, g, s), strict=True):
            total += count @ np.log(np.maximum(shares, 1e-300))
        return -float(total)

    two = isinstance(design, Groups)
    other = minimize(
        objective if two else lambda p: objective(np.append(p, 0)), np.full(1 + two, -0.5), method="BFGS", tol=1e-9
    )
    models = response_models(design, "design")
    reports: list[int] = []
    by: list[int] = []
    people: list[int] = []
    for g, count in enumerate([*counts, direct]):
        reports += range(len(count))
        by += [g] * len(count)
        people += count.tolist()
    mixed = grouped({**dict(enumerate(models)), len(models): (1, 0)}, by)
    kept = np.array(people) > 0
    mixed = type(mixed)(mixed.models, np.array(by)[kept])
    found = class_shares({"q": np.array(reports)[kept]}, {"q": mixed}, frequencies=np.array(people)[kept])
    assert found.fit.loglik == pytest.approx(-other.fun, abs=1e-6)
    assert found.share[1] == pytest.approx(1 / (1 + math.exp(-other.x[0])), abs=1e-6)
    if two:
        assert found.fit.params[-1] == pytest.approx(1 / (1 + math.exp(-other.x[1])), abs=2e-6)


@pytest.mark.slow
def test_each_arm_is_a_question_and_all_together_are_one() -> None:
    rows = {(row.question, row.option): row for row in estimate_shares(TABLE, ["affair"])}
    assert rows["affair (DQ)", "yes"].n == columns()["condition"].count("DQ")
    assert {("affair (SLD)", "prevalence"), ("affair (SLD)", "t, honest among carriers")} <= rows.keys()
    whole, honest = rows["affair", "yes"], rows["affair", "honest carriers"]
    assert whole.n == 3000
    assert whole.method == "profile"
    assert whole.conf_low < 0.3 < whole.conf_high
    assert honest.conf_low < 0.8 < honest.conf_high
    assert all(whole.std_error < rows[arm, "yes"].std_error for arm in ("affair (RR)", "affair (DQ)"))  # type: ignore[operator]
    assert rows["affair", "no"].estimate == pytest.approx(1 - whole.estimate, abs=1e-6)  # type: ignore[operator]
    assert rows["affair", "no"].conf_low == pytest.approx(1 - whole.conf_high, abs=1e-5)


@pytest.mark.slow
def test_numbers_are_no_labels_of_a_model_however_they_are_asked_for() -> None:
    file = columns(120)
    table = Table.of({**file, "income": [str(1000 + place) for place in range(120)]}, read_layout(DESIGN))
    with pytest.raises(
        ParameterError, match="income must have at most 50 labels, got 120; numbers have a linear model"
    ):
        regress(table, "income ~ affair", model="logistic")


@pytest.mark.parametrize(("n", "seed"), [(20, 30), (23, 93), (35, 105)])
def test_few_people_have_a_row_for_each_answer_whichever_is_the_largest(n: int, seed: int) -> None:
    table = Table.of(columns(n, seed), read_layout(DESIGN))
    mixed = [row for row in estimate_shares(table, ["affair"]) if row.question == "affair"]
    assert [row.option for row in mixed] == ["no", "yes", "honest carriers"]
    assert sum(row.estimate or 0 for row in mixed[:2]) == pytest.approx(1)
    cells = [row for row in cross(table, ["affair", "drugs"]) if row.measure == "joint"]
    assert len(cells) == 4
    assert sum(row.estimate or 0 for row in cells) == pytest.approx(1)


def test_arms_agree_or_it_is_said() -> None:
    same = agreement(TABLE, "affair")
    assert same is not None
    assert (same.df, same.p_value > 0.01) == (2, True)
    table = Table.of(columns(direct=0.12), read_layout(DESIGN))
    rows = compare(table, "affair", "condition")
    assert [(row.first, row.second) for row in rows] == [("RR", "DQ"), ("RR", "SLD"), ("DQ", "SLD"), (None, None)]
    assert rows[0].conf_low is not None
    assert rows[0].conf_low > 0
    assert rows[-1].p_value is not None
    assert rows[-1].p_value < 1e-6
    flags = [row.flag for row in estimate_shares(table, ["affair"]) if row.question == "affair" and row.flag]
    assert flags
    assert flags[0].startswith("arms do not agree: likelihood ratio \u03c7\u00b2(2)")


@pytest.mark.long
@pytest.mark.simulation
def test_the_test_of_agreement_has_its_level() -> None:
    layout = read_layout(DESIGN)
    rejected = 0
    for seed in range(200):
        found = agreement(Table.of(columns(900, seed), layout), "affair")
        assert found is not None
        rejected += found.p_value < 0.05
    assert 1 <= rejected <= 25  # of 200 at 5 %: outside with probability below 4e-5; the seeds are fixed


def test_regressions_take_them_on_both_sides() -> None:
    outcome = regress(TABLE, "affair ~ drugs")
    assert "honest carriers" in outcome.terms
    predictor = regress(TABLE, "drugs ~ affair")
    rows = {row.term: row for row in predictor.tidy()}
    truth = math.log(0.6 / 0.4) - math.log(0.2 / 0.8)
    assert rows["affair[T.yes]"].conf_low < truth < rows["affair[T.yes]"].conf_high
    assert rows["affair[T.yes]"].std_error < 0.4
    assert "affair: honest carriers" in rows


@pytest.mark.slow
def test_crosstabs_take_them_by_likelihood() -> None:
    rows = cross(TABLE, ["affair", "drugs"])
    cells = {(row.first_option, row.second_option): row for row in rows if row.measure == "joint"}
    truth = {("no", "no"): 0.56, ("no", "yes"): 0.14, ("yes", "no"): 0.12, ("yes", "yes"): 0.18}
    for key, share in truth.items():
        assert cells[key].estimate is not None
        assert abs(cells[key].estimate - share) < 4.9 * cells[key].std_error  # type: ignore[operator]
    assert sum(row.estimate or 0 for row in cells.values()) == pytest.approx(1)
    by = {row.measure: row for row in rows}
    phi = (0.56 * 0.18 - 0.14 * 0.12) / math.sqrt(0.7 * 0.3 * 0.68 * 0.32)
    assert abs(by["correlation"].estimate - phi) < 4.9 * by["correlation"].std_error  # type: ignore[operator]
    assert by["independence"].p_value is not None
    assert by["independence"].p_value < 1e-6
    given = {(row.first_option, row.second_option): row for row in cross(TABLE, ["affair", "drugs"], given="affair")}
    assert given["yes", "yes"].estimate == pytest.approx(
        cells["yes", "yes"].estimate / (cells["yes", "yes"].estimate + cells["yes", "no"].estimate),  # type: ignore[operator]
        abs=1e-6,
    )


def test_the_correlation_has_the_error_of_the_delta_method() -> None:
    found = shares_together(TABLE, ["affair", "drugs"])
    row = next(each for each in cross(TABLE, ["affair", "drugs"]) if each.measure == "correlation")

    def phi(share: Any) -> float:
        a, b, c, d = share
        return float((a * d - b * c) / math.sqrt((a + b) * (c + d) * (a + c) * (b + d)))

    slope = [(phi(found.share + move) - phi(found.share - move)) / 2e-6 for move in np.eye(4) * 1e-6]
    # shares move along the simplex only, where both slopes have the same products with the covariance
    error = math.sqrt(np.array(slope) @ found.covariance @ np.array(slope))
    assert row.std_error == pytest.approx(error, rel=1e-5)


@pytest.mark.slow
def test_sampling_designs_reach_them() -> None:
    table = Table.of(columns(), read_layout('cluster = "psu"' + DESIGN))
    whole = [row for row in estimate_shares(table, ["affair"]) if row.question == "affair"]
    assert whole[1].method == "wald"
    assert whole[1].df == 39  # type: ignore[attr-defined]
    plain = [row for row in estimate_shares(TABLE, ["affair"]) if row.question == "affair"]
    assert whole[1].estimate == pytest.approx(plain[1].estimate, abs=1e-6)
    assert whole[1].std_error == pytest.approx(plain[1].std_error, rel=0.35)


@pytest.mark.slow
def test_what_does_not_fit_is_said(tmp_path: Path) -> None:
    wrong = columns(50)
    wrong["condition"][0] = "other"
    with pytest.raises(
        ReportError, match="must hold the arms of affair, RR, DQ, SLD, or nothing; got something else in 1"
    ):
        Table.of(wrong, read_layout(DESIGN))
    with pytest.raises(ParameterError, match="must be one of its arms for this analysis"):
        compare(TABLE, "affair", "grp")
    for text, message in {
        DESIGN.replace('arm = "condition"', ""): "must have arm, a column, and a table",
        DESIGN.replace('arm = "condition"', 'arm = "condition"\ndesign = "direct"'): "designs in the arms",
        DESIGN.replace('design = "direct"', 'design = "direct"\noptions = ["a", "b", "c"]'): "ask for the same answers",
        DESIGN.replace('name = "drugs"', 'name = "affair"'): "got 'affair' twice",
    }.items():
        with pytest.raises(ParameterError, match=message):
            read_layout(text)
    file, design = tmp_path / "mix.csv", tmp_path / "mix.toml"
    design.write_text(DESIGN, encoding="utf-8")
    people = columns(400)
    people["condition"][3] = ""  # nobody knows what was asked, so it counts nowhere
    lines = [",".join(people), *map(",".join, zip(*people.values(), strict=True))]
    file.write_text("\n".join(lines), encoding="utf-8")
    shown = CommandLine("analyze", "shares").ok(file, "--design", design)
    assert "honest carriers" in shown
    assert " 399 " in shown
    assert "DQ − SLD" in CommandLine("analyze", "compare").ok(file, "affair", "--design", design)


# --- questions of two groups beside plain columns, and direct arms that are coded 0


def test_a_crosstab_of_a_two_group_question_and_a_plain_column_is_that_of_a_saturated_model() -> None:
    table = Table.of(only_groups(unrelated()), read_layout(TWO_GROUPS))
    for names in (["q", "region"], ["region", "q"]):
        rows = cross(table, names)
        joint = {(row.first_option, row.second_option): row for row in rows if row.measure == "joint"}
        assert sum(row.estimate or 0 for row in joint.values()) == pytest.approx(1)
        fit = regress(table, "q ~ region")
        north, more = fit.params[:2]
        share = 1 / (1 + np.exp(-north))
        yes = joint["yes", "N"] if names[0] == "q" else joint["N", "yes"]
        no = joint["no", "N"] if names[0] == "q" else joint["N", "no"]
        assert yes.estimate is not None
        assert no.estimate is not None
        assert yes.estimate / (yes.estimate + no.estimate) == pytest.approx(share, abs=1e-5)
        (odds,) = (row for row in rows if row.measure == "odds ratio")
        assert odds.estimate == pytest.approx(np.exp(more), rel=1e-4)
        (test,) = (row for row in rows if row.measure == "independence")
        assert test.statistic == pytest.approx(fit.glance().lr_statistic, abs=1e-4)
    among = [row for row in cross(table, ["q", "region"], given="region") if row.measure == "conditional"]
    for row, truth in zip(among, (0.8, 0.6, 0.2, 0.4), strict=True):
        assert row.conf_low is not None
        assert row.conf_high is not None
        assert row.conf_low < truth < row.conf_high


def test_a_number_is_regressed_on_a_two_group_question_by_likelihood_and_moments_say_so() -> None:
    table = Table.of(only_groups(unrelated()), read_layout(TWO_GROUPS))
    row = regress(table, "income ~ q", likelihood=True).tidy()[1]
    assert row.term == "q[T.yes]"
    assert abs(row.estimate - 1) < 5 * row.std_error  # a failure once in two million seeds
    assert row.std_error < 0.1
    with pytest.raises(
        ParameterError, match=r"finds out the share of unrelated yes; take the likelihood .*--likelihood"
    ):
        regress(table, "income ~ q")
    with pytest.raises(ParameterError, match="regress income on that question, with --likelihood"):
        cross(table, ["q", "income"])


def test_a_direct_arm_coded_0_in_the_column_of_groups_counts() -> None:
    table = Table.of(unrelated(), read_layout(GROUP_0_IS_DIRECT))
    assert table.groups_of("q (unrelated)").tolist() == [int(each) - 1 for each in unrelated()["grp"]]
    rows = [row for row in estimate_shares(table) if row.option == "yes"]
    alone = Table.of(only_groups(unrelated()), read_layout(TWO_GROUPS)).estimate("q")
    by_name = {row.question: row for row in rows}
    assert by_name["q (unrelated)"].estimate == pytest.approx(alone.share[1], abs=1e-6)
    assert by_name["q"].n == 4000
    together, direct, groups = (by_name[name] for name in ("q", "q (0)", "q (unrelated)"))
    assert together.estimate == pytest.approx(0.3, abs=5 * (together.std_error or 0))
    assert (together.std_error or 0) < (direct.std_error or 0) < (groups.std_error or 0)


def test_what_stands_for_the_group_of_people_in_another_arm_means_nothing() -> None:
    given = columns()
    given["grp"] = [group if arm == "SLD" else "0" for group, arm in zip(given["grp"], given["condition"], strict=True)]
    whole = [row.estimate for row in estimate_shares(Table.of(given, read_layout(DESIGN)))]
    assert whole == [row.estimate for row in estimate_shares(TABLE)]


def test_a_group_that_the_design_does_not_know_is_pointed_to_arms() -> None:
    table = Table.of(unrelated(), read_layout(TWO_GROUPS))
    with pytest.raises(ReportError, match=r"asked directly \(0 in RRreg\) are an arm of the question, arm = \"grp\""):
        estimate_shares(table)


@pytest.mark.parametrize("effect", ["(1|region)", "(1 + age | region)", "(0 + age||region)", "(1|region/town)"])
def test_random_effects_are_refused_by_name_with_what_there_is_instead(effect: str) -> None:
    with pytest.raises(ParameterError) as refused:
        regress(TABLE, f"affair ~ {effect}")
    assert "random effects are not offered; take C(region" in str(refused.value)
    assert "--cluster" in str(refused.value)


def test_no_p_value_is_printed_as_zero() -> None:
    assert str(Agreement(50.0, 1, 1e-12)) == "likelihood ratio \u03c7\u00b2(1) = 50, p < 0.0001"
    assert str(Agreement(2.0, 1, 0.1573)) == "likelihood ratio \u03c7\u00b2(1) = 2, p = 0.1573"
    table = Table.of(columns(direct=0.8), read_layout(DESIGN))
    flags = [row.flag for row in estimate_shares(table, ["affair"]) if row.flag]
    assert flags
    assert all("p < 0.0001" in flag for flag in flags)
