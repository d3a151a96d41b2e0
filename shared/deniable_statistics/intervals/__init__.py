"""Confidence intervals for shares behind randomised reports.

Most methods start from one binomial count: ``C ~ Bin(n, lam)`` reports support an option, ``lam = b + (a - b) share``.

* `share_interval` gives the interval of a share by the name of its method; `METHODS` lists them.
* `binomial` holds the methods for ``lam`` on its own scale, `restricted` those that know its range.
* `profile` has the intervals of shares and means behind several counts, with the tail probabilities of `sums`.
* `t_quantile` and `t_two_sided` stand for those of the normal distribution where degrees of freedom are few.
* `contaminated_interval` is the interval of a share if some of the reports are fake.
* `consistency` says whether the count fits the design at all.
"""

from deniable.errors import needing

with needing("statistics"):
    from deniable_statistics.intervals.binomial import (
        agresti_coull,
        clopper_pearson,
        jeffreys,
        midp,
        normal_intervals,
        wald,
        wilson,
    )
    from deniable_statistics.intervals.blaker import blaker
    from deniable_statistics.intervals.consistency import Consistency, consistencies, consistency
    from deniable_statistics.intervals.contaminated import contaminated_interval
    from deniable_statistics.intervals.interval import (
        Interval,
        check_confidence_level,
        level_of_each,
        normal_quantile,
        two_sided,
    )
    from deniable_statistics.intervals.methods import (
        ALIASES,
        METHODS,
        resolve_method,
        share_interval,
        share_intervals,
        without_binomial,
    )
    from deniable_statistics.intervals.restricted import feldman_cousins, likelihood_ratio_interval
    from deniable_statistics.intervals.student import t_quantile, t_two_sided

__all__ = [
    "ALIASES",
    "METHODS",
    "Consistency",
    "Interval",
    "agresti_coull",
    "blaker",
    "check_confidence_level",
    "clopper_pearson",
    "consistencies",
    "consistency",
    "contaminated_interval",
    "feldman_cousins",
    "jeffreys",
    "level_of_each",
    "likelihood_ratio_interval",
    "midp",
    "normal_intervals",
    "normal_quantile",
    "resolve_method",
    "share_interval",
    "share_intervals",
    "t_quantile",
    "t_two_sided",
    "two_sided",
    "wald",
    "wilson",
    "without_binomial",
]
