"""The interval of a share, by the name of its method."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Sequence
from numbers import Real

from deniable.errors import ParameterError, check_kind, describe
from deniable_statistics.designs.design import Design
from deniable_statistics.intervals.binomial import (
    agresti_coull,
    clopper_pearson_of_each,
    jeffreys_of_each,
    midp_of_each,
    wald,
    wilson,
)
from deniable_statistics.intervals.blaker import blaker_of_each
from deniable_statistics.intervals.interval import Interval, check_confidence_level
from deniable_statistics.intervals.restricted import feldman_cousins_of_each, likelihood_ratio_interval

METHODS = {
    "feldman-cousins": "exact, knows that shares are within [0, 1]; the default up to 10,000 reports",
    "likelihood-ratio": "knows that shares are within [0, 1]; the default above 10,000 reports",
    "wilson": "score interval, near the level on average",
    "clopper-pearson": "exact, each tail at most half of what the level leaves; wide",
    "agresti-coull": "Wald around Wilson's middle",
    "jeffreys": "posterior quantiles under Jeffreys' prior",
    "midp": "Clopper-Pearson with half the weight on the count itself",
    "blaker": "exact, never wider than Clopper-Pearson",
    "wald": "estimate plus and minus standard errors; for comparison only",
}
"""The name of each method and one line on when to choose it."""

ALIASES = {"beta": "clopper-pearson", "normal": "wald", "agresti_coull": "agresti-coull"}
"""Other names of these methods, as statsmodels has them."""

EXACT_UP_TO = 10_000
"""Largest number of reports at which the default method is exact. Above, the likelihood ratio covers at least .947 of
the nominal .950; at 2001 reports it would cover .944."""

_Limits = Callable[[Sequence[float], Sequence[float], float], list[Interval]]


def _one_by_one(method: Callable[[float, float, float], Interval]) -> _Limits:
    """A method of one count, for several counts."""
    return lambda counts, sizes, level: [method(*each, level) for each in zip(counts, sizes, strict=True)]


_BINOMIAL: dict[str, _Limits] = {
    "wilson": _one_by_one(wilson),
    "clopper-pearson": clopper_pearson_of_each,
    "agresti-coull": _one_by_one(agresti_coull),
    "jeffreys": jeffreys_of_each,
    "midp": midp_of_each,
    "blaker": blaker_of_each,
    "wald": _one_by_one(wald),
}


def resolve_method(method: str, n: float) -> str:
    """The method that is used under this name: the default depends on the number of reports, and names have aliases.

    Raises
    ------
    ParameterError
        If there is no such method.

    Examples
    --------
    >>> resolve_method("default", 10_000), resolve_method("default", 10_001), resolve_method("beta", 10)
    ('feldman-cousins', 'likelihood-ratio', 'clopper-pearson')
    """
    if method == "default":
        return "feldman-cousins" if n <= EXACT_UP_TO else "likelihood-ratio"
    check_kind(method, str, "method")
    name = ALIASES.get(method, method)
    if name not in METHODS:
        raise ParameterError(f"method: must be one of default, {', '.join([*METHODS, *ALIASES])}, got {method!r}")
    return name


MOST_TRUTHS = 32
"""Largest number of answers for which `profile_intervals` are computed: their time grows steeply."""


def without_binomial(name: str, design: Design) -> str:
    """The method for a design whose shares are not behind one binomial count: the likelihood ratio, or normal by name.

    >>> from deniable import Geometric
    >>> from deniable_statistics.designs.of_mechanisms import design_of
    >>> scale = design_of(Geometric.from_epsilon(1, 5, 2))
    >>> [without_binomial(name, scale) for name in ("feldman-cousins", "agresti-coull", "wald")]
    ['likelihood-ratio', 'agresti-coull', 'wald']
    """
    if name in ("agresti-coull", "wald"):
        return name
    return "likelihood-ratio" if design.channels and len(design.truths) <= MOST_TRUTHS else "agresti-coull"


def share_interval(
    count: float, n: float, support: tuple[float, float], confidence_level: float = 0.95, method: str = "default"
) -> Interval:
    """A confidence interval for the share of people with whom an option is the truth.

    Parameters
    ----------
    count, n : float
        Reports that support the option, and all reports. Real numbers for weighted data: the weighted share of
        supporting reports times Kish's effective ``n``, and that ``n``. Methods that add up atoms
        (``feldman-cousins``, ``blaker``) round ``n`` and keep the share, the others are continuous in both.
    support : tuple of two floats
        ``a`` and ``b``: probability that a report supports the option if it is the truth, and if another one is.
    confidence_level : float
        Above 0 and below 1.
    method : str
        ``default`` or a name in `METHODS`.

    Returns
    -------
    Interval
        Within [0, 1]. Without reports all of it.

    Raises
    ------
    ParameterError
        If the count is not in ``[0, n]``, the support makes no range, or the level or the method is not known.

    Notes
    -----
    The count is binomial with ``lam = b + (a - b) share``, so an interval for ``lam`` maps to one for the share with
    the same coverage. The default knows that ``lam`` is between ``a`` and ``b``. Other methods do not, and are cut: if
    the count contradicts the design they can be a single point, and far too short before that.

    Examples
    --------
    Two fair coins, 600 of 2000 say yes: 2 (600/2000 - 1/4) = 0.1.

    >>> [round(end, 4) for end in share_interval(600, 2000, (0.75, 0.25))]
    [0.0602, 0.1408]
    """
    return share_intervals([(count, n, support)], confidence_level, method)[0]


def share_intervals(
    counted: Sequence[tuple[float, float, tuple[float, float]]], confidence_level: float = 0.95, method: str = "default"
) -> list[Interval]:
    """`share_interval` of each of several options, from their counts, numbers of reports and supports.

    It takes less time for the options of a question than an interval at a time.

    Raises
    ------
    ParameterError
        As `share_interval`.

    Examples
    --------
    >>> [round(low, 4) for low, _ in share_intervals([(600, 2000, (0.75, 0.25)), (1400, 2000, (0.75, 0.25))])]
    [0.0602, 0.8592]
    """
    checked = [check_count(*each) for each in counted]
    check_confidence_level(confidence_level)
    names = [resolve_method(method, n) for _, n, *_ in checked]
    found = [Interval(0.0, 1.0)] * len(checked)
    for name in dict.fromkeys(names):
        places = [place for place, (_, n, *_) in enumerate(checked) if names[place] == name and n > 0]
        ends = _ends(name, [checked[place] for place in places], confidence_level)
        for place, each in zip(places, ends, strict=True):
            # Cut last: what is added to or taken from limits elsewhere starts from those that are not cut.
            found[place] = each.debiased(*map(float, counted[place][2])).cut()
    return found


def _ends(name: str, checked: Sequence[Checked], confidence_level: float) -> list[Interval]:
    """The limits of each binomial probability."""
    counts, sizes = [each[0] for each in checked], [each[1] for each in checked]
    if name == "feldman-cousins":
        return feldman_cousins_of_each(counts, sizes, confidence_level, [each[2:] for each in checked])
    if name == "likelihood-ratio":
        return [likelihood_ratio_interval(count, n, confidence_level, *ends) for count, n, *ends in checked]
    return _BINOMIAL[name](counts, sizes, confidence_level)


Checked = tuple[float, float, float, float]
"""A count, the number of reports, and the range of the probability."""


def check_count(count: float, n: float, support: tuple[float, float]) -> Checked:
    """``count`` and ``n`` as floats, and the support's two probabilities in order.

    Raises
    ------
    ParameterError
        If ``n`` is not finite, the count is not in ``[0, n]``, or the support makes no range.
    """
    for subject, number in (("count", count), ("n", n)):
        check_kind(number, Real, subject)
    if not isinstance(support, Collection) or [isinstance(end, Real) for end in support] != [True, True]:
        raise ParameterError(f"support: must be two different probabilities, got {describe(support)}")
    count, n = float(count), float(n)
    low, high = sorted(map(float, support))
    if not 0 <= low < high <= 1:
        raise ParameterError(f"support: must be two different probabilities, got {low:g} and {high:g}")
    if not n < math.inf:
        raise ParameterError(f"n: must be finite, got {n:g}")
    if not 0 <= count <= n * (1 + 1e-9):  # weights add up to n in floating point only
        raise ParameterError(f"count: must be in [0, n = {n:g}], got {count:g}")
    return min(count, n), n, low, high
