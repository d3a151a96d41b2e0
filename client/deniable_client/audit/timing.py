"""Whether the time that a report takes depends on an answer.

The answer of each trial is drawn at random, so that on a busy machine other work delays all answers alike: given the
times, the answers are a draw without replacement. If no answer takes longer than another by more than `TOLERANCE`, and
the times of one answer are shortened by the tolerance, then among the reports that took longer than ``t`` that answer
has no more than its share. This is tested exactly, at several ``t``, for every answer and in both directions. It needs
no assumption about the distribution of times or their dependence on each other.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.special import betaincinv

from deniable_client.audit.answers import TestedAnswers
from deniable_client.audit.evidence import FOUND, CellCounts, Check, log_level

TOLERANCE = 100_000
"""Largest difference that is tolerated, in nanoseconds: 0.1 ms is lost in writing to storage and to the network."""

QUANTILES = (0.25, 0.5, 0.75, 0.9, 0.99, 0.999)
"""Quantiles of all times at which the distributions are compared."""


def check_times(
    times: NDArray[np.int64], codes: NDArray[np.integer], answers: Sequence[TestedAnswers], failure: float
) -> Check:
    """Test the times that reports took.

    Parameters
    ----------
    times : ndarray of int, shape (n,)
        Nanoseconds.
    codes : ndarray of int, shape (n, questions)
        The answers, drawn at random.
    answers : sequence of TestedAnswers
    failure : float
        Probability that times which depend on no answer are reported as a fault.
    """
    if not len(times):
        return Check("time", None, "no report was timed")
    limits = np.quantile(times, QUANTILES)
    level = log_level(failure, 2 * len(QUANTILES) * sum(len(each.given) for each in answers))
    fault = None
    fewest = len(times)
    for q, each in enumerate(answers):
        own = codes[:, q].astype(np.int64)
        n = np.bincount(own, minlength=len(each.given))
        fewest = min(fewest, int(n.min()))
        for limit in limits:
            plain, shorter = (
                np.bincount(own, weights=longer, minlength=len(n)).astype(np.int64)
                for longer in (times > limit, times > limit + TOLERANCE)
            )
            # Reports longer than the limit: those of this answer with the tolerance off, the others as they are.
            slow = CellCounts(shorter, n, (plain.sum() - plain + shorter) / len(times))
            # The other way round: this answer as it is, the others with the tolerance off.
            fast = CellCounts(n - plain, n, (len(times) - shorter.sum() - (n - shorter) + n - plain) / len(times))
            for word, cells in (("longer", slow), ("shorter", fast)):
                off = (cells.log_p() < level) & (cells.counts > cells.n * cells.p)
                if fault is None and off.any():
                    answer = each.given[int(np.argmax(off))]
                    fault = f"answer {str(answer)[:30]!r} to {each.question.id} takes {word} than others"
    powers = (_power(limits[each], QUANTILES[each], fewest, len(times), level) for each in (1, -1))
    return Check("time", fault, f"of all reports with one answer {', or '.join(powers)}")


def _power(limit: float, quantile: float, n: int, total: int, level: float) -> str:
    """The share of delayed reports that would be found for the rarest answer, in words."""
    # The smallest number of delayed reports of the rarest answer that the test refuses.
    usual = (1 - quantile) * total
    late = np.arange(1, n + 1)
    cells = CellCounts(late, np.full(n, n), np.minimum((usual + late) / total, 1.0))
    found = late[(cells.log_p() < level) & (late > n * cells.p)]
    if not found.size:
        return f"none that take {(limit + TOLERANCE) / 1e6:.2f} ms or longer"
    share = float(betaincinv(found[0], n - found[0] + 1, FOUND))
    return f"{share:.2%} that take {(limit + TOLERANCE) / 1e6:.2f} ms or longer"
