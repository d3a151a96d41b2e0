"""The licence of published results, as the author of a survey states it: by a name, by an address, or in words."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Self

from deniable.survey.document import Survey
from deniable_statistics.published.steady_text import steady

_CREATIVE_COMMONS = "https://creativecommons.org/"

LICENSES = {
    "CC0-1.0": f"{_CREATIVE_COMMONS}publicdomain/zero/1.0/",
    **{
        f"CC-{kind.upper()}-4.0": f"{_CREATIVE_COMMONS}licenses/{kind}/4.0/"
        for kind in ("by", "by-sa", "by-nc", "by-nc-sa", "by-nd", "by-nc-nd")
    },
    "ODC-By-1.0": "https://opendatacommons.org/licenses/by/1-0/",
    "ODbL-1.0": "https://opendatacommons.org/licenses/odbl/1-0/",
    "PDDL-1.0": "https://opendatacommons.org/licenses/pddl/1-0/",
}
"""Addresses of the licences that data are published under, by their names in the list of SPDX."""

_ADDRESS = re.compile(r"https://[A-Za-z0-9._~:/?#@!$&'()*+,;=%-]+")
_SPELLED = {name.lower(): name for name in LICENSES}


@dataclass(frozen=True)
class License:
    """What a survey says of how its results may be used.

    Attributes
    ----------
    text : str
        In the author's words, or the name of a known licence.
    address : str or None
        Where the licence can be read, if it is known or the text is an address.
    spdx : str or None
        The name of a known licence in the list of SPDX.
    """

    text: str
    address: str | None = None
    spdx: str | None = None

    @classmethod
    def of(cls, survey: Survey) -> Self | None:
        """The licence of a survey's results; None where nothing is stated."""
        return None if survey.license is None else cls.read(survey.license)

    @classmethod
    def read(cls, text: str) -> Self:
        """The licence that a text states.

        >>> License.read("CC BY 4.0").address, License.read("For teaching.").address
        ('https://creativecommons.org/licenses/by/4.0/', None)
        """
        written = " ".join(steady(text).split())
        # As people write it, too: "cc by 4.0".
        spdx = _SPELLED.get(written.lower().replace(" ", "-"))
        if spdx is not None:
            return cls(spdx, LICENSES[spdx], spdx)
        return cls(written, written if _ADDRESS.fullmatch(written) else None)

    @property
    def cited(self) -> str:
        """The text with its address, where that is another one."""
        return self.text if self.address in (None, self.text) else f"{self.text} ({self.address})"

    @property
    def json_ld(self) -> str | dict[str, str]:
        """The value of ``license`` by schema.org: an address, or a work that has only a name."""
        return self.address or {"@type": "CreativeWork", "name": self.text}
