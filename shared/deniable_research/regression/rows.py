"""The rows of a model: covariates, reports to randomised predictors, and how rows stand for people."""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from deniable.errors import ParameterError, check_kind, describe
from deniable_research.regression.formula import (
    Coding,
    as_table,
    check_holds,
    known_terms,
    model_matrix,
    sides,
    with_truths,
)
from deniable_statistics.regression.cells import CellLogits, CellShares, PredictorCells, cell_model, starting_shares
from deniable_statistics.regression.factor import Array
from deniable_statistics.regression.fitted_rows import DrawnSample, Frame, ModelSample
from deniable_statistics.regression.likelihood import CategoricalOutcome, LatentClasses
from deniable_statistics.regression.moments import calibrated
from deniable_statistics.regression.outcomes import NormalOutcome
from deniable_statistics.regression.regressors import Regressors, check_rank, named
from deniable_statistics.regression.report_likelihood import DesignLike, Grouped, Reports, read_reports
from deniable_statistics.regression.shared_response import SharedResponse
from deniable_statistics.sampling import Domain

Randomised = Mapping[str, DesignLike | Grouped]
"""What the answers to each randomised predictor went through."""
SMALLEST_SIZE, LARGEST_SIZE = 1e-50, 1e50
"""Least and largest size of numbers in a model, so that products of their squares stay within the range of floats."""
MIXED = 1e-9
"""Relative tolerance at which a column counts as a covariate times a coding of the truths."""


@dataclass(frozen=True)
class RowRequest:
    """Randomised predictors and `RowOptions`, with what these are unless somebody says so."""

    randomised: Randomised
    reports: Mapping[str, ArrayLike] | None = None
    names: Sequence[str] | None = None
    weights: str | ArrayLike | None = None
    frequencies: str | ArrayLike | None = None
    clusters: str | ArrayLike | None = None
    domain: Domain | None = None
    shared: Sequence[SharedResponse] = ()

    def read(self, outcome: str | ArrayLike, data: Any, aligned: Mapping[str, Any] | None = None) -> RegressionRows:
        """Read the rows of a model.

        Parameters
        ----------
        outcome : str or array_like of length n
            A formula or the reports, as for `read_frame`.
        data : DataFrame, mapping of columns, or array_like of shape (n, p)
        aligned : mapping, optional
            Columns of the design of the outcome that belong to rows.
        """
        # In a formula the name of a predictor is its truth, so its reports have another name.
        roles = {name: f"reports of {name}" for name in self.randomised}
        wanted = self._columns() | dict(aligned or {}) | self._columns_of_predictors(isinstance(outcome, str), roles)
        frame = read_frame(outcome, data, self.names, wanted, list(roles) if isinstance(outcome, str) else ())
        predictors = {
            name: read_reports(frame.columns[role], self.randomised[name], frame.columns, role)
            for name, role in roles.items()
        }
        self._check_shared(predictors)
        among = tuple(each for each in self.shared if "outcome" not in each.names)
        beside = tuple(each for each in self.shared if "outcome" in each.names)
        sample = ModelSample.of(frame) if self.domain is None else DrawnSample.of_domain(frame, self.domain)
        return RegressionRows(frame, PredictorCells(predictors, len(frame.matrix), among, beside), sample)

    def _columns_of_predictors(self, is_formula: bool, roles: Mapping[str, str]) -> dict[str, Any]:
        """The reports to randomised predictors and what else of their designs belongs to rows, by role."""
        reports = self.reports or {}
        if not is_formula and set(reports) != set(roles):
            raise ParameterError(f"reports: must hold arrays of {', '.join(roles)}, because the data are not a table")
        found: dict[str, Any] = {}
        for name, role in roles.items():
            found |= {role: reports.get(name, name), **aligned_columns(self.randomised[name], role)}
        return found

    def _check_shared(self, predictors: Mapping[str, Reports]) -> None:
        """Raise a ParameterError unless shared responses are of the outcome and predictors."""
        for each in self.shared:
            if strangers := [name for name in each.names if name not in {"outcome", *predictors}]:
                raise ParameterError(f"shared: must name the outcome and predictors, got {', '.join(strangers)}")

    def read_numbers(self, outcome: str | ArrayLike, data: Any) -> RegressionRows:
        """The rows of a linear model, whose outcome is a number and whose predictors are randomised."""
        check_kind(self.randomised, Mapping, "randomised")
        if not self.randomised:
            raise ParameterError("randomised: must name a predictor, got none")
        rows = self.read(outcome, data)
        y = rows.frame.columns["outcome"]
        if y.dtype.kind not in "biuf" or not np.isfinite(y).all():
            raise ParameterError("outcome: must be finite numbers")
        # The likelihood has no maximum then: the variance would go to 0.
        if np.ptp(y) == 0:
            raise ParameterError(
                f"outcome: must vary for a linear model, got the same number in all {rows.sample.n} rows"
            )
        check_size("outcome", y)
        return rows

    def _columns(self) -> dict[str, Any]:
        """The columns that belong to rows, by role; those of a domain are its own."""
        given = {"weights": self.weights, "frequencies": self.frequencies, "clusters": self.clusters}
        if self.domain is None:
            return given
        if any(each is not None for each in given.values()):
            raise ParameterError("domain: must contain weights and clusters itself; do not give them separately")
        return {"weights": self.domain.weights, "rows": np.arange(len(self.domain))}


