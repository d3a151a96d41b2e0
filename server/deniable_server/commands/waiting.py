"""What commands say of reports that results do not show yet; apart from ``estimate``, which needs the extra server."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def not_shown(result: Mapping[str, Any]) -> str | None:
    """A sentence on the reports that estimates do not count yet, or that there may be some; None if there are none.

    >>> not_shown({"more": "others may have come", "waiting": [{"cohort": None, "n": 3}, {"cohort": "web", "n": 180}]})
    '183 reports wait for a release: 3 without a cohort, 180 of web'
    >>> not_shown({"more": "others may have come", "waiting": None}), not_shown({})
    ('others may have come', None)
    """
    waiting = result.get("waiting")
    if not waiting:
        return result.get("more")
    n = sum(each["n"] for each in waiting)
    of = [f"{each['n']} of {each['cohort']}" if each["cohort"] else f"{each['n']} without a cohort" for each in waiting]
    has_cohorts = any(each["cohort"] for each in waiting)
    by_cohort = f": {', '.join(of)}" if has_cohorts else ""
    return f"{n} report{' waits' if n == 1 else 's wait'} for a release{by_cohort}"
