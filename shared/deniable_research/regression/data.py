"""From a formula and a table, or from plain arrays, to the rows that a model is fitted to."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from scipy.linalg import qr

from deniable.errors import ParameterError, describe
from deniable.installing import install_hint
from deniable_research.regression.expressions import Expression, not_python, read_expression
from deniable_research.regression.factor import Array

SMALLEST_ANGLE, SMALLEST_ANGLE_OF_LIKELIHOOD = 1e-9, 1e-6
"""Columns of length 1 count as collinear if one is this close to what the others span. Second derivatives of a
likelihood keep ``eps / angle^2`` of their digits, so it takes more."""
EXACT_ANGLE = 1e-14
"""Largest angle that rounding alone leaves between a column and the span that holds it."""
SMALLEST_SIZE, LARGEST_SIZE = 1e-50, 1e50
"""Least and largest size of numbers in a model, so that products of their squares stay within the range of floats."""


@dataclass(frozen=True)
class Frame:
    """Complete rows: the covariates and every other column that belongs to them.

    Attributes
    ----------
    matrix : ndarray, shape (n, p)
        Covariates as coded, the intercept among them.
    terms : tuple of str, length p
    columns : mapping from str to ndarray of length n
        The outcome and what else was asked for (weights, clusters, groups, ...), without missing values.
    n_dropped : int
        Rows left out because something was missing; people where rows are weighted by frequencies.
    spec : object
        How formulaic coded the covariates, to code new data alike; None for arrays.
    formula : str
        The right side; empty for arrays.
    left : str
        The left side, without backticks.
    table : DataFrame or None
        The rows of the table of that formula.
    """

    matrix: Array
    terms: tuple[str, ...]
    columns: Mapping[str, NDArray[Any]]
    n_dropped: int
    spec: Any
    formula: str = ""
    left: str = ""
    table: Any = None


def code(newdata: Any, spec: Any, terms: Sequence[str]) -> Array:
    """The columns of new data, coded as those of a fit.

    Parameters
    ----------
    newdata : DataFrame, mapping of columns, or array_like of shape (rows, columns)
    spec : object
        How formulaic coded the data of the fit; None for arrays.
    terms : sequence of str
        Names of the columns.

    Raises
    ------
    ParameterError
        If something is missing, or a categorical column has a level that the fit did not see.
    """
    if spec is None:
        matrix = np.asarray(newdata, dtype=float)
        if matrix.ndim != 2 or matrix.shape[1] != len(terms):
            raise ParameterError(f"newdata: must be a matrix of {len(terms)} columns, got {matrix.shape}")
    else:
        from formulaic.errors import DataMismatchWarning

        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # of pandas, about the levels that the next line refuses
                warnings.simplefilter("error", DataMismatchWarning)
                coded = _computed(spec, _table(newdata), "ignore", "newdata")
        except DataMismatchWarning:
            raise ParameterError("newdata: has levels of a covariate that the fit did not see") from None
        matrix = np.asarray(coded, dtype=float)
    if bad := _named(terms, ~np.isfinite(matrix).all(axis=0)):
        raise ParameterError(f"newdata: must have no missing or infinite covariates, got some in {bad}")
    return matrix


def read_frame(
    outcome: Any,
    data: Any,
    names: Sequence[str] | None,
    columns: Mapping[str, str | ArrayLike | None],
    without: Sequence[str] = (),
) -> Frame:
    """Read the rows of a model.

    Parameters
    ----------
    outcome : str or array_like of length n
        A formula, ``"reports ~ covariates"``, or the reports themselves.
    data : DataFrame, mapping of columns, or array_like of shape (n, p)
        The table of the formula, or the matrix of covariates with its column of ones.
    names : sequence of str, optional
        Names of the columns of a matrix; by default x0, x1, ...
    columns : mapping
        What else belongs to the rows, by role: the name of a column of the table, or an array of length n.
    without : sequence of str
        Variables of the formula that are not covariates: randomised predictors. `matrix` then holds what the terms
        leave without them.
    """
    if not isinstance(outcome, str):
        found, coded, total, spec = _from_arrays(outcome, data, names, columns)
        return _complete(found, coded, total, spec)[0]
    found, coded, total, spec = _from_formula(outcome, data, columns, without)
    frame, kept = _complete(found, coded, total, spec)
    left, right = sides(outcome)
    rows = _table(data).iloc[kept].reset_index(drop=True)
    return replace(frame, formula=right, left=left.strip("`"), table=rows)


def sides(formula: str) -> tuple[str, str]:
    """The two sides of a formula, as they are written.

    >>> sides("report ~ age + sex")
    ('report', 'age + sex')
    """
    left, tilde, right = formula.partition("~")
    if not (tilde and left.strip() and right.strip()):
        raise ParameterError(f'formula: must be like "report ~ age + sex", got {formula!r:.80}')
    return left.strip(), right.strip()


def variables(side: str, is_column: Callable[[str], bool]) -> list[str]:
    """The columns that one side of a formula names, each once.

    Parameters
    ----------
    side : str
    is_column : callable
        Whether a factor as it is written, such as ``drugs[cocaine]``, is a column, and no expression of others.

    Examples
    --------
    >>> variables("age + C(region) + log(`net income`)", lambda name: name == "age")
    ['age', 'region', 'net income']
    >>> variables("scale(age) + bs(`net income`, df=4)", lambda name: False)
    ['age', 'net income']
    """
    found: dict[str, None] = {}
    for factor in (factor for term in _terms(side, is_column) for factor in term.factors):
        if is_column(str(factor)):
            found[str(factor)] = None
        else:
            found |= dict.fromkeys(sorted(_expression(factor).columns))
    return list(found)


def computes_with_columns(side: str, is_column: Callable[[str], bool]) -> bool:
    """Whether one side of a formula computes with whole columns, as ``scale(age)`` does with their mean.

    If it does, rows that are alike must stay apart.

    >>> every = ("age + C(region)", "np.log(age)", "I(scale(age) ** 2)", "drugs[cocaine]")
    >>> [computes_with_columns(side, "drugs[cocaine]".__eq__) for side in every]
    [False, False, True, False]
    """
    factors = [factor for term in _terms(side, is_column) for factor in term.factors]
    return any(_expression(factor).needs_whole_columns for factor in factors if not is_column(str(factor)))


def refuse_interactions(formula: str, randomised: Sequence[str]) -> None:
    """Raise a ParameterError unless every randomised predictor is a plain term of a formula, and in no other."""
    terms = list(_terms(sides(formula)[1], randomised.__contains__))
    named = {str(term) for term in terms}
    found = [f"no {name}" for name in randomised if name not in named]
    found += [str(t) for t in terms if str(t) not in randomised and any(_is_of(f, randomised) for f in t.factors)]
    if found:
        raise ParameterError(
            "formula: must hold every randomised predictor as a plain term without interactions for corrected least "
            f"squares, got {', '.join(found)}; maximum likelihood takes them"
        )


def with_truths(side: str, randomised: Sequence[str]) -> Any:
    """The terms of one side of a formula in which randomised predictors are columns by their names."""
    types = _formulaic().parser.types
    terms = [
        types.Term([_lookup(factor) if str(factor) in randomised else factor for factor in term.factors])
        for term in _terms(side, randomised.__contains__)
    ]
    return _formulaic().Formula(terms)


def check_holds(side: str, randomised: Sequence[str]) -> None:
    """Raise a ParameterError unless one side of a formula holds every randomised predictor."""
    factors = [factor for term in _terms(side, randomised.__contains__) for factor in term.factors]
    if missing := [name for name in randomised if not any(_is_of(factor, [name]) for factor in factors)]:
        raise ParameterError(f"formula: must hold every randomised predictor, got no {', '.join(missing)}")


def model_matrix(terms: Any, table: pd.DataFrame, na_action: str = "ignore") -> Any:
    """The columns of one side of a formula, as it is written or as formulaic holds it; they know how to code others.

    Raises
    ------
    ParameterError
        If the table does not have what the terms need.
    """
    parsed = _terms(terms) if isinstance(terms, str) else terms
    factors = [factor for term in getattr(parsed, "formula", parsed) for factor in term.factors]
    for name in sorted(set().union(*(_expression(factor).columns for factor in factors))):
        if name not in table.columns:  # formulaic would look among its functions, too
            known = ", ".join(map(str, table.columns[:20]))
            raise ParameterError(f"formula: {name} must be a column of the data ({known})")
    return _computed(parsed, table, na_action, "formula")


def _computed(terms: Any, table: pd.DataFrame, na_action: str, subject: str) -> Any:
    """What formulaic computes, whose errors become sentences; values of columns are not quoted."""
    try:
        # log(0) and overflows become errors, because infinite covariates would surface far from here
        with np.errstate(divide="raise", over="raise", invalid="raise"):
            return terms.get_model_matrix(table, na_action=na_action)
    except _formulaic().errors.FormulaicError as error:
        message = str(error).splitlines()[0]
        if isinstance(error.__cause__, FloatingPointError):
            message = f"must give finite numbers. {message}"
        elif isinstance(error.__cause__, ValueError):
            message = f"{message.partition(' [')[0]} Its columns do not hold what it takes"
        raise ParameterError(f"{subject}: {message}") from None
    except (ArithmeticError, LookupError, TypeError, ValueError) as error:
        raise ParameterError(
            f"{subject}: must be computable from these columns, but formulaic fails ({type(error).__name__})"
        ) from None


def _known_terms(side: str, randomised: Sequence[str]) -> Any:
    """What the terms of one side leave without their randomised factors."""
    types = _formulaic().parser.types
    found = {}
    for term in _terms(side, randomised.__contains__):
        factors = [factor for factor in term.factors if not _is_of(factor, randomised)]
        if factors:
            found[str(types.Term(factors))] = types.Term(factors)
    return _formulaic().Formula(list(found.values()))


def _lookup(factor: Any) -> Any:
    """A factor that is a column of that name, whatever the name."""
    types = _formulaic().parser.types
    return types.Factor(str(factor), eval_method=types.Factor.EvalMethod.LOOKUP)


def _is_of(factor: Any, randomised: Sequence[str]) -> bool:
    """Whether a factor is computed from randomised predictors, and from nothing else.

    Raises
    ------
    ParameterError
        If it is computed from both.
    """
    if str(factor) in randomised:
        return True
    needed = _expression(factor).columns
    if needed & set(randomised) and needed - set(randomised):
        raise ParameterError(
            f"formula: must not compute {factor} from a randomised predictor and a covariate together; an interaction "
            "is written with a colon"
        )
    if needed & set(randomised) and str(factor).startswith("lag("):
        raise ParameterError(f"formula: must not hold {factor}, because nobody knows the truth of the row before")
    return bool(needed & set(randomised))


def _expression(factor: Any) -> Expression:
    """What a factor is computed from."""
    methods = _formulaic().parser.types.Factor.EvalMethod
    if factor.eval_method is methods.PYTHON:
        return read_expression(factor.expr)
    return Expression(frozenset([factor.expr] if factor.eval_method is methods.LOOKUP else []), False)


def _terms(side: str, is_column: Callable[[str], bool] = lambda name: False) -> Any:
    """The terms of one side of a formula, which holds nothing but what formulas may hold."""
    formulaic = _formulaic()
    try:
        parsed = formulaic.Formula(side)
    except formulaic.errors.FormulaicError as error:
        if random_effect := _RANDOM_EFFECT.search(side):
            raise ParameterError(_no_random_effects(*random_effect.group(0, 1))) from None
        # Without the picture in colours that follows in further lines.
        raise ParameterError(f"formula: {str(error).splitlines()[0]}") from None
    except (SyntaxError, ValueError, RecursionError):  # it parses the Python of each factor, too
        raise not_python(side) from None
    if not isinstance(parsed, formulaic.SimpleFormula):
        raise ParameterError(f"formula: must have one right side without parts, got {side!r:.80}")
    for factor in (factor for term in parsed for factor in term.factors):
        if not is_column(str(factor)):  # drugs[cocaine] is a name, and Python of another meaning
            _expression(factor)
    return parsed


_RANDOM_EFFECT = re.compile(r"\([^()|]*\|{1,2}\s*([^()|]*[^()|\s])\s*\)")
"""``(1 + age | region)``, as R's lme4 and brms write it."""


