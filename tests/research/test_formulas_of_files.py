"""Formulas and columns as analysts write them: what computes with columns, and columns that hold reports."""

import numpy as np
import pytest

from deniable.errors import ParameterError, ReportError
from deniable_research.files import Layout, Table, compare, cross, quick_question, read_layout, regress
from deniable_research.regression import Fit
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
