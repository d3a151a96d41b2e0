"""Planning: how many people, how wide an interval, how small a difference; and what privacy costs.

* `NoiseModel` is how one share is asked for: the noise of one option of a question. `NoiseModel.directly()` has none.
* `Precision` is what follows for one estimated share or mean: half widths, sample sizes, break-even bias, and what a
  trusted curator could do. `mean_precision` makes it for means; `NoiseModel.expected_width` looks at the very intervals
  to come.
* `ShareTest` tests a share against a known one or between two cohorts: its power, the people that it takes, and the
  smallest difference that it finds; `detectable_mean_difference` is that of means.
* `SizePlan`, `WidthPlan`, `PowerPlan` and `SplitPlan`, several questions with one epsilon, are what ``deniable plan``
  prints.

Nothing here has a random draw: variances are formulas, and powers and widths normal or exact binomial sums.
"""

from deniable_research.planning.noise_model import NoiseModel
from deniable_research.planning.plans import PowerPlan, SizePlan, SplitPlan, WidthPlan
from deniable_research.planning.precision import Precision, mean_precision
from deniable_research.planning.testing import ShareTest, detectable_mean_difference

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
