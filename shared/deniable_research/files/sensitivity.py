"""Sensitivity of shares and means to people who misbehave: rows for growing shares of them, and the chart."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from deniable.errors import ParameterError
from deniable_research.attention.correction import KNOWN, Corrected, corrected, shares_up_to
from deniable_research.files.correcting import CORRECTED
from deniable_research.files.estimating import estimate_shares
from deniable_research.files.report_table import Table
from deniable_research.pictures import FAINT_INK, STYLES, check_panels, panels_beside, tidy
from deniable_statistics.published.picture_size import ANY_SIZE, PictureSize
from deniable_statistics.published.published_rows import EstimateOptions
from deniable_statistics.robustness.misbehaviour import Misbehaving

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MOST_PANELS = 24
"""Largest number of figures in a chart, one panel each."""


@dataclass(frozen=True)
class SensitivityRow:
    """One figure for one share of people who misbehave. The fields are the columns of the CSV, in order.

    Attributes
    ----------
    question, option, statistic : str
    misbehaving : float
        The assumed share of people who misbehave.
    estimate : float or None
        The published estimate, which assumes that nobody does.
    bound_low, bound_high, robust_low, robust_high : float or None
        Bounds of the figure and its robust interval, if at most that share misbehaves.
    corrected, corrected_low, corrected_high : float or None
        The corrected share and its interval, if exactly that share misbehaves; None unless the reports of such people
        have a known distribution.
    conf_level : float
    """

    question: str
    option: str
    statistic: str
    misbehaving: float
    estimate: float | None
    bound_low: float | None
    bound_high: float | None
    robust_low: float | None
    robust_high: float | None
    corrected: float | None
    corrected_low: float | None
    corrected_high: float | None
    conf_level: float


def sensitivity(
    table: Table,
    names: Iterable[str] = (),
    *,
    suspected: Misbehaving,
    steps: int = 10,
    wanted: EstimateOptions | None = None,
) -> list[SensitivityRow]:
    """Estimates for a growing share of people who misbehave.

    Parameters
    ----------
    table : Table
    names : iterable of str
        Questions; by default all.
    suspected : Misbehaving
        What they do, and the largest share of them.
    steps : int
        Number of equal steps from 0 to that share.
    wanted : EstimateOptions, optional
        Confidence level and method.

    Returns
    -------
    list of SensitivityRow
        In the order of questions and options, then by the share of people who misbehave.

    Examples
    --------
    >>> from deniable_research.files import Layout, quick_question
    >>> layout = Layout((quick_question("q: crosswise p=0.15 codes=same:1,different:0"),))
    >>> table = Table.of({"q": ("1",) * 1427 + ("0",) * 573}, layout)
    >>> rows = sensitivity(table, suspected=Misbehaving(0.25, ["careless"]), steps=1)
    >>> [(row.option, row.misbehaving, round(row.corrected, 3)) for row in rows if row.option == "yes"]
    [('yes', 0.0, 0.195), ('yes', 0.25, 0.093)]
    """
    asked = wanted or EstimateOptions()
    chosen = list(names) or [question.name for question in table.layout.questions]
    found: dict[tuple[str, str, str], list[SensitivityRow]] = {}
    for share in shares_up_to(suspected.share, steps):
        now = replace(suspected, share=share)
        for name in chosen:
            # corrected supposes exactly this share, bounds and robust intervals at most this share
            exact = _corrected(table, name, now, asked)
            for row in estimate_shares(table, [name], wanted=replace(asked, misbehaving=now)):
                # An anchor estimates the inattentive people itself, so its correction supposes no share of them.
                if row.statistic == CORRECTED or row.misbehaving is None:
                    continue
                here = exact.get(row.option) if row.statistic == "share" else None
                found.setdefault((name, row.option, row.statistic), []).append(
                    SensitivityRow(
                        question=name,
                        option=row.option,
                        statistic=row.statistic,
                        misbehaving=share,
                        estimate=row.estimate,
                        bound_low=row.bound_low,
                        bound_high=row.bound_high,
                        robust_low=row.robust_low,
                        robust_high=row.robust_high,
                        corrected=here and here.share,
                        corrected_low=here and here.interval.low,
                        corrected_high=here and here.interval.high,
                        conf_level=asked.confidence_level,
                    )
                )
    return [row for rows in found.values() for row in rows]


def _corrected(table: Table, name: str, suspected: Misbehaving, asked: EstimateOptions) -> dict[str, Corrected]:
    """The corrected share of each option, where it is known what people who misbehave send."""
    question = table.layout.question(name)
    # a correction takes out reports whose distribution is known; of several kinds nobody knows the mix
    is_known = len(suspected.kinds) == 1 and suspected.kinds[0] in KNOWN
    if not (is_known and question.has_shares and question.design.groups == 1):
        return {}
    exact = corrected(table.estimate(name), suspected, asked.confidence_level, asked.method)
    return dict(zip(question.options, exact, strict=True))


def sensitivity_chart(rows: Sequence[SensitivityRow], size: PictureSize = ANY_SIZE) -> Figure:
    """A panel for each figure: bounds, robust interval and corrected share against the share who misbehave.

    Raises
    ------
    ParameterError
        If there is nothing to draw, or more than `MOST_PANELS` figures.
    """
    from matplotlib.figure import Figure
    from matplotlib.ticker import MaxNLocator, PercentFormatter

    curves: dict[tuple[str, str, str], list[SensitivityRow]] = {}
    for row in rows:
        if row.estimate is not None:
            curves.setdefault((row.question, row.option, row.statistic), []).append(row)
    if not 0 < len(curves) <= MOST_PANELS:
        raise ParameterError(f"chart: must have 1 to {MOST_PANELS} figures, got {len(curves)}; name questions")
    columns = panels_beside(len(curves), size)
    lines = -(-len(curves) // columns)  # rounded up
    check_panels(lines, size)
    figure = Figure(figsize=size.inches(4.6 * columns, 0.4 + 2.9 * lines), layout="constrained")
    wide = figure.get_figwidth() / columns
    panels = figure.subplots(lines, columns, squeeze=False).ravel()
    for axes, ((question, option, statistic), curve) in zip(panels, curves.items(), strict=False):
        x = [row.misbehaving for row in curve]
        colour = STYLES[0][0]
        for ends, alpha, label in (("robust", 0.18, "robust interval"), ("bound", 0.35, "bounds")):
            low, high = ([_figure(getattr(row, f"{ends}_{end}")) for row in curve] for end in ("low", "high"))
            axes.fill_between(x, low, high, color=colour, alpha=alpha, linewidth=0, label=label)
        axes.axhline(_figure(curve[0].estimate), color=FAINT_INK, linewidth=1, label="estimate")
        if curve[0].corrected is not None:
            other = STYLES[1][0]
            axes.plot(x, [_figure(row.corrected) for row in curve], color=other, linewidth=2, label="corrected")
            for end in ("corrected_low", "corrected_high"):
                axes.plot(
                    x, [_figure(getattr(row, end)) for row in curve], color=other, linestyle=(0, (4, 2)), linewidth=1
                )
        if statistic != "mean":
            axes.yaxis.set_major_formatter(PercentFormatter(xmax=1, decimals=0))
        axes.xaxis.set_major_formatter(PercentFormatter(xmax=1, decimals=None))
        # Three quarters of an inch for each label of 10 points.
        axes.xaxis.set_major_locator(MaxNLocator(max(int(wide / (0.75 * size.scale)) - 1, 2), steps=[1, 2, 2.5, 5, 10]))
        axes.set_xlabel("people who misbehave")
        axes.margins(x=0)
        tidy(axes, f"{question}: {option or statistic}"[:60].replace("$", r"\$"))
    # Below all panels, because it would cover the curves in a narrow one.
    handles, names = panels[0].get_legend_handles_labels()
    beside = max(int(figure.get_figwidth() / (1.5 * size.scale)), 1)
    figure.legend(handles, names, loc="outside lower center", ncols=beside, frameon=False, fontsize="small")
    for axes in panels[len(curves) :]:
        axes.set_visible(False)
    return figure


def _figure(value: float | None) -> float:
    """A number that matplotlib can draw: it leaves a gap at NaN."""
    return float("nan") if value is None else value
