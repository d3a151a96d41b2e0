"""Simulation of surveys before anybody is asked: bias, coverage and power, also if some people misbehave.

`Simulation.run` repeats a survey many times through its own mechanisms and estimator; a large survey is drawn as counts
of reports, in the same distribution. `Simulation.draw` draws the reports of one survey, `reports_csv` writes them as a
collector does, and `write_rows` writes the reports of many people as Parquet.
"""

from deniable.errors import needing

with needing("research"):
    from deniable_research.simulation.draw import DrawnCohort, generator_of, reports_csv, words_of
    from deniable_research.simulation.parquet_reports import write_rows
    from deniable_research.simulation.repeated_figures import SimulationRow
    from deniable_research.simulation.simulated_misbehaviour import Misbehaviour
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