@dataclass(frozen=True)
class RegressionRows:
    """Rows that models are made of.

    Attributes
    ----------
    frame : Frame
    cells : PredictorCells
        Their randomised predictors.
    sample : ModelSample
    """

    frame: Frame
    cells: PredictorCells
    sample: ModelSample

    @property
    def outcome(self) -> Array:
        """The outcome of a linear model, shape (n,)."""
        return self.frame.columns["outcome"].astype(float)

    @property
    def first_shares(self) -> Array:
        """How often each cell is, from the reports alone, shape (cells,)."""
        return starting_shares(self.cells.likelihood(), self.sample.weights)

    @cached_property
    def covariates(self) -> Regressors:
        """All columns of the formula that are not randomised."""
        return Regressors.known(self.frame, self.sample.weights)

    @property
    def cell_shares(self) -> CellShares | CellLogits:
        """How often each cell is among people with the same covariates."""
        return cell_model(self.cells, self.covariates.with_intercept(), self.sample.weights, self.first_shares)

    @property
    def regressors(self) -> Regressors:
        """What the outcome depends on."""
        if not self.cells.predictors:
            return self.covariates
        if self.frame.formula:
            check_holds(self.frame.formula, list(self.cells.predictors))
        return crossed(self.frame, self.cells, self.sample.weights).checked()

    def categorical(self, reports: Reports) -> LatentClasses:
        """The likelihood of a randomised yes-no answer or choice.

        Raises
        ------
        ParameterError
            If filters leave nothing that the outcome could depend on, or other answers with other predictors.
        """
        if not self.cells.beside:
            return self._given(CategoricalOutcome(reports, self.regressors))
        (response,) = self.cells.beside  # a question is in one group
        parts = self.cells.shared_parts(response, reports)
        # of one response the outcome's part is whether the report is equal to a truth; base and more say how likely
        equal = replace(reports, likelihood=response.parts({"outcome": reports})[2]["outcome"])
        routed = routes_of(self.cells, response, equal, parts)
        regressors = crossed(self.frame, self.cells, self.sample.weights)
        free = np.asarray(np.isnan(routed.certain).all(axis=0))
        if free.all():
            return self._given(CategoricalOutcome(equal, regressors.checked(), parts))
        return self._given(CategoricalOutcome(routed.reports, regressors.where(free), parts, routed.certain))

    def normal(self) -> LatentClasses:
        """The likelihood of a number."""
        regressors = self.regressors
        guess = calibrated(self.outcome, regressors, self.cells, self.sample.weights)
        return self._given(NormalOutcome(self.outcome, regressors, guess))

    def _given(self, outcome: CategoricalOutcome | NormalOutcome) -> LatentClasses:
        """The likelihood of an outcome given its regressors, with what is known about the cells."""
        return LatentClasses(outcome, self.cell_shares, self.cells, self.sample.weights)


