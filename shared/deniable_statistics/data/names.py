"""Names of variables that both Stata and SPSS take."""

from __future__ import annotations

import re
from collections.abc import Iterable

_KEPT = {"_all", "_b", "byte", "_coef", "_cons", "double", "float", "if", "in", "int", "long", "_n", "_pi", "_pred"}
_KEPT |= {"_rc", "_skip", "strl", "using", "with"}  # Stata User's Guide, 11.3
_KEPT |= {"all", "and", "by", "eq", "ge", "gt", "le", "lt", "ne", "not", "or", "to"}  # SPSS Statistics, variable names
_LONGEST = 31
"""Stata takes 32 characters, ReadStat one fewer of a variable with labels of values."""


def safe_names(names: Iterable[str]) -> list[str]:
    """Names of at most 31 letters, digits and underscores, all different whatever their case; most stay as they are.

    >>> safe_names(["affair", "in", "1st answer", "str5", "end_", "q" * 40])
    ['affair', 'in_1', 'v1st_answer', 'str5_1', 'end_1', 'qqqqqqqqqqqqqqqqqqqqqqqqqqqqqqq']
    >>> safe_names(["q" * 40, "q" * 41, "Age", "age"])[1:]
    ['qqqqqqqqqqqqqqqqqqqqqqqqqqqqq_1', 'Age', 'age_1']
    """
    found: dict[str, str] = {}
    for name in names:
        plain = re.sub(r"[^A-Za-z0-9_]", "_", name)
        start = plain if plain[:1].isalpha() else f"v{plain}"
        made, number = start[:_LONGEST], 0
        # Stata reserves str1 to str2045 for types; SPSS advises against a final underscore, which its own names have.
        while made.lower() in found or made.lower() in _KEPT or made.endswith("_") or re.fullmatch(r"str\d+", made):
            number += 1
            made = f"{start[: _LONGEST - 1 - len(str(number))].rstrip('_')}_{number}"
        found[made.lower()] = made
    return list(found.values())
