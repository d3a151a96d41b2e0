"""How people were drawn, and the linearised errors that follow."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from deniable.errors import ParameterError
from deniable_statistics.sampling.calibration import Calibration, Margin, fitted_weights
from deniable_statistics.sampling.estimates import SampleEstimate
from deniable_statistics.sampling.noise import Truths

LONELY = ("fail", "centre", "certainty")
"""What to do with a stratum of which one unit was drawn; see `SamplingDesign`."""


@dataclass(frozen=True, eq=False)
class SamplingDesign:
    """Strata, the units that were drawn in each, and the weights of the people in them.

    Parameters
    ----------
    weights : ndarray, shape (people,)
        Finite and not negative. A row of weight 0 is outside of every estimate, but its unit was drawn.
    strata, clusters : ndarray of int, shape (people,), optional
        Numbers of strata, and of primary sampling units; numbers of units may start again in each stratum. Without
        clusters every person is a unit.
    population : ndarray, shape (people,), optional
        How many units there are in the population of the person's stratum, the same for all of a stratum: they were
        drawn without replacement, and everybody in them is in the sample. None: drawn with replacement, which is
        cautious where they were not.
    lonely : {"fail", "centre", "certainty"}
        A stratum of which one unit was drawn tells nothing of its spread, unless the population holds no other one.
        An error; or its distance from the mean of all units; or as if it had been drawn for certain.
    calibration : Calibration, optional
        The margins to which the weights were fitted; the method `calibrated` makes it.

    Notes
    -----
    An estimate is written as a sum ``sum w_k z_k``, ``z_k`` a person's value or its linearised influence. With ``u_hi``
    the sum of ``w_k z_k`` over unit ``i`` of the ``n_h`` that were drawn of ``N_h`` in stratum ``h``,

        V = sum over h of  (1 - f_h) n_h / (n_h - 1) sum over i of (u_hi - u_h)^2  +  f_h sum over k of w_k^2 v_k

    with ``f_h = n_h / N_h``. The first part is the textbook's [1]_. The second is 0 for plain answers. For randomised
    ones ``v_k`` is the variance that the device added to ``z_k``: its chance is a last stage of sampling, with
    replacement, within every person. The spread of the ``u_hi`` holds all of it, so ``1 - f_h`` takes away a part
    ``f_h``, although no device lied less because more people were asked. `Truths` estimates ``v_k``.

    References
    ----------
    .. [1] W. G. Cochran, "Sampling Techniques", third edition, Wiley 1977, sections 5.6, 9A.2 and 10.3.

    Examples
    --------
    Two strata of 10 people, 2 asked of each; ``(1 - .2) 10^2 / 2`` times the variances 2 and 8 within them:

    >>> design = SamplingDesign.of([5, 5, 5, 5], strata="aabb", population=[10, 10, 10, 10])
    >>> result = design.total([1, 3, 4, 8])
    >>> result.estimate.tolist(), result.df
    ([80.0], 2)
    >>> round(float(result.covariance[0, 0]), 6)                       # 40 x 2 + 40 x 8
    400.0
    """

    weights: NDArray[np.float64]
    strata: NDArray[np.int64] | None = None
    clusters: NDArray[np.int64] | None = None
    population: NDArray[np.float64] | None = None
    lonely: str = "fail"
    calibration: Calibration | None = None

    @classmethod
    def of(
        cls,
        weights: ArrayLike,
        strata: Sequence[object] | None = None,
        clusters: Sequence[object] | None = None,
        population: ArrayLike | None = None,
        lonely: str = "fail",
    ) -> SamplingDesign:
        """The design from labels of strata and clusters.

        Raises
        ------
        ParameterError
            If lengths or weights do not fit, a stratum has several numbers of units, or fewer than were drawn; or if
            strata have one unit each, and `lonely` is ``"fail"``.
        """
        each = np.asarray(weights, dtype=float)
        n = len(each)
        if each.ndim != 1 or not np.isfinite(each).all() or (n and each.min() < 0):
            raise ParameterError("weights: must be finite numbers of at least 0, one for each person")
        layers, units = (_numbers(labels, n, name) for labels, name in ((strata, "strata"), (clusters, "clusters")))
        size = None if population is None else np.broadcast_to(np.asarray(population, dtype=float), (n,))
        if lonely not in LONELY:
            raise ParameterError(f"lonely: must be one of {', '.join(LONELY)}, got {lonely!r}")
        found = cls(each, layers, units, size, lonely)
        found._check()
        return found

    def __len__(self) -> int:
        return len(self.weights)

    def degrees_of_freedom(self, people: NDArray[np.bool_] | None = None) -> float:
        """Sampling units minus strata, counting only those that contain somebody of the subpopulation."""
        counted = self.weights > 0 if people is None else people & (self.weights > 0)
        units = np.unique(self._unit[counted])
        return len(units) - len(np.unique(self._stratum[units]))

    def total(self, values: ArrayLike, truths: Truths | None = None) -> SampleEstimate:
        """Totals of the population.

        Parameters
        ----------
        values : array_like, shape (people,) or (people, m)
            Answers, or unbiased scores of them.
        truths : Truths, optional
            What the values are without the chance of the devices; None for plain values.
        """
        each = columns(values)
        return SampleEstimate(self.weights @ each, self.covariance(each, truths), self.degrees_of_freedom())

    def means(
        self,
        values: ArrayLike,
        domains: Sequence[NDArray[np.bool_]] = (),
        truths: Truths | None = None,
    ) -> SampleEstimate:
        """Means of the people in each of several domains that do not overlap; without domains, of everybody.

        Domains are not samples of their own: units that hold nobody of a domain were drawn all the same, and chance
        decided how many people it has.

        Returns
        -------
        SampleEstimate
            Domain after domain, with covariances between them. Degrees of freedom are those of all domains together.
        """
        each = columns(values)
        wanted = list(domains) or [np.ones(len(self), dtype=bool)]
        m = each.shape[1]
        means, influences, added = [], [], []
        for people in wanted:
            total = float(self.weights @ people)
            if not total:
                means.append(np.full(m, np.nan))
                influences.append(np.full_like(each, np.nan))
                added.append(np.full((m, m), np.nan))
                continue
            # Others count with 0 instead of being left out: their units stay in the design, as variances of domains
            # need.
            kept = np.where(people[:, None], each, 0.0)
            mean = self.weights @ kept / total
            # Linearised: the derivative of sum w y / sum w by w_k is (y_k - mean) / sum w.
            influence = np.where(people[:, None], kept - mean, 0.0) / total
            known = None if truths is None else truths.around(mean).scaled(1 / total)
            means.append(mean)
            influences.append(influence)
            added.append(self._added(influence, people, known))
        covariance = self._spread(np.hstack(influences))
        # A device's chance is its person's, so domains that do not overlap share none of it.
        for place, block in enumerate(added):
            own = slice(place * m, (place + 1) * m)
            covariance[own, own] += block
        together = np.any(wanted, axis=0)
        return SampleEstimate(np.concatenate(means), covariance, self.degrees_of_freedom(together))

    def ratio(self, top: ArrayLike, bottom: ArrayLike) -> SampleEstimate:
        """Ratios of the totals of plain values: `top`, shape (people,) or (people, m), over `bottom`, (people,)."""
        above, below = columns(top), np.asarray(bottom, dtype=float)
        ratio = self.weights @ above / (self.weights @ below)
        # Linearised: the derivative of sum w y / sum w x by w_k is (y_k - R x_k) / sum w x.
        influence = (above - ratio * below[:, None]) / (self.weights @ below)
        return SampleEstimate(ratio, self.covariance(influence), self.degrees_of_freedom())

    def covariance(self, influence: NDArray[np.float64], truths: Truths | None = None) -> NDArray[np.float64]:
        """Covariance of ``sum w_k z_k``, shape (m, m), for influences ``z`` of shape (people, m)."""
        return self._spread(influence) + self._added(influence, np.ones(len(self), dtype=bool), truths)

    def without_population(self) -> SamplingDesign:
        """This sample as if drawn with replacement: for values of which nobody knows what the device added."""
        return replace(self, population=None)

    def calibrated(self, margins: Sequence[Margin]) -> SamplingDesign:
        """This sample with weights fitted to known margins: poststratified by one, raked by several.

        Raises
        ------
        ParameterError
            If a kind has nobody in the sample, or the margins contradict each other.

        Examples
        --------
        Three of four in the sample are of the first kind, but half of the population:

        >>> kinds = Margin("sex", np.array([0, 0, 0, 1]), np.array([50.0, 50.0]))
        >>> SamplingDesign.of(np.ones(4)).calibrated([kinds]).weights.round(4).tolist()
        [16.6667, 16.6667, 16.6667, 50.0]
        """
        fitted = fitted_weights(self.weights, margins)
        return replace(self, weights=fitted, calibration=Calibration(tuple(margins), self.weights))

    @property
    def is_finite(self) -> bool:
        """Whether units were drawn without replacement, or for certain, in some stratum."""
        return bool(self._fraction.any())

    def _spread(self, influence: NDArray[np.float64]) -> NDArray[np.float64]:
        """The spread of the units' totals within strata."""
        weighted = self.weights[:, None] * influence
        if self.calibration is not None:
            weighted = self.calibration.residuals(weighted, self.weights)
        totals = np.zeros((len(self._stratum), influence.shape[1]))
        # u_hi, what the people of unit i in stratum h add up to.
        np.add.at(totals, self._unit, weighted)
        sums = np.zeros((len(self._drawn), influence.shape[1]))
        np.add.at(sums, self._stratum, totals)
        middle = sums / self._drawn[:, None]
        alone = self._drawn == 1
        if self.lonely == "centre" and alone.any():
            middle[alone] = totals.mean(axis=0)
        apart = totals - middle[self._stratum]
        # (1 - f_h) n_h / (n_h - 1); a unit that is alone counts its own distance once.
        factor = (1 - self._fraction) * np.where(alone, 1.0, self._drawn / np.maximum(self._drawn - 1, 1))
        return np.asarray((apart * factor[self._stratum, None]).T @ apart)

    def _added(
        self, influence: NDArray[np.float64], people: NDArray[np.bool_], truths: Truths | None
    ) -> NDArray[np.float64]:
        """What the finite population would wrongly take away of the devices' chance."""
        m = influence.shape[1]
        if truths is None or not self.is_finite:
            return np.zeros((m, m))
        fraction = self._fraction[self._stratum[self._unit]]
        return truths.added(influence, fraction * self.weights**2 * people)

    @cached_property
    def _unit(self) -> NDArray[np.int64]:
        """The number of each person's unit, from 0; a label in two strata is two units."""
        n = len(self)
        if self.clusters is None:
            return np.arange(n)
        layers = np.zeros(n, dtype=np.int64) if self.strata is None else self.strata
        # Labels of units may start again in each stratum.
        pairs = layers * (int(self.clusters.max(initial=0)) + 1) + self.clusters
        return np.asarray(np.unique(pairs, return_inverse=True)[1].ravel())

    @cached_property
    def _stratum(self) -> NDArray[np.int64]:
        """The stratum of each unit, shape (units,)."""
        found = np.zeros(int(self._unit.max(initial=-1)) + 1, dtype=np.int64)
        if self.strata is not None:
            found[self._unit] = self.strata
        return found

    @cached_property
    def _drawn(self) -> NDArray[np.int64]:
        """How many units were drawn in each stratum."""
        return np.bincount(self._stratum)

    @cached_property
    def _fraction(self) -> NDArray[np.float64]:
        """The share of its units that was drawn in each stratum; 0 with replacement, 1 where drawn for certain."""
        found = np.zeros(len(self._drawn))
        if self.population is not None:
            found[self._stratum[self._unit]] = self.population
            # f_h = n_h / N_h
            found = self._drawn / found
        if self.lonely == "certainty":
            found[self._drawn == 1] = 1.0
        return found

    def _check(self) -> None:
        if self.population is not None:
            layers = self._stratum[self._unit]
            of_first = np.zeros(len(self._drawn))
            of_first[layers] = self.population
            if not np.isfinite(self.population).all() or (of_first[layers] != self.population).any():
                raise ParameterError("population: must be one number of units for each stratum, got several or none")
            short = of_first < self._drawn
            if short.any():
                raise ParameterError(
                    f"population: must be at least the number of units drawn in every stratum, is not in "
                    f"{int(short.sum())}, where {int(self._drawn[short][0])} were drawn of {of_first[short][0]:g}"
                )
        lonely = int(((self._drawn == 1) & (self._fraction < 1)).sum())
        if len(self) and lonely and self.lonely == "fail":
            where = f"{lonely} of {len(self._drawn)} strata have" if self.strata is not None else "the sample has"
            raise ParameterError(
                f"strata: must have at least 2 sampling units each, {where} 1; "
                "join strata, or say what to do by lonely: centre or certainty"
            )


def columns(values: ArrayLike) -> NDArray[np.float64]:
    """Values as an array of shape (people, m)."""
    found = np.asarray(values, dtype=float)
    return found[:, None] if found.ndim == 1 else found


def _numbers(labels: Sequence[object] | None, n: int, name: str) -> NDArray[np.int64] | None:
    if labels is None:
        return None
    if len(labels) != n:
        raise ParameterError(f"{name}: must be {n} labels, one for each person, got {len(labels)}")
    return numbered(labels)


def numbered(labels: Iterable[object]) -> NDArray[np.int64]:
    """Labels of any kind as integers from 0, in the order in which they come.

    >>> numbered(["b", "a", "b"]).tolist()
    [0, 1, 0]
    """
    places: dict[object, int] = {}
    return np.array([places.setdefault(label, len(places)) for label in labels], dtype=np.int64)