def _no_random_effects(written: str, by: str) -> str:
    return (
        f"formula: must not have {written:.80}, because random effects are not offered; take C({by:.80}) for an effect "
        f"of each {by:.80}, or make {by:.80} the cluster of the sampling design (--cluster), whose standard "
        "errors know that rows of one belong together"
    )


def _formulaic() -> Any:
    try:
        import formulaic
    except ImportError:
        raise ParameterError(f"formula: needs formulaic; {install_hint('research')}") from None
    return formulaic


def _from_formula(
    formula: str, data: Any, columns: Mapping[str, str | ArrayLike | None], without: Sequence[str]
) -> tuple[dict[str, Any], Any, int, Any]:
    left, right = sides(formula)
    table = _table(data)
    outcome = left.strip("`")
    coded = model_matrix(_known_terms(right, without), table, na_action="drop")
    if outcome not in table.columns:  # such as log(income)
        table = table.assign(**{outcome: model_matrix(f"0 + {left}", table)})
    found = {"outcome": table[outcome]}
    for role, given in columns.items():
        if isinstance(given, str):
            if given not in table.columns:
                raise ParameterError(f"{role}: must be a column of the data, got {given!r}")
            found[role] = table[given]
        elif given is not None:
            found[role] = given
    return found, coded, len(table), coded.model_spec


