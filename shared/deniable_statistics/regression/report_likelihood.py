"""How likely each row's report is under every truth, for any design and mixtures of designs.

All that a likelihood needs of a design is ``P(report_i | truth x)``, one row of numbers for each person: so
people who were asked directly, through coins or through a mechanism of this package stand in one model.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from deniable.errors import ParameterError, describe
from deniable.exact import rational
from deniable.mechanisms import Support
from deniable_statistics.classical import Channel, of_one_truth
from deniable_statistics.designs.design import Design
from deniable_statistics.designs.of_mechanisms import AnyDesign, design_of
from deniable_statistics.designs.spaces import every_report, number_of_reports
from deniable_statistics.regression.factor import Array

Rows = tuple[Array, Array | None]
"""Likelihood and slope, one row for each report."""

NO_YES = ("no", "yes")

LARGEST_RESPONSES = 512
"""Expected information sums over all possible reports, and is refused beyond."""

DesignLike = AnyDesign | tuple[Any, Any]
"""What people went through: a design, or ``(P(yes | yes), P(yes | no))``."""


@dataclass(frozen=True)
class ResponseModel:
    """A design whose likelihood is looked up for many rows at once.

    Attributes
    ----------
    design : Design
    slope : ndarray, shape (responses, truths), optional
        What one unit of `share`, an unknown of the design itself, adds to the likelihood of each response.
    share : str, optional
    """

    design: Design
    slope: Array | None = None
    share: str | None = None

    @cached_property
    def matrix(self) -> Array:
        """The likelihood of every possible report, shape (reports, truths)."""
        count = number_of_reports(self.design.reports)
        if count > LARGEST_RESPONSES:
            raise ParameterError(
                f"cov_type: expected information sums over every possible report, at most {LARGEST_RESPONSES}, "
                f"got {count}; use observed, opg or sandwich"
            )
        return self.design.likelihood(every_report(self.design.reports))

    def look_up(self, values: NDArray[Any], subject: str) -> Rows:
        """Likelihood and slope of each row's report."""
        if not self.design.reports.supports_one:
            return self.design.likelihood(self._members(values, subject)), None
        where = self._positions(values, subject)
        return self._one_by_one[where], None if self.slope is None else self.slope[where]

    def scores(self, values: NDArray[Any], subject: str) -> Array:
        """Unbiased indicators of the truths: ``E[score | truth x]`` is 1 for ``x`` and 0 for the others."""
        # E[weights' supports + constant | truth] is the indicator of the truth
        weights, constant = self.design.debiasing
        if self.design.reports.supports_one:
            return np.asarray(weights.T[self._positions(values, subject)] + constant)
        return np.asarray(self._members(values, subject) @ weights.T + constant)

    def check(self, subject: str) -> None:
        """Raise a ParameterError if some truths cannot be told apart by any number of reports."""
        truths = self.design.truths
        # a k x m matrix of full rank tells all truths apart, given people enough
        if self.design.reports.supports_one and np.linalg.matrix_rank(self._one_by_one) < len(truths):
            raise ParameterError(f"{subject}: design must respond differently to different truths, {truths}")

    @cached_property
    def _one_by_one(self) -> Array:
        """`matrix`, however large, of a design whose reports support one option each."""
        return self.design.likelihood(every_report(self.design.reports))

    def _positions(self, values: NDArray[Any], subject: str) -> NDArray[np.int64]:
        reports = self.design.reports
        return positions(values, reports.labels, reports.first, reports.size, subject)

    def _members(self, values: NDArray[Any], subject: str) -> NDArray[np.bool_]:
        reports, texts = self.design.reports, values.tolist()
        if wrong := sum(text not in reports for text in texts):
            raise ParameterError(f"{subject}: must each be {reports.described}; {wrong} are not")
        return np.array([[bit == "1" for bit in each] for each in texts], dtype=bool).reshape(-1, reports.size)


def response_model(design: DesignLike, subject: str) -> ResponseModel:
    """How likely the responses of one design are.

    >>> from deniable import TwoCoin
    >>> response_model(TwoCoin("1/2", "1/2"), "outcome").matrix.tolist()
    [[0.75, 0.25], [0.25, 0.75]]
    """
    if isinstance(design, tuple) and len(design) == 2:
        pair = [probabilities(each, subject) for each in design]
        if any(each.ndim for each in pair):
            raise ParameterError(f"{subject}: a and b of a group must be single probabilities")
        return ResponseModel(of_one_truth(Support(*(rational(float(each), subject) for each in pair)), subject))
    found = design_of(design) if isinstance(design, AnyDesign) else None
    if found is None or not found.has_likelihood or not found.has_shares:
        raise ParameterError(
            f"{subject}: design must be one whose reports tell the shares of answers that exclude each other, "
            f"or a pair (a, b), got {describe(design)}"
        )
    return ResponseModel(found)


