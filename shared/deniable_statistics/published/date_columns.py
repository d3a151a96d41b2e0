"""The columns and keys that say when a survey took replies, and of which day the results in a file are."""

from __future__ import annotations

DATE_LABELS = {
    "first_day": "First day on which the survey took replies (UTC)",
    "last_day": "Last day on which it took replies or will take them (UTC); empty where it has none yet",
    "as_of": "Day of the release, or of the download where results are live (UTC)",
}
"""Labels of the last columns of files of results."""
