"""The estimate of one question: from a tally of noisy reports to shares of the true answers."""

from __future__ import annotations

import math
import operator
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from numbers import Real

import numpy as np
from numpy.typing import NDArray

from deniable.errors import ParameterError, check_kind, describe
from deniable.wire.space import Count
from deniable_statistics.designs.debiasing import ratio
from deniable_statistics.designs.design import Binomial, Design
from deniable_statistics.designs.of_mechanisms import AnyDesign, design_of
from deniable_statistics.estimates.assumed_fakes import ContaminatedTally, effective_scale, hull
from deniable_statistics.estimates.counts import Counts, supports_in_order
from deniable_statistics.estimates.fakes import check_fakes, fake_margins
from deniable_statistics.intervals import (
    METHODS,
    Consistency,
    Interval,
    check_confidence_level,
    consistencies,
    contaminated_interval,
    level_of_each,
    resolve_method,
    share_intervals,
    without_binomial,
)
from deniable_statistics.intervals.finite import finite_interval, is_small
from deniable_statistics.intervals.interval import normal_quantile
from deniable_statistics.intervals.profile import ShareLikelihood, profile_intervals

DEFAULT_METHOD = "default"
INTERVAL_METHODS = [DEFAULT_METHOD, *METHODS]
"""Names of the methods of intervals that commands and the collector take, the default first."""

FEW = 20
"""Least number of reports at which likelihood-ratio intervals are corrected for a finite population."""

MOST_GONE_THROUGH = 10
"""Largest number of fakes for which exact intervals for the respondents enumerate every smaller one too."""

SUSPICIOUS = 0.02
"""Significance level, of all options together, of the flag at a question whose reports do not fit its design."""


