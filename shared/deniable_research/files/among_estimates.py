"""Shares and means of a domain among the people to whom a question with a filter applies."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from deniable_research.files.domains import sample_of
from deniable_research.files.layout import RandomizedColumn
from deniable_research.files.report_table import Table
from deniable_statistics.estimates.among import AmongEstimate
from deniable_statistics.estimates.mean_among import AmongMean
from deniable_statistics.sampling import Domain
from deniable_statistics.sampling.among import AmongGroups, means_among, shares_among
from deniable_statistics.sampling.items import Item

Cohorts = Sequence[NDArray[np.bool_]]


def shares_among_of(table: Table, question: RandomizedColumn, people: Cohorts) -> AmongGroups[AmongEstimate]:
    """The shares of the options of a question in groups of people who do not overlap, among those it applies to."""
    if table.is_complex:
        return shares_among(*_answered(table, question, people))
    found = [table.estimate(question.name, each) for each in people]
    return AmongGroups(
        tuple(AmongEstimate.from_counts(question.design, each.counts, each.n, each.n_effective) for each in found)
    )


def means_among_of(table: Table, question: RandomizedColumn, people: Cohorts) -> AmongGroups[AmongMean]:
    """The means of a question in groups of people who do not overlap, among those to whom it applies."""
    levels = question.levels or ()
    if table.is_complex:
        item, domain, groups = _answered(table, question, people)
        return means_among(item, levels, domain, groups)
    found = [table.estimate(question.name, each) for each in people]
    return AmongGroups(
        tuple(AmongMean.from_counts(question.design, each.counts, levels, each.n, each.n_effective) for each in found)
    )


def _answered(
    table: Table, question: RandomizedColumn, people: Cohorts
) -> tuple[Item, Domain, list[NDArray[np.bool_]]]:
    """The reports of all who answered, their domain, and which of them are in each group."""
    answered = table.answered(question.name) & np.any(people, axis=0)
    domain = sample_of(table, answered, [question.name])
    assert isinstance(domain, Domain)
    return table.where(answered).item(question.name), domain, [each[answered] for each in people]
