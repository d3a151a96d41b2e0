"""Columns with what statistical programs keep about them: names, labels, and labels of values."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Any


class Kind(Enum):
    """What a column holds, besides None for nothing."""

    WHOLE = "whole"
    """Whole numbers, which may have labels."""
    REAL = "real"
    """Numbers; NaN is nothing, infinite ones are missing where a format has none."""
    TEXT = "text"
    CATEGORY = "category"
    """Some texts again and again: numbered from 1 on, with the texts as labels, where a format labels numbers only."""


@dataclass(frozen=True)
class Variable:
    """One column of a data set.

    Attributes
    ----------
    name : str
    label : str
        What it is, in words.
    kind : Kind
    labels : mapping of int to str
        What whole numbers in the column stand for; of a category the number of each text, where that matters.
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
        """Labels of what stands in the column: none where texts do."""
        return self.labels if self.kind is Kind.WHOLE else {}


@dataclass(frozen=True)
class DataSet:
    """A table for other programs.

    Attributes
    ----------
    title : str
    variables : tuple of Variable
    columns : tuple of sequences, one for each variable
        The values of each row, all of one length; None is nothing.

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
        """The data set of some rows."""
        every = tuple(variables)
        columns: tuple[list[Any], ...] = tuple([] for _ in every)
        for row in rows:
            for column, value in zip(columns, row, strict=True):
                column.append(value)
        return cls(title, every, columns)

    def __len__(self) -> int:
        return len(self.columns[0]) if self.columns else 0


def categories(column: Iterable[str | None]) -> dict[str, int]:
    """Numbers from 1 on for the texts of a column, as they come.

    >>> categories(["b", None, "a", "b"])
    {'b': 1, 'a': 2}
    """
    # An empty text is nothing, as it is in CSV.
    return {str(text): number for number, text in enumerate(dict.fromkeys(filter(None, column)), start=1)}
