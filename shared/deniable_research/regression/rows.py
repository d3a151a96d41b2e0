"""The rows of a model: covariates, reports to randomised predictors, and how rows stand for people."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from numpy.typing import ArrayLike

from deniable.errors import ParameterError
from deniable_research.regression.cells import Cells, SharedResponse, cell_model
from deniable_research.regression.data import Frame, check_holds, read_frame
from deniable_research.regression.latent import LatentClasses, first_shares
from deniable_research.regression.likelihood import Sample
from deniable_research.regression.outcomes import CategoricalOutcome
from deniable_research.regression.regressors import Regressors
from deniable_research.regression.reports import Grouped, Reports, aligned_columns, read_reports
from deniable_research.regression.responses import DesignLike
from deniable_research.sampling import Domain


def read_rows(
    outcome: str | ArrayLike,
    data: Any,
    names: Sequence[str] | None,
    columns: Mapping[str, Any],
    randomised: Mapping[str, DesignLike | Grouped],
    reports: Mapping[str, ArrayLike] | None,
    shared: Sequence[SharedResponse] = (),
    domain: Domain | None = None,
) -> tuple[Frame, Cells, Sample]:
    """Read the rows of a model, with its randomised predictors.

    Parameters
    ----------
    outcome, data, names, columns
        As for `deniable_research.regression.data.read_frame`.
    randomised : mapping from name to design
    reports : mapping from name to array_like, optional
        The reports, if the data are not a table.
    shared : sequence of SharedResponse
    domain : Domain, optional
        The people of the rows among all who were drawn.
    """
    if not isinstance(outcome, str) and set(reports or ()) != set(randomised):
        raise ParameterError(f"reports: must hold arrays of {', '.join(randomised)}, because the data are not a table")
    roles = {name: f"reports of {name}" for name in randomised}
    wanted = dict(columns)
    for name, role in roles.items():
        wanted[role] = name if reports is None else reports[name]
        wanted |= aligned_columns(randomised[name], role)
    frame = read_frame(outcome, data, names, wanted, list(randomised) if isinstance(outcome, str) else ())
    predictors = {
        name: read_reports(frame.columns[role], randomised[name], frame.columns, role) for name, role in roles.items()
    }
    known = {"outcome", *predictors}
    for each in shared:
        if strangers := [name for name in each.names if name not in known]:
            raise ParameterError(f"shared: must name the outcome and predictors, got {', '.join(strangers)}")
    among = tuple(each for each in shared if "outcome" not in each.names)
    with_outcome = tuple(
        name for each in shared if "outcome" in each.names for name in each.names if name in predictors
    )
    return frame, Cells(predictors, len(frame.matrix), among, with_outcome), Sample.of(frame, domain)


def regressors_of(frame: Frame, cells: Cells, sample: Sample) -> Regressors:
    """What the outcome depends on."""
    if cells.predictors:
        if frame.formula:
            check_holds(frame.formula, list(cells.predictors))
        return Regressors.crossed(frame, cells.truths, sample.weights)
    return Regressors.known(frame, sample.weights)


def latent_classes(frame: Frame, cells: Cells, sample: Sample, outcome: Any) -> LatentClasses:
    """The likelihood of an outcome given its regressors, with what is known about the cells."""
    covariates = Regressors.known(frame, sample.weights)
    first = first_shares(cells, sample.weights)
    shares = cell_model(cells, covariates.with_intercept(), sample.weights, first)
    return LatentClasses(outcome, shares, cells, sample.weights)


def categorical(
    frame: Frame, cells: Cells, sample: Sample, reports: Reports, shared: Sequence[SharedResponse]
) -> LatentClasses:
    """The likelihood of a randomised yes-no answer or choice."""
    regressors = regressors_of(frame, cells, sample)
    for each in shared:
        if "outcome" in each.names:
            parts = cells.shared_parts(each, reports)
            equal = each.parts([reports])[2][0]
            outcome = CategoricalOutcome(replace(reports, likelihood=equal), regressors, parts)
            return latent_classes(frame, cells, sample, outcome)
    return latent_classes(frame, cells, sample, CategoricalOutcome(reports, regressors))
