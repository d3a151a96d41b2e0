"""Copies of a survey that an audit also asks: under another title, and open today.

A collector's own pages are served for them, with the address and the document of the copy in the place of the survey's.
"""

from __future__ import annotations

import html
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from deniable_client.audit.blackbox.stand_in import Answer
from deniable_client.audit.keys import AuditKeys
from deniable_client.audit.reference.published import PublishedSurvey, canonical

AGAIN = " (again)"
"""What the title of a copy, or each of its questions, ends with."""


def copy_of(survey: PublishedSurvey, keys: AuditKeys, *, again: bool = False, other: bool = False) -> PublishedSurvey:
    """A survey of the same questions that is open today.

    The audit signs the blind tokens of a copy, and opens its sealed reports. No place stands between: its own pages
    would be another program.

    Parameters
    ----------
    survey : PublishedSurvey
    keys : AuditKeys
    again : bool
        Whether it has another title.
    other : bool
        Whether its questions are others, by a word more.
    """
    content = {name: value for name, value in survey.content.items() if name not in ("opens", "closes", "place")}
    if "issuer" in content:
        content["issuer"] = keys.issuer
    if "sealed" in content:
        content |= {"sealed": keys.sealed(content["sealed"]["size"]), "closes": keys.last_day}
    if again:
        content = renamed(content)
    if other:
        content["questions"] = [each | {"text": _longer(each["text"])} for each in content["questions"]]
    return PublishedSurvey(canonical(content).encode("ascii"))


def revision_of(survey: PublishedSurvey) -> PublishedSurvey:
    """A survey that revises another one: the last question that stands alone, or else every one, has another text."""
    questions = survey.questions
    changed = [each["id"] for each in questions if "group" not in each][-1:] or [each["id"] for each in questions]
    content = dict(survey.content) | {
        "revises": survey.id,
        "questions": [each | {"text": _longer(each["text"])} if each["id"] in changed else each for each in questions],
    }
    return PublishedSurvey(canonical(content).encode("ascii"))


def renamed(content: Mapping[str, Any]) -> dict[str, Any]:
    """A published survey under another title."""
    return {**content, "title": _longer(content["title"])}


def _longer(text: Any) -> Any:
    """A text, in all its languages, with a word more."""
    return {name: each + AGAIN for name, each in text.items()} if isinstance(text, dict) else text + AGAIN


@dataclass
class Companions:
    """What a relay passes on: the collector's own answers, and the same for copies of a survey."""

    survey: PublishedSurvey
    copies: list[PublishedSurvey] = field(default_factory=list)

    def add(self, copy: PublishedSurvey) -> PublishedSurvey:
        """Serve a copy, too."""
        if copy.id != self.survey.id and all(copy.id != each.id for each in self.copies):
            self.copies.append(copy)
        return copy

    def path_of(self, path: str) -> str:
        """The path under which the collector has what is asked for."""
        for copy in self.copies:
            path = path.replace(copy.id, self.survey.id)
        return path

    def rewrite(self, path: str, answer: Answer) -> Answer:
        """What the collector says of the survey, said of the copy that is asked for."""
        copy = next((each for each in self.copies if each.id in path), None)
        status, headers, content = answer
        if copy is None or status != 200:
            return answer
        if path == f"/api/v1/surveys/{copy.id}":
            return status, headers, copy.document
        text = content.decode("utf-8", errors="surrogateescape").replace(self.survey.id, copy.id)
        for spelled in _SPELLINGS:
            text = text.replace(spelled(self.survey.document.decode()), spelled(copy.document.decode()))
        return status, headers, text.encode("utf-8", errors="surrogateescape")


_SPELLINGS: tuple[Callable[[str], str], ...] = (
    # As templates write it into an attribute: quotes as numbers.
    lambda document: html.escape(document).replace("&quot;", "&#34;").replace("&#x27;", "&#39;"),
    html.escape,
    lambda document: document,
    json.dumps,
)
