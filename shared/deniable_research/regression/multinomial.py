"""Multinomial regression of a randomised choice."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from numpy.typing import ArrayLike

from deniable.errors import ParameterError
from deniable_research.regression.cells import SharedResponse
from deniable_research.regression.fit import Fit
from deniable_research.regression.fitting import fit_model
from deniable_research.regression.likelihood import Sample
from deniable_research.regression.reports import Grouped, aligned_columns, read_reports
from deniable_research.regression.responses import DesignLike
from deniable_research.regression.rows import categorical, read_rows
from deniable_research.sampling import Domain


def multinomial(
    outcome: str | ArrayLike,
    data: Any,
    design: DesignLike | Grouped,
    *,
    truths: Sequence[str] | None = None,
    randomised: Mapping[str, DesignLike | Grouped] | None = None,
    reports: Mapping[str, ArrayLike] | None = None,
    shared: Sequence[SharedResponse] = (),
    names: Sequence[str] | None = None,
    weights: str | ArrayLike | None = None,
    frequencies: str | ArrayLike | None = None,
    clusters: str | ArrayLike | None = None,
    domain: Domain | None = None,
    penalty: str | None = "auto",
    start: ArrayLike | None = None,
    random_starts: int = 5,
    seed: int = 0,
) -> Fit:
    """Multinomial logistic regression of a choice that was randomised; the first option is the reference.

    Parameters
    ----------
    outcome : str or array_like of length n
        A formula, or the reports: numbers, names of a channel's responses, or the texts of `deniable.Subset`.
    design : Mechanism, Channel or Grouped
        What the answers went through. It may have more responses than truths, or fewer people in one group than in
        another; all must have the same truths.
    truths : sequence of str, optional
        Names of the options for the terms, in option order.
    data, randomised, reports, shared, names, weights, frequencies, clusters, domain, penalty, start, random_starts,
    seed
        As for `logistic`.

    Returns
    -------
    Fit
        Its terms are ``option: covariate``, option after option without the first.

    Raises
    ------
    ParameterError
        As for `logistic`.

    Notes
    -----
    ``P(report_i) = sum over x of P(report_i | x) g_x(z_i)``, ``g = softmax`` of one linear predictor for each option
    with 0 for the first. The report of a subset mechanism is the whole subset: nothing of it is lost to a tally.

    References
    ----------
    A. van den Hout, P. G. M. van der Heijden, "Randomized response, statistical disclosure control and
    misclassification: a review", International Statistical Review 70 (2002), 269-288.

    Examples
    --------
    Truth with probability 1/2, otherwise one of three options at random: of 600 reports 250, 200 and 150. Shares are
    (250/600 - 1/6) / (1/2) = 1/2, 1/3 and 1/6, the logits ln(2/3) and ln(1/3):

    >>> from deniable_research.designs import forced_response
    >>> spin = forced_response("1/2", ["1/3", "1/3", "1/3"])
    >>> fit = multinomial([0, 1, 2], [[1], [1], [1]], spin, truths=["bus", "car", "foot"], frequencies=[250, 200, 150])
    >>> [(row.term, round(row.estimate, 4)) for row in fit.tidy(interval="wald")]
    [('car: x0', -0.4055), ('foot: x0', -1.0986)]
    """
    columns = Sample.columns(weights, frequencies, clusters, domain) | aligned_columns(design)
    frame, cells, sample = read_rows(outcome, data, names, columns, randomised or {}, reports, shared, domain)
    seen = read_reports(frame.columns["outcome"], design, frame.columns)
    if truths is not None:
        seen = seen.named(truths)
    if seen.share is not None:
        raise ParameterError(f"design: must have known probabilities, got unknown {seen.share}; use logistic")
    return fit_model(categorical(frame, cells, sample, seen, shared), sample, penalty, start, random_starts, seed)
