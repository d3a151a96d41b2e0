"""Reports as one object of Python: ``deniable_research.read(...)``, then shares, comparisons, crosstabs, models.

Everything is computed by `deniable_research.files`, which the command line uses too; here it gets a face for notebooks.
"""

from deniable.errors import needing

with needing("research"):
    from deniable_research.results.presentation import Chart, Regression, Result
    from deniable_research.results.read_results import read
    from deniable_research.results.results import Results

__all__ = ["Chart", "Regression", "Result", "Results", "read"]
