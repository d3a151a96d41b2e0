"""Shares of truths by maximum likelihood: where no formula gives them, as for several designs or questions at once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from deniable.errors import ParameterError, check_kind
from deniable_research.regression.rows import Randomised, RowRequest
from deniable_statistics.regression.cells import CellShares
from deniable_statistics.regression.factor import Array
from deniable_statistics.regression.fit import Fit, fit_model
from deniable_statistics.regression.likelihood import LatentClasses
from deniable_statistics.regression.outcomes import NoOutcome
from deniable_statistics.regression.regressors import Regressors
from deniable_statistics.regression.shared_response import SharedResponse
from deniable_statistics.regression.tidy import TidyRow
from deniable_statistics.sampling import Domain


@dataclass(frozen=True)
class ClassShares:
    """How often each combination of the truths of some questions is, a *cell*.

    Attributes
    ----------
    fit : Fit
        Its terms are the shares of all cells but one, and unknown shares of two-group designs.
    model : LatentClasses
    """

    fit: Fit
    model: LatentClasses

    @property
    def truths(self) -> dict[str, tuple[str, ...]]:
        """Names of the answers by question; cells are in the order of `itertools.product`."""
        return self.model.cells.truths

    @property
    def _cells(self) -> CellShares:
        assert isinstance(self.model.shares, CellShares)
        return self.model.shares

    @cached_property
    def share(self) -> Array:
        """The most likely share of each cell, shape (cells,)."""
        return np.asarray(self._cells.at(self.fit.params[self.model.cells_at], slice(1)).value[0])

    @cached_property
    def covariance(self) -> Array:
        """Their covariance, shape (cells, cells); NaN for shares of 0 or 1, and all others given these."""
        where = self.model.cells_at
        # shares = base + slopes params, so their covariance is slopes C slopes'
        part = self.fit.cov_params()[where, where]
        slopes = self._cells.slopes[0]
        ended = np.isnan(np.diag(part))
        # shares at 0 or 1 count as known, with variance 0
        known = np.where(np.isfinite(part), part, 0.0)
        found = slopes @ known @ slopes.T
        # what depends on a share at its end and is 0 itself has no error either
        gone = np.flatnonzero((np.abs(slopes[:, ended]) > 0).any(axis=1) & (self.share == 0))
        found[gone, :] = found[:, gone] = np.nan
        if np.isinf(part).any():
            found[:] = np.nan
        return np.asarray(found)

    def rows(self, confidence_level: float = 0.95, interval: str | None = None) -> list[TidyRow]:
        """A row for each cell, and for each unknown share; profile intervals where there is a likelihood."""
        fitted = {row.term: row for row in self.fit.tidy(confidence_level, interval=interval)}
        cells, found = self._cells, []
        for name in cells.names:
            term = f"P({name})"
            if term not in fitted:  # what the others leave: the same model, another cell being left
                # The largest of the other shares takes what is left, because it is far from 0. Of few people the
                # reference itself may not be the largest share, so the second largest would not do.
                others = np.where(np.array(cells.names) == name, -1.0, self.share)
                other = int(np.argmax(others))
                moved = replace(self.model, shares=replace(cells, reference=np.array([other])))
                again = fit_model(moved, self.fit.sample, None)
                place = again.terms.index(term)
                fitted[term] = again.tidy(confidence_level, interval=interval)[place]
            found.append(fitted[term])
        return found + [fitted[term] for term in self.model.cells.terms]


def class_shares(
    reports: Mapping[str, ArrayLike],
    designs: Randomised,
    *,
    shared: Sequence[SharedResponse] = (),
    weights: ArrayLike | None = None,
    frequencies: ArrayLike | None = None,
    domain: Domain | None = None,
) -> ClassShares:
    """Estimate how often each combination of truths is, by maximum likelihood within [0, 1].

    Parameters
    ----------
    reports : mapping from name to array_like of length n
        The reports to each question.
    designs : mapping from name to mechanism, channel, (a, b) or grouped designs
        What the answers went through; `grouped` mixes designs, and gives those of two groups.
    shared : sequence of SharedResponse
    weights, frequencies, domain
        As for `deniable_research.regression.logistic`.

    Raises
    ------
    ParameterError
        If a design cannot have made a report, or cannot tell truths apart.

    Notes
    -----
    With known designs the log-likelihood is concave, so there is one maximum. It may lie where some share is 0, which
    then has no standard error; profile intervals are right there.

    Examples
    --------
    Half of the people were asked directly, and the others through two fair coins:

    >>> from deniable import TwoCoin
    >>> from deniable_research.regression import grouped
    >>> design = grouped({"coins": TwoCoin("1/2", "1/2"), "direct": (1, 0)}, ["coins"] * 2 + ["direct"] * 2)
    >>> found = class_shares({"q": [0, 1, 0, 1]}, {"q": design}, frequencies=[560, 440, 700, 300])
    >>> found.share.round(4).tolist()
    [0.6854, 0.3146]
    >>> [round(end, 3) for end in found.rows()[1][-2:]]
    [0.289, 0.341]
    """
    check_kind(reports, Mapping, "reports")
    check_kind(designs, Mapping, "designs")
    if not reports or set(reports) != set(designs):
        raise ParameterError(f"reports: must hold arrays of {', '.join(designs)}, got {', '.join(reports) or 'none'}")
    n = len(np.asarray(next(iter(reports.values()))))
    request = RowRequest(designs, reports, [], weights, frequencies, None, domain, shared)
    # no covariates and an outcome that says nothing: what is left are the cells
    rows = request.read(np.zeros(n), np.ones((n, 0)))
    cells, sample, first = rows.cells, rows.sample, rows.first_shares[None, :]
    none = NoOutcome(Regressors.known(rows.frame, sample.weights), cells.size)
    places = np.zeros(len(sample.weights), dtype=np.int64)
    shares = CellShares(places, cells.names, ("",), first, first.argmax(axis=1))
    model = LatentClasses(none, shares, cells, sample.weights)
    return ClassShares(fit_model(model, sample, None), model)
