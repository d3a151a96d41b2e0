"""Planning: how many people, how wide an interval, how small a difference; and what privacy costs.

* `NoiseModel` is how one share is asked for: the noise of one option of a question. `NoiseModel.directly()` has none.
* `Precision` is what follows for one estimated share or mean: half widths, sample sizes, break-even bias, and what a
  trusted curator could do. `mean_precision` makes it for means, `expected_width` for the very intervals to come.
* `power`, `sample_size_for_power` and `detectable_share` test against a known share; `cohort_power`, `cohort_sizes` and
  `detectable_difference` between two cohorts.
* `split` compares splitting an epsilon over several questions with asking one of them at random.
* `deniable_research.planning.plans` puts it together for ``deniable plan``.

Nothing here has a random draw: variances are formulas, and powers and widths normal or exact binomial sums. Only the
exact ones need scipy.
"""

from deniable_research.planning.cohorts import (
    cohort_power,
    cohort_sizes,
    detectable_difference,
    detectable_mean_difference,
)
from deniable_research.planning.known_share import detectable_share, power, sample_size_for_power
from deniable_research.planning.means import mean_precision
from deniable_research.planning.noise_model import NoiseModel
from deniable_research.planning.precision import Precision
from deniable_research.planning.splitting import Split, split
from deniable_research.planning.widths import expected_width

__all__ = [
    "NoiseModel",
    "Precision",
    "Split",
    "cohort_power",
    "cohort_sizes",
    "detectable_difference",
    "detectable_mean_difference",
    "detectable_share",
    "expected_width",
    "mean_precision",
    "power",
    "sample_size_for_power",
    "split",
]
