"""Reading of `Results`, from a link, a file or a table of reports and a description of their columns."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from deniable.errors import ParameterError, describe
from deniable.survey.document import Survey
from deniable_research.files import Layout, RandomizedColumn, SamplingColumns, Table, quick_question, read_layout
from deniable_research.files.design_files import texts
from deniable_research.files.reading import columns_of_frame
from deniable_research.hosts import read_export
from deniable_research.results.collector import REPORTS, published
from deniable_research.results.results import Results
from deniable_research.web import is_url
from deniable_statistics.authoring.authoring import read_any_survey

Said = Survey | Layout | RandomizedColumn | str | Path | Sequence[str]
"""A description of the columns: a survey, a layout, one question, its text, or the path of a file with one."""


def read(
    source: Any,
    design: Said | None = None,
    *,
    columns: Mapping[str, str] | None = None,
    weights: str | None = None,
    sampling: SamplingColumns | None = None,
    missing: str | Sequence[str | int] = (),
    token: str | None = None,
    delimiter: str | None = None,
    skip: int = 0,
    host: str | None = None,
    person: str | None = None,
) -> Results:
    """Read reports from a collector, a file or a table.

    Parameters
    ----------
    source : str, Path or DataFrame
        The link of a collector's survey, which is fetched, checked against its address and describes its own reports; a
        file (CSV, Parquet, Stata, SPSS, Excel); or a table of pandas.
    design : Survey, Layout, RandomizedColumn, str, Path or sequence of str
        The description of the columns, for every source but a link: a survey or the file of one, TOML or published
        JSON; a design file; or questions in short, such as ``"q1: forced-response truth=2/3"``.
    columns : mapping of str to str, optional
        For a survey, the columns in the export of another tool that do not have the ids of their questions. Other
        questions are read from the columns that have their ids, if there are any.
    weights : str, optional
        The column of sampling weights.
    sampling : SamplingColumns, optional
        The columns and settings of the sampling design.
    missing : str, or sequence of str or int
        Texts that mean a missing value, in addition to empty ones, NA and NaN.
    token : str, optional
        The API token for a link, if the survey's results need one.
    delimiter, skip
        As for `deniable_research.files.Table.read`.
    host, person : str, optional
        The tool that exported the file, and the column that identifies the person, as for
        `deniable_research.hosts.read_export`; with a survey.

    Raises
    ------
    ParameterError, ReportError, SurveyError, CollectorError
        If a description, a file or a survey is not valid, or the collector cannot be reached or refuses.

    Examples
    --------
    >>> import pandas as pd
    >>> frame = pd.DataFrame({"q": ["yes"] * 430 + ["no"] * 570, "wave": [1, 2] * 500})
    >>> results = read(frame, "q: forced-response truth=1/2")
    >>> print(results.shares("q"))
    Question  Option     n  Estimate     SE           95 % CI  1 % fakes
    q         no      1000    64.0 %  3.1 %  57.8 % to 70.1 %     ±2.0 %
    q         yes     1000    36.0 %  3.1 %  29.9 % to 42.2 %     ±2.0 %
    <BLANKLINE>
    95 % CI: Feldman-Cousins intervals for the population that the respondents represent.
    1 % fakes: how far the estimate can move if one report in a hundred is fake. The intervals do not include that.
    """
    if isinstance(source, str) and is_url(source):
        if design is not None:
            raise ParameterError("design: must be left out of a link, whose survey says what its reports are")
        # The table is in memory before the folder is removed.
        with TemporaryDirectory() as folder:
            layout = Layout.of_survey(published(source, Path(folder), token))
            return Results(Table.read(Path(folder) / REPORTS, _layout(layout, weights, sampling, missing)))
    if token is not None:
        raise ParameterError("token: must go with the link of a survey")
    if design is None:
        raise ParameterError("design: must say what the columns hold: a survey, a design file or a question in short")
    if host is not None:
        exported, layout = read_export(source, host, delimiter=delimiter, person=person).of(_survey_of(design), columns)
        return Results(Table.of(exported, _layout(layout, weights, sampling, missing)))
    layout = _layout(layout_of(design, columns), weights, sampling, missing)
    if isinstance(source, (str, Path)):
        if not Path(source).is_file():
            raise ParameterError(f"source: must be a file, a link or a table; there is no file {str(source)!r:.120}")
        return Results(Table.read(source, layout, delimiter=delimiter, skip=skip))
    if delimiter is not None or skip:
        raise ParameterError("delimiter, skip: must be left out of a table of pandas")
    return Results(Table.of(columns_of_frame(source), layout))


def layout_of(design: Said, columns: Mapping[str, str] | None = None) -> Layout:
    """The layout that a survey, a design file or questions in short describe.

    >>> layout_of(["a: crosswise p=1/6", "b: forced-response truth=2/3"]).questions[1].name
    'b'
    """
    if isinstance(design, Survey):
        return Layout.of_survey(design, columns)
    found: Layout
    if isinstance(design, Layout):
        found = design
    elif isinstance(design, RandomizedColumn):
        found = Layout((design,))
    elif isinstance(design, (str, Path)):
        if not Path(design).is_file():
            # A question in short has a colon; anything else was meant as a file.
            if isinstance(design, Path) or ":" not in design:
                raise ParameterError(
                    f"design: must be a file or a question in short; there is no file {str(design)!r:.120}"
                )
            found = Layout((quick_question(design),))
        else:
            content = Path(design).read_bytes()
            if _is_survey(content):
                return Layout.of_survey(read_any_survey(content, Path(design).parent), columns)
            found = read_layout(content)
    elif isinstance(design, Sequence) and design and all(isinstance(each, str) for each in design):
        found = Layout(tuple(map(quick_question, design)))
    else:
        raise ParameterError(
            f"design: must be a survey, a layout, a file or questions in short, got {describe(design)}"
        )
    if columns:
        raise ParameterError("columns: must go with a survey; a design names its columns itself")
    return found


def _survey_of(design: Said) -> Survey:
    """The survey that a description is, or the file of one."""
    if isinstance(design, Survey):
        return design
    if isinstance(design, (str, Path)) and Path(design).is_file():
        return read_any_survey(Path(design).read_bytes(), Path(design).parent)
    raise ParameterError(f"design: must be a survey or the file of one with host, got {describe(design)}")


def _is_survey(content: bytes) -> bool:
    """Whether a file is a survey rather than a design file: surveys have a title."""
    # Published surveys are JSON; design files are TOML, which never starts with a brace.
    if content.startswith(b"{"):
        return True
    try:
        return "title" in tomllib.loads(content.decode("utf-8-sig"))
    except (UnicodeDecodeError, tomllib.TOMLDecodeError, RecursionError):
        return False


def _layout(
    layout: Layout, weights: str | None, sampling: SamplingColumns | None, missing: str | Sequence[str | int]
) -> Layout:
    """The layout with the given columns in place of its own, which stay where nothing is given."""
    given: dict[str, Any] = {"weights": weights, "sampling": sampling}
    layout = replace(layout, **{role: each for role, each in given.items() if each is not None})
    return layout.with_missing(texts([missing] if isinstance(missing, str) else missing, "missing"))
