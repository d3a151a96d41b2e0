"""Regression with randomised answers: coefficients of the truth, from the reports.

The outcome may be a yes-no answer (`logistic`), a choice (`multinomial`) or a number (`linear`, `linear_moments`). What
is randomised may be the outcome, what explains it, or both. Everything here reads reports that were sent already, so it
costs no privacy. A result says what it could not find out: no maximum, several maxima, a share at the end of its range.
"""

from deniable.errors import needing

with needing("research"):
    from deniable_research.regression.averaging import Average, Averages, Setting
    from deniable_research.regression.comparison import LikelihoodRatioTest, is_within, likelihood_ratio_test, refitted
    from deniable_research.regression.models import (
        FitOptions,
        RowOptions,
        linear,
        linear_moments,
        logistic,
        multinomial,
    )
    from deniable_research.regression.shares import ClassShares, class_shares
    from deniable_statistics.regression.fit import Fit
    from deniable_statistics.regression.goodness import GoodnessOfFit, goodness_of_fit
    from deniable_statistics.regression.likelihood import Prediction
    from deniable_statistics.regression.moments import MomentFit
    from deniable_statistics.regression.report_likelihood import Grouped, grouped, response_models
    from deniable_statistics.regression.shared_response import SharedResponse
    from deniable_statistics.regression.tidy import Glance, TidyRow

__all__ = [
    "Average",
    "Averages",
    "ClassShares",
    "Fit",
    "FitOptions",
    "Glance",
    "GoodnessOfFit",
    "Grouped",
    "LikelihoodRatioTest",
    "MomentFit",
    "Prediction",
    "RowOptions",
    "Setting",
    "SharedResponse",
    "TidyRow",
    "class_shares",
    "goodness_of_fit",
    "grouped",
    "is_within",
    "likelihood_ratio_test",
    "linear",
    "linear_moments",
    "logistic",
    "multinomial",
    "refitted",
    "response_models",
]
