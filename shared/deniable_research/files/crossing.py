"""Two or three columns of a table together: joint and conditional shares, independence, correlation."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from deniable.errors import ParameterError, ReportError
from deniable.survey.patterns import counted
from deniable_research.files.crossing_classes import cross_classes, needs_classes
from deniable_research.files.crosstab_rows import (
    CrosstabCells,
    about_columns,
    cell_rows,
    correlation_row,
    independence_row,
    odds_row,
)
from deniable_research.files.design_files import direct
from deniable_research.files.domain_estimates import combined_of
from deniable_research.files.domains import sample_of
from deniable_research.files.layout import RandomizedColumn
from deniable_research.files.report_table import Table
from deniable_research.files.result_rows import CrosstabRow
from deniable_statistics.classical import combined_share
from deniable_statistics.joint import (
    Correlation,
    Crosstab,
    DrawnPair,
    Independence,
    box_pair,
    correlation,
    crosstab,
    question_pair,
)
from deniable_statistics.sampling import Sample

MOST_LEVELS = 20
"""Largest number of different values of a numeric column in a table; with more it is correlated only."""

FEW = 5
"""Expected number of people in a cell below which the chi-squared approximation is unreliable (Cochran's rule)."""


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
        Its weights and sampling design are used. People with a missing value in one of the columns are left out, unless
        a question of several designs or two groups needs a likelihood: then the columns that they have count.
    names : sequence of two or three str
        Questions, boxes like ``drugs[cocaine]``, or plain columns.
    given : str, optional
        One of these columns: conditional shares among people with each answer to it, instead of joint shares.
    permutations, seed
        As for `deniable_statistics.joint.independence`.
    confidence_level : float

    Returns
    -------
    list of CrosstabRow
        The cells, in the order of options. For two columns then the test of independence, the odds ratio of a
        two-by-two table, and the correlation if both columns stand for numbers; for a column of more than `MOST_LEVELS`
        different numbers the correlation alone.

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
    _check(table, names, given, permutations)
    # A product of scores is the cheaper way, but such questions have none: their cells are latent classes.
    if needs_classes(table, names):
        if permutations:
            raise ParameterError("permutations: must be 0 for designs of two groups and several designs")
        for name in _continuous(table, [name for name in names if not table.layout.has(name)]):
            raise ParameterError(
                f"{name}: must have at most {MOST_LEVELS} different numbers beside a question of several designs or "
                f"two groups, got {len(table.levels(name))}; regress {name} on that question, with --likelihood"
            )
        asked = _with_plain_answers(table, names)
        return _marked(cross_classes(asked, names, given=given, confidence_level=confidence_level), table)
    table.layout.refuse_never_together(names)
    # Two questions of one joint response have a design for both; of three no joint shares are known.
    if len(names) == 2 and table.layout.is_one_draw(*names):
        return _marked(_pair_rows(table, names, given, permutations, confidence_level), table)
    table.layout.refuse_one_draw(names)
    return _marked(_joint_rows(table, names, given, permutations, seed, confidence_level), table)


def _check(table: Table, names: Sequence[str], given: str | None, permutations: int) -> None:
    """Raise a ParameterError unless these columns can be put together at all."""
    if not 2 <= len(set(names)) == len(names) <= 3:
        raise ParameterError(f"crosstab: must be of two or three different columns, got {len(set(names))}")
    if not any(map(table.layout.has, names)):
        raise ParameterError(f"crosstab: must have a randomised question, got {', '.join(names)}")
    if given is not None and given not in names:
        raise ParameterError(f"given: must be one of {', '.join(names)}, got {given!r}")
    if permutations and table.is_counted:
        raise ParameterError(
            "permutations: must be 0 for rows that were counted, of which too many people stand in a row"
        )


def _marked(rows: Iterable[CrosstabRow], table: Table) -> list[CrosstabRow]:
    """The rows, which say whether `n` is a sum of weights."""
    return [replace(row, weighted=table.is_weighted) for row in rows]


def _joint_rows(
    table: Table, names: Sequence[str], given: str | None, permutations: int, seed: int | None, level: float
) -> Iterator[CrosstabRow]:
    """The rows of columns that are randomised independently, from the people without a missing value in them."""
    kept = complete_rows(table, names)
    complete, sample = table.where(kept), sample_of(table, kept, names)
    about = about_columns(names, float(sample.size), level, sample.df if sample.is_complex else None)
    if numeric := _continuous(complete, names):
        if len(names) != 2:
            raise ParameterError(f"{numeric[0]}: has more than {MOST_LEVELS} different numbers, which only correlate")
        yield correlation_row(about, correlation_with(complete, names[0], names[1], sample))
        return
    items = [*map(_with_plain_answers(complete, names).item, names)]
    found = crosstab(*items, sample=sample)
    counted = replace(about, n=found.n)
    yield from cell_rows(counted, found.options, _cells(found, given, level), given)
    # Three columns have no single hypothesis of independence and no single measure of association.
    if len(names) != 2:
        return
    yield _independence_row(counted, found.independence(permutations, seed), permutations)
    if found.share.shape == (2, 2):
        yield odds_row(counted, found.odds_ratio())
    if all(item.values is not None for item in items):
        yield correlation_row(about, found.correlation())


def _cells(found: Crosstab, given: str | None, level: float) -> CrosstabCells:
    """Conditional shares, or joint ones with the most likely shares in [0, 1] where `Crosstab.feasible` has them."""
    if given is not None:
        among = found.conditional(given)
        return CrosstabCells(among.share, among.std_error, *among.confidence_interval(level))
    try:
        feasible = found.feasible
    except ParameterError:
        feasible = None
    return CrosstabCells(found.share, found.std_error, *found.confidence_interval(level), feasible)


def _independence_row(about: CrosstabRow, test: Independence, permutations: int) -> CrosstabRow:
    """The test of independence, with a note on small expected numbers or on the error of a permutation p-value."""
    # Permutations need no approximation, so small expected numbers do them no harm.
    few = test.smallest_expected is not None and test.smallest_expected < FEW and not permutations
    note = f"the smallest expected number is {test.smallest_expected:.2g}: use permutations" if few else None
    if permutations:
        note = f"from {permutations} permutations, standard error {test.p_error:.2g}"
    return independence_row(about, test, note)


def _pair_rows(
    table: Table, names: Sequence[str], given: str | None, permutations: int, level: float
) -> Iterator[CrosstabRow]:
    """The rows of two boxes or two questions of one joint response, from the reports that hold both."""
    if permutations:
        raise ParameterError("permutations: must be 0 for what is of one draw, because one chance goes into both")
    pair = _pair(table, names)
    about = about_columns(names, float(pair.estimate.n), level, pair.df if table.is_complex else None)
    yield from cell_rows(about, (pair.first, pair.second), _pair_cells(pair, names, given, level), given)
    if table.layout.whole(names[0])[0].patterns:
        return  # where a question filters another, they depend on each other by what is asked
    yield independence_row(about, pair.independence())
    if pair.share.shape == (2, 2):
        yield odds_row(about, pair.odds_ratio())
    if pair.values is not None:
        yield correlation_row(about, pair.correlation())


def _pair_cells(pair: DrawnPair, names: Sequence[str], given: str | None, level: float) -> CrosstabCells:
    # The estimate is of a design whose options are the cells, named by the labels of both answers.
    shape, labels = pair.share.shape, list(map(", ".join, pair.cells))
    if given is None:
        errors = [combined_share(pair.estimate, [label]).std_error for label in labels]
        low, high = zip(*pair.estimate.confidence_interval(level), strict=True)
        return CrosstabCells(
            pair.share, *(np.reshape(each, shape) for each in (errors, low, high, pair.estimate.feasible))
        )
    axis, figures = list(names).index(given), []
    for cell, label in zip(pair.cells, labels, strict=True):
        among = [", ".join(each) for each in pair.cells if each[axis] == cell[axis]]
        figure, ends = combined_of(pair.estimate, [label], among, level)
        figures.append((figure.estimate, figure.std_error, *ends))
    return CrosstabCells(*(np.reshape(each, shape) for each in zip(*figures, strict=True)))


def _pair(table: Table, names: Sequence[str]) -> DrawnPair:
    """Two questions of a group, or two boxes of a question, that one joint response randomises."""
    (whole, first), (other, second) = map(table.layout.whole, names)
    if whole is not other:
        assert whole.drawn is not None
        assert whole.drawn.joint is not None
        kept = complete_rows(table, names)
        one, two = map(table.where(kept).item, names)
        held = counted(whole.patterns, whole.place, other.place) if whole.patterns else None
        return question_pair(one, two, whole.drawn.joint, sample_of(table, kept, names), held)
    if first is None or second is None:
        raise ParameterError(f"crosstab: must be of two boxes or of different questions, got {' and '.join(names)}")
    sample = sample_of(table, table.answered(whole.name), names)
    return box_pair(table.boxes_of(whole.name), first, second, sample)


def complete_rows(table: Table, names: Sequence[str]) -> NDArray[np.bool_]:
    """Whether each person has a report or a value in each of these columns, shape (people,)."""
    found = table.answered(*(name for name in names if table.layout.has(name)))
    for name in names:
        if not table.layout.has(name):
            found &= table.labels(name).present
    return found


def correlation_with(table: Table, first: str, second: str, sample: Sample) -> Correlation:
    """The correlation of two columns, at least one of them randomised."""
    # A correlation is symmetric, and `correlation` takes the randomised column first.
    if not table.layout.has(first):
        first, second = second, first
    other = table.item(second) if table.layout.has(second) else table.numbers(second)
    return correlation(table.item(first), other, sample)


def _continuous(table: Table, names: Sequence[str]) -> list[str]:
    """The columns of more than `MOST_LEVELS` different numbers, which are correlated instead of tabulated.

    Raises
    ------
    ParameterError
        If a plain column has more than that many different labels, and they are not numbers.
    """
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


def _asked_directly(table: Table, name: str) -> RandomizedColumn:
    """A plain column as a question that everybody answered truthfully."""
    # A layout may name cohorts that nobody in this table has.
    levels = [level for level in table.levels(name) if level in table.labels(name).values]
    if len(levels) < 2:
        raise ParameterError(f"{name}: must have at least 2 different labels, got {len(levels)}")
    try:
        values = tuple(map(float, levels))
    except ValueError:
        values = None
    places = {level: place for place, level in enumerate(levels)}
    return RandomizedColumn(name, name, direct(levels), tuple(levels), values, codes=places)


def _with_plain_answers(table: Table, names: Sequence[str]) -> Table:
    """The table in which the plain ones among these columns are questions that were asked directly."""
    questions = tuple(_asked_directly(table, name) for name in names if not table.layout.has(name))
    reports = {each.name: each.read(table.labels(each.name), table.frequencies) for each in questions}
    layout = replace(table.layout, questions=(*table.layout.questions, *questions))
    return replace(table, layout=layout, reports={**table.reports, **reports})
