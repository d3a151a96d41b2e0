"""Letters with placeholders for the columns of a list of people."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass

from deniable.errors import ParameterError
from deniable_server.people.roster import LINK

_PLACE = re.compile(r"\{([^{}\n]*)\}")
_SUBJECT = re.compile(r"subject:([^\n]*)\n(?:[ \t]*\n)?", re.IGNORECASE)


@dataclass(frozen=True)
class Letter:
    """The template of a letter: a subject and a body.

    Attributes
    ----------
    subject, body : str
        Texts with placeholders such as ``{link}`` and ``{name}``.
    """

    subject: str
    body: str

    @classmethod
    def read(cls, text: str, columns: Collection[str]) -> Letter:
        """Read a letter whose first line is ``Subject: ...``; its placeholders are ``{link}`` and the columns.

        Raises
        ------
        ParameterError
            If it has no subject, an unknown placeholder, or no link in its body or one in its subject.

        Examples
        --------
        >>> letter = Letter.read("Subject: A survey, {name}\\n\\nYour link: {link}\\n", ["name"])
        >>> letter.fill({"name": "Ada", "link": "https://..."})
        ('A survey, Ada', 'Your link: https://...\\n')
        """
        plain = text.replace("\r\n", "\n")  # as Windows writes it
        found = _SUBJECT.match(plain)
        if not found or not found[1].strip():
            raise ParameterError('letter: must start with a line such as "Subject: Will you take part?"')
        letter = cls(found[1].strip(), plain[found.end() :])
        known = {LINK, *columns}
        for place in _PLACE.findall(letter.subject + letter.body):
            if place not in known:
                raise ParameterError(
                    f"letter: {{{place:.40}}} must be {{link}} or a column: {', '.join(sorted(known))[:200]}"
                )
        if LINK not in _PLACE.findall(letter.body):
            raise ParameterError("letter: must hold {link} below its subject")
        if LINK in _PLACE.findall(letter.subject):
            raise ParameterError("letter: subject must not hold {link}; mail servers keep subjects in their logs")
        return letter

    def fill(self, cells: Mapping[str, str]) -> tuple[str, str]:
        """Subject and body for one person. Filled-in cells are not searched for placeholders, and break no subject."""
        subject = _PLACE.sub(lambda place: cells[place[1]], self.subject)
        # A line break in a cell would end the header of the mail and begin another one.
        return " ".join(subject.split()), _PLACE.sub(lambda place: cells[place[1]], self.body)
