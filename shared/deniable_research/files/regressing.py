"""The regression that a formula means over the columns of a table, whatever of them is randomised."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from deniable.errors import ParameterError
from deniable_research.files.model_rows import ModelRows
from deniable_research.files.model_specification import ModelSpecification
from deniable_research.files.report_table import Table
from deniable_research.regression import Fit, MomentFit, linear, linear_moments, logistic, multinomial

PENALTIES = {"auto": "auto", "cauchy": "cauchy", "none": None}
MODELS = ("linear", "logistic")


def regress(
    table: Table,
    formula: str,
    *,
    model: str | None = None,
    likelihood: bool = False,
    penalty: str | None = "auto",
) -> Fit | MomentFit:
    """Fit the model of a formula, whichever of its variables are randomised.

    Parameters
    ----------
    table : Table
        Its weights and sampling design, if it has some, are used. Without them rows that are alike are fitted once,
        with their number as frequency: `Fit.n` counts people, `Fit.predict` without new data has a row for each kind.
        Of columns with labels for all values ``C(region)`` takes the labels, ``region`` the values.
    formula : str
        ``"affair ~ age + religious + C(region)"``. Any of its variables may be a randomised question, or one box of
        tick boxes, ``drugs[cocaine]``, on the left or on the right.
    model : {"linear", "logistic"}, optional
        By default linear where the left side is numbers, and logistic where it is a randomised question or labels:
        multinomial if there are more than two. A column of numbers such as 0 and 1 may be taken as labels.
    likelihood : bool
        For a linear model: maximum likelihood of a normal outcome instead of corrected least squares, which assume
        nothing about its shape and take no interactions with what is randomised.
    penalty : {"auto", "cauchy", None}
        As for `deniable_research.regression.logistic`; not cauchy for corrected least squares.

    Raises
    ------
    ParameterError
        If nothing in the formula is randomised; or from the fit.

    Notes
    -----
    Of questions that devices draw, each person was asked some. Who was not asked is not a gap: by design nothing about
    the answer had to do with it, so the likelihood takes what else the person reported. Corrected least squares need
    reports to all questions, and take the people who were asked all of them.

    Examples
    --------
    >>> from deniable_research.files import Layout, quick_question
    >>> layout = Layout((quick_question("q: forced-response truth=1/2"),))
    >>> table = Table.of({"q": ("yes",) * 430 + ("no",) * 570}, layout)
    >>> fit = regress(table, "q ~ 1")                                      # ln(0.36 / 0.64)
    >>> fit.terms, round(float(fit.params[0]), 4)
    (('Intercept',), -0.5754)
    """
    if model not in (None, *MODELS):
        raise ParameterError(f"model: must be one of {', '.join(MODELS)}, got {model!r}")
    specification = ModelSpecification.of(table, formula)
    specification.refuse_what_no_model_takes()
    is_logistic = specification.is_logistic(model)
    # kinds of models are refused before columns are looked at: what was asked for is wrong whatever the data
    if is_logistic and likelihood:
        raise ParameterError("likelihood: must go with a linear model; others have no other way")
    by_likelihood = is_logistic or likelihood
    if penalty == "cauchy" and not by_likelihood:
        raise ParameterError("penalty: must be auto or none for corrected least squares, got cauchy; take likelihood")
    rows = specification.rows(by_likelihood)
    randomised = {name: rows.designs[name] for name in specification.predictors}
    if not by_likelihood:
        return linear_moments(formula, rows.data, randomised, **rows.people)
    settings: dict[str, Any] = {"randomised": randomised, "shared": rows.shared, "penalty": penalty, **rows.people}
    try:
        return _fitted(specification, rows, is_logistic, settings)
    except ParameterError as error:
        if not str(error).startswith("terms: must be linearly independent") or not any(
            each.patterns for each in rows.shared
        ):
            raise
        raise ParameterError(
            f"{error}. One question filters another here, so that an answer to one can say the other: leave one out"
        ) from None


def _fitted(specification: ModelSpecification, rows: ModelRows, is_logistic: bool, settings: Mapping[str, Any]) -> Fit:
    """The fit by maximum likelihood."""
    if not is_logistic:
        return linear(specification.formula, rows.data, **settings)
    design, options = specification.answers(rows)
    # backticks, because a question may be named like Python of another meaning, as drugs[cocaine]
    text = f"`{specification.outcome}` ~ {specification.right}"
    if len(options) == 2:
        return logistic(text, rows.data, design, **settings)
    return multinomial(text, rows.data, design, truths=options, **settings)
