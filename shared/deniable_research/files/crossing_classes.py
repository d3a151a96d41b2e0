"""Crosstabs by maximum likelihood, for questions of two-group designs and of several designs.

The joint shares of other questions are means of products of scores, one score for each column; these have no scores.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from deniable.errors import ParameterError
from deniable_research.files.crosstab_rows import CrosstabCells, Floats, about_columns, cell_rows
from deniable_research.files.mixed import shares_together
from deniable_research.files.model_specification import answers_to
from deniable_research.files.regressing import regress
from deniable_research.files.report_table import Table
from deniable_research.files.result_rows import CrosstabRow
from deniable_statistics.sampling.estimates import t_quantile, t_two_sided


def needs_classes(table: Table, names: Sequence[str]) -> bool:
    """Whether one of these columns is a question of several designs or of two groups, which needs the likelihood."""
    layout = table.layout
    return any(name in layout.mixed or layout.whole(name)[0].design.groups > 1 for name in filter(layout.has, names))


def cross_classes(
    table: Table, names: Sequence[str], *, given: str | None = None, confidence_level: float = 0.95
) -> Iterator[CrosstabRow]:
    """Cross two questions by maximum likelihood: shares, the test of independence, odds ratio and correlation.

    Under a sampling design intervals are those of Student's t. Independence is tested by the likelihood ratio of the
    logistic or multinomial model of the first question on the second.
    """
    if len(names) != 2:
        raise ParameterError(
            f"crosstab: must be of two columns where one has several designs or two groups, got {', '.join(names)}"
        )
    found = shares_together(table, names)
    weights, df = found.fit.sample.frame.columns.get("weights"), found.fit.df
    n = float(found.fit.n if weights is None else weights.sum())
    about = about_columns(names, n, confidence_level, df if table.is_complex else None)
    options = [answers_to(table, name) for name in names]
    shape = (len(options[0]), len(options[1]))
    if given is None:
        rows = found.rows(confidence_level)[: math.prod(shape)]  # the rest are unknown parameters of the designs
        share, error, low, high = (
            np.reshape([getattr(row, name) for row in rows], shape)
            for name in ("estimate", "std_error", "conf_low", "conf_high")
        )
        cells = CrosstabCells(share, error, np.maximum(low, 0.0), np.minimum(high, 1.0), share)
    else:
        axis = list(names).index(given)
        cells = _conditional(found.share.reshape(shape), found.covariance, axis, confidence_level, df)
    yield from cell_rows(about, options, cells, given)
    glance = regress(table, f"`{names[0]}` ~ `{names[1]}`").glance()
    if np.isfinite(glance.lr_statistic):
        yield replace(
            about,
            measure="independence",
            statistic=glance.lr_statistic,
            df=float(glance.lr_df),
            p_value=glance.p_value,
            note="likelihood ratio",
        )
    if shape == (2, 2):
        yield from _two_by_two(about, found.share, found.covariance, df)


def _conditional(share: Floats, covariance: Floats, axis: int, level: float, df: float) -> CrosstabCells:
    """Shares among the people with each answer along an axis, with delta-method errors and logit-scale intervals."""
    t = t_quantile(level, df)
    places, found = np.arange(share.size).reshape(share.shape), np.empty((4, *share.shape))
    totals = np.broadcast_to(share.sum(axis=1 - axis, keepdims=True), share.shape)
    for place in np.ndindex(share.shape):
        among = places.take(place[axis], axis)
        total = totals[place] if totals[place] > 0 else np.nan
        # p = cell / total: dp / d(each cell of the total) = -p / total, and 1 / total more for the cell itself.
        p = float(share[place] / total)
        slope = np.zeros(share.size)
        slope[among] = -p / total
        slope[places[place]] += 1 / total
        error = float(np.sqrt(slope @ covariance @ slope))
        found[(slice(None), *place)] = (p, error, *_within(p, error, t))
    return CrosstabCells(*found)


def _within(p: float, error: float, z: float) -> tuple[float, float]:
    """Wald's interval of a share on the logit scale; nothing is known at 0 and 1."""
    if not 0 < p < 1 or not np.isfinite(error):
        return 0.0, 1.0
    # d logit(p) / dp = 1 / (p (1 - p))
    logit, reach = np.log(p / (1 - p)), z * error / (p * (1 - p))
    low, high = 1 / (1 + np.exp(-(logit + np.array([-reach, reach]))))
    return float(low), float(high)


def _two_by_two(about: CrosstabRow, share: Floats, covariance: Floats, df: float) -> Iterator[CrosstabRow]:
    """The odds ratio and the correlation (phi) of a two-by-two table, with delta-method errors."""
    z = t_quantile(about.conf_level, df)
    a, b, c, d = share
    if share.min() > 0:
        # d log(ad / bc) / dx is 1 / x for a and d, and -1 / x for b and c.
        slope = np.array([1, -1, -1, 1]) / share
        log_odds, error = float(np.log(a * d / (b * c))), float(np.sqrt(slope @ covariance @ slope))
        ends = np.exp(log_odds + np.array([-z, z]) * error)
        yield replace(
            about,
            measure="odds ratio",
            estimate=float(np.exp(log_odds)),
            conf_low=float(ends[0]),
            conf_high=float(ends[1]),
        )
    rows, columns = np.array([c + d, a + b]), np.array([b + d, a + c])
    if min(rows.min(), columns.min()) <= 0:
        return
    # phi = (ad - bc) / sqrt of the product of all margins
    bottom = np.sqrt(rows.prod() * columns.prod())
    phi = float((a * d - b * c) / bottom)
    slope = np.array([d, -c, -b, a]) / bottom
    of_row = (rows[1] - rows[0]) / (2 * rows.prod())
    of_column = (columns[1] - columns[0]) / (2 * columns.prod())
    # d phi = (d numerator) / bottom - phi d(log bottom). With row shares r and 1 - r, log bottom has the slope
    # (1 - 2 r) / (2 r (1 - r)) by the share r of the second row, and likewise by that of the second column.
    slope -= phi * (of_row * np.array([0, 0, 1, 1]) + of_column * np.array([0, 1, 0, 1]))
    error = float(np.sqrt(slope @ covariance @ slope))
    reach = z * error / (1 - phi**2) if abs(phi) < 1 else np.inf  # Fisher's z
    ends = np.tanh(np.arctanh(phi) + np.array([-reach, reach])) if np.isfinite(reach) else np.array([-1.0, 1.0])
    statistic = phi / error if error > 0 else np.nan
    yield replace(
        about,
        measure="correlation",
        estimate=phi,
        std_error=error,
        conf_low=float(ends[0]),
        conf_high=float(ends[1]),
        statistic=statistic,
        p_value=t_two_sided(statistic, df),
    )
