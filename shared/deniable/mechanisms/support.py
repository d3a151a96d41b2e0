"""Support: how likely a report speaks for an option."""

from __future__ import annotations

from fractions import Fraction
from typing import NamedTuple


class Support(NamedTuple):
    """How likely a report supports one option, exactly."""

    if_true: Fraction
    """Probability that the report supports the option when it is the true answer."""
    if_other: Fraction
    """Probability that the report supports the option when another one is the true answer."""
