"""Columns as arrays: a small integer for each person, and the different values that the integers stand for."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any, Generic, TypeVar

import numpy as np
from numpy.typing import DTypeLike, NDArray

T = TypeVar("T", bound=Hashable)
U = TypeVar("U", bound=Hashable)

_NUMBER = re.compile(r"-?(0|[1-9][0-9]*)(\.[0-9]+)?")


def alike(value: object) -> object:
    """What is equal for texts that mean the same: numbers by their values, everything else as it is.

    CSV of pandas has 99.0 where other files have 99. Zeros in front are those of a code, not of a number.

    >>> alike("99.0") == alike("99"), alike("-0.50") == alike("-0.5"), alike("099") == alike("99")
    (True, True, False)
    """
    return Decimal(value) if isinstance(value, str) and _NUMBER.fullmatch(value) else value


# Not pandas.Categorical, which takes three to four times as long for a million people to make, map, or cut to some of
# them, fourteen times to give its values, and has no place for labels of values.
@dataclass(frozen=True, eq=False)
class Coded(Generic[T]):
    """One column: whatever is done to its values is done once for each different value, not for each person.

    Attributes
    ----------
    codes : ndarray of int32, shape (people,)
        Places in `values`; -1 where there is nothing.
    values : tuple
        Different values, each of which somebody has.
    labels : mapping of values to str
        What a file of a statistical program says that some of them stand for.
    label : str
        What it says that the column is.

    Examples
    --------
    >>> column = Coded.of(["no", "yes", None, "no"])
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
    def of(cls, column: Coded[T] | Iterable[T | None]) -> Coded[T]:
        """The column of some values, None where there is nothing; one that is coded already as it is."""
        if isinstance(column, Coded):
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
        """Who has something, shape (people,)."""
        return self.codes >= 0

    def equal(self, value: T) -> NDArray[np.bool_]:
        """Who has this value, shape (people,)."""
        found = [place for place, each in enumerate(self.values) if each == value]
        return np.isin(self.codes, found)

    def equal_label(self, *labels: str) -> NDArray[np.bool_]:
        """Who has a value that is one of these texts, or has it for a label, shape (people,)."""
        wanted = set(map(alike, labels))
        found = [
            place for place, each in enumerate(self.values) if alike(each) in wanted or self.labels.get(each) in labels
        ]
        return np.isin(self.codes, found)

    def only(self, people: NDArray[np.bool_]) -> Coded[T]:
        """The column with nothing for everybody else."""
        return self._recoded(np.where(people, self.codes, np.int32(-1)))

    def where(self, people: NDArray[np.bool_]) -> Coded[T]:
        """The column of some of the people."""
        return self._recoded(self.codes[people])

    def filled(self, people: NDArray[np.bool_], value: T) -> Coded[T]:
        """The column with this value for some of the people."""
        values = self.values if value in self.values else (*self.values, value)
        return Coded(np.where(people, np.int32(values.index(value)), self.codes), values, self.labels)

    def without(self, missing: Collection[object]) -> Coded[T]:
        """The column with nothing where it has one of these values, by `alike`, or a value with one of these labels."""
        wanted = set(map(alike, missing))
        gone = [alike(value) in wanted or self.labels.get(value) in missing for value in self.values]
        # Code -1 takes the last place: who has nothing keeps nothing.
        return self._recoded(np.where(np.array([*gone, True])[self.codes], np.int32(-1), self.codes))

    def _recoded(self, codes: NDArray[np.int32]) -> Coded[T]:
        """Other codes for the same values, of which those are kept that are used."""
        used = np.bincount(codes[codes >= 0], minlength=len(self.values)) > 0
        # Code -1 takes the last place of the array, where -1 stands again.
        places = np.append(np.cumsum(used) - 1, -1).astype(np.int32)
        return Coded(places[codes], tuple(itertools.compress(self.values, used)), self.labels, self.label)

    def labelled(self) -> Coded[str] | None:
        """The column with labels for values, if each value has a label of its own; else None."""
        labels = [self.labels[value] for value in self.values if value in self.labels]
        # Two values of one label would become one value.
        if not labels or len(set(labels)) < len(self.values):
            return None
        return Coded(self.codes, tuple(labels))

    def map(self, function: Callable[[T], U | None]) -> Coded[U]:
        """The column of what a function makes of each value; None is nothing."""
        coder = Coder[U]()
        made = map(function, self.values)
        # A function may give one value for several, which have one code from there on.
        # A function may give one value for several, as 1 and 1.0: these get one code.
        codes = np.array([*(-1 if value is None else coder[value] for value in made), -1], dtype=np.int32)
        return Coded(codes[self.codes], tuple(coder))

    def array(self, dtype: DTypeLike, nothing: object) -> NDArray[Any]:
        """The values themselves, shape (people,), with something that stands for nothing."""
        return np.array([*self.values, nothing], dtype=dtype)[self.codes]


class Coder(dict[T, int]):
    """Numbers values from 0 as they come."""

    def __missing__(self, value: T) -> int:
        self[value] = code = len(self)
        return code
