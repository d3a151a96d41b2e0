"""Columns as an array of integer codes, one for each person, and the different values of these codes."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any, Generic, TypeVar

import numpy as np
import pandas as pd
from numpy.typing import DTypeLike, NDArray

T = TypeVar("T", bound=Hashable)
U = TypeVar("U", bound=Hashable)

_NUMBER = re.compile(r"-?(0|[1-9][0-9]*)(\.[0-9]+)?")


def alike(value: object) -> object:
    """A key that is equal for values with the same meaning: the number for a text of a number, else the value.

    pandas writes 99.0 to a CSV where other programs write 99. A text with leading zeros is a code, not a number.

    >>> alike("99.0") == alike("99"), alike("-0.50") == alike("-0.5"), alike("099") == alike("99")
    (True, True, False)
    """
    return Decimal(value) if isinstance(value, str) and _NUMBER.fullmatch(value) else value


# Not pandas.Categorical, which takes three to four times as long for a million people to make, map, or cut to some of
# them, fourteen times to give its values, and has no place for labels of values.
@dataclass(frozen=True, eq=False)
class CodedColumn(Generic[T]):
    """One column of a table; functions are applied once to each different value, not for each person.

    Attributes
    ----------
    codes : ndarray of int32, shape (people,)
        Indices into `values`; -1 for a missing value.
    values : tuple
        The different values, each of which occurs.
    labels : mapping of values to str
        Labels of values, from a file of a statistical program.
    label : str
        Label of the column, from such a file.

    Examples
    --------
    >>> column = CodedColumn.of(["no", "yes", None, "no"])
    >>> column.codes.tolist(), column.values
    ([0, 1, -1, 0], ('no', 'yes'))
    >>> list(column.map({"no": 0, "yes": 1}.get))
    [0, 1, None, 0]
    """

    codes: NDArray[np.int32]
    values: tuple[T, ...]
    labels: Mapping[T, str] = field(default_factory=dict)
    label: str = ""

    @classmethod
    def of(cls, column: CodedColumn[T] | Iterable[T | None]) -> CodedColumn[T]:
        """The column of these values, in which None is a missing value; a coded column is returned as it is."""
        if isinstance(column, CodedColumn):
            return column
        coder = Coder[T]()
        codes = np.fromiter((-1 if value is None else coder[value] for value in column), np.int32)
        return cls(codes, tuple(coder))

    def __len__(self) -> int:
        return len(self.codes)

    def __getitem__(self, person: int) -> T | None:
        code = self.codes[person]
        return self.values[code] if code >= 0 else None

    def __iter__(self) -> Iterator[T | None]:
        return map((*self.values, None).__getitem__, self.codes.tolist())

    @property
    def present(self) -> NDArray[np.bool_]:
        """Whether each person has a value, shape (people,)."""
        return self.codes >= 0

    def equal(self, value: T) -> NDArray[np.bool_]:
        """Whether each person has this value, shape (people,)."""
        found = [place for place, each in enumerate(self.values) if each == value]
        return np.isin(self.codes, found)

    def equal_label(self, *labels: str) -> NDArray[np.bool_]:
        """Whether each person's value is one of these texts, by `alike`, or is labelled with one, shape (people,)."""
        wanted = set(map(alike, labels))
        found = [
            place for place, each in enumerate(self.values) if alike(each) in wanted or self.labels.get(each) in labels
        ]
        return np.isin(self.codes, found)

    def only(self, people: NDArray[np.bool_]) -> CodedColumn[T]:
        """The column with missing values for all other people."""
        return self._recoded(np.where(people, self.codes, np.int32(-1)))

    def where(self, people: NDArray[np.bool_]) -> CodedColumn[T]:
        """The column restricted to these people, shape (people that are True,)."""
        return self._recoded(self.codes[people])

    def filled(self, people: NDArray[np.bool_], value: T) -> CodedColumn[T]:
        """The column in which these people have this value, and all others their own."""
        values = self.values if value in self.values else (*self.values, value)
        return CodedColumn(np.where(people, np.int32(values.index(value)), self.codes), values, self.labels)

    def without(self, missing: Collection[object]) -> CodedColumn[T]:
        """The column in which these values, compared by `alike`, and values with such labels are missing."""
        wanted = set(map(alike, missing))
        gone = [alike(value) in wanted or self.labels.get(value) in missing for value in self.values]
        if not any(gone):
            return self._recoded(self.codes)
        # Code -1 indexes the appended last place: missing values stay missing.
        return self._recoded(np.where(np.array([*gone, True])[self.codes], np.int32(-1), self.codes))

    def _recoded(self, codes: NDArray[np.int32]) -> CodedColumn[T]:
        """The column with other codes into the same values, without the values that are unused."""
        used = np.bincount(codes + 1, minlength=len(self.values) + 1)[1:] > 0
        if used.all():
            return CodedColumn(codes, self.values, self.labels, self.label)
        # Code -1 indexes the appended -1, and so stays -1.
        places = np.append(np.cumsum(used) - 1, -1).astype(np.int32)
        return CodedColumn(places[codes], tuple(itertools.compress(self.values, used)), self.labels, self.label)

    def labelled(self) -> CodedColumn[str] | None:
        """The column with labels in place of values; None unless the labels are different and every value has one."""
        labels = [self.labels[value] for value in self.values if value in self.labels]
        # Two values of one label would become one value.
        if not labels or len(set(labels)) < len(self.values):
            return None
        return CodedColumn(self.codes, tuple(labels))

    def map(self, function: Callable[[T], U | None]) -> CodedColumn[U]:
        """The column of the function's results; a result of None is a missing value."""
        coder = Coder[U]()
        made = map(function, self.values)
        # Equal results, such as 1 and 1.0, share one code.
        codes = np.array([*(-1 if value is None else coder[value] for value in made), -1], dtype=np.int32)
        return CodedColumn(codes[self.codes], tuple(coder))

    def array(self, dtype: DTypeLike, nothing: object) -> NDArray[Any]:
        """The values as an array, shape (people,), with ``nothing`` in place of missing values."""
        return np.array([*self.values, nothing], dtype=dtype)[self.codes]


