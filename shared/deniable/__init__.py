"""Deniable: answers to sensitive questions that nobody but the person who gave them can know.

What respondent and collector must agree on: mechanisms, surveys, reports, estimates. Pure values and functions;
importing this loads neither numpy nor scipy.
"""

from importlib import metadata as _metadata

from deniable.authoring import read_survey
from deniable.ceiling import Ceiling, weak_protection
from deniable.errors import (
    AnswerError,
    BudgetError,
    CollectorError,
    DeniableError,
    ParameterError,
    ReportConflict,
    ReportError,
    SurveyClosed,
    SurveyError,
)
from deniable.estimation import Estimate
from deniable.intervals import Interval
from deniable.means import MeanEstimate
from deniable.mechanisms import (
    MECHANISMS,
    DiscreteLaplace,
    Exponential,
    ForcedResponse,
    Geometric,
    KAry,
    Mean,
    Mechanism,
    Subset,
    Support,
    TickBoxes,
    TwoCoin,
    Warner,
)
from deniable.odds import odds_sentences, whole_odds_sentences
from deniable.published import parse_survey
from deniable.published_rows import EstimateRow, estimate
from deniable.report import Report, parse_report
from deniable.survey import Question, Survey, address, is_address
from deniable.tally import Tally, tally_reports

try:
    __version__ = _metadata.version("deniable")
except _metadata.PackageNotFoundError:  # run from the folder, without being installed
    __version__ = "0+unknown"

__all__ = [
    "MECHANISMS",
    "AnswerError",
    "BudgetError",
    "Ceiling",
    "CollectorError",
    "DeniableError",
    "DiscreteLaplace",
    "Estimate",
    "EstimateRow",
    "Exponential",
    "ForcedResponse",
    "Geometric",
    "Interval",
    "KAry",
    "Mean",
    "MeanEstimate",
    "Mechanism",
    "ParameterError",
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
    "Warner",
    "address",
    "estimate",
    "is_address",
    "odds_sentences",
    "parse_report",
    "parse_survey",
    "read_survey",
    "tally_reports",
    "weak_protection",
    "whole_odds_sentences",
]
