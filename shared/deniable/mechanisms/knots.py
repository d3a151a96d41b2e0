"""Answers between which rows of weights are linear."""

MOST_KNOTS = 11
"""Largest number of knots of a piecewise mechanism."""

MOST_REPORTS = 15
"""Largest number of reports of a piecewise mechanism."""