def _from_arrays(
    outcome: Any, data: Any, names: Sequence[str] | None, columns: Mapping[str, str | ArrayLike | None]
) -> tuple[dict[str, Any], Any, int, Any]:

    matrix = np.asarray(data, dtype=float)
    if matrix.ndim != 2:
        raise ParameterError(f"data: must be a matrix of covariates with 2 dimensions, got {matrix.ndim}")
    terms = tuple(names) if names is not None else tuple(f"x{j}" for j in range(matrix.shape[1]))
    if len(terms) != matrix.shape[1] or len(set(terms)) != len(terms):
        raise ParameterError(f"names: must be {matrix.shape[1]} different names, got {len(terms)}")
    texts = [role for role, given in columns.items() if isinstance(given, str)]
    if texts:
        raise ParameterError(f"{texts[0]}: must be an array, because the data are not a table with columns")
    found = {"outcome": outcome} | {role: given for role, given in columns.items() if given is not None}
    return found, (matrix, terms), len(matrix), None


def _complete(found: Mapping[str, Any], coded: Any, total: int, spec: Any) -> tuple[Frame, NDArray[np.int64]]:
    """Leave out the rows where anything is missing, and check what is left: the frame, and which rows it has."""
    present = np.zeros(total, dtype=bool)
    if spec is not None:
        terms = tuple(map(str, coded.columns))
        # rows that formulaic left out are NaN here, and count as missing
        matrix = np.full((total, len(terms)), np.nan)
        where = np.asarray(coded.index)
        matrix[where] = np.asarray(coded, dtype=float)
        present[where] = True
    else:
        matrix, terms = coded
        present[:] = ~np.isnan(matrix).any(axis=1)
    arrays = {}
    for role, given in found.items():
        array = np.asarray(given)
        if array.ndim != 1 or len(array) != total:
            raise ParameterError(f"{role}: must be one value for each of {total} rows, got shape {array.shape}")
        arrays[role] = array
        present &= ~pd.isna(array)
    kept = np.flatnonzero(present)
    if not kept.size:
        raise ParameterError("data: must hold a row without missing values, got none")
    matrix = matrix[kept]
    if bad := _named(terms, ~np.isfinite(matrix).all(axis=0)):
        raise ParameterError(f"data: must have no infinite covariates, got some in {bad}")
    for term, column in zip(terms, matrix.T, strict=True):
        check_size(term, column)
    people = _people(arrays.get("frequencies", np.ones(total)))
    check_rank(matrix, terms, int(people[kept].sum()))
    dropped = int(people[~present].sum())
    return Frame(matrix, terms, {k: array[kept] for k, array in arrays.items()}, dropped, spec), kept


