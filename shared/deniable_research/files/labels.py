"""Labels in the place of the names of questions and columns, for tables for papers and plots."""

from __future__ import annotations

import difflib
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from deniable.errors import ParameterError, check_kind
from deniable_research.files.layout import Layout
from deniable_research.files.predicting import PredictionRow
from deniable_research.files.result_rows import CrosstabRow
from deniable_research.regression.term_labels import NO_LABELS, Labels, label_of

MOST_LISTED = 20
"""Largest number of names that a message lists."""


@dataclass(frozen=True)
class Names:
    """The questions and plain columns of a file, which can have labels.

    Attributes
    ----------
    layout : Layout
    columns : collection of str
        All columns of the file.
    """

    layout: Layout
    columns: Collection[str]

    def checked(self, labels: Labels | None) -> Labels:
        """The labels; none of them for None.

        Raises
        ------
        ParameterError
            If one of them is of no question, box or column, is empty, or is what another one is called.
        """
        if labels is None:
            return NO_LABELS
        check_kind(labels, Mapping, "labels")
        known = self._known
        for name, label in labels.items():
            check_kind(label, str, f"label of {name!r:.80}")
            if name not in known:
                self._check_part(name, known)
            if not label.strip():
                raise ParameterError(f"label of {name!r:.80}: must not be empty")
        # Figures are put together by what they are of: two questions of one label would become one.
        called: dict[str, str] = {}
        for name in dict.fromkeys([*known, *labels]):
            other = called.setdefault(label_of(name, labels), name)
            if other != name:
                label = label_of(name, labels)
                raise ParameterError(f"label: must differ for {other} and {name}, got {label!r:.80} for both")
        return labels

    def _check_part(self, name: str, known: Sequence[str]) -> None:
        """Raise a ParameterError unless a name is that of an arm, or of a box such as ``drugs[speed]``."""
        of = next((each for each in self.layout.questions if f"{name}[".startswith(f"{each.name}[")), None)
        if of is None:
            raise ParameterError(f"label: must be of one of {_listed(known)}, got {name!r:.80}{_hint(name, known)}")
        if name == of.name:
            return
        if of.design.is_exclusive:
            raise ParameterError(
                f"label: must be of {of.name} as a whole, whose options ({_listed(of.options)}) keep their names, "
                f"got {name!r:.80}"
            )
        boxes = [f"{of.name}[{option}]" for option in of.options]
        if name not in boxes:
            raise ParameterError(
                f"label: must be of {of.name} or of a box of it ({_listed(boxes)}), got {name!r:.80}"
                + _hint(name, boxes)
            )

    @property
    def _known(self) -> list[str]:
        """The names of all questions and of all other columns, each once."""
        randomised = {each.column for each in self.layout.questions}
        return [*dict.fromkeys([*self.layout.names, *(each for each in self.columns if each not in randomised)])]


def _listed(names: Sequence[str]) -> str:
    return ", ".join(names[:MOST_LISTED]) + (", ..." if len(names) > MOST_LISTED else "")


def _hint(name: str, known: Sequence[str]) -> str:
    """The known name that is most like another one, as a question; nothing if there is none.

    >>> _hint("afair", ["drugs", "affair"]), _hint("x", ["affair"])
    ("; did you mean 'affair'?", '')
    """
    near = difflib.get_close_matches(name, known, n=1)
    return f"; did you mean {near[0]!r}?" if near else ""


def labelled(rows: Iterable[Any], labels: Labels) -> list[Any]:
    """Rows of an analysis with labels in the place of the names of questions and columns."""
    return [_labelled_row(row, labels) if labels else row for row in rows]


def _labelled_row(row: Any, labels: Labels) -> Any:
    # The first and second of other rows are cohorts and values, not columns.
    named = ("first", "second", "third", "given") if isinstance(row, CrosstabRow) else ("question", "variable")
    found = {name: getattr(row, name, None) for name in named}
    changed = {name: label_of(value, labels) for name, value in found.items() if value is not None}
    if isinstance(row, PredictionRow):
        changed["setting"] = _labelled_setting(row.setting, labels)
    return replace(row, **changed)


def _labelled_setting(text: str, labels: Labels) -> str:
    """The text of a setting, such as ``age=30, region=west``.

    >>> _labelled_setting("age=30, region=west", {"region": "Region of birth"})
    'age=30, Region of birth=west'
    """
    return re.sub(r"(^|, )([^=,]+)(?==)", lambda found: found[1] + label_of(found[2], labels), text)


def labelled_notes(notes: Sequence[str], labels: Labels) -> list[str]:
    """Notes and cautions that begin with what they are about, such as ``affair: warner, epsilon 2.``.

    >>> labelled_notes(["affair: warner, epsilon 2.", "affair (2024): arms do not agree"], {"affair": "Infidelity"})
    ['Infidelity: warner, epsilon 2.', 'Infidelity (2024): arms do not agree']
    """
    return [
        re.sub(r"^[^:(\[]+?(\[[^\]]*\])?(?=:| \()", lambda found: label_of(found[0], labels), note) if labels else note
        for note in notes
    ]