def aligned_columns(design: DesignLike | Grouped, subject: str = "outcome") -> dict[str, Any]:
    """The columns of a design that belong to rows, so that they lose the same rows as the reports."""
    if isinstance(design, Grouped):
        return {f"{subject}: by": design.by}
    if isinstance(design, tuple):
        pairs = zip("ab", design, strict=False)
        return {f"{subject}: {role}": each for role, each in pairs if hasattr(each, "__len__")}
    return {}


@dataclass(frozen=True)
class FilteredOutcome:
    """An outcome that a filter decides in some cells.

    Attributes
    ----------
    reports : Reports
        With the truths that are possible where the outcome is free.
    certain : ndarray, shape (n, cells)
        ``P(reports | cell)`` where one answer is left; NaN where the outcome is free.
    """

    reports: Reports
    certain: Array


def routes_of(
    cells: PredictorCells, response: SharedResponse, outcome: Reports, parts: tuple[Array, Array]
) -> FilteredOutcome:
    """In which cells the outcome is free, if it shares a response with predictors.

    Raises
    ------
    ParameterError
        If it is free nowhere, or the answers that are left differ between cells: then coefficients have no meaning.
    """
    counts = {name: len(truths) for name, truths in cells.truths.items()}
    every = response.allowed(counts | {"outcome": len(outcome.truths)})
    allowed = every.reshape(-1, len(outcome.truths))[cells.kept]
    free = allowed.sum(axis=1) > 1
    choices = {tuple(row) for row in allowed[free].tolist()}
    # One linear predictor describes one choice, and cannot serve cells with different answers open.
    if len(choices) != 1:
        why = "with any of them" if choices else "with some of them, but its predictors decide it"
        raise ParameterError(
            f"formula: must have predictors that leave the same answers open {why}; one question filters the other "
            "here. Take another outcome, or a table of both (deniable analyze crosstab)"
        )
    (open_to,) = choices
    base, more = parts
    # each cell that is not free has one answer, and `likelihood` is whether the report is equal to it
    only = outcome.likelihood[:, allowed.argmax(axis=1)]
    certain = np.where(free, np.nan, base[:, None] + more * only)
    kept = np.array(open_to)
    truths = tuple(each for each, one in zip(outcome.truths, open_to, strict=True) if one)
    left = replace(outcome, likelihood=np.asfortranarray(outcome.likelihood[:, kept]), truths=truths)
    return FilteredOutcome(left, certain)


def crossed(frame: Frame, cells: PredictorCells, weights: Array) -> Regressors:
    """The covariates of a frame and the truths of randomised predictors, not checked yet.

    Of a formula every term counts, interactions too; of arrays each truth but the first is an effect.
    """
    truths = cells.truths
    every = [dict(zip(truths, cell, strict=True)) for cell in itertools.product(*truths.values())]
    plain, coded, terms, coding = (_of_formula if frame.formula else _of_arrays)(frame, truths, every)
    return Regressors(plain, coded[cells.kept], terms, weights, coding)


CodedColumns = tuple[Array, Array, tuple[str, ...], Coding | None]


def _of_arrays(frame: Frame, truths: Mapping[str, Sequence[str]], cells: list[dict[str, str]]) -> CodedColumns:
    # The first truth is the reference, as in the treatment coding of formulas.
    effects = [(name, x) for name, every in truths.items() for x in every[1:]]
    p = frame.matrix.shape[1]
    plain = np.concatenate([frame.matrix, np.ones((len(frame.matrix), len(effects)))], axis=1)
    coded = np.array([[*[1.0] * p, *(float(cell[name] == x) for name, x in effects)] for cell in cells])
    return plain, coded, (*frame.terms, *(f"{name}[T.{x}]" for name, x in effects)), None


