"""Coordinates in which every covariate counts alike, so that no fit depends on units or on the order of columns."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import block_diag


def block_diagonal(*blocks: NDArray[np.float64]) -> NDArray[np.float64]:
    """One block after the other; a block without columns adds rows of 0."""
    return np.asarray(block_diag(*blocks))
