"""A survey file at another strength of protection: every epsilon in it multiplied by one factor."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction
from typing import Any

from deniable.errors import ParameterError
from deniable.exact import Number, positive_epsilon

EPSILONS = ("epsilon", "wave_epsilon")
"""The keys of a table whose values are scaled."""


def nominal_epsilon(written: Mapping[str, Any]) -> Fraction:
    """The epsilon of a whole survey as its author wrote it: that which questions share, of groups, and of questions.

    It is 0 if the coins of every question are given, which have no epsilon to be scaled.

    >>> nominal_epsilon({"epsilon": 2, "groups": {"acts": {"epsilon": "1/2"}}, "questions": [{"id": "q"}]})
    Fraction(5, 2)
    """
    return sum((positive_epsilon(table["epsilon"]) for table in _tables(written) if "epsilon" in table), Fraction(0))


def scaled(written: Mapping[str, Any], epsilon: Number) -> dict[str, Any]:
    """The survey with every epsilon in proportion, so that they add up to ``epsilon``; what was given is not changed.

    Raises
    ------
    ParameterError
        If there is no epsilon in it.

    Examples
    --------
    >>> scaled({"title": "T", "questions": [{"epsilon": 1}, {"epsilon": 3}, {"truth": "1/2"}]}, 2)["questions"]
    [{'epsilon': Fraction(1, 2)}, {'epsilon': Fraction(3, 2)}, {'truth': '1/2'}]
    """
    whole = nominal_epsilon(written)
    if not whole:
        raise ParameterError("epsilon: the noise of this survey is given by coins, which have none to change")
    # Exact fractions, so that parts in proportion add up to the new whole.
    factor = positive_epsilon(epsilon) / whole

    def changed(table: Mapping[str, Any]) -> dict[str, Any]:
        return {**table, **{key: positive_epsilon(table[key]) * factor for key in EPSILONS if key in table}}

    found = changed(written)
    if isinstance(written.get("groups"), dict):
        found["groups"] = {name: changed(each) for name, each in written["groups"].items()}
    if "sections" in written:
        found["sections"] = [
            each | {"questions": [changed(one) for one in each["questions"]]} for each in written["sections"]
        ]
    if "questions" in written:
        found["questions"] = [changed(each) for each in written["questions"]]
    return found


def _tables(written: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """The tables that may have an epsilon."""
    yield written
    groups = written.get("groups")
    yield from groups.values() if isinstance(groups, dict) else ()
    for each in (written, *written.get("sections", ())):
        yield from each.get("questions", ())