def _of_formula(frame: Frame, truths: Mapping[str, Sequence[str]], cells: list[dict[str, str]]) -> CodedColumns:
    """Code the formula once for each cell, and take the columns apart."""
    spec: Any = with_truths(frame.formula, tuple(truths))
    plain = np.zeros((0, 0))
    coded = np.zeros((0, 0))
    terms: tuple[str, ...] = ()
    for x, cell in enumerate(cells):
        columns = {name: pd.Categorical([cell[name]], every).repeat(len(frame.table)) for name, every in truths.items()}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of levels that a column has not, which is the point
            matrix = model_matrix(spec, frame.table.assign(**columns))
        values = np.asarray(matrix, dtype=float)
        if not x:
            spec, terms = matrix.model_spec, tuple(map(str, matrix.columns))
            plain, coded = values.copy(), np.zeros((len(cells), len(terms)))
        for k, column in enumerate(values.T):
            if not np.isfinite(column).all():
                raise ParameterError(f"formula: must give finite numbers, but {terms[k]} does not in some rows")
            if not coded[:x, k].any():  # so far it was 0 under every cell
                plain[:, k], coded[x, k] = column, float(column.any())
                continue
            # least squares of this cell's column on that of the first cell in which it is not 0
            square = plain[:, k] @ plain[:, k]
            coded[x, k] = (plain[:, k] @ column) / square
            if np.abs(column - coded[x, k] * plain[:, k]).max() > MIXED * np.abs(plain[:, k]).max():
                raise ParameterError(
                    f"formula: must not compute {terms[k]} from a randomised predictor and a covariate together; "
                    "an interaction is written with a colon"
                )
    return plain, coded, terms, Coding(spec)


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
    # The cells of randomised predictors are columns of the same formula over these rows.
    rows = as_table(data).iloc[kept].reset_index(drop=True)
    return replace(frame, formula=right, left=left.strip("`"), table=rows)


def _from_formula(
    formula: str, data: Any, columns: Mapping[str, str | ArrayLike | None], without: Sequence[str]
) -> tuple[dict[str, Any], Any, int, Any]:
    left, right = sides(formula)
    table = as_table(data)
    outcome = left.strip("`")
    # `_complete` counts the rows that are left out, because it knows of gaps in all columns.
    coded = model_matrix(known_terms(right, without), table, na_action="drop")
    if outcome not in table.columns:  # such as log(income)
        computed = model_matrix(f"0 + {left}", table)
        if len(computed.columns) != 1:
            raise ParameterError(
                f"formula: must have one column on the left side, got {len(computed.columns)} from {left:.80}; write "
                "the name of a column with labels as it is, without C()"
            )
        table = table.assign(**{outcome: computed})
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

    try:
        matrix = np.asarray(data, dtype=float)
    except (TypeError, ValueError):
        raise ParameterError(
            f"data: must be a matrix of numbers, or a table if the outcome is a formula, got {describe(data)}"
        ) from None
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
    if bad := named(terms, ~np.isfinite(matrix).all(axis=0)):
        raise ParameterError(f"data: must have no infinite covariates, got some in {bad}")
    for term, column in zip(terms, matrix.T, strict=True):
        check_size(term, column)
    people = _people(arrays.get("frequencies", np.ones(total)))
    check_rank(matrix, terms, int(people[kept].sum()))
    dropped = int(people[~present].sum())
    coding = None if spec is None else Coding(spec)
    return Frame(matrix, terms, {k: array[kept] for k, array in arrays.items()}, dropped, coding), kept


def check_size(name: str, values: Array) -> None:
    """Raise a ParameterError that names a column unless squares of its numbers and of their spread are numbers."""
    # The information matrix has squares of these numbers, which must neither overflow nor vanish.
    large, spread = float(np.abs(values).max(initial=0.0)), float(np.ptp(values))
    if large > LARGEST_SIZE or any(0 < each < SMALLEST_SIZE for each in (large, spread)):
        raise ParameterError(
            f"{name}: must be numbers of a size from {SMALLEST_SIZE:g} to {LARGEST_SIZE:g}; "
            "multiply them by a constant first"
        )


def _people(frequencies: NDArray[Any]) -> Array:
    """How many people each row stands for, before anything is known of the frequencies but that they are an array."""
    if frequencies.dtype.kind not in "biuf":
        return np.ones(len(frequencies))
    return np.where(np.isfinite(frequencies), frequencies, 0).astype(float)