@dataclass(frozen=True)
class Estimate:
    """Debiased shares of the true answers to one question.

    Attributes
    ----------
    design : Design
        The design behind the reports: a mechanism, a channel, or groups of channels.
    counts : tuple of int, length k
        Number of reports that support each option; the responses of a channel, group after group.
    n : int
        Number of reports.
    share : tuple of float, length k
        Unbiased shares, which may lie outside [0, 1]. NaN without reports.
    feasible : tuple of float, length k
        Maximum-likelihood shares within [0, 1] that add up to 1; biased near 0 and 1, so never averaged with `share`.
    n_effective : float
        Kish's effective number of weighted reports; `n` where reports have no weights.
    population : int or None
        Number of people from whom the respondents were drawn without replacement; None for an infinite population.
        ``population == n``: these respondents only. See `of_population`.

    Notes
    -----
    With ``a`` and ``b`` the probabilities that a report supports the option when it is the truth and when
    another is, ``E[counts / n] = b + (a - b) share`` is solved for ``share`` in exact arithmetic and rounded
    once. The count is binomial with ``lam = b + (a - b) share``, so the variance is
    ``lam (1 - lam) / (n (a - b)^2)`` [1]_, and an interval for ``lam`` maps to one for ``share`` with the
    same coverage. Designs whose reports do not simply support options are solved by the inverse of their channel
    matrix, ``share = A^-1 counts / n``, with covariance ``A^-1 (diag(lam) - lam lam') A^-T / n`` [2]_.

    References
    ----------
    .. [1] T. Wang, J. Blocki, N. Li, S. Jha, "Locally differentially private protocols for frequency
       estimation", USENIX Security 2017, equations 2 and 3.
    .. [2] A. van den Hout, P. G. M. van der Heijden, "Randomized response, statistical disclosure control and
       misclassification: a review", International Statistical Review 70 (2002), 269-288.

    Examples
    --------
    Two fair coins, 430 of 1000 reports say yes:

    >>> from deniable import TwoCoin
    >>> estimate = TwoCoin(truth="1/2", yes="1/2").estimate([570, 430])
    >>> estimate.share[1], round(estimate.std_error[1], 4)
    (0.36, 0.0313)
    >>> [round(end, 3) for end in estimate.confidence_interval(confidence_level=0.95)[1]]
    [0.299, 0.422]
    """

    design: Design
    counts: tuple[Count, ...]
    n: Count
    share: tuple[float, ...]
    feasible: tuple[float, ...]
    n_effective: float
    population: int | None = None

    @classmethod
    def from_counts(
        cls, design: AnyDesign, counts: Counts, n: Count | None = None, n_effective: float | None = None
    ) -> Estimate:
        """Debias a tally; this is what `Mechanism.estimate` and `Channel.estimate` call.

        Raises
        ------
        ParameterError
            If the counts are not as many numbers in ``[0, n]`` as the design has supports, or do not add up to ``n``
            where each report supports one.
        """
        design = design_of(design)
        length = len(design.expected_if_even)
        ordered, n = supports_in_order(counts, design.reports, n)
        tally = check_counts(ordered, length, weighted=n_effective is not None)
        total = number_of_reports(design, tally, n)
        effective = float(total if n_effective is None else n_effective)
        if total == 0:
            nothing = (math.nan,) * len(design.truths)
            return cls(design, tally, 0, nothing, nothing, 0.0)
        # Exact fractions where the design has them, rounded once, here.
        shares = tuple(map(float, design.shares(tally, total)))
        return cls(design, tally, total, shares, design.feasible(tally, total), effective)

    @cached_property
    def fake_margin(self) -> tuple[float, ...]:
        """How far fake reports, one in a hundred, can move each share; see `fake_margins`."""
        return fake_margins(self.design)

    def of_population(self, size: int) -> Estimate:
        """This estimate with errors for the shares among the ``size`` people from whom the respondents were drawn.

        With ``phi = (size - n) / (size - 1)`` for people drawn without replacement, the variance is that of the
        mechanism's chance alone plus ``phi`` times that of who was drawn: all of it for a population without end,
        nothing for ``size = n``, *these respondents only*. Both parts are taken at the feasible shares.

        Raises
        ------
        ParameterError
            If ``size`` is smaller than the number of respondents.

        Examples
        --------
        The standard error 0.0313 of 1000 respondents without the chance of who answered:

        >>> from deniable import TwoCoin
        >>> estimate = TwoCoin("1/2", "1/2").estimate([570, 430])
        >>> round(estimate.of_population(1000).std_error[1], 4)
        0.0274
        """
        if isinstance(size, bool) or not isinstance(size, int) or size < self.n:
            raise ParameterError(f"population: must be an integer of at least n = {self.n}, got {describe(size)}")
        if any(each != self.n for each in self.design.sizes(self.counts, self.n)):
            raise ParameterError("population: needs a design that asks everybody alike, got groups")
        return replace(self, population=size)

    @property
    def respondents_only(self) -> Estimate:
        """This estimate with errors for the shares among the people who answered, and nobody else."""
        return self.of_population(math.ceil(self.n))

    @property
    def finite_population_correction(self) -> float:
        """``phi``, the factor of the sampling variance, from 0 (these respondents only) to 1 (infinite population)."""
        return self._correction(self.n)

    def _correction(self, n: Count) -> float:
        """The finite-population correction of a share that ``n`` of the respondents were asked about."""
        return 1.0 if self.population is None else _correction(n, self.population)

    @cached_property
    def binomials(self) -> tuple[Binomial, ...] | None:
        """The binomial count behind each share, with its number of trials; None where it is not one binomial."""
        return self.design.binomials(self.counts, self.n)

    @property
    def counted(self) -> list[tuple[float, float, tuple[float, float]]]:
        """Count and trials of each binomial among `n_effective` reports, and its support; needs `binomials`."""
        assert self.binomials is not None
        return [(self._effective(count), self._effective(n), support.floats) for count, n, support in self.binomials]

    @cached_property
    def effective_counts(self) -> list[float]:
        """The counts among `n_effective` reports."""
        return list(map(self._effective, self.counts))

    def _effective(self, count: Count) -> float:
        """A count scaled to `n_effective` reports."""
        if self.n_effective == self.n:
            return float(count)
        return float(Fraction(count) * Fraction(self.n_effective) / Fraction(self.n))

    @cached_property
    def covariance(self) -> NDArray[np.float64]:
        """Covariance of `share`, shape (k, k); NaN where a tally does not determine it, as between tick boxes."""
        k = len(self.share)
        if not self.n:
            return np.full((k, k), math.nan)
        if self.population is None:
            return self.design.covariance(self.counts, self.n) * (float(self.n) / self.n_effective)
        f = np.array(self.feasible)
        # (diag(f) - f f') / n is what drawing people with replacement adds; a finite population lessens that part
        # alone.
        people = (np.diag(f) - np.outer(f, f)) / self.n_effective
        covariance = np.asarray(self._feasible_covariance - (1 - self.finite_population_correction) * people)
        if self.binomials is not None:  # which may be of fewer people, each with a correction of its own
            np.fill_diagonal(covariance, np.square(self.std_error))
        return covariance

    @property
    def _feasible_covariance(self) -> NDArray[np.float64]:
        """The covariance of `share` if the feasible shares were true and the population without end."""
        sizes = self.design.sizes(self.counts, self.n)
        chances = self.design.expected(self.feasible)
        counts = [chance * float(size) for chance, size in zip(chances, sizes, strict=True)]
        return self.design.covariance(counts, self.n) * (float(self.n) / self.n_effective)

    @cached_property
    def std_error(self) -> tuple[float, ...]:
        """Standard errors of `share`, from the mechanism's noise and from sampling out of `population`."""
        if not self.n:
            return self.share
        if self.binomials is None:
            return tuple(math.sqrt(max(float(each), 0.0)) for each in self.covariance.diagonal())
        return tuple(map(self._binomial_error, self.binomials, self.feasible))

    def _binomial_error(self, binomial: Binomial, share: float) -> float:
        count, n, support = binomial
        if not n:
            return math.nan
        if self.population is None:
            part, whole = ratio(count, n)
        else:
            part, whole = (support.if_other + support.slope * Fraction(share)).as_integer_ratio()
        steep, scale = support.slope.as_integer_ratio()
        # The part of the sampling variance f (1 - f) that a finite population takes away.
        people = (1 - self._correction(n)) * share * (1 - share)
        # lam (1 - lam) / (a - b)^2 with lam = part / whole; the quotient of two integers is rounded once.
        variance = part * (whole - part) * scale**2 / (whole * steep) ** 2 - people
        return math.sqrt(max(variance, 0.0) / self._effective(n))

    def confidence_interval(
        self,
        confidence_level: float = 0.95,
        method: str = DEFAULT_METHOD,
        *,
        simultaneous: bool = False,
        fakes: Count = 0,
    ) -> tuple[Interval, ...]:
        """Confidence intervals of the shares, one for each option, cut to [0, 1].

        Parameters
        ----------
        confidence_level : float
            Above 0 and below 1.
        method : str
            A name in `deniable_statistics.intervals.METHODS`; `interval_method` says where another one is used.
        simultaneous : bool
            Whether the confidence level applies to all intervals together instead of to each one: by Bonferroni's
            inequality, except for two options that are each other's opposite, whose intervals miss together.
        fakes : int
            Largest number of fake reports; the intervals then hold the shares of the people behind the true ones. See
            `deniable_statistics.estimates.assumed_fakes`.

        Raises
        ------
        ParameterError
            If there is no such method or level, or the method cannot be used with the design or with fakes.
        """
        level = check_confidence_level(confidence_level)
        named = self.interval_method(method, fakes=check_fakes(fakes))
        k = len(self.share)
        if not self.n or fakes >= self.n:
            return (Interval(0.0, 1.0),) * k
        level = self.level_of_each(level, simultaneous=simultaneous)
        if fakes and self.binomials is not None and self.population is None:
            fewest = min(each.n for each in self.binomials)
            names = dict.fromkeys(
                resolve_method(method, self._effective(max(each, 0))) for each in (fewest, fewest - fakes)
            )
            return tuple(self._contaminated(each, level, tuple(names), fakes) for each in self.binomials)
        if fakes:
            return self._intervals_with_fakes(named, level, fakes)
        z = normal_quantile(level)
        if named == "wald":
            return self._normal(z)
        if named == "likelihood-ratio" and self.binomials is None:
            return self.combination_intervals(np.eye(k), confidence_level=level)
        if self.binomials is None:
            return self.smoothed(z * z)._normal(z)
        if self.population is not None:
            return tuple(self._among_people(each, self.population, level, named) for each in self.binomials)
        return tuple(share_intervals(self.counted, level, named))

    def level_of_each(self, level: float, *, simultaneous: bool) -> float:
        """The confidence level of each interval, for simultaneous coverage ``level`` or for each interval by itself."""
        # Two opposite options have one interval and its mirror image, so both hold or neither does.
        return level_of_each(level, len(self.share)) if simultaneous and not self._is_mirrored else level

    def interval_method(self, method: str = DEFAULT_METHOD, *, fakes: Count = 0) -> str:
        """The method that `confidence_interval` really uses.

        It is ``likelihood-ratio`` where shares are not behind one binomial count, unless a normal method is asked for.
        In a finite population the default is exact up to 400 reports, and ``wilson`` above, with weights, with more
        than `MOST_GONE_THROUGH` fakes, or with fakes in a population larger than the number of respondents.
        """
        fewest = min((each.n for each in self.binomials or ()), default=self.n)
        named = resolve_method(method, self._effective(fewest))
        if self.binomials is None:
            return without_binomial(named, self.design)
        if self.population is None:
            return named
        is_small = self._is_small(fakes)
        if method == DEFAULT_METHOD:
            return "feldman-cousins" if is_small else "wilson"
        # Other methods know no variance of a finite population.
        if method not in ("wilson", "wald", "normal") and not (named == "feldman-cousins" and is_small):
            exact = "feldman-cousins, " if is_small else ""
            raise ParameterError(f"method: must be {exact}wilson or wald for a finite population, got {method!r}")
        return named

    def _is_small(self, fakes: Count) -> bool:
        """Whether exact intervals for a finite population are affordable, for every number of fakes."""
        if self.population is None or self.n_effective != self.n or (fakes and self.population > self.n):
            return False
        # Each number of fakes costs two exact intervals.
        if fakes > MOST_GONE_THROUGH:
            return False
        return is_small(max((float(each.n) for each in self.binomials or ()), default=math.inf), self.population)

    def _contaminated(self, binomial: Binomial, level: float, names: Sequence[str], fakes: Count) -> Interval:
        """The interval of one share with fakes: the hull over each method that may be the default one."""
        (count, n, support), scale = binomial, self.n_effective / float(self.n)
        return hull(contaminated_interval(count, n, support.floats, fakes, level, name, scale) for name in names)

    def _intervals_with_fakes(self, named: str, level: float, fakes: Count) -> tuple[Interval, ...]:
        """Intervals with fakes where shares are not behind one binomial count, or those among the respondents."""
        options = range(len(self.share))
        if self.binomials is not None:
            return self._among_respondents(level, named, int(fakes))
        if named == "likelihood-ratio":
            return self.combination_intervals(np.eye(len(options)), confidence_level=level, fakes=fakes)
        if self.design.groups > 1:
            raise ParameterError(f"method: must be by likelihood ratio to assume fakes in groups, got {named}")
        weights, constant = self.design.debiasing
        left = ContaminatedTally.of(self.design, self.counts, self.n, self.n_effective, fakes)
        return tuple(
            left.normal(weights[option], float(constant[option]), level, is_plain=named == "wald").cut()
            for option in options
        )

    def _among_respondents(self, level: float, named: str, fakes: int) -> tuple[Interval, ...]:
        """The hull of the intervals for the true respondents, over every number of fakes or over its two extremes."""
        if named == "wald":
            raise ParameterError(
                "method: must be another one than wald to assume fakes among the respondents, got wald"
            )
        assert self.population is not None
        tallies: list[list[Interval]] = [[] for _ in self.share]
        for taken in range(fakes + 1) if named == "feldman-cousins" else (0, fakes):
            people = self.population - taken
            for found, (count, n, support) in zip(tallies, self.binomials or (), strict=True):
                left = max(n - taken, 0)
                # The limits are monotone in the count, so the hull needs only its two extremes.
                for kept in (min(count, left), max(count - taken, 0)):  # all fakes against the option, or for it
                    found.append(self._among_people(Binomial(kept, left, support), people, level, named))
        return tuple(map(hull, tallies))

    def combination_intervals(
        self,
        parts: NDArray[np.float64],
        wholes: NDArray[np.float64] | None = None,
        confidence_level: float = 0.95,
        *,
        fakes: Count = 0,
    ) -> tuple[Interval, ...]:
        """Intervals of ``parts @ f``, or of ``parts @ f / wholes @ f``, shape (m, k) each, by `profile_intervals`.

        The design must have `channels`, and the estimate reports. Below 20 of them a finite population is taken for one
        without end, whose intervals hold its shares too: corrected ones would be too short.
        """
        correction = self.finite_population_correction if self.n_effective >= FEW else 1.0
        counts = np.array(self.effective_counts)
        if fakes:
            if fakes >= self.n:
                return (Interval(0.0, 1.0),) * len(parts)
            if self.population is not None and self.n_effective >= FEW:
                # phi = (N - n) / (N - 1); without k fakes it is (N - n) / (N - k - 1): the numerator does not change.
                correction = min(correction * (self.population - 1) / max(self.population - 1 - float(fakes), 1), 1.0)
            scale = effective_scale(self.n, self.n_effective, fakes)
            counts, fakes = np.array(self.counts, dtype=float) * scale, float(fakes) * scale
        likelihood = ShareLikelihood(self.design.channels or (), correction)
        ends = profile_intervals(likelihood, counts, parts, wholes, confidence_level, fakes=float(fakes))
        return tuple(Interval(*pair) for pair in ends.tolist())

    @property
    def _is_mirrored(self) -> bool:
        """Whether there are two options only, and every report supports one of them."""
        return len(self.share) == 2 and self.design.support is not None and sum(self.counts) == self.n

    def _normal(self, z: float) -> tuple[Interval, ...]:
        pairs = zip(self.share, self.std_error, strict=True)
        return tuple(
            Interval(0.0, 1.0) if math.isnan(error) else Interval(share - z * error, share + z * error).cut()
            for share, error in pairs
        )

    def smoothed(self, reports: float) -> Estimate:
        """The estimate after ``reports`` more reports, distributed as equal shares of all answers would have it."""
        more = self.design.expected_if_even
        counts = [count + reports * each for count, each in zip(self.effective_counts, more, strict=True)]
        return Estimate.from_counts(self.design, counts, n_effective=self.n_effective + reports)

    def _among_people(self, binomial: Binomial, population: int, level: float, named: str) -> Interval:
        """The interval of a share among ``population`` people, some or all of whom reported: exact, or Wilson's."""
        count, n, support = binomial
        if not n:
            return Interval(0.0, 1.0)
        if named == "feldman-cousins":
            return finite_interval(int(count), int(n), population, support.floats, level)
        return self._score_interval(binomial, population, normal_quantile(level))

    def _score_interval(self, binomial: Binomial, population: int, z: float) -> Interval:
        """Wilson's interval with the variance of a finite population.

        Solves ``(estimate - f)^2 = z^2 V(f)`` for ``f``, where ``n V(f)``, which is
        ``lam (1 - lam) / (a - b)^2 - (1 - phi) f (1 - f)``, is written ``b (1 - b) / (a - b)^2 + slope f - phi f^2``.
        The estimate is brought into [0, 1] first: cutting the interval instead would leave a single point where all
        solutions are impossible.
        """
        (a, b), phi = binomial.support.floats, _correction(binomial.n, population)
        estimate = min(max((float(binomial.supporting) / float(binomial.n) - b) / (a - b), 0.0), 1.0)
        factor = z * z / self._effective(binomial.n)
        level = b * (1 - b) / (a - b) ** 2
        slope = (1 - 2 * b) / (a - b) - (1 - phi)
        # square f^2 - 2 (square middle) f + estimate^2 - factor level = 0, with factor = z^2 / n.
        square = 1 + phi * factor
        middle = (estimate + factor * slope / 2) / square
        inside = middle * middle - (estimate * estimate - factor * level) / square
        half = math.sqrt(max(inside, 0.0))
        return Interval(middle - half, middle + half).cut()

    @cached_property
    def consistency(self) -> tuple[Consistency, ...] | None:
        """Whether the data fit the design: one-sided p-values for each option; None without reports.

        Far outside of what the design can make, an interval is short *because* the data contradict the design. The
        p-values are exact where one binomial counts the option; elsewhere they are normal, with the standard error at
        the feasible shares.
        """
        if not self.n:
            return None
        if self.binomials is None:
            errors = [math.sqrt(max(float(each), 0.0)) for each in self._feasible_covariance.diagonal()]
            return tuple(
                Consistency(_below(share, error), _below(1 - share, error))
                for share, error in zip(self.share, errors, strict=True)
            )
        return tuple(consistencies(self.counted))

    @property
    def flags(self) -> tuple[str | None, ...]:
        """A warning for each option whose count hardly fits the design; None for the others."""
        return (None,) * len(self.share) if self.consistency is None else flags_of(self.consistency)


