"""The factors of a likelihood: functions of a row and of a cell of truths, each with parameters of its own."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import block_diag

Array = NDArray[np.float64]

Value = tuple[float, Array, Array]
"""A value, its gradient and its second derivatives."""

Objective = Callable[[Array], Value]

TINY = 1e-300
"""Below any probability that a row can have; keeps logarithms finite where a start is absurd."""


@dataclass(frozen=True)
class Part:
    """A factor at some rows, under every cell.

    Attributes
    ----------
    value : ndarray, shape (rows, cells)
        At least 0; times ``exp(offset)``.
    gradient : callable
        Its derivatives, shape (rows, cells, parameters).
    curvature : callable
        Its second derivatives, summed with weights of shape (rows, cells): shape (parameters, parameters).
    offset : ndarray, shape (rows,), or 0
        Without derivatives in `gradient`: those are relative to it as `value` is.
    """

    value: Array
    gradient: Callable[[], Array]
    curvature: Callable[[Array], Array]
    offset: Array | float = 0.0


class Factor(Protocol):
    """A function of row and cell with parameters."""

    @property
    def terms(self) -> tuple[str, ...]:
        """Names of the parameters."""

    @property
    def bounded(self) -> tuple[int, ...]:
        """Positions of the parameters that are shares in [0, 1]."""

    def at(self, params: Array, rows: slice) -> Part:
        """The factor at some rows."""


def block_diagonal(*blocks: Array) -> Array:
    """One block after the other; a block without columns adds rows of 0.

    Coordinates of several linear predictors, in which every covariate counts alike: no fit depends on units.
    """
    return np.asarray(block_diag(*blocks))
