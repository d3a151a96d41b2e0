"""The files about a survey that an archive has beside its data: a codebook, and scripts of four programs."""

from __future__ import annotations

from collections.abc import Iterator

from deniable.survey.document import Survey
from deniable_statistics.archive.codebook import SurveyCodebook
from deniable_statistics.archive.ddi import to_ddi
from deniable_statistics.archive.python_script import python_script
from deniable_statistics.archive.r_script import r_script
from deniable_statistics.archive.spss_script import spss_script
from deniable_statistics.archive.stata_script import stata_script

SCRIPTS = {".R": r_script, ".do": stata_script, ".sps": spss_script, ".py": python_script}
"""Scripts by their suffixes: functions of a survey and the name of the CSV of its reports."""


def files_about(survey: Survey) -> Iterator[tuple[str, bytes]]:
    """The codebook as DDI, and scripts that compute the estimates from ``reports.csv``, by the names of their files."""
    yield "codebook.xml", to_ddi(SurveyCodebook.of_survey(survey))
    if survey.retention == "reports":
        for suffix, script in SCRIPTS.items():
            yield f"estimates{suffix}", script(survey, "reports.csv").encode()
