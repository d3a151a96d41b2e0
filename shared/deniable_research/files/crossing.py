"""Two or three columns of a table together: joint and conditional shares, independence, correlation."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from deniable.errors import ParameterError, ReportError
from deniable_research.designs import combined_share
from deniable_research.files.crossing_classes import cross_classes, needs_classes
from deniable_research.files.design_files import direct
from deniable_research.files.domains import domain_of
from deniable_research.files.layout import RandomizedColumn
from deniable_research.files.rows import CrosstabRow, SampledCrosstabRow
from deniable_research.files.table import Table
from deniable_research.items import Item
from deniable_research.joint import Correlation, Crosstab, DrawnPair, box_pair, correlation, crosstab, question_pair
from deniable_research.sampling import Domain, t_two_sided

MOST_LEVELS = 20
"""A column of numbers that has more different ones is correlated, not tabulated."""

FEW = 5
"""Expected numbers of people below which a chi-squared test is doubtful."""


def cross(
    table: Table,
    names: Sequence[str],
    *,
    given: str | None = None,
    permutations: int = 0,
    seed: int | None = None,
    confidence_level: float = 0.95,
) -> list[CrosstabRow]:
    """Put two or three columns together, at least one of them randomised.

    Parameters
    ----------
    table : Table
        Its weights and sampling design, if it has some, are used. People with nothing in one of the columns are left
        out; only beside a question of several designs or two groups, which takes a likelihood, they count with the
        rest of what they said.
    names : sequence of two or three str
        Questions, boxes like ``drugs[cocaine]``, or plain columns.
    given : str, optional
        One of them: shares among people with each answer to it, instead of joint shares.
    permutations, seed
        As for `deniable_research.joint.independence`.
    confidence_level : float

    Returns
    -------
    list of CrosstabRow
        The cells, in the order of options; of two columns then the test of independence, the odds ratio of two by two,
        and the correlation, if both stand for numbers. If one of them has more than `MOST_LEVELS` different numbers,
        the correlation alone. `SampledCrosstabRow` where the layout says how people were drawn.

    Raises
    ------
    ParameterError
        If there are not two or three different columns, no column is randomised, or `given` is not one of them.

    Examples
    --------
    >>> from deniable_research.files import Layout, quick_question
    >>> layout = Layout((quick_question("a: warner p=3/4"), quick_question("b: warner p=3/4")))
    >>> a, b = ("no",) * 50 + ("yes",) * 50, ("no",) * 30 + ("yes",) * 20 + ("no",) * 20 + ("yes",) * 30
    >>> rows = cross(Table.of({"a": a, "b": b}, layout), ["a", "b"])
    >>> [(row.measure, round(row.estimate, 4)) for row in rows if row.estimate is not None]
    [('joint', 0.45), ('joint', 0.05), ('joint', 0.05), ('joint', 0.45), ('odds ratio', 81.0), ('correlation', 0.8)]
    """
    if not 2 <= len(set(names)) == len(names) <= 3:
        raise ParameterError(f"crosstab: must be of two or three different columns, got {len(set(names))}")
    randomised = [name for name in names if table.layout.has(name)]
    if not randomised:
        raise ParameterError(f"crosstab: must have a randomised question, got {', '.join(names)}")
    if given is not None and given not in names:
        raise ParameterError(f"given: must be one of {', '.join(names)}, got {given!r}")
    if permutations and table.frequencies is not None:
        raise ParameterError(
            "permutations: must be 0 for rows that were counted, of which too many people stand in a row"
        )
    if needs_classes(table, names):
        if permutations:
            raise ParameterError("permutations: must be 0 for designs of two groups and several designs")
        asked = _with_plain_answers(table, [name for name in names if name not in randomised])
        return _marked(list(cross_classes(asked, names, given=given, confidence_level=confidence_level)), table)
    table.layout.refuse_never_together(names)
    if len(names) == 2 and table.layout.is_one_draw(*names):
        return _marked(_pair_rows(table, names, given, permutations, confidence_level), table)
    table.layout.refuse_one_draw(names)
    kept = complete_rows(table, names)
    complete, domain = table.where(kept), domain_of(table, kept, names)
    weights = complete.weights if domain is None else domain.weights
    numeric = _continuous(complete, names)
    if numeric:
        if len(names) != 2:
            raise ParameterError(f"{numeric[0]}: has more than {MOST_LEVELS} different numbers, which only correlate")
        found = correlation_with(complete, names[0], names[1], weights, domain)
        (row,) = _marked([_correlation(_people(complete, weights), names, found, confidence_level)], table)
        return [row if domain is None else _sampled(row, domain.df)]
    items = [complete.item(name) if name in randomised else _plain_item(complete, name) for name in names]
    together = crosstab(*items, weights=weights if domain is None else None, domain=domain)
    rows = list(_cells(together, given, confidence_level))
    if len(names) == 2:
        rows += _association(together, items, _people(complete, weights), permutations, seed, confidence_level)
    return _marked(rows, table) if domain is None else [_sampled(row, domain.df) for row in _marked(rows, table)]


def _sampled(row: CrosstabRow, df: float) -> SampledCrosstabRow:
    return SampledCrosstabRow(**vars(row), df_error=df if row.df is None else row.df * df)


def _marked(rows: Sequence[CrosstabRow], table: Table) -> list[CrosstabRow]:
    weighted = table.weights is not None or table.layout.sampling.margins is not None
    return [replace(row, weighted=weighted) for row in rows]


def _pair_rows(
    table: Table, names: Sequence[str], given: str | None, permutations: int, level: float
) -> list[CrosstabRow]:
    """Two boxes or questions of one draw, from the reports that hold both."""
    if permutations:
        raise ParameterError("permutations: must be 0 for what is of one draw, because one chance goes into both")
    pair = _pair(table, names)
    about = _about(names, float(pair.estimate.n), level)
    rows = []
    intervals = (pair.sampled or pair.estimate).interval(level)
    for cell, interval, feasible in zip(pair.cells, intervals, pair.estimate.feasible, strict=True):
        among = None
        if given is not None:
            axis = names.index(given)
            among = [", ".join(each) for each in pair.cells if each[axis] == cell[axis]]
        found = combined_share(pair.estimate, [", ".join(cell)], among)
        ends, error = interval if among is None else found.interval(level), found.std_error
        if pair.sampled is not None:
            error = found.error_from(pair.covariance)
            if among is not None:
                near = combined_share(pair.sampled.worth(found.std_error, error, level), [", ".join(cell)], among)
                ends = near.interval(level)
        rows.append(
            replace(
                about,
                measure="joint" if among is None else "conditional",
                first_option=cell[0],
                second_option=cell[1],
                given=given,
                estimate=found.estimate,
                std_error=error,
                conf_low=ends.low,
                conf_high=ends.high,
                feasible=feasible if among is None else None,
            )
        )
    test = pair.independence()
    rows.append(replace(about, measure="independence", statistic=test.statistic, df=test.df, p_value=test.p_value))
    if pair.share.shape == (2, 2):
        odds = pair.odds_ratio()
        low, high = odds.interval(level)
        rows.append(replace(about, measure="odds ratio", estimate=odds.odds_ratio, conf_low=low, conf_high=high))
    if pair.values is not None:
        rows.append(_correlation(about.n, names, pair.correlation(), level))
    return rows if pair.sampled is None else [_sampled(row, pair.df) for row in rows]


def _pair(table: Table, names: Sequence[str]) -> DrawnPair:
    (whole, first), (other, second) = map(table.layout.whole, names)
    if whole is not other:
        assert whole.drawn is not None
        assert whole.drawn.joint is not None
        kept = complete_rows(table, names)
        complete, domain = table.where(kept), domain_of(table, kept, names)
        one, two = map(complete.item, names)
        weights = complete.weights if domain is None else None
        return question_pair(one, two, whole.drawn.joint, weights, domain)
    if first is None or second is None:
        raise ParameterError(f"crosstab: must be of two boxes or of different questions, got {' and '.join(names)}")
    people = table.answered(whole.name)
    domain = domain_of(table, people, names)
    weights = None if table.weights is None or domain is not None else table.weights[people]
    return box_pair(table.boxes_of(whole.name), first, second, weights, domain)


def complete_rows(table: Table, names: Sequence[str]) -> NDArray[np.bool_]:
    """Who has something in each of these columns, randomised or plain."""
    found = table.answered(*(name for name in names if table.layout.has(name)))
    for name in names:
        if not table.layout.has(name):
            found &= table.labels(name).present
    return found


def correlation_with(
    table: Table, first: str, second: str, weights: NDArray[np.float64] | None = None, domain: Domain | None = None
) -> Correlation:
    """The correlation of two columns of which one or both are randomised."""
    if not table.layout.has(first):
        first, second = second, first
    other = table.item(second) if table.layout.has(second) else table.numbers(second)
    return correlation(table.item(first), other, None if domain is not None else weights, domain)


def _continuous(table: Table, names: Sequence[str]) -> list[str]:
    """Columns of so many different numbers that no table holds them."""
    found = []
    for name in names:
        if table.layout.has(name):
            values = table.layout.question(name).values
            found += [name] if values is not None and len(values) > MOST_LEVELS else []
        elif len(table.levels(name)) > MOST_LEVELS:
            try:
                table.numbers(name)
            except ReportError:
                raise ParameterError(
                    f"{name}: must have at most {MOST_LEVELS} different labels, got {len(table.levels(name))}"
                ) from None
            found.append(name)
    return found


def _plain_item(table: Table, name: str) -> Item:
    """A plain column as a question that was asked directly."""
    layout = replace(table.layout, questions=(_asked_directly(table, name),), mixed={})
    return Table.of(table.columns, layout, table.frequencies).item(name)


def _asked_directly(table: Table, name: str) -> RandomizedColumn:
    levels = [level for level in table.levels(name) if level in table.labels(name).values]
    if len(levels) < 2:
        raise ParameterError(f"{name}: must have at least 2 different labels, got {len(levels)}")
    try:
        values = tuple(map(float, levels))
    except ValueError:
        values = None
    places = {level: place for place, level in enumerate(levels)}
    return RandomizedColumn(name, name, direct(levels), tuple(levels), values, codes=places)


def _with_plain_answers(table: Table, plain: Sequence[str]) -> Table:
    """The table with these columns as questions that were asked directly."""
    for name in _continuous(table, plain):
        raise ParameterError(
            f"{name}: must have at most {MOST_LEVELS} different numbers beside a question of several designs or two "
            f"groups, got {len(table.levels(name))}; regress {name} on that question, with --likelihood"
        )
    questions = tuple(_asked_directly(table, name) for name in plain)
    reports = {each.name: each.read(table.labels(each.name), table.frequencies) for each in questions}
    layout = replace(table.layout, questions=(*table.layout.questions, *questions))
    return replace(table, layout=layout, reports={**table.reports, **reports})


def _cells(found: Crosstab, given: str | None, level: float) -> Iterator[CrosstabRow]:
    conditional = None if given is None else found.conditional(given)
    share, error = (found.share, found.std_error) if conditional is None else (conditional.share, conditional.std_error)
    low, high = found.interval(level) if conditional is None else conditional.interval(level)
    try:
        feasible = found.feasible if conditional is None else None
    except ParameterError:  # tick boxes, or too many cells
        feasible = None
    for place in itertools.product(*(range(len(options)) for options in found.options)):
        labels = [options[each] for options, each in zip(found.options, place, strict=True)]
        yield replace(
            _about(found.names, found.n, level),
            measure="joint" if given is None else "conditional",
            first_option=labels[0],
            second_option=labels[1],
            third_option=labels[2] if len(labels) > 2 else None,
            given=given,
            estimate=float(share[place]),
            std_error=float(error[place]),
            conf_low=float(low[place]),
            conf_high=float(high[place]),
            feasible=None if feasible is None else float(feasible[place]),
        )


def _association(
    found: Crosstab, items: Sequence[Item], people: float, permutations: int, seed: int | None, level: float
) -> Iterator[CrosstabRow]:
    about = _about(found.names, found.n, level)
    test = found.independence(permutations, seed)
    few = test.smallest_expected is not None and test.smallest_expected < FEW and not permutations
    note = f"the smallest expected number is {test.smallest_expected:.2g}: use permutations" if few else None
    if permutations:
        note = f"from {permutations} permutations, standard error {test.p_error:.2g}"
    yield replace(about, measure="independence", statistic=test.statistic, df=test.df, p_value=test.p_value, note=note)
    if found.share.shape == (2, 2):
        odds = found.odds_ratio()
        low, high = odds.interval(level)
        yield replace(about, measure="odds ratio", estimate=odds.odds_ratio, conf_low=low, conf_high=high)
    if all(item.values is not None for item in items):
        yield _correlation(people, found.names, found.correlation(), level)


def _people(table: Table, weights: NDArray[np.float64] | None) -> float:
    if weights is None:
        return float(table.people)
    return float(weights.sum() if table.frequencies is None else weights @ table.frequencies)


def _correlation(n: float, names: Sequence[str], result: Correlation, level: float) -> CrosstabRow:
    low, high = result.interval(level)
    statistic = result.correlation / result.std_error if result.std_error else float("nan")
    return replace(
        _about(names, n, level),
        measure="correlation",
        estimate=result.correlation,
        std_error=result.std_error,
        conf_low=low,
        conf_high=high,
        statistic=statistic,
        p_value=t_two_sided(statistic, result.df),
        note=result.note,
    )


def _about(names: Sequence[str], n: float, level: float) -> CrosstabRow:
    return CrosstabRow("", names[0], second=names[1], third=names[2] if len(names) > 2 else None, n=n, conf_level=level)
