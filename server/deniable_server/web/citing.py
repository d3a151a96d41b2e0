"""How a release is cited, and what it says of itself to machines: JSON-LD, BibTeX, CFF, and a paragraph of methods."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from markupsafe import Markup

from deniable import Survey
from deniable.access.words import ONE_REPORT
from deniable_server.language import steady
from deniable_server.results.releases import Shown

LICENSE_NOTE = "The replies hold chance, by which no answer of a person can be known for certain."


@dataclass(frozen=True)
class Citation:
    """The texts that cite a release.

    Attributes
    ----------
    survey : Survey
    shown : Shown
        What is cited.
    base : str
        Address of the collector.
    closed_on : str or None
        The day on which the survey was closed by hand.
    """

    survey: Survey
    shown: Shown
    base: str
    closed_on: str | None = None

    @property
    def author(self) -> str:
        """Who asked, or the title where nobody is named."""
        return steady(self.survey.organiser or self.survey.title)

    @property
    def number(self) -> int | None:
        """The number of the release, where it has one."""
        return self.shown.record.number if self.shown.record else None

    @property
    def url(self) -> str:
        """The address of the release, which stays."""
        query = f"?release={self.number}" if self.number else ""
        return f"{self.base}/s/{self.survey.id}/results{query}"

    @property
    def date(self) -> str | None:
        """The day of the release."""
        return self.shown.record.released_on.isoformat() if self.shown.record else None

    @property
    def text(self) -> str:
        """A reference in one line."""
        year = f" ({self.date[:4]})" if self.date else ""
        release = f" Release {self.number} of {self.date}." if self.number else ""
        what = f"{steady(self.survey.title)}. Survey {self.survey.id}, randomised response."
        return f"{self.author}{year}. {what}{release} {self.url}"

    @property
    def bibtex(self) -> str:
        """An entry of BibTeX."""
        lines = [
            f"  author = {{{{{_tex(self.author)}}}}}",
            f"  title = {{{_tex(steady(self.survey.title))}}}",
            *([f"  year = {{{self.date[:4]}}}", f"  date = {{{self.date}}}"] if self.date else []),
            *([f"  version = {{{self.number}}}"] if self.number else []),
            f"  note = {{Survey {self.survey.id}, randomised response}}",
            f"  url = {{{self.url}}}",
        ]
        return f"@misc{{deniable-{self.survey.id},\n" + ",\n".join(lines) + "\n}\n"

    @property
    def cff(self) -> str:
        """A ``CITATION.cff`` of the release."""
        # JSON texts are YAML texts, so nothing of a title can end one.
        fields = {
            "cff-version": "1.2.0",
            "message": "If you use these data, please cite them as below.",
            "type": "dataset",
            "title": steady(self.survey.title),
            "authors": [{"name": self.author}],
            "identifiers": [{"type": "other", "value": self.survey.id, "description": "address of the survey"}],
            "url": self.url,
            **({"version": str(self.number), "date-released": self.date} if self.number else {}),
        }
        return "".join(f"{name}: {json.dumps(value, ensure_ascii=False)}\n" for name, value in fields.items())

    @property
    def methods(self) -> str:
        """A paragraph for the methods section of a paper, with everything that the collector knows."""
        survey, n = self.survey, self.shown.n
        used = sorted({f"{each.mechanism.name} (epsilon {each.epsilon:.4g})" for each in survey.questions})
        dates = " to ".join(str(day) for day in (survey.opens, self.closed_on or survey.closes) if day)
        when = f" Replies were collected {'from ' if ' to ' in dates else 'since '}{dates} (UTC)." if dates else ""
        drawn = "".join(
            f" Each device asked {group.draw} of {group.size} questions, drawn by chance."
            for group in dict.fromkeys(each.group for each in survey.questions if each.group and each.group.is_drawn)
        )
        questions = f"{len(survey.questions)} question{'s' if len(survey.questions) > 1 else ''}"
        return (
            f"Answers to {questions} were randomised on each respondent's device before they were sent (randomised "
            f"response, local differential privacy), with {', '.join(used)}; all replies of one person together have "
            f"epsilon {survey.epsilon:.4g}.{drawn}{when} Access was {survey.access} ({ONE_REPORT[survey.access]}). "
            f"{n} replies were counted. Shares were estimated without bias from the published mechanisms, and are "
            "reported as the most likely possible values with 95 % confidence intervals for the population. Survey, "
            f"replies and estimates are at {self.url}; the address of the survey, {survey.id}, is the hash of its "
            "questions and mechanisms."
        )

    @property
    def json_ld(self) -> Markup:
        """The description of the data set by schema.org, for a data block of a page."""
        survey, api = self.survey, f"{self.base}/api/v1/surveys/{self.survey.id}"
        document: dict[str, Any] = {
            "@context": "https://schema.org/",
            "@type": "Dataset",
            "name": str(survey.title),
            "description": str(
                survey.about or f"Answers to {len(survey.questions)} questions, by randomised response. {LICENSE_NOTE}"
            ),
            "identifier": survey.id,
            "url": self.url,
            "isAccessibleForFree": survey.readers == "public",
            "measurementTechnique": "randomised response (local differential privacy)",
            "variableMeasured": [
                {"@type": "PropertyValue", "name": each.id, "description": str(each.text)} for each in survey.questions
            ],
            "distribution": [
                {"@type": "DataDownload", "encodingFormat": kind, "contentUrl": f"{api}/{name}"}
                for kind, name in (
                    ("text/csv", "estimates.csv"),
                    ("application/json", "estimates.json"),
                    ("text/csv", "reports.csv"),
                    ("application/zip", "archive.zip"),
                )
            ],
        }
        if survey.organiser:
            document["creator"] = {"@type": "Organization", "name": str(survey.organiser)}
        if self.number:
            document |= {"version": self.number, "dateModified": self.date}
        if survey.opens and survey.closes:
            document["temporalCoverage"] = f"{survey.opens}/{survey.closes}"
        text = json.dumps(document, ensure_ascii=True)
        # "</script>" within a text must not end the block: < and > are written as JSON escapes.
        return Markup(text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026"))  # noqa: S704


_TEX = str.maketrans(
    {"\\": r"\textbackslash{}"} | {each: f"\\{each}" for each in "{}&%$#_"} | {"~": r"\textasciitilde{}", "^": r"\^{}"}
)


def _tex(text: str) -> str:
    """A text for BibTeX, whose special characters are escaped."""
    return text.translate(_TEX)
