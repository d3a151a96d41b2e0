"""What becomes of reports that come in, whatever keeps them: known, in conflict, refused, or new."""

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
    """The rows that are to be stored, in the order of their ids, and what becomes of each report.

    Parameters
    ----------
    reports : sequence of Report
        Of one survey.
    rows : sequence of Row
        The same reports as tables hold them.
    known : mapping from id to Row
        What is stored under their ids: a whole row, or no more than the id.
    rights : Rights
        Whether a new report counts.
    """
    met = dict(known)
    new: list[Row] = []
    outcomes: list[Verdict] = []
    for report, row in zip(reports, rows, strict=True):
        before = met.get(report.id)
        if before is not None:  # where no more than the id was kept, nothing can conflict with it
            # Before its invitation is looked at: who asks with an id that is taken learns nothing about invitations.
            outcomes.append(Verdict.KNOWN if row[: len(before)] == before else Verdict.CONFLICT)
        elif refusal := rights.refusal_of(report):
            outcomes.append(refusal)
        else:
            met[report.id] = row
            new.append(row)
            outcomes.append(Verdict.STORED)
    return sorted(new, key=itemgetter(0)), outcomes
