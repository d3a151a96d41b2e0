"""An export of another tool, and the values that it holds of a survey's questions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from deniable.errors import ParameterError, ReportError
from deniable.survey.document import Survey
from deniable_research.files.coded import CodedColumn
from deniable_research.files.layout import MISSING, Layout
from deniable_research.files.reading import Columns
from deniable_research.hosts.tools import Rows, Tool, tool

SHOWN = 20
"""Largest number of columns that a message lists."""


@dataclass(frozen=True)
class HostExport:
    """What a tool exported.

    Attributes
    ----------
    name : str
        The name of the file.
    tool : Tool
    rows : Rows
        One row a person.
    """

    name: str
    tool: Tool
    rows: Rows

    def of(self, survey: Survey, named: Mapping[str, str] | None = None) -> tuple[Columns, Layout]:
        """The columns of the export with one for each question that it holds, and the layout of these.

        Parameters
        ----------
        survey : Survey
        named : mapping of str to str, optional
            The name of the element of a question, by the question's id, where it is another one. These have to be
            there; of the others, those that are.

        Raises
        ------
        ReportError
            If no question is there, one of those that are named is not, or a person has two values of one.
        """
        named = named or {}
        others = (each.id for each in survey.questions if each.id not in named.values())
        wanted = {each: each for each in others} | {survey.question(each).id: name for each, name in named.items()}
        sources = {each: self._sources(name) for each, name in wanted.items()}
        lacking = [wanted[each] for each in named or wanted if not sources[each]]
        if lacking if named else len(lacking) == len(wanted):
            raise ReportError(
                f"{self.name}: must hold {', '.join(lacking)} among the {self.tool.where} of {self.tool.title}, got "
                f"{_listed(self.rows.columns)}; a question under another name is given by --column"
            )
        found = {each: self._values(wanted[each], places) for each, places in sources.items() if places}
        # Under the tool's own name a report would pass for a plain column, which analyses take for an answer.
        gone = {column for places in sources.values() for column in places}
        plain = {name: column for name, column in self.rows.columns.items() if name not in gone and name not in found}
        return {**found, **plain}, Layout.of_survey(survey, {each: each for each in found}).among(found)

    def _sources(self, name: str) -> list[str]:
        return [column for column in self.rows.columns if self.tool.finds(column, name)]

    def _values(self, name: str, sources: list[str]) -> CodedColumn[str]:
        """The one value of each person, from wherever the tool keeps it."""
        columns = [self.rows.columns[source].without(MISSING) for source in sources]
        said = [{value for value in row if value is not None} for row in zip(*columns, strict=True)]
        several = sum(len(each) > 1 for each in said) + sum(self.rows.repeated.get(source, 0) for source in sources)
        if several:
            hint = "; the column that says whose each row is goes with --person" if self.tool.takes_person else ""
            raise ReportError(
                f"{name}: must have one value for each person, because a device draws once, got different ones of "
                f"{several} {'people' if several > 1 else 'person'} in {', '.join(sources)}{hint}"
            )
        return CodedColumn.of([next(iter(each), None) for each in said])


def read_export(path: str | Path, host: str, *, delimiter: str | None = None, person: str | None = None) -> HostExport:
    """Read what a tool exported.

    Parameters
    ----------
    path : str or Path
        The file; of jsPsych also a folder with a file for each person.
    host : str
        The name of the tool, one of `HOSTS`.
    delimiter : str, optional
        Of a CSV, as for `deniable_research.files.reading.read_columns`.
    person : str, optional
        The column that says whose each row is, where people have several.

    Raises
    ------
    ParameterError
        If there is no such tool, or it has no use for an option.
    ReportError
        If the file is not what the tool writes.
    """
    where, its = Path(path), tool(host)
    if where.is_dir() and not its.takes_folders:
        raise ParameterError(f"source: must be a file, because {its.title} writes one for everybody, got a folder")
    if person is not None and not its.takes_person:
        raise ParameterError(f"person: must be left out, because {its.title} writes one row a person")
    rows = its.read(where, delimiter, person)
    if not rows.columns:
        raise ReportError(f"{where.name}: must hold replies, got none")
    return HostExport(where.name, its, rows)


def _listed(columns: Columns) -> str:
    return ", ".join(list(columns)[:SHOWN]) + (", ..." if len(columns) > SHOWN else "")
