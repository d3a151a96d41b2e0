"""Formulas and columns as analysts write them: what computes with columns, and columns that hold reports."""

import math
import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from deniable.errors import ParameterError, ReportError
from deniable_research.files import Layout, Table, compare, cross, quick_question, read_layout, regress
from deniable_research.regression import Fit, linear_moments, logistic, refitted
from tests.support.analyzing import TWO_ARMS

PEOPLE = 600
DESIGN = f"""
[[questions]]
column = "said"
name = "affair"
{TWO_ARMS}
[[questions]]
column = "q7"
name = "old"
design = "forced-response"
truth = "2/3"
"""


@pytest.fixture(scope="module")
def table() -> Table:
    generator = np.random.default_rng(1)
    age = generator.normal(40, 10, PEOPLE).round(1)
    yes = generator.random((2, PEOPLE)) < [1 / (1 + np.exp((40 - age) / 10)), np.full(PEOPLE, 0.4)]
    asked_directly = np.arange(PEOPLE) % 2 == 1
    coins = generator.random((2, PEOPLE)) < 2 / 3
    sent = np.where(coins, yes, generator.random((2, PEOPLE)) < 0.5)
    columns = {
        "said": np.where(asked_directly, yes[0], sent[0]),
        "q7": sent[1],
        "arm": np.where(asked_directly, "DQ", "RR"),
        "region": generator.choice(["north", "south"], PEOPLE),
        "net age": age,
    }
    texts = {
        name: tuple(np.where(each, "yes", "no") if each.dtype == bool else map(str, each))
        for name, each in columns.items()
    }
    return Table.of(texts, read_layout(DESIGN))


@pytest.mark.parametrize("transform", ["scale(`net age`)", "center(`net age`)", "poly(`net age`, 1)"])
def test_transforms_of_columns_describe_the_same_model(table: Table, transform: str) -> None:
    plain, moved = regress(table, "affair ~ old + `net age`"), regress(table, f"affair ~ old + {transform}")
    assert isinstance(plain, Fit)
    assert isinstance(moved, Fit)
    assert moved.loglik == pytest.approx(plain.loglik, abs=1e-6)
    assert moved.params[1] == pytest.approx(plain.params[1], abs=1e-4)


@pytest.mark.parametrize("transform", ["scale(`net age`)", "center(`net age`)", "poly(`net age`, 1)"])
def test_one_gap_in_a_column_leaves_out_one_row(table: Table, transform: str) -> None:
    columns = {name: tuple(table.columns[name].array(object, "")) for name in table.columns}
    columns["net age"] = ("", *columns["net age"][1:])
    gapped = Table.of(columns, table.layout)
    plain, moved = regress(gapped, "affair ~ old + `net age`"), regress(gapped, f"affair ~ old + {transform}")
    assert isinstance(plain, Fit)
    assert isinstance(moved, Fit)
    assert moved.n == plain.n == PEOPLE - 1
    assert moved.n_dropped == plain.n_dropped == 1
    assert moved.loglik == pytest.approx(plain.loglik, abs=1e-6)


def test_labels_on_the_left_side_are_written_as_they_are(table: Table) -> None:
    with pytest.raises(ParameterError, match=r"one column on the left side, got 2 from C\(region\); write the name"):
        regress(table, "C(region) ~ old")


def test_outcomes_that_transforms_compute(table: Table) -> None:
    ages = table.numbers("net age")
    plain, scaled = regress(table, "`net age` ~ old"), regress(table, "scale(`net age`) ~ old")
    assert scaled.params[1] == pytest.approx(plain.params[1] / ages.std(ddof=1))


@pytest.mark.parametrize("factor", ["scale(old)", "old + scale(old)", "old + lag(old)", "old + poly(old, 2)"])
def test_transforms_of_randomised_labels_are_refused(table: Table, factor: str) -> None:
    with pytest.raises(ParameterError, match=r"^formula: "):
        regress(table, f"affair ~ {factor}")


@pytest.mark.parametrize("formula", ["affair ~ q7", "affair ~ old + C(q7)", "affair ~ said", "q7 ~ affair"])
def test_reports_are_no_covariates_and_no_outcomes(table: Table, formula: str) -> None:
    with pytest.raises(ReportError, match=r"must be a plain column, got the randomised reports to (old|affair)"):
        regress(table, formula)


def test_reports_make_no_cohorts_and_no_tables(table: Table) -> None:
    with pytest.raises(ReportError, match="randomised reports to old"):
        compare(table, "old", "q7")
    with pytest.raises(ReportError, match="randomised reports to affair"):
        cross(table, ["old", "said"])


def test_direct_answers_are_a_plain_column() -> None:
    layout = Layout((quick_question("q: warner p=3/4"), quick_question("d: direct")))
    answers = {"q": ("no", "yes", "yes", "no") * 20, "d": ("no", "no", "yes", "yes") * 20}
    assert compare(Table.of(answers, layout), "q", "d")[0].first == "no"


def test_a_plain_column_is_crossed_beside_questions_of_several_designs(table: Table) -> None:
    alone = Table.of(
        {"q7": table.columns["q7"], "region": table.columns["region"]}, quick_question("q7: forced-response truth=2/3")
    )
    beside, found = cross(table, ["old", "region"]), cross(alone, ["q7", "region"])
    assert [row.estimate for row in beside] == [row.estimate for row in found]


