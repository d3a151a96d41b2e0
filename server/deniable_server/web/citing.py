"""How a release is cited, and what it says of itself to machines: JSON-LD, BibTeX, CFF, and a paragraph of methods."""

from __future__ import annotations

import json
import re
import textwrap
from dataclasses import dataclass, field
from typing import Any

from markupsafe import Markup

from deniable import Survey, __version__
from deniable.access.words import ONE_REPORT
from deniable_server.language import words
from deniable_server.results.field_dates import FieldDates
from deniable_server.results.plain_method import assumptions
from deniable_server.results.releases import ShownRelease
from deniable_server.results.replies import replies_to
from deniable_server.results.written import Words, author_text, counted, day, level_text
from deniable_server.web.rehearsals import Staged, mark_of
from deniable_statistics.estimates.among import METHOD as AMONG
from deniable_statistics.published.license import License
from deniable_statistics.published.mechanism_text import question_text, works_of
from deniable_statistics.published.method_names import method_name
from deniable_statistics.published.published_rows import EstimateOptions, interval_methods
from deniable_statistics.published.steady_text import steady
from deniable_statistics.published.works import INTERVALS, NGUYEN, OF_ANALYSES, Cite, Work, in_words

LICENSE_NOTE = "The replies hold chance, by which no answer of a person can be known for certain."

MOST_NAMED = 8
"""Most questions of one mechanism that the paragraph of methods names; of more it says how many they are."""

LONGEST_QUOTED = 100
"""Longest text of a question in the paragraph of methods, in characters; a longer one is cut between words."""

TARGETS = {
    "population": "a population of which the respondents are like a random sample",
    "respondents": "the respondents",
}
"""For whom intervals are, by the name of the target."""

MOST_COHORTS = 6
"""Most cohorts whose replies the paragraph of methods counts; of more it says how many they are."""