def probabilities(value: Any, subject: str) -> Array:

    try:
        array = np.asarray(value, dtype=float)
    except (TypeError, ValueError):
        raise ParameterError(f"{subject}: a and b must be numbers, got {describe(value)}") from None
    if not np.all((array >= 0) & (array <= 1)):
        raise ParameterError(f"{subject}: a and b must be probabilities in [0, 1]")
    return array


def positions(values: NDArray[Any], labels: Sequence[str], first: int, size: int, subject: str) -> NDArray[np.int64]:
    """Responses, as numbers or by name, as positions among them."""
    places = {label: place for place, label in enumerate(labels)}
    # Numbers of any type, of numpy's truth values too, go the quick way; the rest is looked up one by one.
    if values.dtype.kind in "biuf":
        numbers = values.astype(float) - first
    else:
        known = places | {first + place: place for place in range(size)}
        numbers = np.array([known.get(each, -1) for each in values.tolist()], dtype=float)
    wrong = int(np.sum((numbers < 0) | (numbers >= size) | (numbers != np.floor(numbers))))
    if wrong:
        names = f", or {', '.join(labels)}" if labels else ""
        raise ParameterError(
            f"{subject}: must be reports of the design, integers in [{first}, {first + size}){names}; "
            f"{wrong} of {len(values)} are not"
        )
    return numbers.astype(np.int64)


@dataclass(frozen=True)
class Grouped:
    """Designs that differ between groups of people, and which row belongs to which group; `grouped` makes it."""

    models: Mapping[Any, ResponseModel]
    by: Any


def response_models(design: DesignLike, subject: str) -> list[ResponseModel]:
    """The model of one design, or those of the groups of a two-group design."""
    if isinstance(design, Design) and design.groups > 1:
        return _with_unknown_share(design)
    return [response_model(design, subject)]


def grouped(designs: Mapping[Any, DesignLike | ResponseModel | None] | Design, by: str | ArrayLike) -> Grouped:
    """Give each group of people its own design.

    Parameters
    ----------
    designs : mapping from group to mechanism, channel, (a, b) or None; or Groups
        None is for people who were not asked: they have a report like the others', 0 for example, which says nothing.
        A model of `response_models` is taken as it is. `Groups` are the designs of `deniable_statistics.classical` that
        estimate one more unknown from two groups, numbered 0 and 1 here.
    by : str or array_like
        The column of the data that holds each row's group, or the groups themselves.

    Notes
    -----
    With ``g`` the probability of a true yes, `Groups` add one share ``s`` in [0, 1], the same for all people:

    ======================== ===================================== ===================
    design                   P(yes) in a group                     s
    ======================== ===================================== ===================
    cheater detection        ``g (1 - no) + (1 - g - s) yes``      cheaters [1]_
    stochastic lie detector  ``g s + (1 - g) (1 - p)``             honest carriers [2]_
    unrelated question       ``p g + (1 - p) s``                   unrelated yes [3]_
    ======================== ===================================== ===================

    References
    ----------
    .. [1] S. J. Clark, R. A. Desharnais, "Honest answers to embarrassing questions: detecting cheating in the
       randomized response model", Psychological Methods 3 (1998), 160-168.
    .. [2] M. Moshagen, J. Musch, E. Erdfelder, "A stochastic lie detector", Behavior Research Methods 44 (2012),
       222-231.
    .. [3] B. G. Greenberg et al., Journal of the American Statistical Association 64 (1969), 520-539.

    Examples
    --------
    Two people were asked directly, two through fair coins:

    >>> from deniable import TwoCoin
    >>> design = grouped({"direct": (1, 0), "coins": TwoCoin("1/2", "1/2")}, by=["direct", "direct", "coins", "coins"])
    >>> read_reports([0, 1, 0, 1], design, {"outcome: by": design.by}).likelihood.tolist()
    [[1.0, 0.0], [0.0, 1.0], [0.75, 0.25], [0.25, 0.75]]
    """
    if isinstance(designs, Design) and designs.groups > 1:
        return Grouped(dict(enumerate(_with_unknown_share(designs))), by)
    if not isinstance(designs, Mapping) or not designs:
        raise ParameterError(f"designs: must map groups to designs, or be Groups, got {describe(designs)}")
    models = {
        name: each if isinstance(each, ResponseModel) else response_model(each, f"group {name}")
        for name, each in designs.items()
        if each is not None
    }
    if not models:
        raise ParameterError("designs: must have a design for one of the groups, got None for all")
    truths = next(iter(models.values())).design.truths
    # one response that all truths give: a likelihood of 1, which adds nothing to a model
    nothing = ResponseModel(Channel(((Fraction(1),) * len(truths),), ("not asked",), truths, "not asked"))
    return Grouped({name: models.get(name, nothing) for name in designs}, by)


