"""Linear programs, solved by HiGHS."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from deniable.errors import needing

if TYPE_CHECKING:
    import highspy

Floats = NDArray[np.float64]
Entries = tuple[Floats, NDArray[np.int64], NDArray[np.int64]]
"""Values of a sparse matrix, and the row and the column of each; values of one place are added up."""

DEVEX = 1
"""HiGHS' number for the pricing of the dual simplex method that takes less time for many unknowns."""


def minimum(cost: Floats, entries: Entries, limits: Floats, at_most: int, *, devex: bool) -> Floats | None:
    """The ``x >= 0`` with the least ``cost @ x``, shape (n,); None where nothing fulfils the conditions.

    Parameters
    ----------
    cost : ndarray, shape (n,)
    entries : tuple of three ndarrays
        The matrix of the conditions, of shape (m, n).
    limits : ndarray, shape (m,)
    at_most : int
        The first so many rows of the matrix times ``x`` are at most their limits; the others are equal to them.
    devex : bool
        Whether to solve by the dual simplex method with devex pricing, or by what HiGHS chooses.

    Raises
    ------
    NotInstalled
        Without highspy.

    Examples
    --------
    ``x + y = 1`` and ``y <= 1/4`` where ``x`` costs more:

    >>> import numpy as np
    >>> conditions = (np.ones(3), np.array([0, 1, 1]), np.array([1, 0, 1]))
    >>> minimum(np.array([2.0, 1.0]), conditions, np.array([0.25, 1.0]), 1, devex=False).tolist()
    [0.75, 0.25]
    """
    with needing("statistics"):
        import highspy  # a third of a second, for authors of questions about numbers alone

    program = highspy.HighsLp()
    program.num_col_, program.num_row_ = len(cost), len(limits)
    program.col_cost_ = cost
    program.col_lower_, program.col_upper_ = np.zeros(len(cost)), np.full(len(cost), highspy.kHighsInf)
    lowest = limits.copy()
    lowest[:at_most] = -highspy.kHighsInf
    program.row_lower_, program.row_upper_ = lowest, limits
    _fill(program, entries, highspy.MatrixFormat.kColwise)
    solver = highspy.Highs()  # type: ignore[no-untyped-call]
    solver.setOptionValue("output_flag", False)
    if devex:
        solver.setOptionValue("solver", "simplex")
        solver.setOptionValue("simplex_dual_edge_weight_strategy", DEVEX)
    solver.passModel(program)
    solver.run()
    if solver.getModelStatus() != highspy.HighsModelStatus.kOptimal:
        return None
    return np.array(solver.getSolution().col_value)


def _fill(program: highspy.HighsLp, entries: Entries, column_by_column: highspy.MatrixFormat) -> None:
    values, rows, columns = entries
    place, where = np.unique(columns * program.num_row_ + rows, return_inverse=True)
    matrix = program.a_matrix_
    matrix.format_ = column_by_column
    matrix.start_ = np.searchsorted(place // program.num_row_, np.arange(program.num_col_ + 1)).astype(np.int32)
    matrix.index_ = (place % program.num_row_).astype(np.int32)
    matrix.value_ = np.bincount(where, weights=values, minlength=len(place)).astype(float)
