"""The completion of a survey: the way back to the panel that sent a respondent."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from deniable.access.hosts import HIGHEST_PORT, is_host
from deniable.errors import SurveyError, describe, shown
from deniable.survey.texts import check_texts, publish_texts

PLACEHOLDER = "{code}"
"""The part of a link that devices replace by the code."""

MAX_COMPLETION_TEXT = 1000
"""Longest text beside a link or a code, in characters."""

MAX_LINK = 500
"""Longest link, in characters, with its placeholder as it is written."""

LEAST_CODE, MOST_CODE = 6, 20
"""Range of the length of a code that devices draw."""

CODE_CHARACTERS = "23456789ABCDEFGHJKMNPQRSTUVWXYZ"
"""Characters of a code that devices draw: without 0, O, 1, I and L, which people confuse."""

_CODE = re.compile(r"[A-Za-z0-9_-]{1,64}")
_PLACE = r"([a-z0-9.-]{1,253}|\[[0-9a-f:]+\])(?::([1-9][0-9]{0,4}))?"
# The characters of RFC 3986 and the placeholder; a space, a backslash or a control character is read in several ways.
_LINK = re.compile(
    rf"https://{_PLACE}"
    r"(?:[/?#](?:[A-Za-z0-9._~:/?#\[\]@!$&'()*+,;=-]|%[0-9A-Fa-f]{2}|\{code\})*)?"
)


@dataclass(frozen=True)
class Completion:
    """What a respondent who has sent a report takes back to a panel. Everybody gets the same, but for a drawn code.

    Attributes
    ----------
    text : str or None
        What to do with the link or the code.
    link : str or None
        An address that starts with ``https://``. It may hold ``{code}`` once, after the host.
    code : str or None
        A code that is the same for everybody.
    code_length : int or None
        The length of a code that each device draws by itself, independently of everything that it sends.
    """

    text: str | None = None
    link: str | None = None
    code: str | None = None
    code_length: int | None = None

    def __post_init__(self) -> None:
        check_texts(self, "completion.", text=MAX_COMPLETION_TEXT)
        if self.link is None and not self.has_code:
            raise SurveyError("completion: must have at least one of link, code and code_length, got none of them")
        if self.code is not None and self.code_length is not None:
            raise SurveyError("completion: must have either code or code_length, got both")
        if self.code is not None and not (isinstance(self.code, str) and _CODE.fullmatch(self.code)):
            raise SurveyError(
                f"completion.code: must be 1 to 64 of A to Z, a to z, 0 to 9, - and _, got {shown(self.code)}"
            )
        length = self.code_length
        if length is not None and (type(length) is not int or not LEAST_CODE <= length <= MOST_CODE):
            raise SurveyError(
                f"completion.code_length: must be a whole number from {LEAST_CODE} to {MOST_CODE}, got {shown(length)}"
            )
        if self.link is not None:
            self._check_link(self.link)

    @property
    def has_code(self) -> bool:
        """Whether respondents get a code, a common or a drawn one."""
        return self.code is not None or self.code_length is not None

    def _check_link(self, link: object) -> None:
        """Raise a SurveyError unless browsers can follow the link; ``completion.js`` has the same rules."""
        if not isinstance(link, str):
            raise SurveyError(f"completion.link: must be a text, got {describe(link)}")
        if len(link) > MAX_LINK:
            raise SurveyError(f"completion.link: must be at most {MAX_LINK} characters, got {len(link)}")
        found = _LINK.fullmatch(link)
        if not found:
            raise SurveyError(f"completion.link: must {_expectation(link)}, got {shown(link)}")
        host, port = found.groups()
        if not is_host(host):
            raise SurveyError(f"completion.link: must have a host that there can be, got {shown(host)}")
        if port and int(port) > HIGHEST_PORT:
            raise SurveyError(f"completion.link: must have a port from 1 to {HIGHEST_PORT}, got {port}")
        times = link.count(PLACEHOLDER)
        if times > 1:
            raise SurveyError(f"completion.link: must hold {PLACEHOLDER} at most once, got it {times} times")
        # Without a code the braces would arrive at the panel as they are written.
        if times and not self.has_code:
            raise SurveyError(
                f"completion.link: must have a code or a code_length for its {PLACEHOLDER}, got neither of them"
            )

    def publish(self) -> dict[str, Any]:
        """The completion as a survey publishes it."""
        rest = {"link": self.link, "code": self.code, "code_length": self.code_length}
        return publish_texts(text=self.text) | {key: value for key, value in rest.items() if value is not None}


def _expectation(link: str) -> str:
    """What a link that is none should be, by the first thing that is wrong with it."""
    # The first thing that is wrong, in the order in which people write a link.
    place, braces = link.removeprefix("https://"), link.replace(PLACEHOLDER, "")
    if place == link:
        return 'start with https://, like "https://panel.example/done?code={code}"'
    if "{" in braces or "}" in braces:
        return f"hold no other placeholder than {PLACEHOLDER}, because it is the same for everybody"
    host = re.split(r"[/?#]", place, maxsplit=1)[0]
    # What stands before an @ looks like a host to people and is none.
    if "@" in host:
        return "hold no user name before its host"
    if not re.fullmatch(_PLACE, host):
        return "have a host in lower-case letters of ASCII after https://, and a port at most"
    return "hold only characters of URLs (RFC 3986), and others as % and two hexadecimal digits"