@dataclass(frozen=True)
class Reports:
    """The reports of one question as a likelihood reads them.

    Attributes
    ----------
    likelihood : ndarray, shape (n, truths)
        ``P(report_i | truth x)``.
    slope : ndarray, shape (n, truths), or None
        What one unit of the unknown share of a two-group design adds to it.
    truths : tuple of str
    share : str or None
        Name of that unknown share.
    responses : callable
        Everything that these people could have reported: a list of (likelihood, slope), adding up to 1 and 0.
    scores : callable
        Unbiased indicators of the truths, shape (n, truths); for designs without unknown share.
    """

    likelihood: Array
    slope: Array | None
    truths: tuple[str, ...]
    share: str | None
    responses: Callable[[], list[Rows]]
    scores: Callable[[], Array]

    def possible(self) -> list[Reports]:
        """Everything that these people could have reported, in place of what they did."""
        return [replace(self, likelihood=likelihood, slope=slope) for likelihood, slope in self.responses()]

    @property
    def tells_all(self) -> bool:
        """Whether every row's report says something, by known probabilities."""
        return self.share is None and bool((np.ptp(self.likelihood, axis=1) > 0).all())

    def named(self, truths: Sequence[str]) -> Reports:
        """These reports with other names of the truths."""
        if len(set(truths)) != len(self.truths) or len(truths) != len(self.truths):
            raise ParameterError(f"truths: must be {len(self.truths)} different names, got {len(truths)}")
        return replace(self, truths=tuple(truths))


def read_reports(
    values: ArrayLike, design: DesignLike | Grouped, columns: Mapping[str, Any], subject: str = "outcome"
) -> Reports:
    """Look up the likelihood of every row's report.

    Raises
    ------
    ParameterError
        If the design cannot have made a report, or cannot tell truths apart. No report is repeated.
    """
    array = np.asarray(values)
    if isinstance(design, tuple):
        return _pairs(array, design, columns, subject)
    if isinstance(design, Grouped):
        models, groups = _models(design, np.asarray(columns[f"{subject}: by"]))
    else:
        models, groups = [response_model(design, subject)], np.zeros(len(array), dtype=np.int64)
        models[0].check(subject)
    truths = models[0].design.truths
    shares = list(dict.fromkeys(model.share for model in models if model.share is not None))
    if len(shares) > 1:
        raise ParameterError(f"{subject}: designs must have one unknown besides the truths, got {', '.join(shares)}")
    share = shares[0] if shares else None
    if any(len(model.design.truths) != len(truths) for model in models):
        raise ParameterError(f"{subject}: designs of all groups must have the same truths")
    likelihood = np.empty((len(array), len(truths)), order="F")  # as the shares that it meets, see `softmax`
    slope = None if share is None else np.empty_like(likelihood)
    for g, model in enumerate(models):
        rows = groups == g
        likelihood[rows], slopes = model.look_up(array[rows], subject)
        if slope is not None:
            slope[rows] = 0.0 if slopes is None else slopes

    def scores() -> Array:
        found = np.empty_like(likelihood)
        for g, model in enumerate(models):
            rows = groups == g
            found[rows] = model.scores(array[rows], subject)
        return found

    return Reports(likelihood, slope, truths, share, lambda: _responses(models, groups), scores)


def _responses(models: list[ResponseModel], groups: NDArray[np.int64]) -> list[Rows]:
    """The r-th response of every row's design; impossible where the design has fewer."""
    every = [(model.matrix, model.slope) for model in models]
    most = max(len(matrix) for matrix, _ in every)
    # designs have different numbers of responses; a response that is not there has the probability 0
    padded = np.array([np.pad(matrix, ((0, most - len(matrix)), (0, 0))) for matrix, _ in every])
    stacked = None
    if any(slope is not None for _, slope in every):
        slopes = [np.zeros_like(matrix) if slope is None else slope for matrix, slope in every]
        stacked = np.array([np.pad(slope, ((0, most - len(slope)), (0, 0))) for slope in slopes])
    return [(padded[groups, r], None if stacked is None else stacked[groups, r]) for r in range(most)]


