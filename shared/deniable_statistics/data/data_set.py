"""Columns with the metadata of statistical programs: names, labels, and labels of values."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Any


class Kind(Enum):
    """The type of a column, in which None is a missing value."""

    WHOLE = "whole"
    """Whole numbers, which may have labels."""
    REAL = "real"
    """Numbers; NaN is a missing value, and so is an infinite number in a format without one."""
    TEXT = "text"
    CATEGORY = "category"
    """Repeated texts; in a format with labels of numbers only, they are numbers from 1 with the texts as labels."""


@dataclass(frozen=True)
class Variable:
    """One column of a data set.

    Attributes
    ----------
    name : str
    label : str
        Description of the column, in words.
    kind : Kind
    labels : mapping of int to str
        Labels of whole numbers; for a category the number of each text, if the order matters.
    """

    name: str
    label: str = ""
    kind: Kind = Kind.TEXT
    labels: Mapping[int, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Keep plain texts, as libraries of file formats take them: a survey's texts in its default language."""
        object.__setattr__(self, "label", str(self.label))
        object.__setattr__(self, "labels", {number: str(text) for number, text in self.labels.items()})

    @property
    def value_labels(self) -> Mapping[int, str]:
        """Labels of the numbers in the column; empty if it holds texts."""
        return self.labels if self.kind is Kind.WHOLE else {}


@dataclass(frozen=True)
class DataSet:
    """A table to be written for other programs.

    Attributes
    ----------
    title : str
    variables : tuple of Variable
    columns : tuple of sequences, one for each variable
        The values of each column, all of one length; None is a missing value.

    Examples
    --------
    >>> affair = Variable("affair", "Ever had an affair?", Kind.WHOLE, {0: "no", 1: "yes"})
    >>> DataSet.of_rows("Study", [affair, Variable("wave")], [(1, "a"), (None, "b")]).columns
    ([1, None], ['a', 'b'])
    """

    title: str
    variables: tuple[Variable, ...]
    columns: tuple[Sequence[Any], ...]

    def __post_init__(self) -> None:
        """Keep a plain title, as `Variable` does its labels."""
        object.__setattr__(self, "title", str(self.title))

    @classmethod
    def of_rows(cls, title: str, variables: Iterable[Variable], rows: Iterable[Iterable[Any]]) -> DataSet:
        """A data set from its rows."""
        every = tuple(variables)
        columns: tuple[list[Any], ...] = tuple([] for _ in every)
        # By rows, because reports come as a stream that can be read only once.
        for row in rows:
            for column, value in zip(columns, row, strict=True):
                column.append(value)
        return cls(title, every, columns)

    def __len__(self) -> int:
        return len(self.columns[0]) if self.columns else 0


def categories(column: Iterable[str | None]) -> dict[str, int]:
    """Numbers of the different texts of a column, from 1 in order of appearance.

    >>> categories(["b", None, "a", "b"])
    {'b': 1, 'a': 2}
    """
    # An empty text is a missing value, as in CSV.
    return {str(text): number for number, text in enumerate(dict.fromkeys(filter(None, column)), start=1)}
