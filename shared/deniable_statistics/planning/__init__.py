"""Planning: how many people, how wide an interval, how small a difference; and what privacy costs.

* `NoiseModel` is the noise of one option of a question; `NoiseModel.directly()` has none.
* `Precision` has the half widths, sample sizes and break-even bias of one estimated share or mean, and the precision of
  a trusted curator. `mean_precision` makes it for means; `NoiseModel.expected_width` is the expected width of the
  interval that will be published.
* `ShareTest` is a test of a share against a known one or between two cohorts: its power, its sample size, and the
  smallest difference that it detects. `detectable_mean_difference` is the smallest difference between means.
* `SizePlan`, `WidthPlan`, `PowerPlan` and `SplitPlan` are what ``deniable plan`` prints; `SplitPlan` is for several
  questions with one epsilon.

Nothing here is drawn at random: variances are formulas, and powers and widths are normal approximations or exact
binomial sums.
"""

from deniable.errors import needing

with needing("statistics"):
    from deniable_statistics.planning.noise_model import NoiseModel
    from deniable_statistics.planning.plans import PowerPlan, SizePlan, SplitPlan, WidthPlan
    from deniable_statistics.planning.precision import Precision, mean_precision
    from deniable_statistics.planning.testing import ShareTest, detectable_mean_difference

__all__ = [
    "NoiseModel",
    "PowerPlan",
    "Precision",
    "ShareTest",
    "SizePlan",
    "SplitPlan",
    "WidthPlan",
    "detectable_mean_difference",
    "mean_precision",
]
