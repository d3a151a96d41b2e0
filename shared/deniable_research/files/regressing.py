"""A formula over the columns of a table: which model it takes, and with what designs."""

from __future__ import annotations

from collections.abc import Container, Iterable
from typing import Any

from deniable.errors import ParameterError
from deniable_research.files.design_files import direct
from deniable_research.files.domains import domain_of
from deniable_research.files.layout import Layout
from deniable_research.files.model_rows import answers_to, model_rows, plain_columns, shared_responses
from deniable_research.files.table import Table, read_number
from deniable_research.regression import Fit, MomentFit, linear, linear_moments, logistic, multinomial
from deniable_research.regression.data import computes_with_columns, sides, variables

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
    """Fit the model that a formula means, whatever of it is randomised.

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
    left, right = sides(formula)
    domain = None
    if table.sampling is not None:
        domain = domain_of(table, table.sampling.weights > 0, questions_in(table, formula))
    if table.weights is not None and not table.weights.all():
        table = table.where(table.weights > 0)  # the others count nothing
    outcome = left.strip("`")
    predictors = _questions(table, right)
    is_randomised = table.layout.has(outcome)
    if not is_randomised and not predictors:
        named = ", ".join(table.layout.names)
        raise ParameterError(f"formula: must have a randomised question ({named}), got none")
    if outcome in predictors:
        raise ParameterError(f"formula: must not have {outcome} on both sides")
    questions = [*([outcome] if is_randomised else []), *predictors]
    for name in questions:
        if not all(arm.design.is_exclusive for arm in table.layout.arms(name) if arm.has_shares):
            box = f"{name}[{answers_to(table, name)[0]}]"
            where = f"{box} ~ ..." if name == outcome else f"... ~ {box}"
            raise ParameterError(
                f"formula: {name} must be one box of its question, such as {where}, because a person may tick several"
            )
    if not is_randomised:
        _check_outcome(table, outcome)
    is_logistic = model == "logistic" or (model is None and (is_randomised or _is_of_labels(table, outcome)))
    if not is_logistic and not is_randomised and outcome in table.columns:
        table.numbers(outcome)  # says which text is not a number
    if not is_logistic and is_randomised:
        raise ParameterError(f"model: must be logistic for {outcome}, whose reports are not numbers")
    if is_logistic and likelihood:
        raise ParameterError("likelihood: must go with a linear model; others have no other way")
    by_likelihood = is_logistic or likelihood
    if penalty == "cauchy" and not by_likelihood:
        raise ParameterError("penalty: must be auto or none for corrected least squares, got cauchy; take likelihood")
    settings: dict[str, Any] = {}
    if by_likelihood:
        table.layout.refuse_never_together(questions, at_once=2)
        table.layout.refuse_boxes_of_one_draw(questions)
        settings = {"shared": shared_responses(table, questions, outcome), "penalty": penalty}
    else:
        table.layout.refuse_never_together(questions)
        table.layout.refuse_one_draw(questions)
    names = columns_in(table.layout, table.columns, formula)
    _check_columns(table, names)
    computed = [right] if is_randomised or outcome in table.columns else [left, right]
    found = model_rows(
        table,
        domain,
        plain_columns(table, names, right),
        questions,
        by_likelihood=by_likelihood,
        alike_once=not any(computes_with_columns(side, table.layout.has) for side in computed),
    )
    settings |= found.people
    data, designs = found.data, found.designs
    randomised = {name: designs[name] for name in predictors}
    if not by_likelihood:
        return linear_moments(formula, data, randomised, **settings)
    if not is_logistic:
        return linear(formula, data, randomised, **settings)
    text = f"`{outcome}` ~ {right}"
    if is_randomised:
        design, options = designs[outcome], answers_to(table, outcome)
    else:
        options = tuple(table.levels(outcome))
        if len(options) < 2:
            raise ParameterError(f"formula: {outcome} must have at least 2 labels, got {len(options)}")
        design = direct(options)
        data[outcome] = found.columns[outcome].array(object, None)
    if len(options) == 2:
        return logistic(text, data, design, randomised=randomised, **settings)
    return multinomial(text, data, design, truths=options, randomised=randomised, **settings)


def _check_outcome(table: Table, outcome: str) -> None:
    """Raise a ParameterError unless a plain outcome is computed from plain columns."""
    for name in _columns_of_outcome(table.layout, table.columns, outcome):
        if table.layout.has(name):
            raise ParameterError(f"formula: {name} must not be within {outcome}, because its reports are not answers")
    _check_columns(table, _columns_of_outcome(table.layout, table.columns, outcome))


def _check_columns(table: Table, names: Iterable[str]) -> None:
    """Raise a ParameterError unless each is a question or a column."""
    for name in names:
        if not table.layout.has(name) and name not in table.columns:
            known = ", ".join(list(table.columns)[:20])
            raise ParameterError(f"formula: {name} must be a column of the file ({known})")


def _is_of_labels(table: Table, outcome: str) -> bool:
    """Whether a plain outcome is a column of labels, none of which is a number."""
    if outcome not in table.columns:
        return False
    return not table.texts(outcome).map(read_number).present.any()


def questions_in(table: Table, formula: str) -> list[str]:
    """The randomised questions that a formula names, each arm of those that were asked by several designs."""
    left, right = sides(formula)
    outcome = left.strip("`")
    named = [*filter(table.layout.has, [outcome]), *_questions(table, right)]
    return [arm.name for name in named for arm in table.layout.arms(name)]


def _questions(table: Table, right: str) -> list[str]:
    return [name for name in variables(right, table.layout.has) if table.layout.has(name)]


def columns_in(layout: Layout, columns: Container[str], formula: str) -> list[str]:
    """The questions and columns that a formula names, with what its outcome is computed from."""
    left, right = sides(formula)
    return [*_columns_of_outcome(layout, columns, left.strip("`")), *variables(right, layout.has)]


def _columns_of_outcome(layout: Layout, columns: Container[str], outcome: str) -> list[str]:
    """The outcome, or what it is computed from, as ``log(income)`` is."""
    is_plain = layout.has(outcome) or outcome in columns
    return [outcome] if is_plain else variables(outcome, layout.has)
