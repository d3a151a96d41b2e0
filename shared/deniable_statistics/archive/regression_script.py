"""The file for R that fits regressions to the reports of any survey, with the survey's codebook."""

from __future__ import annotations

from importlib.resources import files

REGRESSION = "regression.R"
"""Its name, wherever it is written."""


def regression_script() -> bytes:
    """Its content, which is the same for every survey."""
    return files(__package__).joinpath(REGRESSION).read_bytes()