@pytest.mark.parametrize("formula", ["affair ~ ", "~ old", "affair"])
def test_a_formula_has_two_sides(table: Table, formula: str) -> None:
    with pytest.raises(ParameterError, match='formula: must be like "report ~ age'):
        regress(table, formula)


REFUSED = [
    "I((age - age.mean()) / age.std())",
    "age.rank()",
    "np.mean(age)",
    "I(age - np.std(age))",
    "np.cumsum(age)",
    "np.add.accumulate(age)",
    "np.log(age, age)",
    "np.log(age, out=age)",
    "I(age + [1, 2])",
    "I(age[0])",
    "I(age and age)",
    "I(30 < age < 40)",
    "I([each for each in age])",
    "I((lambda: age)())",
    "str(age)",
    '__import__("os")',
    "scale(age, _state=age)",
    "C(age, **age)",
    "C(.)",
    "I(f'{age}')",
    "Q('age')",
    "contr.__call__(age)",
    '{open("pwned.txt", "w").write("1") + age}',
]


@pytest.fixture(scope="module")
def people() -> dict[str, list[float]]:
    return {"age": [20.0, 30.0, 30.0, 40.0] * 50, "q": [0, 1, 0, 1, 1] * 40, "seen": [0, 0, 1, 1] * 50}


@pytest.mark.parametrize("term", REFUSED)
def test_a_formula_runs_nothing_but_what_formulas_may_hold(
    people: dict[str, list[float]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, term: str
) -> None:
    monkeypatch.chdir(tmp_path)
    table = Table.of({name: tuple(map(str, each)) for name, each in people.items()}, quick_question("q: warner p=3/4"))
    coins, plain = (0.75, 0.25), logistic("q ~ age", people, (0.75, 0.25))
    ways: list[Callable[[], object]] = [
        lambda: regress(table, f"q ~ {term}"),
        lambda: regress(table, f"{term} ~ q"),
        lambda: logistic(f"q ~ seen + {term}", people, coins),
        lambda: linear_moments(f"age ~ q + {term}", people, {"q": coins}),
        lambda: linear_moments(f"{term} ~ q", people, {"q": coins}),
        lambda: refitted(plain, f"q ~ {term}"),
    ]
    for fitted in ways:
        with pytest.raises(ParameterError, match=r"^formula: must (not hold|be made of) .*Make a column") as refusal:
            fitted()
        assert "scale" in str(refusal.value)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("term", ["np", "contr", "scale", "__builtins__", "nosuch"])
def test_functions_and_modules_are_no_columns(table: Table, people: dict[str, list[float]], term: str) -> None:
    with pytest.raises(ParameterError, match=rf"^formula: {term} must be a column of the file \(said, q7, arm, "):
        regress(table, f"affair ~ {term}")
    with pytest.raises(ParameterError, match=rf"^formula: {term} must be a column of the data \(age, "):
        logistic(f"q ~ {term}", people, (0.75, 0.25))


@pytest.mark.parametrize(
    "term",
    [
        "np.sqrt(age) + abs(age - 30)",
        "np.where(age > 30, 1, 0)",
        "np.clip(age, 25, 35)",
        "{age / 10}",
        "I((age >= 30) & ~(seen == 1))",
        "C(age, contr.treatment(base=30))",
        "C(age, contr.treatment(40), levels=[40, 20, 30])",
        "C(age, Treatment(30.0))",
        "bs(age, knots=[30], degree=1)",
        "poly(age, 2)",
        "age + lag(seen)",
    ],
)
def test_what_formulas_may_hold(people: dict[str, list[float]], term: str) -> None:
    assert logistic(f"q ~ {term}", people, (0.75, 0.25)).converged


def test_values_of_columns_are_not_in_messages(people: dict[str, list[float]]) -> None:
    table = {**people, "name": ["Mary", "John"] * 100}
    for term in ("poly(name)", "scale(name)", "bs(name, df=4)", "name * log(name)", "C(age, contr.custom([[1]]))"):
        with pytest.raises(ParameterError, match=r"^formula: ") as refusal:
            logistic(f"q ~ {term}", table, (0.75, 0.25))
        assert "Mary" not in str(refusal.value)


def test_what_is_not_finite_is_named(people: dict[str, list[float]]) -> None:
    table = {**people, "far": [math.inf, *people["age"][1:]]}
    with pytest.raises(ParameterError, match=r"^data: must have no infinite covariates, got some in far$"):
        logistic("q ~ age + far", table, (0.75, 0.25))
    for term in ("log(age - 20)", "np.sqrt(age - 30)", "exp(age * 100)"):  # without a warning, which would be an error
        with pytest.raises(ParameterError, match=rf"^formula: must give finite numbers.*{re.escape(term)}"):
            logistic(f"q ~ {term}", people, (0.75, 0.25))
    fit = logistic("q ~ age", people, (0.75, 0.25))
    with pytest.raises(
        ParameterError, match=r"^newdata: must have no missing or infinite covariates, got some in age$"
    ):
        fit.predict({"age": [math.nan]})


def test_another_model_of_rows_put_together_computes_with_no_column(table: Table) -> None:
    fit = regress(table, "affair ~ region + `net age`")
    assert isinstance(fit, Fit)
    with pytest.raises(ParameterError, match=r"^against: must not compute with whole columns"):
        refitted(fit, "affair ~ bs(`net age`, df=4)")
