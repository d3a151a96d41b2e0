"""The files about a survey that an archive has beside its data: codebooks, and scripts of four programs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from deniable.survey.document import Survey
from deniable_statistics.archive.codebook import SurveyCodebook
from deniable_statistics.archive.codebook_markdown import to_markdown
from deniable_statistics.archive.ddi import to_ddi
from deniable_statistics.archive.python_script import python_script
from deniable_statistics.archive.r_script import r_script
from deniable_statistics.archive.regression_script import REGRESSION, regression_script
from deniable_statistics.archive.spss_script import spss_script
from deniable_statistics.archive.stata_script import stata_script

SCRIPTS = {".R": r_script, ".do": stata_script, ".sps": spss_script, ".py": python_script}
"""Scripts by their suffixes: functions of a survey and the name of the CSV of its reports."""


def files_about(survey: Survey, title: str | None = None) -> Iterator[tuple[str, bytes]]:
    """The codebook as Markdown and DDI, and scripts for ``reports.csv``, by the names of their files.

    Where no reports are kept there are no scripts. `title` stands in the codebook in place of the survey's, because a
    codebook travels alone: where a program sent the replies, it says so.
    """
    codebook = SurveyCodebook.of_survey(survey)
    if title is not None:
        codebook = replace(codebook, title=title)
    yield "codebook.md", to_markdown(codebook).encode()
    yield "codebook.xml", to_ddi(codebook)
    if survey.retention == "reports":
        for suffix, script in SCRIPTS.items():
            yield f"estimates{suffix}", script(survey, "reports.csv").encode()
        yield REGRESSION, regression_script()
