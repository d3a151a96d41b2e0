"""Products of numbers of several questions, person by person."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray


def products(parts: Sequence[NDArray[np.float64]]) -> NDArray[np.float64]:
    """For each person every product of one number of each question, shape (people, k1 k2 ...), the last one fastest.

    >>> import numpy as np
    >>> products([np.array([[1.0, 2.0]]), np.array([[10.0, 20.0, 30.0]])]).tolist()
    [[10.0, 20.0, 30.0, 20.0, 40.0, 60.0]]
    """
    found = parts[0]
    for part in parts[1:]:
        found = np.einsum("ni,nj->nij", found, part).reshape(len(part), found.shape[1] * part.shape[1])
    return found
