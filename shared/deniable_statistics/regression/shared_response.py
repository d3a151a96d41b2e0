"""Several questions whose answers went into one report."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from deniable.mechanisms import KAry
from deniable_statistics.regression.factor import Array
from deniable_statistics.regression.report_likelihood import Reports


@dataclass(frozen=True)
class SharedResponse:
    """Questions whose answers went into one report: a k-ary response over the patterns of those that were asked.

    Attributes
    ----------
    names : tuple of str
        Those of the model, in any order; ``"outcome"`` is what stands on the left. Devices may have asked others too.
    draw : int
        How many a device asked.
    response : KAry
        Over ``k**draw`` patterns.

    Notes
    -----
    Of ``s`` questions of the model that somebody was asked, with ``m = k**(draw - s)`` patterns of the others,
    ``P(report | truths) = m q + (p - q) [report = truths]``: any report with the same answers to the ``s`` counts.
    """

    names: tuple[str, ...]
    draw: int
    response: KAry

    def parts(self, members: Sequence[Reports]) -> tuple[Array, Array, list[Array]]:
        """``m q`` and ``p - q`` of each row, and for each question which truths its report is equal to, (n, k).

        Who was not asked a question is equal to all.
        """
        likelihoods = [each.likelihood for each in members]
        # the truths under which a report is likeliest are those it is equal to; all of them where nothing was asked
        equal = [(each == each.max(axis=1, keepdims=True)).astype(float) for each in likelihoods]
        asked = np.sum([np.ptp(each, axis=1) > 0 for each in likelihoods], axis=0)
        p, q = map(float, (self.response.support[0].if_true, self.response.support[0].if_other))
        # k^(draw - s) patterns of the questions that were drawn beside those of the model
        others = float(likelihoods[0].shape[1]) ** (self.draw - asked)
        return others * q, np.full(len(asked), p - q), equal
