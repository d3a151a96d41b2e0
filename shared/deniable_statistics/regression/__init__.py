"""Likelihoods of answers that were randomised, their maxima, and what fits say of themselves.

Formulas and tables, and all public names, are in `deniable_research.regression`.
"""
