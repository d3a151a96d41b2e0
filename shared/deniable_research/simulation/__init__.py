"""Simulating surveys before anybody is asked: bias, coverage and power, with people who do not do as they are told.

`Simulation.run` repeats a survey many times through its real mechanisms and estimator, of many people by what is
counted alone. `Simulation.draw` gives the reports of one such survey, `reports_csv` writes them as a collector does,
and `write_rows` writes those of many people as Parquet.
"""

from deniable_research.simulation.draw import DrawnCohort, generator_of, reports_csv, words_of
from deniable_research.simulation.figures import SimulationRow
from deniable_research.simulation.misbehaviour import Misbehaviour
from deniable_research.simulation.parquet_reports import write_rows
from deniable_research.simulation.simulation import DEFAULT_SEED, Simulation
from deniable_research.simulation.truth import Truth, read_truth, truth_of

__all__ = [
    "DEFAULT_SEED",
    "DrawnCohort",
    "Misbehaviour",
    "Simulation",
    "SimulationRow",
    "Truth",
    "generator_of",
    "read_truth",
    "reports_csv",
    "truth_of",
    "words_of",
    "write_rows",
]
