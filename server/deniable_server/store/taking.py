"""The verdicts on reports before they are stored: known, in conflict, refused, or new."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from operator import itemgetter

from deniable import Report
from deniable_server.store.invitations import Rights
from deniable_server.store.tables import Row
from deniable_server.store.verdict import Verdict


def sort_out(
    reports: Sequence[Report], rows: Sequence[Row], known: Mapping[object, Row], rights: Rights
) -> tuple[list[Row], list[Verdict]]:
    """The rows to store, in the order of their ids, and the verdict on each report.

    Parameters
    ----------
    reports : sequence of Report
        Reports of one survey.
    rows : sequence of Row
        These reports as table rows.
    known : mapping from id to Row
        The stored rows with their ids: whole, or the id alone.
    rights : Rights
        Decides whether a new report counts.
    """
    met = dict(known)
    new: list[Row] = []
    outcomes: list[Verdict] = []
    for report, row in zip(reports, rows, strict=True):
        before = met.get(report.id)
        if before is not None:  # where no more than the id was kept, nothing can conflict with it
            # Before its invitation is looked at: a sender whose id is taken learns nothing about invitations.
            outcomes.append(Verdict.KNOWN if row[: len(before)] == before else Verdict.CONFLICT)
        elif refusal := rights.refusal_of(report):
            outcomes.append(refusal)
        else:
            # A report that comes twice in one transaction meets itself.
            met[report.id] = row
            new.append(row)
            outcomes.append(Verdict.STORED)
    return sorted(new, key=itemgetter(0)), outcomes
