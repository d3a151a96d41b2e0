"""The rows of a model: covariates, reports to randomised predictors, and how rows stand for people."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypedDict, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from deniable.errors import ParameterError
from deniable_research.regression.cells import PredictorCells, SharedResponse, cell_model
from deniable_research.regression.data import Frame, check_holds, check_size, read_frame
from deniable_research.regression.factor import Array
from deniable_research.regression.fit import Fit, fit_model
from deniable_research.regression.latent import LatentClasses
from deniable_research.regression.moments import calibrated
from deniable_research.regression.outcomes import CategoricalOutcome, NormalOutcome, starting_shares
from deniable_research.regression.regressors import Regressors
from deniable_research.regression.reports import DesignLike, Grouped, Reports, aligned_columns, read_reports
from deniable_research.regression.sample import DrawnSample, ModelSample
from deniable_statistics.sampling import Domain

Randomised = Mapping[str, DesignLike | Grouped]
"""What the answers to each randomised predictor went through."""


class RowOptions(TypedDict, total=False):
    """How the rows of a model are read, and how they count.

    Attributes
    ----------
    reports : mapping from name to array_like, optional
        The reports to randomised predictors, if the data are not a table.
    names : sequence of str, optional
        Names of the columns of a matrix.
    weights : str or array_like, optional
        Probability weights. Standard errors are those of the sandwich.
    frequencies : str or array_like of int, optional
        How many people a row stands for.
    clusters : str or array_like, optional
        Labels of rows that are not independent. Standard errors are those of the sandwich over clusters.
    domain : Domain, optional
        The people of the rows among all who were drawn: weights, and errors of the sampling design. Those of replicate
        weights come from a fit with each.
    """

    reports: Mapping[str, ArrayLike] | None
    names: Sequence[str] | None
    weights: str | ArrayLike | None
    frequencies: str | ArrayLike | None
    clusters: str | ArrayLike | None
    domain: Domain | None


class FitOptions(RowOptions, total=False):
    """Options of a model that is fitted by maximum likelihood, besides `RowOptions`.

    Attributes
    ----------
    shared : sequence of SharedResponse
        Questions whose answers went into one report.
    penalty : {"auto", "cauchy", None}
        A weakly informative prior only if the likelihood has no maximum, always, or never.
    start : array_like, optional
        Where to search first.
    random_starts, seed : int
        Random starts after the deterministic ones, if the first three do not agree.
    """

    shared: Sequence[SharedResponse]
    penalty: str | None
    start: ArrayLike | None
    random_starts: int
    seed: int


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
            A formula or the reports, as for `deniable_research.regression.data.read_frame`.
        data : DataFrame, mapping of columns, or array_like of shape (n, p)
        aligned : mapping, optional
            Columns of the design of the outcome that belong to rows.
        """
        roles = {name: f"reports of {name}" for name in self.randomised}
        wanted = self._columns() | dict(aligned or {}) | self._columns_of_predictors(isinstance(outcome, str), roles)
        frame = read_frame(outcome, data, self.names, wanted, list(roles) if isinstance(outcome, str) else ())
        predictors = {
            name: read_reports(frame.columns[role], self.randomised[name], frame.columns, role)
            for name, role in roles.items()
        }
        self._check_shared(predictors)
        among = tuple(each for each in self.shared if "outcome" not in each.names)
        beside = [each for each in self.shared if "outcome" in each.names]
        with_outcome = tuple(name for each in beside for name in each.names if name in predictors)
        sample = ModelSample.of(frame) if self.domain is None else DrawnSample.of_domain(frame, self.domain)
        return RegressionRows(frame, PredictorCells(predictors, len(frame.matrix), among, with_outcome), sample, beside)

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
        if not self.randomised:
            raise ParameterError("randomised: must name a predictor, got none")
        rows = self.read(outcome, data)
        y = rows.frame.columns["outcome"]
        if y.dtype.kind not in "biuf" or not np.isfinite(y).all():
            raise ParameterError("outcome: must be finite numbers")
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
            raise ParameterError("domain: must bring weights and clusters itself, they are not given beside it")
        return {"weights": self.domain.weights, "rows": np.arange(len(self.domain))}


@dataclass(frozen=True)
class FitRequest(RowRequest):
    """Randomised predictors and `FitOptions`, with what these are unless somebody says so."""

    penalty: str | None = "auto"
    start: ArrayLike | None = None
    random_starts: int = 5
    seed: int = 0

    def fit(self, rows: RegressionRows, model: LatentClasses) -> Fit:
        """Maximise the likelihood of the rows."""
        return fit_model(model, rows.sample, self.penalty, self.start, self.random_starts, self.seed)


Model = TypeVar("Model", bound=Callable[..., Any])


def shows(options: type) -> Callable[[Model], Model]:
    """Let `help` and completion show each of the options in place of ``**options``, with its default."""
    defaults = inspect.signature(FitRequest).parameters

    def shown(model: Model) -> Model:
        own = inspect.signature(model)
        kept = [each for each in own.parameters.values() if each.kind is not each.VAR_KEYWORD]
        more = [defaults[name].replace(kind=inspect.Parameter.KEYWORD_ONLY) for name in options.__annotations__]
        vars(model)["__signature__"] = own.replace(parameters=[*kept, *more])
        return model

    return shown


@dataclass(frozen=True)
class RegressionRows:
    """Rows that models are made of.

    Attributes
    ----------
    frame : Frame
    cells : PredictorCells
        Their randomised predictors.
    sample : ModelSample
    beside : sequence of SharedResponse
        Responses that predictors share with the outcome.
    """

    frame: Frame
    cells: PredictorCells
    sample: ModelSample
    beside: Sequence[SharedResponse]

    @property
    def outcome(self) -> Array:
        """The outcome of a linear model, shape (n,)."""
        return self.frame.columns["outcome"].astype(float)

    @property
    def first_shares(self) -> Array:
        """How often each cell is, from the reports alone, shape (cells,)."""
        return starting_shares(self.cells.likelihood(), self.sample.weights)

    @property
    def regressors(self) -> Regressors:
        """What the outcome depends on."""
        if not self.cells.predictors:
            return Regressors.known(self.frame, self.sample.weights)
        if self.frame.formula:
            check_holds(self.frame.formula, list(self.cells.predictors))
        return Regressors.crossed(self.frame, self.cells.truths, self.sample.weights)

    def categorical(self, reports: Reports) -> LatentClasses:
        """The likelihood of a randomised yes-no answer or choice."""
        regressors, parts = self.regressors, None
        # of one response the outcome's part is whether the report is equal to a truth; base and more say how likely
        for each in self.beside:
            parts = self.cells.shared_parts(each, reports)
            reports = replace(reports, likelihood=each.parts([reports])[2][0])
            break
        return self._given(CategoricalOutcome(reports, regressors, parts))

    def normal(self) -> LatentClasses:
        """The likelihood of a number."""
        regressors = self.regressors
        guess = calibrated(self.outcome, regressors, self.cells, self.sample.weights)
        return self._given(NormalOutcome(self.outcome, regressors, guess))

    def _given(self, outcome: CategoricalOutcome | NormalOutcome) -> LatentClasses:
        """The likelihood of an outcome given its regressors, with what is known about the cells."""
        covariates = Regressors.known(self.frame, self.sample.weights).with_intercept()
        shares = cell_model(self.cells, covariates, self.sample.weights, self.first_shares)
        return LatentClasses(outcome, shares, self.cells, self.sample.weights)
