"""The mechanisms: one file each, under the name that surveys publish.

CONTRIBUTING.md says what else a new one needs.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from deniable.errors import ParameterError, shown
from deniable.mechanisms.base import Mechanism, OneOfK
from deniable.mechanisms.discrete_laplace import DiscreteLaplace
from deniable.mechanisms.drawn_boxes import DrawnBoxes
from deniable.mechanisms.exponential import Exponential
from deniable.mechanisms.filtered_piecewise import FilteredPiecewise
from deniable.mechanisms.forced_response import ForcedResponse
from deniable.mechanisms.geometric import Geometric
from deniable.mechanisms.k_ary import KAry
from deniable.mechanisms.longitudinal import Longitudinal
from deniable.mechanisms.mean import OneBitMean
from deniable.mechanisms.piecewise import Piecewise
from deniable.mechanisms.row_mechanism import RowMechanism
from deniable.mechanisms.subset import Subset
from deniable.mechanisms.support import Support
from deniable.mechanisms.tick_boxes import TickBoxes
from deniable.mechanisms.two_coin import TwoCoin
from deniable.mechanisms.unequal_k_ary import UnequalKAry
from deniable.mechanisms.warner import Warner

MECHANISMS: dict[str, type[Mechanism]] = {
    cls.name: cls
    for cls in (
        TwoCoin,
        Warner,
        ForcedResponse,
        KAry,
        Subset,
        TickBoxes,
        DrawnBoxes,
        Geometric,
        Exponential,
        OneBitMean,
        Piecewise,
        FilteredPiecewise,
        DiscreteLaplace,
        Longitudinal,
        UnequalKAry,
    )
}


def mechanism_from_published(published: Mapping[str, Any]) -> Mechanism:
    """Read a mechanism as a survey publishes it.

    >>> mechanism_from_published({"name": "two-coin", "truth": 2147483648, "yes": 2147483648})
    TwoCoin(truth=2147483648, yes=2147483648)
    """
    name = published.get("name")
    if not isinstance(name, str) or name not in MECHANISMS:
        raise ParameterError(f"mechanism: name must be one of {sorted(MECHANISMS)}, got {shown(name)}")
    return MECHANISMS[name].from_published(published)


__all__ = [
    "MECHANISMS",
    "DiscreteLaplace",
    "DrawnBoxes",
    "Exponential",
    "FilteredPiecewise",
    "ForcedResponse",
    "Geometric",
    "KAry",
    "Longitudinal",
    "Mechanism",
    "OneBitMean",
    "OneOfK",
    "Piecewise",
    "RowMechanism",
    "Subset",
    "Support",
    "TickBoxes",
    "TwoCoin",
    "UnequalKAry",
    "Warner",
    "mechanism_from_published",
]