def flags_of(fits: Sequence[Consistency]) -> tuple[str | None, ...]:
    """A sentence for each option of a question whose count the design hardly explains; None for the others."""
    # Bonferroni: the flag is wrong for the whole question with probability SUSPICIOUS at most, on either side.
    limit = SUSPICIOUS / len(fits)
    return tuple(_flag(each, limit) for each in fits)


def number_of_reports(design: Design, counts: Sequence[Count], n: Count | None, kind: str = "integers") -> Count:
    """The number of reports behind a tally: as given, or the sum of the counts.

    Raises
    ------
    ParameterError
        If it is needed and not given, if it is smaller than a count, or if it is not the sum where each report supports
        one option; ``kind`` is the word for counts in the message.
    """
    if n is not None:
        check_kind(n, Real, "n")
    elif not design.reports.supports_one:
        raise ParameterError("n: must be given, because a report can support several options")
    total = sum(counts) if n is None else n
    if total < max(counts):
        raise ParameterError(f"counts: must be {kind} in [0, n = {total}], got {list(counts)}")
    # Weights are rounded when they are added up, numbers of reports are not.
    if design.reports.supports_one and not math.isclose(total, sum(counts), rel_tol=1e-6):
        raise ParameterError(
            f"n: must be the sum of the counts, {sum(counts)}, because a report is one of them, got {n}"
        )
    return total


