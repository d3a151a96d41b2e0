"""Names of columns and of the terms of a formula as people write them in papers."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from deniable_research.regression.formula import Coding, factor_name, level_name

_CONTRASTS = {
    "SumContrasts": "sum contrast",
    "HelmertContrasts": "Helmert contrast",
    "DiffContrasts": "difference contrast",
    "PolyContrasts": "polynomial contrast",
    "CustomContrasts": "contrast",
}
"""What stands beside a level whose coefficient is not its difference from the reference level."""

_DEGREES = {".L": "linear", ".Q": "quadratic", ".C": "cubic"}

_POWERS = {"2": "\u00b2", "3": "\u00b3"}

Labels = Mapping[str, str]
"""Texts that stand for the names of questions and columns in tables for papers and in plots."""

NO_LABELS: Labels = {}

_QUOTED = "'[^']*'|\"[^\"]*\""
"""A text in an expression, which may read like the name of a column."""

_PART = re.compile(r"(.+?)(?:\[(.*)\]| \((.*)\))")
"""A box of a question in square brackets, or an arm of one in round brackets."""


def label_of(name: str, labels: Labels) -> str:
    """The label of a question, a column, a box or an arm; a name without a label stands for itself.

    >>> [label_of(name, {"drugs": "Drug use"}) for name in ("drugs", "drugs[speed]", "drugs (direct)", "age")]
    ['Drug use', 'Drug use (speed)', 'Drug use (direct)', 'age']
    """
    if name in labels:
        return labels[name]
    part = _PART.fullmatch(name)
    return f"{labels[part[1]]} ({part[2] or part[3]})" if part and part[1] in labels else name


def expression_label(text: str, labels: Labels) -> str:
    """A column, or what is computed from columns, with labels in the place of their names.

    >>> expression_label("log(age) * (region == 'age')", {"age": "years of age", "log": "Logbook"})
    "log(years of age) * (region == 'age')"
    """
    if not labels:
        return text
    if (label := label_of(text, labels)) != text:
        return label
    # The longest name first, since another one may begin it; texts in quotes and names of functions stay.
    names = "|".join(re.escape(each) for each in sorted(labels, key=len, reverse=True))
    column = rf"(?<![\w.])(`?)({names})\1(?![\w(.])"
    return re.sub(rf"{_QUOTED}|{column}", lambda found: labels[found[2]] if found[2] else found[0], text)


def level_labels(coding: Any, labels: Labels = NO_LABELS) -> dict[str, str]:
    """How people write the coded levels of the factors of a formula, by their names in its terms.

    `labels` are those of the columns.

    >>> import pandas as pd
    >>> from deniable_research.regression.formula import model_matrix
    >>> matrix = model_matrix("C(year, Treatment(2)) + sex", pd.DataFrame({"year": [1, 2, 3], "sex": ["f", "m", "m"]}))
    >>> labels = level_labels(Coding(matrix.model_spec))
    >>> labels["C(year, Treatment(2))[T.1]"], labels["sex[T.m]"]
    ('year (1)', 'sex (m)')
    """
    if not isinstance(coding, Coding):
        return {}
    found = {}
    for factor, state in coding.spec.factor_contrasts.items():
        name, contrasts = expression_label(factor_name(str(factor)), labels), state.contrasts
        # Of a reduced coding, most contrasts compare levels; a full one has a coefficient for each level by itself.
        for is_reduced in (False, True):
            form = contrasts.get_factor_format(state.levels, reduced_rank=is_reduced)
            kind = _CONTRASTS.get(type(contrasts).__name__) if is_reduced else None
            for field in contrasts.get_coding_column_names(state.levels, reduced_rank=is_reduced):
                level = _DEGREES.get(str(field), level_name(field))
                found[form.format(name=factor, field=field)] = f"{name} ({', '.join(filter(None, (level, kind)))})"
    return found


def term_label(term: str, levels: Mapping[str, str], labels: Labels = NO_LABELS) -> str:
    """A term as people write it; `levels` are those of `level_labels`, `labels` those of the columns.

    Examples
    --------
    >>> term_label("age:C(region)[T.west]", {"C(region)[T.west]": "region (west)"})
    'age \u00d7 region (west)'
    >>> [term_label(each, {}) for each in ("I(age ** 2)", "poly(age, 2)[1]", "poly(age, 2, raw=True)[1]", "log(age)")]
    ['age\u00b2', 'age (orthogonal polynomial, degree 1)', 'age\u00b2', 'log(age)']
    """
    return " \u00d7 ".join(levels.get(part) or _computed_label(part, labels) for part in _parts(term, levels))


def _parts(term: str, levels: Mapping[str, str]) -> list[str]:
    """The factors of an interaction; levels and calls may have colons of their own."""
    known = next((each for each in sorted(levels, key=len, reverse=True) if f"{term}:".startswith(f"{each}:")), None)
    end = len(known) if known else _end_of_factor(term)
    rest = term[end + 1 :]
    return [term[:end], *(_parts(rest, levels) if rest else [])]


def _end_of_factor(term: str) -> int:
    depth = 0
    for place, each in enumerate(term):
        depth += (each in "([") - (each in ")]")
        if each == ":" and depth == 0:
            return place
    return len(term)


def _computed_label(factor: str, labels: Labels) -> str:
    """A numeric factor: a column, or what is computed from one."""
    if found := re.fullmatch(r"poly\((\w+), \d+(, raw=True)?\)\[(\d+)\]", factor):
        # formulaic numbers raw powers from 0, orthogonal polynomials from 1.
        name = label_of(found[1], labels)
        if found[2]:
            return _power(name, str(int(found[3]) + 1))
        return f"{name} (orthogonal polynomial, degree {found[3]})"
    if found := re.fullmatch(r"I\((\w+) \*\* (\d+)\)", factor):
        return _power(label_of(found[1], labels), found[2])
    return expression_label(factor_name(factor), labels)


def _power(name: str, exponent: str) -> str:
    return name if exponent == "1" else name + _POWERS.get(exponent, f"^{exponent}")
