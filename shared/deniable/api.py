"""The public names of `deniable`, which is where to import them from: it loads this when somebody asks for one.

What `deniable_statistics` brings is loaded when that very name is asked for, so that a device loads none of it.
"""

import importlib
import typing

from deniable.errors import (
    AnswerError,
    BudgetError,
    CollectorError,
    DeniableError,
    NotInvited,
    ParameterError,
    ReportConflict,
    ReportError,
    SurveyClosed,
    SurveyError,
)
from deniable.errors import needing as _needing
from deniable.mechanisms import (
    MECHANISMS,
    DiscreteLaplace,
    DrawnBoxes,
    Exponential,
    FilteredPiecewise,
    ForcedResponse,
    Geometric,
    KAry,
    Longitudinal,
    Mechanism,
    OneBitMean,
    Piecewise,
    Subset,
    Support,
    TickBoxes,
    TwoCoin,
    UnequalKAry,
    Warner,
)
from deniable.privacy.ceiling import Ceiling
from deniable.privacy.odds import odds_sentences, whole_odds_sentences
from deniable.report.field import field_value
from deniable.report.report import Report, parse_report
from deniable.survey.document import Survey, address, is_address
from deniable.survey.published import parse_survey
from deniable.survey.question import Question

if typing.TYPE_CHECKING:
    from deniable_statistics.authoring.authoring import read_survey
    from deniable_statistics.authoring.cautions import weak_protection
    from deniable_statistics.authoring.selection import choose
    from deniable_statistics.estimates.estimate import Estimate
    from deniable_statistics.estimates.means import MeanEstimate
    from deniable_statistics.estimates.tally import Tally, count_reports, tally_reports
    from deniable_statistics.intervals import Interval
    from deniable_statistics.published.published_rows import EstimateRow, estimate

__all__ = [
    "MECHANISMS",
    "AnswerError",
    "BudgetError",
    "Ceiling",
    "CollectorError",
    "DeniableError",
    "DiscreteLaplace",
    "DrawnBoxes",
    "Estimate",
    "EstimateRow",
    "Exponential",
    "FilteredPiecewise",
    "ForcedResponse",
    "Geometric",
    "Interval",
    "KAry",
    "Longitudinal",
    "MeanEstimate",
    "Mechanism",
    "NotInvited",
    "OneBitMean",
    "ParameterError",
    "Piecewise",
    "Question",
    "Report",
    "ReportConflict",
    "ReportError",
    "Subset",
    "Support",
    "Survey",
    "SurveyClosed",
    "SurveyError",
    "Tally",
    "TickBoxes",
    "TwoCoin",
    "UnequalKAry",
    "Warner",
    "address",
    "choose",
    "count_reports",
    "estimate",
    "field_value",
    "is_address",
    "odds_sentences",
    "parse_report",
    "parse_survey",
    "read_survey",
    "tally_reports",
    "weak_protection",
    "whole_odds_sentences",
]

_BROUGHT = {
    "Estimate": "deniable_statistics.estimates.estimate",
    "EstimateRow": "deniable_statistics.published.published_rows",
    "Interval": "deniable_statistics.intervals",
    "MeanEstimate": "deniable_statistics.estimates.means",
    "Tally": "deniable_statistics.estimates.tally",
    "choose": "deniable_statistics.authoring.selection",
    "count_reports": "deniable_statistics.estimates.tally",
    "estimate": "deniable_statistics.published.published_rows",
    "read_survey": "deniable_statistics.authoring.authoring",
    "tally_reports": "deniable_statistics.estimates.tally",
    "weak_protection": "deniable_statistics.authoring.cautions",
}
"""The module of each public name that `deniable_statistics` brings."""


def __getattr__(name: str) -> object:
    # PEP 562: called only for names that the module does not have yet.
    if name not in _BROUGHT:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    with _needing("statistics"):
        return globals().setdefault(name, getattr(importlib.import_module(_BROUGHT[name]), name))
