"""Comparisons between cohorts of one question: who differs, by how much, and whether it goes up or down.

Respondents of different cohorts are different people, so their estimates are independent. Everything starts from
`deniable.Estimate`, plain or weighted; the cohorts may have gone through different designs.

* `difference` and `ratio` of two shares, with intervals that do not collapse where estimates leave [0, 1].
* `homogeneity` of several cohorts at once, and `pairwise` differences that hold together.
* `trend` over cohorts that are waves.
"""

from deniable.errors import needing

with needing("statistics"):
    from deniable_statistics.comparison.difference import Difference, difference
    from deniable_statistics.comparison.homogeneity import Homogeneity, homogeneity
    from deniable_statistics.comparison.pairwise import Pairwise, holm, pairwise
    from deniable_statistics.comparison.ratio import Ratio, ratio
    from deniable_statistics.comparison.trend import Trend, trend

__all__ = [
    "Difference",
    "Homogeneity",
    "Pairwise",
    "Ratio",
    "Trend",
    "difference",
    "holm",
    "homogeneity",
    "pairwise",
    "ratio",
    "trend",
]
