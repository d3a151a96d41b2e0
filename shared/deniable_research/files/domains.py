"""Domains of a sample: the people of a file whom an analysis is about, among all who were drawn."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from deniable.wire.space import DrawnBits
from deniable_research.files.layout import Layout
from deniable_research.files.report_table import Table
from deniable_statistics.sampling import Domain, Sample


def sample_of(table: Table, people: NDArray[np.bool_], names: Sequence[str] = ()) -> Sample:
    """The sample of some of the people of a file, who answered these questions or boxes."""
    if table.sampling is None:
        return table.everybody.where(people)
    # A domain keeps all who were drawn: how many of its people each cluster has is random, and part of the error.
    return Domain(table.sampling, people, chance_asked(table.layout, names))


def domain_of(table: Table, people: NDArray[np.bool_], names: Sequence[str] = ()) -> Domain | None:
    """The domain of `sample_of` under a sampling design, for models that take weights apart from it; otherwise None."""
    found = sample_of(table, people, names)
    return found if isinstance(found, Domain) else None


def chance_asked(layout: Layout, names: Sequence[str]) -> float:
    """The chance that a device asks all of these questions, or boxes of one.

    Of the questions of a group that draws ``s`` of ``k``, ``m`` are asked together with the chance
    ``s (s - 1) ... / (k (k - 1) ...)``, and so are boxes that are drawn.
    """
    drawn: dict[object, tuple[int, int, set[str]]] = {}
    for name in names:
        if name in layout.mixed or not layout.has(name):
            continue
        whole, option = layout.whole(name)
        reports = whole.design.reports
        if whole.drawn is not None:
            key: tuple[object, int, int, str] = (whole.drawn, whole.drawn.draw, whole.drawn.size, whole.name)
        elif isinstance(reports, DrawnBits) and option is not None:
            key = (whole.name, reports.drawn, reports.k, option)
        else:
            continue
        drawn.setdefault(key[0], (key[1], key[2], set()))[2].add(key[3])
    chance = 1.0
    for draw, size, asked in drawn.values():
        for place in range(len(asked)):
            # Drawn without replacement: each of them leaves one place and one question less.
            chance *= (draw - place) / (size - place)
    return chance