class Coder(dict[T, int]):
    """Codes of values: each new value gets the next number, from 0."""

    def __missing__(self, value: T) -> int:
        self[value] = code = len(self)
        return code


LARGEST_KEY = 2**62
"""Numbers of combinations up to there are integers of 64 bits."""


def patterns(
    columns: Mapping[str, CodedColumn[Any]], frequencies: NDArray[np.int64] | None = None
) -> tuple[dict[str, CodedColumn[Any]], NDArray[np.int64]]:
    """The different rows of some columns, in the order in which they were found, and how many people have each.

    Without frequencies each row is one person.

    >>> columns = {"q": CodedColumn.of([1, 0, 1, 1]), "arm": CodedColumn.of(["a", "a", None, "a"])}
    >>> found, people = patterns(columns, np.array([1, 1, 1, 5]))
    >>> {name: list(column) for name, column in found.items()}, people.tolist()
    ({'q': [1, 0, 1], 'arm': ['a', 'a', None]}, [6, 1, 1])
    """
    # a row is one integer, whose digits are its codes in all columns: a million rows are hashed once
    keys, size = np.zeros(len(next(iter(columns.values())).codes), dtype=np.int64), 1
    for column in columns.values():
        digits = len(column.values) + 1
        if size * digits > LARGEST_KEY:
            keys, different = pd.factorize(keys)
            size = len(different)
        keys, size = keys * digits + (column.codes + 1), size * digits
    places, different = pd.factorize(keys)
    if frequencies is None:
        people = np.bincount(places, minlength=len(different))
    else:
        people = np.zeros(len(different), dtype=np.int64)
        np.add.at(people, places, frequencies)
    first = np.empty(len(different), dtype=np.int64)
    first[places[::-1]] = np.arange(len(places))[::-1]  # of the rows that are alike the last one assigned stays
    return {name: CodedColumn(column.codes[first], column.values) for name, column in columns.items()}, people