@dataclass(frozen=True)
class Citation:
    """The texts that cite a release.

    Attributes
    ----------
    survey : Survey
    shown : ShownRelease
        What is cited.
    base : str
        Address of the collector.
    dates : FieldDates
        When the survey took replies, and of which day the results are.
    staged : {"rehearsal", "demo"} or None
        Whether a program sent the replies, and for what.
    wanted : EstimateOptions
        How the numbers that are cited were estimated.
    query : str
        The same in an address, or empty where it is as by default.
    """

    survey: Survey
    shown: ShownRelease
    base: str
    dates: FieldDates
    staged: Staged | None = None
    wanted: EstimateOptions = field(default_factory=EstimateOptions)
    query: str = ""

    @property
    def title(self) -> str:
        """The title in one line; of a rehearsal or the demo with the remark that a program sent the replies."""
        return f"{mark_of(self.staged)} {_line(self.survey.title)}".lstrip()

    @property
    def author(self) -> str:
        """Who asked, or the title where nobody is named."""
        return _line(self.survey.organiser or self.survey.title)

    @property
    def number(self) -> int | None:
        """The number of the release, where it has one."""
        return self.shown.record.number if self.shown.record else None

    @property
    def url(self) -> str:
        """The address of the cited numbers, which stays where they have a release."""
        return self._address(self.query)

    def _address(self, query: str) -> str:
        options = "&".join(filter(None, (f"release={self.number}" if self.number else "", query)))
        return f"{self.base}/s/{self.survey.id}/results{f'?{options}' if options else ''}"

    @property
    def date(self) -> str:
        """The day of the release, or that of results which are live."""
        return self.dates.as_of.isoformat()

    @property
    def text(self) -> str:
        """A reference in one line, in English."""
        return self.text_in(words("en"))

    def text_in(self, language: Words) -> str:
        """A reference in one line, in the language of these words and with the texts of the survey in it."""
        survey, title = self.survey, _line(author_text(self.survey.title, language))
        values = {
            "author": _line(author_text(survey.organiser, language)) if survey.organiser else title,
            "year": self.date[:4],
            "title": title if self.staged is None else f"{language[self.staged]} {title}",
            "id": survey.id,
            "number": str(self.number),
            "n": counted(self.shown.n, language),
            "date": day(self.dates.as_of, language),
            "url": self.url,
        }
        sentence = language["rCiteRelease"] if self.number else language["rCiteLive"]
        # At once, and not by `format`: a text of the author may hold braces.
        reference = _PLACE.sub(lambda found: values[found[1]], sentence)
        return " ".join([reference, *assumptions(self.wanted, language)])

    @property
    def _supposed(self) -> str:
        """What the cited intervals allow for beside chance, as the end of a sentence."""
        said = " ".join(assumptions(self.wanted, words("en"))).rstrip(".")
        return f"; {said[0].lower()}{said[1:]}" if said else ""

    @property
    def license(self) -> License | None:
        """The licence that the survey's author states."""
        return License.of(self.survey)

    @property
    def _asked(self) -> str:
        """Who was asked, in the author's words, as the end of a sentence."""
        return f"; who was asked, in the author's words: {_line(self.survey.sample)}" if self.survey.sample else ""

    @property
    def _licensed(self) -> str:
        """The licence, as the end of a sentence."""
        return f"; licence: {self.license.cited}" if self.license else ""

    @property
    def _of_release(self) -> str:
        """The release, for styles of BibTeX that print the note and no ``version``."""
        if self.number:
            return f", release {self.number} of {self.date}"
        n = self.shown.n
        return f", {n:,} {'reply' if n == 1 else 'replies'} as on {self.date}"

    @property
    def bibtex(self) -> str:
        """An entry of BibTeX."""
        about = f"{self._of_release}{self._supposed}{self._asked}{self._licensed}"
        lines = [
            f"  author = {{{{{_tex(self.author)}}}}}",
            # Twice in braces: styles of BibTeX write a title in small letters, "hiv in berlin".
            f"  title = {{{{{_tex(self.title)}}}}}",
            f"  year = {{{self.date[:4]}}}",
            f"  date = {{{self.date}}}",
            # What is live is cited as it was on a day; the address of a release stays.
            f"  version = {{{self.number}}}" if self.number else f"  urldate = {{{self.date}}}",
            f"  note = {{Survey {self.survey.id}, randomised response{_tex(about)}}}",
            f"  url = {{{self.url}}}",
        ]
        # A paper that cites two releases has two entries.
        key = "-".join(filter(None, ("deniable", self.survey.id, f"{self.number or ''}")))
        return f"@misc{{{key},\n" + ",\n".join(lines) + "\n}\n"

    @property
    def cff(self) -> str:
        """A ``CITATION.cff`` of the release."""
        # A release has a version; of live results the day alone does not tell how many replies they are from.
        about = f"{'' if self.number else self._of_release}{self._supposed}{self._asked}"
        # JSON texts are YAML texts, so nothing of a title can end one.
        fields = {
            "cff-version": "1.2.0",
            "message": "If you use these data, please cite them as below.",
            "type": "dataset",
            "title": self.title,
            "authors": [{"name": self.author}],
            **({"abstract": f"Randomised response{about}"} if about else {}),
            "identifiers": [{"type": "other", "value": self.survey.id, "description": "address of the survey"}],
            "url": self.url,
            **self._license_of_cff,
            **({"version": str(self.number)} if self.number else {}),
            "date-released": self.date,
        }
        return "".join(f"{name}: {json.dumps(value, ensure_ascii=False)}\n" for name, value in fields.items())

    @property
    def _license_of_cff(self) -> dict[str, str]:
        """The licence in the one of two fields that may hold it; words are for neither."""
        found = self.license
        if found is None or found.address is None:
            return {}
        return {"license": found.spdx} if found.spdx else {"license-url": found.address}

    @property
    def methods(self) -> str:
        """A paragraph for the methods section of a paper, with everything that the collector knows."""
        return f"{self._methods(in_words)} References: {'; '.join(work.text for work in self._works)}."

    def _methods(self, cite: Cite) -> str:
        """The paragraph without its list of references."""
        survey = self.survey
        drawn = "".join(
            f" Each device asked {group.draw} of {group.size} questions, drawn by chance {cite([NGUYEN])}."
            for group in dict.fromkeys(each.group for each in survey.questions if each.group and each.group.is_drawn)
        )
        released = f" (release {self.number})" if self.number else ""
        # Quoted, because nobody but the author knows whether it is so.
        asked = (
            f" Who was asked, in the words of the survey's author: \u201c{_line(survey.sample)}\u201d."
            if survey.sample
            else ""
        )
        named = f"of the survey \u201c{_line(survey.title)}\u201d"
        answers, sent = f"Answers to the {len(survey.questions)} questions {named} were", "they were"
        if self._is_one:
            answers, sent = f"The answer to the one question {named} was", "it was"
        *methods, final = (
            f"{words_of} {cite(works)}" if works else words_of for words_of, works in map(_interval, self._intervals)
        )
        intervals = f"{', '.join(methods)} and {final}" if methods else final
        rehearsed = f"{mark_of(self.staged)} " if self.staged else ""
        level = level_text(self.wanted.confidence_level, words("en"))
        supposed = "".join(f" {each}" for each in assumptions(self.wanted, words("en")))
        return (
            f"{rehearsed}{answers} randomised on each respondent's device before {sent} sent "
            f"(randomised response, local differential privacy), with {self._used(cite)}. All replies of one person "
            f"together have epsilon = {survey.epsilon:.4g}.{drawn} {self._collected} (UTC).{asked} Access "
            f"was {survey.access} ({ONE_REPORT[survey.access]}). {self._counted}, as of {self.dates.as_of}{released}. "
            "Shares were estimated without bias from the published mechanisms, and are reported as the most likely "
            f"possible values with {level} confidence intervals for {TARGETS[self.wanted.target]}. The intervals are "
            f"{intervals}.{supposed} The software was Deniable {__version__}{self._software(cite)}. Survey, replies "
            f"and estimates are at {self.url}; the address of the survey, {survey.id}, is the hash of its questions "
            "and mechanisms."
        )

    @property
    def _is_one(self) -> bool:
        return len(self.survey.questions) == 1

    @property
    def _collected(self) -> str:
        """On which days replies were collected, as the beginning of a sentence."""
        first, last, as_of = self.dates.first, self.dates.last, self.dates.as_of
        # A last day that is still to come is a plan.
        if last is None or last > as_of:
            return f"Replies have been collected since {first}"
        days = f"on {first}" if first == last else f"from {first} to {last}"
        return f"Replies were collected {days}"

    @property
    def _intervals(self) -> list[str]:
        """The names of the methods of the intervals."""
        return interval_methods(self.shown.tallies, self.survey, self.wanted)

    def _software(self, cite: Cite) -> str:
        """The citation of the software where citations are keys; in words its name and version say the same."""
        return "" if cite is in_words else f" {_MARK[0]}{SOFTWARE_KEY}{_MARK[1]}"

    def _used(self, cite: Cite) -> str:
        """How questions are randomised, and of several ways the questions that have each."""
        questions_of: dict[str, list[str]] = {}
        for each in self.survey.questions:
            asked = textwrap.shorten(_line(each.text), LONGEST_QUOTED, placeholder=" \u2026")
            questions_of.setdefault(question_text(each, cite), []).append(f"\u201c{asked}\u201d")
        if len(questions_of) == 1:
            return next(iter(questions_of))
        named = {
            used: ", ".join(texts) if len(texts) <= MOST_NAMED else f"{len(texts)} questions"
            for used, texts in questions_of.items()
        }
        return "; ".join(f"{used} (for {texts})" for used, texts in named.items())

    @property
    def _works(self) -> list[Work]:
        """The works that randomisation and intervals come from, each once."""
        found = dict.fromkeys(work for each in self.survey.questions for work in works_of(each))
        found |= dict.fromkeys(work for name in self._intervals for work in _interval(name)[1])
        return sorted(found, key=lambda work: work.cited)

    @property
    def works_in_bibtex(self) -> str:
        """Entries of BibTeX: the software, the works that the paragraph cites, and works that a paper may add."""
        works = sorted({*self._works, *OF_ANALYSES}, key=lambda work: work.key)
        return "\n".join([self._software_in_bibtex, *(work.bibtex for work in works)])

    @property
    def _software_in_bibtex(self) -> str:
        """The entry of the software; old styles print no version, so the note has it too."""
        lines = [
            "  author = {{The Deniable authors}}",
            "  title = {{Deniable: sensitive surveys by randomised response on the respondent's device}}",
            f"  year = {{{self.date[:4]}}}",
            f"  version = {{{_tex(__version__)}}}",
            f"  note = {{Software, version {_tex(__version__)}, {LICENSE}}}",
        ]
        return f"@misc{{{SOFTWARE_KEY},\n" + ",\n".join(lines) + "\n}\n"

    @property
    def methods_in_tex(self) -> str:
        r"""The paragraph for LaTeX, whose ``\cite`` finds all works in `works_in_bibtex`."""
        address = _tex(self.url)
        # The first sign of percent would hide the rest of an unescaped paragraph.
        text = _tex(self._methods(lambda works: f"{_MARK[0]}{','.join(work.key for work in works)}{_MARK[1]}"))
        # In the narrow columns of a journal the address is broken within its path, for which this needs no package.
        text = text.replace(address, _SLASH_OF_PATH.sub(r"/\\allowbreak{}", address))
        return re.sub(f"{_MARK[0]}([a-z0-9,]+){_MARK[1]}", r"\\cite{\1}", text)

    @property
    def _counted(self) -> str:
        """How many replies were counted, and how many of them answer a question where not all do."""
        n = self.shown.n
        counted = f"{n:,} {'reply was' if n == 1 else 'replies were'} counted{self._by_cohort}"
        answered = [replies_to(each, self.shown.tallies) for each in self.survey.questions]
        least, most = min(answered), max(answered)
        if least == n:
            return counted
        return (
            f"{counted}, of which {f'{least:,}' if least == most else f'{least:,} to {most:,}'} answered each question"
        )

    @property
    def _by_cohort(self) -> str:
        """How many of the replies are from each cohort, in brackets; of many cohorts how many they are."""
        cohorts = self.survey.cohorts
        if not cohorts:
            return ""
        if len(cohorts) > MOST_COHORTS:
            return f" in {len(cohorts)} cohorts"
        numbers = {cohort: tally.n for cohort, tally in self.shown.tallies.items()}
        named = [f"{numbers.pop(each, 0):,} \u201c{_line(each)}\u201d" for each in cohorts]
        alone = sum(numbers.values())
        return f" ({', '.join([*named, *([f'{alone:,} of no cohort'] if alone else [])])})"

    @property
    def json_ld(self) -> Markup:
        """The description of the data set by schema.org, for a data block of a page."""
        survey, api = self.survey, f"{self.base}/api/v1/surveys/{self.survey.id}"
        document: dict[str, Any] = {
            "@context": "https://schema.org/",
            "@type": "Dataset",
            "name": self.title,
            "description": str(
                survey.about
                or f"Answers to {len(survey.questions)} question{'' if self._is_one else 's'}, by randomised response. "
                f"{LICENSE_NOTE}"
            ),
            "identifier": survey.id,
            # The data set is one, however its numbers are estimated.
            "url": self._address(""),
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
            document["version"] = self.number
        if self.license:
            document["license"] = self.license.json_ld
        # An interval of ISO 8601, of which schema.org writes an end that is not known yet as two dots.
        first, last = self.dates.first, self.dates.last
        document |= {"dateModified": self.date, "temporalCoverage": f"{first}/{last or '..'}"}
        text = json.dumps(document, ensure_ascii=True)
        # "</script>" within a text must not end the block: < and > are written as JSON escapes.
        return Markup(text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026"))  # noqa: S704


SOFTWARE_KEY = "deniable"
"""The key of the software in BibTeX."""

LICENSE = "Apache-2.0"
"""The licence of the software."""

# Private characters around keys outlive the escapes of a whole paragraph; `_line` leaves none in texts of an author.
_MARK = "\ue000", "\ue001"

_PLACE = re.compile(r"\{(\w+)\}")

_PRIVATE = re.compile(f"[{''.join(_MARK)}]")

_SLASH_OF_PATH = re.compile("(?<![:/])/")

# BibTeX counts braces, those behind a backslash too: one alone would take in all fields that follow.
_TEX = str.maketrans(
    {"\\": r"\textbackslash{}", "{": r"\textbraceleft{}", "}": r"\textbraceright{}"}
    | {each: f"\\{each}" for each in "&%$#_"}
    | {"~": r"\textasciitilde{}", "^": r"\textasciicircum{}"}
    # In the default encoding of fonts of LaTeX these print as other characters.
    | {"<": r"\textless{}", ">": r"\textgreater{}", "|": r"\textbar{}"}
)


def _interval(method: str) -> tuple[str, tuple[Work, ...]]:
    """The words and the works for a method of intervals."""
    # Score intervals are those of ratios alone: of figures among the people to whom a question applies.
    of = " of ratios" if method == AMONG else ""
    return f"{method_name(method)} intervals{of}", INTERVALS.get(method, ())


def _line(text: str) -> str:
    """A text of the author in one line, without marks of direction: a citation and a paragraph have no line breaks."""
    return " ".join(_PRIVATE.sub("", steady(text)).split())


def _tex(text: str) -> str:
    """A text for LaTeX and BibTeX, whose special characters are escaped."""
    return text.translate(_TEX)
