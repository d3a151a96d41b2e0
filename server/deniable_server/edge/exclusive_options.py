"""Options in the address of results that are refused together, so that a refusal can name them to people."""

from __future__ import annotations

from collections.abc import Mapping

OF_ESTIMATES = ("assume_fake", "misbehaving", "method", "simultaneous", "target")
"""The options that change the intervals of shares and means alone."""

EXCLUSIVE = {
    "with": ("by", "compare", "over", "pooled", "sort", "release", *OF_ESTIMATES),
    "compare": ("over", "pooled", "sort", *OF_ESTIMATES),
    "over": ("by", "pooled", "sort", "release"),
    "pooled": ("release",),
    "misbehaving": ("assume_fake", "target"),
}
"""The options with which each of these is refused; with `release` only where that is no newest one."""


def not_together(arguments: Mapping[str, str]) -> tuple[str, str] | None:
    """Two options of the address of results that are refused together; None where there are no such two.

    >>> not_together({"with": "faith", "lang": "de", "assume_fake": "0.01"}), not_together({"with": "faith"})
    (('with', 'assume_fake'), None)
    """
    pairs = ((one, other) for one, others in EXCLUSIVE.items() if one in arguments for other in others)
    return next((pair for pair in pairs if pair[1] in arguments), None)