def check_size(name: str, values: Array) -> None:
    """Raise a ParameterError that names a column unless squares of its numbers and of their spread are numbers."""
    large, spread = float(np.abs(values).max(initial=0.0)), float(np.ptp(values))
    if large > LARGEST_SIZE or any(0 < each < SMALLEST_SIZE for each in (large, spread)):
        raise ParameterError(
            f"{name}: must be numbers of a size from {SMALLEST_SIZE:g} to {LARGEST_SIZE:g}; "
            "multiply them by a constant first"
        )


def _named(terms: Sequence[str], which: NDArray[np.bool_]) -> str:
    return ", ".join(term for term, one in zip(terms, which, strict=True) if one)


def _people(frequencies: NDArray[Any]) -> Array:
    """How many people each row stands for, before anything is known of the frequencies but that they are an array."""
    if frequencies.dtype.kind not in "biuf":
        return np.ones(len(frequencies))
    return np.where(np.isfinite(frequencies), frequencies, 0).astype(float)


def _table(data: Any) -> Any:

    if not isinstance(data, (pd.DataFrame, Mapping)):
        raise ParameterError(f"data: must be a table or a mapping of columns for a formula, got {describe(data)}")
    return pd.DataFrame(data).reset_index(drop=True)


def check_rank(matrix: Array, terms: Sequence[str], people: int, smallest: float = SMALLEST_ANGLE) -> None:
    """Raise a ParameterError that names the terms unless no column is a combination of others, nor all but one."""
    if not terms:
        return
    # columns of length 1, so that the angle between them does not depend on units
    lengths = np.linalg.norm(matrix, axis=0)
    empty = [term for term, length in zip(terms, lengths, strict=True) if length == 0]
    if empty:
        raise ParameterError(f"terms: must not be 0 in every row, got {', '.join(empty)}")
    unit = matrix / lengths
    # pivoted QR of unit columns: the diagonal falls, and what is below the threshold depends on those before
    _, triangle, order = qr(unit, mode="economic", pivoting=True)
    size = np.abs(np.diag(triangle))
    rank = int(np.sum(size > smallest))
    if rank == len(terms):
        return
    kept = order[:rank]
    involved: set[int] = set()
    for extra in order[rank:]:
        # the columns that the extra one is a combination of, for the message
        weights, *_ = np.linalg.lstsq(unit[:, kept], unit[:, extra], rcond=None)
        involved |= {int(extra), *map(int, kept[np.abs(weights) > 1e-6])}
    named = ", ".join(terms[j] for j in sorted(involved))
    # beyond rounding a column is only almost a combination, which is said in other words
    if rank < len(size) and size[rank] > EXACT_ANGLE * np.sqrt(len(matrix)):
        raise ParameterError(
            f"terms: must be linearly independent over the {people} rows, but one of these differs from a combination "
            f"of the others by less than {_rounded_up(size[rank])} of its size: {named}. If it varies little around a "
            "large number, subtract that number first"
        )
    raise ParameterError(
        f"terms: must be linearly independent over the {people} rows, but one of these is a combination of the "
        f"others: {named}"
    )


def _rounded_up(angle: float) -> str:
    """The next power of ten: 1e-08 for 3e-09."""
    return f"1e{int(np.ceil(np.log10(angle))):03d}"