def _pairs(values: NDArray[Any], design: tuple[Any, Any], columns: Mapping[str, Any], subject: str) -> Reports:
    """Each row its own ``(a_i, b_i)``."""
    if len(design) != 2:
        raise ParameterError(f"{subject}: design must be a pair (a, b), got {len(design)} values")
    a, b = (
        probabilities(columns.get(f"{subject}: {role}", each), subject) for role, each in zip("ab", design, strict=True)
    )
    yes = np.column_stack([np.broadcast_to(b, len(values)), np.broadcast_to(a, len(values))])
    if np.all(yes[:, 0] == yes[:, 1]):
        raise ParameterError(f"{subject}: a must differ from b, or reports tell nothing")
    # P(yes | truth), for truths no and yes
    said_yes = positions(values, NO_YES, 0, 2, subject)[:, None] == 1

    def scores() -> Array:
        apart = yes[:, 1] - yes[:, 0]
        if (apart == 0).any():
            raise ParameterError(f"{subject}: a must differ from b in every row for moments")
        # E[(y - b) / (a - b)] is 1 for a true yes and 0 for a true no
        score = (said_yes[:, 0] - yes[:, 0]) / apart
        return np.column_stack([1 - score, score])

    return Reports(
        np.asfortranarray(np.where(said_yes, yes, 1 - yes)),
        None,
        NO_YES,
        None,
        lambda: [(1 - yes, None), (yes, None)],
        scores,
    )


def _models(design: Grouped, by: NDArray[Any]) -> tuple[list[ResponseModel], NDArray[np.int64]]:
    """The models of the groups, and which of them each row goes by."""
    names, models = list(design.models), list(design.models.values())
    places = {name: place for place, name in enumerate(names)}
    groups = np.array([places.get(each, -1) for each in by.tolist()], dtype=np.int64)
    if (groups < 0).any():
        expected = ", ".join(map(str, names))
        raise ParameterError(f"by: must be one of the groups {expected}; {int((groups < 0).sum())} rows are not")
    # a design with one response is that of people who were not asked
    asked = [g for g in np.unique(groups).tolist() if number_of_reports(models[g].design.reports) > 1]
    if all(models[g].share is None for g in asked):
        for g in asked:
            models[g].check(f"group {names[g]}")
    # Two groups with one channel leave the unknown share and the shares of truths one equation.
    elif all(np.array_equal(models[g].matrix, models[asked[0]].matrix) for g in asked):
        raise ParameterError("by: must hold rows of both groups with different probabilities, which are compared")
    return models, groups


def _with_unknown_share(design: Design) -> list[ResponseModel]:
    """The equations of a two-group design, with ``1 - g``, ``g`` and the share put in for its unknowns."""
    models = []
    for matrix in design.exact_channels:
        columns = tuple(zip(*matrix, strict=True))
        if design.name == "cheater_detection":  # honest no = 1 - g - s
            no, yes, cheater = columns
            # P(r | no) (1 - s) + P(r | cheater) s: the slope by s is the difference of the columns, for either truth.
            known, slope, share = (no, yes), (_minus(cheater, no),) * 2, "cheaters"
        elif design.name == "stochastic_lie_detector":  # yes, honest = g s
            no, honest, lying = columns
            # Of true carriers the share g is honest: P = lying + g (honest - lying); for others it changes nothing.
            known, slope, share = (no, lying), (_minus(no, no), _minus(honest, lying)), "honest carriers"
        elif design.name == "unrelated_question_unknown":
            no, yes, other_no, other_yes = columns
            # Each truth mixes the sensitive question with the unrelated one, whose yes has the unknown share.
            known, slope = (_plus(no, other_no), _plus(yes, other_no)), (_minus(other_yes, other_no),) * 2
            share = "unrelated yes"
        else:
            raise ParameterError(f"designs: must be one of the two-group designs of channels, got {design.name!r}")
        group = Channel(tuple(zip(*known, strict=True)), design.reports.labels, NO_YES, design.name)
        models.append(ResponseModel(group, np.array(slope, dtype=float).T, share))
    return models


def _plus(one: Sequence[Fraction], other: Sequence[Fraction]) -> tuple[Fraction, ...]:
    return tuple(map(operator.add, one, other))


def _minus(one: Sequence[Fraction], other: Sequence[Fraction]) -> tuple[Fraction, ...]:
    return tuple(map(operator.sub, one, other))
