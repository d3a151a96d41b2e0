"""Several questions whose answers went into one report."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

import numpy as np

from deniable.mechanisms import KAry
from deniable.survey.patterns import Pattern
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
        Over ``k**draw`` patterns, or over those of `patterns`.
    patterns : tuple of tuple of int
        Where some questions filter others, the patterns that somebody can answer, each with the answers to `names`: one
        stands here as often as there are answers to the other questions. Empty where all combinations are possible.

    Notes
    -----
    Of ``s`` questions of the model that somebody was asked, with ``m`` patterns of the response that give the reported
    answers to the ``s``, ``P(report | truths) = m q + (p - q) [report = truths]``: any report with the same answers
    counts. Without filters ``m = k**(draw - s)``.
    """

    names: tuple[str, ...]
    draw: int
    response: KAry
    patterns: tuple[Pattern, ...] = ()

    def parts(self, members: Mapping[str, Reports]) -> tuple[Array, Array, dict[str, Array]]:
        """``m q`` and ``p - q`` of each row, and for each question which truths its report is equal to, (n, k).

        Who was not asked a question is equal to all.
        """
        equal = {name: _equal(each) for name, each in members.items()}
        p, q = map(float, (self.response.support[0].if_true, self.response.support[0].if_other))
        found = self._alike(equal) if self.patterns else self._others(members)
        return found * q, np.full(len(found), p - q), equal

    def _others(self, members: Mapping[str, Reports]) -> Array:
        """``k**(draw - s)``: the patterns of the questions that were drawn beside those of the model."""
        likelihoods = [each.likelihood for each in members.values()]
        asked = np.sum([np.ptp(each, axis=1) > 0 for each in likelihoods], axis=0)
        return np.asarray(float(likelihoods[0].shape[1]) ** (self.draw - asked))

    def _alike(self, equal: Mapping[str, Array]) -> Array:
        """How many possible patterns give the answers of each row's report."""
        found = np.zeros(len(next(iter(equal.values()))))
        for pattern in self.patterns:
            same = [each[:, pattern[self.names.index(name)]] for name, each in equal.items()]
            found += np.prod(same, axis=0)
        return found

    def allowed(self, truths: Mapping[str, int]) -> Array:
        """Which combinations of the truths of some questions somebody can give, an array with an axis for each.

        Parameters
        ----------
        truths : mapping of str to int
            How many truths each question has; those of other responses may stand among them, and can be anything.
        """
        every = tuple(truths.values())
        if not self.patterns:
            return np.ones(every, dtype=bool)
        places = [self.names.index(name) if name in self.names else None for name in truths]
        found = np.zeros(every, dtype=bool)
        for pattern in self.patterns:
            found[tuple(slice(None) if place is None else pattern[place] for place in places)] = True
        return found


def _equal(reports: Reports) -> Array:
    """The truths under which each row's report is likeliest: those it is equal to; all where nothing was asked."""
    likelihood = reports.likelihood
    return np.asarray(likelihood == likelihood.max(axis=1, keepdims=True), dtype=float)


def allowed_together(responses: Collection[SharedResponse], truths: Mapping[str, int]) -> Array:
    """Which combinations of truths all responses allow, an array with an axis for each question."""
    found = np.ones(tuple(truths.values()), dtype=bool)
    for each in responses:
        found &= each.allowed(truths)
    return found