def weighted_tally(design: Design, counts: Counts, n: Count | None) -> tuple[Sequence[Count], Count]:
    """Counts in the order of the design, and the number of reports behind them; both may be sums of weights.

    Raises
    ------
    ParameterError
        As `supports_in_order`, `check_counts` and `number_of_reports`.
    """
    length = len(design.expected_if_even)
    ordered, n = supports_in_order(counts, design.reports, n)
    check_counts(ordered, length, weighted=True)
    return ordered, number_of_reports(design, ordered, n, "numbers")


def check_counts(
    counts: Sequence[object], length: int, subject: str = "counts", *, weighted: bool = False
) -> tuple[Count, ...]:
    """The counts as plain numbers, integers unless reports have weights.

    Raises
    ------
    ParameterError
        If a count is not such a number, or if there are not ``length`` of them.
    """
    kind = "numbers" if weighted else "integers"
    tally: list[Count] = []
    try:
        for count in counts:
            # A whole number of another type is one too: a column of pandas with gaps holds floats.
            is_whole = isinstance(count, (float, np.floating)) and count.is_integer()
            tally.append(float(count) if weighted else int(count) if is_whole else operator.index(count))  # type: ignore[arg-type, call-overload]  # tested here
    except (TypeError, ValueError):
        wrong = f"{subject}[{len(tally)}]"
        raise ParameterError(
            f"{subject}: must be {length} {kind}; the first that is not is {wrong}, got {describe(count)}"
        ) from None
    if len(tally) != length:
        raise ParameterError(f"{subject}: must be {length} {kind}, one for each response, got {len(tally)}")
    for place, count in enumerate(tally):
        if not 0 <= count < math.inf:
            wrong = f"{subject}[{place}]"
            raise ParameterError(
                f"{subject}: must be {kind} of at least 0, got {tally}; the first that is not is {wrong}"
            )
    return tuple(tally)


def _correction(n: Count, population: int) -> float:
    return (population - n) / (population - 1) if population > 1 else 0.0


def _below(share: float, error: float) -> float:
    """P-value of the hypothesis that the share is 0 or above: probability of an estimate at most as large."""
    # Phi(share / error), which keeps its digits far out in the tail.
    return 0.5 * math.erfc(-share / error / math.sqrt(2)) if error else float(share >= 0)


def written_p(p: float) -> str:
    """A p-value as papers write it: three decimals without the zero before the point, and none below .001.

    >>> written_p(3.2e-13), written_p(0.0134), written_p(0.9999)
    ('p < .001', 'p = .013', 'p > .999')
    """
    if p < 0.001:
        return "p < .001"
    return f"p = {p:.3f}".replace("0.", ".", 1) if p < 0.9995 else "p > .999"


def _flag(fit: Consistency, limit: float) -> str | None:
    if fit.p_below < limit:
        return f"fewer reports than a share of 0 explains ({written_p(fit.p_below)}): the data hardly fit the design"
    if fit.p_above < limit:
        return f"more reports than a share of 1 explains ({written_p(fit.p_above)}): the data hardly fit the design"
    return None
