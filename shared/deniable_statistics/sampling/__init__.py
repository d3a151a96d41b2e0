"""Samples that were not drawn person by person with equal chances: weights, strata, clusters, finite populations.

* `SamplingDesign` says how people were drawn and gives linearised errors; `ReplicateDesign` takes replicate weights.
  Both give totals and means, of everybody or of domains, with their covariance and degrees of freedom.
* `Truths` says what an answer would give without the chance of the device. A finite population takes away the error of
  who was drawn, and none of that.
* The method `calibrated` of both fits weights to a `Margin`, which is poststratification, or to several, raking.
* `Sample` is whom an analysis is about, and all that it asks of how they were drawn: a `SimpleSample` of people drawn
  one by one, or a `Domain` of a complex sample.
* `rao_scott` corrects a chi-squared statistic for the design.
"""

from deniable.errors import needing

with needing("statistics"):
    from deniable_statistics.sampling.calibration import Calibration, Margin, fitted_weights
    from deniable_statistics.sampling.domain import Domain, Sampling
    from deniable_statistics.sampling.estimates import SampleEstimate, effective_number, t_quantile, t_two_sided
    from deniable_statistics.sampling.noise import Truths
    from deniable_statistics.sampling.rao_scott import FTest, rao_scott, wald_f
    from deniable_statistics.sampling.replicates import METHODS, ReplicateDesign, replicate_scales
    from deniable_statistics.sampling.sample import Sample, SimpleSample
    from deniable_statistics.sampling.sampling_design import LONELY, SamplingDesign

__all__ = [
    "LONELY",
    "METHODS",
    "Calibration",
    "Domain",
    "FTest",
    "Margin",
    "ReplicateDesign",
    "Sample",
    "SampleEstimate",
    "Sampling",
    "SamplingDesign",
    "SimpleSample",
    "Truths",
    "effective_number",
    "fitted_weights",
    "rao_scott",
    "replicate_scales",
    "t_quantile",
    "t_two_sided",
    "wald_f",
]
