"""Reports as one object of Python: ``deniable_research.read(...)``, then shares, comparisons, crosstabs, models.

Everything is computed by `deniable_research.files`, which the command line uses too; here it gets a face for notebooks.
"""

from deniable_research.results.read_results import read
from deniable_research.results.results import Results
from deniable_research.results.shown import Chart, Regression, Result

__all__ = ["Chart", "Regression", "Result", "Results", "read"]
